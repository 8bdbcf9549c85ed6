"""Co-occurrence: how often do two words stand within a few words of each other?

The count is taken row by row: all positions of one word are visited in turn, and the words around
them are added into one dense row, so nothing is sorted and no table of pairs is kept. How that goes
on beyond memory is in `cooccurrence_stream`. Taught in lesson ``02_bag_of_words``; GloVe of
``05_glove_and_fasttext`` takes its counts from `Cooccurrences`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..core import check_choice, check_int, check_threads, free_memory, shown, taken
from ..core.parameters import Flag
from ..core.paths import cache_folder
from ..text.sharded_corpus import ShardedCorpus
from .cooccurrence_shards import count_in_shards
from .cooccurrence_stream import Nonzeros, Task, count_nonzeros, weights_by_distance

if TYPE_CHECKING:
    from ..text import Corpus

__all__ = ["cooccurrence", "counted"]

_AT_ONCE = 1 << 22                             # tokens checked at a time


def cooccurrence(corpus: Corpus, window: int = 5, *, symmetric: bool = True,
                 weighting: str = "uniform", threads: int = 1) -> sparse.csr_matrix:
    """Count for every two words how often one stands near the other, in the same document.

    Parameters
    ----------
    corpus : text.Corpus, or text.sharded_corpus.ShardedCorpus
        Of n tokens and V words; the shards of the second are counted where they lie.
    window : int >= 1, default 5
        Words looked at on either side.
    symmetric : bool, default True
        Count both sides (X equals its transpose); False: only the words *before* the row's word.
    weighting : {'uniform', 'harmonic'}, default 'uniform'
        1 per pair, or 1/distance as GloVe does.
    threads : int >= 1, default 1
        Rows counted at the same time; the result is bitwise the same.

    Returns
    -------
    (V, V) CSR of int64, or float64 for 'harmonic'
        Row = word, column = neighbour; no zero stored.

    Raises
    ------
    TypeError, ValueError
        Settings; a token id outside the vocabulary, by document and id.

    Notes
    -----
    The sum of a symmetric matrix is 2 sum_t sum_delta weight(delta) over all pairs that lie in one
    document; a pair of equal words adds twice to the diagonal. Harmonic counts are summed as
    integers, lcm(1..window)/delta, so that every entry is the exact sum rounded once; where these
    could overflow (window 25 for 10^7 tokens), weights are rounded to a coarser unit first.
    [pennington2014glove, Sec. 4.2]
    """
    dtype = np.int64 if weighting == "uniform" else np.float64
    offsets, columns, values = counted(corpus, window, symmetric=symmetric, weighting=weighting,
                                       threads=threads, dtype=dtype,
                                       memory=max(1, free_memory()))
    return sparse.csr_matrix((values, columns, offsets), shape=(len(offsets) - 1,) * 2)


def counted(corpus: Corpus, window: int, *, symmetric: bool, weighting: str, threads: int,
            dtype: type, memory: int, folder: Path | None = None) -> Nonzeros:
    """Check the arguments of `cooccurrence` and count: offsets, columns, values of type ``dtype``;
    beyond ``memory`` bytes in nameless files in ``folder``.
    """
    window, threads = check_int("window", window), check_threads(threads)
    memory = check_int("memory", memory)
    symmetric = Flag().check("symmetric", symmetric)
    harmonic = check_choice("weighting", weighting, ("uniform", "harmonic")) == "harmonic"
    in_shards = isinstance(corpus, ShardedCorpus)
    token_ids, offsets, n_words = (None,) * 3 if in_shards else _checked_corpus(corpus)
    n_tokens = corpus.n_tokens if in_shards else len(token_ids)
    reach = max(n_tokens - 1, 1)                              # a wider one reaches no further
    window = min(taken("window", window, reach, f"the corpus has {n_tokens:,} tokens",
                       stacklevel=4), reach)
    weights, unit = weights_by_distance(window, n_tokens, harmonic)
    last_side = 1 if symmetric else -1
    if in_shards:
        return count_in_shards(corpus, weights, unit, last_side, np.dtype(dtype))
    task = Task(token_ids, offsets, n_words, weights, unit, last_side, np.dtype(dtype))
    return count_nonzeros(task, memory=memory, folder=folder or cache_folder(), threads=threads)


def _checked_corpus(corpus: Corpus) -> tuple[np.ndarray, np.ndarray, int]:
    missing = [name for name in ("token_ids", "offsets", "vocabulary") if not hasattr(corpus, name)]
    if missing:
        raise TypeError(f"corpus={shown(corpus)} is {type(corpus).__name__}; expected a Corpus. "
                        "Make one: text.Corpus.from_texts(texts)")
    for name in ("token_ids", "offsets"):
        if getattr(np.asarray(getattr(corpus, name)).dtype, "kind", "O") not in "iu":
            raise TypeError(f"corpus.{name} has dtype {np.asarray(getattr(corpus, name)).dtype}; "
                            "expected whole numbers")
    token_ids, n_words = corpus.token_ids, len(corpus.vocabulary)
    offsets = np.asarray(corpus.offsets, dtype=np.int64)
    for start in range(0, len(token_ids), _AT_ONCE):
        block = np.asarray(token_ids[start : start + _AT_ONCE])
        if int(block.min()) < 0 or int(block.max()) >= n_words:
            at = int(np.flatnonzero((block < 0) | (block >= n_words))[0])
            document = int(np.searchsorted(offsets, start + at, side="right")) - 1
            raise ValueError(f"corpus document {document} holds token id {int(block[at])}; "
                             f"expected ids in [0, {n_words - 1}], the {n_words} words "
                             "of its vocabulary. Build the corpus again from its texts")
    return token_ids, offsets, n_words
