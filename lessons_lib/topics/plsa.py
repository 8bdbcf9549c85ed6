"""Probabilistic latent semantic analysis: the mixture of topics that makes the corpus most likely,
found by expectation-maximisation.

Each document has its own p(topic | document), each topic its p(word | topic), and both are free
parameters: nothing says how a new document comes about, and the number of parameters grows with the
corpus. That is why it overfits, and what the priors of LDA are for. Taught in lesson
``03_topic_models``.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import Any, Self

import numpy as np

from ..core import check_rounds, generator, track
from ..core.compiled import compiled
from ..core.learned import Array, Learned
from ..core.parameters import Count, Flag, Float, Threads
from .counts_input import Counts, Each, fingerprint_of, runs, thread_map
from .evaluate import log_likelihood
from .model import LARGEST_PRIOR, TopicModel

__all__ = ["PLSA"]

_BLOCK = 1 << 22  # numbers (entries times topics) that one compiled call works on: about 10 ms
TINY = 1e-100  # a share below counts as 0: products of two would leave the fast range of floats
FOLD_IN_STEPS, FOLD_IN_TOLERANCE = 500, 1e-6


class _Fingerprint(Learned):
    """Of the data of the fit, in the JSON of a saved model."""

    def pack(self, value: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {}, {"own": {self.file: value}}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> str:
        return str(extra["own"][self.file])


class PLSA(TopicModel):
    """pLSA by EM: maximises L = sum n(d, w) log sum_k p(k | d) p(w | k).

    Notes
    -----
    ``smoothing`` makes it the MAP estimate under a Dirichlet prior of concentration 1 + smoothing,
    and is the only way in which a word that training never saw keeps a probability. ``alpha_`` is
    ones: pLSA is the MAP estimate of LDA whose priors are flat. New documents are folded in: EM on
    their p(k | d) alone, from 1/K each. [hofmann1999probabilistic]
    """

    n_iter = Count(100, "EM iterations at most")
    tempering = Float(1.0, "power to which the E step raises p(k | d, w) before it is made to sum "
                           "to 1 again: below 1 it blurs, and overfits less", above=0, high=1)
    smoothing = Float(0.0, "count added to each word of each topic in the M step", low=0,
                      high=LARGEST_PRIOR)
    tol = Float(1e-6, "stop when the objective changes by less than this share of itself; 0: never",
                low=0)
    threads = Threads(1, "any number gives the same result")
    progress = Flag(False, "show a bar")

    history_ = Array("steps", dtype="f", file="own.history", doc="the objective (L, plus smoothing "
                     "* sum log p(w | k)) at the start and after each iteration, as a list; it "
                     "never falls when tempering is 1")
    n_iter_ = Learned("int", "iterations done")
    _fingerprint = _Fingerprint(file="fingerprint")

    name = "pLSA"

    _bytes_needed = 40, 40       # each table, tempered, expected, and what they become

    def _fit(self, counts: Counts, asked: Event) -> None:
        # equal topics would stay equal for ever, so the words start at random; documents may start
        # alike
        word_topic = generator(self.seed).random((counts.n_words, self.n_topics))
        word_topic /= word_topic.sum(axis=0)
        doc_topic = np.full((counts.n_documents, self.n_topics), 1.0 / self.n_topics)
        self._iterate(counts, doc_topic, word_topic, asked=asked, history=[],
                      n_iter=self.n_iter)

    def resume(self, data: Any, *, n_iter: int = 100) -> Self:
        """Go on with EM on the same data; bitwise what one longer `fit` gives, also after `load`.

        Parameters
        ----------
        data
            That of the fit.
        n_iter : int >= 1, default 100
            Iterations at most.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
        ValueError
            Other data; ``n_topics`` was changed.
        """
        counts = self._ready_to_resume(data)
        n_iter = check_rounds("n_iter", n_iter)
        self._check_same_data(fingerprint_of(counts) == self._fingerprint, counts)
        with self._learning(counts) as asked:
            self._iterate(counts, self.doc_topic_.copy(), np.ascontiguousarray(self.components_.T),
                          asked=asked, history=self.history_[:-1], n_iter=n_iter)
        return self

    def _iterate(self, counts: Counts, doc_topic: np.ndarray, word_topic: np.ndarray, *,
                 asked: Event, history: list[float], n_iter: int) -> None:
        history = list(history)
        with thread_map(self.threads) as each:
            expectations = _Expectations(counts, self.n_topics, each)
            for step in track(range(n_iter + 1), label=self.name, show=self.progress):
                tempered = doc_topic**self.tempering, word_topic**self.tempering
                likelihood, of_documents = expectations.by_document(*tempered)
                history.append(self._objective(likelihood, counts, doc_topic, word_topic))
                if step == n_iter or (step > 0 and (
                        asked.is_set()
                        or abs(history[-1] - history[-2]) < self.tol * abs(history[-2]))):
                    break
                of_words = expectations.by_word(*tempered)
                doc_topic = _normalised(of_documents, doc_topic, axis=1)
                word_topic = _normalised(of_words + self.smoothing, word_topic, axis=0)
        self.components_, self.doc_topic_ = np.ascontiguousarray(word_topic.T), doc_topic
        self.alpha_, self.history_, self.n_iter_ = np.ones(self.n_topics), history, len(history) - 1
        self._fingerprint = fingerprint_of(counts)

    def _objective(self, likelihood: float, counts: Counts, doc_topic: np.ndarray,
                   word_topic: np.ndarray) -> float:
        if self.tempering != 1.0:                     # then the E step did not see the likelihood
            likelihood = log_likelihood(counts, doc_topic, word_topic.T)
        if self.smoothing:
            likelihood += self.smoothing * float(np.log(word_topic).sum())
        return likelihood

    def _infer(self, counts: Counts, seed: int) -> np.ndarray:
        matrix, n_topics = counts.matrix, len(self.components_)
        word_topic = np.ascontiguousarray(self.components_.T) ** self.tempering
        doc_topic = np.full((counts.n_documents, n_topics), 1.0 / n_topics)
        for first, last in runs(matrix.indptr, _BLOCK // (50 * self.n_topics)):
            fold_in(matrix.indptr, matrix.indices, matrix.data, word_topic, doc_topic,
                    float(self.tempering), FOLD_IN_STEPS, FOLD_IN_TOLERANCE, first, last)
        return doc_topic / doc_topic.sum(axis=1, keepdims=True)

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        super()._after_load(arrays, extra)
        self.history_, self.n_iter_ = self.history_.tolist(), len(self.history_) - 1
        if self.n_iter_ < 1:
            raise ValueError(f"it holds a history of {len(self.history_)} numbers; expected >= 2")


class _Expectations:
    """The sums of the E step, by document and by word, in blocks that threads share."""

    def __init__(self, counts: Counts, n_topics: int, each: Each):
        self.rows, self._each = counts.matrix, each
        # the same cells, word after word
        self.entries = np.argsort(self.rows.indices, kind="stable")
        self.documents = np.repeat(np.arange(counts.n_documents, dtype=np.int32),
                                   np.diff(self.rows.indptr))[self.entries]
        in_words = np.bincount(self.rows.indices, minlength=counts.n_words)
        self.word_offsets = np.concatenate([[0], np.cumsum(in_words)])
        self.ratio = np.empty(self.rows.nnz)
        self.document_blocks = runs(self.rows.indptr, _BLOCK // n_topics)
        self.word_blocks = runs(self.word_offsets, _BLOCK // n_topics)

    def by_document(self, a: np.ndarray, b: np.ndarray) -> tuple[float, np.ndarray]:
        """Sum of n log sum_k a b, expected counts (D, K); leaves the ratios for `by_word`."""
        expected = np.empty_like(a)
        cells = self.rows.indptr, self.rows.indices, self.rows.data
        parts = self._each(lambda block: expect_documents(*cells, a, b, self.ratio, expected,
                                                          *block), self.document_blocks)
        return float(sum(parts)), expected

    def by_word(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The expected counts (V, K), from the ratios that `by_document` left for a and b."""
        expected = np.empty_like(b)
        cells = self.word_offsets, self.documents, self.entries
        self._each(lambda block: expect_words(*cells, a, b, self.ratio, expected, *block),
                   self.word_blocks)
        return expected


