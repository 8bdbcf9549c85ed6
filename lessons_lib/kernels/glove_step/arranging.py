"""The order in which counts are learned: tile by tile, and within a tile word by word.

A tile is a group of words and a group of contexts, few enough to stay in the processor's cache while its counts are visited. Taught in
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import numpy as np

from ...core.compiled import compiled

__all__ = ["arrange"]

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
def _bounds(offsets: np.ndarray, columns: np.ndarray, group_of_row: np.ndarray, group_of_column: np.ndarray, groups: int) -> np.ndarray:
    """Where each tile begins, and where the last one ends."""
    tiles = np.zeros(groups * groups + 1, np.int64)
    for row in range(len(group_of_row)):
        first = group_of_row[row] * groups + 1
        for k in range(offsets[row], offsets[row + 1]):
            tiles[first + group_of_column[columns[k]]] += 1
    return np.cumsum(tiles)


@compiled
def arrange(counts: tuple, words: tuple, contexts: tuple, weighting: tuple[float, float], seed: int) -> tuple:
    """Places of words and of contexts, log X, f, and the bounds of the tiles.

    Parameters: counts: offsets, columns, values; words: row at each place, group of each row; contexts: place of each column, group of each column;
    weighting: x_max and exponent of f; seed, of the order within a row.
    """
    (offsets, columns, values), (row_at, group_of_row), (place_of_column, group_of_column) = counts, words, contexts
    groups = group_of_row.max() + 1
    n, tiles = len(columns), _bounds(offsets, columns, group_of_row, group_of_column, groups)
    rows, places, logs, weights = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.float32), np.empty(n, np.float32)
    free, chance = tiles.copy(), np.uint64(seed) | np.uint64(1)
    order = np.empty(max(1, np.diff(offsets).max()), np.int64)
    for place in range(len(row_at)):
        row = row_at[place]
        chance = _shuffled(offsets[row], offsets[row + 1], chance, order)
        for k in range(offsets[row + 1] - offsets[row]):
            column, x = columns[order[k]], np.float64(values[order[k]])
            tile = group_of_row[row] * groups + group_of_column[column]
            at = free[tile]
            free[tile] += 1
            rows[at], places[at], logs[at] = place, place_of_column[column], np.log(x)
            weights[at] = min(1.0, x / weighting[0]) ** weighting[1]
    return rows, places, logs, weights, tiles
