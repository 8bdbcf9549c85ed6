"""From token numbers to rows of a sparse matrix: word n-grams, counts per document, columns in
order, and the matrix that grows while texts are read.

Numbers stand for strings throughout: an n-gram is the pair of its first n - 1 words (one number)
and its last word, so no string is joined for a text. All is done in place, so that the peak of the
memory is little more than the finished matrix. Used by `BagOfWords`; taught in lesson
``02_bag_of_words``.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import sparse

from ..core.compiled import compiled
from ..text.growing_array import GrowingArray

__all__ = ["GrowingRows", "add_pairs", "count_rows", "grown_pair_slots", "place_rows",
           "word_ngrams"]

MIX, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
SHORT_ROW = 96
_CELLS_AT_ONCE = 1 << 18
LARGEST_INT32 = np.iinfo(np.int32).max


@compiled
def _place(first: int, last: int, slots: np.ndarray, firsts: np.ndarray, lasts: np.ndarray) -> int:
    """The pair's slot, or the free one where it belongs; it holds number + 1, 0 is free."""
    mask = np.uint64(slots.size - 1)
    h = (np.uint64(first) << np.uint64(32) ^ np.uint64(last)) * MIX
    place = np.int64((h ^ h >> SHIFT) & mask)
    while slots[place] != 0:
        pair = slots[place] - 1
        if firsts[pair] == first and lasts[pair] == last:
            return place
        place = (place + 1) & (slots.size - 1)
    return place


@compiled
def grown_pair_slots(firsts: np.ndarray, lasts: np.ndarray, n: int, size: int) -> np.ndarray:
    """A fresh slot array of ``size``, a power of two, with the pairs among the first n entries."""
    slots = np.zeros(size, np.int32)
    for pair in range(n):
        if firsts[pair] >= 0:
            slots[_place(firsts[pair], lasts[pair], slots, firsts, lasts)] = pair + 1
    return slots


@compiled
def word_ngrams(ids: np.ndarray, document_ends: np.ndarray, n_words: int, low: int, high: int,
                slots: np.ndarray, firsts: np.ndarray, lasts: np.ndarray, out: np.ndarray,
                out_ends: np.ndarray) -> tuple[int, int]:
    """Number the word n-grams of a block, write those of order ``low`` to ``high`` by document.

    Entries below ``n_words`` are words; an n-gram of order 2 and above is a new entry with
    ``firsts`` and ``lasts``. Returns how many were written, and how many entries there are (-1:
    slots full).
    """
    n, n_entries, begin, longest = 0, n_words, 0, 0
    for document in range(document_ends.size):
        longest = max(longest, document_ends[document] - begin)
        begin = document_ends[document]
    begin = 0
    grams = np.empty(longest, np.int32)
    for document in range(document_ends.size):
        end = document_ends[document]
        for i in range(begin, end):
            grams[i - begin] = ids[i]
            if low == 1:
                out[n] = ids[i]
                n += 1
        for order in range(2, high + 1):
            for i in range(begin, end - order + 1):
                place = _place(grams[i - begin], ids[i + order - 1], slots, firsts, lasts)
                if slots[place] == 0:
                    slots[place] = n_entries + 1
                    firsts[n_entries], lasts[n_entries] = grams[i - begin], ids[i + order - 1]
                    n_entries += 1
                    if 2 * n_entries > slots.size:
                        return 0, -1
                grams[i - begin] = slots[place] - 1
                if order >= low:
                    out[n] = grams[i - begin]
                    n += 1
        out_ends[document] = n
        begin = end
    return n, n_entries


@compiled
def add_pairs(block_firsts: np.ndarray, block_lasts: np.ndarray, n_words: int,
              feature_of: np.ndarray, slots: np.ndarray, firsts: np.ndarray, lasts: np.ndarray,
              n: int, add: bool) -> int:
    """Write the table's numbers of n-grams into ``feature_of[n_words:]``; new: added, or -1."""
    for entry in range(n_words, feature_of.size):
        first, last = feature_of[block_firsts[entry]], feature_of[block_lasts[entry]]
        feature_of[entry] = -1
        if first < 0 or last < 0:
            continue
        place = _place(first, last, slots, firsts, lasts)
        if slots[place] == 0 and add:
            firsts[n], lasts[n] = first, last
            n += 1
            slots[place] = n
        feature_of[entry] = slots[place] - 1
    return n


@compiled
def count_rows(ids: np.ndarray, document_ends: np.ndarray, columns: np.ndarray, counts: np.ndarray,
               row_ends: np.ndarray, in_rows: np.ndarray, in_all: np.ndarray) -> int:
    """Count each number per document as they appear; ``in_rows`` and ``in_all`` get, per number,
    the documents that hold it and its occurrences. Returns the cells written.
    """
    cell_of = np.empty(in_rows.size, np.int64)
    for entry in range(cell_of.size):
        cell_of[entry] = -1
    n, begin = 0, 0
    for document in range(document_ends.size):
        row = n
        for i in range(begin, document_ends[document]):
            entry = ids[i]
            in_all[entry] += 1
            if cell_of[entry] < row:             # its last cell lies in an earlier row
                cell_of[entry] = n
                columns[n], counts[n] = entry, 1
                in_rows[entry] += 1
                n += 1
            else:
                counts[cell_of[entry]] += 1
        begin = document_ends[document]
        row_ends[document] = n
    return n


