"""From texts to one vector each: the words of a block of texts are found, and pooled.

`WordPooling` is the base of the methods that pool given word vectors; a new one writes ``_pool``.
Texts are cut and numbered by the scanner of ``text``; a hash table finds the row of each distinct
word once per block. Memory holds the result and a few blocks, whatever the number of texts; rows
keep the order of the texts, the same for every number of threads. Taught in ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..core.checks import check_int, shown
from ..core.documents import checked_batches
from ..core.estimator import SavedEstimator
from ..core.memory import check_memory
from ..core.parameters import Threads
from ..core.progress import track
from ..text.corpus import Corpus, scan_of
from ..text.scanner import (Buffers, Oddities, ScannedBlock, TokenScan, checked_threads,
                            long_tokens, scanned_blocks)
from ..text.string_table import Index
from ..text.tokenise import GivenTokenizer
from ..vectors.word_vectors import GivenVectors, WordVectors
from .sums import divide_by_norms, first_not_finite, sum_rows

__all__ = ["Pooling", "Sums", "WeightedMean", "WordPooling", "as_corpus", "encode",
           "numbered_documents"]

# larger blocks leave the processor's cache, smaller ones look the same words up more often
BLOCK_CHARACTERS = 1 << 18
TOKENS_AT_ONCE, DOCUMENTS_AT_ONCE = 1 << 16, 1 << 14


# ----------------------------------------------------------------------------------------- corpora


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
    """Yield the token ids of a corpus' documents, many at a time, and where each ends in them.

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


# ----------------------------------------------------------------------------------------- pooling


class Sums(NamedTuple):
    """Vectors of a block of texts, float32; how many known words each has; its `long_tokens`."""

    vectors: np.ndarray
    known: np.ndarray
    long_tokens: tuple[int, int]


