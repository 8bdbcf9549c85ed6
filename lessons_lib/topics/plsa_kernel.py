"""The compiled loops under `PLSA`: expectations by document, expectations by word, and fold-in of
new documents.

The posterior of a topic is never stored: with r = n(d, w) / sum_k a_dk b_wk, the expected counts
are a_dk sum_w r b_wk for documents and b_wk sum_d r a_dk for words. Each sum runs in a fixed order,
so that the number of threads changes no bit. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

import numpy as np

from ..core.compiled import compiled

__all__ = ["TINY", "expect_documents", "expect_words", "fold_in"]

# a share below it counts as 0: products of two such would leave the fast range of floats
TINY = 1e-100


@compiled
def expect_documents(offsets: np.ndarray, columns: np.ndarray, counts: np.ndarray, a: np.ndarray,
                     b: np.ndarray, ratio: np.ndarray, expected: np.ndarray, first: int,
                     last: int) -> float:
    """Fill rows ``first`` to ``last`` of ``expected`` (D, K) and the ratios of their entries.
    Returns sum of n log sum_k a b.

    Parameters: CSR of the counts (offsets, columns, counts); a (D, K) and b (V, K), factors of the
    posterior; ratio (nnz,), n / sum_k a b.
    """
    n_topics, total = a.shape[1], 0.0
    for d in range(first, last):
        for k in range(n_topics):
            expected[d, k] = 0.0
        for e in range(offsets[d], offsets[d + 1]):
            w, p = columns[e], 0.0
            for k in range(n_topics):
                p += a[d, k] * b[w, k]
            ratio[e] = 0.0
            total += counts[e] * np.log(p)
            if p > 0.0:
                ratio[e] = counts[e] / p
                for k in range(n_topics):
                    expected[d, k] += ratio[e] * b[w, k]
        for k in range(n_topics):
            expected[d, k] *= a[d, k]
    return total


@compiled
def expect_words(offsets: np.ndarray, documents: np.ndarray, entries: np.ndarray, a: np.ndarray,
                 b: np.ndarray, ratio: np.ndarray, expected: np.ndarray, first: int,
                 last: int) -> None:
    """Fill rows ``first`` to ``last`` of ``expected`` (V, K). Parameters: CSC of the counts
    (offsets, documents), where ``entries`` says which ratio belongs to which place; the others as
    in `expect_documents`.
    """
    n_topics = a.shape[1]
    for w in range(first, last):
        for k in range(n_topics):
            expected[w, k] = 0.0
        for place in range(offsets[w], offsets[w + 1]):
            d, r = documents[place], ratio[entries[place]]
            for k in range(n_topics):
                expected[w, k] += r * a[d, k]
        for k in range(n_topics):
            expected[w, k] *= b[w, k]


@compiled
def fold_in(offsets: np.ndarray, columns: np.ndarray, counts: np.ndarray, b: np.ndarray,
            theta: np.ndarray, beta: float, n_steps: int, tolerance: float, first: int,
            last: int) -> None:
    """EM on the topics of documents ``first`` to ``last`` alone, from the start given in ``theta``;
    stops when they move less than ``tolerance``.

    Words that every topic gives probability 0 are passed over; a document of such words only keeps
    its start.
    """
    n_topics = b.shape[1]
    a, expected = np.empty(n_topics), np.empty(n_topics)
    for d in range(first, last):
        for _ in range(n_steps):
            for k in range(n_topics):
                a[k] = theta[d, k] if beta == 1.0 else theta[d, k] ** beta
                expected[k] = 0.0
            for e in range(offsets[d], offsets[d + 1]):
                w, p = columns[e], 0.0
                for k in range(n_topics):
                    p += a[k] * b[w, k]
                if p > 0.0:
                    r = counts[e] / p
                    for k in range(n_topics):
                        expected[k] += r * b[w, k]
            total, moved = 0.0, 0.0
            for k in range(n_topics):
                expected[k] *= a[k]
                total += expected[k]
            if total <= 0.0:
                break
            for k in range(n_topics):
                share = expected[k] / total
                moved += abs(share - theta[d, k])
                theta[d, k] = share if share > 1e-100 else 0.0
            if moved < tolerance:
                break
