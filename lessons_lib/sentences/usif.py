"""uSIF: SIF without a number to tune, and with directions that are removed in proportion to their
strength.

In a random walk by angle rather than by inner product long vectors no longer distort how likely a
word is; then a follows from the size of the vocabulary and the length of sentences. Five directions
are removed, each by its share of their squared singular values. Taught in lesson
``06_sif_and_usif``. [ethayarajh2018unsupervised]
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.checks import warn_data
from ..core.learned import Array
from ..core.parameters import Choice, Float, Int
from ..text.corpus import Corpus
from ..text.frequencies import Frequencies
from ..text.string_table import Index
from .pooling import WeightedMean
from .weighted import WeightedSentences

__all__ = ["USIF", "usif_a"]

ABOVE = 1 + 1e-12  # equal numbers that were rounded apart are not above one another


def usif_a(shares: np.ndarray, sentence_length: float) -> float:
    """The a of uSIF, from the frequencies of words and the length of sentences.

    a = (1 - α)/(α V/2), α the share of words with p(w) > 1 - (1 - 1/V)^n: those likelier than to be
    seen at all in n uniform draws.

    Parameters
    ----------
    shares : (V,) float
        p(w) of all words.
    sentence_length : float >= 1
        n.

    Returns
    -------
    float
        Infinity where no word is so frequent; all weights are then 2.

    Examples
    --------
    >>> round(usif_a(np.array([0.5, 0.3, 0.1, 0.05, 0.05]), 2), 12)
    1.6
    """
    n_words = len(shares)
    threshold = 1.0 if n_words == 1 else -math.expm1(sentence_length * math.log1p(-1 / n_words))
    alpha = float(np.mean(shares > threshold * ABOVE))
    return (1 - alpha) / (alpha * n_words / 2) if alpha > 0 else math.inf


class USIF(WeightedSentences):
    """Unsupervised SIF: weights without a number to tune, directions removed by their strength.

    Notes
    -----
    v_s = 1/|s| Σ_w a/(a/2 + p(w)) v_w, then v_s ← v_s - Σ_i λ_i ⟨v_s, c_i⟩ c_i with
    λ_i = σ_i²/Σ_j σ_j². A word that is not counted is taken to be as rare as the rarest that is. A
    text without a known word is zeros; the authors' program gives it a in each dimension.
    [ethayarajh2018unsupervised, Sec. 3]
    """

    name = "uSIF"

    n_components = Int(5, "how many directions c_i are removed; 0 removes none", low=0,
                       positional=2)
    sentence_length = Float(None, "n, words of an average sentence; None takes that of the texts "
                                  "of `fit` (the authors set 11 for the STS sets)", low=1)
    normalise = Choice("none", "words", "dimensions", doc="'words', every word vector has norm 1; "
                       "'dimensions', each dimension of a sentence is divided by its norm over the "
                       "sentence's words, as in the authors' program, so that a sentence of one "
                       "word has the entries 1 and -1")

    _numbers = Array(2, dtype="float64", file="numbers")     # a, 0 for infinity, and n

    @property
    def a_(self) -> float:
        """As `usif_a` gives it."""
        return float(self._numbers[0]) or math.inf

    @property
    def sentence_length_(self) -> float:
        """n, the length of sentences that was used."""
        return float(self._numbers[1])

    def _needs_texts(self, settings: Mapping[str, Any]) -> bool:
        return settings["sentence_length"] is None or super()._needs_texts(settings)

    def _learn_weights(self, settings: Mapping[str, Any], frequencies: Frequencies, index: Index,
                       corpus: Corpus | None) -> None:
        self.probabilities_ = frequencies.of_rows(index, unseen=frequencies.shares.min())
        length = settings["sentence_length"]
        if length is None:                       # words per text that has any
            length = corpus.n_tokens / int(np.count_nonzero(np.diff(corpus.offsets)))
        a = usif_a(frequencies.shares, length)
        self._numbers = np.array([a if math.isfinite(a) else 0.0, length])
        if math.isfinite(a):
            self.weights_ = a / (a / 2 + self.probabilities_)
            return
        warn_data(f"none of {len(frequencies.words)} words is frequent enough for sentences of "
                  f"{length:.3g} words to give uSIF's a; all words weigh the same", stacklevel=3)
        self.weights_ = np.full(len(index.tokens), 2.0)

    def _pooling_of(self, settings: dict[str, Any], index: Index) -> WeightedMean:
        weights = self.weights_
        if settings["normalise"] == "words":
            norms = np.linalg.norm(settings["vectors"].matrix.astype(np.float64), axis=1)
            weights = np.divide(weights, norms, out=np.zeros_like(weights), where=norms > 0)
        return WeightedMean(settings["vectors"], index, weights.astype(np.float32),
                            per_dimension=settings["normalise"] == "dimensions")

    def _shares(self, singular_values: np.ndarray) -> np.ndarray:
        squares = (singular_values / singular_values.max(initial=1e-300)) ** 2
        return squares / max(squares.sum(), 1e-300)
