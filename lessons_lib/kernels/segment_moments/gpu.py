"""Segment moments as Triton kernels: one program per segment, which walks over its rows a few at a time and keeps the sums in registers.

Each row is read once and serves all sums: its length needs the whole row, so a program holds whole rows. Sums and lengths are float32. A
row is divided by its largest entry before it is squared, so nothing overflows; rows with no entry above 1.2e-38 count as almost zero. Every
number is read once, so x is taken as it lies: a copy with padded rows would move more than it saves. A long segment is one program all the
same. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..compile_case import FLOATS, CompileCase
from ..configs import Blocks, blocks_for
from ..tracing import launched

__all__ = ["COMPILE_CASES", "gradient", "segment_moments"]


@triton.jit
def directions(x):
    """Rows -> their unit vectors (0 for a zero row) and their lengths."""
    peak = tl.max(tl.abs(x), 1)
    scaled = x * (1.0 / tl.maximum(peak, 1.2e-38))[:, None]
    length = tl.sqrt(tl.sum(scaled * scaled, 1))                # >= 1 unless the row is zero
    return scaled * (1.0 / tl.maximum(length, 1.0))[:, None], peak * length


@triton.jit
def segment_sums(x_ptr, offsets_ptr, sum_ptr, unit_ptr, norm_ptr, count_ptr, n, d, stride_x,
                 TILE: tl.constexpr, PART: tl.constexpr, BLOCK_D: tl.constexpr):
    """One segment -> Σ x, Σ x/|x|, Σ |x| and the number of rows that are not zero."""
    BLOCK_T: tl.constexpr = TILE // BLOCK_D if TILE > BLOCK_D else 1
    segment = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_D)
    begin = tl.maximum(tl.load(offsets_ptr + segment), 0)       # unchecked offsets in a compiled function must not lead out of x
    end = tl.minimum(tl.load(offsets_ptr + segment + 1), n)
    total = tl.zeros([BLOCK_D], tl.float32)
    unit = tl.zeros([BLOCK_D], tl.float32)
    norm = 0.0
    count = 0
    for part in range(begin, end, PART * BLOCK_T):              # sums of sums: a long float32 sum of small numbers would lose digits
        part_total = tl.zeros([BLOCK_D], tl.float32)
        part_unit = tl.zeros([BLOCK_D], tl.float32)
        part_norm = 0.0
        for start in range(part, tl.minimum(end, part + PART * BLOCK_T), BLOCK_T):
            rows = (start + tl.arange(0, BLOCK_T)).to(tl.int64)
            ok = (rows < end)[:, None] & (cols < d)[None, :]
            x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=ok, other=0.0).to(tl.float32)
            u, length = directions(x)
            part_total += tl.sum(x, 0)
            part_unit += tl.sum(u, 0)
            part_norm += tl.sum(length, 0)
            count += tl.sum((length > 0).to(tl.int32), 0)
        total += part_total
        unit += part_unit
        norm += part_norm
    tl.store(sum_ptr + segment * d + cols, total, mask=cols < d)
    tl.store(unit_ptr + segment * d + cols, unit, mask=cols < d)
    tl.store(norm_ptr + segment, norm)
    tl.store(count_ptr + segment, count.to(tl.int64))


@triton.jit
def segment_gradient(x_ptr, offsets_ptr, of_sum_ptr, of_unit_ptr, of_norm_ptr, gradient_ptr, n, d, stride_x,
                     TILE: tl.constexpr, BLOCK_D: tl.constexpr):
    """One segment -> the gradients of its rows; the rows of ``gradient`` lie d numbers apart."""
    BLOCK_T: tl.constexpr = TILE // BLOCK_D if TILE > BLOCK_D else 1
    segment = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_D)
    begin = tl.maximum(tl.load(offsets_ptr + segment), 0)
    end = tl.minimum(tl.load(offsets_ptr + segment + 1), n)
    of_sum = tl.load(of_sum_ptr + segment * d + cols, mask=cols < d, other=0.0)
    of_unit = tl.load(of_unit_ptr + segment * d + cols, mask=cols < d, other=0.0)
    of_norm = tl.load(of_norm_ptr + segment)
    for start in range(begin, end, BLOCK_T):
        rows = (start + tl.arange(0, BLOCK_T)).to(tl.int64)
        ok = (rows < end)[:, None] & (cols < d)[None, :]
        x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=ok, other=0.0).to(tl.float32)
        u, length = directions(x)
        inverse = tl.where(length == 0, 0.0, 1.0 / tl.where(length == 0, 1.0, length))
        along = tl.sum(u * of_unit[None, :], 1)
        found = of_sum[None, :] + (of_unit[None, :] - u * along[:, None]) * inverse[:, None] + of_norm * u
        tl.store(gradient_ptr + rows[:, None] * d + cols[None, :], found.to(gradient_ptr.dtype.element_ty), mask=ok)


_ROOM = {"offsets_ptr": "*i64", "n": "i32", "d": "i32", "stride_x": "i32"}
COMPILE_CASES = tuple(
    case for name, pointer in FLOATS.items() for case in (
        CompileCase(segment_sums, name, {**_ROOM, "x_ptr": pointer, "sum_ptr": "*fp32", "unit_ptr": "*fp32", "norm_ptr": "*fp32",
                                         "count_ptr": "*i64"}, {"BLOCK_D": 1024}, divisible=("d", "stride_x"), expects=("wide_load",)),
        CompileCase(segment_gradient, name, {**_ROOM, "x_ptr": pointer, "of_sum_ptr": "*fp32", "of_unit_ptr": "*fp32",
                                             "of_norm_ptr": "*fp32", "gradient_ptr": pointer}, {"BLOCK_D": 1024},
                    divisible=("d", "stride_x"), expects=("wide_load",)),
    ))


def _blocks(kernel: str, x: Tensor) -> tuple[Blocks, int, dict[str, int]]:
    """The launch, the width of the block that holds a row, and what the record of the launch says: rows per step x width."""
    blocks, width = blocks_for(kernel, x), triton.next_power_of_2(x.shape[1])
    return blocks, width, {"BLOCK_T": max(1, blocks.sizes["TILE"] // width), "BLOCK_D": width, **blocks.options()}


def segment_moments(x: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """All sums of a segment in one pass over its rows."""
    x, (s, d) = x if x.stride(1) == 1 else x.contiguous(), (len(offsets) - 1, x.shape[1])
    total, unit = (torch.empty(s, d, dtype=torch.float32, device=x.device) for _ in range(2))
    norm, count = torch.empty(s, dtype=torch.float32, device=x.device), torch.empty(s, dtype=torch.int64, device=x.device)
    if s:
        blocks, width, config = _blocks("segment_sums", x)
        segment_sums[(s,)](x, offsets, total, unit, norm, count, len(x), d, x.stride(0), BLOCK_D=width, **blocks.options())
        launched("segment_sums", (s,), config)
    return total, unit, norm, count


def gradient(x: Tensor, offsets: Tensor, of_sum: Tensor, of_unit_sum: Tensor, of_norm_sum: Tensor) -> Tensor:
    """The same walk over the rows, with the gradients of the segment in registers."""
    x, (s, d) = x if x.stride(1) == 1 else x.contiguous(), (len(offsets) - 1, x.shape[1])
    found = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if s and len(x):
        blocks, width, config = _blocks("segment_gradient", x)
        upstream = (of_sum.contiguous(), of_unit_sum.contiguous(), of_norm_sum.contiguous())
        segment_gradient[(s,)](x, offsets, *upstream, found, len(x), d, x.stride(0), BLOCK_D=width, **blocks.options())
        launched("segment_gradient", (s,), config)
    return found
