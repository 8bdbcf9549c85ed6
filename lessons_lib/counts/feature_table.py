"""Every distinct feature of a collection, numbered: words and character n-grams as strings, word
n-grams as chains of word numbers.

The name of an n-gram is spelled once, at the end, and only if its column is kept. Columns are in
alphabetical order, as scikit-learn's; an order that for word n-grams follows from the order of
their words. Used by `BagOfWords`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..text.scanner import ScannedBlock
from ..text.string_table import Strings, StringTable, extended, hashes_of
from .row_kernels import add_pairs, grown_pair_slots

__all__ = ["BlockFeatures", "FeatureTable"]


class BlockFeatures:
    """A block's own features: its scanned strings first (``n_words``), then its word n-grams as
    pairs of earlier features.
    """

    def __init__(self, block: ScannedBlock, firsts: np.ndarray | None = None,
                 lasts: np.ndarray | None = None):
        self.block, self.n_words = block, len(block.strings)
        self.firsts, self.lasts = firsts, lasts

    def __len__(self) -> int:
        return self.n_words if self.firsts is None else len(self.firsts)


def _block_of(strings: Strings) -> ScannedBlock:
    """Strings as the tokens of no document."""
    return ScannedBlock(np.empty(0, np.int32), np.empty(0, np.int64), strings, hashes_of(strings))


class FeatureTable:
    """Numbers for features in order of first appearance.

    A feature is a string (``first`` = -1) or an earlier feature plus one word.
    """

    def __init__(self) -> None:
        self._strings = StringTable()
        self._feature_of_string = np.empty(1 << 11, dtype=np.int32)
        self._firsts, self._lasts = np.empty(1 << 11, dtype=np.int32), np.empty(
            1 << 11, dtype=np.int32)
        self._slots, self._n = np.zeros(1 << 12, dtype=np.int32), 0

    def __len__(self) -> int:
        return self._n

    # Features that are strings keep the string's number in ``lasts``.

    def _add_strings(self, string_of: np.ndarray, n_before: int) -> np.ndarray:
        n_new = len(self._strings) - n_before
        self._feature_of_string = extended(self._feature_of_string, len(self._strings))
        self._firsts, self._lasts = extended(self._firsts, self._n + n_new), extended(
            self._lasts, self._n + n_new)
        self._feature_of_string[n_before : n_before + n_new] = np.arange(self._n, self._n + n_new)
        self._firsts[self._n : self._n + n_new] = -1
        self._lasts[self._n : self._n + n_new] = np.arange(n_before, n_before + n_new)
        self._n += n_new
        return self._feature_of_string[string_of]

    def _chained(self, features: BlockFeatures, words: np.ndarray, *, add: bool) -> np.ndarray:
        if features.firsts is None:
            return words
        feature_of = np.concatenate(
            [words, np.empty(len(features) - features.n_words, dtype=np.int32)])
        if add:
            room = self._n + len(features) - features.n_words
            self._firsts, self._lasts = extended(self._firsts, room), extended(self._lasts, room)
            if 2 * room > len(self._slots):
                self._slots = grown_pair_slots(self._firsts, self._lasts, self._n,
                                               1 << int(4 * room).bit_length())
        n = add_pairs(features.firsts, features.lasts, features.n_words, feature_of, self._slots,
                      self._firsts, self._lasts, self._n, add)
        self._n = n if add else self._n
        return feature_of

    def add(self, features: BlockFeatures) -> np.ndarray:
        """Numbers of a block's features; new ones get the next numbers. Returns int32."""
        before, block = len(self._strings), features.block
        words = self._add_strings(self._strings.add(block.strings, block.hashes), before)
        return self._chained(features, words, add=True)

    def find(self, features: BlockFeatures) -> np.ndarray:
        """Numbers of a block's features, -1 for unknown ones.

        Changes nothing, so that threads may share the table.
        """
        block = features.block
        string_of = self._strings.find(block.strings, block.hashes)
        words = np.where(string_of >= 0, self._feature_of_string[string_of], np.int32(-1))
        return self._chained(features, words, add=False)

    def add_names(self, names: Iterable[str], *, chained: bool) -> np.ndarray:
        """Numbers of features given by name; with ``chained`` a name with spaces is a word n-gram.

        Returns int32.
        """
        names = list(names)
        if not chained:
            return self.add(BlockFeatures(_block_of(Strings.of(names))))
        parts = [name.split(" ") for name in names]
        strings = Strings.of([word for words in parts for word in words])
        length = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
        begin = np.cumsum(length) - length
        current, n = begin.copy(), len(strings)
        firsts, lasts = [np.full(n, -1)], [np.full(n, -1)]
        for order in range(2, int(length.max(initial=0)) + 1):
            longer = length >= order
            firsts.append(current[longer])
            lasts.append(begin[longer] + order - 1)
            current[longer] = np.arange(n, n + longer.sum())
            n += int(longer.sum())
        pairs = (np.concatenate(side).astype(np.int32) for side in (firsts, lasts))
        return self.add(BlockFeatures(_block_of(strings), *pairs))[current]

    # -------------------------------------------------------------------------- names and order

    def _words_of(self, features: np.ndarray) -> np.ndarray:
        """String numbers of each feature's words from left to right, padded by -1 on the right;
        shape (n, longest).
        """
        columns, current = [], features.astype(np.int64)
        while (current >= 0).any():
            here = np.maximum(current, 0)  # rows that are done look up entry 0 and drop it below
            chain, last = np.where(current >= 0, self._firsts[here], -1), self._lasts[here]
            last = np.where(chain >= 0, self._lasts[np.where(chain >= 0, last, 0)], last)
            columns.append(np.where(current >= 0, last, -1))
            current = chain
        backwards = (np.stack(columns, axis=1)
                     if columns
                     else np.empty((len(features), 0), dtype=np.int64))
        length = (backwards >= 0).sum(axis=1)
        place = length[:, None] - 1 - np.arange(backwards.shape[1])
        return np.where(place >= 0, np.take_along_axis(backwards, np.maximum(place, 0), axis=1), -1)

    def in_order(self, features: np.ndarray) -> np.ndarray:
        """Sort features by name, alphabetically. Returns their numbers in that order."""
        words, strings = self._words_of(features), self._strings.strings
        if words.shape[1] == 1:
            return self._feature_of_string[strings.sorted_order(words[:, 0])]
        used = np.unique(words)
        used = used[used >= 0]
        # the last entry, 0, answers for "no further word", which sorts first
        rank = np.zeros(len(strings) + 1, dtype=np.int64)
        rank[strings.sorted_order(used)] = np.arange(1, len(used) + 1)
        return features[_order_of_rows(rank[words], len(used) + 1)]

    def names(self, features: np.ndarray) -> list[str]:
        """The name of each feature; an n-gram's words are joined by spaces."""
        words, strings = self._words_of(features), self._strings.strings
        if words.shape[1] == 1:
            return strings.to_list(words[:, 0])
        used, place = np.unique(words, return_inverse=True)
        known = used >= 0
        spelled = np.full(len(used), None, dtype=object)
        spelled[known] = strings.to_list(used[known])
        return _joined(spelled, place.reshape(words.shape), (words >= 0).sum(axis=1))


def _order_of_rows(ranks: np.ndarray, base: int) -> np.ndarray:
    """Positions that sort the rows of a matrix of ranks below ``base``; the rows are distinct."""
    if base ** ranks.shape[1] < 2**62:
        return np.argsort(ranks @ (base ** np.arange(ranks.shape[1] - 1, -1, -1, dtype=np.int64)))
    return np.lexsort(ranks.T[::-1])


def _joined(spelled: np.ndarray, place: np.ndarray, length: np.ndarray) -> list[str]:
    """The first ``length`` words of each row, joined by spaces; one order of n-gram at a time, so
    that no list per row is made.
    """
    names = np.empty(len(place), dtype=object)
    for order in np.unique(length):
        rows = np.flatnonzero(length == order)
        names[rows] = list(
            map(" ".join, zip(*(spelled[place[rows, i]].tolist() for i in range(order)),
                              strict=True)))
    return names.tolist()
