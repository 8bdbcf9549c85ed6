"""From texts to weighted means of word vectors, a block of texts at a time: what all methods of
this room share.

Texts are cut and numbered by the scanner of ``text``; a hash table finds the row of each distinct
word once per block. Memory holds the result and a few blocks, whatever the number of texts; rows
keep the order of the texts, the same for every number of threads. Taught in ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.checks import check_int, shown
from ..core.documents import checked_batches
from ..core.estimator import SavedEstimator
from ..core.parameters import Int
from ..core.progress import track
from ..text.corpus import Corpus, scan_of
from ..text.scanner import (Buffers, Oddities, ScannedBlock, TokenScan, checked_threads,
                            long_tokens, scanned_blocks)
from ..text.string_table import Strings, StringTable
from ..text.tokenise import GivenTokenizer
from ..vectors.word_vectors import GivenVectors, WordVectors
from .sums import divide_by_norms, first_not_finite, sum_rows

__all__ = ["Averaging", "Index", "Sums", "WordMeans", "as_corpus", "encode", "numbered_documents"]

# larger blocks leave the processor's cache, smaller ones look the same words up more often
BLOCK_CHARACTERS = 1 << 18
TOKENS_AT_ONCE, DOCUMENTS_AT_ONCE = 1 << 16, 1 << 14
ALWAYS_FREE = 1 << 26                            # bytes of a result that are not asked for


# -------------------------------------------------------------------------------- corpora and rows


def as_corpus(texts: Iterable[str] | Corpus, *, tokenizer: Any, threads: int | None) -> Corpus:
    """Texts as a corpus with every word in it; a `Corpus` is returned as it is.

    Raises TypeError or ValueError (texts that are none, no texts, no tokens).
    """
    if not isinstance(texts, Corpus):
        return Corpus.from_texts(texts, tokenizer=tokenizer, threads=threads)
    if not texts.n_tokens:
        raise ValueError(f"texts={texts!r} holds 0 words; expected >= 1")
    return texts


def numbered_documents(corpus: Corpus) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield a corpus' documents in order, many at a time: their token ids, and where each document
    ends in them.

    Raises ValueError for an id outside the vocabulary: ids become addresses, and a corpus takes
    them as given.
    """
    offsets, first, n_words = corpus.offsets, 0, len(corpus.vocabulary)
    while first < len(corpus):
        last = int(np.searchsorted(offsets, offsets[first] + TOKENS_AT_ONCE, side="right")) - 1
        last = max(first + 1, min(last, first + DOCUMENTS_AT_ONCE))
        ids = np.array(corpus.token_ids[offsets[first] : offsets[last]])
        if len(ids) and not 0 <= ids.min() <= ids.max() < n_words:
            at = int(np.argmax((ids < 0) | (ids >= n_words)))
            document = int(np.searchsorted(offsets, offsets[first] + at, side="right")) - 1
            raise ValueError(f"corpus document {document} holds token id {ids[at]}; expected ids "
                             f"in [0, {n_words - 1}], the {n_words} words of its vocabulary. "
                             "Build the corpus again from its texts")
        yield ids, offsets[first + 1 : last + 1] - offsets[first]
        first = last


