"""The compiled loop under `subword_update`: windows, lists of rows, distinct outputs; the arithmetic on rows is the vector code of window updates.

Outputs of the next window are gathered, and all rows that it needs asked for, before the present one is computed, so that memory and arithmetic
overlap. An output is found again by a table of the places that rows had last, which is right where the list at that place says so too and needs
no clearing. In a module of its own so that Numba is loaded only when something is trained. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.compiled import compiled
from ..window_update.draws import GOLDEN
from ..window_update.huffman import Paths
from ..window_update.state import PIECE
from ..window_update.training import Chance, Plan, Tables, Text, _keep, _key, _mixed
from ..window_update.vectors import BIG, SMALL, add_row, apply_big, apply_small, fetch_row, mean_rows, tile_1_big, tile_1_small

__all__ = ["Lists", "Scratch", "scratch", "train"]

_GOLDEN, _32 = np.uint64(GOLDEN), np.uint64(32)
_31_BITS, _BYTE = np.uint64(0x7FFFFFFF), np.uint64(0xFF)
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)
LEAST = 2.0**-24                                # of a probability whose logarithm is noted


class Lists(NamedTuple):
    """Rows of word w: ``rows[offsets[w]:offsets[w + 1]]``."""

    offsets: np.ndarray
    rows: np.ndarray


class Scratch(NamedTuple):
    """Room that one thread works in; the two halves of some belong to even and odd windows. ``at``: where the arrays begin that vector code uses."""

    kept: np.ndarray
    halves: np.ndarray
    places: np.ndarray
    numbers: np.ndarray
    seats: np.ndarray
    asked: np.ndarray
    outputs: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    gains: np.ndarray
    members: np.ndarray
    hidden: np.ndarray
    sums: np.ndarray
    learned: np.ndarray
    at: Addresses


class Addresses(NamedTuple):
    """Where the arrays of a `Scratch` begin, and how many places a half of the outputs has."""

    outputs: int
    labels: int
    weights: int
    gains: int
    members: int
    hidden: int
    sums: int
    learned: int
    places: int


def scratch(window: int, outputs: int, members: int, rows: int, columns: int) -> Scratch:
    """Room for windows of at most ``outputs`` outputs, and words of ``members`` rows, on ``rows`` output rows of ``columns`` numbers."""
    places, near = outputs + 32, 2 * window + 2
    used = (np.empty((2, places), np.int64), np.zeros((2, places), np.float32), np.zeros((2, places), np.float32), np.zeros(places, np.float32),
            np.empty(max(members, near), np.int64), np.zeros((3, columns), np.float32), np.zeros((near, columns), np.float32),
            np.zeros((near, columns), np.float32))
    return Scratch(np.empty(PIECE, np.int32), np.empty(PIECE, np.int32), np.empty(PIECE, np.int64), np.empty(PIECE, np.uint64),
                   np.zeros(rows, np.int32), np.empty(places, np.int32), *used, Addresses(*(x.ctypes.data for x in used), places))


# -------------------------------------------------------------------------------------------------- outputs


@compiled
def _ask(row: int, n: int, room: Scratch) -> int:
    """The place of an output row among the n that a window has asked for: n itself when it is new."""
    place = room.seats[row]
    if place < n and room.asked[place] == row:
        return place
    room.seats[row], room.asked[n] = n, row
    return n


@compiled
def _target(word: int, n: int, paths: Paths, plan: Plan, room: Scratch, q: int) -> int:
    """Ask for a word that is to be guessed, or for the nodes on its path; ``labels`` hold sums. Returns how many rows are asked for now."""
    if not plan.hierarchical:
        place = _ask(word, n, room)
        fresh = place == n
        room.labels[q, place] = _ONE if fresh else room.labels[q, place] + _ONE
        room.weights[q, place] = _ONE if fresh else room.weights[q, place] + _ONE
        return n + fresh
    for k in range(paths.offsets[word], paths.offsets[word + 1]):
        place, label = _ask(paths.nodes[k], n, room), _ONE - paths.bits[k]
        fresh = place == n
        room.labels[q, place] = label if fresh else room.labels[q, place] + label
        room.weights[q, place] = _ONE if fresh else room.weights[q, place] + _ONE
        n += fresh
    return n


@compiled
def _noise(m: int, n: int, place: int, key: int, chance: Chance, plan: Plan, room: Scratch, q: int) -> int:
    """Ask for the words drawn against m targets; returns how many rows are asked for now."""
    n_words, first = np.uint64(len(chance.others)), np.uint64(place) * np.uint64(1 + plan.negatives)
    for k in range(1, plan.negatives + 1):
        x = _mixed(key + (first + np.uint64(k)) * _GOLDEN)
        column = np.int64(((x >> _32) * n_words) >> _32)
        drawn = column if np.int64(x & _31_BITS) < chance.thresholds[column] else np.int64(chance.others[column])
        at = _ask(drawn, n, room)
        if at == n:
            room.labels[q, n], room.weights[q, n] = _ZERO, _ZERO
            n += 1
        room.weights[q, at] += np.float32(m) - room.labels[q, at]
    return n


@compiled
def _settle(n: int, room: Scratch, q: int, start: int, stride: int) -> int:
    """Turn sums of labels into means and rows into addresses, and fill up to a multiple of three with repeats that have no weight."""
    full = (n + SMALL - 1) // SMALL * SMALL
    for k in range(n):
        room.outputs[q, k] = start + np.int64(room.asked[k]) * stride
        fetch_row(room.outputs[q, k], stride // 4)
        if room.labels[q, k] > 0:
            room.labels[q, k] /= room.weights[q, k]
    for k in range(n, full):
        room.outputs[q, k], room.labels[q, k], room.weights[q, k] = room.at.hidden + 2 * stride, _ZERO, _ZERO
    return full


@compiled
def _prepare(i: int, n: int, key: int, paths: Paths, chance: Chance, plan: Plan, room: Scratch, start: int, stride: int) -> tuple[int, int]:
    """The outputs of the window around token i of n: number of targets, and of outputs filled up."""
    low, high, q, found = max(0, i - room.halves[i]), min(n, i + room.halves[i] + 1), i & 1, 0
    if high - low < 2:
        return 0, 0
    targets = 1 if plan.cbow else high - low - 1
    if plan.cbow:
        found = _target(np.int64(room.kept[i]), found, paths, plan, room, q)
    else:
        for j in range(low, high):
            if j != i:
                found = _target(np.int64(room.kept[j]), found, paths, plan, room, q)
    if not plan.hierarchical:
        found = _noise(targets, found, room.places[i], key, chance, plan, room, q)
    return targets, _settle(found, room, q, start, stride)


# -------------------------------------------------------------------------------------------------- arithmetic


@compiled
def _learn(x: int, n: int, rate: float, room: Scratch, q: int, width: int) -> None:
    """Move n outputs for the input whose address lies at x, and leave what it should move by itself in ``room.hidden[1]``."""
    skip, gains, errors = q * room.at.places, room.at.gains, room.at.hidden + 4 * width
    outputs, labels, weights = room.at.outputs + 8 * skip, room.at.labels + 4 * skip, room.at.weights + 4 * skip
    at = 0
    while at < n:
        if n - at >= BIG:
            tile_1_big(x, outputs + 8 * at, width, labels + 4 * at, weights + 4 * at, rate, gains + 4 * at)
            at += BIG
        else:
            tile_1_small(x, outputs + 8 * at, width, labels + 4 * at, weights + 4 * at, rate, gains + 4 * at)
            at += SMALL
    at = 0
    while at < n:
        if n - at >= BIG:
            apply_big(x, 1, outputs + 8 * at, width, gains + 4 * at, errors, np.int64(at == 0))
            at += BIG
        else:
            apply_small(x, 1, outputs + 8 * at, width, gains + 4 * at, errors, np.int64(at == 0))
            at += SMALL


@compiled
def _loss(n: int, rate: float, room: Scratch, q: int) -> float:
    """Sum of −log p over the outputs of a window, from their gains: rate · weight · (label − p)."""
    total = 0.0
    for k in range(n):
        weight, label = np.float64(room.weights[q, k]), np.float64(room.labels[q, k])
        if weight > 0:
            p = label - np.float64(room.gains[k]) / (np.float64(rate) * weight)
            total -= weight * (label * np.log(max(p, LEAST)) + (1.0 - label) * np.log(max(1.0 - p, LEAST)))
    return total


@compiled
def _members(word: int, lists: Lists, room: Scratch, start: int, stride: int) -> int:
    """Write the addresses of a word's rows; returns how many there are."""
    begin = lists.offsets[word]
    n = lists.offsets[word + 1] - begin
    for k in range(n):
        room.members[k] = start + np.int64(lists.rows[begin + k]) * stride
    return n


