"""How many steps lead from one sequence to another: the edit distance, by which two texts look
alike whatever they mean.

Taught in lesson ``11_bert_flow``, where it tells how much of a similarity is spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["edit_distance"]


def edit_distance(a: Sequence[Any], b: Sequence[Any]) -> int:
    """The least number of insertions, deletions and replacements that make b of a (Levenshtein).

    Parameters
    ----------
    a, b : sequences whose items can be compared: words, or the letters of a str

    Returns
    -------
    int
        From 0 to the length of the longer one, in O(len(a) len(b)).

    Examples
    --------
    >>> edit_distance("kitten", "sitting")
    3
    >>> edit_distance("a man sings".split(), "the man sings loudly".split())
    2
    """
    row = list(range(len(b) + 1))      # from the beginnings of b to the beginning of a so far
    for i, item in enumerate(a, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            replaced = diagonal + (item != other)
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, replaced)
    return row[-1]
