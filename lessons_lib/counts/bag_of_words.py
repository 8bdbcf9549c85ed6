"""Bag of words: a text as the counts of its words, the sum of their one-hot vectors.

Order is forgotten, except inside n-grams. The matrix is sparse and equal to that of scikit-learn's
``CountVectorizer``, several times sooner: texts are scanned in blocks by compiled loops, and
strings are made only for the columns. Taught in lesson ``02_bag_of_words``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..core import Estimator, NotFittedError, checked_batches
from ..core.checks import shown
from ..text.growing_array import GrowingCounts
from ..text.scanner import Buffers, Oddities, checked_threads, scanned_blocks
from .analysis import Analysis, CountedBlock, Placement
from .encoding import dense_vectors, load_counts, save_counts
from .feature_table import FeatureTable
from .growing_rows import GrowingRows
from .settings import TOKEN_PATTERN, check_bag_settings, checked_document_bounds, checked_vocabulary

__all__ = ["BagOfWords"]


class _Counted(NamedTuple):
    """All documents' features: the table, documents per feature, occurrences per feature, and the
    rows unless only a fit was asked for.
    """

    table: FeatureTable
    in_rows: np.ndarray
    in_all: np.ndarray
    n_documents: int
    rows: GrowingRows | None


def _analysis_of(settings: Mapping[str, Any]) -> Analysis:
    check_bag_settings(settings)
    return Analysis(settings)


class BagOfWords(Estimator):
    r"""Counts of words or n-grams per text; `transform` gives a sparse matrix (n_texts, n_columns).

    Parameters
        ngram_range: (shortest, longest) n-gram, in words or characters. min_df, max_df: keep what
        is in at least / at most so many texts (int) or so large a share of them (float in [0, 1]).
        max_features: keep the most frequent ones. lowercase: lower-case first. token_pattern:
        regular expression for a word; the default needs two word characters, so "I" and "a" are no
        words. ``(?u)\b\w+\b`` is as fast; any other runs through ``re.findall``, with a time limit
        where it could take for ever (`text.patterns`). analyzer: "word", "char" (runs of
        characters), "char_wb" (the same inside words padded by a space). stop_words: "english" or a
        list. vocabulary: tokens in column order, or token -> column; then nothing is learned.
        binary: 1 instead of the count. normalise: "NFC" and others make one token of different
        spellings of "café". threads: default all cores; the result is the same.
    Attributes
        vocabulary_: dict token -> column, alphabetical.
    Notes
        Equal to ``CountVectorizer`` for the same settings. For that reason ``normalise`` is None
        here, a deviation from row T15, under which two spellings of a word are one token;
        `text.Tokenizer` and `text.Corpus` use NFC. Columns ascend within each row. A text without a
        known token is a zero row, with one DataWarning.

    >>> BagOfWords().fit_transform(["the cat", "the other cat"]).toarray().tolist()
    [[1, 0, 1], [1, 1, 1]]
    """

    name = "bag of words"

    def __init__(self, ngram_range: tuple[int, int] = (1, 1), *, min_df: int | float = 1,
                 max_df: int | float = 1.0, max_features: int | None = None, lowercase: bool = True,
                 token_pattern: str = TOKEN_PATTERN, analyzer: str = "word",
                 stop_words: str | Iterable[str] | None = None,
                 vocabulary: Mapping[str, int] | Iterable[str] | None = None, binary: bool = False,
                 normalise: str | None = None, threads: int | None = None):
        self.ngram_range, self.min_df, self.max_df, self.max_features = ngram_range, min_df, max_df, max_features
        self.lowercase, self.token_pattern, self.analyzer, self.stop_words = lowercase, token_pattern, analyzer, stop_words
        self.vocabulary, self.binary, self.normalise, self.threads = vocabulary, binary, normalise, threads

    # ---------------------------------------------------------------------------------------- fit

    def fit(self, documents: Iterable[str]) -> BagOfWords:
        """Learn the vocabulary. Parameters: documents, any iterable of str, read once. Returns
        self.

        Raises TypeError or ValueError for settings, for anything but str, for 0 documents or 0
        tokens, and when no column is left.
        """
        self._fit(documents, keep_rows=False)
        return self

    def fit_transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Learn the vocabulary and count, in one pass.

        Returns CSR (n_texts, n_columns), int64. Raises as `fit`.
        """
        return self._fit(documents, keep_rows=True)

    def _fit(self, documents: Iterable[str], *, keep_rows: bool) -> sparse.csr_matrix | None:
        analysis = self._analysis()
        given = checked_vocabulary(self.vocabulary)
        if given is not None:
            matrix = self._place(Placement.of(given, analysis), analysis, len(given),
                                 checked_batches(documents), binary=self.binary)
            self._learned(given)
            return matrix
        counted = self._count(analysis, checked_batches(documents), keep_rows=keep_rows)
        features = self._kept(counted)
        column_of = np.full(len(counted.table), -1, dtype=np.int32)
        column_of[features] = np.arange(len(features))
        # names are spelled while compiled loops place the cells
        with ThreadPoolExecutor(1) as pool:
            spelling = pool.submit(counted.table.names, features)
            matrix = None
            if keep_rows:
                matrix = counted.rows.finish(len(features), column_of=column_of, binary=self.binary,
                                             threads=self._threads(analysis))
            names = spelling.result()
        self._learned(dict(zip(names, range(len(names)), strict=True)))
        # else what was pruned would stay in memory; `transform` makes a small index
        if len(counted.table) <= 2 * len(features):
            self._placement = self.vocabulary_, analysis, Placement(counted.table, column_of,
                                                                    analysis)
        return matrix

    def _learned(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary_, self._fitted_settings = vocabulary, self.get_params()
        self._placement: tuple[object, Analysis, Placement] | None = None

    def _analysis(self) -> Analysis:
        return _analysis_of(self.get_params())

    def _threads(self, analysis: Analysis) -> int:
        return checked_threads(self.threads) if analysis.compiled else 1

    def _count(self, analysis: Analysis, batches: Iterable[list[str]], *,
               keep_rows: bool) -> _Counted:
        table, rows, oddities, buffers = FeatureTable(), GrowingRows(
        ) if keep_rows else None, Oddities(), Buffers()
        in_rows, in_all = GrowingCounts(), GrowingCounts()

        def work(texts: list[str]) -> CountedBlock:
            return analysis.counted(texts, buffers).kept()

        for block in scanned_blocks(batches, work, threads=self._threads(analysis),
                                    size=analysis.block_characters):
            number = table.add(block.features)
            in_rows.add(number, block.in_rows)
            in_all.add(number, block.in_all)
            if rows is not None:
                rows.append(number[block.numbers], block.counts, block.row_ends)
            oddities.look(block.row_ends, block.long_tokens)
        if oddities.n_empty == oddities.n_documents:
            how = (f"token_pattern={shown(self.token_pattern)} and "
                   f"stop_words={shown(self.stop_words)}")
            how = f"analyzer={self.analyzer!r}" if self.analyzer != "word" else how
            how += "" if tuple(
                self.ngram_range) == (1, 1) else f", ngram_range={shown(tuple(self.ngram_range))}"
            raise ValueError(f"documents: {oddities.n_documents} documents hold 0 tokens for "
                             f"{how}; expected >= 1 token")
        oddities.warn("token", "their rows are zeros", stacklevel=5)
        return _Counted(table, in_rows.total(len(table)), in_all.total(len(table)),
                        oddities.n_documents, rows)

    def _kept(self, counted: _Counted) -> np.ndarray:
        """The features that become columns, in alphabetical order of their names."""
        low, high = checked_document_bounds(self.min_df, self.max_df, counted.n_documents)
        # words that only begin longer n-grams were never counted
        seen = np.flatnonzero(counted.in_rows)
        in_rows = counted.in_rows[seen]
        kept = seen[(in_rows <= high) & (in_rows >= low)]
        if not len(kept):
            raise ValueError(f"min_df={self.min_df} and max_df={self.max_df} leave no column of "
                             f"{len(seen)} for {counted.n_documents} documents; "
                             "lower min_df or raise max_df")
        features = counted.table.in_order(kept)
        if self.max_features is None or len(features) <= self.max_features:
            return features
        amount = (counted.in_rows if self.binary else counted.in_all)[features]
        # numpy's default sort, on the same numbers in the same order as scikit-learn's: ties fall
        # alike
        return features[np.sort((-amount).argsort()[: self.max_features])]

    # -------------------------------------------------------------------------- transform

    def transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Count the tokens that are in the vocabulary. Returns CSR (n_texts, n_columns), int64; 0
        texts give 0 rows.

        Raises NotFittedError, TypeError (not texts). A text without a known token is a zero row;
        one DataWarning gives number and first index.
        """
        analysis, placement = self._fitted_placement()
        return self._place(placement, analysis, len(self.vocabulary_),
                           checked_batches(documents, allow_empty=True),
                           binary=self._fitted_settings["binary"])

    def _check_vocabulary(self) -> None:
        """A given vocabulary needs no `fit`."""
        if not hasattr(self, "vocabulary_"):
            given = checked_vocabulary(self.vocabulary)
            if given is None:
                raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit "
                                     "first")
            self._learned(given)

    def _fitted_placement(self) -> tuple[Analysis, Placement]:
        """The index of the fitted vocabulary; made again when the vocabulary was replaced.

        Settings are those of the fit.
        """
        self._check_vocabulary()
        key = self.vocabulary_
        if self._placement is None or self._placement[0] is not key:
            analysis = _analysis_of(self._fitted_settings)
            self._placement = key, analysis, Placement.of(self.vocabulary_, analysis)
        return self._placement[1:]

    def _place(self, placement: Placement, analysis: Analysis, n_columns: int,
               batches: Iterable[list[str]], *, binary: bool) -> sparse.csr_matrix:
        rows, oddities = GrowingRows(), Oddities()
        work = partial(placement.placed, buffers=Buffers(), binary=binary)
        for block in scanned_blocks(batches, work, threads=self._threads(analysis),
                                    size=analysis.block_characters):
            oddities.look(block.row_ends, block.long_tokens)
            rows.append(block.columns, block.counts, block.row_ends)
        oddities.warn("known token", "their rows are zeros")
        return rows.finish(n_columns)

    # -------------------------------------------------------------------------- encoder, files

    @property
    def dim(self) -> int:
        """Number of columns."""
        self._check_vocabulary()
        return len(self.vocabulary_)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Counts as dense vectors.

        Returns (n, dim) float32. Raises as `transform`, and MemoryError when the result cannot fit.
        """
        return dense_vectors(self.transform, texts, dim=self.dim, batch_size=batch_size,
                             progress=progress)

    def save(self, path: str | os.PathLike) -> None:
        """Write settings and vocabulary into a folder. Raises NotFittedError, OSError."""
        self._check_vocabulary()
        save_counts(path, self, self.vocabulary_, {})

    @classmethod
    def load(cls, path: str | os.PathLike) -> BagOfWords:
        """Read a folder that `save` wrote.

        Raises FileNotFoundError, DamagedFile, ValueError (a newer format).
        """
        estimator, vocabulary, _, _ = load_counts(path, cls)
        estimator._learned(vocabulary)
        return estimator