@compiled
def _fetch(word: int, lists: Lists, start: int, stride: int) -> None:
    """Ask for the rows of a word."""
    for k in range(lists.offsets[word], lists.offsets[word + 1]):
        fetch_row(start + np.int64(lists.rows[k]) * stride, stride // 4)


@compiled
def _window(i: int, n_outputs: int, rate: float, lists: Lists, plan: Plan, room: Scratch, start: int, stride: int) -> None:
    """Skip-gram: the rows of token i guess its contexts and learn at once."""
    width, hidden = stride // 4, room.at.hidden
    n = _members(np.int64(room.kept[i]), lists, room, start, stride)
    mean_rows(room.at.members, n, width, _ONE / np.float32(n), hidden)
    room.members[n] = hidden
    _learn(room.at.members + 8 * n, n_outputs, rate, room, i & 1, width)
    share = _ONE / np.float32(n) if plan.share_error else _ONE
    for k in range(n):
        add_row(room.members[k], hidden + stride, width, share)


@compiled
def _size(i: int, lists: Lists, room: Scratch) -> int:
    return lists.offsets[room.kept[i] + 1] - lists.offsets[room.kept[i]]


@compiled
def _come(i: int, lists: Lists, plan: Plan, room: Scratch, start: int, stride: int) -> None:
    """Sum the rows of token i, which comes near."""
    slot = i % len(room.sums)
    n = _members(np.int64(room.kept[i]), lists, room, start, stride)
    mean_rows(room.at.members, n, stride // 4, _ONE, room.at.sums + slot * stride)
    room.learned[slot] = _ZERO


@compiled
def _leave(i: int, lists: Lists, room: Scratch, start: int, stride: int) -> None:
    """Hand what token i has learned to its rows."""
    errors = room.at.learned + i % len(room.sums) * stride
    for k in range(_members(np.int64(room.kept[i]), lists, room, start, stride)):
        add_row(room.members[k], errors, stride // 4, _ONE)


@compiled
def _mean_window(i: int, n: int, n_outputs: int, rate: float, lists: Lists, plan: Plan, room: Scratch, stride: int) -> None:
    """CBOW: the mean of the rows of all contexts guesses token i, and each context notes what it learns."""
    width, hidden, m, rows = stride // 4, room.at.hidden, 0, 0
    low, high = max(0, i - room.halves[i]), min(n, i + room.halves[i] + 1)
    for j in range(low, high):
        if j != i:
            room.members[m] = room.at.sums + j % len(room.sums) * stride
            rows += _size(j, lists, room)
            m += 1
    mean_rows(room.at.members, m, width, _ONE / np.float32(rows), hidden)
    room.members[m] = hidden
    _learn(room.at.members + 8 * m, n_outputs, rate, room, i & 1, width)
    share = _ONE / np.float32(rows) if plan.share_error else _ONE
    for j in range(low, high):
        if j != i:
            slot = j % len(room.sums) * stride
            add_row(room.at.learned + slot, hidden + stride, width, share)
            add_row(room.at.sums + slot, hidden + stride, width, share * np.float32(_size(j, lists, room)))


# -------------------------------------------------------------------------------------------------- the text


@compiled
def train(text: Text, lists: Lists, tables: Tables, chance: Chance, paths: Paths, plan: Plan, room: Scratch, first: int,
          last: int) -> tuple[float, int]:
    """Go over pieces ``first`` to ``last``; returns the sum of the noted losses and the number of their pairs."""
    inputs, outputs, stride = tables.inputs, tables.outputs, 4 * tables.columns
    loss, pairs, sizes, targets = 0.0, 0, np.zeros(2, np.int64), np.zeros(2, np.int64)
    reach = plan.window if plan.cbow else 0
    for piece in range(first, last):
        key = _key(plan, piece)
        n, here = _keep(text, plan, piece, key, room), 0
        for i in range(n + 1):
            if i < n:
                targets[i & 1], sizes[i & 1] = _prepare(i, n, key, paths, chance, plan, room, outputs, stride)
                if i + reach + 1 < n:
                    _fetch(np.int64(room.kept[i + reach + 1]), lists, inputs, stride)
            if i == 0:
                continue
            at = i - 1
            q, done = at & 1, (text.pieces[piece] + room.places[at]) / len(text.words)
            rate = np.float32(plan.first_rate + plan.rate_span * done)
            if plan.cbow:
                while here < min(n, at + reach + 1):
                    _come(here, lists, plan, room, inputs, stride)
                    here += 1
            if targets[q]:
                if plan.cbow:
                    _mean_window(at, n, sizes[q], rate, lists, plan, room, stride)
                else:
                    _window(at, sizes[q], rate, lists, plan, room, inputs, stride)
                if np.int64(room.numbers[at] & _BYTE) < plan.note:
                    loss += _loss(sizes[q], rate, room, q)
                    pairs += targets[q]
            if plan.cbow and at >= reach:
                _leave(at - reach, lists, room, inputs, stride)
        if plan.cbow:
            for i in range(max(0, n - reach), n):
                _leave(i, lists, room, inputs, stride)
    return loss, pairs
