"""Layers of a flow whose volume change is the same everywhere: standardise, reorder, mix.

ActNorm stretches every dimension by itself, a permutation moves dimensions about, an invertible
linear map mixes them; its LU form keeps it invertible and makes the determinant a product of d
numbers instead of d³ operations. Taught in lesson ``11_bert_flow``. [kingma2018glow]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from ...core import check_array, check_float, check_int, shown
from .bijection import Bijection

__all__ = ["ActNorm", "InvertibleLinear", "Permutation"]

# how much farther than at its beginning a layer may stretch a direction while it is trained
MOST = math.log(1e4)


class ActNorm(Bijection):
    """Shift and stretch each dimension: z = (x + shift) ⊙ exp(rate · log_scale), log-determinant
    rate · Σ log_scale.

    `initialise` sets it so that the given rows leave with mean 0 and variance 1 (ddof 0) in each
    dimension; dimensions in which the rows do not differ are stretched like the others on average,
    so the log-determinant is finite whatever the rows. Before that it is the identity. Training
    stretches no dimension more than 10^4 times what the initialisation chose: where data do not
    vary the likelihood has no maximum.

    Parameters: dim; rate, > 0: a step of the optimizer moves the logarithm of the scale ``rate``
    times as far; 3 in the programs of Glow and BERT-flow. Raises TypeError, ValueError.
    [kingma2018glow, Sec. 3.1]
    """

    def __init__(self, dim: int, *, rate: float = 1.0) -> None:
        super().__init__(check_int("dim", dim))
        self.rate = check_float("rate", rate, low=0.0, open_low=True)
        self.shift = nn.Parameter(torch.zeros(dim))
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.register_buffer("ceiling", torch.full((dim,), math.inf))

    def scaled(self, x: Tensor) -> Tensor:
        """z alone, for nets that need no determinant."""
        return (x + self.shift) * torch.exp(self.rate * self.log_scale)

    def _map(self, x: Tensor) -> tuple[Tensor, Tensor]:
        log_scale = self.rate * self.log_scale
        return (x + self.shift) * torch.exp(log_scale), log_scale.sum()

    def _unmap(self, z: Tensor) -> Tensor:
        return z * torch.exp(-self.rate * self.log_scale) - self.shift

    @torch.no_grad()
    def initialise(self, x: Tensor) -> Tensor:
        """Standardise each dimension of the rows x, (n, dim). Returns z of them."""
        wide = x.double()
        mean = wide.mean(dim=0)
        spread = (wide - mean).square().mean(dim=0).sqrt()
        # rounding alone makes that
        flat = spread <= 4 * torch.finfo(x.dtype).eps * wide.abs().amax(dim=0)
        typical = (spread[~flat].square().mean().sqrt()
                   if not flat.all()
                   else torch.ones_like(mean[0]))
        log_scale = -torch.where(flat, typical, spread).log() / self.rate
        self.shift.copy_(-mean)
        self.log_scale.copy_(log_scale)
        self.ceiling.copy_(log_scale + MOST / self.rate)
        return self.scaled(x)

    @torch.no_grad()
    def limit(self) -> None:
        """Take back what a step of training stretched beyond the limit."""
        torch.minimum(self.log_scale, self.ceiling, out=self.log_scale)


class _Reorder(torch.autograd.Function):
    """Columns in another order; the gradient takes the opposite one, where PyTorch would add."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(order, back)
        return x.index_select(1, order)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        order, back = ctx.saved_tensors
        return _Reorder.apply(gradient, back, order), None, None


