"""Co-occurrence: how often do two words stand within a few words of each other?

The count is taken row by row: all positions of one word are visited in turn, and the words around them are added into one dense row,
so nothing is sorted and no table of pairs is kept. A symmetric matrix is counted as its lower triangle (where the rarer word looks at the
more frequent one, whose counters stay in the processor's cache) and mirrored. Taught in lesson ``02_bag_of_words``, used by GloVe in
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..core import check_choice, check_int, shown

if TYPE_CHECKING:
    from ..text import Corpus

__all__ = ["cooccurrence"]

BLOCK_TOKENS = 1 << 24                         # positions counted at a time: bounds the memory beside the result
GROUP_PAIRS = 1 << 22                          # at most so many pairs in the rows that one call of the kernel fills


def cooccurrence(corpus: Corpus, window: int = 5, *, symmetric: bool = True, weighting: str = "uniform", threads: int = 1) -> sparse.csr_matrix:
    """Count for every two words how often one stands within ``window`` words of the other, in the same document.

    Parameters: corpus, a `text.Corpus` of n tokens and V words; window, words looked at on either side, >= 1; symmetric, True counts both
    sides (X equals its transpose), False only the words *before* the row's word; weighting, ``"uniform"`` counts 1 per pair, ``"harmonic"``
    1/distance as GloVe does; threads, rows counted at the same time. Returns (V, V) CSR with sorted columns and no stored zeros: row =
    word, column = neighbour, int64 (uniform) or float64 (harmonic). The result is bitwise the same for any number of threads.
    Raises TypeError or ValueError for a setting, ValueError for a token id outside the vocabulary (document and id).
    Notes: the sum of a symmetric matrix is 2 sum_t sum_delta weight(delta) over all pairs that lie in one document; a pair of equal words
    adds twice to the diagonal. Harmonic counts are summed as integers, lcm(1..window)/delta, where these cannot overflow, so that every
    entry is the exact sum rounded once. [pennington2014glove, Sec. 4.2]
    """
    window = check_int("window", window)
    threads = check_int("threads", threads)
    if not isinstance(symmetric, (bool, np.bool_)):
        raise TypeError(f"symmetric={shown(symmetric)} is {type(symmetric).__name__}; expected True or False")
    harmonic = check_choice("weighting", weighting, ("uniform", "harmonic")) == "harmonic"
    token_ids, offsets, n_words = _checked_corpus(corpus)
    window = min(window, max(len(token_ids) - 1, 1))          # a wider one reaches no further
    weights, unit = _weights(window, len(token_ids), harmonic)
    columns = None                                            # the transposed counts: see _count_block
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(token_ids), BLOCK_TOKENS):
            padded, first, last = _padded_block(token_ids, offsets, start, window)
            block = _count_block(padded, (first, last), n_words, weights, both_sides=bool(symmetric), pool=pool)
            columns = block if columns is None else columns + block
    if columns is None:
        return sparse.csr_matrix((n_words, n_words), dtype=np.float64 if harmonic else np.int64)
    if harmonic:
        columns = sparse.csr_matrix((columns.data / unit, columns.indices, columns.indptr), shape=columns.shape)
    return columns.T.tocsr() + columns if symmetric else columns.T.tocsr()


def _checked_corpus(corpus: Corpus) -> tuple[np.ndarray, np.ndarray, int]:
    missing = [name for name in ("token_ids", "offsets", "vocabulary") if not hasattr(corpus, name)]
    if missing:
        raise TypeError(f"corpus={shown(corpus)} is {type(corpus).__name__}; expected a Corpus. Make one: text.Corpus.from_texts(texts)")
    for name in ("token_ids", "offsets"):
        if getattr(np.asarray(getattr(corpus, name)).dtype, "kind", "O") not in "iu":
            raise TypeError(f"corpus.{name} has dtype {np.asarray(getattr(corpus, name)).dtype}; expected whole numbers")
    token_ids, offsets, n_words = corpus.token_ids, np.asarray(corpus.offsets, dtype=np.int64), len(corpus.vocabulary)
    for start in range(0, len(token_ids), BLOCK_TOKENS):
        block = np.asarray(token_ids[start : start + BLOCK_TOKENS])
        if int(block.min()) < 0 or int(block.max()) >= n_words:
            at = int(np.flatnonzero((block < 0) | (block >= n_words))[0])
            document = int(np.searchsorted(offsets, start + at, side="right")) - 1
            raise ValueError(f"corpus document {document} holds token id {int(block[at])}; expected ids in [0, {n_words - 1}], the {n_words} words "
                             "of its vocabulary. Build the corpus again from its texts")
    return token_ids, offsets, n_words


def _weights(window: int, n_tokens: int, harmonic: bool) -> tuple[np.ndarray, float]:
    """Weight of each distance 1..window (index 0 is unused) and the unit they are measured in."""
    distance = np.arange(1, window + 1)
    if not harmonic:
        return np.ones(window + 1, dtype=np.int64), 1.0
    unit = math.lcm(*distance.tolist()) if window <= 60 else 1 << 63
    if 2 * unit * n_tokens * (1 + math.log(window)) < 2**62:  # no cell can exceed the mass of the whole matrix
        return np.concatenate([[0], unit // distance]), float(unit)
    return np.concatenate([[0.0], 1.0 / distance]), 1.0


def _padded_block(token_ids: np.ndarray, offsets: np.ndarray, start: int, window: int) -> tuple[np.ndarray, int, int]:
    """The tokens from ``start`` on with ``window`` more on both sides and a break before every document. Returns them and the centres' range."""
    from . import cooccurrence_kernel as kernel

    stop = min(start + BLOCK_TOKENS, len(token_ids))
    low, high = max(start - window, 0), min(stop + window, len(token_ids))
    breaks = offsets[np.searchsorted(offsets, low) : np.searchsorted(offsets, high, side="right")]
    padded = np.full(high - low + len(breaks) + 2, kernel.BREAK, dtype=np.int32)
    kernel.spread(np.asarray(token_ids[low:high], dtype=np.int32), breaks - low, padded)
    first = start - low + int(np.searchsorted(breaks, start, side="right")) + 1
    last = stop - low + int(np.searchsorted(breaks, stop, side="left")) + 1
    return padded, first, last


