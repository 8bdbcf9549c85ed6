"""Uniformity in blocks of rows: ‖x_i - x_j‖² = ‖x_i‖² + ‖x_j‖² - 2 x_i·x_j turns the work into matrix products, and half of the pairs are enough.

The exponential makes absolute errors of the squares relative errors of the sum, so the expansion costs no accuracy here. A running maximum keeps the
sum finite for points that lie far apart. Runs on any device. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from ..products import add_row_product, row_product

__all__ = ["log_mean_kernel", "row_blocks", "uniformity", "value_and_gradient"]

BLOCK = 1 << 19                                 # numbers per block of pairs: 2 MB in float32, which stay in the caches between the steps


def _working(x: Tensor) -> Tensor:
    """float64 stays; float32 for all else, because half types are slow on processors and their squares too coarse."""
    return x.detach() if x.dtype == torch.float64 else x.detach().float()


def row_blocks(n: int) -> Iterator[slice]:
    """The rows of each block, in order; a block holds the products of its rows with all rows from its first one on."""
    start = 0
    while start < n:
        stop = min(n, start + max(1, BLOCK // (n - start)))
        yield slice(start, stop)
        start = stop


def _log_kernel(gram: Tensor, squares: Tensor, rows: slice, t: float) -> Tensor:
    """-t ‖x_i - x_j‖² for i in rows and j >= rows.start, written over ``gram``; -inf where j <= i."""
    gram.mul_(2 * t).sub_(t * squares[rows, None]).sub_(t * squares[None, rows.start :]).clamp_(max=0)
    inside = gram[:, : len(gram)]
    inside.masked_fill_(torch.ones_like(inside, dtype=torch.bool).tril_(), -math.inf)
    return gram


def log_mean_kernel(grams: Iterator[tuple[slice, Tensor]], squares: Tensor, *, t: float) -> float:
    """Uniformity from blocks of inner products, whatever made them (dense or sparse rows).

    Parameters: grams yields, for all rows of `row_blocks`, (rows, inner products of those rows with all rows from rows.start on), and the products
    are written over; squares, (n,) ‖x_i‖²; t. Returns the log of the mean.
    """
    peak, total, n = -math.inf, 0.0, len(squares)
    for rows, gram in grams:
        block = _log_kernel(gram, squares, rows, t)
        block_peak = block.max().item()
        if block_peak == -math.inf:             # the last row alone: no pair
            continue
        new_peak = max(peak, block_peak)
        total = total * math.exp(peak - new_peak) + block.sub_(new_peak).exp_().sum(dtype=torch.float64).item()
        peak = new_peak
    return peak + math.log(total) - math.log(n * (n - 1) / 2) if total == total else math.nan


def uniformity(x: Tensor, *, t: float) -> Tensor:
    """The value alone: one matrix product per block of rows."""
    x = _working(x)
    grams = ((rows, row_product(x[rows], x[rows.start :])) for rows in row_blocks(len(x)))
    return x.new_tensor(log_mean_kernel(grams, x.square().sum(dim=1), t=t))


def value_and_gradient(x: Tensor, *, t: float) -> tuple[Tensor, Tensor]:
    """Value and gradient in one pass; both sides of a pair get their share from the same block."""
    exact, n = _working(x), len(x)
    squares = exact.square().sum(dim=1)
    peak, total = -math.inf, 0.0
    pull, weight = torch.zeros_like(exact), exact.new_zeros(n)          # Σ_j k_ij x_j and Σ_j k_ij, k scaled by exp(-peak)
    for rows in row_blocks(n):
        right = exact[rows.start :]
        block = _log_kernel(row_product(exact[rows], right), squares, rows, t)
        new_peak = max(peak, block.max().item())
        if new_peak > peak:
            shrink = math.exp(peak - new_peak)
            total, peak = total * shrink, new_peak
            pull *= shrink
            weight *= shrink
        block.sub_(peak).exp_()
        total += block.sum(dtype=torch.float64).item()
        add_row_product(pull[rows], block, right.T)
        add_row_product(pull[rows.start :], block.T, exact[rows].T)
        weight[rows] += block.sum(dim=1)
        weight[rows.start :] += block.sum(dim=0)
    value = peak + math.log(total) - math.log(n * (n - 1) / 2) if total == total else math.nan
    gradient = pull.addcmul_(weight[:, None], exact, value=-1).mul_(2 * t / total)
    return exact.new_tensor(value), gradient.to(x.dtype)
