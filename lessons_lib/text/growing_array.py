"""Arrays that grow while texts are read: one that is appended to where it lies, and totals for a table that gets longer.

Their peak memory is little more than their content. Used by `Corpus` for token ids and by ``counts`` for the cells of a sparse matrix.
"""

from __future__ import annotations

import numpy as np

__all__ = ["GrowingArray", "GrowingCounts"]

_DOUBLE_UP_TO = 1 << 18


class GrowingArray:
    """A 1-D array with `append`. It doubles while it is small and then grows by an eighth; the operating system extends it in place."""

    def __init__(self, dtype: type):
        self._array, self._n = np.empty(0, dtype=dtype), 0

    def __len__(self) -> int:
        return self._n

    def append(self, values: np.ndarray) -> None:
        """Add values at the end."""
        need = self._n + len(values)
        if need > len(self._array):
            self._array.resize(need + max(self._n // 8, min(self._n, _DOUBLE_UP_TO)), refcheck=False)
        self._array[self._n : need] = values
        self._n = need

    def finish(self, n: int | None = None) -> np.ndarray:
        """The array itself, cut to its first n items (default: all that were appended). Slices taken before are no longer valid."""
        self._n = self._n if n is None else n
        self._array.resize(self._n, refcheck=False)
        return self._array


class GrowingCounts:
    """Running totals of a table that grows."""

    def __init__(self) -> None:
        self._totals = np.zeros(1 << 12, dtype=np.int64)

    def add(self, numbers: np.ndarray, amounts: np.ndarray) -> None:
        """Add an amount to each of these distinct numbers."""
        size = int(numbers.max(initial=-1)) + 1
        if size > len(self._totals):
            self._totals = np.concatenate([self._totals, np.zeros(max(size - len(self._totals), len(self._totals) // 2), dtype=np.int64)])
        self._totals[numbers] += amounts

    def total(self, n: int) -> np.ndarray:
        """The totals of the first n numbers."""
        return self._totals[:n]
