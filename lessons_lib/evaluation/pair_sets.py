"""Checked sets of graded sentence pairs from what a caller names or passes.

A set may be named (``"stsb"``), passed as an object with ``sentence1``, ``sentence2`` and
``score``, or kept in a dict under a name of its own. All sets are loaded and checked before any
sentence is encoded. Used by `evaluate`; taught in ``01_one_hot``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import checked_texts, shown
from .ranks import checked_pairs, checked_values

__all__ = ["PairSet", "pair_sets"]


@dataclass(frozen=True)
class PairSet:
    """Checked pairs: distinct ``sentences``, row numbers ``left`` and ``right``, ``gold`` (n,).

    ``subsets`` holds name and pair numbers of each file the set was made from; ``scale`` is
    (lowest, highest) possible grade.
    """

    name: str
    split: str
    sentences: list[str]
    left: np.ndarray
    right: np.ndarray
    gold: np.ndarray
    subsets: dict[str, np.ndarray]
    scale: tuple[float, float]

    @property
    def close(self) -> np.ndarray:
        """Numbers of the pairs graded above four fifths of the scale (4 of 0-5, 4.2 of 1-5). [16.3]
        """
        low, high = self.scale
        return np.flatnonzero(self.gold > low + 0.8 * (high - low))


def pair_sets(datasets: Any, *, split: str | None) -> list[PairSet]:
    """Load and check every set that ``datasets`` names or holds.

    Raises TypeError for what is no set of pairs, ValueError for an empty list, a repeated name or
    bad grades.
    """
    if isinstance(datasets, Mapping):
        result = [(str(name), pairs) for name, pairs in datasets.items()]
    else:
        single = isinstance(datasets, str) or hasattr(datasets, "sentence1")
        if not single and not isinstance(datasets, Iterable):
            raise TypeError(f"datasets={shown(datasets)} is {type(datasets).__name__}; expected "
                            "names, SentencePairs or a dict of them")
        result = [_named(item, split) for item in ([datasets] if single else datasets)]
    if not result:
        raise ValueError('datasets holds 0 sets; expected >= 1, for example ["course-sts"]')
    names = [name for name, _ in result]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(f"datasets holds {repeated!r} {names.count(repeated)} times; pass a dict "
                         "to name each: {'a': pairs, 'b': pairs}")
    return [_checked_set(name, pairs) for name, pairs in result]


def _named(item: Any, split: str | None) -> tuple[str, Any]:
    if isinstance(item, str):
        from .. import datasets

        return item, datasets.load(item, split=split) if split else datasets.load(item)
    return str(getattr(item, "name", type(item).__name__)), item


def _checked_set(name: str, pairs: Any) -> PairSet:
    missing = [column for column in ("sentence1", "sentence2") if not hasattr(pairs, column)]
    grades = next((column for column in ("score", "label")
                   if getattr(pairs, column, None) is not None), None)
    if missing or grades is None:
        raise TypeError(f"{name} is {type(pairs).__name__} without "
                        f"{', '.join(missing) or 'score'}; expected sentence pairs with grades. "
                        "For sets of words use word_similarity")
    first = list(checked_texts(pairs.sentence1, name=f"{name}.sentence1"))
    second = list(checked_texts(pairs.sentence2, name=f"{name}.sentence2"))
    gold = (checked_values(f"{name}.score", pairs.score) if grades == "score"
            else _label_grades(f"{name}.label", pairs.label))
    for column, size in ((f"{name}.sentence2", len(second)), (f"{name}.{grades}", len(gold))):
        if size != len(first):
            raise ValueError(f"{column} has {size} values and {name}.sentence1 has {len(first)}; "
                             "expected one of each per pair")
    checked_pairs(np.arange(len(gold)), gold, names=("pairs", f"{name}.{grades}"))
    rows = {sentence: row for row, sentence in enumerate(dict.fromkeys(first + second))}
    left, right = (np.array([rows[sentence] for sentence in side], dtype=np.intp)
                   for side in (first, second))
    low, high = getattr(pairs, "scale", None) or (gold.min(), gold.max())
    return PairSet(name, str(getattr(pairs, "split", None) or "all"), list(rows), left, right, gold,
                   _subsets(name, pairs, len(gold)), (float(low), float(high)))


def _label_grades(name: str, labels: Any) -> np.ndarray:
    """Labels of classified pairs, text in their files, as grades: "0" different, "1" same."""
    grades = np.empty(len(labels))
    for i, label in enumerate(labels):
        try:
            grades[i] = float(label)
        except ValueError:
            raise TypeError(f"{name}[{i}]={shown(label)} is no grade; keep the sets with numeric "
                            "labels, for example by select(rows)") from None
    return checked_values(name, grades)


def _subsets(name: str, pairs: Any, n: int) -> dict[str, np.ndarray]:
    labels = getattr(pairs, "subset", None)
    # sets of classified pairs say where a pair comes from
    labels = getattr(pairs, "dataset", None) if labels is None else labels
    if labels is None or isinstance(labels, str):
        return {name: np.arange(n)}
    if len(labels) != n:
        raise ValueError(f"{name}.subset has {len(labels)} values for {n} pairs; expected one per "
                         "pair")
    numbers: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        numbers.setdefault(str(label), []).append(i)
    return {label: np.array(rows) for label, rows in numbers.items()}
