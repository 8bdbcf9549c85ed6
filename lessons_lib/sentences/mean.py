"""The mean of a text's word vectors, each word alike or weighted by how few texts hold it.

Order is forgotten, as in a bag of words, but words that mean the same now count as nearly the same.
Frequent words say little and fill most of a sentence; inverse document frequency turns them down.
Taught in lesson ``06_sif_and_usif``; a row of the leaderboard from lesson 04 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from ..core.errors import NotFittedError
from ..core.learned import Array
from ..core.parameters import Choice
from ..text.corpus import Corpus
from ..text.string_table import Index
from .pooling import WeightedMean, WordPooling, numbered_documents
from .sums import add_documents_per_word

__all__ = ["MeanEncoder"]


class MeanEncoder(WordPooling):
    """Mean of the word vectors of each text.

    Notes
    -----
    Σ_w g(w) v_w / Σ_w g(w). A text without a known word is a zero vector, whose cosine counts as
    0, with one DataWarning. "uniform" needs no `fit`.

    Examples
    --------
    >>> vectors = WordVectors(["good", "film"], [[2.0, 0.0], [0.0, 4.0]])
    >>> MeanEncoder(vectors).encode(["A good film!", "good, good"]).tolist()
    [[1.0, 2.0], [2.0, 0.0]]
    """

    name = "mean of word vectors"

    weights = Choice("uniform", "idf", "tfidf", positional=2, doc="'uniform', g = 1 for every "
                     "token; 'tfidf', g = idf for every token, so that a word counts as often as "
                     "it occurs; 'idf', g = idf and every distinct word once")

    idf_ = Array("tokens", dtype="float64", file="idf", optional=True, doc="of each word of "
                 "``vectors``, ln((1 + N) / (1 + df)) + 1 over the N texts of `fit`")

    def fit(self, texts: Iterable[str] | Corpus) -> Self:
        """Count in how many texts each word occurs.

        Parameters
        ----------
        texts : iterable of str, read once, or text.Corpus

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, texts that are none, no texts, no known word in any.
        """
        settings = self._check_settings()
        index = Index(settings["vectors"].tokens)
        corpus, row_of = self._checked_corpus(texts, settings, index)
        in_texts = np.zeros(len(row_of), dtype=np.int64)
        for ids, ends in numbered_documents(corpus):
            add_documents_per_word(ids, ends, in_texts)
        frequency = np.zeros(len(index.tokens))
        frequency[row_of[row_of >= 0]] = in_texts[row_of >= 0]
        self.idf_ = np.log((1 + len(corpus)) / (1 + frequency)) + 1
        self._prepare(settings, index)
        return self

    def _pooling_of(self, settings: dict[str, Any], index: Index) -> WeightedMean:
        kind, vectors = settings["weights"], settings["vectors"]
        weights = np.ones(len(vectors)) if kind == "uniform" else self.idf_
        return WeightedMean(vectors, index, weights.astype(np.float32), once=kind == "idf",
                            per_weight=True)

    def _ready(self) -> dict[str, Any]:
        settings = self._check_settings()
        if hasattr(self, "idf_"):                # what was fitted stays until the next fit
            return settings
        if settings["weights"] != "uniform":
            raise NotFittedError(f"this MeanEncoder with weights={self.weights!r} is not fitted "
                                 "yet; call fit(texts) first")
        return super()._ready()

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        if self.idf_ is None:
            del self.idf_
            if self.weights != "uniform":
                raise ValueError("the array 'idf' is missing")
        super()._after_load(arrays, extra)
