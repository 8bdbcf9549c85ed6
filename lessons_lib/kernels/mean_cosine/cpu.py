"""Mean cosine by algebra: Σ_{i,j} u_i·u_j = ‖Σ u_i‖², minus the M pairs of a row with itself.

The unit rows are made and summed in float64, a block at a time, because ‖Σ u_i‖² and M nearly cancel where the directions are spread evenly.
Runs on any device that has float64. Taught in ``09_anisotropy``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from ..autograd import gradient_type

__all__ = ["mean_cosine", "value_and_gradient"]

BLOCK = 1 << 20                                 # numbers per block: 8 MB in float64


def _unit_blocks(x: Tensor) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """(rows, unit rows in float64, their lengths); a zero row stays zero and has length infinity, so that its gradient vanishes."""
    step = max(1, BLOCK // x.shape[1])
    for start in range(0, len(x), step):
        rows = slice(start, min(len(x), start + step))
        block = x[rows].double().contiguous()                           # a sum depends on the layout in its last digit
        peak = block.abs().amax(dim=1, keepdim=True)                    # first to size 1: the square of 1e200 is no number
        zero = peak == 0
        block = block / peak.masked_fill(zero, 1.0)
        length = block.norm(dim=1, keepdim=True).masked_fill_(zero, 1.0)
        yield rows, block.div_(length), (length * peak).clamp_(max=torch.finfo(torch.float64).max).masked_fill_(zero, math.inf)


def _sum_and_count(x: Tensor) -> tuple[Tensor, Tensor]:
    """Σ u_i, (d,), and the number of rows that are not zero."""
    total = torch.zeros(x.shape[1], dtype=torch.float64, device=x.device)
    count = torch.zeros((), dtype=torch.float64, device=x.device)
    for _, unit, length in _unit_blocks(x):
        total += unit.sum(dim=0)
        count += (length != math.inf).sum()
    return total, count


def _value(x: Tensor, total: Tensor, count: Tensor) -> Tensor:
    n = len(x)
    value = ((total.square().sum() - count) / (n * (n - 1))).clamp(-1 / (n - 1), 1)
    return value.to(torch.float64 if x.dtype == torch.float64 else torch.float32)


def mean_cosine(x: Tensor) -> Tensor:
    """The value alone: one pass over x."""
    return _value(x, *_sum_and_count(x))


def value_and_gradient(x: Tensor) -> tuple[Tensor, Tensor]:
    """Value and gradient: a pass for the sum, a pass for what of it stands at right angles to each row."""
    total, count = _sum_and_count(x)
    gradient, n = torch.empty(x.shape, dtype=gradient_type(x.dtype), device=x.device), len(x)
    for rows, unit, length in _unit_blocks(x):
        along = (unit @ total)[:, None]
        gradient[rows] = ((total - along * unit).div_(length) * (2 / (n * (n - 1)))).to(gradient.dtype)
    return _value(x, total, count), gradient
