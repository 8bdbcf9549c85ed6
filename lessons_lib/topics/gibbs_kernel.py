"""The compiled counting under `GibbsLDA`: topics of documents, and how often each size of a count
occurs.

Priors are learned from sizes alone: not which document has three tokens of a topic, but how many
have. Sizes up to `CAP` go into a table, the few larger ones into a list. Taught in lesson
``03_topic_models``.
"""

from __future__ import annotations

import numpy as np

from ..core.compiled import compiled

__all__ = ["CAP", "add_document_counts", "sizes_of_cells", "sizes_of_documents"]

CAP = 1024


@compiled
def add_document_counts(offsets: np.ndarray, topics: np.ndarray, out: np.ndarray) -> None:
    """Add the number of tokens of each topic in each document to ``out`` (D, K)."""
    for d in range(len(offsets) - 1):
        for t in range(offsets[d], offsets[d + 1]):
            out[d, topics[t]] += 1


@compiled
def _note(table: np.ndarray, group: int, n: int, large: np.ndarray, n_large: int) -> int:
    """Count one more of size n in a group; sizes above the table's go into the list ``large``
    (group, size). Returns the new length of the list.
    """
    if n < table.shape[1]:
        table[group, n] += 1
        return n_large
    large[n_large, 0], large[n_large, 1] = group, n
    return n_large + 1


@compiled
def sizes_of_documents(offsets: np.ndarray, topics: np.ndarray, n_topics: int, table: np.ndarray,
                       large: np.ndarray) -> int:
    """Fill ``table`` (K, CAP + 1) with the number of documents that have n > 0 tokens of topic k;
    returns how many rows of ``large`` are used.
    """
    counts, met, n_large = np.zeros(n_topics, dtype=np.int64), np.empty(n_topics, dtype=np.int64), 0
    for d in range(len(offsets) - 1):
        n_met = 0
        for t in range(offsets[d], offsets[d + 1]):
            k = topics[t]
            if counts[k] == 0:
                met[n_met] = k
                n_met += 1
            counts[k] += 1
        for i in range(n_met):
            n_large = _note(table, met[i], counts[met[i]], large, n_large)
            counts[met[i]] = 0
    return n_large


@compiled
def sizes_of_cells(word_topic: np.ndarray, n_topics: int, table: np.ndarray,
                   large: np.ndarray) -> int:
    """Fill ``table`` (1, CAP + 1) with the number of cells of (V, >= K) counts that are n > 0;
    returns as `sizes_of_documents`.
    """
    n_large = 0
    for w in range(word_topic.shape[0]):
        for k in range(n_topics):
            n = int(word_topic[w, k])
            if n > 0:
                n_large = _note(table, 0, n, large, n_large)
    return n_large
