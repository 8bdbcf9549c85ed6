"""Co-occurrence counts of texts in shards, added up.

Documents are never cut, and sums are of whole numbers in a unit that the size of the whole text
decides, so that they are divided once, at the end, as on one machine. Used by `cooccurrence` and
`Cooccurrences`; taught in lesson ``02_bag_of_words``.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..core import free_memory
from ..core.paths import cache_folder
from ..text.sharded_corpus import ShardedCorpus, known_ids
from ..text.shards import FileShard, TextShard
from ..text.strings import Strings
from .cooccurrence_stream import Nonzeros, Task, count_nonzeros

__all__ = ["count_in_shards"]


def count_in_shards(corpus: ShardedCorpus, weights: np.ndarray, unit: float, last_side: int,
                    dtype: np.dtype) -> Nonzeros:
    """Offsets, columns and values of all shards, for the rest as in `Task`."""
    work = partial(_count, tokenizer=corpus.tokenizer, weights=weights, last_side=last_side)
    matrix = corpus.shards.merged(work, operator.add, shared=Strings.of(corpus.vocabulary.tokens))
    values = matrix.data if np.dtype(dtype).kind == "i" else (matrix.data / unit).astype(dtype)
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), values


def _count(part: TextShard | FileShard, tokens: Strings, tokenizer: Any, weights: np.ndarray,
           last_side: int) -> sparse.csr_matrix:
    """The sums of one shard in their unit: CSR of int64."""
    ids, offsets = known_ids(part, tokens, tokenizer)
    task = Task(ids, offsets, len(tokens), weights, 1.0, last_side, np.dtype(np.int64))
    offsets, columns, sums = count_nonzeros(task, memory=max(1, free_memory()),
                                            folder=cache_folder())
    return sparse.csr_matrix((sums, columns, offsets), shape=(len(tokens),) * 2)
