"""Window updates as Triton kernels: a program learns from some windows one after the other, many
programs work side by side.

A program holds the output rows of a window in registers while its contexts come by; whatever a
window reads, it reads before it writes. Changes are added by atomics, four numbers in one
instruction, so none is lost, but their order is that of a race: two runs differ in the last digits,
and later in more. A row is a few tiles of 64 columns, so 300 numbers cost 320 lanes and not 512.
Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..configs import CompileCase, blocks_for
from ..tracing import launched
from .launching import side_by_side, tile, warps
from .state import Settings, WindowState
from .windows import Windows, drawn_windows, slabs

__all__ = ["COMPILE_CASES", "window_update"]


@triton.jit
def load_rows(at, mask, columns, UNIT: tl.constexpr, PIECES: tl.constexpr):
    """Rows as a tuple of tiles. From the second-level cache: the nearest one would keep what other
    programs have changed since."""
    found = ()
    for piece in tl.static_range(PIECES):
        column = piece * UNIT + tl.arange(0, UNIT)[None, :]
        found += (tl.load(at + column, mask=mask & (column < columns), other=0.0,
                          cache_modifier=".cg"),)
    return found


@triton.jit
def add_to_rows(at, mask, moves, columns, UNIT: tl.constexpr, PIECES: tl.constexpr):
    """Rows += moves, as atomics."""
    for piece in tl.static_range(PIECES):
        column = piece * UNIT + tl.arange(0, UNIT)[None, :]
        tl.atomic_add(at + column, moves[piece], mask=mask & (column < columns), sem="relaxed")


@triton.jit
def products(rows, x, PIECES: tl.constexpr):
    """The dot product of each row with the one row x."""
    found = rows[0] * x[0]
    for piece in tl.static_range(1, PIECES):
        found += rows[piece] * x[piece]
    return tl.sum(found, 1)


@triton.jit
def combined(rows, factors, PIECES: tl.constexpr):
    """The sum of the rows times their factors, as one row."""
    found = ()
    for piece in tl.static_range(PIECES):
        found += (tl.sum(rows[piece] * factors[:, None], 0)[None, :],)
    return found


@triton.jit
def stepped(rows, x, factors, PIECES: tl.constexpr):
    """Each row plus its factor times the one row x."""
    found = ()
    for piece in tl.static_range(PIECES):
        found += (rows[piece] + factors[:, None] * x[piece],)
    return found


@triton.jit
def zeros(ROWS: tl.constexpr, UNIT: tl.constexpr, PIECES: tl.constexpr):
    """Rows of zeros."""
    found = ()
    for _ in tl.static_range(PIECES):
        found += (tl.zeros([ROWS, UNIT], tl.float32),)
    return found


@triton.jit
def surprise(score, label):
    """-log p of what each label says, for any size of the score."""
    wrong = score * (1.0 - 2.0 * label)
    return tl.maximum(wrong, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(wrong)))


@triton.jit
def logistic(x):
    """1 / (1 + exp(-x)) without overflow."""
    small = tl.exp(-tl.abs(x))
    return tl.where(x >= 0, 1.0, small) / (1.0 + small)


@triton.jit(do_not_specialize=["first", "n_windows"])
def learn_pairs(inputs_ptr, outputs_ptr, contexts_ptr, bounds_ptr, rows_ptr, labels_ptr, begins_ptr,
                ends_ptr, rates_ptr, noted_ptr, losses_ptr, first, n_windows, columns,
                SLOTS: tl.constexpr, MOST: tl.constexpr, UNIT: tl.constexpr, PIECES: tl.constexpr,
                RUN: tl.constexpr):
    """Skip-gram: each context by itself. A word that stands twice in a window counts twice when it
    comes first, and then no more."""
    start = first + tl.program_id(0).to(tl.int64) * RUN
    slot = tl.arange(0, SLOTS)
    everywhere = tl.full([1, 1], 1, tl.int1)
    for window in range(start, tl.minimum(start + RUN, n_windows)):
        begin = tl.load(bounds_ptr + window)
        end = tl.load(bounds_ptr + window + 1)
        words = tl.load(contexts_ptr + begin + slot, mask=slot < end - begin, other=-1)
        place = tl.load(begins_ptr + window) + tl.arange(0, MOST)
        real = place < tl.load(ends_ptr + window)
        label = tl.load(labels_ptr + place, mask=real, other=0.0)
        rate = tl.load(rates_ptr + window)
        noted = tl.load(noted_ptr + window)
        at = (outputs_ptr +
              tl.load(rows_ptr + place, mask=real, other=0).to(tl.int64)[:, None] * columns)
        rows = load_rows(at, real[:, None], columns, UNIT, PIECES)
        moves = zeros(MOST, UNIT, PIECES)
        loss = tl.zeros([MOST], tl.float32)
        for i in range(begin, end):
            word = tl.load(contexts_ptr + i)
            same = words == word
            weight = tl.sum(same.to(tl.float32), 0) * (tl.sum(
                (same & (slot < i - begin)).to(tl.int32), 0) == 0).to(tl.float32)
            context = inputs_ptr + word.to(tl.int64) * columns
            x = load_rows(context, everywhere, columns, UNIT, PIECES)
            score = products(rows, x, PIECES)
            gain = tl.where(real, rate * weight * (label - logistic(score)), 0.0)
            moves = stepped(moves, x, gain, PIECES)
            add_to_rows(context, everywhere, combined(rows, gain, PIECES), columns, UNIT, PIECES)
            if noted:
                loss += tl.where(real, weight * surprise(score, label), 0.0)
        add_to_rows(at, real[:, None], moves, columns, UNIT, PIECES)
        tl.store(losses_ptr + window, tl.sum(loss, 0))


@triton.jit(do_not_specialize=["first", "n_windows", "share"])
def learn_means(inputs_ptr, outputs_ptr, contexts_ptr, bounds_ptr, rows_ptr, labels_ptr, begins_ptr,
                ends_ptr, rates_ptr, noted_ptr, losses_ptr, first, n_windows, columns, share,
                SLOTS: tl.constexpr, MOST: tl.constexpr, UNIT: tl.constexpr, PIECES: tl.constexpr,
                RUN: tl.constexpr):
    """CBOW: the mean of the contexts, which are read and moved several at a time."""
    start = first + tl.program_id(0).to(tl.int64) * RUN
    slot = tl.arange(0, SLOTS)
    one = tl.full([SLOTS], 1.0, tl.float32)
    for window in range(start, tl.minimum(start + RUN, n_windows)):
        begin = tl.load(bounds_ptr + window)
        end = tl.load(bounds_ptr + window + 1)
        place = tl.load(begins_ptr + window) + tl.arange(0, MOST)
        real = place < tl.load(ends_ptr + window)
        label = tl.load(labels_ptr + place, mask=real, other=0.0)
        at = (outputs_ptr +
              tl.load(rows_ptr + place, mask=real, other=0).to(tl.int64)[:, None] * columns)
        rows = load_rows(at, real[:, None], columns, UNIT, PIECES)
        mean = zeros(1, UNIT, PIECES)
        part = one / (end - begin).to(tl.float32)
        for i in range(begin, end, SLOTS):
            word = tl.load(contexts_ptr + i + slot, mask=slot < end - i, other=0).to(tl.int64)
            some = load_rows(inputs_ptr + word[:, None] * columns, (slot < end - i)[:, None],
                             columns, UNIT, PIECES)
            mean = stepped(mean, combined(some, part, PIECES), tl.full([1], 1.0, tl.float32),
                           PIECES)
        score = products(rows, mean, PIECES)
        gain = tl.where(real, tl.load(rates_ptr + window) * (label - logistic(score)), 0.0)
        add_to_rows(at, real[:, None], stepped(zeros(MOST, UNIT, PIECES), mean, gain, PIECES),
                    columns, UNIT, PIECES)
        error = combined(rows, gain, PIECES)
        for i in range(begin, end, SLOTS):
            word = tl.load(contexts_ptr + i + slot, mask=slot < end - i, other=0).to(tl.int64)
            step = stepped(zeros(SLOTS, UNIT, PIECES), error, tl.where(share > 0, part, one),
                           PIECES)
            add_to_rows(inputs_ptr + word[:, None] * columns, (slot < end - i)[:, None], step,
                        columns, UNIT, PIECES)
        loss = tl.zeros([MOST], tl.float32)
        if tl.load(noted_ptr + window):
            loss = tl.where(real, surprise(score, label), 0.0)
        tl.store(losses_ptr + window, tl.sum(loss, 0))


_LISTS = {
    "inputs_ptr": "*fp32", "outputs_ptr": "*fp32", "contexts_ptr": "*i32", "bounds_ptr": "*i64",
    "rows_ptr": "*i32", "labels_ptr": "*fp32", "begins_ptr": "*i64", "ends_ptr": "*i64",
    "rates_ptr": "*fp32", "noted_ptr": "*i1", "losses_ptr": "*fp32", "first": "i64",
    "n_windows": "i64", "columns": "i32"
}


def _case(columns: int, most: int, *, cbow: bool) -> CompileCase:
    """Rows of so many columns; a word and five negatives (8 rows), or a path in a Huffman tree
    (32)."""
    sizes = {"SLOTS": 8 if cbow else 16, "MOST": most, "UNIT": 64, "PIECES": columns // 64}
    return CompileCase(learn_means if cbow else learn_pairs, "float32",
                       _LISTS | ({"share": "i32"} if cbow else {}), sizes, divisible=("columns",),
                       expects=("wide_load", "atomic", "vector_atomic"), num_warps=warps(sizes))


COMPILE_CASES = tuple(
    _case(columns, most, cbow=cbow)
    for cbow in (False, True)
    for columns, most in ((320, 8), (128, 8), (320, 32)))


def window_update(inputs: Tensor, outputs: Tensor, state: WindowState,
                  how: Settings) -> tuple[float, int]:
    """Update both matrices; returns the sum of −log p over the pairs whose loss was noted, and the
    number of these pairs."""
    loss, pairs = torch.zeros((), dtype=torch.float64, device=inputs.device), 0
    for part in slabs(state, how):
        windows = drawn_windows(state, how, part)
        losses = torch.empty(len(windows.rates), dtype=torch.float32, device=inputs.device)
        _launch(inputs, outputs, windows, losses, state, how)
        loss += losses.double().sum()
        found = windows.noted if how.cbow else windows.context_bounds.diff() * windows.noted
        pairs += int(found.sum())  # waits, so that Ctrl-C is heard
    return float(loss), pairs


def _launch(inputs: Tensor, outputs: Tensor, windows: Windows, losses: Tensor, state: WindowState,
            how: Settings) -> None:
    """As many programs at a time as may race; each has windows that follow each other in the
    text."""
    sizes, n, step = tile(state, how), len(losses), side_by_side(state, how)
    options = (blocks_for("learn_means" if how.cbow else "learn_pairs", inputs).options()
               | {"num_warps": warps(sizes)}
               | sizes)
    for first in range(0, n, step * options["RUN"]):
        grid = (min(step, -(-(n - first) // options["RUN"])),)
        arguments = (inputs, outputs, *windows, losses, first, n, inputs.shape[1])
        if how.cbow:
            learn_means[grid](*arguments, int(how.share_error), **options)
            launched("learn_means", grid, options)
        else:
            learn_pairs[grid](*arguments, **options)
            launched("learn_pairs", grid, options)
