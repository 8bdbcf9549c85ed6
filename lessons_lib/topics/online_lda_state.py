"""What `OnlineLDA` works on: topics as Dirichlet parameters that can forget in one multiplication,
and batches of documents cut for threads.

lambda = beta + scale * excess, so a step changes one number and the words it has met, and its cost
does not grow with the vocabulary. Every cut into blocks that adds numbers up depends on the data
alone, so the number of threads changes no bit. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import digamma

from ..core import generator
from ..counts import LSA
from .counts_input import Counts, Each, runs
from .online_lda_kernel import (LEAST, document_bounds, expected_words, log_gamma_digamma,
                                order_by_word, topic_bounds)

__all__ = ["BLOCK", "Batch", "TopicWords", "clustered_counts", "lower_bound", "mixtures",
           "uniform_gamma"]

# numbers (entries times topics) that one compiled call works on: about a millisecond
BLOCK = 1 << 20
_SMALLEST_SCALE = 1e-6  # below it the excess is written out anew, so that float32 keeps its range
# of the clusters that learning begins with
SAMPLE, DIMENSIONS, ITERATIONS = 4096, 100, 30
# of k-means: at most so many, and about so many clusters in all, which bounds the time
MOST_TRIES, TRIED_CLUSTERS = 10, 200


@dataclass
class TopicWords:
    """The topics, lambda_kw = beta_w + scale * excess_wk: to forget changes one number and touches
    no word that a step has not met. ``totals`` (K,) is the sum of ``excess`` over words, in
    float64.
    """

    excess: np.ndarray
    totals: np.ndarray
    beta: np.ndarray
    scale: float = 1.0

    @classmethod
    def at_random(cls, beta: np.ndarray, n_topics: int, seed: int, *,
                  counts: np.ndarray | None = None) -> TopicWords:
        """lambda ~ Gamma(100, 1/100), near 1 everywhere; plus ``counts`` (V, K), if given."""
        start = generator(seed).gamma(100.0, 0.01, (len(beta), n_topics)) - beta[:, None]
        excess = (start if counts is None else start + counts).astype(np.float32)
        return cls(excess, excess.sum(axis=0, dtype=np.float64), beta)

    def copy(self) -> TopicWords:
        """The same topics in memory of their own."""
        return TopicWords(self.excess.copy(), self.totals.copy(), self.beta, self.scale)

    def dense(self) -> np.ndarray:
        """lambda: (K, V) float64."""
        return np.maximum(self.beta[:, None] + self.scale * self.excess.astype(np.float64),
                          LEAST).T.copy()

    def topic_totals(self) -> np.ndarray:
        """Sum of each topic's lambda over words: (K,) float64."""
        return self.beta.sum() + self.scale * self.totals

    def shrink(self, kept: float) -> None:
        """Keep a share of what lambda has above beta."""
        self.scale *= kept
        if self.scale < _SMALLEST_SCALE:
            self.excess *= np.float32(self.scale)
            self.totals, self.scale = self.excess.sum(axis=0, dtype=np.float64), 1.0

    def table(self, used: np.ndarray, each: Each) -> np.ndarray:
        """exp(E log p(word | topic)) of some words, each row scaled: (len(used), K) float32."""
        below = digamma(self.topic_totals())
        factor = np.exp(below.min() - below).astype(np.float32)
        table = np.empty((len(used), len(factor)), dtype=np.float32)
        prior = self.beta, self.scale
        step = max(1, BLOCK // (8 * len(factor)))
        blocks = [(a, min(a + step, len(used))) for a in range(0, len(used), step)]
        each(lambda block: expected_words(used, self.excess, prior, factor, table, *block), blocks)
        return table


@dataclass(frozen=True)
class Batch:
    """The cells of some documents; columns are numbered among the words in them (slots)."""

    offsets: np.ndarray
    slots: np.ndarray
    counts: np.ndarray
    used: np.ndarray

    @classmethod
    def of(cls, counts: Counts) -> Batch:
        """The cells of checked counts."""
        matrix = counts.matrix
        occurs = np.zeros(counts.n_words, dtype=bool)
        occurs[matrix.indices] = True
        used, slot = np.flatnonzero(occurs), np.empty(counts.n_words, dtype=np.int32)
        slot[used] = np.arange(len(used), dtype=np.int32)
        return cls(matrix.indptr.astype(np.int64), slot[matrix.indices], matrix.data, used)

    @property
    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """CSR: (offsets, slots, counts)."""
        return self.offsets, self.slots, self.counts

    @cached_property
    def by_word(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same cells word after word: (word offsets, entries, documents)."""
        return order_by_word(self.offsets, self.slots, len(self.used))


def uniform_gamma(counts: Counts, alpha: np.ndarray) -> np.ndarray:
    """The E step begins with tokens shared evenly among topics: (D, K) float32."""
    return (alpha + counts.document_lengths[:, None] / len(alpha)).astype(np.float32)


def mixtures(gamma: np.ndarray, counts: Counts, alpha: np.ndarray) -> np.ndarray:
    """p(topic | document) under Dirichlet(gamma), (D, K); empty: the mean of the prior."""
    means = gamma.astype(np.float64)
    means[counts.document_lengths == 0] = alpha
    means /= means.sum(axis=1, keepdims=True)
    return means


def lower_bound(batch: Batch, words: TopicWords, alpha: np.ndarray, gamma: np.ndarray,
                each: Each) -> float:
    """The evidence lower bound of the corpus in nats, in float64."""
    totals, prior_total, n_topics = words.topic_totals(), float(words.beta.sum()), len(alpha)
    mean_logs = np.empty((len(words.beta), n_topics))
    step = max(1, BLOCK // (8 * n_topics))
    blocks = [(a, min(a + step, len(words.beta))) for a in range(0, len(words.beta), step)]
    below = digamma(totals)
    prior = words.beta, words.scale
    bound = sum(each(lambda block: topic_bounds(words.excess, prior, below, mean_logs, *block),
                     blocks))
    bound += sum(log_gamma_digamma(prior_total)[0] - log_gamma_digamma(float(total))[0]
                 for total in totals)
    topics = mean_logs[batch.used], np.exp(mean_logs[batch.used])
    bound += sum(each(lambda block: document_bounds(batch.cells, gamma, alpha, topics, *block),
                      runs(batch.offsets, BLOCK // n_topics)))
    return float(bound)


def clustered_counts(counts: Counts, n_topics: int, seed: int) -> np.ndarray | None:
    """Word counts of clusters of documents, scaled to the whole corpus: (V, K); None for too few.

    Variational updates let a topic that is ahead win, so from a random start two true topics often
    share one for good. Clusters (k-means, on an LSA, of square roots of counts weighted by log
    inverse document frequency, of at most SAMPLE documents) already tell most topics apart.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    rng = generator(seed)
    filled = np.flatnonzero(np.diff(counts.matrix.indptr))
    chosen = np.sort(rng.choice(filled, size=min(SAMPLE, len(filled)), replace=False))
    dim = min(2 * n_topics, DIMENSIONS, counts.n_words, len(chosen))
    if len(chosen) < n_topics or n_topics == 1 or dim < 2:
        return None
    sample, tries = counts.matrix[chosen], min(MOST_TRIES, max(1, TRIED_CLUSTERS // n_topics))
    # sums of several threads come in any order, and a fit has to repeat itself
    with threadpool_limits(1):
        vectors = LSA(dim, n_iter=2, seed=int(rng.integers(2**31))).fit_transform(_weighted(sample))
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        means = KMeans(n_topics, n_init=tries, max_iter=ITERATIONS,
                       random_state=int(rng.integers(2**31)))
        cluster = means.fit(vectors).labels_
    members = sparse.csr_matrix((np.ones(len(chosen)), (cluster, np.arange(len(chosen)))),
                                shape=(n_topics, len(chosen)))
    return (members @ sample).toarray().T * (len(filled) / len(chosen))


def _weighted(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    frequency = np.bincount(matrix.indices, minlength=matrix.shape[1])
    # a word that is everywhere keeps a trace: no row is zero
    weight = np.log((1 + matrix.shape[0]) / (1 + frequency)) + 1e-3
    return sparse.csr_matrix((np.sqrt(matrix.data) * weight[matrix.indices], matrix.indices,
                              matrix.indptr), shape=matrix.shape)
