"""The compiled loop under `window_update`: draws, windows, addresses of rows; the arithmetic on rows is the vector code of `vectors`.

Outputs of the next window are looked up, and their rows asked for, before the present one is computed, so that memory and arithmetic overlap. Output
rows come in blocks of six and three; what is left over points to a row of zeros with weight 0. In a module of its own so that Numba is
loaded only when something is trained. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.compiled import compiled
from .draws import GOLDEN, MIXING
from .huffman import Paths
from .state import PIECE
from .vectors import (BIG, SMALL, add_row, apply_big, apply_small, fetch_row, mean_rows, tile_1_big, tile_1_small, tile_2_big, tile_2_small,
                      tile_4_big, tile_4_small)

__all__ = ["Chance", "Plan", "Scratch", "Tables", "Text", "scratch", "train"]

_GOLDEN, _8, _32, _33, _31 = np.uint64(GOLDEN), np.uint64(8), np.uint64(32), np.uint64(33), np.uint64(31)
_SHIFT_A, _SHIFT_B, _FACTOR_A, _FACTOR_B = np.uint64(MIXING[0][0]), np.uint64(MIXING[1][0]), np.uint64(MIXING[0][1]), np.uint64(MIXING[1][1])
_24_BITS, _31_BITS, _BYTE = np.uint64(0xFFFFFF), np.uint64(0x7FFFFFFF), np.uint64(0xFF)
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)


class Text(NamedTuple):
    """Words, bounds of the pieces, and the probability that a word is kept, times 2^31."""

    words: np.ndarray
    pieces: np.ndarray
    keep: np.ndarray


class Chance(NamedTuple):
    """The alias table of the noise."""

    thresholds: np.ndarray
    others: np.ndarray


class Tables(NamedTuple):
    """Addresses of the first rows of both matrices, and the columns of a row. Who calls keeps the matrices alive."""

    inputs: int
    outputs: int
    columns: int


class Plan(NamedTuple):
    """The settings as plain numbers; ``note``: how many of 256 windows have their loss noted."""

    cbow: bool
    hierarchical: bool
    window: int
    negatives: int
    first_rate: float
    rate_span: float
    share_error: bool
    note: int
    seed: int
    epoch: int


class Addresses(NamedTuple):
    """Where the arrays of a `Scratch` that the vector code uses begin, and how many slots each half has."""

    contexts: int
    outputs: int
    labels: int
    weights: int
    gains: int
    errors: int
    hidden: int
    nothing: int
    slots: int


class Scratch(NamedTuple):
    """Room that one thread works in; the two halves of ``outputs``, ``labels`` and ``weights`` belong to even and odd windows."""

    kept: np.ndarray
    halves: np.ndarray
    places: np.ndarray
    numbers: np.ndarray
    contexts: np.ndarray
    outputs: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    gains: np.ndarray
    errors: np.ndarray
    hidden: np.ndarray
    at: Addresses


def scratch(window: int, most_outputs: int, columns: int) -> Scratch:
    """Room for windows of 2 ``window`` contexts and ``most_outputs`` outputs on rows of ``columns`` numbers."""
    slots, rows = most_outputs + 32, 2 * window + 1
    used = (np.empty(rows, np.int64), np.empty((2, slots), np.int64), np.zeros((2, slots), np.float32), np.zeros((2, slots), np.float32),
            np.zeros(rows * slots + 64, np.float32), np.zeros((rows, columns), np.float32), np.zeros((2, columns), np.float32))
    addresses = [x.ctypes.data for x in used]
    return Scratch(np.empty(PIECE, np.int32), np.empty(PIECE, np.int32), np.empty(PIECE, np.int64), np.empty(PIECE, np.uint64), *used,
                   Addresses(*addresses, addresses[-1] + 4 * columns, slots))


@compiled
def _mixed(x: int) -> int:
    x = (x ^ (x >> _SHIFT_A)) * _FACTOR_A
    x = (x ^ (x >> _SHIFT_B)) * _FACTOR_B
    return x ^ (x >> _31)


@compiled
def _key(plan: Plan, piece: int) -> int:
    return _mixed(_mixed(_mixed(np.uint64(plan.seed)) + np.uint64(plan.epoch) * _GOLDEN) + np.uint64(piece) * _GOLDEN)


@compiled
def _keep(text: Text, plan: Plan, piece: int, key: int, room: Scratch) -> int:
    """Subsample a piece: words, half widths, places and first draws of the tokens that stay; returns how many."""
    begin, n, stride = text.pieces[piece], 0, np.uint64(1 + plan.negatives)
    for i in range(text.pieces[piece + 1] - begin):
        x, word = _mixed(key + np.uint64(i) * stride * _GOLDEN), text.words[begin + i]
        room.kept[n], room.places[n], room.numbers[n] = word, i, x
        room.halves[n] = np.int32((((x >> _8) & _24_BITS) * np.uint64(plan.window)) >> np.uint64(24)) + 1
        n += np.int64(x >> _33) < text.keep[word]
    return n


@compiled
def _negatives(word: int, place: int, key: int, chance: Chance, plan: Plan, room: Scratch, q: int, start: int, stride: int) -> int:
    """Rows, labels and weights of the word and its noise; returns how many."""
    n_words, first = np.uint64(len(chance.others)), np.uint64(place) * np.uint64(1 + plan.negatives)
    rows, weights = room.outputs, room.weights
    rows[q, 0], room.labels[q, 0], weights[q, 0] = start + word * stride, _ONE, _ONE
    for k in range(1, plan.negatives + 1):
        x = _mixed(key + (first + np.uint64(k)) * _GOLDEN)
        column = np.int64(((x >> _32) * n_words) >> _32)
        drawn = column if np.int64(x & _31_BITS) < chance.thresholds[column] else np.int64(chance.others[column])
        rows[q, k], weights[q, k] = start + drawn * stride, _ZERO if drawn == word else _ONE
        if plan.negatives >= BIG:                   # blocks follow each other, so a word drawn twice is put into one place
            for j in range(1, k):
                if rows[q, j] == rows[q, k]:
                    weights[q, j], weights[q, k] = weights[q, j] + weights[q, k], _ZERO
                    break
    return plan.negatives + 1


@compiled
def _path(word: int, paths: Paths, room: Scratch, q: int, start: int, stride: int) -> int:
    """Rows, labels and weights of the nodes on a word's path; returns how many."""
    first, n = paths.offsets[word], paths.offsets[word + 1] - paths.offsets[word]
    for k in range(n):
        room.outputs[q, k] = start + np.int64(paths.nodes[first + k]) * stride
        room.labels[q, k], room.weights[q, k] = _ONE - paths.bits[first + k], _ONE
    return n


