"""The compiled loop under `subword_update`: windows, lists of rows, distinct outputs; the arithmetic on rows is the vector code of window updates.

Outputs of the next window are gathered, and all rows that it needs asked for, before the present one is computed, so that memory and arithmetic
overlap. An output is found again by a table of the places that rows had last, which is right where the list at that place says so too and needs
no clearing. In a module of its own so that Numba is loaded only when something is trained. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.compiled import compiled
from ..memory import get_f32, get_i32, get_i64, put_f32, put_i32, put_i64
from ..window_update.draws import GOLDEN
from ..window_update.training import mixed
from ..window_update.vectors import BIG, SMALL, add_row, apply_big, apply_small, copy_row, fetch_row, mean_rows, tile_1_big, tile_1_small
from .room import Plan, Room, Source

__all__ = ["Tables", "train"]

_GOLDEN, _8, _24, _32, _33 = np.uint64(GOLDEN), np.uint64(8), np.uint64(24), np.uint64(32), np.uint64(33)
_24_BITS, _31_BITS, _BYTE = np.uint64(0xFFFFFF), np.uint64(0x7FFFFFFF), np.uint64(0xFF)
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
LEAST = 2.0**-24                                # of a probability whose logarithm is noted


class Tables(NamedTuple):
    """Addresses of the first rows of both matrices, and the columns of a row."""

    inputs: int
    outputs: int
    columns: int


@compiled(inner=True)
def _keep(begin: int, end: int, key: int, source: Source, plan: Plan, room: Room) -> int:
    """Subsample a piece: words, half widths, places and first draws of the tokens that stay; returns how many."""
    n, stride = 0, np.uint64(1 + source.draws)
    for i in range(end - begin):
        x, word = mixed(key + np.uint64(i) * stride * _GOLDEN), get_i32(source.words, begin + i)
        put_i32(room.kept, n, word)
        put_i32(room.places, n, i)
        put_i64(room.numbers, n, np.int64(x))
        put_i32(room.halves, n, np.int64((((x >> _8) & _24_BITS) * np.uint64(plan.window)) >> _24) + 1)
        n += np.int64(x >> _33) < get_i64(source.keep, word)
    return n


# -------------------------------------------------------------------------------------------------- outputs


@compiled(inner=True)
def _ask(row: int, n: int, label: float, weight: float, room: Room, half: int) -> int:
    """Ask for an output row: labels and weights of one that a window asks for again add up. Returns how many rows are asked for now."""
    place = get_i32(room.seats, row)
    if place < n and get_i32(room.asked, place) == row:
        put_f32(room.labels, half + place, get_f32(room.labels, half + place) + label)
        put_f32(room.weights, half + place, get_f32(room.weights, half + place) + weight)
        return n
    put_i32(room.seats, row, n)
    put_i32(room.asked, n, row)
    put_f32(room.labels, half + n, label)
    put_f32(room.weights, half + n, weight)
    return n + 1


@compiled(inner=True)
def _target(word: int, n: int, source: Source, plan: Plan, room: Room, half: int) -> int:
    """Ask for a word that is to be guessed, or for the nodes on its path."""
    if not plan.hierarchical:
        return _ask(word, n, _ONE, _ONE, room, half)
    for k in range(get_i64(source.paths, word), get_i64(source.paths, word + 1)):
        n = _ask(get_i32(source.nodes, k), n, _ONE - get_f32(source.bits, k), _ONE, room, half)
    return n


@compiled(inner=True)
def _noise(m: int, n: int, place: int, key: int, source: Source, plan: Plan, room: Room, half: int) -> int:
    """Ask for the words drawn against m targets, which share them but for those that they are themselves; returns how many are asked for now."""
    first = np.uint64(place) * np.uint64(1 + source.draws)
    for k in range(1, plan.negatives * m + 1):
        x = mixed(key + (first + np.uint64(k)) * _GOLDEN)
        drawn = np.int64(((x >> _32) * np.uint64(source.n_words)) >> _32)
        if np.int64(x & _31_BITS) >= get_i64(source.thresholds, drawn):
            drawn = get_i32(source.others, drawn)
        seat = get_i32(room.seats, drawn)
        right = get_f32(room.labels, half + seat) if seat < n and get_i32(room.asked, seat) == drawn else _ZERO
        n = _ask(drawn, n, _ZERO, _ONE - right / np.float32(m), room, half)
    return n


@compiled(inner=True)
def _settle(n: int, room: Room, half: int, start: int, stride: int) -> int:
    """Turn sums of labels into means and rows into addresses, and fill up to a multiple of three with a row of zeros that has no weight."""
    full = (n + SMALL - 1) // SMALL * SMALL
    for k in range(n):
        row = start + get_i32(room.asked, k) * stride
        put_i64(room.outputs, half + k, row)
        fetch_row(row, stride // 4)
        if get_f32(room.labels, half + k) > 0:
            put_f32(room.labels, half + k, get_f32(room.labels, half + k) / get_f32(room.weights, half + k))
    for k in range(n, full):
        put_i64(room.outputs, half + k, room.nothing)
        put_f32(room.labels, half + k, _ZERO)
        put_f32(room.weights, half + k, _ZERO)
    return full


@compiled(inner=True)
def _prepare(i: int, n: int, key: int, source: Source, plan: Plan, room: Room, start: int, stride: int) -> int:
    """Gather the outputs of the window around token i of n; returns how many there are, filled up, and 0 for a token that stands alone."""
    around, found, half = get_i32(room.halves, i), np.int64(0), (i & 1) * room.slots
    low, high = max(0, i - around), min(n, i + around + 1)
    if high - low < 2:
        return 0
    if plan.cbow:
        found = _target(get_i32(room.kept, i), found, source, plan, room, half)
    else:
        for j in range(low, high):
            if j != i:
                found = _target(get_i32(room.kept, j), found, source, plan, room, half)
    if not plan.hierarchical:
        found = _noise(1 if plan.cbow else high - low - 1, found, get_i32(room.places, i), key, source, plan, room, half)
    return _settle(found, room, half, start, stride)


# -------------------------------------------------------------------------------------------------- arithmetic


@compiled(inner=True)
def _learn(n: int, rate: float, room: Room, half: int, width: int) -> None:
    """Move n outputs for the input in ``hidden``, and leave what it should move by itself in ``errors``."""
    outputs, labels, weights = room.outputs + 8 * half, room.labels + 4 * half, room.weights + 4 * half
    at = 0
    while at < n:
        if n - at >= BIG:
            tile_1_big(room.to_hidden, outputs + 8 * at, width, labels + 4 * at, weights + 4 * at, rate, room.gains + 4 * at)
            at += BIG
        else:
            tile_1_small(room.to_hidden, outputs + 8 * at, width, labels + 4 * at, weights + 4 * at, rate, room.gains + 4 * at)
            at += SMALL
    at = 0
    copy_row(room.nothing, room.errors, width)
    while at < n:
        if n - at >= BIG:
            apply_big(room.to_hidden, room.to_errors, 1, outputs + 8 * at, width, room.gains + 4 * at)
            at += BIG
        else:
            apply_small(room.to_hidden, room.to_errors, 1, outputs + 8 * at, width, room.gains + 4 * at)
            at += SMALL


@compiled(inner=True)
def _loss(n: int, rate: float, room: Room, half: int) -> float:
    """Sum of −log p over the outputs of a window, from their gains: rate · weight · (label − p)."""
    total = 0.0
    for k in range(n):
        weight, label = np.float64(get_f32(room.weights, half + k)), np.float64(get_f32(room.labels, half + k))
        if weight > 0:
            p = label - np.float64(get_f32(room.gains, k)) / (np.float64(rate) * weight)
            total -= weight * (label * np.log(max(p, LEAST)) + (1.0 - label) * np.log(max(1.0 - p, LEAST)))
    return total


@compiled(inner=True)
def _rows(word: int, source: Source, room: Room, start: int, stride: int) -> int:
    """Write the addresses of a word's rows to ``members``; returns how many there are."""
    begin = get_i64(source.bounds, word)
    n = get_i64(source.bounds, word + 1) - begin
    for k in range(n):
        put_i64(room.members, k, start + get_i32(source.rows, begin + k) * stride)
    return n


