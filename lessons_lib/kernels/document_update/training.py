"""The compiled loop under `document_update`: windows whose contexts end in the rows of a document's tags.

Words, noise and arithmetic are those of window updates. In a module of its own so that Numba is loaded only when something is trained. Taught in
``07_doc2vec``.
"""

from __future__ import annotations

import numpy as np

from ...core.compiled import compiled
from ..memory import get_f32, get_i32, get_i64, put_i64
from ..window_update.room import BLOCK, Plan, Room, Source
from ..window_update.training import AHEAD, fetch_outputs, find_gains, kept_tokens, move_rows, path_outputs, sum_of_losses, word_outputs
from ..window_update.vectors import BIG, SMALL, add_row, copy_numbers, copy_row, fetch_row, mean_rows
from .room import Tables, Tags
from .vectors import push_big, push_small

__all__ = ["train"]

_ONE = np.float32(1.0)


@compiled(inner=True)
def _learn(inputs: int, targets: int, m: int, start: int, n: int, rate: float, frozen: bool, room: Room, width: int) -> None:
    """One step of m inputs and n outputs; the outputs stay where they are if they are frozen."""
    find_gains(inputs, m, start, n, rate, room, width)
    if not frozen:
        move_rows(inputs, targets, m, start, n, room, width)
        return
    k = 0
    while k < n:
        if n - k >= BIG:
            push_big(targets, m, room.outputs + 8 * (start + k), width, room.gains + 4 * k * m)
            k += BIG
        else:
            push_small(targets, m, room.outputs + 8 * (start + k), width, room.gains + 4 * k * m)
            k += SMALL


@compiled(inner=True)
def _together(i: int, n: int, m: int, start: int, size: int, tags: Tags, plan: Plan, room: Room, table: int, width: int) -> int:
    """Learn from window i, m tags and the words around if they take part; returns the number of inputs."""
    left, right, before = 0, 0, 0
    if tags.neighbours:
        left, right = min(get_i32(room.halves, i), i), min(get_i32(room.halves, i), n - 1 - i)
        before = left + right
        copy_numbers(room.rows + 8 * (i - left), room.contexts, left + 1)
        copy_numbers(room.rows + 8 * (i + 1), room.contexts + 8 * left, right + 1)
    copy_numbers(table, room.contexts + 8 * before, m)
    m, rate, inputs = before + m, get_f32(room.rates, i), room.contexts
    if not tags.each:
        mean_rows(inputs, m, width, _ONE / np.float32(m) if tags.mean else _ONE, get_i64(room.hidden, 0))
        copy_row(get_i64(room.none, 0), get_i64(room.error, 0), width)
        _learn(room.hidden, room.error, 1, start, size, rate, tags.frozen, room, width)
        share = _ONE / np.float32(m) if tags.mean and plan.share_error else _ONE
        for j in range(before if tags.frozen else 0, m):
            add_row(get_i64(inputs, j), get_i64(room.error, 0), width, share)
        return 1
    if not tags.frozen and (size > BIG or (before and get_i32(room.repeats, i + right) >= i - left)):   # a row moves before it was last read
        inputs = room.copies
        for j in range(m):
            copy_row(get_i64(room.contexts, j), get_i64(inputs, j), width)
    _learn(inputs, room.contexts, m, start, size, rate, tags.frozen, room, width)
    return m


@compiled(inline=True)
def _near(j: int, n: int, edge: int, room: Room) -> int:
    """The row of token j of n, or that of the edge."""
    return get_i64(room.rows, j) if 0 <= j < n else edge


@compiled(inner=True)
def _in_order(i: int, n: int, start: int, size: int, tags: Tags, plan: Plan, room: Room, table: int, at: Tables) -> int:
    """Learn from window i, whose words and tag stand side by side; beyond the text's edge stands a row of its own."""
    width, stride, hidden, error = at.columns, 4 * at.columns, get_i64(room.hidden, 0), get_i64(room.error, 0)
    edge, last = at.inputs + tags.edge * stride, tags.parts - 1
    for j in range(last):
        copy_row(_near(i + j - plan.window + (j >= plan.window), n, edge, room), hidden + j * stride, width)
    copy_row(get_i64(table, 0), hidden + last * stride, width)
    copy_row(get_i64(room.none, 0), error, tags.parts * width)
    _learn(room.hidden, room.error, 1, start, size, get_f32(room.rates, i), tags.frozen, room, tags.parts * width)
    add_row(get_i64(table, 0), error + last * stride, width, _ONE)
    if not tags.frozen:
        for j in range(last):
            add_row(_near(i + j - plan.window + (j >= plan.window), n, edge, room), error + j * stride, width, _ONE)
    return 1


@compiled(inner=True)
def _windows(first: int, last: int, n: int, m: int, tags: Tags, plan: Plan, room: Room, table: int, at: Tables) -> tuple[float, int]:
    """Learn from a block of windows around some of the n tokens of a piece; returns the sum of the noted losses and the number of their pairs."""
    loss, pairs, width = 0.0, 0, at.columns * tags.parts
    fetch_outputs(0, min(AHEAD, last - first), room, width)
    for i in range(first, last):
        fetch_outputs(min(i + AHEAD, last) - first, min(i + AHEAD + 1, last) - first, room, width)
        if tags.neighbours:
            fetch_row(get_i64(room.rows, min(i + AHEAD + plan.window, n - 1)), at.columns)
        start = get_i64(room.starts, i - first)
        size = get_i64(room.starts, i - first + 1) - start
        if tags.parts > 1:
            learned = _in_order(i, n, start, size, tags, plan, room, table, at)
        else:
            learned = _together(i, n, m, start, size, tags, plan, room, table, width)
        if get_i32(room.noted, i):
            loss += sum_of_losses(learned, start, size, get_f32(room.rates, i), room)
            pairs += learned
    return loss, pairs


@compiled
def train(source: Source, tags: Tags, at: Tables, plan: Plan, room: Room, table: int, first: int, last: int) -> tuple[float, int]:
    """Go over pieces ``first`` to ``last``; returns the sum of the noted losses and the number of their pairs."""
    stride, loss, pairs = 4 * at.columns, 0.0, 0
    for piece in range(first, last):
        n, begin = kept_tokens(piece, source, plan, room, at.inputs, stride), get_i64(tags.begins, piece)
        m = get_i64(tags.ends, piece) - begin
        for k in range(m):
            put_i64(table, k, at.documents + get_i32(tags.tags, begin + k) * stride)
            fetch_row(get_i64(table, k), at.columns)
        for start in range(0, n, BLOCK):
            end = min(start + BLOCK, n)
            if plan.hierarchical:
                path_outputs(start, end, source, room, at.outputs, stride * tags.parts)
            else:
                word_outputs(start, end, np.uint64(get_i64(source.keys, piece)), source, plan, room, at.outputs, stride * tags.parts)
            found = _windows(start, end, n, m, tags, plan, room, table, at)
            loss += found[0]
            pairs += found[1]
    return loss, pairs
