"""The compiled loop under `window_update`: draws, windows, addresses of rows; the arithmetic on rows is the vector code of `vectors`.

Outputs are drawn for a block of windows, and their rows asked for before a window needs them, so that memory and arithmetic overlap. Output rows
come in blocks of six and three; what is left over points to a row of zeros with weight 0. All arrays are raw addresses, because Numba hands an array
on as seven numbers and counts its users at every call. In a module of its own so that Numba is loaded only when something is trained. Taught in
``04_word2vec``.
"""

from __future__ import annotations

import numpy as np

from ...core.compiled import compiled
from ..memory import get_f32, get_i32, get_i64, put_f32, put_i32, put_i64
from .draws import GOLDEN, MIXING
from .room import BLOCK, SEATS, Plan, Room, Source
from .vectors import (BIG, SMALL, TALL, add_row, apply_big, apply_small, copy_numbers, copy_row, draw_noise, fetch_row, mean_rows, tile_1_big,
                      tile_1_small, tile_2_big, tile_2_small, tile_4_big, tile_4_small)

__all__ = ["AHEAD", "fetch_outputs", "find_gains", "kept_tokens", "mixed", "move_rows", "path_outputs", "sum_of_losses", "train", "word_outputs"]

_GOLDEN, _8, _24, _33, _31 = np.uint64(GOLDEN), np.uint64(8), np.uint64(24), np.uint64(33), np.uint64(31)
_SHIFT_A, _SHIFT_B, _FACTOR_A, _FACTOR_B = np.uint64(MIXING[0][0]), np.uint64(MIXING[1][0]), np.uint64(MIXING[0][1]), np.uint64(MIXING[1][1])
_24_BITS, _BYTE = np.uint64(0xFFFFFF), np.uint64(0xFF)
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
AHEAD = 2                                       # windows: rows are asked for so far ahead


@compiled(inline=True)
def mixed(x: int) -> int:
    """The SplitMix64 mix of a number."""
    x = (x ^ (x >> _SHIFT_A)) * _FACTOR_A
    x = (x ^ (x >> _SHIFT_B)) * _FACTOR_B
    return x ^ (x >> _31)


@compiled(inner=True)
def kept_tokens(piece: int, source: Source, plan: Plan, room: Room, start: int, stride: int) -> int:
    """Subsample a piece: note what windows need to know of each token that stays; returns how many."""
    begin, key, draws = get_i64(source.pieces, piece), np.uint64(get_i64(source.keys, piece)), np.uint64(1 + plan.negatives)
    n, repeat, serial = 0, -1, get_i32(room.serial, 0)
    for i in range(get_i64(source.pieces, piece + 1) - begin):
        x, word = mixed(key + np.uint64(i) * draws * _GOLDEN), get_i32(source.words, begin + i)
        put_i32(room.kept, n, word)
        put_i32(room.places, n, i)
        put_i64(room.rows, n, start + word * stride)
        put_i32(room.halves, n, np.int64((((x >> _8) & _24_BITS) * np.uint64(plan.window)) >> _24) + 1)
        put_f32(room.rates, n, np.float32(plan.first_rate + plan.rate_span * ((begin + i) / source.n_tokens)))
        put_i32(room.noted, n, np.int64(np.int64(x & _BYTE) < plan.note))
        if np.int64(x >> _33) < get_i64(source.keep, word):
            repeat = max(repeat, get_i32(room.seats, word % SEATS) - serial)
            put_i32(room.seats, word % SEATS, serial + n)
            put_i32(room.repeats, n, repeat)
            n += 1
    put_i32(room.serial, 0, serial + n)
    return n


# -------------------------------------------------------------------------------------------------- outputs


@compiled(inline=True)
def _ask(k: int, row: int, label: float, weight: float, room: Room) -> None:
    put_i64(room.outputs, k, row)
    put_f32(room.labels, k, label)
    put_f32(room.weights, k, weight)


