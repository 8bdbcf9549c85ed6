"""A reader's own sentences by several encoders: cosines side by side, and a map of each.

An encoder may give numbers for what it has learned no word of, or a zero vector; both say nothing.
Here such a sentence has no vector, and the picture says so. Used by the box on top of lesson
``00_start_here`` and by ``lessons neighbours``, ``similar`` and ``map``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..core import DataWarning
from ..plots import sentence_panels

__all__ = ["SideBySide", "knows_no_word", "main_axes", "unit_vectors",
           "vocabulary_of"]

WORD = re.compile(r"\w+")
FEWEST, MOST = 2, 8                              # sentences that one picture shows


def unit_vectors(encoder: Any, texts: list[str]) -> np.ndarray:
    """Rows of norm 1, in double precision; zeros for texts of which the encoder knows nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)         # who asks names these texts
        rows = np.asarray(encoder.encode(texts), dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def vocabulary_of(encoder: Any) -> tuple[Any, bool]:
    """The words or subwords that an encoder has learned, empty where it has no list of them; and
    whether these are subwords.
    """
    vocabulary = getattr(encoder, "vectors", None)
    if vocabulary is None:
        vocabulary = set(getattr(encoder, "pieces", ())) - {""}
    return vocabulary, any(str(token).startswith("##") for token in vocabulary)


def knows_no_word(vocabulary: tuple[Any, bool], text: str) -> bool:
    """Whether an encoder with this vocabulary (`vocabulary_of`) has learned none of a text's words.
    """
    learned, subwords = vocabulary
    words = WORD.findall(text.lower())
    if not words or not len(learned) or any(word in learned for word in words):
        return False
    return not (subwords and any(letter in learned or f"##{letter}" in learned
                                 for letter in "".join(words)))


def main_axes(rows: np.ndarray) -> np.ndarray:
    """Places (n, 2) along the two directions in which rows differ most, the first row on the left
    and not below the middle, so that a map does not turn over while somebody types.
    """
    u, s, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    places = np.zeros((len(rows), 2))
    places[:, : len(s)] = (u * s)[:, :2]         # of one row there is one direction
    return places * np.where(places[0] * [-1, 1] < 0, -1, 1)


class SideBySide:
    """What encoders make of a few sentences, for ``lesson.try_it``.

    Parameters
    ----------
    encoders : mapping of str to Encoder
        By standard name; fitted.
    """

    def __init__(self, encoders: Mapping[str, Any]):
        self.encoders = dict(encoders)
        self._learned = {name: vocabulary_of(encoder) for name, encoder in encoders.items()}
        self._measured = lru_cache(100)(self._measure)

    def _measure(self, text: str) -> tuple[list[str], dict, dict]:
        """Sentences, and by encoder the cosines with the first one and the places on a map, NaN
        where there is no vector. Raises ValueError for too few sentences or too many.
        """
        sentences = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        if not FEWEST <= len(sentences) <= MOST:
            raise ValueError(f"Type {FEWEST} to {MOST} sentences, each in a line of its own; there "
                             f"{'is' if len(sentences) == 1 else 'are'} {len(sentences)}.")
        cosines, places = {}, {}
        for name, encoder in self.encoders.items():
            rows = unit_vectors(encoder, sentences)
            strange = [knows_no_word(self._learned[name], one) for one in sentences]
            known = rows.any(axis=1) & ~np.array(strange)
            cosines[name] = np.where(known & known[0], rows @ rows[0], np.nan)
            places[name] = np.full((len(rows), 2), np.nan)
            if known.any():
                places[name][known] = main_axes(rows[known])
        return sentences, cosines, places

    def draw(self, text: str) -> Any:
        """Draw what the encoders make of sentences.

        Parameters
        ----------
        text : str
            2 to 8 sentences, one in each line.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ValueError
            For fewer or more sentences.
        """
        sentences, cosines, places = self._measured(text)
        nearest = []
        for name, values in cosines.items():
            others = np.nan_to_num(values[1:], nan=-1.0)
            best = 2 + int(others.argmax()) if others.max() > 0 else "none"
            nearest.append(f"{name} {best}")
        return sentence_panels(sentences, cosines, places,
                               title=f"Nearest to sentence 1: {', '.join(nearest)}")

    def describe(self, text: str) -> str:
        """Say in words what `draw` draws.

        Parameters
        ----------
        text : str

        Returns
        -------
        str
            The cosines with the first sentence.
        """
        _, cosines, _ = self._measured(text)
        said = [f"{name}: " + ", ".join("none" if np.isnan(value) else f"{value:.2f}"
                                        for value in values[1:])
                for name, values in cosines.items()]
        return f"Cosines with the first sentence. {'; '.join(said)}."
