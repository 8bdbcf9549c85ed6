"""uSIF: SIF without a number to tune, and with directions that are removed in proportion to their
strength.

In a random walk by angle rather than by inner product long vectors no longer distort how likely a
word is; then a follows from the size of the vocabulary and the length of sentences. Five directions
are removed, each by its share of their squared singular values. Taught in lesson
``06_sif_and_usif``. [ethayarajh2018unsupervised]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import check_choice, check_float, warn_data
from ..text import Corpus
from ..vectors import WordVectors
from .averaging import Averaging, Index
from .frequencies import Frequencies
from .saved import loaded_numbers
from .weighted import WeightedSentences

__all__ = ["NORMALISATIONS", "USIF", "usif_a"]

NORMALISATIONS = ("none", "words", "dimensions")
_ABOVE = 1 + 1e-12  # equal numbers that were rounded apart are not above one another


def usif_a(shares: np.ndarray, sentence_length: float) -> float:
    """a = (1 - α)/(α V/2), α the share of words with p(w) > 1 - (1 - 1/V)^n: those likelier than to
    be seen at all in n uniform draws.

    Parameters: shares, p of all V words; sentence_length, n >= 1. Returns infinity where no word is
    so frequent; all weights are then 2.

    >>> round(usif_a(np.array([0.5, 0.3, 0.1, 0.05, 0.05]), 2), 12)
    1.6
    """
    n_words = len(shares)
    threshold = 1.0 if n_words == 1 else -math.expm1(sentence_length * math.log1p(-1 / n_words))
    alpha = float(np.mean(shares > threshold * _ABOVE))
    return (1 - alpha) / (alpha * n_words / 2) if alpha > 0 else math.inf


class USIF(WeightedSentences):
    """Unsupervised SIF: v_s = 1/|s| Σ_w a/(a/2 + p(w)) v_w, then v_s ← v_s - Σ_i λ_i ⟨v_s, c_i⟩ c_i
    with λ_i = σ_i²/Σ_j σ_j².

    Parameters
        vectors, counts, components, tokenizer, threads: as in `SIF`; a word that is not counted is
        taken to be as rare as the rarest that is. n_components: how many directions.
        sentence_length: n, average number of words of a sentence, >= 1; None takes that of the
        texts of `fit` (the authors set 11 for the STS sets). normalise: "none"; "words", every word
        vector has length 1; "dimensions", each number of a sentence is divided by its length over
        the sentence's words, as the authors' program does, so that a sentence of one word has the
        numbers 1 and -1.
    Attributes
        a_: as in `usif_a`. sentence_length_: n. weights_: (V,) float64, at most 2. probabilities_:
        (V,) float64. components_, singular_values_ and shares_, the λ_i, with components="corpus".
    Notes
        A text without a known word is zeros; the authors' program gives it a in each dimension.
    References: [ethayarajh2018unsupervised, Sec. 3]
    """

    name = "uSIF"

    def __init__(self, vectors: WordVectors, n_components: int = 5, *,
                 sentence_length: float | None = None, normalise: str = "none", counts: Any = None,
                 components: str = "corpus", tokenizer: Any = None, threads: int | None = None):
        self.vectors, self.n_components, self.sentence_length, self.normalise = vectors, n_components, sentence_length, normalise
        self.counts, self.components, self.tokenizer, self.threads = counts, components, tokenizer, threads

    def _check_settings(self) -> None:
        check_choice("normalise", self.normalise, NORMALISATIONS)
        if self.sentence_length is not None:
            check_float("sentence_length", self.sentence_length, low=1)

    def _needs_texts(self) -> bool:
        return self.sentence_length is None or super()._needs_texts()

    def _learn_weights(self, frequencies: Frequencies, index: Index,
                       corpus: Corpus | None) -> np.ndarray:
        self.probabilities_ = frequencies.of_rows(index, unseen=frequencies.shares.min())
        self.sentence_length_ = (_mean_length(corpus)
                                 if self.sentence_length is None
                                 else float(self.sentence_length))
        self.a_ = usif_a(frequencies.shares, self.sentence_length_)
        if math.isinf(self.a_):
            warn_data(f"none of {len(frequencies.words)} words is frequent enough for sentences of "
                      f"{self.sentence_length_:.3g} words to "
                      "give uSIF's a; all words weigh the same", stacklevel=3)
            return np.full(len(index.tokens), 2.0)
        return self.a_ / (self.a_ / 2 + self.probabilities_)

    def _averaging(self, index: Index) -> Averaging:
        weights = self.weights_
        if self.normalise == "words":
            lengths = np.linalg.norm(self._fitted_vectors.matrix.astype(np.float64), axis=1)
            weights = np.divide(weights, lengths, out=np.zeros_like(weights), where=lengths > 0)
        return Averaging(self._fitted_vectors, index, weights.astype(np.float32),
                         per_dimension=self.normalise == "dimensions")

    def _shares(self, singular_values: np.ndarray) -> np.ndarray:
        squares = (singular_values / singular_values.max(initial=1e-300)) ** 2
        return squares / max(squares.sum(), 1e-300)

    def _learned_arrays(self) -> dict[str, np.ndarray]:
        return {
            "probabilities": self.probabilities_,
            "numbers": np.array([self.a_ if math.isfinite(self.a_) else 0.0, self.sentence_length_])
        }

    def _restore(self, path: Any, arrays: dict[str, np.ndarray]) -> None:
        self.probabilities_ = loaded_numbers(path, arrays, "probabilities",
                                             shape=(len(self.vectors), ))
        a, self.sentence_length_ = loaded_numbers(path, arrays, "numbers", shape=(2,)).tolist()
        self.a_ = a or math.inf                  # infinity was saved as 0


def _mean_length(corpus: Corpus) -> float:
    """Words per text that has any."""
    return corpus.n_tokens / int(np.count_nonzero(np.diff(corpus.offsets)))
