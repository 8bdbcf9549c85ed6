"""Compiled loops from token numbers to one vector per sentence: rows are gathered, weighted, added.

No array of all tokens' vectors is ever made: a sentence of n words reads n rows of the word vectors
and writes one. The running sum stays in registers while the rows go by, up to eight vectors of
columns at a time, where a loop that a compiler makes of the formula would read and write it at
every row. The last columns that fill no whole vector are taken with some before them, which are
written twice with the same numbers. Taught in lesson ``06_sif_and_usif``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ..core.compiled import compiled
from ..core.vector_code import LANES, Code, fetch, operation

__all__ = ["add_documents_per_word", "divide_by_norms", "first_not_finite", "sum_rows",
           "weighted_sum"]

_LINE = 64                                       # bytes that come from memory together
_AT_ONCE = 256                                   # rows summed in float32, beyond in float64


def _tile(size: int) -> Any:
    """out[:size · LANES] = Σ_i weights[i] · table[rows[i] …]; all are addresses, ``rows`` bytes."""

    @operation()
    def tile(code: Code, table: Any, rows: Any, weights: Any, n: Any, out: Any) -> None:
        rows, weights = code.pointer(rows, ir.IntType(64)), code.pointer(weights)

        def row(i: Any, sums: list[Any]) -> list[Any]:
            weight = code.spread(code.number(weights, i))
            numbers = code.pointer(code.b.add(table, code.number(rows, i)))
            return [code.fma(weight, code.load(numbers, k * LANES), total)
                    for k, total in enumerate(sums)]

        sums = code.loop(n, [code.constant(0.0)] * size, row, step=1)
        for k, total in enumerate(sums):
            code.store(total, code.pointer(out), k * LANES)

    return tile


_tile_8, _tile_4, _tile_2, _tile_1 = (_tile(size) for size in (8, 4, 2, 1))


@compiled
def weighted_sum(matrix: np.ndarray, places: np.ndarray, weights: np.ndarray, begin: int, end: int,
                 out: np.ndarray) -> None:
    """out = Σ_i weights[i] · (the row that begins ``places[i]`` bytes after the first), begin <= i
    < end; zeros for no row. ``matrix`` (V, dim) float32 has no gaps between its rows."""
    n, width = end - begin, out.size
    if n == 0 or width < LANES:
        out[:] = 0
        for i in range(begin, end):
            a = matrix[places[i] // (4 * width)]
            for k in range(width):
                out[k] += weights[i] * a[k]
        return
    table, target, column, step = matrix.ctypes.data, out.ctypes.data, 0, 4 * LANES
    rows, factors = places.ctypes.data + 8 * begin, weights.ctypes.data + 4 * begin
    for _ in range(width // (8 * LANES)):
        _tile_8(table + column, rows, factors, n, target + column)
        column += 8 * step
    left = width % (8 * LANES) // LANES
    if left & 4:
        _tile_4(table + column, rows, factors, n, target + column)
        column += 4 * step
    if left & 2:
        _tile_2(table + column, rows, factors, n, target + column)
        column += 2 * step
    if left & 1:
        _tile_1(table + column, rows, factors, n, target + column)
    if width % LANES:
        column = 4 * (width - LANES)
        _tile_1(table + column, rows, factors, n, target + column)


@compiled
def _chosen(ids: np.ndarray, begin: int, end: int, row_of: np.ndarray, weight_of: np.ndarray,
            seen: np.ndarray, once: bool, document: int, table: int, row_bytes: int,
            places: np.ndarray, weights: np.ndarray) -> tuple[int, float]:
    """Write where the rows of a sentence's known words begin, in bytes, and their weights; with
    ``once`` each distinct word one time.

    The rows, from address ``table`` on, are asked for at once, so that memory brings many of them
    together. Returns how many, and the sum of their weights.
    """
    n, total = 0, 0.0
    for i in range(begin, end):
        row = row_of[ids[i]]
        if row < 0 or (once and seen[row] == document):
            continue
        if once:
            seen[row] = document
        places[n], weights[n] = row * row_bytes, weight_of[row]
        total += weight_of[row]
        for offset in range(0, row_bytes, _LINE):
            fetch(table + places[n] + offset)
        n += 1
    return n, total


@compiled
def sum_rows(matrix: np.ndarray, weight_of: np.ndarray, row_of: np.ndarray, ids: np.ndarray,
             ends: np.ndarray, once: bool, per_weight: bool, out: np.ndarray,
             known: np.ndarray) -> None:
    """Write the weighted mean of each sentence's word vectors to ``out`` and the number of its
    known words to ``known``.

    Sentence s is ``ids[ends[s - 1]:ends[s]]``; ``row_of`` gives the row of an id, -1 for a word
    without a vector, which is left out. The sum is divided by the number of known words, with
    ``per_weight`` by the sum of their weights; a sentence without any is zeros.
    """
    longest, begin = 0, 0
    for s in range(ends.size):
        longest, begin = max(longest, ends[s] - begin), ends[s]
    places, weights = np.empty(longest, np.int64), np.empty(longest, np.float32)
    seen = np.full(matrix.shape[0] if once else 0, -1, np.int64)
    part = np.empty(matrix.shape[1], np.float32)
    total_of_parts = np.empty(matrix.shape[1], np.float64)
    begin = 0
    for s in range(ends.size):
        n, total = _chosen(ids, begin, ends[s], row_of, weight_of, seen, once, s,
                           matrix.ctypes.data, 4 * matrix.shape[1], places, weights)
        begin, known[s] = ends[s], n
        share = np.float32(1.0 / (total if per_weight else n)) if n else np.float32(0.0)
        for i in range(n):
            weights[i] *= share
        if n <= _AT_ONCE:
            weighted_sum(matrix, places, weights, 0, n, out[s])
            continue
        total_of_parts[:] = 0
        for first in range(0, n, _AT_ONCE):
            weighted_sum(matrix, places, weights, first, min(n, first + _AT_ONCE), part)
            # a loop, because Numba takes seconds to compile a sum of arrays
            for k in range(part.size):
                total_of_parts[k] += part[k]
        for k in range(part.size):
            out[s, k] = total_of_parts[k]


@compiled
def divide_by_norms(matrix: np.ndarray, row_of: np.ndarray, ids: np.ndarray, ends: np.ndarray,
                    out: np.ndarray) -> None:
    """Divide number k of each sentence by √Σ v_k² over its words; where all are 0 it stays 0."""
    squares, begin = np.empty(matrix.shape[1], np.float64), 0
    for s in range(ends.size):
        squares[:] = 0
        for i in range(begin, ends[s]):
            row = row_of[ids[i]]
            if row >= 0:
                for k in range(squares.size):
                    squares[k] += np.float64(matrix[row, k]) * matrix[row, k]
        for k in range(squares.size):
            if squares[k] > 0:
                out[s, k] /= np.sqrt(squares[k])
        begin = ends[s]


@compiled
def add_documents_per_word(ids: np.ndarray, ends: np.ndarray, counts: np.ndarray) -> None:
    """Add to ``counts`` in how many sentences each word number occurs."""
    seen, begin = np.full(counts.size, -1, np.int64), 0
    for s in range(ends.size):
        for i in range(begin, ends[s]):
            if seen[ids[i]] != s:
                seen[ids[i]] = s
                counts[ids[i]] += 1
        begin = ends[s]


@compiled(reorder=True)
def first_not_finite(vectors: np.ndarray) -> int:
    """The first row with NaN or infinity, -1 when there is none."""
    for s in range(vectors.shape[0]):
        total = np.float32(0.0)
        for k in range(vectors.shape[1]):
            total += vectors[s, k] * np.float32(0.0)        # infinity times 0 is NaN
        if total != 0:
            return s
    return -1
