"""SIF: frequent words count less, and what all sentences share is taken away.

If a sentence is a slow random walk whose words are drawn near where the walk is, and sometimes
merely by their frequency, the likeliest place is a weighted mean: a/(a + p(w)) for a word of
frequency p(w). The strongest direction of all sentences, which holds syntax and function words, is
then removed. Taught in lesson ``06_sif_and_usif``. [arora2017simple]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.parameters import Float, Int
from ..text.corpus import Corpus
from ..text.frequencies import Frequencies
from ..text.string_table import Index
from .weighted import WeightedSentences

__all__ = ["SIF"]


class SIF(WeightedSentences):
    """Smooth inverse frequency: a weighted mean without the common directions.

    Notes
    -----
    v_s = 1/|s| Σ_w a/(a + p(w)) v_w, then v_s ← v_s - Σ_i ⟨v_s, c_i⟩ c_i, with c_i the right
    singular vectors of the uncentred matrix of sentence vectors; words without a vector count
    neither in the sum nor in |s|. A word that is not counted has p = 0, weight 1. A text without a
    known word is zeros. Deviations from the authors' program: words without a vector are left out
    instead of getting that of another word; the singular vectors are exact.
    [arora2017simple, Algorithm 1]
    """

    name = "SIF"

    a = Float(1e-3, "the smaller, the less a frequent word counts; ∞ is the mean", above=0,
              positional=2)
    n_components = Int(1, "how many directions c_i are removed; 0 removes none", low=0,
                       positional=3)

    def _learn_weights(self, settings: Mapping[str, Any], frequencies: Frequencies, index: Index,
                       corpus: Corpus | None) -> None:
        self.probabilities_ = frequencies.of_rows(index, unseen=0.0)
        self.weights_ = settings["a"] / (settings["a"] + self.probabilities_)

    def _shares(self, singular_values: np.ndarray) -> np.ndarray:
        return np.ones(len(singular_values))
