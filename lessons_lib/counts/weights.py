"""From counts to weights without a second matrix: cells are rewritten where they lie, many at a
time.

A matrix of a million texts is hundreds of megabytes; each temporary array of its size would double
the peak. Used by `TfIdf` and `BM25`.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..core.compiled import compiled

__all__ = ["as_floats", "multiply_columns", "scale_rows", "texts_per_column"]

_CELLS_AT_ONCE = 1 << 20


def texts_per_column(counts: sparse.csr_matrix) -> np.ndarray:
    """In how many rows each column has a cell; int64, shape (n_columns,)."""
    total = np.zeros(counts.shape[1], dtype=np.int64)
    for first in range(0, counts.nnz, _CELLS_AT_ONCE):
        total += np.bincount(counts.indices[first:first + _CELLS_AT_ONCE],
                             minlength=counts.shape[1])
    return total


def as_floats(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """The matrix with float64 cells in the memory of the int64 ones; ``counts`` must not be used
    afterwards.
    """
    floats = counts.data.view(np.float64)
    for first in range(0, counts.nnz, _CELLS_AT_ONCE):
        part = slice(first, first + _CELLS_AT_ONCE)
        floats[part] = counts.data[part].astype(np.float64)
    weights = sparse.csr_matrix(counts.shape, dtype=np.float64)
    weights.data, weights.indices, weights.indptr = floats, counts.indices, counts.indptr
    weights.has_sorted_indices = weights.has_canonical_format = True
    return weights


@compiled
def multiply_columns(data: np.ndarray, indices: np.ndarray, factors: np.ndarray) -> None:
    """Multiply each cell by its column's factor, in place."""
    for cell in range(data.size):
        data[cell] *= factors[indices[cell]]


@compiled
def scale_rows(data: np.ndarray, indptr: np.ndarray, square: bool) -> None:
    """Divide each row by its L2 (``square``) or L1 length, in place; zero rows stay."""
    for row in range(indptr.size - 1):
        total = 0.0
        for cell in range(indptr[row], indptr[row + 1]):
            total += data[cell] * data[cell] if square else abs(data[cell])
        if total > 0:
            length = np.sqrt(total) if square else total
            for cell in range(indptr[row], indptr[row + 1]):
                data[cell] /= length
