"""Mean cosine of all pairs: how narrow the cone is that a set of vectors fills.

The sum of all N² cosines is the square of one vector, the sum of the unit vectors; so no pair is
ever looked at. The self-similarity of a word is this number over its occurrences. Taught in
``09_anisotropy``; as the kernel that one need not write in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from .autograd import gradient_type, result_type, scalar_loss
from .dispatch import Operation
from .inputs import as_vectors

__all__ = ["OPERATION", "mean_cosine"]

OPERATION = Operation("mean_cosine", kernel=False, plain=True,
                      without="one sum over the rows does the work of all pairs")
BLOCK = 1 << 20                                 # numbers per block: 8 MB in float64
_loss = scalar_loss(OPERATION, ("x",))


def mean_cosine(x: Any, *, backend: str | None = None) -> Tensor:
    """Mean of cos(x_i, x_j) over all ordered pairs i ≠ j.

    Parameters
    ----------
    x : (n, d) floating, n >= 2
        A zero row has cosine 0 with all, counts in n, and gets gradient 0. NaN or infinity gives
        NaN.
    backend : {"cpu", "reference"}, optional

    Returns
    -------
    scalar Tensor
        In [-1 / (n - 1), 1], in x's type (float32 for half types), differentiable once.

    Raises
    ------
    ValueError
        Shape, backend.
    TypeError
        x is not floating.
    BackendUnavailable
        backend="triton": there is no kernel.

    Notes
    -----
    ::

        (‖s‖² - M) / (N (N - 1)),   s = Σ u_i,   u_i = x_i / ‖x_i‖,   M rows not zero
        ∂/∂x_i = 2 (s - (s·u_i) u_i) / (N (N - 1) ‖x_i‖)

    Summed in float64, block by block: time O(n d), memory beyond x and its gradient one block.
    [ethayarajh2019contextual]

    Examples
    --------
    >>> mean_cosine([[1.0, 0.0], [0.0, 3.0], [2.0, 0.0]]).item()
    0.3333333333333333
    """
    return _loss(as_vectors("x", x, min_rows=2), backend=backend)


def _unit(x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n 1"]]:
    """Rows of norm 1 and the norms; a zero row stays zero and has norm 1."""
    zero = (x == 0).all(dim=1, keepdim=True)
    norm = torch.where(zero, 1.0, x).norm(dim=1, keepdim=True).masked_fill(zero, 1.0)
    return x / norm, norm


def _cosines(unit: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """u_i·u_j, and 0 on the diagonal: a row is no pair with itself."""
    own = torch.eye(len(unit), dtype=torch.bool, device=unit.device)
    return (unit @ unit.T).masked_fill(own, 0.0)


def reference_mean_cosine(x: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """1 / (n (n - 1)) Σ_{i≠j} cos(x_i, x_j), pair by pair."""
    return _cosines(_unit(x.to(result_type(x)))[0]).sum() / (len(x) * (len(x) - 1))


def reference_value_and_gradient(
        x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, ""], Float[Tensor, "n d"]]:
    """The mean and ∂/∂x_i = 2 / (n (n - 1)) Σ_{j≠i} (u_j - cos_ij u_i) / ‖x_i‖."""
    exact, n = x.to(result_type(x)), len(x)
    unit, norm = _unit(exact)
    across = unit.sum(dim=0) - unit - _cosines(unit).sum(dim=1, keepdim=True) * unit
    zero = (exact == 0).all(dim=1, keepdim=True)
    gradient = (2 / (n * (n - 1)) * across / norm).masked_fill(zero, 0.0)
    return reference_mean_cosine(x), gradient.to(gradient_type(x.dtype))


# Unit rows are made and summed in float64, because ‖Σ u_i‖² and M nearly cancel where the
# directions are spread evenly.


def _unit_blocks(x: Tensor) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """(rows, unit rows, their norms); a zero row stays zero and has norm infinity, so that its
    gradient vanishes."""
    step, most = max(1, BLOCK // x.shape[1]), torch.finfo(torch.float64).max
    for start in range(0, len(x), step):
        rows = slice(start, min(len(x), start + step))
        block = x[rows].double().contiguous()           # a sum depends on the layout
        peak = block.abs().amax(dim=1, keepdim=True)    # first to size 1: 1e200 has no square
        zero = peak == 0
        block = block / peak.masked_fill(zero, 1.0)
        norm = block.norm(dim=1, keepdim=True).masked_fill_(zero, 1.0)
        yield rows, block.div_(norm), (norm * peak).clamp_(max=most).masked_fill_(zero, math.inf)


def _sum_and_value(x: Tensor) -> tuple[Tensor, Tensor]:
    """Σ u_i, (d,), and the mean cosine."""
    n, total = len(x), torch.zeros(x.shape[1], dtype=torch.float64, device=x.device)
    count = total.new_zeros(())                         # of rows that are not zero
    for _, unit, norm in _unit_blocks(x):
        total += unit.sum(dim=0)
        count += (norm != math.inf).sum()
    value = ((total.square().sum() - count) / (n * (n - 1))).clamp(-1 / (n - 1), 1)
    return total, value.to(result_type(x))


def cpu_mean_cosine(x: Tensor) -> Tensor:
    """The value alone: one pass over x."""
    return _sum_and_value(x)[1]


def cpu_value_and_gradient(x: Tensor) -> tuple[Tensor, Tensor]:
    """A pass for the sum, a pass for what of it stands at right angles to each row."""
    (total, value), n = _sum_and_value(x), len(x)
    gradient = torch.empty(x.shape, dtype=gradient_type(x.dtype), device=x.device)
    for rows, unit, norm in _unit_blocks(x):
        across = total - (unit @ total)[:, None] * unit
        gradient[rows] = across.div_(norm).mul_(2 / (n * (n - 1))).to(gradient.dtype)
    return value, gradient
