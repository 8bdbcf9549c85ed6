"""Uniformity in tiles: ‖x_i - x_j‖² = ‖x_i‖² + ‖x_j‖² - 2 x_i·x_j turns the work into matrix products, and half of the pairs are enough.

The exponential makes absolute errors of the squares relative errors of the sum, so for points near the origin, where `centred` moves them, the
expansion costs no accuracy. A running maximum keeps the sum finite for points that lie far apart. Runs on any device. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from ..autograd import gradient_type
from ..products import add_row_product, row_product
from .centred import centred, drop_far_rows

__all__ = ["log_mean_kernel", "tiles", "uniformity", "value_and_gradient"]

ROWS, COLUMNS = 512, 1024                       # of a tile of pairs: 2 MB in float32, which stay in the caches between the steps


def _working(x: Tensor) -> tuple[Tensor, Tensor]:
    """Centred rows and their squares; float64 stays, float32 for all else: half types are slow on processors and their squares too coarse."""
    rows = centred(x.detach() if x.dtype == torch.float64 else x.detach().float())
    return rows, drop_far_rows(rows)


def tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of each tile, in order: together they hold every pair i < j."""
    for start in range(0, n, ROWS):
        for left in range(start, n, COLUMNS):
            yield slice(start, min(n, start + ROWS)), slice(left, min(n, left + COLUMNS))


def _log_kernel(gram: Tensor, squares: Tensor, rows: slice, columns: slice, t: float) -> Tensor:
    """-t ‖x_i - x_j‖² of a tile, written over ``gram``; -inf where j <= i."""
    gram.sub_(squares[rows, None] / 2).sub_(squares[None, columns] / 2).mul_(2 * t).clamp_(max=0)
    if columns.start < rows.stop:               # the tile holds part of the diagonal, within its first columns
        inside = gram[:, : rows.stop - columns.start]
        inside.masked_fill_(torch.ones_like(inside, dtype=torch.bool).tril_(rows.start - columns.start), -math.inf)
    return gram


def log_mean_kernel(grams: Iterator[tuple[slice, slice, Tensor]], squares: Tensor, *, t: float) -> float:
    """Uniformity from tiles of inner products, whatever made them (dense or sparse rows).

    Parameters: grams yields, for all of `tiles`, (rows, columns, inner products of those rows with those columns), and the products are written
    over; squares, (n,) ‖x_i‖²; t. Returns the log of the mean.
    """
    peak, total, n = -math.inf, 0.0, len(squares)
    for rows, columns, gram in grams:
        tile = _log_kernel(gram, squares, rows, columns, t)
        tile_peak = tile.max().item()
        if tile_peak == -math.inf:              # the last row alone, or points too far apart: no pair
            continue
        new_peak = max(peak, tile_peak)
        total = total * math.exp(peak - new_peak) + tile.sub_(new_peak).exp_().sum(dtype=torch.float64).item()
        peak = new_peak
    return _log_mean(peak, total, n)


def _log_mean(peak: float, total: float, n: int) -> float:
    """log(total exp(peak)) less the log of the number of pairs; -inf where no pair counts."""
    return peak + math.log(total) - math.log(n * (n - 1) / 2) if total > 0 else -math.inf if total == 0 else math.nan


def uniformity(x: Tensor, *, t: float) -> Tensor:
    """The value alone: one matrix product per tile."""
    x, squares = _working(x)
    grams = ((rows, columns, row_product(x[rows], x[columns])) for rows, columns in tiles(len(x)))
    return x.new_tensor(log_mean_kernel(grams, squares, t=t))


def value_and_gradient(x: Tensor, *, t: float) -> tuple[Tensor, Tensor]:
    """Value and gradient in one pass; both sides of a pair get their share from the same tile."""
    (exact, squares), n = _working(x), len(x)
    peak, total = -math.inf, 0.0
    pull, weight = torch.zeros_like(exact), exact.new_zeros(n)          # Σ_j k_ij x_j and Σ_j k_ij, k scaled by exp(-peak)
    for rows, columns in tiles(n):
        left, right = exact[rows], exact[columns]
        tile = _log_kernel(row_product(left, right), squares, rows, columns, t)
        tile_peak = tile.max().item()
        if tile_peak == -math.inf:
            continue
        new_peak = max(peak, tile_peak)
        if new_peak > peak:
            shrink = math.exp(peak - new_peak)
            total, peak = total * shrink, new_peak
            pull *= shrink
            weight *= shrink
        tile.sub_(peak).exp_()
        total += tile.sum(dtype=torch.float64).item()
        add_row_product(pull[rows], tile, right.T)
        add_row_product(pull[columns], tile.T, left.T)
        weight[rows] += tile.sum(dim=1)
        weight[columns] += tile.sum(dim=0)
    gradient = pull.addcmul_(weight[:, None], exact, value=-1).mul_(2 * t / total if total else 0.0)
    return exact.new_tensor(_log_mean(peak, total, n)), gradient.to(gradient_type(x.dtype))
