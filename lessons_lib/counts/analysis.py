"""From a block of texts to counted features: scan, drop stop words, chain word n-grams, count.

The two common token patterns and character n-grams run compiled; any other pattern runs through
``re.findall``, a text at a time, with the same result as scikit-learn's. Blocks may be analysed by
several threads. `FeatureTable` numbers every distinct feature of a collection; the name of an
n-gram is spelled once, at the end, and only if its column is kept. Used by `BagOfWords`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..text.normalise import normalise
from ..text.patterns import TokenPattern
from ..text.scanner import (BLOCK_CHARACTERS, FAST_PATTERNS, Buffers, CharacterScan, ScannedBlock,
                            TokenScan, WordScan, long_tokens)
from ..text.stop_words import checked_stop_words
from ..text.string_table import Strings, StringTable, extended, hashes_of
from .rows import add_pairs, count_rows, grown_pair_slots, place_rows, word_ngrams

__all__ = ["Analysis", "CountedBlock", "FeatureTable", "PlacedBlock", "Placement"]


class BlockFeatures:
    """A block's strings (``n_words``), then its word n-grams as pairs of earlier features."""

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
    """Numbers for features as they appear: strings (``first`` = -1), or a feature plus one word."""

    def __init__(self) -> None:
        self._strings = StringTable()
        self._feature_of_string = np.empty(1 << 11, dtype=np.int32)
        self._firsts = np.empty(1 << 11, dtype=np.int32)
        self._lasts = np.empty(1 << 11, dtype=np.int32)
        self._slots, self._n = np.zeros(1 << 12, dtype=np.int32), 0

    def __len__(self) -> int:
        return self._n

    # Features that are strings keep the string's number in ``lasts``.

    def _add_strings(self, string_of: np.ndarray, n_before: int) -> np.ndarray:
        n_new = len(self._strings) - n_before
        self._feature_of_string = extended(self._feature_of_string, len(self._strings))
        self._firsts = extended(self._firsts, self._n + n_new)
        self._lasts = extended(self._lasts, self._n + n_new)
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
            most = self._n + len(features) - features.n_words
            self._firsts, self._lasts = extended(self._firsts, most), extended(self._lasts, most)
            if 2 * most > len(self._slots):
                self._slots = grown_pair_slots(self._firsts, self._lasts, self._n,
                                               1 << int(4 * most).bit_length())
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
        """Numbers of a block's features, -1 for unknown ones; threads may share the table."""
        block = features.block
        string_of = self._strings.find(block.strings, block.hashes)
        words = np.where(string_of >= 0, self._feature_of_string[string_of], np.int32(-1))
        return self._chained(features, words, add=False)

    def add_names(self, names: Iterable[str], *, chained: bool) -> np.ndarray:
        """Numbers (int32) of named features; with ``chained`` spaces part an n-gram's words."""
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

    def _words_of(self, features: np.ndarray) -> np.ndarray:
        """String numbers of each feature's words in order, then -1: (n, longest)."""
        columns, current = [], features.astype(np.int64)
        while (current >= 0).any():
            here = np.maximum(current, 0)  # rows that are done look up entry 0 and drop it below
            chain, last = np.where(current >= 0, self._firsts[here], -1), self._lasts[here]
            last = np.where(chain >= 0, self._lasts[np.where(chain >= 0, last, 0)], last)
            columns.append(np.where(current >= 0, last, -1))
            current = chain
        backwards = (np.stack(columns, axis=1) if columns
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
    """The first ``length`` words of each row, joined by spaces; one order of n-gram at a time."""
    names = np.empty(len(place), dtype=object)
    for order in np.unique(length):
        rows = np.flatnonzero(length == order)
        words = [spelled[place[rows, i]].tolist() for i in range(order)]
        names[rows] = [" ".join(parts) for parts in zip(*words, strict=True)]
    return names.tolist()


class CountedBlock(NamedTuple):
    """A block's cells (numbers, counts), perhaps in buffers that the next block overwrites, where
    its rows end, and per feature the rows that hold it and its occurrences.
    """

    features: BlockFeatures
    numbers: np.ndarray
    counts: np.ndarray
    row_ends: np.ndarray
    in_rows: np.ndarray
    in_all: np.ndarray
    long_tokens: tuple[int, int]

    def kept(self) -> CountedBlock:
        """The same with cells of its own."""
        return self._replace(numbers=self.numbers.copy(), counts=self.counts.astype(np.int32))


def _without(block: ScannedBlock, words: StringTable) -> ScannedBlock:
    keep = words.find(block.strings, block.hashes) < 0
    kept = keep[block.ids]
    before = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum(kept, out=before[1:])
    return block._replace(ids=block.ids[kept], document_ends=before[block.document_ends])


def _chained(block: ScannedBlock, low: int, high: int,
             buffers: Buffers) -> tuple[BlockFeatures, np.ndarray, np.ndarray]:
    """Word n-grams of a block: its features, their numbers in order, where documents end."""
    n_words, lengths = len(block.strings), np.diff(block.document_ends, prepend=0)
    high = min(high, int(lengths.max(initial=1)))  # a longer n-gram is in none of these documents
    low = min(low, high + 1)
    most = n_words + int((lengths * np.minimum(lengths, max(high - 1, 0))).sum())
    firsts, lasts = (buffers.get(name, most, np.int32) for name in ("firsts", "lasts"))
    numbers = buffers.get("numbers", len(block.ids) * max(high - low + 1, 1), np.int32)
    ends = np.empty_like(block.document_ends)
    firsts[:n_words] = lasts[:n_words] = -1
    size, n_features = 1 << max(10, len(block.ids).bit_length()), -1
    while n_features < 0:
        size *= 2
        slots = buffers.get("pair_slots", size, np.int32)
        slots[:] = 0
        n, n_features = word_ngrams(block.ids, block.document_ends, n_words, low, high, slots,
                                    firsts, lasts, numbers, ends)
    features = BlockFeatures(block, firsts[:n_features].copy(), lasts[:n_features].copy())
    return features, numbers[:n], ends


def _python_tokens(settings: Mapping[str, Any],
                   pattern: TokenPattern) -> Callable[[str], list[str]]:
    """The general path: the features of one text as strings, n-grams joined by a space."""
    (low, high), stop_words = settings["ngram_range"], checked_stop_words(settings["stop_words"])
    lowercase, form = settings["lowercase"], settings["normalise"]

    def features_of(text: str) -> list[str]:
        text = normalise(text, form)
        tokens = pattern.findall(text.lower() if lowercase else text)
        if stop_words:
            tokens = [token for token in tokens if token not in stop_words]
        if high == 1:
            return tokens
        return [" ".join(tokens[i : i + n]) for n in range(low, min(high, len(tokens)) + 1)
                for i in range(len(tokens) - n + 1)]

    return features_of


class Analysis:
    """What settings of `BagOfWords` do to a block of texts; raises as `TokenPattern`. ``chains``:
    word n-grams are chains of word numbers; ``block_characters``: texts to take at once.
    """

    def __init__(self, settings: Mapping[str, Any]):
        low, high = self.ngram_range = tuple(settings["ngram_range"])
        plain = {"lowercase": settings["lowercase"], "form": settings["normalise"]}
        self.chains, self._stop_words, self._pattern = False, None, None
        self.block_characters = BLOCK_CHARACTERS // (high - low + 1)
        if settings["analyzer"] != "word":
            self._scan = CharacterScan(low, high, settings["analyzer"] == "char_wb", **plain)
        elif settings["token_pattern"] in FAST_PATTERNS:
            self._scan = WordScan(FAST_PATTERNS[settings["token_pattern"]], **plain)
            self.chains = high > 1
            if stop_words := checked_stop_words(settings["stop_words"]):
                self._stop_words = StringTable()
                self._stop_words.add(Strings.of(sorted(stop_words)))
        else:
            self._pattern = TokenPattern(settings["token_pattern"])
            self._scan = TokenScan(_python_tokens(settings, self._pattern))

    @property
    def compiled(self) -> bool:
        """Whether the scan runs compiled, so that a second thread need not wait for Python."""
        return self._pattern is None

    def scanned(self, texts: list[str], buffers: Buffers) -> ScannedBlock:
        """The tokens of a block that are counted."""
        block = self._scan(texts, buffers)
        return block if self._stop_words is None else _without(block, self._stop_words)

    def counted(self, texts: list[str], buffers: Buffers) -> CountedBlock:
        """The counts of a block's features."""
        block = self.scanned(texts, buffers)
        features, numbers, ends = BlockFeatures(block), block.ids, block.document_ends
        if self.chains:
            features, numbers, ends = _chained(block, *self.ngram_range, buffers)
        cells = buffers.get("cells", len(numbers), np.int32)
        counts = buffers.get("counts", len(numbers), np.int64)
        row_ends = np.empty(len(texts), np.int64)
        in_rows, in_all = np.zeros(len(features), np.int64), np.zeros(len(features), np.int64)
        n = count_rows(numbers, ends, cells, counts, row_ends, in_rows, in_all)
        return CountedBlock(features, cells[:n], counts[:n], row_ends, in_rows, in_all,
                            long_tokens(block))


class PlacedBlock(NamedTuple):
    """Some texts' counts in final columns, ascending within a row."""

    columns: np.ndarray
    counts: np.ndarray
    row_ends: np.ndarray
    long_tokens: tuple[int, int]


class Placement:
    """A fixed vocabulary, ready to place counts: a table that holds its features, the column of
    each feature by number (-1: none), and the analysis of the texts.
    """

    def __init__(self, table: FeatureTable, column_of: np.ndarray, analysis: Analysis):
        self._table, self._analysis = table, analysis
        self._column_of = np.append(column_of, np.int32(-1))  # the last entry answers for number -1

    @classmethod
    def of(cls, vocabulary: Mapping[str, int], analysis: Analysis) -> Placement:
        """For a vocabulary token -> column, whose names are cut as the analysis chains words."""
        table = FeatureTable()
        numbers = table.add_names(vocabulary, chained=analysis.chains)
        column_of = np.full(len(table), -1, dtype=np.int32)
        column_of[numbers] = np.fromiter(vocabulary.values(), dtype=np.int32, count=len(vocabulary))
        return cls(table, column_of, analysis)

    def placed(self, texts: list[str], buffers: Buffers, *, binary: bool) -> PlacedBlock:
        """Counts of a block of texts; features outside the vocabulary are not counted."""
        block = self._analysis.counted(texts, buffers)
        column_of = self._column_of[self._table.find(block.features)]
        n = place_rows(block.numbers, block.counts, block.row_ends, 0, column_of, binary)
        return PlacedBlock(block.numbers[:n].copy(), block.counts[:n].copy(), block.row_ends,
                           block.long_tokens)