class Permutation(Bijection):
    """Put the dimensions in another, fixed order: z_j = x_order[j]. Volume stays, so the
    log-determinant is 0.

    Parameters: order, each of 0 … dim - 1 once. Raises ValueError.
    """

    def __init__(self, order: Sequence[int] | np.ndarray) -> None:
        order = np.asarray(order)
        if order.ndim != 1 or order.dtype.kind not in "iu" or not np.array_equal(
                np.sort(order), np.arange(len(order))):
            raise ValueError(f"order={shown(order.tolist())} is no permutation; expected each of 0 "
                             f"… {order.size - 1} once")
        super().__init__(len(order))
        self.register_buffer("order", torch.from_numpy(order.astype(np.int64)))
        self.register_buffer("back", torch.from_numpy(np.argsort(order)))

    @classmethod
    def reversal(cls, dim: int) -> Self:
        """The last dimension first: BERT-flow's program."""
        return cls(np.arange(check_int("dim", dim))[::-1])

    @classmethod
    def random(cls, dim: int, *, rng: np.random.Generator) -> Self:
        """One of all orders, each equally likely: BERT-flow's paper."""
        return cls(rng.permutation(check_int("dim", dim)))

    def _map(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return _Reorder.apply(x, self.order, self.back), x.new_zeros(())

    def _unmap(self, z: Tensor) -> Tensor:
        return _Reorder.apply(z, self.back, self.order)


class InvertibleLinear(Bijection):
    """Mix the dimensions: z = W x for each row, with W = P L (U + diag(sign · exp(log_diagonal))),
    log-determinant Σ log_diagonal.

    P is a fixed order, L lower triangular with ones on its diagonal, U upper triangular without
    one: W cannot become singular, and neither its determinant nor its inverse needs an elimination.
    In images this is the invertible 1x1 convolution of Glow. Training moves no entry of
    ``log_diagonal`` by more than log 10^4.

    Parameters: weight, the first W, (dim, dim). Raises TypeError, ValueError (shape, NaN,
    singular). [kingma2018glow, Sec. 3.2]
    """

    def __init__(self, weight: Any) -> None:
        from scipy.linalg import lu

        weight = check_array("weight", weight, min_rows=1)
        if weight.shape[0] != weight.shape[1]:
            raise ValueError(f"weight has shape {weight.shape}; expected (dim, dim)")
        super().__init__(len(weight))
        order, lower, upper = lu(weight.astype(np.float64), p_indices=True)
        diagonal = np.diag(upper)
        if np.abs(diagonal).min() <= 4 * np.finfo(np.float64).eps * np.abs(weight).max():
            raise ValueError(f"weight of shape {weight.shape} is singular, so that no inverse "
                             "exists; expected determinant != 0")
        self.packed = nn.Parameter(torch.from_numpy(np.tril(lower, -1) + np.triu(upper, 1)).float())
        self.log_diagonal = nn.Parameter(torch.from_numpy(np.log(np.abs(diagonal))).float())
        for name, value in {"sign": np.sign(diagonal), "first": np.log(np.abs(diagonal))}.items():
            self.register_buffer(name, torch.from_numpy(value).float())
        self.register_buffer("order", torch.from_numpy(np.asarray(order, dtype=np.int64)))
        self.register_buffer("back", torch.from_numpy(np.argsort(order)))

    @classmethod
    def random(cls, dim: int, *, rng: np.random.Generator) -> Self:
        """A random rotation or reflection, as in Glow: log-determinant 0."""
        return cls(np.linalg.qr(rng.normal(size=(check_int("dim", dim),) * 2))[0])

    @property
    def weight(self) -> Tensor:
        """W as one matrix, (dim, dim)."""
        return self._map(torch.eye(self.dim, dtype=self.packed.dtype,
                                   device=self.packed.device))[0].T

    def _diagonal(self) -> Tensor:
        return self.sign * torch.exp(self.log_diagonal)

    def _map(self, x: Tensor) -> tuple[Tensor, Tensor]:
        # two products with x cost less than L U by itself
        x = torch.addmm(x * self._diagonal(), x, self.packed.triu(1).T)
        x = torch.addmm(x, x, self.packed.tril(-1).T)
        return _Reorder.apply(x, self.order, self.back), self.log_diagonal.sum()

    def _unmap(self, z: Tensor) -> Tensor:
        z = _Reorder.apply(z, self.back, self.order)
        lower, upper = self.packed.tril(-1), self.packed.triu(1) + torch.diag(self._diagonal())
        z = torch.linalg.solve_triangular(lower.T, z, upper=True, left=False, unitriangular=True)
        return torch.linalg.solve_triangular(upper.T, z, upper=False, left=False)

    @torch.no_grad()
    def limit(self) -> None:
        """Take back what a step of training stretched beyond the limit."""
        torch.clamp(self.log_diagonal, self.first - MOST, self.first + MOST, out=self.log_diagonal)
