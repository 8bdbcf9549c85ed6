"""Loads sentence pairs, labelled pairs and triplets from their tables.

Graded pairs teach and measure similarity; triplets and labelled pairs train encoders. Columns beyond the needed ones are kept in
``columns``. Used from lesson 01 (STS) to 14 (NLI triplets).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core import DataMissing, check_choice
from .records import LabelledPairs, SentencePairs, Triplets
from .rows import Request, chosen_rows
from .tables import Table

__all__ = ["labelled_pairs", "nli_pairs", "sentence_pairs", "triplets"]


def _others(tables: Sequence[Table], used: Sequence[str]) -> dict[str, list[str]]:
    shared = [name for name in tables[0].columns if name not in used and all(name in table.columns for table in tables)]
    return {name: _joined(tables, name) for name in shared}


def _joined(tables: Sequence[Table], name: str) -> list[str]:
    return [value for table in tables for value in table[name]]


def sentence_pairs(request: Request) -> SentencePairs:
    """Graded pairs; a ``subset`` column becomes ``.subset``."""
    tables = [chosen_rows(request, path, ("score", "sentence1", "sentence2")) for path in request.paths]
    subset = _joined(tables, "subset") if all("subset" in table.columns for table in tables) else None
    return SentencePairs(_joined(tables, "sentence1"), _joined(tables, "sentence2"), np.concatenate([t.numbers("score") for t in tables]),
                         name=request.dataset.name, split=request.split, scale=request.dataset.scale, subset=subset,
                         columns=_others(tables, ("score", "sentence1", "sentence2", "subset")))


def triplets(request: Request) -> Triplets:
    """Premise, entailment, contradiction."""
    needed = ("premise", "entailment", "contradiction")
    tables = [chosen_rows(request, path, needed) for path in request.paths]
    return Triplets(*(_joined(tables, name) for name in needed), name=request.dataset.name, split=request.split, columns=_others(tables, needed))


def _labels(values: list[str]) -> np.ndarray | list[str]:
    try:
        return np.array([int(value) for value in values], dtype=np.int64)
    except ValueError:
        return values


def labelled_pairs(request: Request) -> LabelledPairs:
    """Pairs of several sets in one table, told apart by the column ``dataset``."""
    needed = ("dataset", "label", "sentence1", "sentence2")
    tables = [chosen_rows(request, path, needed) for path in request.paths]
    return LabelledPairs(_joined(tables, "sentence1"), _joined(tables, "sentence2"), _labels(_joined(tables, "label")),
                         _joined(tables, "dataset"), name=request.dataset.name, split=request.split, columns=_others(tables, needed))


def nli_pairs(request: Request) -> LabelledPairs:
    """Premise and hypothesis with their label; one file per source, whose name becomes ``dataset``."""
    needed = ("label", "premise", "hypothesis")
    by_source = {path.name.split(".")[0]: path for path in request.paths}
    if "dataset" in request.chosen:
        by_source = {name: by_source[name] for name in [check_choice("dataset", request.chosen["dataset"], by_source)]}
    tables = {}
    for name, path in by_source.items():
        try:
            tables[name] = chosen_rows(request, path, needed, filters=())
        except DataMissing:                                  # this source has no such split; it matters only if no source has it
            if not tables and name == list(by_source)[-1]:
                raise
    sources = [name for name, table in tables.items() for _ in range(len(table))]
    rows = list(tables.values())
    return LabelledPairs(_joined(rows, "premise"), _joined(rows, "hypothesis"), _joined(rows, "label"), sources,
                         name=request.dataset.name, split=request.split, columns=_others(rows, needed))
