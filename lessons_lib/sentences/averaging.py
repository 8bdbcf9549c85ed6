"""From texts to weighted means of word vectors, a block of texts at a time: the part that all
methods of this room share.

Texts are cut and numbered by the scanner of ``text``; a hash table finds the row of each distinct
word once per block. Memory holds the result and a few blocks, whatever the number of texts; rows
come in the order of the texts, the same for every number of threads. Taught in ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core import check_int, checked_batches, shown, track
from ..text import Corpus
from ..text.corpus import scan_of
from ..text.scanner import (Buffers, Oddities, ScannedBlock, TokenScan, checked_threads,
                            long_tokens, scanned_blocks)
from ..text.string_table import Strings, StringTable
from ..vectors import WordVectors
from .reading import numbered_documents
from .sums import divide_by_lengths, first_not_finite, sum_rows

__all__ = ["Averaging", "Index", "Sums", "checked_vectors", "encode"]

# larger blocks leave the processor's cache, smaller ones look the same words up more often
BLOCK_CHARACTERS = 1 << 18
_ROOM_TO_SPARE = 1 << 26                         # bytes


def checked_vectors(vectors: Any) -> WordVectors:
    """The word vectors a method was given.

    Raises TypeError for anything else, ValueError for no words or no columns.
    """
    if not isinstance(vectors, WordVectors):
        raise TypeError(f"vectors={shown(vectors)} is {type(vectors).__name__}; expected "
                        "WordVectors. Make them: WordVectors(tokens, matrix), "
                        "vectors.read_text(path) or vectors.from_gensim(model)")
    if not len(vectors) or not vectors.dim:
        raise ValueError(f"vectors={vectors!r} is empty; expected >= 1 word with >= 1 number")
    return vectors


class Index:
    """Finds the row of a word's vector for many words at once.

    Parameters: tokens, distinct words in the order of the rows.
    """

    def __init__(self, tokens: list[str]):
        self.tokens, self._table = tokens, StringTable()
        self._table.add(Strings.of(tokens))

    def rows(self, strings: Strings, hashes: np.ndarray) -> np.ndarray:
        """The row of each string, -1 for one without a vector; int64."""
        return self._table.find(strings, hashes)

    def rows_of(self, tokens: list[str]) -> np.ndarray:
        """The row of each token; int64."""
        return self._table.find(Strings.of(tokens))


class Sums(NamedTuple):
    """The vectors of a block of texts, float32; how many known words each has; `long_tokens` of the
    block.
    """

    vectors: np.ndarray
    known: np.ndarray
    long_tokens: tuple[int, int]


@dataclass(frozen=True)
class Averaging:
    """How a sentence's word vectors are added.

    ``vectors``: the words' vectors, read anew each time, so a vector that was changed counts at
    once. ``index``: of their words. ``weights``: one per row, float32. ``once``: each distinct word
    of a sentence counts one time. ``per_weight``: divide by the sum of weights, else by the number
    of known words. ``per_dimension``: divide each dimension by its length over the sentence's
    words.
    """

    vectors: WordVectors
    index: Index
    weights: np.ndarray
    once: bool = False
    per_weight: bool = False
    per_dimension: bool = False

    def of(self, row_of: np.ndarray, ids: np.ndarray,
           ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vectors (n, dim) float32 and numbers of known words (n,) of sentences whose words have
        the numbers ``ids``.
        """
        matrix = np.ascontiguousarray(self.vectors.matrix, dtype=np.float32)
        rows = min(len(matrix), len(self.weights))
        if row_of.max(initial=-1) >= rows:       # rows become addresses
            raise ValueError(f"vectors: {self.vectors!r} has {rows} rows, and row {row_of.max()} "
                             "was a word's when this was "
                             "fitted; expected vectors that only grow. Fit again")
        out, known = np.empty((len(ends), matrix.shape[1]), dtype=np.float32), np.empty(
            len(ends), dtype=np.int64)
        sum_rows(matrix, self.weights, row_of, ids, ends, self.once, self.per_weight, out, known)
        if self.per_dimension:
            divide_by_lengths(matrix, row_of, ids, ends, out)
        if first_not_finite(out) >= 0:
            self._refuse()
        return out, known

    def of_block(self, block: ScannedBlock) -> Sums:
        """The same for texts that were just scanned."""
        out, known = self.of(self.index.rows(block.strings, block.hashes), block.ids,
                             block.document_ends)
        return Sums(out, known, long_tokens(block))

    def of_corpus(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """Yield the vectors of a corpus' documents in order, some thousand words at a time."""
        row_of = self.index.rows_of(corpus.vocabulary.tokens)
        for ids, ends in numbered_documents(corpus):
            yield self.of(row_of, ids, ends)[0]

    def size(self) -> float:
        """About how large the numbers of a sentence can be."""
        if self.per_dimension:
            return float(self.weights.max())
        return float(
            (np.abs(self.vectors.matrix).max(axis=1) * self.weights.astype(np.float64)).max())

    def _refuse(self) -> None:
        matrix = self.vectors.matrix
        bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if len(bad):
            raise ValueError(f"vectors.matrix[{bad[0]}], the vector of "
                             f"{shown(self.vectors.tokens[bad[0]])}, holds NaN or infinity "
                             f"({len(bad)} words "
                             "have such a vector); expected finite numbers")
        raise ValueError(f"vectors.matrix holds {np.abs(matrix).max():g}; the weighted sums of "
                         "such vectors leave float32. Scale them down: cosines "
                         "stay as they are")


def encode(texts: Iterable[str], averaging: Averaging, *, tokenizer: Any, threads: int | None,
           batch_size: int, progress: bool, label: str,
           finish: Callable[[np.ndarray], None] | None = None,
           look: Callable[[np.ndarray], None] | None = None) -> np.ndarray:
    """One vector per text, (n, dim) float32; a text without a known word is zeros, and one
    DataWarning gives number and first index.

    Parameters: finish, changes the vectors of some texts in place, from several threads; look, is
    shown the vectors in order, while they are in the processor's cache. Raises TypeError or
    ValueError (texts, settings, vectors that are not finite), MemoryError when the result cannot
    fit.
    """
    check_int("batch_size", batch_size)
    n_threads, scan, dim = checked_threads(threads), scan_of(tokenizer), averaging.vectors.dim
    n = len(texts) if isinstance(texts, Sized) else 0
    _check_room(n, dim)
    batches = track(checked_batches(texts, name="texts", allow_empty=True, size=batch_size),
                    label=label, show=progress, total=-(-n // batch_size) or None)
    rows, oddities, buffers = _Rows(n, dim), Oddities(), Buffers()

    def work(documents: list[str]) -> Sums:
        sums = averaging.of_block(scan(documents, buffers))
        if finish is not None:
            finish(sums.vectors)
        return sums

    blocks = scanned_blocks(batches, work, threads=1 if isinstance(scan, TokenScan) else n_threads,
                            size=BLOCK_CHARACTERS)
    for sums in blocks:
        if look is not None:
            look(sums.vectors)
        rows.append(sums.vectors)
        oddities.look(np.cumsum(sums.known), sums.long_tokens)
    oddities.warn("word with a vector", "their sentence vectors are zeros", stacklevel=4)
    return rows.finish()


class _Rows:
    """Vectors on their way into one array.

    Parameters: n, how many are expected; there may be more or fewer.
    """

    def __init__(self, n: int, dim: int):
        self._array, self._n = np.empty((n, dim), dtype=np.float32), 0

    def append(self, vectors: np.ndarray) -> None:
        need = self._n + len(vectors)
        if need > len(self._array):
            # in place, where the system can
            self._array.resize((need + need // 8, vectors.shape[1]), refcheck=False)
        self._array[self._n : need] = vectors
        self._n = need

    def finish(self) -> np.ndarray:
        self._array.resize((self._n, self._array.shape[1]), refcheck=False)
        return self._array


def _check_room(n: int, dim: int) -> None:
    import psutil

    needed = 4 * n * dim
    if needed > _ROOM_TO_SPARE and needed > (free := psutil.virtual_memory().available):
        raise MemoryError(f"{n:,} sentence vectors of {dim:,} numbers need {needed:,} bytes, "
                          f"{free:,} are free. Encode fewer texts at once")
