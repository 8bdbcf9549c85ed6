"""GloVe steps as a Triton kernel: one program per tile, the tiles of a round side by side.

No two tiles of a round share a row, so a program reads and writes its rows without atomics and the
result is the same in every run. A step waits for two rows from far away, which lie in registers,
numbers beside sums of squares, until they are written back; a thousand programs that wait at the
same time keep the memory busy. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..configs import CompileCase, blocks_for
from ..tracing import launched
from .state import GloveState, Settings

__all__ = ["COMPILE_CASES", "glove_step"]

NUMBERS_PER_WARP = 512  # of a row: a step holds four of them


@triton.jit
def stepped(numbers, squares, other, pull, rate, clip):
    """AdaGrad: the numbers after the step towards ``pull`` times the other row, and their sums of
    squares."""
    step = rate * tl.minimum(tl.maximum(pull * other, -clip), clip)
    return numbers - step * tl.rsqrt(squares), squares + step * step


@triton.jit(do_not_specialize=["shift", "groups"])
def learn_tiles(
    words_ptr,
    contexts_ptr,
    rows_ptr,
    columns_ptr,
    logs_ptr,
    weights_ptr,
    tiles_ptr,
    losses_ptr,
    left_out_ptr,
    shift,
    groups,
    width,
    rate,
    clip,
    BLOCK: tl.constexpr,
):
    """The counts of one tile, one after the other."""
    group = tl.program_id(0)
    tile = group.to(tl.int64) * groups + (group + shift) % groups
    column = tl.arange(0, BLOCK)
    inside = column < width
    loss = 0.0
    left_out = 0
    for k in range(tl.load(tiles_ptr + tile), tl.load(tiles_ptr + tile + 1)):
        word = words_ptr + tl.load(rows_ptr + k).to(tl.int64) * (2 * width) + column
        context = contexts_ptr + tl.load(columns_ptr + k).to(tl.int64) * (2 * width) + column
        w = tl.load(word, mask=inside, other=0.0)
        w_squares = tl.load(word + width, mask=inside, other=1.0)
        c = tl.load(context, mask=inside, other=0.0)
        c_squares = tl.load(context + width, mask=inside, other=1.0)
        diff = tl.sum(w * c, 0) - tl.load(logs_ptr + k)
        if tl.abs(diff) < float("inf"):  # nor is NaN
            pull = tl.load(weights_ptr + k) * diff
            loss += 0.5 * pull * diff
            new_w, new_w_squares = stepped(w, w_squares, c, pull, rate, clip)
            new_c, new_c_squares = stepped(c, c_squares, w, pull, rate, clip)
            tl.store(word, new_w, mask=inside)
            tl.store(word + width, new_w_squares, mask=inside)
            tl.store(context, new_c, mask=inside)
            tl.store(context + width, new_c_squares, mask=inside)
        else:
            left_out += 1
    tl.store(losses_ptr + group, loss)
    tl.store(left_out_ptr + group, left_out)


_TYPES = {
    "words_ptr": "*fp32",
    "contexts_ptr": "*fp32",
    "rows_ptr": "*i32",
    "columns_ptr": "*i32",
    "logs_ptr": "*fp32",
    "weights_ptr": "*fp32",
    "tiles_ptr": "*i64",
    "losses_ptr": "*fp32",
    "left_out_ptr": "*i32",
    "shift": "i32",
    "groups": "i32",
    "width": "i32",
    "rate": "fp32",
    "clip": "fp32",
}
COMPILE_CASES = tuple(
    CompileCase(
        learn_tiles,
        "float32",
        _TYPES,
        {"BLOCK": block},
        divisible=("width",),
        expects=("wide_load",),
        num_warps=max(1, block // NUMBERS_PER_WARP),
    )
    for block in (128, 512, 1024)
)


def glove_step(words: Tensor, state: GloveState, how: Settings) -> tuple[float, int]:
    """Update both matrices, a launch for each round; returns Σ ½ f diff² over the counts, and how
    many were left out."""
    width, shape = words.shape[2], (max(1, len(how.shifts)), state.groups)
    losses = torch.zeros(shape, dtype=torch.float32, device=words.device)
    left_out = torch.zeros(shape, dtype=torch.int32, device=words.device)
    block = triton.next_power_of_2(width)
    options = blocks_for("learn_tiles", words).options() | {
        "BLOCK": block,
        "num_warps": max(1, block // NUMBERS_PER_WARP),
    }
    for i, shift in enumerate(how.shifts):
        learn_tiles[(state.groups,)](
            words,
            state.contexts,
            state.rows,
            state.columns,
            state.logs,
            state.weights,
            state.tiles,
            losses[i],
            left_out[i],
            shift,
            state.groups,
            width,
            how.rate,
            how.clip,
            **options,
        )
        launched("learn_tiles", (state.groups,), options)
    return float(losses.double().sum()), int(left_out.sum())
