"""The plain way from words to a sentence: the mean of its word vectors, each word alike or weighted
by how few texts hold it.

Order is forgotten, as in a bag of words, but words that mean the same now count as nearly the same.
Frequent words say little and fill most of a sentence; inverse document frequency turns them down.
Taught in lesson ``06_sif_and_usif``; a row of the leaderboard from lesson 04 on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core import Estimator, NotFittedError, check_choice
from ..text import Corpus
from ..vectors import WordVectors
from .averaging import Averaging, Index, checked_vectors, encode
from .reading import as_corpus, numbered_documents
from .saved import load_sentences, loaded_numbers, save_sentences
from .sums import add_documents_per_word

__all__ = ["WEIGHTS", "MeanEncoder"]

WEIGHTS = ("uniform", "idf", "tfidf")


class MeanEncoder(Estimator):
    """Mean of the word vectors of each text: Σ_w g(w) v_w / Σ_w g(w).

    Parameters
        vectors: `WordVectors`; words without one are left out. weights: "uniform", g = 1 for every
        token, which needs no `fit`; "tfidf", g = idf for every token, so that a word counts as
        often as it occurs; "idf", g = idf and every distinct word once. tokenizer: a
        `text.Tokenizer` that cuts texts as the vectors' own corpus was cut, default `Tokenizer()`,
        or a function from str to a list of str. threads: default all cores; the result is the same.
    Attributes
        idf_: (V,) float64, ln((1 + N) / (1 + df)) + 1 per word of ``vectors`` over the N texts of
        `fit`, as in `counts.TfIdf`.
    Notes
        A text without a known word is a zero vector, whose cosine counts as 0, with one
        DataWarning.

    >>> vectors = WordVectors(["good", "film"], [[2.0, 0.0], [0.0, 4.0]])
    >>> MeanEncoder(vectors).encode(["A good film!", "good, good"]).tolist()
    [[1.0, 2.0], [2.0, 0.0]]
    """

    name = "mean of word vectors"

    def __init__(self, vectors: WordVectors, weights: str = "uniform", *, tokenizer: Any = None,
                 threads: int | None = None):
        self.vectors, self.weights, self.tokenizer, self.threads = vectors, weights, tokenizer, threads

    def fit(self, texts: Iterable[str] | Corpus) -> MeanEncoder:
        """Count in how many texts each word occurs. Parameters: texts, any iterable of str, read
        once, or a `Corpus`. Returns self.

        Raises TypeError or ValueError (settings, texts that are none, no texts, no known word in
        any).
        """
        vectors = checked_vectors(self.vectors)
        check_choice("weights", self.weights, WEIGHTS)
        index = Index(vectors.tokens)
        corpus = as_corpus(texts, tokenizer=self.tokenizer, threads=self.threads)
        row_of = index.rows_of(corpus.vocabulary.tokens)
        known = row_of >= 0
        if not known.any():
            raise ValueError(f"texts: none of their {len(known):,} words has a vector in "
                             f"{vectors!r}; expected >= 1 known word")
        in_texts = np.zeros(len(row_of), dtype=np.int64)
        for ids, ends in numbered_documents(corpus):
            add_documents_per_word(ids, ends, in_texts)
        frequency = np.zeros(len(vectors))
        frequency[row_of[known]] = in_texts[known]
        self._learned(vectors, index, np.log((1 + len(corpus)) / (1 + frequency)) + 1)
        return self

    def _learned(self, vectors: WordVectors, index: Index, idf: np.ndarray | None) -> None:
        weights = (np.ones(len(vectors), dtype=np.float32)
                   if idf is None or self.weights == "uniform"
                   else idf.astype(np.float32))
        self._averaging = Averaging(vectors, index, weights, once=self.weights == "idf",
                                    per_weight=True)
        self._fitted_settings = self.get_params()
        vars(self).pop("idf_", None)
        if idf is not None:
            self.idf_ = idf

    def _fitted(self) -> Averaging:
        """What `fit` made; for uniform weights it is made here, and again when the vectors were
        replaced or got more words.
        """
        check_choice("weights", self.weights, WEIGHTS)
        made = getattr(self, "_averaging", None)
        if self.weights != "uniform" and made is None:
            raise NotFittedError(f"this MeanEncoder with weights={self.weights!r} is not fitted "
                                 "yet; call fit(texts) first")
        if made is None or (not hasattr(self, "idf_") and
                            (made.vectors is not self.vectors
                             or made.index.tokens is not self.vectors.tokens)):
            vectors = checked_vectors(self.vectors)
            self._learned(vectors, Index(vectors.tokens), None)
        return self._averaging

    @property
    def dim(self) -> int:
        """Numbers per vector: those of the word vectors."""
        return self._fitted().vectors.dim

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts, (n, dim) float32; the `Encoder` contract.

        Parameters: texts; batch_size, texts taken at a time; progress, show a bar. Raises
        NotFittedError (idf and tfidf before `fit`), TypeError (not texts), ValueError (a word
        vector that is not finite), MemoryError.
        """
        return encode(texts, self._fitted(), tokenizer=self.tokenizer, threads=self.threads,
                      batch_size=batch_size, progress=progress, label=self.name)

    def save(self, path: str | os.PathLike) -> None:
        """Write settings, word vectors and idf into a folder.

        Raises NotFittedError, OSError, TypeError (a tokenizer that is a function).
        """
        averaging = self._fitted()
        save_sentences(path, self, averaging, {"idf": self.idf_} if hasattr(self, "idf_") else {},
                       settings=self._fitted_settings)

    @classmethod
    def load(cls, path: str | os.PathLike) -> MeanEncoder:
        """Read a folder that `save` wrote.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        method, arrays = load_sentences(path, cls)
        idf = (loaded_numbers(path, arrays, "idf", shape=(len(method.vectors),))
               if "idf" in arrays
               else None)
        method._learned(method.vectors, Index(method.vectors.tokens), idf)
        return method
