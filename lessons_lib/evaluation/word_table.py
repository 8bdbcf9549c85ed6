"""Word vectors as one table: from a dict, a pair (words, matrix), or an object that holds both.

Objects of this course (``tokens`` or ``words`` with ``matrix``) and of gensim (``index_to_key``
with ``vectors``) are read without a copy. Used by word similarity and analogies; taught in
``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import UnknownWord, check_array, nearest_name, shown

__all__ = ["WordTable"]

LAYOUTS = (("tokens", "matrix"), ("words", "matrix"), ("index_to_key", "vectors"))


class WordTable:
    """``words`` and ``matrix`` (len(words), dim); a repeated word keeps its first row.

    Raises TypeError for another kind of object, ValueError when words and rows differ in number,
    and for NaN or infinity.
    """

    def __init__(self, vectors: Any):
        words, matrix = _words_and_matrix(vectors)
        self.words: list[str] = [str(word) for word in words]
        self.matrix: np.ndarray = check_array("vectors", matrix, min_rows=1)
        if len(self.words) != len(self.matrix):
            raise ValueError(f"vectors has {len(self.words)} words and {len(self.matrix)} rows; "
                             "expected one row per word")
        self._rows: dict[str, int] = {}
        for row, word in enumerate(self.words):
            self._rows.setdefault(word, row)

    def row(self, word: str) -> int | None:
        """Row of a word as written, else in lower case, else None."""
        result = self._rows.get(word)
        return self._rows.get(word.lower()) if result is None else result

    def rows(self, columns: list[list[str]]) -> tuple[np.ndarray, list[str]]:
        """Row numbers (n, k) of k lists of n words, -1 for missing ones, and these, each once.

        Raises UnknownWord when no question is complete: then there is nothing to score.
        """
        missing: dict[str, None] = {}
        table = np.empty((len(columns[0]), len(columns)), dtype=int)
        for k, column in enumerate(columns):
            for i, word in enumerate(map(str, column)):
                row = self.row(word)
                table[i, k] = -1 if row is None else row
                if row is None:
                    missing[word] = None
        if not (table >= 0).all(axis=1).any():
            near = nearest_name(next(iter(missing)), self.words[:50_000])
            hint = f"; nearest word: {near!r}" if near else ""
            raise UnknownWord(f"none of the {len(table)} questions has a vector for all its words; "
                              f"missing: {shown(list(missing))}{hint}. The table holds "
                              f"{len(self.words):,} words such as {shown(self.words[:3])}")
        return table, list(missing)


def _words_and_matrix(vectors: Any) -> tuple[Any, Any]:
    for words, matrix in LAYOUTS:
        if hasattr(vectors, words) and hasattr(vectors, matrix):
            return getattr(vectors, words), getattr(vectors, matrix)
    if isinstance(vectors, Mapping):
        rows = [np.asarray(row) for row in vectors.values()]
        widths = {row.shape for row in rows}
        if len(widths) > 1:
            raise ValueError(f"vectors has rows of shapes {shown(sorted(widths))}; expected one "
                             "width")
        return list(vectors), np.stack(rows) if rows else np.zeros((0, 1))
    if isinstance(vectors, tuple) and len(vectors) == 2:
        return vectors
    raise TypeError(f"vectors={shown(vectors)} is {type(vectors).__name__}; expected a dict word "
                    "-> vector, (words, matrix), or an object with words and matrix")
