"""TF-IDF: counts, where a word weighs the less the more texts contain it, and every row has length
1.

The weight is tf * idf with idf = ln((1 + N) / (1 + df)) + 1, scikit-learn's smooth form; the
textbook's ln(N / df) would give a text whose words are in all texts the zero vector. Taught in
lesson ``02_bag_of_words``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy import sparse

from ..core import Estimator, check_choice
from ..core.checks import shown
from .bag_of_words import BagOfWords
from .encoding import dense_vectors, load_counts, loaded_array, loaded_bag, save_counts
from .settings import BAG_SETTINGS, TOKEN_PATTERN
from .weights import as_floats, multiply_columns, scale_rows, texts_per_column

__all__ = ["TfIdf"]


class TfIdf(Estimator):
    """TF-IDF weights per text; `transform` gives a sparse matrix (n_texts, n_columns) of float64.

    Parameters
        All of `BagOfWords`, and: norm, "l2", "l1" or None: what length a row gets. use_idf: False
        keeps the counts as weights. smooth_idf: as if one more text held every word; False gives
        ln(N / df) + 1. sublinear_tf: 1 + ln(tf) instead of tf.
    Attributes
        vocabulary_: dict token -> column. idf_: (n_columns,), with use_idf.
    Notes
        Equal to scikit-learn's ``TfidfVectorizer`` for the same settings, up to the rounding of a
        row's sum (relative 1e-15).

    >>> TfIdf().fit_transform(["the cat", "the other cat"]).toarray().round(2).tolist()
    [[0.71, 0.0, 0.71], [0.5, 0.7, 0.5]]
    """

    name = "TF-IDF"

    def __init__(self, ngram_range: tuple[int, int] = (1, 1), *, norm: str | None = "l2",
                 use_idf: bool = True, smooth_idf: bool = True, sublinear_tf: bool = False,
                 min_df: int | float = 1, max_df: int | float = 1.0, max_features: int
                 | None = None, lowercase: bool = True, token_pattern: str = TOKEN_PATTERN,
                 analyzer: str = "word", stop_words: str | Iterable[str] | None = None,
                 vocabulary: Mapping[str, int] | Iterable[str] | None = None, binary: bool = False,
                 normalise: str | None = None, threads: int | None = None):
        self.norm, self.use_idf, self.smooth_idf, self.sublinear_tf = norm, use_idf, smooth_idf, sublinear_tf
        self.ngram_range, self.min_df, self.max_df, self.max_features = ngram_range, min_df, max_df, max_features
        self.lowercase, self.token_pattern, self.analyzer, self.stop_words = lowercase, token_pattern, analyzer, stop_words
        self.vocabulary, self.binary, self.normalise, self.threads = vocabulary, binary, normalise, threads

    def _bag(self) -> BagOfWords:
        if self.norm is not None:
            check_choice("norm", self.norm, ["l1", "l2"])
        for name in ("use_idf", "smooth_idf", "sublinear_tf"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}={shown(getattr(self, name))} is "
                                f"{type(getattr(self, name)).__name__}; expected True or False")
        return BagOfWords(**{name: getattr(self, name) for name in (*BAG_SETTINGS, "binary")})

    def fit(self, documents: Iterable[str]) -> TfIdf:
        """Learn vocabulary and idf.

        Parameters: documents, any iterable of str, read once. Returns self. Raises as
        `BagOfWords.fit`.
        """
        self.fit_transform(documents)
        return self

    def fit_transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Learn vocabulary and idf, and weigh, in one pass.

        Returns CSR (n_texts, n_columns), float64. Raises as `fit`.
        """
        bag = self._bag()
        counts = bag.fit_transform(documents)
        idf = _idf(counts, bag.vocabulary_, smooth=self.smooth_idf) if self.use_idf else None
        self._learned(bag, idf)
        return self._weighed(counts)

    def _learned(self, bag: BagOfWords, idf: np.ndarray | None) -> None:
        self._fitted_bag, self.vocabulary_, self._fitted_settings = bag, bag.vocabulary_, self.get_params(
        )
        vars(self).pop("idf_", None)
        if idf is not None:
            self.idf_ = idf

    def transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Weigh the tokens that are in the vocabulary. Returns CSR (n_texts, n_columns), float64; 0
        texts give 0 rows.

        Raises NotFittedError, TypeError (not texts). A text without a known token is a zero row;
        one DataWarning gives number and first index.
        """
        self._check_fitted("vocabulary_")
        return self._weighed(self._fitted_bag.transform(documents))

    def _weighed(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        weights = as_floats(counts)
        settings = self._fitted_settings          # a later `set_params` counts at the next fit
        if settings["sublinear_tf"]:
            np.log(weights.data, out=weights.data)
            weights.data += 1.0
        if hasattr(self, "idf_"):
            multiply_columns(weights.data, weights.indices, self.idf_)
        if settings["norm"] is not None:
            scale_rows(weights.data, weights.indptr, settings["norm"] == "l2")
        return weights

    @property
    def dim(self) -> int:
        """Number of columns."""
        self._check_fitted("vocabulary_")
        return len(self.vocabulary_)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """TF-IDF vectors, dense.

        Returns (n, dim) float32. Raises as `transform`, and MemoryError when the result cannot fit.
        """
        return dense_vectors(self.transform, texts, dim=self.dim, batch_size=batch_size,
                             progress=progress)

    def save(self, path: str | os.PathLike) -> None:
        """Write settings, vocabulary and idf into a folder. Raises NotFittedError, OSError."""
        self._check_fitted("vocabulary_")
        save_counts(path, self, self.vocabulary_,
                    {"idf": self.idf_} if hasattr(self, "idf_") else {})

    @classmethod
    def load(cls, path: str | os.PathLike) -> TfIdf:
        """Read a folder that `save` wrote.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        estimator, vocabulary, arrays, _ = load_counts(path, cls)
        bag = loaded_bag(path, estimator, vocabulary)
        estimator._learned(
            bag,
            loaded_array(path, arrays, "idf", shape=(len(vocabulary), ))
            if estimator.use_idf else None)
        return estimator


def _idf(counts: sparse.csr_matrix, vocabulary: Mapping[str, int], *, smooth: bool) -> np.ndarray:
    """ln((N + s) / (df + s)) + 1 with s = 1 if smooth else 0; shape (n_columns,)."""
    in_texts = texts_per_column(counts)
    if not smooth and not in_texts.all():
        word = next(token for token, column in vocabulary.items() if in_texts[column] == 0)
        raise ValueError(f"vocabulary holds {shown(word)}, which is in no document "
                         f"({int((in_texts == 0).sum())} such words), and smooth_idf=False "
                         "would divide by 0; use smooth_idf=True, or drop the word")
    return np.log((counts.shape[0] + smooth) / (in_texts + smooth)) + 1.0