@compiled(inner=True)
def _fetch(word: int, source: Source, start: int, stride: int) -> None:
    """Ask for the rows of a word."""
    for k in range(get_i64(source.bounds, word), get_i64(source.bounds, word + 1)):
        fetch_row(start + get_i32(source.rows, k) * stride, stride // 4)


@compiled(inner=True)
def _window(i: int, n_outputs: int, rate: float, source: Source, plan: Plan, room: Room, start: int, stride: int) -> None:
    """Skip-gram: the rows of token i guess its contexts and learn at once."""
    width = stride // 4
    n = _rows(get_i32(room.kept, i), source, room, start, stride)
    mean_rows(room.members, n, width, _ONE / np.float32(n), room.hidden)
    _learn(n_outputs, rate, room, (i & 1) * room.slots, width)
    share = _ONE / np.float32(n) if plan.share_error else _ONE
    for k in range(n):
        add_row(get_i64(room.members, k), room.errors, width, share)


@compiled(inner=True)
def _come(i: int, source: Source, room: Room, start: int, stride: int) -> None:
    """Sum the rows of token i, which comes near."""
    slot = i % room.near * stride
    n = _rows(get_i32(room.kept, i), source, room, start, stride)
    mean_rows(room.members, n, stride // 4, _ONE, room.sums + slot)
    for k in range(stride // 4):
        put_f32(room.learned + slot, k, _ZERO)


@compiled(inner=True)
def _leave(i: int, source: Source, room: Room, start: int, stride: int) -> None:
    """Hand what token i has learned to its rows."""
    for k in range(_rows(get_i32(room.kept, i), source, room, start, stride)):
        add_row(get_i64(room.members, k), room.learned + i % room.near * stride, stride // 4, _ONE)


@compiled(inner=True)
def _mean_window(i: int, n: int, n_outputs: int, rate: float, source: Source, plan: Plan, room: Room, stride: int) -> None:
    """CBOW: the mean of the rows of all contexts guesses token i, and each context notes what it learns."""
    width, around, m, total = stride // 4, get_i32(room.halves, i), 0, 0
    low, high = max(0, i - around), min(n, i + around + 1)
    for j in range(low, high):
        if j != i:
            word = get_i32(room.kept, j)
            put_i64(room.members, m, room.sums + j % room.near * stride)
            total += get_i64(source.bounds, word + 1) - get_i64(source.bounds, word)
            m += 1
    mean_rows(room.members, m, width, _ONE / np.float32(total), room.hidden)
    _learn(n_outputs, rate, room, (i & 1) * room.slots, width)
    share = _ONE / np.float32(total) if plan.share_error else _ONE
    for j in range(low, high):
        if j != i:
            word, slot = get_i32(room.kept, j), j % room.near * stride
            size = get_i64(source.bounds, word + 1) - get_i64(source.bounds, word)
            add_row(room.learned + slot, room.errors, width, share)
            add_row(room.sums + slot, room.errors, width, share * np.float32(size))


# -------------------------------------------------------------------------------------------------- the text


@compiled(inner=True)
def _piece(piece: int, source: Source, tables: Tables, plan: Plan, room: Room) -> tuple[float, int]:
    """Go over one piece of text; returns the sum of the noted losses and the number of their pairs."""
    begin, end, key = get_i64(source.pieces, piece), get_i64(source.pieces, piece + 1), np.uint64(get_i64(source.keys, piece))
    inputs, stride, reach = tables.inputs, 4 * tables.columns, plan.window if plan.cbow else 0
    n, loss, pairs = _keep(begin, end, key, source, plan, room), 0.0, 0
    here, size = np.int64(0), np.int64(0)         # a literal would compile what it is handed to once more
    for at in range(-1, n):
        following = _prepare(at + 1, n, key, source, plan, room, tables.outputs, stride) if at + 1 < n else 0
        if at + reach + 2 < n:
            _fetch(get_i32(room.kept, at + reach + 2), source, inputs, stride)
        if plan.cbow:
            while here < min(n, at + reach + 1):
                _come(here, source, room, inputs, stride)
                here += 1
        if size > 0:
            rate = np.float32(plan.first_rate + plan.rate_span * ((begin + get_i32(room.places, at)) / source.n_tokens))
            if plan.cbow:
                _mean_window(at, n, size, rate, source, plan, room, stride)
            else:
                _window(at, size, rate, source, plan, room, inputs, stride)
            if np.int64(np.uint64(get_i64(room.numbers, at)) & _BYTE) < plan.note:
                around = get_i32(room.halves, at)
                loss += _loss(size, rate, room, (at & 1) * room.slots)
                pairs += 1 if plan.cbow else min(n, at + around + 1) - max(0, at - around) - 1
        size = following
        if plan.cbow and at >= reach:
            _leave(at - reach, source, room, inputs, stride)
    if plan.cbow:
        for i in range(max(0, n - reach), n):
            _leave(i, source, room, inputs, stride)
    return loss, pairs


@compiled
def train(source: Source, tables: Tables, plan: Plan, room: Room, first: int, last: int) -> tuple[float, int]:
    """Go over pieces ``first`` to ``last``; returns the sum of the noted losses and the number of their pairs."""
    loss, pairs = 0.0, 0
    for piece in range(first, last):
        found = _piece(piece, source, tables, plan, room)
        loss += found[0]
        pairs += found[1]
    return loss, pairs