@compiled
def _filled(n: int, room: Scratch, q: int) -> int:
    """Fill up to a multiple of three with a row of zeros that has no weight; returns the new number."""
    full = (n + SMALL - 1) // SMALL * SMALL
    for k in range(n, full):
        room.outputs[q, k], room.labels[q, k], room.weights[q, k] = room.at.nothing, _ZERO, _ZERO
    return full


@compiled
def _learn(inputs: int, m: int, n: int, rate: float, room: Scratch, q: int, width: int) -> None:
    """Gains of m inputs and n outputs; then move the outputs and leave what the inputs should move by in ``room.errors``."""
    skip, gains, errors = q * room.at.slots, room.at.gains, room.at.errors
    outputs, labels, weights = room.at.outputs + 8 * skip, room.at.labels + 4 * skip, room.at.weights + 4 * skip
    at = 0
    while at < n:
        size = BIG if n - at >= BIG else SMALL
        here = (outputs + 8 * at, width, labels + 4 * at, weights + 4 * at, rate)
        r = 0
        while r < m:
            step = 4 if m - r >= 4 else (2 if m - r >= 2 else 1)
            rows, place = inputs + 8 * r, gains + 4 * (at * m + r * size)
            if size == BIG:
                if step == 4:
                    tile_4_big(rows, *here, place)
                elif step == 2:
                    tile_2_big(rows, *here, place)
                else:
                    tile_1_big(rows, *here, place)
            elif step == 4:
                tile_4_small(rows, *here, place)
            elif step == 2:
                tile_2_small(rows, *here, place)
            else:
                tile_1_small(rows, *here, place)
            r += step
        at += size
    at = 0
    while at < n:
        if n - at >= BIG:
            apply_big(inputs, m, outputs + 8 * at, width, gains + 4 * at * m, errors, np.int64(at == 0))
            at += BIG
        else:
            apply_small(inputs, m, outputs + 8 * at, width, gains + 4 * at * m, errors, np.int64(at == 0))
            at += SMALL


