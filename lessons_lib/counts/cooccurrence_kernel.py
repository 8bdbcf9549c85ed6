"""The three compiled loops under `cooccurrence`, in a module of their own so that Numba is loaded only when something is counted.

Documents are parted by BREAK, which ends a window without a look at the offsets. Taught in lesson ``02_bag_of_words``.
"""

from __future__ import annotations

import numpy as np

from ..core.compiled import compiled

__all__ = ["BREAK", "count_rows", "positions_by_word", "spread"]

BREAK = np.iinfo(np.int32).max                 # stands between documents; larger than any token id


@compiled
def spread(tokens: np.ndarray, breaks: np.ndarray, padded: np.ndarray) -> None:
    """Copy tokens into ``padded`` after its first BREAK, leaving one BREAK before each position in ``breaks``."""
    at, b = 1, 0
    for t in range(len(tokens)):
        while b < len(breaks) and breaks[b] == t:             # empty documents leave several
            at += 1
            b += 1
        padded[at] = tokens[t]
        at += 1


@compiled
def positions_by_word(padded: np.ndarray, first: int, last: int, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Counting sort of the centres: positions of word i are ``positions[starts[i]:starts[i + 1]]``, in order."""
    starts = np.zeros(n_words + 1, dtype=np.int64)
    for p in range(first, last):
        if padded[p] != BREAK:
            starts[padded[p] + 1] += 1
    for i in range(n_words):
        starts[i + 1] += starts[i]
    filled = starts[:-1].copy()
    positions = np.empty(starts[-1], dtype=np.int64)
    for p in range(first, last):
        if padded[p] != BREAK:
            positions[filled[padded[p]]] = p
            filled[padded[p]] += 1
    return starts, positions


@compiled
def count_rows(block: tuple[np.ndarray, np.ndarray, np.ndarray], weights: np.ndarray, both_sides: bool, group: tuple[int, int],
               out: tuple[np.ndarray, np.ndarray, np.ndarray]) -> int:
    """Fill ``out`` (columns, values, entries per row) with the rows of one group of words. Returns the number of entries.

    Parameters: block, padded tokens and what `positions_by_word` gives; weights by distance; both_sides, also look ahead, and keep neighbours up
    to the row's own word; group, first row and the one after the last.
    """
    padded, starts, positions = block
    columns, values, row_sizes = out
    row = np.zeros(len(starts) - 1, dtype=weights.dtype)      # the dense row that is being summed
    near, shares = np.empty(2 * len(weights), dtype=np.int32), np.empty(2 * len(weights), dtype=weights.dtype)
    size = 0
    for i in range(group[0], group[1]):
        begin = size
        for at in range(starts[i], starts[i + 1]):
            centre, n = positions[at], 0
            for distance in range(1, len(weights)):
                j = padded[centre - distance]
                if j == BREAK:
                    break
                near[n], shares[n] = j, weights[distance]
                n += not both_sides or j <= i                 # kept by moving on: a branch here is guessed wrong half of the time
            for distance in range(1, len(weights) if both_sides else 0):
                j = padded[centre + distance]
                if j == BREAK:
                    break
                near[n], shares[n] = j, weights[distance]
                n += j < i                                    # an equal word was already seen by the other one of the two
            for k in range(n):
                columns[size] = near[k]
                size += row[near[k]] == 0
                row[near[k]] += shares[k]
        for k in range(begin, size):
            values[k] = row[columns[k]]
            row[columns[k]] = 0
        row_sizes[i - group[0]] = size - begin
    return size
