"""A sparse matrix that grows while texts are read, in place, so that its peak memory is little more
than the finished matrix.

Column numbers and counts lie in two arrays that are lengthened while texts are read; what is pruned
is closed up where it lies. Used by `BagOfWords`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import sparse

from ..text.growing_array import GrowingArray
from .row_kernels import place_rows

__all__ = ["GrowingRows"]

_CELLS_AT_ONCE = 1 << 18
LARGEST_INT32 = np.iinfo(np.int32).max


class GrowingRows:
    """Rows of counts, appended block by block; `finish` gives the CSR matrix."""

    def __init__(self) -> None:
        self._columns, self._counts = GrowingArray(np.int32), GrowingArray(np.int64)
        self._row_ends = GrowingArray(np.int64)
        self._cells = 0

    def append(self, columns: np.ndarray, counts: np.ndarray, row_ends: np.ndarray) -> None:
        """Add the rows of one block; ``row_ends`` counts from the block's first cell."""
        self._columns.append(columns)
        self._counts.append(counts)
        self._row_ends.append(row_ends + self._cells)
        self._cells += len(columns)

    def finish(self, n_columns: int, *, column_of: np.ndarray | None = None, binary: bool = False,
               threads: int = 1) -> sparse.csr_matrix:
        """The matrix; with ``column_of`` the appended columns are numbers still to be placed, where
        -1 drops a cell.

        Returns CSR with int64 counts and sorted columns; index arrays are int32 unless a number in
        them needs more.
        """
        columns, counts = self._columns.finish(), self._counts.finish()
        row_ends = self._row_ends.finish()
        kept = len(columns)
        if column_of is not None:
            kept = _placed(columns, counts, row_ends, column_of, binary, threads)
        indptr = np.zeros(len(row_ends) + 1, dtype=np.int32 if kept <= LARGEST_INT32 else np.int64)
        indptr[1:] = row_ends
        indices, data = self._columns.finish(kept), self._counts.finish(kept)
        if kept > LARGEST_INT32:
            indices = indices.astype(np.int64)
        matrix = sparse.csr_matrix((len(indptr) - 1, n_columns), dtype=np.int64)
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix


def _placed(columns: np.ndarray, counts: np.ndarray, row_ends: np.ndarray, column_of: np.ndarray,
            binary: bool, threads: int) -> int:
    """Place all rows, many at a time on several threads, then close the gaps that dropped cells
    left. Returns the cells kept.
    """
    marks = np.arange(0, len(columns) + _CELLS_AT_ONCE, _CELLS_AT_ONCE)
    bounds = np.unique(np.searchsorted(row_ends, marks))
    bounds = np.unique(np.append(np.minimum(bounds, len(row_ends)), [0, len(row_ends)]))
    parts = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
    begins = [int(row_ends[a - 1]) if a else 0 for a, _ in parts]

    def place(part: tuple[int, int], begin: int) -> int:
        return place_rows(columns, counts, row_ends[part[0] : part[1]], begin, column_of, binary)

    with ThreadPoolExecutor(threads) as pool:
        ends = list(pool.map(place, parts, begins))
    n = 0
    for (a, b), begin, end in zip(parts, begins, ends, strict=True):
        if begin != n:
            columns[n : n + end - begin] = columns[begin:end]
            counts[n : n + end - begin] = counts[begin:end]
            row_ends[a:b] -= begin - n
        n += end - begin
    return n
