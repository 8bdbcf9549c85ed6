"""What a loaded dataset looks like: one small frozen record per kind of data.

A record holds equally long columns, checks that they fit together when it is made, and never changes afterwards. ``len`` counts rows and
``select`` keeps some of them, so that a lesson can take a small part of any set in the same way. Used from lesson 00 on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..core import check_array, shown

__all__ = ["Analogies", "ContextualStatistics", "Documents", "LabelledPairs", "SentencePairs", "SpaceStatistics", "Triplets", "WordCounts",
           "WordPairs", "WordPieces"]


def _numbers(name: str, value: Any) -> np.ndarray:
    """A read-only float64 column. Text that looks like numbers is refused: it would sort and average wrongly."""
    array = np.asarray(value)
    if array.dtype.kind in "USO" and array.size:
        raise TypeError(f"{name} holds {type(value[0]).__name__}, first {shown(value[0])}; expected numbers. "
                        f"Convert them: [float(x) for x in {name}]")
    return _frozen(check_array(name, np.asarray(array, dtype=np.float64), ndim=1))


def _frozen(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.setflags(write=False)
    return view


def _picked(column: Any, rows: np.ndarray) -> Any:
    if isinstance(column, dict):
        return {name: _picked(values, rows) for name, values in column.items()}
    return column[rows] if isinstance(column, np.ndarray) else [column[i] for i in rows.tolist()]


class _Columns:
    """What every record can do: count its rows, and keep some of them. ``_rows`` names the columns, the first of which is always there."""

    _rows: ClassVar[tuple[str, ...]]

    def _check_lengths(self) -> None:
        lengths = {name: len(column) for name in self._rows if (column := getattr(self, name)) is not None and not isinstance(column, dict)}
        lengths |= {name: len(values) for name, values in getattr(self, "columns", {}).items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"{type(self).__name__} needs columns of one length, got {', '.join(f'{k}: {n}' for k, n in lengths.items())}")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)                # the one way to convert an argument of a frozen dataclass

    def __len__(self) -> int:
        return len(getattr(self, self._rows[0]))

    def select(self, rows: Sequence[int] | Sequence[bool] | np.ndarray | slice) -> Self:
        """The same kind of record with some rows only.

        Parameters: rows, indices, a slice, or one bool per row. Raises IndexError outside the rows.
        """
        index = np.arange(len(self))[rows if isinstance(rows, slice) or len(rows) else slice(0)]
        changed = {name: _picked(column, index) for name in self._rows if (column := getattr(self, name)) is not None}
        return replace(self, **changed)


@dataclass(frozen=True, eq=False)
class SentencePairs(_Columns):
    """Sentence pairs graded for similarity.

    ``score`` is float64 on ``scale`` (low, high). ``subset`` names the part of a set made of several (STS12-16), else None;
    ``columns`` holds what else the file says per pair (genre, kind, topic, …).
    """

    sentence1: list[str] = field(repr=False)
    sentence2: list[str] = field(repr=False)
    score: np.ndarray = field(repr=False)
    name: str = ""
    split: str = "all"
    scale: tuple[float, float] = (0.0, 5.0)
    subset: list[str] | None = field(default=None, repr=False)
    columns: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _rows: ClassVar[tuple[str, ...]] = ("sentence1", "sentence2", "score", "subset", "columns")

    def __post_init__(self) -> None:
        self._set("score", _numbers("score", self.score))
        self._check_lengths()
        low, high = self.scale
        if len(self.score) and not (low <= self.score.min() and self.score.max() <= high):
            i = int(np.flatnonzero((self.score < low) | (self.score > high))[0])
            raise ValueError(f"score[{i}]={self.score[i]:g} is outside the scale of {self.name or 'the set'}; expected {low:g} to {high:g}")


@dataclass(frozen=True, eq=False)
class Triplets(_Columns):
    """Premises, each with a sentence that follows from it and one that contradicts it."""

    premise: list[str] = field(repr=False)
    entailment: list[str] = field(repr=False)
    contradiction: list[str] = field(repr=False)
    name: str = ""
    split: str = "all"
    columns: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _rows: ClassVar[tuple[str, ...]] = ("premise", "entailment", "contradiction", "columns")

    def __post_init__(self) -> None:
        self._check_lengths()


@dataclass(frozen=True, eq=False)
class LabelledPairs(_Columns):
    """Sentence pairs with a label each; ``dataset`` names each pair's source.

    ``label`` is an int64 array where every label is a whole number, else a list of str ("entailment", "neutral", …).
    """

    sentence1: list[str] = field(repr=False)
    sentence2: list[str] = field(repr=False)
    label: np.ndarray | list[str] = field(repr=False)
    dataset: list[str] = field(repr=False)
    name: str = ""
    split: str = "all"
    columns: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _rows: ClassVar[tuple[str, ...]] = ("sentence1", "sentence2", "label", "dataset", "columns")

    def __post_init__(self) -> None:
        self._check_lengths()


@dataclass(frozen=True, eq=False)
class Documents(_Columns):
    """Texts as a sequence of str, with what is known about each.

    ``labels`` are int64 indices into ``label_names``, or None; ``titles`` one str per text, or None.
    """

    texts: list[str] = field(repr=False)
    labels: np.ndarray | None = field(default=None, repr=False)
    titles: list[str] | None = field(default=None, repr=False)
    label_names: tuple[str, ...] = field(default=(), repr=False)
    name: str = ""
    split: str = "all"
    columns: dict[str, list[str]] = field(default_factory=dict, repr=False)
    _rows: ClassVar[tuple[str, ...]] = ("texts", "labels", "titles", "columns")

    def __post_init__(self) -> None:
        if self.labels is not None:
            self._set("labels", _frozen(np.asarray(self.labels, dtype=np.int64)))
        self._check_lengths()

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __getitem__(self, i: int | slice) -> str | list[str]:
        return self.texts[i]


@dataclass(frozen=True, eq=False)
class WordPairs(_Columns):
    """Word pairs graded for similarity by people; ``scale`` is the range the raters used."""

    word1: list[str] = field(repr=False)
    word2: list[str] = field(repr=False)
    score: np.ndarray = field(repr=False)
    name: str = ""
    scale: tuple[float, float] | None = None
    _rows: ClassVar[tuple[str, ...]] = ("word1", "word2", "score")

    def __post_init__(self) -> None:
        self._set("score", _numbers("score", self.score))
        self._check_lengths()


@dataclass(frozen=True, eq=False)
class Analogies(_Columns):
    """Questions a : b = c : d, one row of four words each (shape (n, 4)), and the section each stands in."""

    questions: np.ndarray = field(repr=False)
    section: list[str] = field(repr=False)
    name: str = ""
    _rows: ClassVar[tuple[str, ...]] = ("questions", "section")

    def __post_init__(self) -> None:
        self._set("questions", _frozen(np.asarray(self.questions, dtype=np.str_).reshape(-1, 4)))
        self._check_lengths()


@dataclass(frozen=True, eq=False)
class WordCounts(_Columns):
    """How often each word was seen, most frequent first; ``probability`` is a word's share of all counted tokens."""

    words: list[str] = field(repr=False)
    counts: np.ndarray = field(repr=False)
    name: str = ""
    _rows: ClassVar[tuple[str, ...]] = ("words", "counts")

    def __post_init__(self) -> None:
        self._set("counts", _frozen(np.asarray(self.counts, dtype=np.int64)))
        self._check_lengths()

    @property
    def total(self) -> int:
        """Tokens in all."""
        return int(self.counts.sum())

    @property
    def probability(self) -> np.ndarray:
        """p(w), float64, summing to 1."""
        return self.counts / max(self.total, 1)


@dataclass(frozen=True, eq=False)
class ContextualStatistics(_Columns):
    """One row per model, statistic, word and layer, as Ethayarajh measured them on BERT, ELMo and GPT-2."""

    model: np.ndarray = field(repr=False)
    statistic: np.ndarray = field(repr=False)
    word: list[str] = field(repr=False)
    layer: np.ndarray = field(repr=False)
    value: np.ndarray = field(repr=False)
    name: str = ""
    _rows: ClassVar[tuple[str, ...]] = ("model", "statistic", "word", "layer", "value")

    def __post_init__(self) -> None:
        self._set("value", _numbers("value", self.value))
        self._set("layer", _frozen(np.asarray(self.layer, dtype=np.int64)))
        self._check_lengths()


@dataclass(frozen=True, eq=False)
class SpaceStatistics:
    """Statistics of whole embedding spaces: ``values[model][statistic]`` is a float64 array, one number per layer from 0 on."""

    values: dict[str, dict[str, np.ndarray]] = field(repr=False)
    name: str = ""

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class WordPieces(_Columns):
    """A tokenizer's pieces by id, and its settings."""

    pieces: list[str] = field(repr=False)
    settings: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    _rows: ClassVar[tuple[str, ...]] = ("pieces",)
