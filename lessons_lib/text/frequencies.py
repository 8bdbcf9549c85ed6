"""How frequent words are, from whatever counted them.

The weights of SIF and uSIF (``06_sif_and_usif``) and of Zipfian whitening (``12_bert_whitening``)
are made of these shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ..core.checks import shown
from .string_table import Index
from .token_corpus import TokenCorpus
from .vocabulary import Vocabulary

__all__ = ["Frequencies"]


class Frequencies:
    """Distinct words and the share of all tokens that each has; counts and probabilities are the
    same to it.

    ``words``; ``counts``, float64, divided by the largest; ``shares``, (n,) float64, which sum
    to 1. Raises TypeError or ValueError with the word (twice there, or a count that is no number
    above 0).
    """

    def __init__(self, words: list[str], counts: Any):
        self.words, self.counts = list(words), _checked_counts(words, counts)
        if len(set(self.words)) < len(self.words):
            twice = Counter(self.words).most_common(1)[0][0]
            raise ValueError(f"counts holds {shown(twice)} twice; expected distinct words, so add "
                             "up its counts")
        self.shares = self.counts / self.counts.sum()

    @classmethod
    def of(cls, counts: Any) -> Self:
        """From a mapping word -> count, a `Vocabulary`, a `Corpus` or `datasets.WordCounts`."""
        if isinstance(counts, TokenCorpus):
            counts = counts.vocabulary
        if isinstance(counts, Mapping):
            return cls(list(counts), list(counts.values()))
        if isinstance(counts, Vocabulary):
            return cls(counts.tokens, counts.counts)
        if hasattr(counts, "words") and hasattr(counts, "counts"):      # datasets.WordCounts
            return cls(counts.words, counts.counts)
        raise TypeError(f"counts={shown(counts)} is {type(counts).__name__}; expected a mapping "
                        "from word to count, a text.Vocabulary or "
                        'datasets.load("enwiki-frequencies")')

    def of_rows(self, index: Index, unseen: float) -> np.ndarray:
        """The share of each word of an index, float64; ``unseen`` for those not counted here."""
        rows = index.rows_of(self.words)
        shares = np.full(len(index.tokens), float(unseen))
        shares[rows[rows >= 0]] = self.shares[rows >= 0]
        return shares


def _checked_counts(words: list[str], counts: Any) -> np.ndarray:
    wrong = next((word for word in words if not isinstance(word, str) or not word), None)
    if wrong is not None:
        raise TypeError(f"counts holds the word {shown(wrong)}; expected words that are str of >= "
                        "1 character")
    array = np.asarray(counts)
    if not len(words) or array.shape != (len(words),):
        raise ValueError(f"counts has shape {array.shape} for {len(words)} words; expected >= 1 "
                         "word with one count each")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"counts has dtype {array.dtype}; expected numbers")
    array = array.astype(np.float64)
    bad = np.flatnonzero(~((array > 0) & np.isfinite(array)))
    if len(bad):
        raise ValueError(f"counts[{shown(words[bad[0]])}]={array[bad[0]]:g} is out of range; "
                         f"expected a finite number > 0 ({len(bad)} words have another). Leave "
                         "such words out")
    return array / array.max()                   # so that their sum is finite
