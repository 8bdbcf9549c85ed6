"""The order in which counts are learned: tile by tile, and within a tile word by word.

A tile is a group of words and a group of contexts, few enough to stay in the processor's cache while its counts are visited. Taught in
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.compiled import compiled

__all__ = ["arrange", "per_column", "tile_bounds"]

_7, _9 = np.uint64(7), np.uint64(9)


@compiled
def _shuffled(first: int, last: int, chance: int, order: np.ndarray) -> int:
    """The numbers from first to last in a random order (Fisher and Yates, xorshift); returns the next state of chance."""
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
    found = np.zeros(n, np.int64)
    for column in columns:
        found[column] += 1
    return found


@compiled
def tile_bounds(offsets: np.ndarray, columns: np.ndarray, group_of_row: np.ndarray, group_of_column: np.ndarray, groups: int) -> np.ndarray:
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
def arrange(counts: tuple, order: tuple, weighting: tuple[float, float], tiles: np.ndarray, visit: np.ndarray, seed: int, out: tuple) -> None:
    """Fill ``out`` (places of words, places of contexts, log X, f) tile by tile.

    Parameters: counts: offsets, columns, values; order: row at each place, group of each row, place of each column, group of each column; weighting:
    x_max and exponent of f; tiles, from `tile_bounds`; visit, room for the longest row; seed, of the order within a row.
    """
    (offsets, columns, values), (row_at, group_of_row, place_of_column, group_of_column), (rows, places, logs, weights) = counts, order, out
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
            weights[at] = 1.0 if x >= weighting[0] else (x / weighting[0]) ** weighting[1]
