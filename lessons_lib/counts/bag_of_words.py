"""Bag of words: a text as the counts of its words, the sum of their one-hot vectors.

Order is forgotten, except inside n-grams. The matrix is sparse and equal to that of scikit-learn's
``CountVectorizer``, several times sooner: texts are scanned in blocks by compiled loops, and
strings are made only for the columns. `TfIdf`, `BM25` and `OneHot` are bags of words with other
numbers in the cells. Taught in lesson ``02_bag_of_words``.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from ..core import check_int, check_memory, checked_batches, shown, track, warn_data
from ..core.checks import ORDINARY, check_most
from ..core.estimator import SavedEstimator
from ..core.learned import Strings
from ..core.parameters import Choice, Flag, Given, Int, Threads
from ..text.growing_array import GrowingCounts
from ..text.normalise import check_text, checked_form
from ..text.scanner import Buffers, Oddities, checked_threads, scanned_blocks
from ..text.stop_words import checked_stop_words
from .analysis import Analysis, FeatureTable, Placement
from .rows import GrowingRows

__all__ = ["BagOfWords", "Counted"]


def _ngram_range(name: str, value: Any) -> tuple[int, int]:
    """(shortest, longest), both checked."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name}={shown(value)} is no pair; expected (shortest, longest), such as "
                        "(1, 2)")
    for i, end in enumerate(value):                # whole numbers; the range of both is told below
        check_int(f"{name}[{i}]", end, low=min(1, end) if isinstance(end, numbers.Integral) else 1)
    low, high = map(int, value)
    if not 1 <= low <= high:
        raise ValueError(f"{name}=({low}, {high}) is out of range; expected 1 <= shortest <= "
                         "longest")
    return low, check_most(f"{name}[1]", high)


def _share_or_count(name: str, value: Any) -> Any:
    """A number of documents or a share of them."""
    allowed = "expected a number of documents (int >= 1) or a share (float in [0, 1])"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; {allowed}")
    if not (value >= 1 if isinstance(value, numbers.Integral) else 0 <= value <= 1):
        raise ValueError(f"{name}={shown(value)} is out of range; {allowed}")
    return value


def _vocabulary(name: str, value: Any) -> dict[str, int]:
    """A given vocabulary as dict token -> column; a set is sorted, a sequence keeps its order."""
    if isinstance(value, (str, bytes, Iterator)) or not isinstance(value, Iterable):
        remedy = (". An iterator can be read only once: pass a list"
                  if isinstance(value, Iterator) else "")
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected a list of "
                        f"tokens or a dict token -> column{remedy}")
    tokens = sorted(value) if isinstance(value, Set) and _all_text(value) else list(value)
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(f"{name} holds {shown(token)}, a {type(token).__name__}; expected "
                            "tokens (str)")
        check_text(f"{name}: token", token)
    if not tokens:
        raise ValueError(f"{name} is empty; expected >= 1 token")
    if not isinstance(value, Mapping):
        columns = {token: column for column, token in enumerate(tokens)}
        if len(columns) < len(tokens):
            twice = next(token for i, token in enumerate(tokens) if columns[token] != i)
            raise ValueError(f"{name} holds {shown(twice)} twice; expected each token once")
        return columns
    columns = {token: check_int(f"{name}[{shown(token)}]", column, low=-(2**62))
               for token, column in value.items()}
    if sorted(columns.values()) != list(range(len(columns))):
        raise ValueError(f"{name} has columns {shown(sorted(set(columns.values())))}; expected "
                         f"each of 0 … {len(columns) - 1} once")
    return columns


def _all_text(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _plain(value: Any) -> Any:
    """A setting as JSON has it: sets sorted, other collections as lists."""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, (tuple, list)) or hasattr(value, "__array__"):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


