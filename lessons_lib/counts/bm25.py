"""BM25: a ranking of texts for a query, where a word's tenth occurrence adds little and long texts
have no advantage.

The weight of word t in text d is idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len / avglen))
with idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)), Lucene's form, which is never negative. Taught in
lesson ``02_bag_of_words``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..core import check_float, check_int, shown
from ..core.compiled import compiled
from ..core.learned import Array, Learned, checked_array
from ..core.parameters import Float
from .bag_of_words import BagOfWords
from .tfidf import as_floats, multiply_columns, texts_per_column

__all__ = ["BM25"]


@compiled
def _dampen(data: np.ndarray, indptr: np.ndarray, dampened: np.ndarray, k1: float) -> None:
    """tf * (k1 + 1) / (tf + dampened) for each cell, in place, with one ``dampened`` per row."""
    for row in range(indptr.size - 1):
        for cell in range(indptr[row], indptr[row + 1]):
            data[cell] *= (k1 + 1) / (data[cell] + dampened[row])


class _Length(Learned):
    """A number >= 0 in the JSON of a saved model."""

    def pack(self, value: float) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {}, {self.file: float(value)}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> float:
        value = extra.get(self.file)
        if type(value) is not float:
            raise TypeError(f"{self.file}={shown(value)} is no number")
        return check_float(self.file, value, low=0.0)


class _Rows(Learned):
    """A sparse matrix, kept as its three arrays."""

    def pack(self, value: sparse.csr_matrix) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"weights": value.data, "weight_columns": value.indices,
                "weight_ends": value.indptr}, {}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> sparse.csr_matrix:
        data = checked_array(arrays, "weights", "cells", dtype="f", sizes=sizes)
        columns = checked_array(arrays, "weight_columns", "cells", dtype="i", sizes=sizes)
        ends = checked_array(arrays, "weight_ends", "texts + 1", dtype="i", sizes=sizes)
        if len(data) and (columns.min() < 0 or columns.max() >= sizes["columns"]):
            raise ValueError(f"array 'weight_columns' holds {columns.min()} to {columns.max()}; "
                             f"expected columns in [0, {sizes['columns'] - 1}]")
        if len(ends) == 0 or ends[0] != 0 or ends[-1] != len(data) or (ends[1:] < ends[:-1]).any():
            raise ValueError(f"array 'weight_ends' does not rise from 0 to the {len(data)} weights")
        return sparse.csr_matrix((data, columns, ends), shape=(len(ends) - 1, sizes["columns"]))


class BM25(BagOfWords):
    """BM25 weights per text, and search among the fitted texts.

    Notes
    -----
    The length of a text is the number of its tokens that are in the vocabulary. The score of a text
    for a query is the sum of the weights of the query's words, a repeated word counting each time.

    Examples
    --------
    >>> BM25().fit(["the cat sat", "the dog sat", "a bird"]).search("dog", k=1)[0][0]
    1
    """

    k1 = Float(1.5, "how soon further occurrences stop counting; 0: presence only", low=0)
    b = Float(0.75, "how far length counts", low=0, high=1)
    binary = False                               # no setting here

    idf_ = Array("columns", dtype="f", file="idf")
    average_length_ = _Length("float", "tokens per fitted text", file="average_length")
    weights_ = _Rows("(n_texts, n_columns) CSR of float64", "the fitted texts", file="weights")

    name = "BM25"
    _needs_texts = True

    def _learn(self, documents: Iterable[str],
               keep_rows: bool) -> tuple[dict[str, Any], sparse.csr_matrix | None]:
        """Vocabulary, idf, mean length and the texts' weights, and a copy of these."""
        learned, counts = super()._learn(documents, keep_rows=True)
        in_texts = texts_per_column(counts)
        learned["idf_"] = np.log1p((counts.shape[0] - in_texts + 0.5) / (in_texts + 0.5))
        learned["average_length_"] = float(counts.sum() / counts.shape[0])
        learned["weights_"] = self._weighed(counts, learned)
        return learned, learned["weights_"].copy() if keep_rows else None

    def _weighed(self, counts: sparse.csr_matrix, learned: Mapping[str, Any]) -> sparse.csr_matrix:
        """Weights in the memory of the counts."""
        # no text with a known token: all rows are zeros
        length = np.asarray(counts.sum(axis=1)).ravel() / (learned["average_length_"] or 1.0)
        weights = as_floats(counts)
        k1, b = (float(learned["_fitted"][name]) for name in ("k1", "b"))
        _dampen(weights.data, weights.indptr, k1 * (1 - b + b * length), k1)
        multiply_columns(weights.data, weights.indices, learned["idf_"])
        return weights

    def scores(self, queries: Iterable[str]) -> np.ndarray:
        """BM25 score of every fitted text for every query.

        Parameters
        ----------
        queries : iterable of str
            Not one str.

        Returns
        -------
        (n_queries, n_texts) float64

        Raises
        ------
        NotFittedError, TypeError
            As `transform`.
        """
        self._check_fitted("weights_")
        counts = self._counts_of(queries).astype(np.float64)
        return np.asarray((counts @ self.weights_.T).todense())

    def search(self, query: str, *, k: int = 10) -> list[tuple[int, float]]:
        """The k fitted texts that score best for one query, best first.

        Equal scores come in the texts' order. A query without a known word scores 0 everywhere,
        with one DataWarning.

        Parameters
        ----------
        query : str
        k : int >= 1, default 10

        Returns
        -------
        list of (index, score)
            Fewer than k where there are fewer texts.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            Not fitted; query is not one str; k below 1.
        """
        k = check_int("k", k)
        if not isinstance(query, str):
            raise TypeError(f"query={shown(query)} is {type(query).__name__}; expected one str. "
                            "For many queries use scores")
        scores = self.scores([query])[0]
        return [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable")[:k]]
