"""Co-occurrence counts of any size, row by row: in memory, or in files that are mapped into memory.

GloVe needs the nonzero counts themselves, of more word pairs than a matrix in memory may hold. Taught in lesson ``05_glove_and_fasttext``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .cooccurrence import cooccurrence

if TYPE_CHECKING:
    from ..text import Corpus

__all__ = ["Cooccurrences"]


@dataclass(frozen=True, eq=False)
class Cooccurrences:
    """Nonzero co-occurrence counts of V words, sorted by row, then by column: row = word, column = neighbour.

    Attributes: offsets, int64, V + 1: the nonzeros of word i are ``offsets[i]`` to ``offsets[i + 1]``; columns, int32; values, float32, each the
    exact sum rounded once (mapped read-only from files when laid on disk); n_tokens, tokens that were counted.
    """

    offsets: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    n_tokens: int

    @staticmethod
    def from_corpus(corpus: Corpus, window: int = 15, *, symmetric: bool = True, weighting: str = "harmonic", memory: int = 1 << 30,
                    folder: str | os.PathLike | None = None, threads: int = 1) -> Cooccurrences:
        """Count the pairs of words that stand within ``window`` words of each other in a document.

        Parameters: corpus, window, symmetric, weighting, threads as for `cooccurrence`; memory, bytes that the count may take: what is beyond is
        laid in nameless files, which vanish with the result; folder, where to keep the result (`load` reads it).
        """
        counts = cooccurrence(corpus, window, symmetric=symmetric, weighting=weighting, threads=threads)
        return Cooccurrences(counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data.astype(np.float32), corpus.n_tokens)

    @property
    def n_words(self) -> int:
        """Number of words V."""
        return len(self.offsets) - 1

    def __len__(self) -> int:
        """Number of nonzeros."""
        return len(self.columns)

    @property
    def rows(self) -> np.ndarray:
        """The row of every nonzero, int32; made anew at each call."""
        return np.repeat(np.arange(self.n_words, dtype=np.int32), np.diff(self.offsets))

    def matrix(self) -> sparse.csr_matrix:
        """The counts as a (V, V) matrix in memory."""
        return sparse.csr_matrix((self.values, self.columns, self.offsets), shape=(self.n_words, self.n_words))
