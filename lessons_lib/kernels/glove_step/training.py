"""The compiled loops under `glove_step`: the order in which counts are learned, tile by tile and
within a tile word by word; and the arithmetic of a count, as vector instructions.

A tile is a group of words and a group of contexts, few enough to stay in the processor's cache
while its counts are visited. A count is a product of two rows, then both rows and their sums of
squares in one pass. Neither row waits for the other, so the processor begins the next count while
this one is still being written; rows a few counts further on are asked for meanwhile. 1 / √G is the
processor's own estimate with a step of Newton's method, where it has one. Taught in
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from ...core.compiled import compiled
from ...core.vector_code import Code, operation

__all__ = ["Tables", "arrange", "per_column", "tile_bounds", "train"]

_7, _9 = np.uint64(7), np.uint64(9)
_I32, _I64, _F32, _F64 = ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType()
AHEAD = 4  # counts


@compiled
def _shuffled(first: int, last: int, chance: int, order: np.ndarray) -> int:
    """The numbers from first to last in a random order (Fisher and Yates, xorshift); returns the
    next state of chance."""
    for k in range(last - first):
        chance ^= chance << _7
        chance ^= chance >> _9
        other = np.int64(chance % np.uint64(k + 1))
        order[k] = order[other]
        order[other] = first + k
    return chance


@compiled
def per_column(columns: np.ndarray, n: int) -> np.ndarray:
    """How many counts each of n columns has."""
    counts = np.zeros(n, np.int64)
    for column in columns:
        counts[column] += 1
    return counts


@compiled
def tile_bounds(offsets: np.ndarray, columns: np.ndarray, group_of_row: np.ndarray,
                group_of_column: np.ndarray, groups: int) -> np.ndarray:
    """Where each tile begins, and where the last one ends."""
    tiles = np.zeros(groups * groups + 1, np.int64)
    for row in range(len(group_of_row)):
        first = group_of_row[row] * groups + 1
        for k in range(offsets[row], offsets[row + 1]):
            tiles[first + group_of_column[columns[k]]] += 1
    for tile in range(groups * groups):
        tiles[tile + 1] += tiles[tile]
    return tiles


@compiled
def arrange(counts: tuple, order: tuple, weighting: tuple[float, float], tiles: np.ndarray,
            visit: np.ndarray, seed: int, out: tuple) -> None:
    """Fill ``out`` (places of words, places of contexts, log X, f) tile by tile.

    ``counts``: offsets, columns, values; ``order``: row at each place, group of each row, place of
    each column, group of each column; ``weighting``: x_max and exponent of f; ``tiles``, from
    `tile_bounds`; ``visit``: space for the longest row; ``seed``, of the order within a row.
    """
    offsets, columns, values = counts
    row_at, group_of_row, place_of_column, group_of_column = order
    rows, places, logs, weights = out
    groups, free, chance = group_of_row.max() + 1, tiles.copy(), np.uint64(seed) | np.uint64(1)
    for place in range(len(row_at)):
        row = row_at[place]
        chance = _shuffled(offsets[row], offsets[row + 1], chance, visit)
        for k in range(offsets[row + 1] - offsets[row]):
            column, x = columns[visit[k]], np.float64(values[visit[k]])
            tile = group_of_row[row] * groups + group_of_column[column]
            at = free[tile]
            free[tile] += 1
            rows[at], places[at], logs[at] = place, place_of_column[column], math.log(x)
            weights[at] = 1.0 if x >= weighting[0] else (x / weighting[0])**weighting[1]


@operation(*(types.int64,) * 8, types.float32, types.float32,
           result=types.Tuple((types.float64, types.int64)))
def _walk(code: Code, words: Any, contexts: Any, rows: Any, columns: Any, logs: Any, weights: Any,
          n: Any, width: Any, rate: Any, clip: Any) -> list[Any]:
    """Learn from n > 0 counts in their order; returns Σ ½ f diff² and how many were left out.

    ``words``, ``contexts``: addresses of the first rows; ``rows``, ``columns``, ``logs``,
    ``weights``: of the first count's place among either, log X and f; ``width``: columns of a row,
    a multiple of 16, which are followed by as many sums of squares.
    """
    b, high = code.b, code.b.fmul(rate, clip)
    words, contexts, logs, weights = (code.pointer(x) for x in (words, contexts, logs, weights))
    rows, columns = code.pointer(rows, _I32), code.pointer(columns, _I32)
    limits = code.spread(b.fneg(high)), code.spread(high)
    whole_row, last = b.mul(width, _I64(2)), b.sub(n, _I64(1))

    def pair(at: Any) -> list[Any]:
        """The rows of a count."""
        places = [b.sext(code.number(table, at), _I64) for table in (rows, columns)]
        return [b.gep(table, [b.mul(place, whole_row)])
                for table, place in zip((words, contexts), places, strict=True)]

    def step(i: Any, so_far: list[Any]) -> list[Any]:
        later = b.add(i, _I64(AHEAD))  # the last count stands for those after it
        ahead = pair(b.select(b.icmp_signed("<", later, last), later, last))

        def ask(j: Any, _: list[Any]) -> None:
            for row in ahead:
                code.fetch(row, j, write=True)

        code.loop(whole_row, [], ask, step=16)
        two = pair(i)
        sums = code.loop(width, [code.constant(0.0)],
                         lambda j, s: [code.fma(code.load(two[0], j), code.load(two[1], j), s[0])])
        product = b.extract_element(code.lane_sums(sums), _I32(0))
        diff = b.fsub(product, code.number(logs, i))
        pull = b.fmul(code.number(weights, i), diff)
        size = code.call("llvm.fabs.f32", _F32, diff)
        sane = b.fcmp_ordered("<", size, _F32(float("inf")))
        with b.if_then(sane, likely=True):
            scaled = code.spread(b.fmul(rate, pull))

            def move(j: Any, _: list[Any]) -> None:
                """w −= u / √G, G += u² of both rows, u = η clip(f diff w̃) of the old values."""
                old = [code.load(row, j) for row in two]
                for mine, other, row in ((*old, two[0]), (*old[::-1], two[1])):
                    u = code.each("minnum", b.fmul(scaled, other), limits[1])
                    u = code.each("maxnum", u, limits[0])
                    behind = b.add(j, width)
                    squares = code.load(row, behind)
                    root = code.each("sqrt", squares)  # these flags allow an estimate of 1 / √G
                    scale = b.fdiv(code.constant(1.0), root, flags=("arcp", "contract"))
                    code.store(b.fsub(mine, b.fmul(u, scale)), row, j)
                    code.store(code.fma(u, u, squares), row, behind)

            code.loop(width, [], move)
        cost = b.fmul(_F64(0.5), b.fmul(b.fpext(pull, _F64), b.fpext(diff, _F64)))
        return [b.fadd(so_far[0], b.select(sane, cost, _F64(0.0))),
                b.add(so_far[1], b.select(sane, _I64(0), _I64(1)))]

    return code.loop(n, [_F64(0.0), _I64(0)], step, step=1)


# Addresses of the first numbers of a state's tensors, and the columns of a row.
Tables = namedtuple("Tables", "words contexts rows columns logs weights width")


@compiled
def train(tables: Tables, bounds: np.ndarray, tiles: np.ndarray, losses: np.ndarray, rate: float,
          clip: float) -> int:
    """Learn the counts of some tiles; puts Σ ½ f diff² of each into ``losses`` and returns how many
    counts were left out."""
    left_out = 0
    for k in range(len(tiles)):
        first, last = bounds[tiles[k]], bounds[tiles[k] + 1]
        if last > first:
            skip = 4 * first
            losses[k], more = _walk(tables.words, tables.contexts, tables.rows + skip,
                                    tables.columns + skip, tables.logs + skip,
                                    tables.weights + skip, last - first, tables.width, rate, clip)
            left_out += more
    return left_out
