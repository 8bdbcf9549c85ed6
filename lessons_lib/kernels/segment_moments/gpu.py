"""Segment moments as a Triton kernel: one program per segment, which walks over its rows.

The sums stay in float32 registers. Each row is read once and serves all of them: its norm needs the
whole row, so a program holds whole rows. A row is divided by its largest entry before it is
squared, so nothing overflows; rows with no entry above 1.2e-38 count as almost zero. x is taken as
it lies: a copy with padded rows would move more than it saves. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..configs import FLOATS, CompileCase, blocks_for, types_of
from ..tracing import launched


@triton.jit
def directions(x):
    """Rows -> their unit vectors (0 for a zero row) and their norms."""
    peak = tl.max(tl.abs(x), 1)
    scaled = x * (1.0 / tl.maximum(peak, 1.2e-38))[:, None]
    norm = tl.sqrt(tl.sum(scaled * scaled, 1))                # >= 1 unless the row is zero
    return scaled * (1.0 / tl.maximum(norm, 1.0))[:, None], peak * norm


@triton.jit
def segment_sums(x_ptr, offsets_ptr, sum_ptr, unit_ptr, norm_ptr, count_ptr, n, d, stride_x,
                 TILE: tl.constexpr, PART: tl.constexpr, BLOCK_D: tl.constexpr):
    """One segment -> Σ x, Σ x/|x|, Σ |x| and the number of rows that are not zero."""
    BLOCK_T: tl.constexpr = TILE // BLOCK_D if TILE > BLOCK_D else 1
    segment = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_D)
    # unchecked offsets in a compiled function must not lead out of x
    begin = tl.maximum(tl.load(offsets_ptr + segment), 0)
    end = tl.minimum(tl.load(offsets_ptr + segment + 1), n)
    total = tl.zeros([BLOCK_D], tl.float32)
    unit = tl.zeros([BLOCK_D], tl.float32)
    norm = 0.0
    count = 0
    # sums of sums: a long float32 sum of small numbers would lose digits
    for part in range(begin, end, PART * BLOCK_T):
        part_total = tl.zeros([BLOCK_D], tl.float32)
        part_unit = tl.zeros([BLOCK_D], tl.float32)
        part_norm = 0.0
        for start in range(part, tl.minimum(end, part + PART * BLOCK_T), BLOCK_T):
            rows = (start + tl.arange(0, BLOCK_T)).to(tl.int64)
            ok = (rows < end)[:, None] & (cols < d)[None, :]
            x = tl.load(x_ptr + rows[:, None] * stride_x + cols[None, :], mask=ok,
                        other=0.0).to(tl.float32)
            u, norms = directions(x)
            part_total += tl.sum(x, 0)
            part_unit += tl.sum(u, 0)
            part_norm += tl.sum(norms, 0)
            count += tl.sum((norms > 0).to(tl.int32), 0)
        total += part_total
        unit += part_unit
        norm += part_norm
    tl.store(sum_ptr + segment * d + cols, total, mask=cols < d)
    tl.store(unit_ptr + segment * d + cols, unit, mask=cols < d)
    tl.store(norm_ptr + segment, norm)
    tl.store(count_ptr + segment, count.to(tl.int64))


COMPILE_CASES = tuple(
    CompileCase(segment_sums, name, types_of(
        {"*i64": "offsets_ptr count_ptr", "*fp32": "sum_ptr unit_ptr norm_ptr",
         "i32": "n d stride_x"}, x_ptr=pointer), {"BLOCK_D": 1024},
                divisible=("d", "stride_x"), expects=("wide_load",))
    for name, pointer in FLOATS.items())


def segment_moments(x: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """All sums of a segment in one pass over its rows."""
    x, s, d = x if x.stride(1) == 1 else x.contiguous(), len(offsets) - 1, x.shape[1]
    total, unit = (torch.empty(s, d, dtype=torch.float32, device=x.device) for _ in range(2))
    norm = torch.empty(s, dtype=torch.float32, device=x.device)
    count = torch.empty(s, dtype=torch.int64, device=x.device)
    if s:
        blocks, width = blocks_for("segment_sums", x), triton.next_power_of_2(d)
        segment_sums[(s,)](x, offsets, total, unit, norm, count, len(x), d, x.stride(0),
                           BLOCK_D=width, **blocks.options())
        per_step = max(1, blocks.sizes["TILE"] // width)        # rows of one step
        launched("segment_sums", (s,), {"BLOCK_T": per_step, "BLOCK_D": width, **blocks.options()})
    return total, unit, norm, count
