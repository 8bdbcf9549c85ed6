"""Bringing copies of a matrix together that several threads have changed: Adasum, row by row.

Two changes a and b become (1 − a·b / 2|a|²) a + (1 − a·b / 2|b|²) b: their sum where they have nothing in common, their mean where they are the same.
So a frequent word that all threads have moved to the same place is not moved twice as far. More than two are brought together one after the
other, in the threads' order. [maleki2021scaling] Taught in ``04_word2vec``.
"""

from __future__ import annotations

import numpy as np

from ...core.compiled import compiled

__all__ = ["add_up", "merge"]


@compiled(reorder=True)
def _products(base: np.ndarray, change: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """a·b, a·a, b·b of the change a and of b = other − base."""
    ab, aa, bb = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for i in range(len(base)):
        b = other[i] - base[i]
        ab += change[i] * b
        aa += change[i] * change[i]
        bb += b * b
    return ab, aa, bb


@compiled
def merge(base: np.ndarray, copies: tuple, first: int, last: int) -> None:
    """Put the merged rows ``first`` to ``last`` into the base and into all copies."""
    change, half = np.zeros(base.shape[1], np.float32), np.float32(0.5)
    for row in range(first, last):
        change[:] = np.float32(0.0)
        moved = False
        for copy in copies:
            ab, aa, bb = _products(base[row], change, copy[row])
            if bb > 0:
                moved = True
                keep = np.float32(1.0) - half * ab / aa if aa > 0 else np.float32(1.0)
                take = np.float32(1.0) - half * ab / bb
                for i in range(len(change)):
                    change[i] = keep * change[i] + take * (copy[row, i] - base[row, i])
        if moved:
            for i in range(len(change)):
                base[row, i] += change[i]
            for copy in copies:
                copy[row] = base[row]


@compiled(reorder=True)
def add_up(base: np.ndarray, copies: tuple, rows: np.ndarray) -> None:
    """Add the changes of all copies to some rows of the base, and put the sums into all copies."""
    for row in rows:
        for i in range(base.shape[1]):
            before = base[row, i]
            total = before
            for copy in copies:
                total += copy[row, i] - before
            base[row, i] = total
            for copy in copies:
                copy[row, i] = total
