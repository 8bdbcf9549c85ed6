"""What grows while texts are read: an array that is appended to where it lies, totals of a table
that gets longer, and a note of what is odd.

Peak memory is little more than the content. Used by `Corpus`, ``counts`` and ``sentences``.
"""

from __future__ import annotations

import numpy as np

from ..core import warn_data
from ..core.documents import MAX_TOKEN_CHARS

__all__ = ["GrowingArray", "GrowingCounts", "Oddities", "extended"]

_DOUBLE_UP_TO = 1 << 18


def extended(array: np.ndarray, size: int) -> np.ndarray:
    """The array itself when it holds ``size`` items, else a longer copy with space to grow."""
    if len(array) >= size:
        return array
    longer = np.empty(max(size, len(array) * 3 // 2), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


class GrowingArray:
    """A 1-D array with `append`. It doubles while it is small, then grows by an eighth; the
    operating system extends it in place."""

    def __init__(self, dtype: type):
        self._array, self._n = np.empty(0, dtype=dtype), 0

    def __len__(self) -> int:
        return self._n

    def append(self, values: np.ndarray) -> None:
        """Add values at the end."""
        need = self._n + len(values)
        if need > len(self._array):
            spare = max(self._n // 8, min(self._n, _DOUBLE_UP_TO))
            self._array.resize(need + spare, refcheck=False)
        self._array[self._n : need] = values
        self._n = need

    def finish(self, n: int | None = None) -> np.ndarray:
        """The array itself, cut to its first n items (default: all that were appended). Slices
        taken before are no longer valid."""
        self._n = self._n if n is None else n
        self._array.resize(self._n, refcheck=False)
        return self._array


class GrowingCounts:
    """Running totals of a table that grows."""

    def __init__(self) -> None:
        self._totals = np.zeros(1 << 12, dtype=np.int64)

    def add(self, numbers: np.ndarray, amounts: np.ndarray) -> None:
        """Add an amount to each of these distinct numbers."""
        missing = int(numbers.max(initial=-1)) + 1 - len(self._totals)
        if missing > 0:
            more = np.zeros(max(missing, len(self._totals) // 2), dtype=np.int64)
            self._totals = np.concatenate([self._totals, more])
        self._totals[numbers] += amounts

    def total(self, n: int) -> np.ndarray:
        """The totals of the first n numbers."""
        return self._totals[:n]


class Oddities:
    """What is allowed but rarely meant, summed over the blocks of one call: documents without a
    token, tokens too long to be words."""

    def __init__(self) -> None:
        self.n_documents, self.n_empty, self.first_empty = 0, 0, -1
        self._n_long, self._first_long = 0, -1

    def look(self, ends: np.ndarray, long: tuple[int, int]) -> None:
        """Note one block: where its documents end in its tokens (or cells), and the answer of
        `scanner.long_tokens`."""
        empty = np.flatnonzero(np.diff(ends, prepend=0) == 0)
        if len(empty) and not self.n_empty:
            self.first_empty = self.n_documents + int(empty[0])
        if long[0] and not self._n_long:
            self._first_long = self.n_documents + long[1]
        self.n_empty += len(empty)
        self._n_long += long[0]
        self.n_documents += len(ends)

    @property
    def long(self) -> tuple[int, int]:
        """Tokens too long to be words, and the first document with one; (0, 0) without."""
        return (self._n_long, self._first_long) if self._n_long else (0, 0)

    def and_then(self, others: Oddities) -> Oddities:
        """What there is with the documents of ``others`` after these."""
        both = Oddities()
        both.n_documents = self.n_documents + others.n_documents
        both.n_empty, both._n_long = self.n_empty + others.n_empty, self._n_long + others._n_long
        both.first_empty, both._first_long = self.first_empty, self._first_long
        if others.n_empty and not self.n_empty:
            both.first_empty = self.n_documents + others.first_empty
        if others._n_long and not self._n_long:
            both._first_long = self.n_documents + others._first_long
        return both

    def warn(self, what: str, outcome: str, *, stacklevel: int = 4) -> None:
        """Emit at most one DataWarning per kind: ``what`` ("token") a document lacks, and the
        ``outcome`` of that."""
        if self.n_empty:
            warn_data(f"{self.n_empty} of {self.n_documents} documents have no {what} (first: "
                      f"documents[{self.first_empty}]); {outcome}", stacklevel=stacklevel)
        if self._n_long:
            warn_data(f"{self._n_long} token(s) have more than max_token_chars={MAX_TOKEN_CHARS} "
                      f"characters, first in documents[{self._first_long}]; they are kept whole. "
                      "Is this text, and does it have spaces?", stacklevel=stacklevel)
