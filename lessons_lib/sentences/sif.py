"""SIF: frequent words count less, and what all sentences share is taken away.

If a sentence is a slow random walk whose words are drawn near where the walk is, and sometimes
merely by their frequency, the likeliest place is a weighted mean: a/(a + p(w)) for a word of
frequency p(w). The strongest direction of all sentences, which holds syntax and function words, is
then removed. Taught in lesson ``06_sif_and_usif``. [arora2017simple]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import check_float
from ..text import Corpus
from ..vectors import WordVectors
from .averaging import Index
from .frequencies import Frequencies
from .saved import loaded_numbers
from .weighted import WeightedSentences

__all__ = ["SIF"]


class SIF(WeightedSentences):
    """Smooth inverse frequency: v_s = 1/|s| Σ_w a/(a + p(w)) v_w, then v_s ← v_s - Σ_i ⟨v_s, c_i⟩
    c_i.

    Parameters
        vectors: `WordVectors`; words without one are left out of the sum and of |s|. a: the
        smaller, the less a frequent word counts; ∞ is the mean. n_components: how many directions
        c_i are removed; 0 removes none. counts: how frequent words are, as a mapping from word to
        count, a `text.Vocabulary` or ``datasets.load("enwiki-frequencies")``; None counts the texts
        of `fit`. A word not among them has p = 0, weight 1. components: "corpus" finds the
        directions in the texts of `fit` and keeps them, so that a text has one vector whatever its
        company; "batch" finds them anew in the texts of each `encode`, as the authors do with the
        very sentences they evaluate. Two texts of a batch end as one line: their cosine is -1 or 1.
        tokenizer, threads: as in `MeanEncoder`.
    Attributes
        weights_: (V,) float64, a/(a + p). probabilities_: (V,) float64. components_: (m, dim)
        float64, orthonormal, and singular_values_: (m,), with components="corpus"; m is less than
        ``n_components`` where the texts are too alike.
    Notes
        The directions are the right singular vectors of the uncentred matrix of sentence vectors. A
        text without a known word is zeros. Deviations from the authors' program: words without a
        vector are left out instead of getting that of another word; the singular vectors are exact.
    References: [arora2017simple, Algorithm 1]
    """

    name = "SIF"

    def __init__(self, vectors: WordVectors, a: float = 1e-3, n_components: int = 1, *,
                 counts: Any = None, components: str = "corpus", tokenizer: Any = None,
                 threads: int | None = None):
        self.vectors, self.a, self.n_components, self.counts, self.components = vectors, a, n_components, counts, components
        self.tokenizer, self.threads = tokenizer, threads

    def _check_settings(self) -> None:
        check_float("a", self.a, low=0, open_low=True)

    def _learn_weights(self, frequencies: Frequencies, index: Index,
                       corpus: Corpus | None) -> np.ndarray:
        self.probabilities_ = frequencies.of_rows(index, unseen=0.0)
        return self.a / (self.a + self.probabilities_)

    def _shares(self, singular_values: np.ndarray) -> np.ndarray:
        return np.ones(len(singular_values))

    def _learned_arrays(self) -> dict[str, np.ndarray]:
        return {"probabilities": self.probabilities_}

    def _restore(self, path: Any, arrays: dict[str, np.ndarray]) -> None:
        self.probabilities_ = loaded_numbers(path, arrays, "probabilities",
                                             shape=(len(self.vectors), ))
