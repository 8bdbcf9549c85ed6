"""BM25: a ranking of texts for a query, where a word's tenth occurrence adds little and long texts
have no advantage.

The weight of word t in text d is idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len / avglen))
with idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)), Lucene's form, which is never negative. Taught in
lesson ``02_bag_of_words``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy import sparse

from ..core import DamagedFile, Estimator, check_float, check_int
from ..core.checks import shown
from ..core.compiled import compiled
from .bag_of_words import BagOfWords
from .encoding import dense_vectors, load_counts, loaded_array, loaded_bag, save_counts
from .settings import BAG_SETTINGS, TOKEN_PATTERN
from .weights import as_floats, multiply_columns, texts_per_column

__all__ = ["BM25"]


@compiled
def _dampen(data: np.ndarray, indptr: np.ndarray, dampened: np.ndarray, k1: float) -> None:
    """tf * (k1 + 1) / (tf + dampened) for each cell, in place, with one ``dampened`` per row."""
    for row in range(indptr.size - 1):
        for cell in range(indptr[row], indptr[row + 1]):
            data[cell] *= (k1 + 1) / (data[cell] + dampened[row])


class BM25(Estimator):
    """BM25 weights per text, and search among the fitted texts.

    Parameters
        k1: how soon further occurrences stop counting, >= 0 (0: presence only). b: how far length
        counts, in [0, 1]. The others are those of `BagOfWords`.
    Attributes
        vocabulary_: dict token -> column. idf_: (n_columns,). average_length_: tokens per fitted
        text. weights_: CSR (n_texts, n_columns), the fitted texts.
    Notes
        The length of a text is the number of its tokens that are in the vocabulary. The score of a
        text for a query is the sum of the weights of the query's words, a repeated word counting
        each time.

    >>> BM25().fit(["the cat sat", "the dog sat", "a bird"]).search("dog", k=1)[0][0]
    1
    """

    name = "BM25"

    def __init__(self, ngram_range: tuple[int, int] = (1, 1), *, k1: float = 1.5, b: float = 0.75,
                 min_df: int | float = 1, max_df: int | float = 1.0, max_features: int
                 | None = None, lowercase: bool = True, token_pattern: str = TOKEN_PATTERN,
                 analyzer: str = "word", stop_words: str | Iterable[str] | None = None,
                 vocabulary: Mapping[str, int] | Iterable[str] | None = None,
                 normalise: str | None = None, threads: int | None = None):
        self.ngram_range, self.k1, self.b = ngram_range, k1, b
        self.min_df, self.max_df, self.max_features = min_df, max_df, max_features
        self.lowercase, self.token_pattern, self.analyzer, self.stop_words = lowercase, token_pattern, analyzer, stop_words
        self.vocabulary, self.normalise, self.threads = vocabulary, normalise, threads

    def _bag(self) -> BagOfWords:
        check_float("k1", self.k1, low=0.0)
        check_float("b", self.b, low=0.0, high=1.0)
        return BagOfWords(**{name: getattr(self, name) for name in BAG_SETTINGS})

    def fit(self, documents: Iterable[str]) -> BM25:
        """Learn vocabulary, idf and mean length, and keep the texts' weights for `search`.

        Returns self. Raises as `BagOfWords.fit`.
        """
        self._fit(documents)
        return self

    def fit_transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """As `fit`, and return a copy of the texts' weights: CSR (n_texts, n_columns), float64."""
        self._fit(documents)
        return self.weights_.copy()

    def _fit(self, documents: Iterable[str]) -> None:
        bag = self._bag()
        counts = bag.fit_transform(documents)
        in_texts = texts_per_column(counts)
        idf = np.log1p((counts.shape[0] - in_texts + 0.5) / (in_texts + 0.5))
        self._learned(bag, idf, counts.sum() / counts.shape[0])
        self.weights_ = self._weighed(counts)

    def _learned(self, bag: BagOfWords, idf: np.ndarray, average_length: float) -> None:
        self._fitted_bag, self.vocabulary_, self.idf_, self.average_length_ = bag, bag.vocabulary_, idf, float(
            average_length)
        self._fitted_settings = self.get_params()  # a later `set_params` counts at the next fit

    def transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """The weights of texts under the fitted idf and mean length. Returns CSR (n_texts,
        n_columns), float64; 0 texts give 0 rows.

        Raises NotFittedError, TypeError (not texts). A text without a known token is a zero row;
        one DataWarning gives number and first index.
        """
        self._check_fitted("vocabulary_")
        return self._weighed(self._fitted_bag.transform(documents))

    def _weighed(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        # no text with a known token: all rows are zeros
        length = np.asarray(counts.sum(axis=1)).ravel() / (self.average_length_ or 1.0)
        weights = as_floats(counts)
        k1, b = float(self._fitted_settings["k1"]), float(self._fitted_settings["b"])
        _dampen(weights.data, weights.indptr, k1 * (1 - b + b * length), k1)
        multiply_columns(weights.data, weights.indices, self.idf_)
        return weights

    # -------------------------------------------------------------------------- search

    def scores(self, queries: Iterable[str]) -> np.ndarray:
        """BM25 score of every fitted text for every query.

        Returns (n_queries, n_texts) float64. Raises as `transform`; one str is refused.
        """
        self._check_fitted("weights_")
        counts = self._fitted_bag.transform(queries).astype(np.float64)
        return np.asarray((counts @ self.weights_.T).todense())

    def search(self, query: str, *, k: int = 10) -> list[tuple[int, float]]:
        """The k fitted texts that score best for one query, best first; equal scores in the texts'
        order.

        Returns (index, score) pairs, fewer than k when there are fewer texts. A query without a
        known word scores 0 everywhere, with one DataWarning. Raises NotFittedError, TypeError
        (query is not one str), ValueError (k below 1).
        """
        k = check_int("k", k)
        if not isinstance(query, str):
            raise TypeError(f"query={shown(query)} is {type(query).__name__}; expected one str. "
                            "For many queries use scores")
        scores = self.scores([query])[0]
        return [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable")[:k]]

    # -------------------------------------------------------------------------- encoder, files

    @property
    def dim(self) -> int:
        """Number of columns."""
        self._check_fitted("vocabulary_")
        return len(self.vocabulary_)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """BM25 weights as dense vectors.

        Returns (n, dim) float32. Raises as `transform`, and MemoryError when the result cannot fit.
        """
        return dense_vectors(self.transform, texts, dim=self.dim, batch_size=batch_size,
                             progress=progress)

    def save(self, path: str | os.PathLike) -> None:
        """Write settings, vocabulary, idf and the fitted texts' weights into a folder.

        Raises NotFittedError, OSError.
        """
        self._check_fitted("weights_")
        weights = self.weights_
        arrays = {
            "idf": self.idf_, "weights": weights.data, "weight_columns": weights.indices,
            "weight_ends": weights.indptr
        }
        save_counts(path, self, self.vocabulary_, arrays, {"average_length": self.average_length_})

    @classmethod
    def load(cls, path: str | os.PathLike) -> BM25:
        """Read a folder that `save` wrote.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        estimator, vocabulary, arrays, extra = load_counts(path, cls)
        bag, length = loaded_bag(path, estimator, vocabulary), extra.get("average_length")
        if type(length) is not float or not 0 <= length < np.inf:
            raise DamagedFile(f"{path} gives average_length={shown(length)}; expected a number >= "
                              "0. Save the model again")
        estimator._learned(bag, loaded_array(path, arrays, "idf", shape=(len(vocabulary),)), length)
        estimator.weights_ = _loaded_weights(path, arrays, len(vocabulary))
        return estimator


def _loaded_weights(path: str | os.PathLike, arrays: Mapping[str, np.ndarray],
                    n_columns: int) -> sparse.csr_matrix:
    n, n_ends = (arrays[name].size if name in arrays else 0 for name in ("weights", "weight_ends"))
    data, columns = loaded_array(path, arrays, "weights", shape=(n, )), loaded_array(
        path, arrays, "weight_columns", shape=(n, ), kind="i")
    ends = loaded_array(path, arrays, "weight_ends", shape=(max(n_ends, 1),), kind="i")
    if n and (columns.min() < 0 or columns.max() >= n_columns):
        raise DamagedFile(f"{path}: array 'weight_columns' holds {columns.min()} to "
                          f"{columns.max()}; expected columns in [0, {n_columns - 1}]")
    if ends[0] != 0 or ends[-1] != n or (ends[1:] < ends[:-1]).any():
        raise DamagedFile(f"{path}: array 'weight_ends' does not rise from 0 to the {n} weights. "
                          "Save the model again")
    return sparse.csr_matrix((data, columns, ends), shape=(len(ends) - 1, n_columns))
