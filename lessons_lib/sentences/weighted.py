"""What SIF and uSIF share: words weighted by their frequency, and common directions taken away from
the sums.

A method says what a word's weight is and how much of each direction goes; reading, averaging,
removal and files are here. Taught in lesson ``06_sif_and_usif``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from ..core import Estimator, NotFittedError, check_choice, check_int, warn_data
from ..text import Corpus
from ..vectors import WordVectors
from .averaging import Averaging, Index, checked_vectors, encode
from .directions import Directions, SecondMoment, common_directions, remove
from .frequencies import Frequencies
from .reading import as_corpus
from .saved import load_sentences, loaded_numbers, save_sentences

__all__ = ["WeightedSentences"]

SOURCES = ("corpus", "batch")
_ROWS_AT_ONCE = 4096


class WeightedSentences(Estimator):
    """Base of `SIF` and `USIF`, which set ``vectors``, ``n_components``, ``components``,
    ``counts``, ``tokenizer`` and ``threads``.
    """

    vectors: WordVectors
    n_components: int
    components: str
    counts: Any
    tokenizer: Any
    threads: int | None
    name: str

    def _check_settings(self) -> None:
        """Raise for a setting of the method's own."""
        raise NotImplementedError

    def _learn_weights(self, frequencies: Frequencies, index: Index,
                       corpus: Corpus | None) -> np.ndarray:
        """Set the method's attributes and return one weight per word vector, float64."""
        raise NotImplementedError

    def _shares(self, singular_values: np.ndarray) -> np.ndarray:
        """How much of each direction is removed, in [0, 1]."""
        raise NotImplementedError

    def _averaging(self, index: Index) -> Averaging:
        """How the words of a sentence are added."""
        return Averaging(self._fitted_vectors, index, self.weights_.astype(np.float32))

    def _needs_texts(self) -> bool:
        return self.counts is None or self.components == "corpus"

    # -------------------------------------------------------------------------- fit

    def fit(self, texts: Iterable[str] | Corpus | None = None) -> Self:
        """Learn word weights and common directions.

        Parameters: texts, any iterable of str, read once, or a `Corpus`; None is enough where
        ``counts`` are given and components="batch". Returns self. Raises TypeError or ValueError
        (settings, texts that are none, no texts, no known word in any, ``counts`` that are not
        above 0). One DataWarning where the texts are too alike for so many components: one sentence
        loses nothing.
        """
        vectors = checked_vectors(self.vectors)
        check_int("n_components", self.n_components, low=0)
        check_choice("components", self.components, SOURCES)
        self._check_settings()
        given = None if self.counts is None else Frequencies.of(self.counts)
        corpus = self._corpus(texts)
        index = Index(vectors.tokens)
        if corpus is not None and not (index.rows_of(corpus.vocabulary.tokens) >= 0).any():
            raise ValueError(f"texts: none of their {len(corpus.vocabulary):,} words has a vector "
                             f"in {vectors!r}; expected >= 1 known word")
        self._fitted_vectors = vectors
        self.weights_ = self._learn_weights(given or Frequencies.of(corpus), index, corpus)
        self._summing = self._averaging(index)
        self._size = self._summing.size()
        self._learn_directions(corpus)
        self._given, self._fitted_settings = given, self.get_params()
        return self

    def _corpus(self, texts: Any) -> Corpus | None:
        if texts is not None:
            return as_corpus(texts, tokenizer=self.tokenizer, threads=self.threads)
        if self._needs_texts():
            missing = ("word frequencies"
                       if self.counts is None
                       else 'the directions of components="corpus"')
            raise ValueError(f'texts=None leaves {missing} unknown; pass texts, or both counts=… '
                             'and components="batch"')
        return None

    def _second_moment(self) -> SecondMoment:
        return SecondMoment(self._fitted_vectors.dim, self._size)

    def _learn_directions(self, corpus: Corpus | None) -> None:
        for name in ("components_", "singular_values_", "shares_"):
            vars(self).pop(name, None)
        if self.components == "corpus":
            assert corpus is not None
            summing = self._summing
            moment = self._second_moment()
            for block in summing.of_corpus(corpus) if self.n_components else ():
                moment.add(block)
            found = common_directions(moment, self.n_components, lambda: summing.of_corpus(corpus))
            _warn_if_alike(found, self.n_components, len(corpus))
            self.components_, self.singular_values_ = found.components, found.singular_values
            self.shares_ = self._shares(found.singular_values)

    # -------------------------------------------------------------------------- encode

    @property
    def dim(self) -> int:
        """Numbers per vector: those of the word vectors."""
        return self._checked_vectors().dim

    def _checked_vectors(self) -> WordVectors:
        if not hasattr(self, "_summing"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(texts) "
                                 "first")
        return self._fitted_vectors

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts, (n, dim) float32; the `Encoder` contract. With components="batch" all
        these texts are one batch, whatever ``batch_size``.

        Parameters: texts; batch_size, texts taken at a time; progress, show a bar. Raises
        NotFittedError, TypeError (not texts), ValueError (a word vector that is not finite),
        MemoryError.
        """
        self._checked_vectors()
        fitted = self._fitted_settings
        settings = ({name: fitted[name] for name in ("tokenizer", "threads")}
                    | {"batch_size": batch_size, "progress": progress, "label": self.name})
        if fitted["components"] == "corpus":
            return encode(texts, self._summing,
                          finish=lambda vectors: remove(vectors, self.components_, self.shares_),
                          **settings)
        moment = self._second_moment()
        found = encode(texts, self._summing, look=moment.add if fitted["n_components"] else None,
                       **settings)
        if len(found):
            self._remove_from_batch(found, moment, fitted["n_components"])
        return found

    def _remove_from_batch(self, vectors: np.ndarray, moment: SecondMoment,
                           n_components: int) -> None:
        parts = [
            vectors[first:first + _ROWS_AT_ONCE] for first in range(0, len(vectors), _ROWS_AT_ONCE)
        ]
        found = common_directions(moment, n_components, lambda: parts)
        _warn_if_alike(found, n_components, len(vectors))
        shares = self._shares(found.singular_values)
        for part in parts:
            remove(part, found.components, shares)

    # -------------------------------------------------------------------------- files

    def _learned_arrays(self) -> dict[str, np.ndarray]:
        """What the method learned beside weights and directions, to be saved."""
        return {}

    def _restore(self, path: str | os.PathLike, arrays: dict[str, np.ndarray]) -> None:
        """Take back what `_learned_arrays` gave."""

    def save(self, path: str | os.PathLike) -> None:
        """Write settings, word vectors, frequencies that were given, weights and directions into a
        folder.

        Raises NotFittedError, OSError, TypeError (a tokenizer that is a function).
        """
        self._checked_vectors()
        arrays = {"weights": self.weights_} | self._learned_arrays()
        if hasattr(self, "components_"):
            arrays |= {"components": self.components_, "singular_values": self.singular_values_}
        save_sentences(path, self, self._summing, arrays, settings=self._fitted_settings,
                       frequencies=self._given)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Read a folder that `save` wrote.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        method, arrays = load_sentences(path, cls)
        vectors = method._fitted_vectors = method.vectors
        method.weights_ = loaded_numbers(path, arrays, "weights", shape=(len(vectors),))
        method._restore(path, arrays)
        method._summing = method._averaging(Index(vectors.tokens))
        method._size = method._summing.size()
        if method.components == "corpus":
            method.components_ = loaded_numbers(path, arrays, "components",
                                                shape=(None, vectors.dim))
            method.singular_values_ = loaded_numbers(path, arrays, "singular_values",
                                                     shape=(len(method.components_), ))
            method.shares_ = method._shares(method.singular_values_)
        method._given = None if method.counts is None else Frequencies.of(method.counts)
        method._fitted_settings = method.get_params()
        return method


def _warn_if_alike(found: Directions, n_components: int, n_texts: int) -> None:
    if len(found.components) < n_components:
        warn_data(f"the vectors of {n_texts} text(s) span {found.rank} direction(s), so "
                  f"n_components={n_components} would leave nothing of some of "
                  f"them; {len(found.components)} are removed", stacklevel=4)