@compiled(inline=True)
def _fill(at: int, n: int, room: Room) -> int:
    """Fill up to a multiple of three with a row of zeros that has no weight; returns where the next window begins."""
    end = at + (n + SMALL - 1) // SMALL * SMALL
    for k in range(at + n, end):
        _ask(k, get_i64(room.none, 0), _ZERO, _ZERO, room)
    return end


@compiled(inline=True)
def _join(at: int, n: int, room: Room) -> None:
    """Put a word that was drawn twice into one place: blocks of outputs follow each other, and the second would see what the first moved."""
    for k in range(at + 2, at + n):
        for j in range(at + 1, k):
            if get_i64(room.outputs, j) == get_i64(room.outputs, k):
                put_f32(room.weights, j, get_f32(room.weights, j) + get_f32(room.weights, k))
                put_f32(room.weights, k, _ZERO)
                break


@compiled(inner=True)
def word_outputs(first: int, last: int, key: int, source: Source, plan: Plan, room: Room, start: int, stride: int) -> None:
    """Outputs of a block of windows: the words and their noise."""
    draws, at = np.uint64(1 + plan.negatives), 0
    for i in range(first, last):
        word = get_i32(room.kept, i)
        _ask(at, start + word * stride, _ONE, _ONE, room)
        draw_noise(key + (np.uint64(get_i32(room.places, i)) * draws + np.uint64(1)) * _GOLDEN, plan.negatives, source.noise, source.n_words, word,
                   start, stride, room.outputs + 8 * (at + 1), room.labels + 4 * (at + 1), room.weights + 4 * (at + 1))
        if plan.negatives >= BIG:
            _join(at, plan.negatives + 1, room)
        at = _fill(at, plan.negatives + 1, room)
        put_i64(room.starts, i - first + 1, at)


@compiled(inner=True)
def path_outputs(first: int, last: int, source: Source, room: Room, start: int, stride: int) -> None:
    """Outputs of a block of windows: the nodes on the paths of the words."""
    at = 0
    for i in range(first, last):
        word = get_i32(room.kept, i)
        begin = get_i64(source.paths, word)
        n = get_i64(source.paths, word + 1) - begin
        for k in range(n):
            _ask(at + k, start + get_i32(source.nodes, begin + k) * stride, _ONE - get_f32(source.bits, begin + k), _ONE, room)
        at = _fill(at, n, room)
        put_i64(room.starts, i - first + 1, at)


# -------------------------------------------------------------------------------------------------- arithmetic


@compiled(inline=True)
def find_gains(inputs: int, m: int, start: int, n: int, rate: float, room: Room, width: int) -> None:
    """Gains of m inputs and n outputs, tile by tile."""
    k = 0
    while k < n:
        outputs, labels, weights = room.outputs + 8 * (start + k), room.labels + 4 * (start + k), room.weights + 4 * (start + k)
        size = BIG if n - k >= BIG else SMALL
        r = 0
        while r < m:
            step = TALL if m - r >= TALL else (2 if m - r >= 2 else 1)
            rows, gains = inputs + 8 * r, room.gains + 4 * (k * m + r * size)
            if size == BIG:
                if step == 4:
                    tile_4_big(rows, outputs, width, labels, weights, rate, gains)
                elif step == 2:
                    tile_2_big(rows, outputs, width, labels, weights, rate, gains)
                else:
                    tile_1_big(rows, outputs, width, labels, weights, rate, gains)
            elif step == 4:
                tile_4_small(rows, outputs, width, labels, weights, rate, gains)
            elif step == 2:
                tile_2_small(rows, outputs, width, labels, weights, rate, gains)
            else:
                tile_1_small(rows, outputs, width, labels, weights, rate, gains)
            r += step
        k += size


@compiled(inline=True)
def move_rows(inputs: int, targets: int, m: int, start: int, n: int, room: Room, width: int) -> None:
    """Move n outputs, and the targets of m inputs, by the gains."""
    k = 0
    while k < n:
        outputs, gains = room.outputs + 8 * (start + k), room.gains + 4 * k * m
        if n - k >= BIG:
            apply_big(inputs, targets, m, outputs, width, gains)
            k += BIG
        else:
            apply_small(inputs, targets, m, outputs, width, gains)
            k += SMALL


