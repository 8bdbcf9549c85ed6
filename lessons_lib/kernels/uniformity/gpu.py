"""Uniformity as Triton kernels.

Value: one program per tile of pairs above the diagonal. The tile of inner products is built up over
d in registers, becomes exp(-t ‖x_i - x_j‖²) there and leaves as two numbers, its maximum and its
sum; a fixed-order sum joins them, so the result is the same in every run. Gradient: blocks of rows
whose inner products come from the library's matrix product; one program per row turns them into
weights in place, a second product makes the gradient. Inner products, exponentials and sums are
float32; only the weights of the gradient are rounded to the type of x. Taught in
``15_gpu_kernels``.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..autograd import gradient_type
from ..configs import FLOATS, CompileCase, blocks_for, types_of
from ..layout import aligned_rows, padded_width, precision, product, row_products
from ..tracing import launched
from .centred import centred, drop_far_rows


@triton.jit
def uniformity_tiles(x_ptr, squares_ptr, peak_ptr, total_ptr, n, d, stride_x, t, n_tiles,
                     BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, PRECISION: tl.constexpr):
    """One tile of pairs (rows ti, columns tj >= ti) -> maximum and exp-sum of its log kernel."""
    program = tl.program_id(0)
    ti = 0
    left = program
    while left >= n_tiles - ti:     # program number -> place in the upper triangle, row by row
        left -= n_tiles - ti
        ti += 1
    rows = ti * BLOCK_N + tl.arange(0, BLOCK_N)
    cols = (ti + left) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_ok, col_ok = rows < n, cols < n
    x_rows = x_ptr + rows.to(tl.int64)[:, None] * stride_x
    x_cols = x_ptr + cols.to(tl.int64)[None, :] * stride_x
    dots = tl.zeros([BLOCK_N, BLOCK_N], tl.float32)
    for start in range(0, d, BLOCK_D):
        k = start + tl.arange(0, BLOCK_D)
        a = tl.load(x_rows + k[None, :], mask=row_ok[:, None] & (k < d)[None, :], other=0.0)
        b = tl.load(x_cols + k[:, None], mask=col_ok[None, :] & (k < d)[:, None], other=0.0)
        dots = tl.dot(a, b, dots, input_precision=PRECISION)
    row_squares = tl.load(squares_ptr + rows, mask=row_ok, other=0.0)
    col_squares = tl.load(squares_ptr + cols, mask=col_ok, other=0.0)
    squares = row_squares[:, None] + col_squares[None, :] - 2.0 * dots
    squares = tl.maximum(squares, 0.0, propagate_nan=tl.PropagateNan.ALL)
    pair = row_ok[:, None] & col_ok[None, :] & (rows[:, None] < cols[None, :])
    log_kernel = tl.where(pair, -t * squares, -float("inf"))
    peak = tl.max(tl.max(log_kernel, 1), 0)
    shift = tl.where(peak == -float("inf"), 0.0, peak)      # a tile without a pair: exp(-inf) = 0
    tl.store(peak_ptr + program, peak)
    tl.store(total_ptr + program, tl.sum(tl.sum(tl.exp(log_kernel - shift), 1), 0))


@triton.jit
def uniformity_weights(dots_ptr, squares_ptr, weights_ptr, sums_ptr, first_row, n, width, t,
                       log_total, BLOCK_N: tl.constexpr):
    """One row of inner products -> its weights exp(-t ‖x_i - x_j‖² - log_total) and their sum.

    0 on the diagonal. Rows lie ``width`` >= n apart, a multiple of 16, so loads stay 128 bits
    wide; what lies beyond n is dropped.
    """
    row = tl.program_id(0).to(tl.int64)
    dots_ptr += row * width
    weights_ptr += row * width
    own = tl.load(squares_ptr + first_row + row)
    total = 0.0
    for start in range(0, width, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        ok = cols < width
        dots = tl.load(dots_ptr + cols, mask=ok, other=0.0)
        squares = own + tl.load(squares_ptr + cols, mask=ok, other=0.0)
        weights = tl.exp(-t * tl.maximum(squares - 2.0 * dots, 0.0) - log_total)
        weights = tl.where((cols < n) & (cols != first_row + row), weights, 0.0)
        total += tl.sum(weights, 0)
        tl.store(weights_ptr + cols, weights.to(weights_ptr.dtype.element_ty), mask=ok)
    tl.store(sums_ptr + row, total)


COMPILE_CASES = tuple(
    case for name, pointer in FLOATS.items() for case in (
        CompileCase(uniformity_tiles, name, types_of(
            {"*fp32": "squares_ptr peak_ptr total_ptr", "i32": "n d stride_x n_tiles",
             "fp32": "t"}, x_ptr=pointer), {"PRECISION": precision(name)},
            divisible=("d", "stride_x"), expects=("tensor_core",)),
        CompileCase(uniformity_weights, name, types_of(
            {"*fp32": "dots_ptr squares_ptr sums_ptr", "i32": "first_row n width",
             "fp32": "t log_total"}, weights_ptr=pointer),
            divisible=("width",), expects=("wide_load",)),
    ))


def _log_total(x: Tensor, squares: Tensor, t: float) -> Tensor:
    """log Σ_{i<j} exp(-t ‖x_i - x_j‖²), from one (maximum, sum) per tile."""
    blocks = blocks_for("uniformity_tiles", x)
    n_tiles = triton.cdiv(len(x), blocks.sizes["BLOCK_N"])
    grid = (n_tiles * (n_tiles + 1) // 2,)
    peak, total = torch.empty(2, grid[0], dtype=torch.float32, device=x.device)
    uniformity_tiles[grid](x, squares, peak, total, len(x), x.shape[1], x.stride(0), t, n_tiles,
                           PRECISION=precision(x.dtype), **blocks.options())
    launched("uniformity_tiles", grid, blocks.options())
    return torch.logsumexp(peak + total.log(), dim=0)


def uniformity(x: Tensor, *, t: float) -> Tensor:
    """The value alone: nothing but two numbers per tile is written."""
    x = aligned_rows(centred(x))
    return _log_total(x, drop_far_rows(x), t) - math.log(len(x) * (len(x) - 1) / 2)


def value_and_gradient(x: Tensor, *, t: float) -> tuple[Tensor, Tensor]:
    """Value from the tiles; gradient in blocks of rows of inner products."""
    rows_x = aligned_rows(centred(x))
    n, squares = len(x), drop_far_rows(rows_x)
    log_total = _log_total(rows_x, squares, t)
    scale = log_total.item()            # the row kernel takes a number: one wait per loss
    scale = 0.0 if scale == -math.inf else scale        # no pair counts: all weights are 0
    gradient = torch.empty(x.shape, dtype=gradient_type(x.dtype), device=x.device)
    blocks = blocks_for("uniformity_weights", x)
    row_squares = torch.zeros(padded_width(n), dtype=torch.float32, device=x.device)
    row_squares[:n] = squares
    for rows, dots, weights in row_products(rows_x, rows_x):
        sums = torch.empty(len(dots), dtype=torch.float32, device=x.device)
        grid = (len(dots),)
        uniformity_weights[grid](dots, row_squares, weights, sums, rows.start, n, dots.stride(0), t,
                                 scale, **blocks.options())
        launched("uniformity_weights", grid, blocks.options())
        pull = sums[:, None] * rows_x[rows].float() - product(weights, rows_x)
        gradient[rows] = (-2 * t * pull).to(gradient.dtype)
    return log_total - math.log(n * (n - 1) / 2), gradient
