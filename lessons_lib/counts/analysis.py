"""From a block of texts to counted features: scan, drop stop words, chain word n-grams, count per
text.

The two common token patterns and character n-grams run compiled; any other pattern runs through
``re.findall``, a text at a time, with the same result as scikit-learn's. One object holds what the
settings mean; blocks may be analysed by several threads. Used by `BagOfWords`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..text.normalise import normalise
from ..text.patterns import TokenPattern
from ..text.scanner import (BLOCK_CHARACTERS, FAST_PATTERNS, Buffers, CharacterScan, ScannedBlock,
                            TokenScan, WordScan, long_tokens)
from ..text.stop_words import checked_stop_words
from ..text.string_table import StringTable, Strings
from .feature_table import BlockFeatures, FeatureTable
from .row_kernels import count_rows, place_rows, word_ngrams

__all__ = ["Analysis", "CountedBlock", "PlacedBlock", "Placement"]


class CountedBlock(NamedTuple):
    """Some texts' counts, by the block's own feature numbers: cells (numbers, counts), where rows
    end, and per feature the rows that hold it and its occurrences. The cells may lie in buffers
    that the thread's next block overwrites.
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
    """Word n-grams of a block: its features, their numbers in reading order, and where documents
    end.
    """
    n_words, lengths = len(block.strings), np.diff(block.document_ends, prepend=0)
    high = min(high, int(lengths.max(initial=1)))  # a longer n-gram is in none of these documents
    low = min(low, high + 1)
    room = n_words + int((lengths * np.minimum(lengths, max(high - 1, 0))).sum())
    firsts, lasts = buffers.get("firsts", room, np.int32), buffers.get("lasts", room, np.int32)
    numbers, ends = buffers.get("numbers",
                                len(block.ids) * max(high - low + 1, 1),
                                np.int32), np.empty_like(block.document_ends)
    firsts[:n_words] = lasts[:n_words] = -1
    size, n_features = 1 << max(10, len(block.ids).bit_length()), -1
    while n_features < 0:
        size *= 2
        slots = buffers.get("pair_slots", size, np.int32)
        slots[:] = 0
        n, n_features = word_ngrams(block.ids, block.document_ends, n_words, low, high, slots,
                                    firsts, lasts, numbers, ends)
    return BlockFeatures(block, firsts[:n_features].copy(),
                         lasts[:n_features].copy()), numbers[:n], ends


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
        return ([
            " ".join(tokens[i:i + n])
            for n in range(low,
                           min(high, len(tokens)) + 1)
            for i in range(len(tokens) - n + 1)
        ])

    return features_of


class Analysis:
    """What the settings of a counting method do to a block of texts.

    Parameters: settings, a mapping with the names of `BAG_SETTINGS`, already checked. Raises as
    `TokenPattern`. Attributes: chains, whether word n-grams are chains of word numbers;
    block_characters, texts to take at once.
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
        """Whether the scan runs compiled; if not, a second thread would only wait for the
        interpreter's lock.
        """
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
        cells, counts = buffers.get("cells", len(numbers), np.int32), buffers.get(
            "counts", len(numbers), np.int64)
        row_ends, in_rows, in_all = np.empty(len(texts), np.int64), np.zeros(
            len(features), np.int64), np.zeros(len(features), np.int64)
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
    """A fixed vocabulary, ready to place counts.

    Parameters: table, its features (and perhaps more); column_of, the column of each by number, -1
    for none; analysis of the texts.
    """

    def __init__(self, table: FeatureTable, column_of: np.ndarray, analysis: Analysis):
        self._table, self._analysis = table, analysis
        self._column_of = np.append(column_of, np.int32(-1))  # the last entry answers for number -1

    @classmethod
    def of(cls, vocabulary: Mapping[str, int], analysis: Analysis) -> Placement:
        """For a vocabulary token -> column; the analysis says whether names with spaces are chains
        of words.
        """
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
