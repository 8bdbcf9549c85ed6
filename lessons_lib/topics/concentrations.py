"""Learning how concentrated a Dirichlet prior is, from the counts that were drawn under it.

Given groups of counts, the likelihood of the concentration a depends on the sizes of the counts
only: how many are 1, 2, 3, …. Minka's fixed point climbs that likelihood with one division and
never needs a step size. Used by `GibbsLDA`, taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from ..core.compiled import compiled

__all__ = ["Sizes", "learned_alpha", "learned_beta", "log_joint", "sizes_by_topic",
           "sizes_of_words"]

CAP = 1024                      # sizes up to it go into a table, the few larger ones into a list
STEPS = 20                                      # of the fixed point each time
# a topic that no document has would get 0, a prior that fits no data infinity
SMALLEST, LARGEST = 1e-5, 1e4


@compiled
def add_document_counts(offsets: np.ndarray, topics: np.ndarray, out: np.ndarray) -> None:
    """Add the number of tokens of each topic in each document to ``out`` (D, K)."""
    for d in range(len(offsets) - 1):
        for t in range(offsets[d], offsets[d + 1]):
            out[d, topics[t]] += 1


@compiled
def _note(table: np.ndarray, group: int, n: int, large: np.ndarray, n_large: int) -> int:
    """Count a size n of a group, in ``large`` beyond the table; returns how long that is."""
    if n < table.shape[1]:
        table[group, n] += 1
        return n_large
    large[n_large, 0], large[n_large, 1] = group, n
    return n_large + 1


@compiled
def sizes_of_documents(offsets: np.ndarray, topics: np.ndarray, n_topics: int, table: np.ndarray,
                       large: np.ndarray) -> int:
    """Fill ``table`` (K, CAP + 1): documents with n > 0 tokens of k; returns ``large``'s rows."""
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
    """Fill ``table`` (1, CAP + 1): cells of (V, >= K) counts with n > 0; returns as above."""
    n_large = 0
    for w in range(word_topic.shape[0]):
        for k in range(n_topics):
            n = int(word_topic[w, k])
            if n > 0:
                n_large = _note(table, 0, n, large, n_large)
    return n_large


@dataclass(frozen=True)
class Sizes:
    """Counts of G groups by size: ``above`` (G, m) int64, how many counts of a group exceed 0, 1,
    2, … up to `CAP`; ``large`` (n, 2) int64, group and size of those that exceed `CAP`.
    """

    above: np.ndarray
    large: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray, large: np.ndarray) -> Sizes:
        """From the number of counts of each size and the list of the large ones."""
        np.add.at(table, (large[:, 0], CAP), 1)
        above = table[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
        return cls(np.ascontiguousarray(above[:, : int(above.any(axis=0).sum())]), large)

    def rise(self, a: np.ndarray) -> np.ndarray:
        """Of each group: Σ_n digamma(n + a) - digamma(a) = Σ_n Σ_i<n 1 / (a + i): (G,)."""
        result = (self.above / (a[:, None] + np.arange(self.above.shape[1]))).sum(axis=1)
        group, n = self.large.T
        np.add.at(result, group, digamma(n + a[group]) - digamma(CAP + a[group]))
        return result

    def log_rise(self, a: np.ndarray) -> float:
        """Sum over all counts of log Gamma(n + a) - log Gamma(a)."""
        group, n = self.large.T
        below = (self.above * np.log(a[:, None] + np.arange(self.above.shape[1]))).sum()
        return float(below + (gammaln(n + a[group]) - gammaln(CAP + a[group])).sum())


def _workspace(n_groups: int, n_tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """The table and the list that the counting loops fill."""
    return (np.zeros((n_groups, CAP + 1), dtype=np.int64),
            np.empty((n_tokens // CAP + 1, 2), dtype=np.int64))


def sizes_by_topic(offsets: np.ndarray, topics: np.ndarray, n_topics: int) -> Sizes:
    """The counts n_dk, grouped by topic."""
    table, large = _workspace(n_topics, len(topics))
    return Sizes.of(table, large[: sizes_of_documents(offsets, topics, n_topics, table, large)])


def sizes_of_words(word_topic: np.ndarray, n_topics: int, n_tokens: int) -> Sizes:
    """The counts n_kw in one group; word_topic is (V, >= K)."""
    table, large = _workspace(1, n_tokens)
    return Sizes.of(table, large[: sizes_of_cells(word_topic, n_topics, table, large)])


def learned_alpha(sizes: Sizes, lengths: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """The alpha (K,) of documents of these lengths. [minka2000estimating, Eq. 55]"""
    length, often = np.unique(lengths[lengths > 0], return_counts=True)
    for _ in range(STEPS):
        total = alpha.sum()
        below = often @ (digamma(length + total) - digamma(total))
        alpha = np.clip(alpha * sizes.rise(alpha) / below, SMALLEST, LARGEST)
    return alpha


def learned_beta(sizes: Sizes, totals: np.ndarray, n_words: int, beta: float) -> float:
    """The beta of the words of topics with these totals."""
    totals = totals[totals > 0]
    for _ in range(STEPS):
        rise = float(sizes.rise(np.array([beta]))[0])
        below = n_words * (digamma(totals + n_words * beta) - digamma(n_words * beta)).sum()
        beta = float(np.clip(beta * rise / below, SMALLEST, LARGEST))
    return beta


def log_joint(by_topic: Sizes, of_words: Sizes, *, lengths: np.ndarray, totals: np.ndarray,
              n_words: int, alpha: np.ndarray, beta: float) -> float:
    """log p(words, topics | alpha, beta) in nats. [griffiths2004finding, Eq. 2-3]"""
    length, often = np.unique(lengths, return_counts=True)
    documents = (by_topic.log_rise(alpha) -
                 often @ (gammaln(length + alpha.sum()) - gammaln(alpha.sum())))
    words = (of_words.log_rise(np.array([beta])) -
             (gammaln(totals + n_words * beta) - gammaln(n_words * beta)).sum())
    return float(documents + words)
