"""The compiled loop under `glove_step`: tile after tile, each handed to the vector code of `vectors`.

In a module of its own so that Numba is loaded only when something is trained. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.compiled import compiled
from .vectors import walk

__all__ = ["Tables", "train"]


class Tables(NamedTuple):
    """Addresses of the first numbers of a state's tensors, and the columns of a row. Who calls keeps the tensors alive."""

    words: int
    contexts: int
    rows: int
    columns: int
    logs: int
    weights: int
    width: int


@compiled
def train(tables: Tables, bounds: np.ndarray, tiles: np.ndarray, losses: np.ndarray, rate: float, clip: float) -> int:
    """Learn the counts of some tiles; puts Σ ½ f diff² of each into ``losses`` and returns how many counts were left out."""
    left_out = 0
    for k in range(len(tiles)):
        first, last = bounds[tiles[k]], bounds[tiles[k] + 1]
        if last > first:
            skip = 4 * first
            losses[k], more = walk(tables.words, tables.contexts, tables.rows + skip, tables.columns + skip, tables.logs + skip,
                                   tables.weights + skip, last - first, tables.width, rate, clip)
            left_out += more
    return left_out
