"""Covariance as a Triton kernel: the lower triangle of (x - shift)ᵀ (x - shift), tile by tile.

A program owns one tile of columns and one slab of rows. It subtracts the shift in registers, so no
centred copy is written, multiplies by three tf32 products (as exact as float32) and adds up chunk
by chunk, because long sums in a tensor core lose digits. The slabs are summed in float64 in a fixed
order, so the result is the same in every run. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..configs import FLOATS, CompileCase, blocks_for, types_of
from ..layout import aligned_rows, precision
from ..tracing import launched

PROGRAMS = 1024                 # enough for every GPU; more slabs would only cost memory


@triton.jit
def syrk_shift(x_ptr, shift_ptr, parts_ptr, n, d, stride_x, rows_per_slab,
               BLOCK_D: tl.constexpr, BLOCK_N: tl.constexpr, CHUNK: tl.constexpr,
               PRECISION: tl.constexpr):
    """One tile of columns, ti and tj <= ti, in one slab of rows -> its products, shifted."""
    ti = 0
    left = tl.program_id(0)
    while left > ti:            # program number -> place in the lower triangle, row by row
        left -= ti + 1
        ti += 1
    slab = tl.program_id(1)
    a = ti * BLOCK_D + tl.arange(0, BLOCK_D)
    b = left * BLOCK_D + tl.arange(0, BLOCK_D)
    a_ok, b_ok = a < d, b < d
    shift_a = tl.load(shift_ptr + a, mask=a_ok, other=0.0)
    shift_b = tl.load(shift_ptr + b, mask=b_ok, other=0.0)
    first = slab * rows_per_slab
    last = tl.minimum(first + rows_per_slab, n)
    products = tl.zeros([BLOCK_D, BLOCK_D], tl.float32)
    for chunk in range(first, last, CHUNK):
        short = tl.zeros([BLOCK_D, BLOCK_D], tl.float32)
        for start in range(chunk, tl.minimum(chunk + CHUNK, last), BLOCK_N):
            rows = start + tl.arange(0, BLOCK_N)
            ok = rows < last
            places = x_ptr + rows.to(tl.int64)[:, None] * stride_x
            x_a = tl.load(places + a[None, :], mask=ok[:, None] & a_ok[None, :],
                          other=0.0).to(tl.float32)
            x_b = tl.load(places + b[None, :], mask=ok[:, None] & b_ok[None, :],
                          other=0.0).to(tl.float32)
            # a missing row is no row of zeros; one factor would be enough, but alike both load
            # through the same pipeline
            x_a = tl.where(ok[:, None], x_a - shift_a[None, :], 0.0)
            x_b = tl.where(ok[:, None], x_b - shift_b[None, :], 0.0)
            short = tl.dot(tl.trans(x_a), x_b, short, input_precision=PRECISION)
        products += short
    out = parts_ptr + slab.to(tl.int64) * d * d + a.to(tl.int64)[:, None] * d + b[None, :]
    tl.store(out, products, mask=a_ok[:, None] & b_ok[None, :])


COMPILE_CASES = tuple(
    CompileCase(syrk_shift, name, types_of(
        {"*fp32": "shift_ptr parts_ptr", "i32": "n d stride_x rows_per_slab"}, x_ptr=pointer),
                {"PRECISION": precision("float32")},
                divisible=("d", "stride_x", "rows_per_slab"), expects=("tensor_core", "wide_load"))
    for name, pointer in FLOATS.items())


def mean_and_scatter(x: Tensor, *, double: bool = False) -> tuple[Tensor, Tensor]:
    """Mean by one read of x in float64: the shift; what float32 rounded off it is corrected.

    Its products are float32: who asks for ``double`` is sent to another backend before.
    """
    rows_x, (n, d) = aligned_rows(x), x.shape
    mean = x.mean(dim=0, dtype=torch.float64)
    shift = mean.float()
    blocks = blocks_for("syrk_shift", x)
    chunk, n_tiles = blocks.sizes["CHUNK"], triton.cdiv(d, blocks.sizes["BLOCK_D"])
    pairs = n_tiles * (n_tiles + 1) // 2
    wanted = min(triton.cdiv(n, chunk), max(1, PROGRAMS // pairs))
    rows_per_slab = triton.cdiv(triton.cdiv(n, wanted), chunk) * chunk
    grid = (pairs, triton.cdiv(n, rows_per_slab))
    parts = torch.empty((grid[1], d, d), dtype=torch.float32, device=x.device)
    syrk_shift[grid](rows_x, shift, parts, n, d, rows_x.stride(0), rows_per_slab,
                     PRECISION=precision("float32"), **blocks.options())
    launched("syrk_shift", grid, blocks.options())
    missed = mean - shift
    lower = parts.sum(dim=0, dtype=torch.float64).tril_()       # nothing was written above
    return mean, lower + lower.tril(-1).T - n * torch.outer(missed, missed)
