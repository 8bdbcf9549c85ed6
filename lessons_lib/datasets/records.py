"""What a loaded dataset looks like: one small frozen record per kind of data.

A record holds equally long columns, checks that they fit together when it is made, and never
changes afterwards. ``len`` counts rows and ``select`` keeps some of them, so that a lesson can
take a small part of any set in the same way. Used from lesson 00 on.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..core import check_array, check_int, shown

__all__ = ["Analogies", "ContextualStatistics", "Documents", "LabelledPairs", "Questions",
           "RetrievalSet", "SentencePairs", "SpaceStatistics", "StreamedDocuments", "Triplets",
           "WordCounts", "WordPairs", "WordPieces"]


# How a field with an entry per row is declared: as it is, or becoming a read-only array of a type.
COLUMN, FLOATS, INTEGERS, STRINGS = (
    {"repr": False, "metadata": {"column": kind}} for kind in (None, np.float64, np.int64, np.str_)
)


def _picked(column: Any, rows: np.ndarray) -> Any:
    if isinstance(column, dict):
        return {name: _picked(values, rows) for name, values in column.items()}
    return column[rows] if isinstance(column, np.ndarray) else [column[i] for i in rows.tolist()]


class _Columns:
    """What every record can do: check itself, count its rows, and keep some of them. The columns
    are the fields declared as such, the first of which is always there."""

    def __post_init__(self) -> None:
        kinds = {item.name: item.metadata.get("column") for item in fields(self)}
        for name, kind in kinds.items():
            value = getattr(self, name)
            if kind is None or value is None:
                continue
            if kind is np.float64:
                array = np.asarray(value)
                if array.dtype.kind in "USO" and array.size:  # they would sort and average wrongly
                    raise TypeError(
                        f"{name} holds {type(value[0]).__name__}, first {shown(value[0])}; "
                        f"expected numbers. Convert them: [float(x) for x in {name}]")
                check_array(name, array.astype(kind), ndim=1)
            view = np.asarray(value, dtype=kind).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)  # the one way, in a frozen dataclass
        columns = self._columns()
        lengths = {name: len(column) for name, column in columns.items() if name != "columns"}
        lengths |= {name: len(column) for name, column in columns.get("columns", {}).items()}
        if len(set(lengths.values())) > 1:
            sizes = ", ".join(f"{name}: {n}" for name, n in lengths.items())
            raise ValueError(f"{type(self).__name__} needs columns of one length, got {sizes}")

    def _columns(self) -> dict[str, Any]:
        names = [item.name for item in fields(self) if "column" in item.metadata]
        return {name: column for name in names if (column := getattr(self, name)) is not None}

    def __len__(self) -> int:
        return len(next(iter(self._columns().values())))

    def select(self, rows: Sequence[int] | Sequence[bool] | np.ndarray | slice) -> Self:
        """The same kind of record with some rows only.

        Parameters
        ----------
        rows : sequence of int, slice, or one bool per row

        Returns
        -------
        the same class

        Raises
        ------
        IndexError : an index outside the rows
        """
        index = np.arange(len(self))[rows if isinstance(rows, slice) or len(rows) else slice(0)]
        columns = self._columns().items()
        return replace(self, **{name: _picked(column, index) for name, column in columns})


@dataclass(frozen=True, eq=False)
class SentencePairs(_Columns):
    """Sentence pairs graded for similarity.

    Parameters
    ----------
    sentence1, sentence2 : list of str
    score : (n,) float64, on ``scale``
    name, split : str
    scale : (float, float), default (0, 5), lowest and highest grade
    subset : list of str, optional, the part of a set made of several (STS12-16)
    columns : dict of list of str, what else the file says per pair: genre, kind, topic, …
    """

    sentence1: list[str] = field(**COLUMN)
    sentence2: list[str] = field(**COLUMN)
    score: np.ndarray = field(**FLOATS)
    name: str = ""
    split: str = "all"
    scale: tuple[float, float] = (0.0, 5.0)
    subset: list[str] | None = field(default=None, **COLUMN)
    columns: dict[str, list[str]] = field(default_factory=dict, **COLUMN)

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.scale
        if (outside := np.flatnonzero((self.score < low) | (self.score > high))).size:
            raise ValueError(
                f"score[{outside[0]}]={self.score[outside[0]]:g} is outside the scale of "
                f"{self.name or 'the set'}; expected {low:g} to {high:g}")


@dataclass(frozen=True, eq=False)
class Triplets(_Columns):
    """Premises, each with a sentence that follows from it and one that contradicts it.

    Parameters
    ----------
    premise, entailment, contradiction : list of str
    name, split : str
    columns : dict of list of str, what else the file says per row
    """

    premise: list[str] = field(**COLUMN)
    entailment: list[str] = field(**COLUMN)
    contradiction: list[str] = field(**COLUMN)
    name: str = ""
    split: str = "all"
    columns: dict[str, list[str]] = field(default_factory=dict, **COLUMN)


@dataclass(frozen=True, eq=False)
class LabelledPairs(_Columns):
    """Sentence pairs with a label each.

    Parameters
    ----------
    sentence1, sentence2 : list of str
    label : (n,) int64 where every label is a whole number, else list of str
    dataset : list of str, the source of each pair
    name, split : str
    columns : dict of list of str, what else the file says per pair
    """

    sentence1: list[str] = field(**COLUMN)
    sentence2: list[str] = field(**COLUMN)
    label: np.ndarray | list[str] = field(**COLUMN)
    dataset: list[str] = field(**COLUMN)
    name: str = ""
    split: str = "all"
    columns: dict[str, list[str]] = field(default_factory=dict, **COLUMN)


@dataclass(frozen=True, eq=False)
class Documents(_Columns):
    """Texts as a sequence of str, with what is known about each.

    Parameters
    ----------
    texts : list of str
    labels : (n,) int64, optional, indices into ``label_names``
    titles : list of str, optional
    label_names : tuple of str
    name, split : str
    columns : dict of list of str, what else the file says per text
    """

    texts: list[str] = field(**COLUMN)
    labels: np.ndarray | None = field(default=None, **INTEGERS)
    titles: list[str] | None = field(default=None, **COLUMN)
    label_names: tuple[str, ...] = field(default=(), repr=False)
    name: str = ""
    split: str = "all"
    columns: dict[str, list[str]] = field(default_factory=dict, **COLUMN)

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __getitem__(self, i: int | slice) -> str | list[str]:
        return self.texts[i]


@dataclass(frozen=True, eq=False)
class RetrievalSet(_Columns):
    """Questions, the texts to look in, and which of them answer.

    Parameters
    ----------
    question : list of str
    relevant : list of dict, one for each question
        Row of ``documents`` -> grade > 0; what is not named has grade 0.
    documents : Documents
    name, split : str
    columns : dict of list of str, what else is known of each question: id, kind, …
    """

    question: list[str] = field(**COLUMN)
    relevant: list[dict[int, float]] = field(**COLUMN)
    documents: Documents = field(repr=False)
    name: str = ""
    split: str = "all"
    columns: dict[str, list[str]] = field(default_factory=dict, **COLUMN)

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.documents)
        for i, grades in enumerate(self.relevant):
            for row, grade in grades.items():
                if not 0 <= row < n or not grade > 0:
                    raise ValueError(f"relevant[{i}] has {row!r}: {grade!r}; expected rows from 0 "
                                     f"to {n - 1} of documents with grades > 0")


@dataclass(frozen=True, eq=False)
class Questions(_Columns):
    """Questions about a collection of texts, each with quotes of the places that answer it.

    A quote stands for its place in the text, whatever passages the text is cut into: `judged` says
    which of them hold it.

    Parameters
    ----------
    question : list of str
    answers : list of tuple of (title, quote)
        For each question one place or more, each right by itself.
    name, split : str
    columns : dict of list of str, what else the file says per question: kind
    """

    question: list[str] = field(**COLUMN)
    answers: list[tuple[tuple[str, str], ...]] = field(**COLUMN)
    name: str = ""
    split: str = "all"
    columns: dict[str, list[str]] = field(default_factory=dict, **COLUMN)

    def judged(self, documents: Documents,
               passages: Sequence[Sequence[tuple[str, int, int]]]) -> RetrievalSet:
        """The questions with the passages that answer them.

        Parameters
        ----------
        documents : Documents with titles
            The collection that the questions are about.
        passages : sequence, for each text the passages it was cut into: (text, start, end)
            As ``search.split_passages`` makes them.

        Returns
        -------
        RetrievalSet
            Its documents are all passages in order, with the titles of their texts. Grade 1 for
            those that hold a quote whole; where none does, for those that hold most of it.

        Raises
        ------
        ValueError
            Numbers differ, no titles; a quote does not stand in its text, or more than once.
        """
        if len(set(documents.titles or ())) != len(documents) or len(passages) != len(documents):
            raise ValueError(f"passages has {len(passages)} texts and documents {len(documents)} "
                             f"with {len(set(documents.titles or ()))} different titles; expected "
                             "as many of each")
        first, rows = 0, {}
        for title, text, parts in zip(documents.titles, documents, passages, strict=True):
            rows[title] = text, first, parts
            first += len(parts)
        relevant = [dict.fromkeys((row for title, quote in places
                                   for row in _holding(quote, title, rows)), 1.0)
                    for places in self.answers]
        titles = [title for title, (_, _, parts) in rows.items() for _ in parts]
        texts = [part[0] for _, _, parts in rows.values() for part in parts]
        return RetrievalSet(self.question, relevant, Documents(texts, titles=titles), self.name,
                            self.split, self.columns)


def _holding(quote: str, title: str, rows: dict[str, tuple[str, int, Any]]) -> list[int]:
    """The rows of the passages that hold a quote, or most of it. Raises ValueError for a title or a
    quote that is not there, or not once."""
    text, first, parts = rows.get(title, ("", 0, ()))
    if (times := text.count(quote)) != 1:
        raise ValueError(f"documents: {shown(quote)} stands {times} times in {title!r}; expected "
                         "once. Are they the texts that the questions were written on?")
    start = text.index(quote)
    end = start + len(quote)
    held = [min(part[2], end) - max(part[1], start) for part in parts]
    most = max([1, *held])
    return [first + i for i, n in enumerate(held) if n == most]


@dataclass(frozen=True, eq=False)
class StreamedDocuments:
    """Texts read anew from their files at each iteration: 50 million words need no memory.

    It has the attributes of `Documents` and a length, but no ``[i]``: the way to text number i
    leads through all before it.

    Parameters
    ----------
    paths : tuple of Path
    read : callable, gives the texts of one file
    known : int, optional, the number of texts; None: counted when ``len`` is asked for
    name, split : str
    labels, titles, label_names : None, None, (), as of `Documents` without labels
    """

    paths: tuple[Path, ...] = field(repr=False)
    read: Callable[[Path], Iterator[str]] = field(repr=False)
    known: int | None = field(default=None, repr=False)
    name: str = ""
    split: str = "all"
    labels: None = field(default=None, repr=False)
    titles: None = field(default=None, repr=False)
    label_names: tuple[str, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[str]:
        return (text for path in self.paths for text in self.read(path))

    def __len__(self) -> int:
        return self._count if self.known is None else self.known

    @functools.cached_property
    def _count(self) -> int:
        return sum(1 for _ in self)

    @property
    def texts(self) -> StreamedDocuments:
        """The stream itself, where `Documents` has its list."""
        return self

    def take(self, n: int) -> Documents:
        """The first texts in memory.

        Parameters
        ----------
        n : int >= 1

        Returns
        -------
        Documents : ``n`` texts, or all there are

        Raises
        ------
        TypeError, ValueError : ``n`` is no int >= 1
        """
        some = islice(self, min(check_int("n", n), sys.maxsize))
        return Documents(list(some), name=self.name, split=self.split)


@dataclass(frozen=True, eq=False)
class WordPairs(_Columns):
    """Word pairs graded for similarity by people.

    Parameters
    ----------
    word1, word2 : list of str
    score : (n,) float64
    name : str
    scale : (float, float), optional, the range the raters used
    """

    word1: list[str] = field(**COLUMN)
    word2: list[str] = field(**COLUMN)
    score: np.ndarray = field(**FLOATS)
    name: str = ""
    scale: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Analogies(_Columns):
    """Questions a : b = c : d.

    Parameters
    ----------
    questions : (n, 4) str
    section : list of str, of the file, which each question stands in
    name : str
    """

    questions: np.ndarray = field(**STRINGS)
    section: list[str] = field(**COLUMN)
    name: str = ""

    def __post_init__(self) -> None:
        questions = np.asarray(self.questions, dtype=np.str_).reshape(-1, 4)
        object.__setattr__(self, "questions", questions)
        super().__post_init__()


@dataclass(frozen=True, eq=False)
class WordCounts(_Columns):
    """How often each word was seen, most frequent first.

    Parameters
    ----------
    words : list of str
    counts : (n,) int64
    name : str
    """

    words: list[str] = field(**COLUMN)
    counts: np.ndarray = field(**INTEGERS)
    name: str = ""

    @property
    def total(self) -> int:
        """Tokens in all."""
        return int(self.counts.sum())

    @property
    def probability(self) -> np.ndarray:
        """p(w), a word's share of all counted tokens: (n,) float64, summing to 1."""
        return self.counts / max(self.total, 1)


