"""Pooling as Triton kernels: one program per text, which walks over its tokens a few at a time and keeps one row of results in registers.

A load is masked by the text's own mask, so padding is never read, neither its bytes nor its NaN. Sums, maxima and the length are float32
and rounded once, at the store. Every number is read once, so token vectors are taken as they lie: a copy with padded rows would move more
than it saves. Rows that start at multiples of 16 numbers are read in 128-bit loads. Taught in ``15_gpu_kernels``, where it is the first
kernel.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..compile_case import FLOATS, CompileCase
from ..configs import Blocks, blocks_for
from ..tracing import launched

__all__ = ["COMPILE_CASES", "largest", "mean"]


@triton.jit
def store_pooled(z, text, pooled_ptr, length_ptr, cols, d, NORMALIZE: tl.constexpr):
    """Write one pooled row, divided by its length if asked for; the largest entry is divided out before, so that no square overflows."""
    if NORMALIZE:
        z = tl.where(cols < d, z, 0.0)                          # lanes beyond the row hold -inf after a maximum
        peak = tl.max(tl.abs(z), 0)
        z = z / tl.where(peak == 0, 1.0, peak)
        length = tl.sqrt(tl.sum(z * z, 0))
        z = z / tl.where(length == 0, 1.0, length)              # NaN == 0 is false: a NaN reaches the whole row
        tl.store(length_ptr + text, peak * length)
    tl.store(pooled_ptr + text * d + cols, z.to(pooled_ptr.dtype.element_ty), mask=cols < d)


@triton.jit
def pool_tokens(hidden_ptr, first_ptr, mask_ptr, pooled_ptr, length_ptr, n_tokens, d, stride_hb, stride_ht, stride_fb, stride_ft,
                TWO: tl.constexpr, NORMALIZE: tl.constexpr, TILE: tl.constexpr, BLOCK_D: tl.constexpr):
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
        x = tl.load(hidden_ptr + text * stride_hb + steps * stride_ht + cols[None, :], mask=wanted, other=0.0).to(tl.float32)
        if TWO:
            f = tl.load(first_ptr + text * stride_fb + steps * stride_ft + cols[None, :], mask=wanted, other=0.0).to(tl.float32)
            x = 0.5 * x + 0.5 * f
        total += tl.sum(x, 0)
        n_real += tl.sum(real.to(tl.float32), 0)
    store_pooled(total / tl.maximum(n_real, 1.0), text, pooled_ptr, length_ptr, cols, d, NORMALIZE)


@triton.jit
def pool_largest(hidden_ptr, mask_ptr, pooled_ptr, length_ptr, winner_ptr, n_tokens, d, stride_hb, stride_ht,
                 WINNER: tl.constexpr, NORMALIZE: tl.constexpr, TILE: tl.constexpr, BLOCK_D: tl.constexpr):
    """One text -> the maximum of its real tokens and, when WINNER, the first token that reaches it."""
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
        x = tl.load(hidden_ptr + text * stride_hb + steps * stride_ht + cols[None, :], mask=wanted, other=-float("inf")).to(tl.float32)
        missing = tl.maximum(missing, tl.max((x != x).to(tl.int32), 0))      # a maximum drops NaN, so it is carried along
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
    store_pooled(z, text, pooled_ptr, length_ptr, cols, d, NORMALIZE)


_ROOM = {"mask_ptr": "*u8", "length_ptr": "*fp32", "n_tokens": "i32", "d": "i32", "stride_hb": "i64", "stride_ht": "i32"}
_STRIDES = ("d", "stride_hb", "stride_ht")
COMPILE_CASES = tuple(
    case for name, pointer in FLOATS.items() for case in (
        CompileCase(pool_tokens, name, {**_ROOM, "hidden_ptr": pointer, "first_ptr": pointer, "pooled_ptr": pointer, "stride_fb": "i64",
                                        "stride_ft": "i32"}, {"TWO": True, "NORMALIZE": True, "BLOCK_D": 1024},
                    divisible=(*_STRIDES, "stride_fb", "stride_ft"), expects=("wide_load",)),
        CompileCase(pool_largest, name, {**_ROOM, "hidden_ptr": pointer, "pooled_ptr": pointer, "winner_ptr": "*i32"},
                    {"WINNER": True, "NORMALIZE": False, "BLOCK_D": 1024}, divisible=_STRIDES, expects=("wide_load",)),
    ))


def _prepared(hidden: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Token vectors whose numbers lie side by side, the mask as bytes."""
    return hidden if hidden.stride(2) == 1 else hidden.contiguous(), mask.contiguous().view(torch.uint8)


def _blocks(blocks: Blocks, d: int) -> tuple[int, dict[str, int]]:
    """Width of the block that holds a row, and what the record of the launch says: tokens per step x width."""
    width = triton.next_power_of_2(d)
    return width, {"BLOCK_T": max(1, blocks.sizes["TILE"] // width), "BLOCK_D": width, **blocks.options()}


def _room(hidden: Tensor, normalize: bool) -> tuple[Tensor, Tensor]:
    b, _, d = hidden.shape
    return (torch.empty(b, d, dtype=hidden.dtype, device=hidden.device),
            torch.empty(b if normalize else 0, dtype=torch.float32, device=hidden.device))


def mean(hidden: Tensor, mask: Tensor, first: Tensor | None, *, normalize: bool) -> tuple[Tensor, Tensor]:
    """The mean over real tokens, of both layers when ``first`` is given."""
    hidden, mask = _prepared(hidden, mask)
    layer = hidden if first is None else first if first.stride(2) == 1 else first.contiguous()
    pooled, length = _room(hidden, normalize)
    b, n_tokens, d = hidden.shape
    if b:
        blocks = blocks_for("pool_tokens", hidden)
        width, config = _blocks(blocks, d)
        pool_tokens[(b,)](hidden, layer, mask, pooled, length, n_tokens, d, *hidden.stride()[:2], *layer.stride()[:2],
                          TWO=first is not None, NORMALIZE=normalize, BLOCK_D=width, **blocks.options())
        launched("pool_tokens", (b,), config)
    return pooled, length


def largest(hidden: Tensor, mask: Tensor, *, normalize: bool, gradient: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The maximum over real tokens; the places of the maxima only where a gradient will ask for them."""
    hidden, mask = _prepared(hidden, mask)
    pooled, length = _room(hidden, normalize)
    b, n_tokens, d = hidden.shape
    winner = torch.empty((b, d) if gradient else (0,), dtype=torch.int32, device=hidden.device)
    if b:
        blocks = blocks_for("pool_largest", hidden)
        width, config = _blocks(blocks, d)
        pool_largest[(b,)](hidden, mask, pooled, length, winner, n_tokens, d, *hidden.stride()[:2],
                           WINNER=gradient, NORMALIZE=normalize, BLOCK_D=width, **blocks.options())
        launched("pool_largest", (b,), config)
    return pooled, length, winner
