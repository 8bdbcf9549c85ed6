"""Uniformity in tiles: ‖x_i - x_j‖² = ‖x_i‖² + ‖x_j‖² - 2 x_i·x_j turns the work into products.

The exponential makes absolute errors of the squares relative errors of the sum, so for points near
the origin, where `centred` moves them, the expansion costs no accuracy. A running maximum keeps
the sum finite for points far apart. Runs on any device. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from ..autograd import gradient_type, result_type
from ..products import add_row_product, row_product
from .centred import centred, drop_far_rows

ROWS, COLUMNS = 512, 1024       # of a tile of pairs: 2 MB in float32, which stay in the caches


def tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of each tile, in order: together they hold every pair i < j."""
    for start in range(0, n, ROWS):
        for left in range(start, n, COLUMNS):
            yield slice(start, min(n, start + ROWS)), slice(left, min(n, left + COLUMNS))


class Sum:
    """Σ exp(log kernel) over tiles, as total exp(peak)."""

    def __init__(self, n: int, t: float) -> None:
        self.n, self.t, self.peak, self.total = n, t, -math.inf, 0.0

    def add(self, gram: Tensor, squares: Tensor, rows: slice, columns: slice) -> float | None:
        """Turn inner products into exp(-t ‖x_i - x_j‖² - peak), 0 where j <= i, in place.

        Returns what earlier tiles have to be multiplied by, None where no pair of the tile counts.
        """
        gram.sub_(squares[rows, None] / 2).sub_(squares[None, columns] / 2)
        gram.mul_(2 * self.t).clamp_(max=0)
        if columns.start < rows.stop:           # the tile's first columns hold the diagonal
            inside = gram[:, : rows.stop - columns.start]
            below = torch.ones_like(inside, dtype=torch.bool).tril_(rows.start - columns.start)
            inside.masked_fill_(below, -math.inf)
        peak = gram.max().item()
        if peak == -math.inf:                   # the last row alone, or points too far apart
            return None
        peak = max(peak, self.peak)
        shrink, self.peak = math.exp(self.peak - peak), peak
        self.total = self.total * shrink + gram.sub_(peak).exp_().sum(dtype=torch.float64).item()
        return shrink

    def log_mean(self) -> float:
        """The log of the mean over all pairs; -inf where no pair counts."""
        if self.total > 0:
            return self.peak + math.log(self.total) - math.log(self.n * (self.n - 1) / 2)
        return -math.inf if self.total == 0 else math.nan


def log_mean_kernel(grams: Iterator[tuple[slice, slice, Tensor]], squares: Tensor, *,
                    t: float) -> float:
    """Uniformity from tiles of inner products, whatever made them (dense or sparse rows).

    ``grams`` yields, for all of `tiles`, (rows, columns, inner products of those rows with those
    columns), which are written over; ``squares``, (n,), holds ‖x_i‖².
    """
    total = Sum(len(squares), t)
    for rows, columns, gram in grams:
        total.add(gram, squares, rows, columns)
    return total.log_mean()


def _working(x: Tensor) -> tuple[Tensor, Tensor]:
    """Centred rows and their squares, in float32 at least: half types are slow and too coarse."""
    rows = centred(x.detach().to(result_type(x)))
    return rows, drop_far_rows(rows)


def uniformity(x: Tensor, *, t: float) -> Tensor:
    """The value alone: one matrix product per tile."""
    x, squares = _working(x)
    grams = ((rows, columns, row_product(x[rows], x[columns])) for rows, columns in tiles(len(x)))
    return x.new_tensor(log_mean_kernel(grams, squares, t=t))


def value_and_gradient(x: Tensor, *, t: float) -> tuple[Tensor, Tensor]:
    """Value and gradient in one pass; both sides of a pair get their share from the same tile."""
    (exact, squares), total = _working(x), Sum(len(x), t)
    # Σ_j k_ij x_j and Σ_j k_ij, k scaled by exp(-peak)
    pull, weight = torch.zeros_like(exact), exact.new_zeros(len(x))
    for rows, columns in tiles(len(x)):
        left, right = exact[rows], exact[columns]
        tile = row_product(left, right)
        shrink = total.add(tile, squares, rows, columns)
        if shrink is None:
            continue
        if shrink != 1:
            pull *= shrink
            weight *= shrink
        add_row_product(pull[rows], tile, right.T)
        add_row_product(pull[columns], tile.T, left.T)
        weight[rows] += tile.sum(dim=1)
        weight[columns] += tile.sum(dim=0)
    scale = 2 * t / total.total if total.total else 0.0
    gradient = pull.addcmul_(weight[:, None], exact, value=-1).mul_(scale)
    return exact.new_tensor(total.log_mean()), gradient.to(gradient_type(x.dtype))
