"""Alignment in blocks of rows: differences of a block, their squares, and one number per pair that stays.

Distances are added up, powered and averaged in float64, which costs n numbers, so no square of a float32 is too large or too small; the differences
stay in the type they come in (float32 for half types). Runs on any device. Taught in ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ..autograd import gradient_type

__all__ = ["alignment", "mean_power", "value_and_gradient"]

BLOCK = 1 << 18                                 # numbers per block of rows: 1 MB in float32, which a core's own cache holds
BLOCK_GPU = 1 << 24                             # a GPU wants few large steps


def _gaps(x: Tensor, y: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Blocks of rows of x - y, in float64 when x is, else in float32."""
    step = max(1, (BLOCK if x.device.type == "cpu" else BLOCK_GPU) // x.shape[1])
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        a, b = x[rows].contiguous(), y[rows].contiguous()       # a sum depends on the layout in its last digit
        yield rows, a - b if x.dtype in (torch.float32, torch.float64) else a.float() - b.float()


def mean_power(squares: Tensor, *, alpha: float) -> Tensor:
    """Alignment from squared distances, (n,) ‖x_i - y_i‖², whatever made them (dense or sparse rows); a float64 scalar."""
    return squares.double().pow(alpha / 2).mean()


def _squares(gap: Tensor) -> Tensor:
    """Squared lengths of the rows in float64; of float32 rows without a copy in float64, which vector_norm makes number by number."""
    if gap.dtype == torch.float64:
        return gap.square().sum(dim=1)
    return torch.linalg.vector_norm(gap, dim=1, dtype=torch.float64).square_()


def _sloped(gap: Tensor, squares: Tensor, alpha: float, n: int) -> Tensor:
    """alpha/n ‖gap‖^(alpha-2) gap, written over ``gap``; 0 where gap is 0."""
    if alpha == 2:
        return gap.mul_(2 / n)
    root = torch.where(squares == 0, 0.0, squares.pow(alpha / 2 - 1) * (alpha / n)).sqrt_().to(gap.dtype)[:, None]
    return gap.mul_(root).mul_(root)            # in two steps: the power may be beyond float32 where its product with gap is not


def _scalar(x: Tensor) -> torch.dtype:
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def alignment(x: Tensor, y: Tensor, *, alpha: float) -> Tensor:
    """The value alone."""
    squares = torch.cat([_squares(gap) for _, gap in _gaps(x, y)])
    return mean_power(squares, alpha=alpha).to(_scalar(x))


def value_and_gradient(x: Tensor, y: Tensor, *, alpha: float) -> tuple[Tensor, Tensor]:
    """Value and gradient for x in one pass over the rows."""
    squares = torch.empty(len(x), dtype=torch.float64, device=x.device)
    gradient = torch.empty(x.shape, dtype=gradient_type(x.dtype), device=x.device)
    for rows, gap in _gaps(x, y):
        square = squares[rows] = _squares(gap)
        gradient[rows] = _sloped(gap, square, alpha, len(x))
    return mean_power(squares, alpha=alpha).to(_scalar(x)), gradient