def _normalised(expected: np.ndarray, former: np.ndarray, *, axis: int) -> np.ndarray:
    """Expected counts as shares along an axis; where none was expected the former stay."""
    total = expected.sum(axis=axis, keepdims=True)
    shares = np.where(total > 0, expected / np.where(total > 0, total, 1.0), former)
    shares[shares < TINY] = 0.0
    return shares


# ------------------------------------------------------------------------------ compiled loops
# The posterior of a topic is never stored: with r = n(d, w) / sum_k a_dk b_wk, the expected counts
# are a_dk sum_w r b_wk for documents and b_wk sum_d r a_dk for words. Each sum runs in a fixed
# order, so that the number of threads changes no bit.


@compiled
def expect_documents(offsets: np.ndarray, columns: np.ndarray, counts: np.ndarray, a: np.ndarray,
                     b: np.ndarray, ratio: np.ndarray, expected: np.ndarray, first: int,
                     last: int) -> float:
    """Fill rows of ``expected`` (D, K) and ratios n / sum_k a b of their cells (CSR: offsets,
    columns, counts), where a (D, K) and b (V, K) are factors of the posterior; returns sum of n log
    sum_k a b.
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
    """Fill rows of ``expected`` (V, K) from the cells word after word (offsets, documents), where
    ``entries`` says which ratio belongs to which place; a and b as in `expect_documents`.
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
    """EM on the topics of documents ``first`` to ``last`` alone, from and into ``theta``, until
    they move less than ``tolerance``. Words that every topic gives probability 0 are passed over.
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
                theta[d, k] = share if share > TINY else 0.0
            if moved < tolerance:
                break
