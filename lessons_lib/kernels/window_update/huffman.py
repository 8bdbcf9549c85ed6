"""The Huffman tree over words: frequent words get short paths, so a softmax costs log V decisions
instead of V.

Two queues do it in linear time once the words are sorted: the leaves by rising count, and the inner
nodes, which are born in that order. Ties are broken as in the original word2vec program. Taught in
``04_word2vec``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Paths", "huffman_paths"]


class Paths(NamedTuple):
    """Path of word w, root first: ``nodes[offsets[w]:offsets[w + 1]]`` (inner nodes, 0 to V − 2)
    and as many ``bits`` (0 or 1, float32)."""

    offsets: np.ndarray
    nodes: np.ndarray
    bits: np.ndarray


def huffman_paths(counts: np.ndarray) -> Paths:
    """The tree of (V,) counts, V >= 2, in any order.

    The code of the original for counts in falling order. [mikolov2013distributed]
    """
    order = np.argsort(-np.asarray(counts, dtype=np.float64), kind="stable")[::-1]
    weight = np.asarray(counts, dtype=np.float64)[order].tolist()
    n, root = len(order), 2 * len(order) - 2
    parent, bit, leaf, node = [0] * (root + 1), [0] * (root + 1), 0, n
    for born in range(n, root + 1):  # leaves are 0 to V − 1, rising; inner nodes from V on
        total = 0.0
        for which in (0, 1):  # an inner node goes first among equals
            if leaf < n and (node >= born or weight[leaf] < weight[node]):
                chosen, leaf = leaf, leaf + 1
            else:
                chosen, node = node, node + 1
            parent[chosen], bit[chosen], total = born, which, total + weight[chosen]
        weight.append(total)
    paths: list[list[int]] = [[] for _ in range(n)]
    codes: list[list[int]] = [[] for _ in range(n)]
    for i, word in enumerate(order.tolist()):
        at = i
        while at != root:
            codes[word].append(bit[at])
            at = parent[at]
            paths[word].append(at - n)
    offsets = np.concatenate([[0], np.cumsum([len(p) for p in paths])]).astype(np.int64)
    nodes, bits = (np.array([x for p in lists for x in reversed(p)]) for lists in (paths, codes))
    return Paths(offsets, nodes.astype(np.int32), bits.astype(np.float32))
