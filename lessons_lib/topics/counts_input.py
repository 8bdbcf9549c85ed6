"""What a topic model reads: how often each word occurs in each document, from a count matrix or
from a `text.Corpus`.

`as_counts` checks either one and gives a `Counts`: a sparse matrix of whole numbers, and the names
of its columns where they are known. Fractions are refused, because a topic model draws or splits
single tokens: TF-IDF weights are no counts. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..core import fingerprint, shown, warn_data
from ..text.token_corpus import TokenCorpus
from ..text.vocabulary import Vocabulary

__all__ = ["Counts", "Each", "as_counts", "fingerprint_of", "runs", "thread_map"]

_LARGEST = np.iinfo(np.int32).max
Each = Callable[[Callable[[tuple[int, int]], Any], list[tuple[int, int]]], list[Any]]


@dataclass(frozen=True, eq=False)
class Counts:
    """Checked counts of words in documents; made by `as_counts`.

    Parameters
    ----------
    matrix : (n_documents, n_words) CSR of int32, canonical
        Indices sorted, no entry twice, no zero stored; never write to it.
    tokens : list of str or None
        The word of each column; None where a matrix came without names.
    reading : (offsets, word ids) or None
        Of a corpus in its order.
    """

    matrix: sparse.csr_matrix
    tokens: list[str] | None = None
    reading: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return self.matrix.shape[0]

    @property
    def n_words(self) -> int:
        """Number of columns V, words that never occur included."""
        return self.matrix.shape[1]

    @cached_property
    def n_tokens(self) -> int:
        """Sum of all counts."""
        return int(self.matrix.data.sum(dtype=np.int64))

    @cached_property
    def document_lengths(self) -> np.ndarray:
        """Tokens per document: (n_documents,) int64."""
        return np.diff(
            np.concatenate([[0], np.cumsum(self.matrix.data, dtype=np.int64)])[self.matrix.indptr])

    @cached_property
    def word_counts(self) -> np.ndarray:
        """Tokens per word: (n_words,) int64."""
        return np.bincount(self.matrix.indices, weights=self.matrix.data,
                           minlength=self.n_words).astype(np.int64)

    @cached_property
    def column_of(self) -> dict[str, int]:
        """The column of each token; empty where the columns have no names."""
        return {token: i for i, token in enumerate(self.tokens or ())}

    def tokens_in_order(self) -> tuple[np.ndarray, np.ndarray]:
        """Every token by itself: document d is ``word_ids[offsets[d]:offsets[d + 1]]``.

        Returns
        -------
        (offsets, word_ids)
            (n_documents + 1,) int64 and (n_tokens,) int32: in the order of a corpus, by rising word
            id from a matrix.
        """
        if self.reading is not None:
            return self.reading
        offsets = np.concatenate([[0], np.cumsum(self.document_lengths)]).astype(np.int64)
        return offsets, np.repeat(self.matrix.indices.astype(np.int32, copy=False),
                                  self.matrix.data)

    @classmethod
    def from_reading(cls, offsets: np.ndarray, word_ids: np.ndarray, tokens: list[str]) -> Counts:
        """Counts of tokens in the order of a corpus; nothing is checked, as `as_counts` does.

        Parameters
        ----------
        offsets, word_ids
            As `tokens_in_order` gives them.
        tokens : list of str

        Returns
        -------
        Counts
        """
        ones = np.ones(len(word_ids), dtype=np.int32)
        matrix = sparse.csr_matrix((ones, np.array(word_ids, dtype=np.int32), np.array(offsets)),
                                   shape=(len(offsets) - 1, len(tokens)))
        matrix.sum_duplicates()
        return cls(matrix, tokens,
                   (np.asarray(offsets, dtype=np.int64), np.asarray(word_ids, dtype=np.int32)))

    def rows(self, chosen: np.ndarray | slice) -> Counts:
        """The counts of some documents, in the given order; that of their words is not kept.

        Parameters
        ----------
        chosen : array of int or slice

        Returns
        -------
        Counts
        """
        return Counts(self.matrix[chosen], self.tokens)


def as_counts(data: Any, *, vocabulary: Any = None, n_words: int | None = None,
              fitting: bool = True, name: str = "data") -> Counts:
    """Check word counts and bring them into one form.

    One DataWarning gives the number of empty documents.

    Parameters
    ----------
    data : (D, V) counts, sparse or dense, text.Corpus or Counts
    vocabulary : list of str, Vocabulary or mapping token -> column, optional
        The tokens of the columns. A matrix must have one column for each; of a corpus, tokens that
        are not in it are dropped.
    n_words : int, optional
        The number of columns needed.
    fitting : bool, default True
        False where a model is only used: then there may be no documents, and no tokens.
    name : str, default 'data'
        The caller's argument in the warning.

    Returns
    -------
    Counts

    Raises
    ------
    TypeError
        Other data.
    ValueError
        A count that is negative, NaN, infinite, fractional or too large, by document and word; a
        word id outside the columns; no documents or no tokens.
    """
    names = None if vocabulary is None else _column_names(vocabulary)
    if isinstance(data, Counts):
        counts = data if names is None or names == data.tokens else _renamed(data, names)
    elif isinstance(data, TokenCorpus):
        counts = _from_corpus(data, names)
    else:
        counts = Counts(_checked_matrix(data), names)
    if counts.tokens is not None and len(counts.tokens) != counts.n_words:
        raise ValueError(f"vocabulary has {len(counts.tokens)} tokens, data has {counts.n_words} "
                         "columns; expected one token for each column")
    if n_words is not None and counts.n_words != n_words:
        raise ValueError(f"data has {counts.n_words} words (columns); expected the {n_words} that "
                         "the model was fitted on")
    _check_amount(counts, fitting=fitting, name=name)
    return counts


def _check_amount(counts: Counts, *, fitting: bool, name: str) -> None:
    if fitting and counts.n_documents == 0:
        raise ValueError("data holds 0 documents; expected >= 1")
    if fitting and counts.n_tokens == 0:
        raise ValueError(f"data: {counts.n_documents} documents hold 0 tokens; expected >= 1 token")
    empty = np.flatnonzero(np.diff(counts.matrix.indptr) == 0)
    if len(empty):
        warn_data(f"{len(empty)} of {counts.n_documents} documents hold no known token, first "
                  f"{name}[{empty[0]}]; they get the mean of the prior",
                  stacklevel=_frames_to_caller())


def _frames_to_caller() -> int:
    """Frames between `_check_amount` and the code that called this package, by any function."""
    package, frame, n = __name__.rpartition(".")[0], sys._getframe(2), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame, n = frame.f_back, n + 1
    return n


def fingerprint_of(counts: Counts) -> str:
    """By what a fit knows its data again, the order of words in a document apart."""
    return fingerprint(counts.matrix.indptr, counts.matrix.indices, counts.matrix.data)


def runs(offsets: np.ndarray, size: int) -> list[tuple[int, int]]:
    """Runs of rows of about ``size`` entries each, the same for any number of threads."""
    marks = np.arange(0, int(offsets[-1]), max(1, size))
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, marks[1:]), [len(offsets) - 1]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


@contextmanager
def thread_map(n: int) -> Iterator[Each]:
    """A map over runs that keeps their order: in this thread, or by ``n`` others."""
    if n == 1:
        yield lambda work, blocks: [work(block) for block in blocks]
        return
    pool = ThreadPoolExecutor(n)
    try:
        yield lambda work, blocks: list(pool.map(work, blocks))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


# ------------------------------------------------------------------------------ vocabulary


def _column_names(vocabulary: Any) -> list[str]:
    """Tokens in column order. Raises TypeError or ValueError unless they are distinct strings."""
    if isinstance(vocabulary, Vocabulary):
        return list(vocabulary.tokens)
    if isinstance(vocabulary, Mapping):
        names = sorted(vocabulary, key=vocabulary.__getitem__)
        if [vocabulary[name] for name in names] != list(range(len(names))):
            raise ValueError(f"vocabulary must map its {len(names)} tokens to the columns 0 to "
                             f"{len(names) - 1}, each once")
    elif isinstance(vocabulary, (str, bytes)) or not isinstance(vocabulary, (Sequence, np.ndarray)):
        raise TypeError(f"vocabulary={shown(vocabulary)} is {type(vocabulary).__name__}; expected "
                        "a list of tokens, a Vocabulary or a mapping")
    else:
        names = list(vocabulary)
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"vocabulary[{i}]={shown(name)} is {type(name).__name__}; expected a "
                            "token (str)")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"vocabulary holds {shown(twice)} twice; expected each token once")
    return [str(name) for name in names]


def _renamed(counts: Counts, names: list[str]) -> Counts:
    if counts.tokens is None:
        return Counts(counts.matrix, names, counts.reading)
    column = _columns_of(counts.tokens, names)
    if counts.reading is not None:
        return _from_tokens(*counts.reading, names, column)
    offsets, word_ids = counts.tokens_in_order()
    return Counts(_from_tokens(offsets, word_ids, names, column).matrix, names)


def _columns_of(tokens: Sequence[str], names: list[str]) -> np.ndarray:
    """The new column of each old one, -1 where its token is not among the new names."""
    column = {name: i for i, name in enumerate(names)}
    return np.fromiter((column.get(token, -1) for token in tokens), dtype=np.int32,
                       count=len(tokens))


# ------------------------------------------------------------------------------ corpus


def _from_corpus(corpus: TokenCorpus, names: list[str] | None) -> Counts:
    tokens = corpus.vocabulary.tokens
    _check_ids(corpus.offsets, corpus.token_ids, len(tokens))
    same = names is None or names == list(tokens)
    return _from_tokens(corpus.offsets, corpus.token_ids, list(tokens) if same else names,
                        None if same else _columns_of(tokens, names))


def _from_tokens(offsets: np.ndarray, word_ids: np.ndarray, names: list[str],
                 column: np.ndarray | None) -> Counts:
    """Counts of tokens in their order; with ``column``, ids are translated, those at -1 dropped."""
    if column is not None:
        translated = column[word_ids]
        kept = translated >= 0
        offsets = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[offsets]
        word_ids = translated[kept]
    return Counts.from_reading(offsets, word_ids, names)


def _check_ids(offsets: np.ndarray, word_ids: np.ndarray, n_words: int) -> None:
    """Refuse a word id that has no column, before it is used as an address."""
    if not len(word_ids) or (word_ids.min() >= 0 and word_ids.max() < n_words):
        return
    at = int(np.argmax((word_ids < 0) | (word_ids >= n_words)))
    document = int(np.searchsorted(offsets, at, side="right")) - 1
    raise ValueError(f"document {document} holds the word id {int(word_ids[at])}; expected ids in "
                     f"[0, {n_words - 1}] (V={n_words})")


# ------------------------------------------------------------------------------ matrix


def _checked_matrix(data: Any) -> sparse.csr_matrix:
    """Whole numbers >= 0 as canonical CSR int32; the input is never written."""
    data = data if sparse.issparse(data) else _array(data)
    if data.dtype.kind not in "fiub":
        raise TypeError(f"data has dtype {data.dtype}; expected counts (whole numbers >= 0)")
    if data.ndim != 2:
        remedy = " For one document pass data[None]" if data.ndim == 1 else ""
        raise ValueError(f"data has shape {data.shape}; expected 2 axes (documents, "
                         f"words).{remedy}")
    matrix = _sparse_rows(data)
    _check_values(matrix)
    counts = sparse.csr_matrix((matrix.data.astype(np.int32), matrix.indices.astype(np.int32),
                                matrix.indptr.copy()), shape=matrix.shape)
    counts.eliminate_zeros()
    counts.sort_indices()
    return counts


def _array(data: Any) -> np.ndarray:
    """A dense matrix from what NumPy can read as one."""
    first = data[0] if isinstance(data, Sequence) and len(data) else None
    if isinstance(data, (str, bytes)) or isinstance(first, (str, bytes)):
        raise TypeError(f"data={shown(data)} holds texts; expected counts. Count them first: "
                        "Corpus.from_texts(texts)")
    if isinstance(first, Sequence) and len(first) and isinstance(first[0], (str, bytes)):
        raise TypeError(f"data[0]={shown(first)} holds tokens; expected counts. Count them first: "
                        "Corpus.from_tokens(documents)")
    if not (hasattr(data, "__array__") or isinstance(data, Sequence)):
        raise TypeError(f"data={shown(data)} is {type(data).__name__}; expected a matrix of counts "
                        "or a Corpus")
    try:
        return np.asarray(data)
    except ValueError as error:
        raise ValueError(f"data={shown(data)} is no matrix, its rows differ in length; expected "
                         "counts (documents, words)") from error


def _sparse_rows(data: Any) -> sparse.csr_matrix:
    """CSR without repeated entries; ids and offsets are checked before anything walks along them.
    """
    if not sparse.issparse(data):
        # which sparse matrices cannot hold, nor foreign byte orders
        half = data.dtype == np.float16
        return sparse.csr_matrix(
            data.astype(np.float32 if half else data.dtype.newbyteorder("="), copy=False))
    if data.format == "coo":
        _check_places(data)
    elif data.format in ("csc", "bsr"):
        _check_format(data)
    # these two are summed on the way
    rows = sparse.csr_matrix(data.astype(np.float64) if data.format in ("coo", "bsr") else data)
    if (np.diff(rows.indptr) < 0).any():
        raise ValueError(f"data.indptr falls at {int(np.argmax(np.diff(rows.indptr) < 0))}; "
                         "expected offsets that never fall")
    _check_ids(rows.indptr, rows.indices, rows.shape[1])
    # what the input says of itself is asked anew
    matrix = sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    if not matrix.has_canonical_format:
        # a copy; 200 + 100 is no uint8, and no sum of wrong numbers turns round to a right one
        matrix = matrix.astype(np.float64)
        matrix.sum_duplicates()
    return matrix


def _check_places(data: Any) -> None:
    """Refuse places outside a COO matrix: SciPy converts them without a look."""
    (n_documents, n_words), rows, columns = data.shape, data.row, data.col
    if not len(rows) == len(columns) == len(data.data):
        raise ValueError(f"data has {len(rows)} row, {len(columns)} column numbers and "
                         f"{len(data.data)} counts; expected as many of each")
    if len(rows) and not (rows.min() >= 0 and rows.max() < n_documents):
        at = int(np.argmax((rows < 0) | (rows >= n_documents)))
        raise ValueError(f"data.row[{at}]={int(rows[at])} is no document; expected ints in [0, "
                         f"{n_documents - 1}] ({n_documents} documents)")
    if len(rows) and not (columns.min() >= 0 and columns.max() < n_words):
        at = int(np.argmax((columns < 0) | (columns >= n_words)))
        raise ValueError(f"document {int(rows[at])} holds the word id {int(columns[at])}; expected "
                         f"ids in [0, {n_words - 1}] (V={n_words})")


def _check_format(data: Any) -> None:
    try:
        data.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"data is a damaged {data.format} matrix: {error}. Build it anew from its "
                         "counts") from error


def _check_values(matrix: sparse.csr_matrix) -> None:
    values = matrix.data
    if values.dtype.kind == "b" or not len(values):
        return
    # NaN is unequal to itself
    whole = (np.ones(len(values), dtype=bool)
             if values.dtype.kind in "iu" else values == np.floor(values))
    bad = np.flatnonzero(~(whole & (values >= 0) & (values <= _LARGEST)))
    if not len(bad):
        return
    at, value = int(bad[0]), values[bad[0]].item()
    document = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
    hint = (" Is this TF-IDF? Pass the counts it was made from" if np.isfinite(value) and value > 0
            and value != np.floor(value) else "")
    raise ValueError(f"data[{document}, {matrix.indices[at]}]={shown(value)} (document {document}, "
                     f"word {matrix.indices[at]}; {len(bad)} such "
                     f"entries) is no count; expected whole numbers in [0, {_LARGEST}].{hint}")
