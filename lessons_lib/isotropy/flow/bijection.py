"""Change of variables as an object: a map that can be undone and that says how much it stretches
volume.

If z = g(x) is invertible and z has the density p_z, then x has p_z(g(x)) |det ∂g/∂x|. Every layer
maps in the *normalising* direction, from data x to z; its inverse *generates*. Written as in the
papers, with x = f(z), a layer is f⁻¹, and its log-determinant is minus that of f. Taught in lesson
``11_bert_flow``.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

__all__ = ["Bijection", "Composition", "Split"]


class Bijection(nn.Module):
    """An invertible map of rows of ``dim`` numbers: z = layer(x), x = layer.inverse(z),
    layer.log_det(x) = log |det ∂z/∂x|.

    A subclass writes `_map` and `_unmap`, and `initialise` if it is to learn from the first data.
    Rows keep their type and device.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        """z of rows x, (n, dim): the normalising direction.

        Raises ValueError for rows of another width.
        """
        return self._map(self._rows("x", x))[0]

    def inverse(self, z: Tensor) -> Tensor:
        """x of rows z, (n, dim): the generating direction.

        Raises ValueError for rows of another width.
        """
        return self._unmap(self._rows("z", z))

    def log_det(self, x: Tensor) -> Tensor:
        """log |det ∂z/∂x| of each row, (n,).

        That of the inverse at z is its negative. Raises ValueError for rows of another width.
        """
        return self.with_log_det(x)[1]

    def with_log_det(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """z (n, dim) and log |det ∂z/∂x| (n,) in one go.

        Raises ValueError for rows of another width.
        """
        z, log_det = self._map(self._rows("x", x))
        return z, log_det.expand(len(x))

    def initialise(self, x: Tensor) -> Tensor:
        """Set what is to be set from the first data, in the normalising direction.

        Returns z of the rows x, (n, dim).
        """
        return self._map(x)[0]

    def limit(self) -> None:
        """Take back what a step of training moved beyond the layer's limits."""

    def trace(self, x: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Name and z after each layer inside, the last one being forward(x)."""
        yield type(self).__name__, self(x)

    def _map(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """z, and the log-determinant as (n,) or, where it is the same for all rows, as one number.
        """
        raise NotImplementedError

    def _unmap(self, z: Tensor) -> Tensor:
        raise NotImplementedError

    def _rows(self, name: str, x: Tensor) -> Tensor:
        if x.ndim != 2 or x.shape[1] != self.dim:
            raise ValueError(f"{name} has shape {tuple(x.shape)}; this {type(self).__name__} maps "
                             f"(n, {self.dim})")
        return x


class Composition(Bijection):
    """Layers one after the other, as g_k ∘ … ∘ g_1: their log-determinants add up.

    Raises ValueError for none, or for different widths.
    """

    def __init__(self, *layers: Bijection) -> None:
        widths = [layer.dim for layer in layers]
        if len(set(widths)) != 1:
            raise ValueError(f"layers have the widths {widths}; expected >= 1 layer and one width")
        super().__init__(widths[0])
        self.layers = nn.ModuleList(layers)

    def _map(self, x: Tensor) -> tuple[Tensor, Tensor]:
        total = x.new_zeros(())
        for layer in self.layers:
            x, log_det = layer._map(x)
            total = total + log_det
        return x, total

    def _unmap(self, z: Tensor) -> Tensor:
        for layer in reversed(self.layers):
            z = layer._unmap(z)
        return z

    def initialise(self, x: Tensor) -> Tensor:
        """Set the first layer from x, the second from what the first makes of it, and so on.

        Returns z of the rows x, (n, dim).
        """
        for layer in self.layers:
            x = layer.initialise(x)
        return x

    def limit(self) -> None:
        """Take back what a step of training moved beyond the layers' limits."""
        for layer in self.layers:
            layer.limit()

    def trace(self, x: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Name and z after each layer inside, also of compositions in this one."""
        for layer in self.layers:
            for name, z in layer.trace(x):
                yield name, z
            x = z


class Split(Bijection):
    """Half of the numbers leave: z = [the last ``dim`` - k, inner(the first k)], k being the width
    of ``inner``.

    What leaves meets the Gaussian as it is; only the rest goes on. This makes a multi-scale flow:
    the log-densities of all levels add up, and z lists what left first, first. Raises ValueError
    when the inner map is as wide as the whole.
    """

    def __init__(self, dim: int, inner: Bijection) -> None:
        if not inner.dim < dim:
            raise ValueError(f"inner maps {inner.dim} of dim={dim} numbers; expected fewer than "
                             "all")
        super().__init__(dim)
        self.inner = inner

    def _join(self, x: Tensor, inside: Tensor) -> Tensor:
        return torch.cat([x[:, self.inner.dim :], inside], dim=1)

    def _map(self, x: Tensor) -> tuple[Tensor, Tensor]:
        inside, log_det = self.inner._map(x[:, : self.inner.dim])
        return self._join(x, inside), log_det

    def _unmap(self, z: Tensor) -> Tensor:
        left = self.dim - self.inner.dim
        return torch.cat([self.inner._unmap(z[:, left:]), z[:, :left]], dim=1)

    def initialise(self, x: Tensor) -> Tensor:
        """Set the inner map from the numbers that go on. Returns z of the rows x, (n, dim)."""
        return self._join(x, self.inner.initialise(x[:, : self.inner.dim]))

    def limit(self) -> None:
        """Take back what a step of training moved beyond the limits of the inner map."""
        self.inner.limit()

    def trace(self, x: Tensor) -> Iterator[tuple[str, Tensor]]:
        """Name and z after each layer of the inner map, with what left in front."""
        for name, inside in self.inner.trace(x[:, : self.inner.dim]):
            yield name, self._join(x, inside)


