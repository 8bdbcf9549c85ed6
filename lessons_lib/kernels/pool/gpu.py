"""Pooling as Triton kernels: one program per text, which walks over its tokens.

A load is masked by the text's own mask, so padding is never read, neither its bytes nor its NaN.
Sums, maxima and the norm are float32 in registers and rounded once, at the store. Every number is
read once, so token vectors are taken as they lie: a copy with padded rows would move more than it
saves. Rows that start at multiples of 16 numbers are read in 128-bit loads. Taught in
``15_gpu_kernels``, where it is the first kernel.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..configs import FLOATS, CompileCase, blocks_for, types_of
from ..tracing import launched


@triton.jit
def store_pooled(z, text, pooled_ptr, norm_ptr, cols, d, NORMALIZE: tl.constexpr):
    """Write one pooled row, by its norm if asked for; by the largest entry first: no overflow."""
    if NORMALIZE:
        z = tl.where(cols < d, z, 0.0)                          # beyond the row: -inf of a maximum
        peak = tl.max(tl.abs(z), 0)
        z = z / tl.where(peak == 0, 1.0, peak)
        norm = tl.sqrt(tl.sum(z * z, 0))
        z = z / tl.where(norm == 0, 1.0, norm)                  # NaN == 0 is false: NaN goes on
        tl.store(norm_ptr + text, peak * norm)
    tl.store(pooled_ptr + text * d + cols, z.to(pooled_ptr.dtype.element_ty), mask=cols < d)


@triton.jit
def pool_tokens(hidden_ptr, first_ptr, mask_ptr, pooled_ptr, norm_ptr, n_tokens, d, stride_hb,
                stride_ht, stride_fb, stride_ft, TWO: tl.constexpr, NORMALIZE: tl.constexpr,
                TILE: tl.constexpr, BLOCK_D: tl.constexpr):
    """One text -> the mean of its real tokens, of (first + hidden) / 2 when TWO."""
    BLOCK_T: tl.constexpr = TILE // BLOCK_D if TILE > BLOCK_D else 1
    text = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_D)
    total = tl.zeros([BLOCK_D], tl.float32)
    n_real = 0.0
    for start in range(0, n_tokens, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        real = tl.load(mask_ptr + text * n_tokens + t, mask=t < n_tokens, other=0) != 0
        wanted = real[:, None] & (cols < d)[None, :]
        steps = t.to(tl.int64)[:, None]
        x = tl.load(hidden_ptr + text * stride_hb + steps * stride_ht + cols[None, :], mask=wanted,
                    other=0.0).to(tl.float32)
        if TWO:
            f = tl.load(first_ptr + text * stride_fb + steps * stride_ft + cols[None, :],
                        mask=wanted, other=0.0).to(tl.float32)
            x = 0.5 * x + 0.5 * f
        total += tl.sum(x, 0)
        n_real += tl.sum(real.to(tl.float32), 0)
    store_pooled(total / tl.maximum(n_real, 1.0), text, pooled_ptr, norm_ptr, cols, d, NORMALIZE)


@triton.jit
def pool_largest(hidden_ptr, mask_ptr, pooled_ptr, norm_ptr, winner_ptr, n_tokens, d, stride_hb,
                 stride_ht, WINNER: tl.constexpr, NORMALIZE: tl.constexpr, TILE: tl.constexpr,
                 BLOCK_D: tl.constexpr):
    """One text -> the maximum of its real tokens and, when WINNER, the first that reaches it."""
    BLOCK_T: tl.constexpr = TILE // BLOCK_D if TILE > BLOCK_D else 1
    text = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_D)
    best = tl.full([BLOCK_D], -float("inf"), tl.float32)
    winner = tl.zeros([BLOCK_D], tl.int32)
    missing = tl.zeros([BLOCK_D], tl.int32)
    n_real = 0
    for start in range(0, n_tokens, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        real = tl.load(mask_ptr + text * n_tokens + t, mask=t < n_tokens, other=0) != 0
        wanted = real[:, None] & (cols < d)[None, :]
        steps = t.to(tl.int64)[:, None]
        x = tl.load(hidden_ptr + text * stride_hb + steps * stride_ht + cols[None, :], mask=wanted,
                    other=-float("inf")).to(tl.float32)
        # a maximum drops NaN, so it is carried along
        missing = tl.maximum(missing, tl.max((x != x).to(tl.int32), 0))
        if WINNER:
            top, place = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
            winner = tl.where(top > best, start + place, winner)
        else:
            top = tl.max(x, 0)
        best = tl.maximum(best, top)
        n_real += tl.sum(real.to(tl.int32), 0)
    z = tl.where(missing > 0, float("nan"), tl.where(n_real > 0, best, 0.0))
    if WINNER:
        tl.store(winner_ptr + text * d + cols, winner, mask=cols < d)
    store_pooled(z, text, pooled_ptr, norm_ptr, cols, d, NORMALIZE)


_TYPES = {"*u8": "mask_ptr", "*fp32": "norm_ptr", "*i32": "winner_ptr",
          "i32": "n_tokens d stride_ht stride_ft", "i64": "stride_hb stride_fb"}
_STRIDES = ("d", "stride_hb", "stride_ht")
COMPILE_CASES = tuple(
    case for name, pointer in FLOATS.items()
    for types in [types_of(_TYPES, hidden_ptr=pointer, first_ptr=pointer, pooled_ptr=pointer)]
    for case in (
        CompileCase(pool_tokens, name, types, {"TWO": True, "NORMALIZE": True, "BLOCK_D": 1024},
                    divisible=(*_STRIDES, "stride_fb", "stride_ft"), expects=("wide_load",)),
        CompileCase(pool_largest, name, types,
                    {"WINNER": True, "NORMALIZE": False, "BLOCK_D": 1024}, divisible=_STRIDES,
                    expects=("wide_load",)),
    ))


def pool(hidden: Tensor, mask: Tensor, first: Tensor | None, *, largest: bool, normalize: bool,
         winners: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Mean or maximum over real tokens; each row's numbers lie side by side, strides are free."""
    hidden, mask = (hidden if hidden.stride(2) == 1 else hidden.contiguous(),
                    mask.contiguous().view(torch.uint8))
    (b, n_tokens, d), device = hidden.shape, hidden.device
    pooled = torch.empty(b, d, dtype=hidden.dtype, device=device)
    norm = torch.empty(b if normalize else 0, dtype=torch.float32, device=device)
    winner = torch.empty((b, d) if winners else (0,), dtype=torch.int32, device=device)
    if b == 0:
        return pooled, norm, winner
    kernel = "pool_largest" if largest else "pool_tokens"
    blocks, width = blocks_for(kernel, hidden), triton.next_power_of_2(d)
    options = {"NORMALIZE": normalize, "BLOCK_D": width, **blocks.options()}
    if largest:
        pool_largest[(b,)](hidden, mask, pooled, norm, winner, n_tokens, d, *hidden.stride()[:2],
                           WINNER=winners, **options)
    else:
        layer = hidden if first is None else first if first.stride(2) == 1 else first.contiguous()
        pool_tokens[(b,)](hidden, layer, mask, pooled, norm, n_tokens, d, *hidden.stride()[:2],
                          *layer.stride()[:2], TWO=first is not None, **options)
    per_step = max(1, blocks.sizes["TILE"] // width)            # tokens of one step
    launched(kernel, (b,), {"BLOCK_T": per_step, "BLOCK_D": width, **blocks.options()})
    return pooled, norm, winner