def _count_block(padded: np.ndarray, centres: tuple[int, int], n_words: int, weights: np.ndarray, *, both_sides: bool,
                 pool: ThreadPoolExecutor) -> sparse.csr_matrix:
    """Counts of the block's centres, transposed: whole rows, or with ``both_sides`` their part up to the diagonal (which then holds half).

    Rows are filled in the order in which neighbours turn up; the transposition is a counting sort, which orders them.
    """
    from . import cooccurrence_kernel as kernel

    starts, positions = kernel.positions_by_word(padded, *centres, n_words)
    row_bounds = np.minimum(np.diff(starts) * (2 * (len(weights) - 1)), n_words)    # columns a row can have

    def count(group: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        room = int(row_bounds[group[0] : group[1]].sum()) + 1       # the kernel writes one ahead
        columns, values = np.empty(room, dtype=np.int32), np.empty(room, dtype=weights.dtype)
        row_sizes = np.zeros(group[1] - group[0], dtype=np.int64)
        size = kernel.count_rows((padded, starts, positions), weights, both_sides, group, (columns, values, row_sizes))
        return columns[:size].copy(), values[:size].copy(), row_sizes

    parts = list(pool.map(count, _row_groups(np.diff(starts) * (2 * (len(weights) - 1)))))
    columns, values, row_sizes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(row_sizes)])
    rows = sparse.csr_matrix((values, columns, indptr), shape=(n_words, n_words))
    return rows.T.tocsr()


def _row_groups(pairs: np.ndarray) -> Iterator[tuple[int, int]]:
    """Cut the rows into runs of about GROUP_PAIRS pairs; the cuts depend on the counts alone, never on the threads."""
    group = np.cumsum(pairs) // GROUP_PAIRS
    cuts = np.flatnonzero(np.diff(group)) + 1
    edges = [0, *cuts.tolist(), len(pairs)]
    return itertools.pairwise(edges)