class Columns(Strings):
    """A vocabulary, dict token -> column, kept as its tokens in the order of the columns."""

    def pack(self, value: Mapping[str, int]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Bytes and offsets."""
        return super().pack(sorted(value, key=value.__getitem__))

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> dict[str, int]:
        """The vocabulary."""
        tokens = super().unpack(arrays, extra, sizes)
        columns = {token: column for column, token in enumerate(tokens)}
        if len(columns) < len(tokens):
            raise ValueError("token_bytes holds a token twice")
        return columns


class Counted(NamedTuple):
    """All documents' features, documents with each, occurrences; rows unless only a fit is made."""

    table: FeatureTable
    in_rows: np.ndarray
    in_all: np.ndarray
    oddities: Oddities
    rows: GrowingRows | None

    @property
    def n_documents(self) -> int:
        """Empty ones included."""
        return self.oddities.n_documents


class BagOfWords(SavedEstimator):
    r"""Counts of words or n-grams per text; `transform` gives a sparse matrix (n_texts, n_columns).

    Notes
    -----
    Equal to ``CountVectorizer`` for the same settings. For that reason ``normalise`` is None here,
    a deviation from row T15, under which two spellings of a word are one token; `text.Tokenizer`
    and `text.Corpus` use NFC. Columns ascend within each row. A text without a known token is a
    zero row, with one DataWarning. A setting that is changed after `fit` counts at the next one.

    Examples
    --------
    >>> BagOfWords().fit_transform(["the cat", "the other cat"]).toarray().tolist()
    [[1, 0, 1], [1, 1, 1]]
    """

    ngram_range = Given((1, 1), "shortest and longest n-gram, in words or characters",
                        kind="(int, int)", check=_ngram_range, positional=1)
    min_df = Given(1, "keep what is in at least so many texts, or so large a share of them",
                   kind="int >= 1 or float in [0, 1]", check=_share_or_count)
    max_df = Given(1.0, "keep what is in at most so many texts, or so large a share of them",
                   kind="int >= 1 or float in [0, 1]", check=_share_or_count)
    max_features = Int(None, "keep the most frequent ones")
    lowercase = Flag(True, "lower-case the texts first")
    token_pattern = Given(r"(?u)\b\w\w+\b", r"a word; the default needs two word characters, so "
                          r"'I' and 'a' are none. ``(?u)\b\w+\b`` is as fast; others run through "
                          "``re.findall``, with a time limit where it could take for ever",
                          kind="regular expression")
    analyzer = Choice("word", "char", "char_wb", doc="what n-grams are made of: words, characters, "
                                                     "characters of words padded by spaces")
    stop_words = Given(None, "words that are not counted", kind="'english' or iterable of str",
                       check=lambda name, value: checked_stop_words(value))
    vocabulary = Given(None, "tokens in the order of the columns, or token -> column; then nothing "
                             "is learned", kind="iterable of str or mapping", check=_vocabulary)
    binary = Flag(False, "1 instead of the count")
    normalise = Given(None, "make one token of different spellings of 'café'",
                      kind="'NFC' or another form of Unicode",
                      check=lambda name, value: checked_form(value))
    threads = Threads(None, "None: all cores; the result is the same")

    vocabulary_ = Columns("columns", doc="token -> column, alphabetical")

    name = "bag of words"
    _needs_texts = False                         # whether a given vocabulary is not all of a fit

    # -------------------------------------------------------------------------- learning

    def fit(self, documents: Iterable[str]) -> Self:
        """Learn the vocabulary, and what else the method takes from the texts.

        Parameters
        ----------
        documents : iterable of str
            Read once.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings, anything but str, 0 documents or 0 tokens, no column left.
        """
        learned, _ = self._learn(documents, keep_rows=False)
        vars(self).update(learned)
        return self

    def fit_transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Learn and transform in one pass.

        Parameters
        ----------
        documents : iterable of str
            Read once.

        Returns
        -------
        (n_texts, n_columns) CSR
            As `transform`.

        Raises
        ------
        TypeError, ValueError
            As `fit`.
        """
        learned, matrix = self._learn(documents, keep_rows=True)
        vars(self).update(learned)
        return matrix

    def _learn(self, documents: Iterable[str] | Counted,
               keep_rows: bool) -> tuple[dict[str, Any], sparse.csr_matrix | None]:
        """The attributes that a fit sets, and the matrix, which need not be kept."""
        given, high = self._check_settings()["vocabulary"], self._settings_now()["ngram_range"][1]
        analysis = Analysis(self._settings_now())
        if given is not None:
            matrix = self._place(Placement.of(given, analysis), analysis, len(given),
                                 checked_batches(documents), binary=self.binary)
            return self._as_learned(given), matrix
        counted = documents
        if not isinstance(documents, Counted):    # which `tally` makes of texts in shards
            counted = self._count(analysis, checked_batches(documents), keep_rows=keep_rows)
        self._check_counted(counted.oddities)
        features = self._kept(counted)
        if high > ORDINARY:
            warn_data(f"ngram_range={shown(self.ngram_range)} goes beyond the data: no n-gram is "
                      "longer than its text; all are counted")
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
        learned = self._as_learned(dict(zip(names, range(len(names)), strict=True)))
        # else what was pruned would stay in memory; `transform` makes a small index
        if len(counted.table) <= 2 * len(features):
            learned["_placement"] = (learned["vocabulary_"], analysis,
                                     Placement(counted.table, column_of, analysis))
        return learned, matrix

    def _settings_now(self) -> dict[str, Any]:
        """The settings as they were given, those that a subclass fixes included."""
        return {name: getattr(self, name) for name in {**BagOfWords._PARAMETERS,
                                                       **self._PARAMETERS}}

    def _as_learned(self, vocabulary: dict[str, int]) -> dict[str, Any]:
        """The attributes of a fit with this vocabulary; the index is made when it is needed."""
        return {"vocabulary_": vocabulary, "_fitted": self._settings_now(), "_placement": None}

    def _threads(self, analysis: Analysis) -> int:
        return checked_threads(self.threads) if analysis.compiled else 1

    def _count(self, analysis: Analysis, batches: Iterable[list[str]], *,
               keep_rows: bool) -> Counted:
        """Count every feature of all documents, of which there may be none."""
        table, rows = FeatureTable(), GrowingRows() if keep_rows else None
        oddities, buffers = Oddities(), Buffers()
        in_rows, in_all = GrowingCounts(), GrowingCounts()
        for block in scanned_blocks(batches, lambda texts: analysis.counted(texts, buffers).kept(),
                                    threads=self._threads(analysis),
                                    size=analysis.block_characters):
            number = table.add(block.features)
            in_rows.add(number, block.in_rows)
            in_all.add(number, block.in_all)
            if rows is not None:
                rows.append(number[block.numbers], block.counts, block.row_ends)
            oddities.look(block.row_ends, block.long_tokens)
        return Counted(table, in_rows.total(len(table)), in_all.total(len(table)), oddities, rows)

    def _check_counted(self, oddities: Oddities) -> None:
        """Raise ValueError where no document has a token, and warn of those without."""
        if oddities.n_empty == oddities.n_documents:
            settings = (f"token_pattern={shown(self.token_pattern)} and "
                        f"stop_words={shown(self.stop_words)}")
            if self.analyzer != "word":
                settings = f"analyzer={self.analyzer!r}"
            if tuple(self.ngram_range) != (1, 1):
                settings += f", ngram_range={shown(tuple(self.ngram_range))}"
            raise ValueError(f"documents: {oddities.n_documents} documents hold 0 tokens for "
                             f"{settings}; expected >= 1 token")
        # a method that needs texts has a ``_learn`` of its own on the way here
        oddities.warn("token", "their rows are zeros", stacklevel=5 + self._needs_texts)

    def _kept(self, counted: Counted) -> np.ndarray:
        """The features that become columns, in alphabetical order of their names."""
        n = counted.n_documents
        low, high = (df if isinstance(df, numbers.Integral) else df * n
                     for df in (self.min_df, self.max_df))
        if high < low:
            raise ValueError(f"min_df={self.min_df} lies above max_df={self.max_df} for {n} "
                             f"documents ({low:g} > {high:g}); lower min_df or raise max_df")
        # words that only begin longer n-grams were never counted
        seen = np.flatnonzero(counted.in_rows)
        in_rows = counted.in_rows[seen]
        kept = seen[(in_rows <= high) & (in_rows >= low)]
        if not len(kept):
            raise ValueError(f"min_df={self.min_df} and max_df={self.max_df} leave no column of "
                             f"{len(seen)} for {n} documents; lower min_df or raise max_df")
        features = counted.table.in_order(kept)
        if self.max_features is None or len(features) <= self.max_features:
            return features
        amount = (counted.in_rows if self.binary else counted.in_all)[features]
        # numpy's default sort, on the same numbers in the same order as scikit-learn's: ties fall
        # alike
        return features[np.sort((-amount).argsort()[: self.max_features])]

    # -------------------------------------------------------------------------- using

    def _check_fitted(self, attribute: str) -> None:
        """A given vocabulary needs no `fit`, unless texts tell more than that."""
        if not self._needs_texts and not hasattr(self, "vocabulary_"):
            given = self._PARAMETERS["vocabulary"].check("vocabulary", self.vocabulary)
            if given is not None:
                vars(self).update(self._as_learned(given))
        super()._check_fitted(attribute)

    def transform(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Count the tokens that are in the vocabulary, and weigh the counts as the method does.

        Parameters
        ----------
        documents : iterable of str
            0 texts give 0 rows.

        Returns
        -------
        (n_texts, n_columns) CSR
            int64 counts, or float64 weights.

        Raises
        ------
        NotFittedError, TypeError
            Not fitted; not texts.

        Warns
        -----
        DataWarning
            Texts without a known token, which are zero rows: how many, and the first.
        """
        return self._weighed(self._counts_of(documents), vars(self))

    def _weighed(self, counts: sparse.csr_matrix, learned: Mapping[str, Any]) -> sparse.csr_matrix:
        """What the cells hold instead of counts; ``learned`` are attributes by name."""
        return counts

    def _counts_of(self, documents: Iterable[str]) -> sparse.csr_matrix:
        """Counts by the fitted vocabulary; its index is made again when it was replaced."""
        self._check_fitted("vocabulary_")
        key = self.vocabulary_
        if self._placement is None or self._placement[0] is not key:
            analysis = Analysis(self._fitted)
            self._placement = key, analysis, Placement.of(key, analysis)
        _, analysis, placement = self._placement
        return self._place(placement, analysis, len(key),
                           checked_batches(documents, allow_empty=True),
                           binary=self._fitted["binary"])

    def _place(self, placement: Placement, analysis: Analysis, n_columns: int,
               batches: Iterable[list[str]], *, binary: bool) -> sparse.csr_matrix:
        """Count the features of a fixed vocabulary."""
        rows, oddities = GrowingRows(), Oddities()
        work = partial(placement.placed, buffers=Buffers(), binary=binary)
        for block in scanned_blocks(batches, work, threads=self._threads(analysis),
                                    size=analysis.block_characters):
            oddities.look(block.row_ends, block.long_tokens)
            rows.append(block.columns, block.counts, block.row_ends)
        oddities.warn("known token", "their rows are zeros", stacklevel=5)
        return rows.finish(n_columns)

    @property
    def dim(self) -> int:
        """Number of columns."""
        self._check_fitted("vocabulary_")
        return len(self.vocabulary_)

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """What `transform` gives as dense vectors.

        Parameters
        ----------
        texts, batch_size, progress
            As `core.Encoder.encode`.

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As `transform`; batch_size below 1.
        MemoryError
            The vectors are mostly zeros and may not fit: the bytes needed, and those free.
        """
        dim, rows = self.dim, self.transform(texts)
        check_int("batch_size", batch_size)
        check_memory(f"{rows.shape[0]:,} dense vectors of {dim:,} numbers",
                     rows.shape[0] * dim * 4, "Use transform (sparse), encode fewer texts at once, "
                     "or lower max_features")
        vectors = np.zeros((rows.shape[0], dim), dtype=np.float32)
        batches = range(0, rows.shape[0], batch_size)
        for first in track(batches, total=len(batches), label="encode", show=progress):
            part = rows[first : first + batch_size]
            row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            vectors[first + row, part.indices] = part.data
        return vectors

    # -------------------------------------------------------------------------- files

    def _saved_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings of the fit; a given vocabulary is that of the file."""
        settings = {name: _plain(self._fitted[name]) for name in self._PARAMETERS
                    if name != "vocabulary"}
        return settings, {"vocabulary_given": self._fitted["vocabulary"] is not None}

    @classmethod
    def _loaded_settings(cls, settings: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
        """JSON has no tuples."""
        if "ngram_range" in settings:
            settings = settings | {"ngram_range": tuple(settings["ngram_range"])}
        return settings

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        self.vocabulary = dict(self.vocabulary_) if extra["vocabulary_given"] else None
        vars(self).update(self._as_learned(self.vocabulary_))