@dataclass(frozen=True, eq=False)
class ContextualStatistics(_Columns):
    """What Ethayarajh measured on BERT, ELMo and GPT-2: a row per model, statistic, word and layer.

    Parameters
    ----------
    model, statistic : (n,) str
    word : list of str
    layer : (n,) int64
    value : (n,) float64
    name : str
    """

    model: np.ndarray = field(**COLUMN)
    statistic: np.ndarray = field(**COLUMN)
    word: list[str] = field(**COLUMN)
    layer: np.ndarray = field(**INTEGERS)
    value: np.ndarray = field(**FLOATS)
    name: str = ""


@dataclass(frozen=True, eq=False)
class SpaceStatistics:
    """Statistics of whole embedding spaces.

    Parameters
    ----------
    values : dict of dict of (layers,) float64
        ``values[model][statistic]`` has one number per layer from 0 on.
    name : str
    """

    values: dict[str, dict[str, np.ndarray]] = field(repr=False)
    name: str = ""

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class WordPieces(_Columns):
    """The subwords of a tokenizer by id.

    Parameters
    ----------
    pieces : list of str
    settings : dict, of the tokenizer
    name : str
    """

    pieces: list[str] = field(**COLUMN)
    settings: dict[str, Any] = field(default_factory=dict)
    name: str = ""
