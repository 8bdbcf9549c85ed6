"""TF-IDF: counts, where a word weighs the less the more texts contain it, and every row has norm 1.

The weight is tf * idf with idf = ln((1 + N) / (1 + df)) + 1, scikit-learn's smooth form; the
textbook's ln(N / df) would give a text whose words are in all texts the zero vector. Taught in
lesson ``02_bag_of_words``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

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

    def fit(self, documents: Iterable[str]) -> Self:
        """Learn vocabulary and idf.

        Parameters
        ----------
        documents : iterable of str
            Read once.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            As `BagOfWords.fit`; with smooth_idf=False a given word that is in no text.
        """
        self.fit_transform(documents)
        return self

    def fit_transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Learn vocabulary and idf, and weigh, in one pass.

        Parameters
        ----------
        documents : iterable of str

        Returns
        -------
        (n_texts, n_columns) CSR of float64

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        learned, counts = self._learn(documents, keep_rows=True)
        idf = (_inverse_frequency(counts, learned["vocabulary_"], smooth=self.smooth_idf)
               if self.use_idf else None)
        vars(self).update(learned, _idf=idf)
        return self._weighed(counts)

    def transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Weigh the tokens that are in the vocabulary.

        Parameters
        ----------
        documents : iterable of str
            0 texts give 0 rows.

        Returns
        -------
        (n_texts, n_columns) CSR of float64

        Raises
        ------
        NotFittedError, TypeError
            Not fitted; not texts.

        Warns
        -----
        DataWarning
            Texts without a known token, which are zero rows: how many, and the first.
        """
        return self._weighed(super().transform(documents))

    def _weighed(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Weights in the memory of the counts."""
        weights = as_floats(counts)
        if self._fitted["sublinear_tf"]:
            np.log(weights.data, out=weights.data)
            weights.data += 1.0
        if self._idf is not None:
            multiply_columns(weights.data, weights.indices, self._idf)
        if self._fitted["norm"] is not None:
            scale_rows(weights.data, weights.indptr, self._fitted["norm"] == "l2")
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
