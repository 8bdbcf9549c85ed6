"""Which rows belong together: the occurrences of a word, the tokens of a sentence.

A layer of a model is one long table of token vectors. `group_rows` sorts its row numbers by word or
by sentence, without moving a vector, and `Groups.random` makes groups of the same sizes out of
chance, which is what every measure of contextualisation is compared with. Taught in
``09_anisotropy``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import check_int, generator, shown

__all__ = ["Groups", "group_rows"]


@dataclass(frozen=True)
class Groups:
    """Groups of rows of a table: group i, of ``labels[i]``, has ``rows[offsets[i]:offsets[i +
    1]]``.

    Attributes
    ----------
    rows, offsets, labels : arrays
    pool : (any,) int
        All rows that carry a label, those of groups that were left out included: from them `random`
        draws.
    n_rows : int
        Rows of the table.
    """

    rows: np.ndarray = field(repr=False)
    offsets: np.ndarray = field(repr=False)
    labels: np.ndarray = field(repr=False)
    pool: np.ndarray = field(repr=False)
    n_rows: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def sizes(self) -> np.ndarray:
        """How many rows each group has, (groups,)."""
        return np.diff(self.offsets)

    def random(self, *, seed: int = 0) -> Groups:
        """Groups of the same sizes, of rows drawn from the pool, none twice: the baseline with as
        many vectors.

        Parameters
        ----------
        seed : int, default 0

        Returns
        -------
        Groups
        """
        drawn = generator(seed).permutation(self.pool)[: len(self.rows)]
        return Groups(drawn, self.offsets, self.labels, self.pool, self.n_rows)


def group_rows(labels: Any, *, contexts: Any = None, least: int = 1, most: int | None = None,
               seed: int = 0) -> Groups:
    """Group row numbers by label, in the order of the labels.

    Parameters
    ----------
    labels : (n,) int or str
        The word or the sentence of each row; a negative one, or ``""``, leaves the row out (special
        tokens).
    contexts : (n,) int, optional
        The sentence of each row.
    least : int >= 1, default 1
        How many rows a group needs, or how many different contexts where these are given (5 for
        words in the paper).
    most : int >= 1, optional
        Rows of a group, drawn by chance where there are more; None for no limit.
    seed : int, default 0
        Of that.

    Returns
    -------
    Groups

    Raises
    ------
    TypeError, ValueError
        Lengths, no group left.

    Notes
    -----
    [ethayarajh2019contextual]

    Examples
    --------
    >>> group_rows(["a", "b", "a", ""]).rows.tolist()
    [0, 2, 1]
    """
    labels = _labels(labels)
    pool = np.flatnonzero(labels != "" if labels.dtype.kind == "U" else labels >= 0)
    names, of_row = np.unique(labels[pool], return_inverse=True)
    seen = (np.bincount(of_row, minlength=len(names)) if contexts is None
            else _different(of_row, _contexts(contexts, len(labels))[pool], len(names)))
    enough = seen >= check_int("least", least)
    if not enough.any():
        what = "rows" if contexts is None else "different contexts"
        raise ValueError(f"labels hold {len(names)} groups, the largest with {seen.max(initial=0)} "
                         f"{what}; expected >= 1 with least={least}")
    kept = enough[of_row]
    pool_rows, number = pool[kept], (np.cumsum(enough) - 1)[of_row[kept]]
    order = np.argsort(number, kind="stable")
    rows, number = pool_rows[order], number[order]
    if most is not None:
        rows, number = _at_most(rows, number, check_int("most", most), seed)
    return Groups(rows, np.searchsorted(number, np.arange(enough.sum() + 1)), names[enough], pool,
                  len(labels))


def _labels(labels: Any) -> np.ndarray:
    if isinstance(labels, (str, bytes)) or not (isinstance(labels, Sequence)
                                                or hasattr(labels, "__array__")):
        raise TypeError(f"labels={shown(labels)} is {type(labels).__name__}; expected a list or an "
                        "array, one label per row")
    array = np.asarray(labels)
    if array.dtype == object and array.ndim == 1 and all(isinstance(label, str) for label in array):
        array = array.astype(np.str_)                 # as a column of pandas is
    if array.ndim != 1 or not len(array):
        raise ValueError(f"labels has shape {array.shape}; expected one label per row, >= 1")
    if array.dtype.kind not in "iuU":
        raise TypeError(f"labels={shown(labels)} has dtype {array.dtype}; expected ints or str")
    return array


def _contexts(contexts: Any, n: int) -> np.ndarray:
    array = np.asarray(contexts)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise ValueError(f"contexts has shape {array.shape} and dtype {array.dtype}; expected {n} "
                         "ints, one per label")
    return array


def _different(of_row: np.ndarray, contexts: np.ndarray, n: int) -> np.ndarray:
    """How many different contexts each group has."""
    _, context = np.unique(contexts, return_inverse=True)
    width = int(context.max(initial=0)) + 1
    return np.bincount(np.unique(of_row * width + context) // width, minlength=n)


def _at_most(rows: np.ndarray, number: np.ndarray, most: int,
             seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their groups, with ``most`` rows drawn from each group that has more; the order
    stays.
    """
    shuffled = np.lexsort([generator(seed).random(len(rows)), number])
    # of each shuffled row in its group
    place = np.arange(len(rows)) - np.searchsorted(number, number)
    keep = np.sort(shuffled[place < most])
    return rows[keep], number[keep]
