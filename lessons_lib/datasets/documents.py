"""Loads collections of labelled texts from their tables.

Labels become int64 indices into ``label_names`` (sorted), as classifiers want them; titles and other columns are kept. Used by the
lessons on counting, topics and classification.
"""

from __future__ import annotations

import re

import numpy as np

from .records import Documents
from .rows import Request, chosen_rows
from .tables import Table

__all__ = ["documents", "unescaped"]

ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}


def unescaped(text: str) -> str:
    r"""Undo the escapes of a one-line text: ``\n`` a newline, ``\t`` a tab, ``\\`` a backslash; any other backslash stays."""
    return re.sub(r"\\[nt\\]", lambda found: ESCAPES[found[0]], text) if "\\" in text else text


def _labels(table: Table, column: str, *, task: bool) -> tuple[np.ndarray, tuple[str, ...]]:
    values = [f"{group}/{value}" for group, value in zip(table["task"], table[column], strict=True)] if task else table[column]
    names, codes = np.unique(values, return_inverse=True) if values else (np.array([], str), np.array([], int))
    return codes, tuple(names.tolist())


def documents(request: Request) -> Documents:
    """Texts with labels and, where the file has them, titles."""
    column = request.dataset.columns
    table = chosen_rows(request, request.paths[0], list(column.values()))
    several = "task" in request.dataset.filters and "task" not in request.chosen         # label "1" of two tasks means two things
    labels, names = _labels(table, column["label"], task=several)
    texts = [unescaped(text) for text in table[column["text"]]] if request.dataset.escaped else table[column["text"]]
    return Documents(texts, labels, table[column["title"]] if "title" in column else None, names, name=request.dataset.name, split=request.split,
                     columns={name: values for name, values in table.columns.items() if name not in column.values()})