@compiled
def _loss(m: int, n: int, rate: float, room: Scratch, q: int) -> float:
    """Sum of −log p over a window, from its gains: rate · weight · (label − p)."""
    total, at = 0.0, 0
    while at < n:
        size = BIG if n - at >= BIG else SMALL
        for r in range(m):
            for k in range(size):
                weight = room.weights[q, at + k]
                if weight > 0:
                    missing = abs(room.gains[at * m + r * size + k]) / (rate * weight)
                    total -= np.float64(weight) * np.log(max(1.0 - np.float64(missing), 2.0**-24))
        at += size
    return total


@compiled
def _window(i: int, n: int, outputs: int, rate: float, plan: Plan, room: Scratch, start: int, stride: int) -> int:
    """One window around token i of n: gather the contexts, learn, move the inputs. Returns the number of input rows."""
    m, width, contexts, errors = 0, stride // 4, room.at.contexts, room.at.errors
    for j in range(max(0, i - room.halves[i]), min(n, i + room.halves[i] + 1)):
        if j != i:
            room.contexts[m] = start + np.int64(room.kept[j]) * stride
            m += 1
    if m == 0:
        return 0
    if plan.cbow:
        mean_rows(contexts, m, width, _ONE / np.float32(m), room.at.hidden)
        room.contexts[m] = room.at.hidden
        _learn(contexts + 8 * m, 1, outputs, rate, room, i & 1, width)
        for j in range(m):
            add_row(room.contexts[j], errors, width, _ONE / np.float32(m) if plan.share_error else _ONE)
        return 1
    _learn(contexts, m, outputs, rate, room, i & 1, width)
    for j in range(m):
        add_row(room.contexts[j], errors + j * stride, width, _ONE)
    return m


@compiled
def train(text: Text, tables: Tables, chance: Chance, paths: Paths, plan: Plan, room: Scratch, first: int, last: int) -> tuple[float, int]:
    """Go over pieces ``first`` to ``last``; returns the sum of the noted losses and the number of their pairs."""
    inputs, outputs, width, stride = tables.inputs, tables.outputs, tables.columns, 4 * tables.columns
    loss, pairs, sizes = 0.0, 0, np.zeros(2, np.int64)
    for piece in range(first, last):
        key = _key(plan, piece)
        n = _keep(text, plan, piece, key, room)
        for i in range(n + 1):
            if i < n:
                q, word = i & 1, np.int64(room.kept[i])
                if plan.hierarchical:
                    size = _path(word, paths, room, q, outputs, stride)
                else:
                    size = _negatives(word, room.places[i], key, chance, plan, room, q, outputs, stride)
                for k in range(size):
                    fetch_row(room.outputs[q, k], width)
                ahead = i + plan.window + 1
                if ahead < n:
                    fetch_row(inputs + np.int64(room.kept[ahead]) * stride, width)
                sizes[q] = _filled(size, room, q)
            if i == 0:
                continue
            at = i - 1
            done = (text.pieces[piece] + room.places[at]) / len(text.words)
            rate = np.float32(plan.first_rate + plan.rate_span * done)
            m = _window(at, n, sizes[at & 1], rate, plan, room, inputs, stride)
            if m > 0 and np.int64(room.numbers[at] & _BYTE) < plan.note:
                loss += _loss(m, sizes[at & 1], rate, room, at & 1)
                pairs += m
    return loss, pairs
