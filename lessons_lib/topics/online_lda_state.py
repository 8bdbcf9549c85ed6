"""What `OnlineLDA` works on: topics as Dirichlet parameters that can forget in one multiplication,
and batches of documents cut for threads.

lambda = beta + scale * excess, so a step changes one number and the words it has met, and its cost
does not grow with the vocabulary. Every cut into blocks that adds numbers up depends on the data
alone, so the number of threads changes no bit. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import digamma

from ..core import generator
from .counts_input import Counts
from .online_lda_bound import document_bounds, log_gamma_digamma, topic_bounds
from .online_lda_kernel import LEAST, expected_words, order_by_word

__all__ = ["BLOCK", "Batch", "Each", "TopicWords", "lower_bound", "mixtures", "runs", "thread_map",
           "uniform_gamma"]

# numbers (entries times topics) that one compiled call works on: about a millisecond
BLOCK = 1 << 20
_SMALLEST_SCALE = 1e-6  # below it the excess is written out anew, so that float32 keeps its range
Each = Callable[[Callable[[tuple[int, int]], Any], list[tuple[int, int]]], list[Any]]


@dataclass
class TopicWords:
    """The topics: lambda_kw = beta_w + scale * excess_wk, so that a step forgets by changing one
    number and touches no word it has not met.

    ``totals`` (K,) is the sum of ``excess`` over words, in float64.
    """

    excess: np.ndarray
    totals: np.ndarray
    beta: np.ndarray
    scale: float = 1.0

    @classmethod
    def at_random(cls, beta: np.ndarray, n_topics: int, seed: int, *,
                  counts: np.ndarray | None = None) -> TopicWords:
        """lambda ~ Gamma(100, 1/100): near 1, a little different everywhere; plus ``counts`` (V, K)
        where they are given.
        """
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
    """The cells of some documents, with columns numbered among the words that occur in them
    (slots).
    """

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
    """The start of the E step: the tokens of a document shared evenly among the topics, (D, K)
    float32.
    """
    return (alpha + counts.document_lengths[:, None] / len(alpha)).astype(np.float32)


def mixtures(gamma: np.ndarray, counts: Counts, alpha: np.ndarray) -> np.ndarray:
    """p(topic | document) under Dirichlet(gamma): (D, K) float64; exactly the mean of the prior
    where there are no tokens.
    """
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


def runs(offsets: np.ndarray, size: int) -> list[tuple[int, int]]:
    """Runs of rows of about ``size`` entries each."""
    marks = np.arange(0, int(offsets[-1]), max(1, size))
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, marks[1:]), [len(offsets) - 1]]))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


@contextmanager
def thread_map(n: int) -> Iterator[Each]:
    """A map over blocks that keeps their order: in this thread, or by ``n`` others."""
    if n == 1:
        yield lambda work, blocks: [work(block) for block in blocks]
        return
    with ThreadPoolExecutor(n) as pool:
        yield lambda work, blocks: list(pool.map(work, blocks))
