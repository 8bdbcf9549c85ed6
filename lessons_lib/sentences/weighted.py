"""What SIF and uSIF share: words weighted by their frequency, and common directions removed.

A method says what a word's weight is and how much of each direction is removed; frequencies and
removal are here. Taught in lesson ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..core.checks import warn_data
from ..core.errors import NotFittedError
from ..core.learned import Array, packed_strings, unpacked_strings
from ..core.parameters import Choice, Int, Packed
from ..text.corpus import Corpus
from ..text.frequencies import Frequencies
from ..text.string_table import Index
from .directions import Directions, SecondMoment, common_directions, remove
from .pooling import WeightedMean, WordPooling, encode

__all__ = ["WeightedSentences"]

ROWS_AT_ONCE = 4096


class GivenCounts(Packed):
    """Word counts that a method is given, as `Frequencies`; None for those of the texts."""

    def checked(self, name: str, value: Any) -> Frequencies:
        """The frequencies."""
        return Frequencies.of(value)

    def pack(self, value: Frequencies | None) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Words and counts, where there are any."""
        if value is None:
            return {}, {}
        return packed_strings(value.words, "counted") | {"counts": value.counts}, {}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> dict[str, float] | None:
        """A count for each word."""
        if "counts" not in arrays:
            return None
        words = unpacked_strings(arrays, "counted")
        return dict(zip(words, arrays["counts"].tolist(), strict=True))


class WeightedSentences(WordPooling):
    """Base of `SIF` and `USIF`."""

    n_components = Int(1, "how many directions c_i are removed; 0 removes none", low=0)
    counts = GivenCounts(None, "how frequent words are; None counts the texts of `fit`",
                         kind="mapping from word to count, text.Vocabulary or datasets.WordCounts")
    components = Choice("corpus", "batch", doc="'corpus' finds the directions in texts of `fit` "
                        "and keeps them, so that a text has one vector whatever its company; "
                        "'batch' finds them anew in the texts of each `encode`, as the authors do "
                        "with the very sentences they evaluate: two texts of a batch end as one "
                        "line, with cosine -1 or 1")

    weights_ = Array("tokens", dtype="float64", file="weights", doc="of each word of ``vectors``")
    probabilities_ = Array("tokens", dtype="float64", file="probabilities",
                           doc="p(w) of each word of ``vectors``")
    components_ = Array("components", "dim", dtype="float64", file="components", optional=True,
                        doc="orthonormal; fewer than ``n_components`` where the texts are too "
                            "alike, and none with components='batch'")
    singular_values_ = Array("components", dtype="float64", file="singular_values", optional=True,
                             doc="of these directions")

    @property
    def shares_(self) -> np.ndarray:
        """λ_i, how much of each direction is removed."""
        return self._shares(self.singular_values_)

    def _learn_weights(self, settings: Mapping[str, Any], frequencies: Frequencies, index: Index,
                       corpus: Corpus | None) -> None:
        """Set ``probabilities_``, ``weights_`` and what else is the method's own."""
        raise NotImplementedError

    def _shares(self, singular_values: np.ndarray) -> np.ndarray:
        """How much of each direction is removed, in [0, 1]."""
        raise NotImplementedError

    def _needs_texts(self, settings: Mapping[str, Any]) -> bool:
        return settings["counts"] is None or settings["components"] == "corpus"

    # ------------------------------------------------------------------------------ fit

    def fit(self, texts: Iterable[str] | Corpus | None = None) -> Self:
        """Learn word weights and common directions.

        Parameters
        ----------
        texts : iterable of str, read once, or text.Corpus, optional
            None is enough where ``counts`` are given and components="batch".

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, texts that are none, no texts, no known word in any.

        Warns
        -----
        DataWarning
            The texts are too alike for so many components: one sentence loses nothing.
        """
        settings = self._check_settings()
        if texts is None and self._needs_texts(settings):
            missing = ("word frequencies" if settings["counts"] is None
                       else 'the directions of components="corpus"')
            raise ValueError(f'texts=None leaves {missing} unknown; pass texts, or both counts=… '
                             'and components="batch"')
        index, corpus = Index(settings["vectors"].tokens), None
        if texts is not None:
            corpus, _ = self._checked_corpus(texts, settings, index)
        frequencies = settings["counts"] or Frequencies.of(corpus)
        self._learn_weights(settings, frequencies, index, corpus)
        self._prepare(settings, index)
        if settings["components"] == "batch":
            vars(self).pop("components_", None)
            vars(self).pop("singular_values_", None)
            return self
        n, moment = settings["n_components"], self._moment()

        def blocks() -> Iterator[np.ndarray]:
            return (vectors for vectors, _ in self._pooling.of_corpus(corpus))

        for block in blocks() if n else ():
            moment.add(block)
        directions = common_directions(moment, n, blocks)
        _warn_if_alike(directions, n, len(corpus), stacklevel=3)
        self.components_ = directions.components
        self.singular_values_ = directions.singular_values
        return self

    def _prepare(self, settings: dict[str, Any], index: Index) -> None:
        super()._prepare(settings, index)
        self._size = self._pooling.size()

    def _pooling_of(self, settings: dict[str, Any], index: Index) -> WeightedMean:
        return WeightedMean(settings["vectors"], index, self.weights_.astype(np.float32))

    def _moment(self) -> SecondMoment:
        return SecondMoment(self._pooling.dim, self._size)

    # ------------------------------------------------------------------------------ encode

    def _ready(self) -> dict[str, Any]:
        """The settings of the fit: others count at the next."""
        if not hasattr(self, "_pooling"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(texts) "
                                 "first")
        return self._fit_settings

    def _encoded(self, texts: Sequence[str], **options: Any) -> np.ndarray:
        if self._fit_settings["components"] == "corpus":
            components, shares = self.components_, self.shares_
            return encode(texts, self._pooling, **options,
                          finish=lambda vectors: remove(vectors, components, shares))
        n, moment = self._fit_settings["n_components"], self._moment()
        result = encode(texts, self._pooling, look=moment.add if n else None, **options)
        if not len(result):
            return result
        parts = [result[i : i + ROWS_AT_ONCE] for i in range(0, len(result), ROWS_AT_ONCE)]
        directions = common_directions(moment, n, lambda: parts)
        _warn_if_alike(directions, n, len(result), stacklevel=4)
        shares = self._shares(directions.singular_values)
        for part in parts:
            remove(part, directions.components, shares)
        return result

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        if self.components == "batch":
            del self.components_, self.singular_values_
        elif self.components_ is None or self.singular_values_ is None:
            raise ValueError("the arrays 'components' and 'singular_values' are missing")
        super()._after_load(arrays, extra)


def _warn_if_alike(directions: Directions, n_components: int, n_texts: int, *,
                   stacklevel: int) -> None:
    """Say that there are fewer directions than were asked for, to whom calls `fit` or `encode`."""
    if len(directions.components) < n_components:
        warn_data(f"the vectors of {n_texts} text(s) span {directions.rank} direction(s), so "
                  f"n_components={n_components} would leave nothing of some of them; "
                  f"{len(directions.components)} are removed", stacklevel=stacklevel)