@dataclass(frozen=True)
class Pooling:
    """How the words of a text become its vector; a subclass writes `of`.

    The matrix of ``vectors`` is read anew each time, so a vector that was changed counts at once;
    ``index`` finds their rows.
    """

    vectors: WordVectors
    index: Index

    @property
    def dim(self) -> int:
        """Columns of a text's vector."""
        return self.vectors.dim

    def of(self, row_of: np.ndarray, ids: np.ndarray,
           ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vectors (n, dim) float32 of texts, zeros without a known word; known words of each (n,).

        Text s is ``ids[ends[s - 1]:ends[s]]``; ``row_of`` gives the row of an id, -1 for none.
        """
        raise NotImplementedError

    def of_block(self, block: ScannedBlock) -> Sums:
        """The same for texts that were just scanned."""
        rows = self.index.rows(block.strings, block.hashes)
        return Sums(*self.of(rows, block.ids, block.document_ends), long_tokens(block))

    def of_corpus(self, corpus: Corpus) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the same for a corpus' documents in order, some thousand words at a time."""
        row_of = self.index.rows_of(corpus.vocabulary.tokens)
        for ids, ends in numbered_documents(corpus):
            yield self.of(row_of, ids, ends)

    def _checked_matrix(self, row_of: np.ndarray) -> np.ndarray:
        """The word vectors, float32, in which all these rows must lie."""
        matrix = np.ascontiguousarray(self.vectors.matrix, dtype=np.float32)
        rows = min(len(matrix), len(self.index.tokens))
        if row_of.max(initial=-1) >= rows:       # rows become addresses
            raise ValueError(f"vectors: {self.vectors!r} has {rows} rows, and row {row_of.max()} "
                             "was a word's when this was fitted; expected vectors that only grow. "
                             "Fit again")
        return matrix

    def _check_finite(self, out: np.ndarray) -> None:
        """Raise ValueError for vectors that are not, with the word where one word is to blame."""
        if first_not_finite(out) < 0:
            return
        matrix = self.vectors.matrix
        bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if len(bad):
            raise ValueError(f"vectors.matrix[{bad[0]}], the vector of "
                             f"{shown(self.vectors.tokens[bad[0]])}, holds NaN or infinity "
                             f"({len(bad)} words have such a vector); expected finite numbers")
        raise ValueError(f"vectors.matrix holds {np.abs(matrix).max():g}; what is made of such "
                         "vectors leaves float32. Scale them down: cosines stay as they are")


@dataclass(frozen=True)
class EachText(Pooling):
    """Pools text by text: ``pool`` makes one vector of the vectors of a text's words."""

    pool: Callable[[np.ndarray], np.ndarray]

    @cached_property
    def dim(self) -> int:
        """As many as one word gives."""
        return len(self.pool(np.ones((1, self.vectors.dim), dtype=np.float32)))

    def of(self, row_of: np.ndarray, ids: np.ndarray,
           ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `Pooling.of`."""
        matrix, rows = self._checked_matrix(row_of), row_of[ids]
        out = np.zeros((len(ends), self.dim), dtype=np.float32)
        known = np.zeros(len(ends), dtype=np.int64)
        for s, (begin, end) in enumerate(pairwise([0, *ends.tolist()])):
            words = rows[begin:end][rows[begin:end] >= 0]
            known[s] = len(words)
            if len(words):
                out[s] = self.pool(matrix[words])
        self._check_finite(out)
        return out, known


@dataclass(frozen=True)
class WeightedMean(Pooling):
    """Adds up weighted word vectors by a compiled loop.

    ``weights``, one per row, float32; ``once``: each distinct word of a text counts one time;
    ``per_weight``: divide by the sum of weights, else by the number of known words;
    ``per_dimension``: divide each dimension by its norm over the text's words.
    """

    weights: np.ndarray
    once: bool = False
    per_weight: bool = False
    per_dimension: bool = False

    def of(self, row_of: np.ndarray, ids: np.ndarray,
           ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `Pooling.of`."""
        matrix = self._checked_matrix(row_of)
        out = np.empty((len(ends), matrix.shape[1]), dtype=np.float32)
        known = np.empty(len(ends), dtype=np.int64)
        sum_rows(matrix, self.weights, row_of, ids, ends, self.once, self.per_weight, out, known)
        if self.per_dimension:
            divide_by_norms(matrix, row_of, ids, ends, out)
        self._check_finite(out)
        return out, known

    def size(self) -> float:
        """About how large the entries of a text's vector can be."""
        if self.per_dimension:
            return float(self.weights.max())
        largest = np.abs(self.vectors.matrix).max(axis=1)
        return float((largest * self.weights.astype(np.float64)).max())


class WordPooling(SavedEstimator):
    """Base of the methods that make a text's vector of given word vectors: settings, files, encode.

    A subclass writes ``_pool``; or ``_pooling_of``, where a compiled loop pools many texts at once;
    and ``_ready``, where there is something to learn first.
    """

    vectors = GivenVectors("words without one are left out", positional=1)
    tokenizer = GivenTokenizer("cuts texts as the vectors' own corpus was cut; "
                               "None: ``Tokenizer()``")
    threads = Threads(None, "None: all cores; the result is the same")

    name: str
    _fit_settings: dict[str, Any]
    _pooling: Pooling

    def _pool(self, settings: Mapping[str, Any], words: np.ndarray) -> np.ndarray:
        """One vector of the vectors (n, d) float32, n >= 1, of the known words of a text."""
        raise NotImplementedError

    def _pooling_of(self, settings: dict[str, Any], index: Index) -> Pooling:
        """What pools texts by checked settings."""
        return EachText(settings["vectors"], index, partial(self._pool, settings))

    def _prepare(self, settings: dict[str, Any], index: Index) -> None:
        """Make what `encode` needs."""
        self._fit_settings, self._pooling = settings, self._pooling_of(settings, index)

    def _ready(self) -> dict[str, Any]:
        """The settings that `encode` goes by, when all is prepared for them."""
        settings, made = self._check_settings(), vars(self).get("_pooling")
        tokens = settings["vectors"].tokens
        if made is None or made.index.tokens is not tokens or self._fit_settings != settings:
            self._prepare(settings, Index(tokens))
        return settings

    @property
    def dim(self) -> int:
        """Columns of a vector."""
        self._ready()
        return self._pooling.dim

    def encode(self, texts: Sequence[str], *, batch_size: int = 256,
               progress: bool = False) -> np.ndarray:
        """Vectors of texts; the `Encoder` contract.

        Parameters
        ----------
        texts : sequence of str
            With components="batch" all of them are one batch.
        batch_size : int >= 1, default 256
            Texts taken at a time.
        progress : bool, default False
            Show a bar.

        Returns
        -------
        (n, dim) float32

        Raises
        ------
        NotFittedError
            Of a method that has something to learn.
        TypeError, ValueError
            Settings, texts that are none, a word vector that is not finite.
        MemoryError

        Warns
        -----
        DataWarning
            Texts without a known word; their vectors are zeros.
        """
        settings = self._ready()
        return self._encoded(texts, tokenizer=settings["tokenizer"], threads=settings["threads"],
                             batch_size=batch_size, progress=progress, label=self.name)

    def _encoded(self, texts: Sequence[str], **options: Any) -> np.ndarray:
        """The vectors, by `encode` of this module with these options."""
        return encode(texts, self._pooling, **options)

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
        self._ready()
        vectors, tokens = self._pooling.vectors, self._pooling.index.tokens
        if len(tokens) < len(vectors):           # words that were added after the fit stay out
            vectors = WordVectors(tokens, vectors.matrix[: len(tokens)], name=vectors.name)
        return self._fit_settings | {"vectors": vectors}, {"name": self.name}

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        self.name, settings = extra["name"], self._check_settings()
        self._prepare(settings, Index(settings["vectors"].tokens))


# ----------------------------------------------------------------------------------------- encoding


def encode(texts: Iterable[str], pooling: Pooling, *, tokenizer: Any, threads: int | None,
           batch_size: int, progress: bool, label: str,
           finish: Callable[[np.ndarray], None] | None = None,
           look: Callable[[np.ndarray], None] | None = None) -> np.ndarray:
    """One vector per text, (n, dim) float32; one DataWarning about texts without a known word.

    ``finish`` changes the vectors of some texts in place, from several threads; ``look`` is shown
    the vectors in order, while they are in the processor's cache. Raises TypeError or ValueError
    (texts, settings, vectors that are not finite), MemoryError when the result cannot fit.
    """
    check_int("batch_size", batch_size)
    n_threads, scan, dim = checked_threads(threads), scan_of(tokenizer), pooling.dim
    expected = len(texts) if isinstance(texts, Sized) else 0
    check_memory(f"{expected:,} sentence vectors of {dim:,} dimensions", 4 * expected * dim,
                 "Encode fewer texts at once")
    batches = track(checked_batches(texts, name="texts", allow_empty=True, size=batch_size),
                    label=label, show=progress, total=-(-expected // batch_size) or None)
    result, n = np.empty((expected, dim), dtype=np.float32), 0
    oddities, buffers = Oddities(), Buffers()

    def work(documents: list[str]) -> Sums:
        sums = pooling.of_block(scan(documents, buffers))
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
    oddities.warn("word with a vector", "their sentence vectors are zeros", stacklevel=5)
    result.resize((n, dim), refcheck=False)
    return result
