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
from ..core.errors import NotFittedError
from ..core.learned import Array
from ..core.parameters import Choice, Flag
from .bag_of_words import BagOfWords
from .weights import as_floats, multiply_columns, scale_rows, texts_per_column

__all__ = ["TfIdf"]


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