@compiled
def _sort_short(keys: np.ndarray, a: int, b: int, spare: np.ndarray) -> None:
    """Sort a few distinct keys by counting the smaller ones: no branch, three times faster."""
    for i in range(b - a):
        spare[i] = keys[a + i]
    for i in range(b - a):
        key, smaller = spare[i], 0
        for j in range(b - a):
            smaller += spare[j] < key
        keys[a + smaller] = key


@compiled
def place_rows(columns: np.ndarray, counts: np.ndarray, row_ends: np.ndarray, begin: int,
               column_of: np.ndarray, binary: bool) -> int:
    """Give rows, which begin at cell ``begin``, their final columns, ascending, in place; cells
    without a column (-1) fall away. Returns the cell after the last one kept; ``row_ends`` follow.
    """
    n, cell, spare = begin, begin, np.empty(SHORT_ROW, np.int64)
    for row in range(row_ends.size):
        first = n
        while cell < row_ends[row]:
            column = np.int64(column_of[columns[cell]])
            if column >= 0:
                # sorted as one number, taken apart below
                counts[n] = column << 32 | (1 if binary else counts[cell])
                n += 1
            cell += 1
        if n - first <= SHORT_ROW:
            _sort_short(counts, first, n, spare)
        else:
            counts[first:n].sort()
        for k in range(first, n):
            columns[k], counts[k] = counts[k] >> 32, counts[k] & 0xFFFFFFFF
        row_ends[row] = n
    return n


class GrowingRows:
    """Rows of counts, appended block by block; `finish` gives the CSR matrix."""

    def __init__(self) -> None:
        self._columns, self._counts = GrowingArray(np.int32), GrowingArray(np.int64)
        self._row_ends = GrowingArray(np.int64)
        self._cells = 0

    def append(self, columns: np.ndarray, counts: np.ndarray, row_ends: np.ndarray) -> None:
        """Add the rows of one block; ``row_ends`` counts from the block's first cell."""
        self._columns.append(columns)
        self._counts.append(counts)
        self._row_ends.append(row_ends + self._cells)
        self._cells += len(columns)

    @property
    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns, counts and the ends of the rows, as they were appended."""
        return self._columns.finish(), self._counts.finish(), self._row_ends.finish()

    def finish(self, n_columns: int, *, column_of: np.ndarray | None = None, binary: bool = False,
               threads: int = 1) -> sparse.csr_matrix:
        """CSR with sorted columns; index arrays are int32 unless a number needs more. With
        ``column_of`` the appended columns are numbers still to be placed, where -1 drops a cell.
        """
        columns, counts = self._columns.finish(), self._counts.finish()
        row_ends = self._row_ends.finish()
        kept = len(columns)
        if column_of is not None:
            kept = _placed(columns, counts, row_ends, column_of, binary, threads)
        indptr = np.zeros(len(row_ends) + 1, dtype=np.int32 if kept <= LARGEST_INT32 else np.int64)
        indptr[1:] = row_ends
        indices, data = self._columns.finish(kept), self._counts.finish(kept)
        if kept > LARGEST_INT32:
            indices = indices.astype(np.int64)
        matrix = sparse.csr_matrix((len(indptr) - 1, n_columns), dtype=np.int64)
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix


def _placed(columns: np.ndarray, counts: np.ndarray, row_ends: np.ndarray, column_of: np.ndarray,
            binary: bool, threads: int) -> int:
    """Place all rows on several threads, close the gaps of dropped cells; returns cells kept."""
    marks = np.arange(0, len(columns) + _CELLS_AT_ONCE, _CELLS_AT_ONCE)
    bounds = np.unique(np.searchsorted(row_ends, marks))
    bounds = np.unique(np.append(np.minimum(bounds, len(row_ends)), [0, len(row_ends)]))
    parts = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
    begins = [int(row_ends[a - 1]) if a else 0 for a, _ in parts]

    def place(part: tuple[int, int], begin: int) -> int:
        return place_rows(columns, counts, row_ends[part[0] : part[1]], begin, column_of, binary)

    with ThreadPoolExecutor(threads) as pool:
        ends = list(pool.map(place, parts, begins))
    n = 0
    for (a, b), begin, end in zip(parts, begins, ends, strict=True):
        if begin != n:
            columns[n : n + end - begin] = columns[begin:end]
            counts[n : n + end - begin] = counts[begin:end]
            row_ends[a:b] -= begin - n
        n += end - begin
    return n
