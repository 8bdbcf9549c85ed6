"""From a block of texts to counted features: scan, drop stop words, chain word n-grams, count per text.

The two common token patterns and character n-grams run compiled; any other pattern runs through ``re.findall``, a text at a time, with the
same result as scikit-learn's. One object holds what the settings mean; blocks may be analysed by several threads. Used by `BagOfWords`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..text.normalise import normalise
from ..text.patterns import TokenPattern
from ..text.scanner import BLOCK_CHARACTERS, FAST_PATTERNS, CharacterScan, ScannedBlock, TokenScan, WordScan
from ..text.stop_words import checked_stop_words
from ..text.string_table import StringTable, Strings
from .feature_table import BlockFeatures, FeatureTable
from .row_kernels import count_rows, place_rows, word_ngrams

__all__ = ["Analysis", "CountedBlock", "PlacedBlock", "Placement"]


class CountedBlock(NamedTuple):
    """Some texts' counts, by the block's own feature numbers: cells (numbers, counts), where rows end, and per feature the rows that hold it
    and its occurrences."""

    features: BlockFeatures
    numbers: np.ndarray
    counts: np.ndarray
    row_ends: np.ndarray
    in_rows: np.ndarray
    in_all: np.ndarray


def _without(block: ScannedBlock, words: StringTable) -> ScannedBlock:
    keep = words.find(block.text, block.starts, block.ends, block.hashes) < 0
    kept = keep[block.ids]
    before = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum(kept, out=before[1:])
    return block._replace(ids=block.ids[kept], document_ends=before[block.document_ends])


def _chained(block: ScannedBlock, low: int, high: int) -> tuple[BlockFeatures, np.ndarray, np.ndarray]:
    """Word n-grams of a block: its features, their numbers in reading order, and where documents end."""
    n_words = len(block.starts)
    room = n_words + len(block.ids) * (high - 1)
    firsts, lasts = np.full(room, -1, dtype=np.int32), np.full(room, -1, dtype=np.int32)
    numbers, ends = np.empty(len(block.ids) * (high - low + 1), dtype=np.int32), np.empty_like(block.document_ends)
    size, n_features = 1 << max(10, len(block.ids).bit_length()), -1
    while n_features < 0:
        size *= 2
        slots = np.zeros(size, dtype=np.int32)
        n, n_features = word_ngrams(block.ids, block.document_ends, n_words, low, high, slots, firsts, lasts, numbers, ends)
    return BlockFeatures(block, firsts[:n_features], lasts[:n_features]), numbers[:n], ends


def _python_tokens(settings: Mapping[str, Any], pattern: TokenPattern) -> Callable[[str], list[str]]:
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
        return [" ".join(tokens[i : i + n]) for n in range(low, high + 1) for i in range(len(tokens) - n + 1)]

    return features_of


class Analysis:
    """What the settings of a counting method do to a block of texts.

    Parameters: settings, a mapping with the names of `BAG_SETTINGS`, already checked. Raises as `TokenPattern`.
    Attributes: chains, whether word n-grams are chains of word numbers; block_characters, texts to take at once.
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
                self._stop_words.add_strings(sorted(stop_words))
        else:
            self._pattern = TokenPattern(settings["token_pattern"])
            self._scan = TokenScan(_python_tokens(settings, self._pattern))

    @property
    def compiled(self) -> bool:
        """Whether the scan runs compiled; if not, a second thread would only wait for the interpreter's lock."""
        return self._pattern is None

    def scanned(self, texts: list[str]) -> ScannedBlock:
        """The tokens of a block that are counted."""
        if self._pattern is not None:
            self._pattern.try_on(texts)
        block = self._scan(texts)
        return block if self._stop_words is None else _without(block, self._stop_words)

    def counted(self, texts: list[str]) -> CountedBlock:
        """The counts of a block's features."""
        block = self.scanned(texts)
        features, numbers, ends = _chained(block, *self.ngram_range) if self.chains else (BlockFeatures(block), block.ids, block.document_ends)
        cells, counts, row_ends = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.int64), np.empty(len(texts), np.int64)
        in_rows, in_all = np.zeros(len(features), np.int64), np.zeros(len(features), np.int64)
        n = count_rows(numbers, ends, cells, counts, row_ends, in_rows, in_all)
        return CountedBlock(features, cells[:n], counts[:n], row_ends, in_rows, in_all)


class PlacedBlock(NamedTuple):
    """Some texts' counts in final columns, ascending within a row."""

    features: BlockFeatures
    columns: np.ndarray
    counts: np.ndarray
    row_ends: np.ndarray


class Placement:
    """A fixed vocabulary, ready to place counts: the features by number and the column of each.

    Parameters: vocabulary, token -> column; analysis, which says whether names with spaces are chains.
    """

    def __init__(self, vocabulary: Mapping[str, int], analysis: Analysis):
        self._table, self._analysis = FeatureTable(), analysis
        numbers = self._table.add_names(vocabulary, chained=analysis.chains)
        self._column_of = np.full(len(self._table) + 1, -1, dtype=np.int32)        # the last entry answers for number -1
        self._column_of[numbers] = np.fromiter(vocabulary.values(), dtype=np.int32, count=len(vocabulary))

    def placed(self, texts: list[str], *, binary: bool) -> PlacedBlock:
        """Counts of a block of texts; features outside the vocabulary are not counted."""
        block = self._analysis.counted(texts)
        column_of = self._column_of[self._table.find(block.features)]
        n = place_rows(block.numbers, block.counts, block.row_ends, 0, column_of, binary)
        return PlacedBlock(block.features, block.numbers[:n], block.counts[:n], block.row_ends)


def strings_of(vocabulary: Mapping[str, int]) -> Strings:
    """The tokens of a vocabulary in column order, packed."""
    return Strings.of(sorted(vocabulary, key=vocabulary.__getitem__))