@compiled(inline=True)
def sum_of_losses(m: int, start: int, n: int, rate: float, room: Room) -> float:
    """Sum of −log p over a window, from its gains: rate · weight · (label − p)."""
    total, k = 0.0, 0
    while k < n:
        size = BIG if n - k >= BIG else SMALL
        for r in range(m):
            for j in range(size):
                weight = np.float64(get_f32(room.weights, start + k + j))
                if weight > 0:
                    missing = abs(np.float64(get_f32(room.gains, k * m + r * size + j))) / (rate * weight)
                    total -= weight * np.log(max(1.0 - missing, 2.0**-24))
        k += size
    return total


@compiled(inline=True)
def fetch_outputs(first: int, last: int, room: Room, width: int) -> None:
    """Ask for the outputs of windows ``first`` to ``last`` of a block."""
    for k in range(get_i64(room.starts, first), get_i64(room.starts, last)):
        fetch_row(get_i64(room.outputs, k), width)


@compiled(inner=True)
def _windows(first: int, last: int, n: int, plan: Plan, room: Room, width: int) -> tuple[float, int]:
    """Learn from a block of windows around some of the n tokens of a piece; returns the sum of the noted losses and the number of their pairs."""
    loss, pairs = 0.0, 0
    fetch_outputs(0, min(AHEAD, last - first), room, width)
    for i in range(first, last):
        fetch_outputs(min(i + AHEAD, last) - first, min(i + AHEAD + 1, last) - first, room, width)
        fetch_row(get_i64(room.rows, min(i + AHEAD + plan.window, n - 1)), width)
        left, right = min(get_i32(room.halves, i), i), min(get_i32(room.halves, i), n - 1 - i)
        m, begin, rate = left + right, get_i64(room.starts, i - first), get_f32(room.rates, i)
        if m == 0:
            continue
        size = get_i64(room.starts, i - first + 1) - begin
        copy_numbers(room.rows + 8 * (i - left), room.contexts, left + 1)
        copy_numbers(room.rows + 8 * (i + 1), room.contexts + 8 * left, right + 1)
        inputs, targets, learned = room.contexts, room.contexts, m
        if plan.cbow:
            inputs, targets, learned = room.hidden, room.error, np.int64(1)
            mean_rows(room.contexts, m, width, _ONE / np.float32(m), get_i64(inputs, 0))
            copy_row(get_i64(room.none, 0), get_i64(targets, 0), width)
        elif size > BIG or get_i32(room.repeats, i + right) >= i - left:        # a row moves before it was last read: read copies
            inputs = room.copies
            for j in range(m):
                copy_row(get_i64(room.contexts, j), get_i64(inputs, j), width)
        find_gains(inputs, learned, begin, size, rate, room, width)
        move_rows(inputs, targets, learned, begin, size, room, width)
        if plan.cbow:
            for j in range(m):
                add_row(get_i64(room.contexts, j), get_i64(targets, 0), width, _ONE / np.float32(m) if plan.share_error else _ONE)
        if get_i32(room.noted, i):
            loss += sum_of_losses(learned, begin, size, rate, room)
            pairs += learned
    return loss, pairs


@compiled
def train(source: Source, inputs: int, outputs: int, columns: int, plan: Plan, room: Room, first: int, last: int) -> tuple[float, int]:
    """Go over pieces ``first`` to ``last``, on two matrices at addresses; returns the sum of the noted losses and the number of their pairs."""
    stride, loss, pairs = 4 * columns, 0.0, 0
    for piece in range(first, last):
        n = kept_tokens(piece, source, plan, room, inputs, stride)
        for begin in range(0, n, BLOCK):
            end = min(begin + BLOCK, n)
            if plan.hierarchical:
                path_outputs(begin, end, source, room, outputs, stride)
            else:
                word_outputs(begin, end, np.uint64(get_i64(source.keys, piece)), source, plan, room, outputs, stride)
            found = _windows(begin, end, n, plan, room, columns)
            loss += found[0]
            pairs += found[1]
    return loss, pairs