class Index:
    """Finds the row of a word's vector for many words at once; ``tokens`` are in the order of the
    rows.
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


# ----------------------------------------------------------------------------------- weighted means


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

    ``vectors`` of the words, whose matrix is read anew each time, so a vector that was changed
    counts at once; ``index`` of the words; ``weights``, one per row, float32; ``once``: each
    distinct word of a sentence counts one time; ``per_weight``: divide by the sum of weights, else
    by the number of known words; ``per_dimension``: divide each dimension by its norm over the
    sentence's words.
    """

    vectors: WordVectors
    index: Index
    weights: np.ndarray
    once: bool = False
    per_weight: bool = False
    per_dimension: bool = False

    def of(self, row_of: np.ndarray, ids: np.ndarray,
           ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vectors (n, dim) float32 and numbers of known words (n,) of sentences, by the ids of
        their words.
        """
        matrix = np.ascontiguousarray(self.vectors.matrix, dtype=np.float32)
        rows = min(len(matrix), len(self.weights))
        if row_of.max(initial=-1) >= rows:       # rows become addresses
            raise ValueError(f"vectors: {self.vectors!r} has {rows} rows, and row {row_of.max()} "
                             "was a word's when this was fitted; expected vectors that only grow. "
                             "Fit again")
        out = np.empty((len(ends), matrix.shape[1]), dtype=np.float32)
        known = np.empty(len(ends), dtype=np.int64)
        sum_rows(matrix, self.weights, row_of, ids, ends, self.once, self.per_weight, out, known)
        if self.per_dimension:
            divide_by_norms(matrix, row_of, ids, ends, out)
        if first_not_finite(out) >= 0:
            self._refuse()
        return out, known

    def of_block(self, block: ScannedBlock) -> Sums:
        """The same for texts that were just scanned."""
        rows = self.index.rows(block.strings, block.hashes)
        return Sums(*self.of(rows, block.ids, block.document_ends), long_tokens(block))

    def of_corpus(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """Yield the vectors of a corpus' documents in order, some thousand words at a time."""
        row_of = self.index.rows_of(corpus.vocabulary.tokens)
        for ids, ends in numbered_documents(corpus):
            yield self.of(row_of, ids, ends)[0]

    def size(self) -> float:
        """About how large the entries of a sentence vector can be."""
        if self.per_dimension:
            return float(self.weights.max())
        largest = np.abs(self.vectors.matrix).max(axis=1)
        return float((largest * self.weights.astype(np.float64)).max())

    def _refuse(self) -> None:
        matrix = self.vectors.matrix
        bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if len(bad):
            raise ValueError(f"vectors.matrix[{bad[0]}], the vector of "
                             f"{shown(self.vectors.tokens[bad[0]])}, holds NaN or infinity "
                             f"({len(bad)} words have such a vector); expected finite numbers")
        raise ValueError(f"vectors.matrix holds {np.abs(matrix).max():g}; the weighted sums of "
                         "such vectors leave float32. Scale them down: cosines stay as they are")


class WordMeans(SavedEstimator):
    """Base of the methods that add up given word vectors: what they are given, and their files.

    ``_fit_settings`` are the checked settings of the fit, ``_averaging`` is what it made.
    """

    vectors = GivenVectors("words without one are left out", positional=1)
    tokenizer = GivenTokenizer("cuts texts as the vectors' own corpus was cut; "
                               "None: ``Tokenizer()``")
    threads = Int(None, "None: all cores; the result is the same")

    name: str
    _fit_settings: dict[str, Any]
    _averaging: Averaging

    def _checked_corpus(self, texts: Any, settings: Mapping[str, Any],
                        index: Index) -> tuple[Corpus, np.ndarray]:
        """Texts as a corpus, and the row of each of its words; at least one must have a vector."""
        corpus = as_corpus(texts, tokenizer=settings["tokenizer"], threads=settings["threads"])
        row_of = index.rows_of(corpus.vocabulary.tokens)
        if not (row_of >= 0).any():
            raise ValueError(f"texts: none of their {len(row_of):,} words has a vector in "
                             f"{settings['vectors']!r}; expected >= 1 known word")
        return corpus, row_of

    def _saved_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        vectors, tokens = self._averaging.vectors, self._averaging.index.tokens
        if len(tokens) < len(vectors):           # words that were added after the fit stay out
            vectors = WordVectors(tokens, vectors.matrix[: len(tokens)], name=vectors.name)
        return self._fit_settings | {"vectors": vectors}, {"name": self.name}

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        self.name = extra["name"]


# ----------------------------------------------------------------------------------------- encoding


def encode(texts: Iterable[str], averaging: Averaging, *, tokenizer: Any, threads: int | None,
           batch_size: int, progress: bool, label: str,
           finish: Callable[[np.ndarray], None] | None = None,
           look: Callable[[np.ndarray], None] | None = None) -> np.ndarray:
    """One vector per text, (n, dim) float32; a text without a known word is zeros, and one
    DataWarning gives number and first index.

    ``finish`` changes the vectors of some texts in place, from several threads; ``look`` is shown
    the vectors in order, while they are in the processor's cache. Raises TypeError or ValueError
    (texts, settings, vectors that are not finite), MemoryError when the result cannot fit.
    """
    check_int("batch_size", batch_size)
    n_threads, scan, dim = checked_threads(threads), scan_of(tokenizer), averaging.vectors.dim
    expected = len(texts) if isinstance(texts, Sized) else 0
    _check_memory(expected, dim)
    batches = track(checked_batches(texts, name="texts", allow_empty=True, size=batch_size),
                    label=label, show=progress, total=-(-expected // batch_size) or None)
    result, n = np.empty((expected, dim), dtype=np.float32), 0
    oddities, buffers = Oddities(), Buffers()

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
        end = n + len(sums.vectors)
        if end > len(result):                    # more than expected; in place where the system can
            result.resize((end + end // 8, dim), refcheck=False)
        result[n:end] = sums.vectors
        n = end
        oddities.look(np.cumsum(sums.known), sums.long_tokens)
    oddities.warn("word with a vector", "their sentence vectors are zeros", stacklevel=4)
    result.resize((n, dim), refcheck=False)
    return result


def _check_memory(n: int, dim: int) -> None:
    import psutil

    needed = 4 * n * dim
    if needed > ALWAYS_FREE and needed > (free := psutil.virtual_memory().available):
        raise MemoryError(f"{n:,} sentence vectors of {dim:,} dimensions need {needed:,} bytes, "
                          f"{free:,} are free. Encode fewer texts at once")
