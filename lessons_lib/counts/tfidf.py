"""TF-IDF: counts, where a word weighs the less the more texts contain it, and every row has norm 1.

The weight is tf * idf with idf = ln((1 + N) / (1 + df)) + 1, scikit-learn's smooth form; the
textbook's ln(N / df) would give a text whose words are in all texts the zero vector. Taught in
lesson ``02_bag_of_words``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..core import shown
from ..core.compiled import compiled
from ..core.errors import NotFittedError
from ..core.learned import Array
from ..core.parameters import Choice, Flag
from .bag_of_words import BagOfWords

__all__ = ["TfIdf", "as_floats", "multiply_columns", "texts_per_column"]

_CELLS_AT_ONCE = 1 << 20                     # a temporary array of all cells would double the peak


class TfIdf(BagOfWords):
    """TF-IDF weights per text; `transform` gives a sparse matrix (n_texts, n_columns) of float64.

    Notes
    -----
    Equal to scikit-learn's ``TfidfVectorizer`` for the same settings, up to the rounding of a row's
    sum (relative 1e-15).

    Examples
    --------
    >>> TfIdf().fit_transform(["the cat", "the other cat"]).toarray().round(2).tolist()
    [[0.71, 0.0, 0.71], [0.5, 0.7, 0.5]]
    """

    norm = Choice("l2", "l1", optional=True, doc="what norm a row gets; None: as it comes")
    use_idf = Flag(True, "False keeps the counts as weights")
    smooth_idf = Flag(True, "as if one more text held every word; False gives ln(N / df) + 1")
    sublinear_tf = Flag(False, "1 + ln(tf) instead of tf")

    _idf = Array("columns", dtype="f", file="idf", optional=True)

    name = "TF-IDF"
    _needs_texts = True

    @property
    def idf_(self) -> np.ndarray:
        """What each column is multiplied by, (n_columns,) float64, with use_idf."""
        if self._idf is None:
            raise NotFittedError(f"this {type(self).__name__} was fitted with use_idf=False, so it "
                                 "has no idf_; fit it with use_idf=True")
        return self._idf

    def _learn(self, documents: Iterable[str],
               keep_rows: bool) -> tuple[dict[str, Any], sparse.csr_matrix]:
        """Vocabulary and idf, and the weights."""
        learned, counts = super()._learn(documents, keep_rows=True)
        learned["_idf"] = None
        if self.use_idf:
            learned["_idf"] = _inverse_frequency(counts, learned["vocabulary_"],
                                                 smooth=self.smooth_idf)
        return learned, self._weighed(counts, learned)

    def _weighed(self, counts: sparse.csr_matrix, learned: Mapping[str, Any]) -> sparse.csr_matrix:
        """Weights in the memory of the counts."""
        weights, settings = as_floats(counts), learned["_fitted"]
        if settings["sublinear_tf"]:
            np.log(weights.data, out=weights.data)
            weights.data += 1.0
        if learned["_idf"] is not None:
            multiply_columns(weights.data, weights.indices, learned["_idf"])
        if settings["norm"] is not None:
            scale_rows(weights.data, weights.indptr, settings["norm"] == "l2")
        return weights


def _inverse_frequency(counts: sparse.csr_matrix, vocabulary: Mapping[str, int], *,
                       smooth: bool) -> np.ndarray:
    """ln((N + s) / (df + s)) + 1 with s = 1 if smooth else 0; shape (n_columns,)."""
    in_texts = texts_per_column(counts)
    if not smooth and not in_texts.all():
        word = next(token for token, column in vocabulary.items() if in_texts[column] == 0)
        raise ValueError(f"vocabulary holds {shown(word)}, which is in no document "
                         f"({int((in_texts == 0).sum())} such words), and smooth_idf=False "
                         "would divide by 0; use smooth_idf=True, or drop the word")
    return np.log((counts.shape[0] + smooth) / (in_texts + smooth)) + 1.0


def texts_per_column(counts: sparse.csr_matrix) -> np.ndarray:
    """In how many rows each column has a cell; int64, shape (n_columns,)."""
    total = np.zeros(counts.shape[1], dtype=np.int64)
    for first in range(0, counts.nnz, _CELLS_AT_ONCE):
        total += np.bincount(counts.indices[first:first + _CELLS_AT_ONCE],
                             minlength=counts.shape[1])
    return total


def as_floats(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """The matrix with float64 cells in the memory of the int64 ones, which are gone then."""
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
