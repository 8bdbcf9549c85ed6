"""What a trainer learns from, in columns (sentences, graded or labelled pairs, triplets), looked at
before any training begins; and which of it a step reads, in which parts.

Records of `datasets` are taken, and tuples of lists. All that is drawn comes from the seed and the
number of the step, so a run that was stopped reads on where it stood, and several processes agree
without a word. Used by all trainers.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contextual.numbering import Numbered
from ..core import DataWarning, check_int, check_seed, checked_texts, generator, shown
from ..datasets import Documents, LabelledPairs, SentencePairs, Triplets
from .reading import derived_seed

__all__ = ["AugmentedColumn", "Column", "Examples", "Order", "graded_pairs", "in_parts",
           "labelled_pairs", "pairs_or_triplets", "sentences", "share_of_equals", "triplets"]

Number = Callable[[Sequence[str]], Numbered]      # texts to token ids
ORDER, AUGMENT = 1, 2                             # a number of the seed for each purpose


@dataclass(frozen=True, eq=False)
class Examples:
    """Columns of texts, a label or a row of numbers per example (None: there is none), and names
    of labels that are classes.
    """

    columns: list[list[str]]
    labels: np.ndarray | None = None
    classes: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def fingerprint(self) -> str:
        """The sha256 of all of it, by which a run that goes on knows its data again."""
        digest = hashlib.sha256()
        for column in self.columns:
            for text in column:
                data = text.encode()
                digest.update(len(data).to_bytes(8, "little") + data)
        if self.labels is not None:
            digest.update(np.ascontiguousarray(self.labels, dtype=np.float64).data)
        return digest.hexdigest()


def sentences(data: Any) -> Examples:
    """A list of sentences, or the texts of `Documents`. Raises TypeError, ValueError."""
    if isinstance(data, (SentencePairs, LabelledPairs, Triplets)):
        column = "premise" if isinstance(data, Triplets) else "sentence1"
        raise TypeError(f"data is {type(data).__name__}; unsupervised learning needs sentences: "
                        f"pass a list, such as data.{column}, or set supervised=True for triplets")
    texts = list(checked_texts(data.texts if isinstance(data, Documents) else data, name="data"))
    return _enough(Examples([texts]))


def triplets(data: Any, *, loss: str) -> Examples:
    """`Triplets`, or (anchors, positives, negatives). Raises TypeError, ValueError."""
    if isinstance(data, Triplets):
        data = (data.premise, data.entailment, data.contradiction)
    columns = _columns(data, loss, ("anchors", "positives", "negatives"))
    return _enough(Examples([_texts(name, column) for name, column in columns.items()]))


def pairs_or_triplets(data: Any, *, loss: str) -> Examples:
    """As `triplets`, or (anchors, positives) alone. Raises TypeError, ValueError."""
    if not isinstance(data, (tuple, list)) or len(data) != 2 or isinstance(data[0], str):
        return triplets(data, loss=loss)
    columns = _columns(data, loss, ("anchors", "positives"))
    return _enough(Examples([_texts(name, column) for name, column in columns.items()]))


def graded_pairs(data: Any, *, loss: str, unit: bool) -> Examples:
    """`SentencePairs`, or (first, second, grades). With ``unit`` grades have to lie in [0, 1]:
    those of `SentencePairs` are moved there by their ``scale``. Raises TypeError, ValueError.
    """
    if isinstance(data, SentencePairs):
        low, high = data.scale
        data = (data.sentence1, data.sentence2,
                (data.score - low) / (high - low) if unit else data.score)
    columns = _columns(data, loss, ("first", "second", "grades"))
    grades = _grades(columns["grades"])
    sides = [_texts(name, columns[name]) for name in ("first", "second")]
    examples = _enough(Examples(sides, grades))
    if len(np.unique(grades)) < 2:
        raise ValueError(f"grades holds 1 distinct label, {grades[0]:g}; {loss} needs >= 2 to "
                         "learn from")
    if unit and not 0 <= grades.min() <= grades.max() <= 1:
        raise ValueError(f"grades lie between {grades.min():g} and {grades.max():g}; {loss} needs "
                         "0 to 1. Divide them by the highest, or pass "
                         "SentencePairs, which know their scale")
    return examples


def labelled_pairs(data: Any, *, loss: str) -> Examples:
    """`LabelledPairs`, or (first, second, labels); classes are the different labels, sorted. Raises
    TypeError, ValueError (columns, lengths, labels missing or all equal).
    """
    if isinstance(data, LabelledPairs):
        data = (data.sentence1, data.sentence2, data.label)
    columns = _columns(data, loss, ("first", "second", "labels"))
    labels = columns["labels"]
    labels = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    for i, label in enumerate(labels):
        if label is None or label != label or not isinstance(label, (str, int)):
            raise ValueError(f"labels[{i}]={shown(label)} is no class; expected str or int")
    try:
        classes = tuple(sorted(set(labels)))
    except TypeError:
        raise TypeError("labels mixes str and int; expected one kind for all") from None
    numbers = np.array([classes.index(label) for label in labels], dtype=np.int64)
    sides = [_texts(name, columns[name]) for name in ("first", "second")]
    examples = _enough(Examples(sides, numbers, classes))
    if len(classes) < 2:
        raise ValueError(f"labels holds 1 distinct label, {shown(classes[0])}; {loss} needs >= 2 "
                         "to learn from")
    return examples


def _columns(data: Any, loss: str, names: Sequence[str]) -> dict[str, Any]:
    """The columns of a tuple by name. Raises TypeError, ValueError for another number of them."""
    if isinstance(data, (SentencePairs, LabelledPairs, Triplets)):
        there = {SentencePairs: "2 columns and grades", LabelledPairs: "2 columns and labels",
                 Triplets: "3 columns"}[type(data)]
        raise ValueError(f"data is {type(data).__name__}, {there}; {loss} needs {len(names)} "
                         f"columns: {', '.join(names)}")
    if isinstance(data, (str, bytes)) or not isinstance(data, (tuple, list)):
        raise TypeError(f"data={shown(data)} is {type(data).__name__}; {loss} needs "
                        f"({', '.join(names)})")
    if len(data) != len(names) or any(isinstance(column, str) for column in data):
        raise ValueError(f"data has {len(data)} columns; {loss} needs {len(names)}: "
                         f"({', '.join(names)})")
    return dict(zip(names, data, strict=True))


def _texts(name: str, column: Any) -> list[str]:
    return list(checked_texts(column, name=name))


def _grades(column: Any) -> np.ndarray:
    grades = np.asarray(column)
    if grades.dtype.kind not in "fiub" or grades.ndim != 1:
        raise TypeError(f"grades has dtype {grades.dtype} and shape {grades.shape}; expected one "
                        "number per pair")
    grades = grades.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(grades))
    if len(bad):
        raise ValueError(f"grades[{bad[0]}] is {grades[bad[0]]} ({len(bad)} of {len(grades)} are "
                         "not finite); expected numbers. Drop these pairs")
    return grades


def _enough(examples: Examples) -> Examples:
    """The examples, if there are at least two, and columns and labels are of one length."""
    lengths = [len(column) for column in examples.columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"columns have {', '.join(f'{n:,}' for n in lengths)} texts; expected one "
                         "length")
    if lengths[0] < 2:
        raise ValueError(f"data holds {lengths[0]} example{'s' * (lengths[0] != 1)}; expected >= 2")
    if examples.labels is not None and len(examples.labels) != len(examples):
        raise ValueError(f"there are {len(examples):,} pairs and {len(examples.labels):,} labels; "
                         "expected one label per pair")
    return examples


def _generator(*words: int) -> np.random.Generator:
    return generator(derived_seed(*words))


class Order:
    """Examples in a new order every epoch, in batches.

    Parameters: n, number of examples; batch_size; seed. The last batch of an epoch is as large as
    what is left; one example alone, which has no other to be told from, joins the batch before.

    >>> [len(Order(9, batch_size=4, seed=0).batch(step)) for step in range(3)]
    [4, 5, 4]
    """

    def __init__(self, n: int, *, batch_size: int, seed: int) -> None:
        self.n, self.batch_size = check_int("n", n, low=2), check_int("batch_size", batch_size)
        self.seed = check_seed(seed)
        alone = batch_size > 1 and n % batch_size == 1
        self.per_epoch = max(1, math.ceil(n / batch_size) - int(alone))
        self._epoch, self._order = -1, np.zeros(0, np.int64)

    def batch(self, step: int) -> np.ndarray:
        """Numbers of the examples of a step (counted from 0), int64."""
        epoch, place = divmod(step, self.per_epoch)
        if epoch != self._epoch:                  # kept only because a permutation costs time
            order = _generator(ORDER, self.seed, epoch).permutation(self.n)
            self._epoch, self._order = epoch, order
        last = self.n if place == self.per_epoch - 1 else (place + 1) * self.batch_size
        return self._order[place * self.batch_size : last]


def in_parts(n: int, *, chunk: int | None, processes: int = 1) -> list[slice]:
    """A batch of n rows in parts of ``chunk`` rows; None: as many parts as there are processes.

    >>> in_parts(5, chunk=2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = math.ceil(n / processes) if chunk is None else chunk
    return [slice(first, min(n, first + size)) for first in range(0, n, size)]


class Column:
    """One side of the examples: texts that stay as they are; ``number`` makes token ids of them."""

    def __init__(self, texts: Sequence[str], number: Number) -> None:
        self.numbered = number(texts)

    def read(self, examples: np.ndarray, step: int) -> tuple[Numbered, np.ndarray]:
        """Numbered texts, and which of them belong to the examples, in their order."""
        return self.numbered, examples


class AugmentedColumn:
    """Texts that ``augment(text, rng)`` changes anew for every step. What is drawn depends on seed,
    step and the number of the example only.
    """

    def __init__(self, texts: Sequence[str], number: Number,
                 augment: Callable[[str, np.random.Generator], str], *, seed: int) -> None:
        self.texts, self.number, self.augment, self.seed = texts, number, augment, seed

    def read(self, examples: np.ndarray, step: int) -> tuple[Numbered, np.ndarray]:
        """Numbered texts, and which of them belong to the examples, in their order."""
        changed = [self.augment(self.texts[i], _generator(AUGMENT, self.seed, step, i))
                   for i in examples.tolist()]
        for i, text in zip(examples.tolist(), changed, strict=True):
            if not isinstance(text, str):
                raise TypeError(f"augment made {type(text).__name__} of texts[{i}]; expected a "
                                "function of a text and a generator that gives a text")
        # of texts that are too long the first column has spoken, once
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return self.number(changed), np.arange(len(examples))


def share_of_equals(columns: Sequence[Sequence[str]], order: Order) -> float:
    """Share of the examples of the first epoch that meet, in their batch, another example with an
    equal text in the same column: it would be pushed away from what is its own positive.
    """
    codes = [np.unique(np.asarray(column, dtype=object), return_inverse=True)[1]
             for column in columns]
    met = 0
    for step in range(order.per_epoch):
        batch = order.batch(step)
        equal = np.zeros(len(batch), bool)
        for code in codes:
            _, place, count = np.unique(code[batch], return_inverse=True, return_counts=True)
            equal |= count[place] > 1
        met += int(equal.sum())
    return met / order.n
