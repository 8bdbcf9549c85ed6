"""LDA by variational Bayes: replace the posterior of topics and mixtures by the nearest product of
Dirichlet distributions.

The E step finds each document's mixture with the words of topics held fixed, the M step counts
words with the mixtures held fixed. Read batch by batch, with steps that shrink, the same two steps
learn from a stream that never fits into memory. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import (DamagedFile, DataWarning, check_choice, check_float, check_int, children,
                    fingerprint)
from ..counts.encoding import loaded_array
from .clustered_start import clustered_counts
from .counts_input import Counts, as_counts
from .model import TopicModel
from .online_lda_kernel import LEAST, add_expected, infer_documents
from .online_lda_state import (BLOCK, Batch, Each, TopicWords, lower_bound, mixtures, runs,
                               thread_map, uniform_gamma)
from .settings import checked_prior, checked_topics

__all__ = ["OnlineLDA"]


@dataclass
class _Progress:
    """Where learning stands beside the topics: the prior and posterior of mixtures, the bounds so
    far, and whether documents start anew.
    """

    alpha: np.ndarray
    gamma: np.ndarray
    bounds: list[float] = field(default_factory=list)
    n_steps: int = 0
    afresh: bool = True


class OnlineLDA(TopicModel):
    """LDA by variational Bayes, online (batches) or in batch mode (the whole corpus for each step).

    Parameters: n_topics, K; alpha, prior of p(topic | document), one number or K of them, None for
    1/K; beta, prior of p(word | topic), one number or V of them, None for 1/K; learning,
    ``"online"`` or ``"batch"``; n_epochs, passes over the corpus in `fit`; batch_size, documents
    per step; decay, kappa in (0.5, 1], and offset, tau >= 0: step t = 1, 2, … weighs (tau +
    t)^-kappa; shuffle, read the documents of `fit` in a new order in each epoch; start, what `fit`
    begins with: ``"clusters"``, the word counts of clusters of documents, which ends in far better
    topics, or ``"random"``, lambda near 1 everywhere as in the paper (and always in `partial_fit`);
    max_inner and tol, a document's E step ends after so many steps or when gamma moves less than
    ``tol`` on average; seed, of the start and the order; threads, any number gives the same result.
    The four from batch_size to shuffle matter online only. Learned, beside what every `TopicModel`
    has: ``lambda_`` (K, V), the Dirichlet parameters of topics; ``gamma_`` (D, K) float32, those of
    the documents last learned from; ``bound_``, the evidence lower bound in nats after each epoch
    of `fit`, which never falls in batch mode; ``n_steps_``, M steps done. The E step computes in
    float32: a step of gamma agrees with float64 to 3e-6 of a document's length.
    [hoffman2010online]
    """

    name = "LDA"

    def __init__(self, n_topics: int = 20, *, alpha: Any = None, beta: Any = None,
                 learning: str = "online", n_epochs: int = 10, batch_size: int = 256,
                 decay: float = 0.7, offset: float = 10.0, shuffle: bool = True,
                 start: str = "clusters", max_inner: int = 100, tol: float = 1e-3, seed: int = 0,
                 threads: int = 1):
        self.n_topics, self.alpha, self.beta, self.learning, self.n_epochs = n_topics, alpha, beta, learning, n_epochs
        self.batch_size, self.decay, self.offset, self.shuffle, self.start = batch_size, decay, offset, shuffle, start
        self.max_inner, self.tol, self.seed, self.threads = max_inner, tol, seed, threads

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("learning", self.learning, ("online", "batch"))
        check_choice("start", self.start, ("clusters", "random"))
        for name in ("n_epochs", "batch_size", "max_inner", "threads"):
            check_int(name, getattr(self, name))
        check_float("decay", self.decay, low=0.5, high=1.0, open_low=True)
        check_float("offset", self.offset, low=0.0)
        check_float("tol", self.tol, low=0.0)
        if not isinstance(self.shuffle, (bool, np.bool_)):
            raise TypeError(f"shuffle={self.shuffle!r:.60} is {type(self.shuffle).__name__}; "
                            "expected True or False")

    # -------------------------------------------------------------------------- learning

    def _fit(self, counts: Counts) -> None:
        alpha, words = self._start(counts)
        self._run(counts, words, _Progress(alpha, uniform_gamma(counts, alpha)),
                  n_epochs=self.n_epochs)
        self.n_documents_seen_ = counts.n_documents

    def resume(self, data: Any, *, n_epochs: int = 10) -> OnlineLDA:
        """Go on with `fit` on the same data for ``n_epochs`` more; bitwise what one longer `fit`
        gives, also after `load`.

        Returns self. Raises NotFittedError, and ValueError when the data are not those of the fit
        or ``n_topics`` was changed.
        """
        self._check_fitted("components_")
        self._check_same_topics("resume")
        self._check_settings()
        n_epochs = check_int("n_epochs", n_epochs)
        counts = self._known_counts(data)
        found = fingerprint(counts.matrix.indptr, counts.matrix.indices, counts.matrix.data)
        # the last part of a stream is not all of it
        if found != self._fingerprint or not np.array_equal(counts.word_counts, self.word_counts_):
            raise ValueError(f"data has {counts.n_documents} documents and {counts.n_tokens:,} "
                             f"tokens, the fit had {len(self.gamma_)} and "
                             f"{self.word_counts_.sum():,}, or other words or another order; "
                             "resume needs the data of the fit")
        self._run(counts, self._words.copy(), self._progress(self.gamma_.copy()), n_epochs=n_epochs)
        self._note_corpus(counts)
        return self

    def partial_fit(self, data: Any, *, vocabulary: Any = None,
                    total: int | None = None) -> OnlineLDA:
        """Learn from the next documents of a stream, in their order, ``batch_size`` for each step.

        Parameters: data as in `fit`; vocabulary, the words of the columns at the first call (later,
        words that the model lacks are dropped); total, how many documents the stream is taken to
        have, None for as many as were seen so far. Calls that cut a stream at multiples of
        batch_size give bitwise what one call gives, when ``total`` is the same. A stream that is
        begun by `fit` on its first part starts better. ``doc_topic_`` and ``gamma_`` hold these
        documents as they were met. Documents without a known token are counted, and nothing is
        learned where there are no others. Returns self. Raises as `fit` and `transform`, and
        ValueError for learning="batch", a total below the documents seen, or an ``n_topics`` that
        was changed since the stream began.
        """
        self._check_settings()
        if self.learning != "online":
            raise ValueError(f'learning={self.learning!r} has no stream; partial_fit needs '
                             'learning="online"')
        first = not hasattr(self, "_words")
        if first:
            counts = as_counts(data, vocabulary=vocabulary)
        else:
            self._check_same_topics("partial_fit")
            counts = (self._known_counts(data)
                      if vocabulary is None
                      else self._named_counts(data, vocabulary))
        seen = (0 if first else self.n_documents_seen_) + counts.n_documents
        total = seen if total is None else check_int("total", total, low=seen)
        if first:
            checked_topics(self.n_topics, n_documents=total, n_words=counts.n_words)
        elif counts.n_tokens == 0:
            self.n_documents_seen_ = seen
            return self
        alpha, words = (self._start(counts, at_random=True)
                        if first
                        else (self.alpha_, self._words.copy()))
        gamma = uniform_gamma(counts, alpha)
        progress = _Progress(alpha, gamma) if first else self._progress(gamma)
        with thread_map(self.threads) as each:
            self._stream(counts, words, progress, (None, total), each)
        self._keep(words, counts, progress)
        self.n_documents_seen_ = seen
        self._note_corpus(counts, add=not first)
        return self

    def _named_counts(self, data: Any, vocabulary: Any) -> Counts:
        """Counts of a later part of the stream that brings words of its own, with the model's
        columns.
        """
        if self.tokens_ is None:                      # now the columns get their words
            return as_counts(data, vocabulary=vocabulary, n_words=len(self.word_counts_),
                             fitting=False)
        # what is empty shows once words that the model lacks are gone
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            counts = as_counts(data, vocabulary=vocabulary, fitting=False)
        return self._known_counts(counts)

    def _start(self, counts: Counts, *, at_random: bool = False) -> tuple[np.ndarray, TopicWords]:
        """The checked prior of mixtures, and topics that differ: equal ones would stay equal."""
        alpha = checked_prior("alpha", self.alpha, self.n_topics, default=1.0 / self.n_topics)
        beta = checked_prior("beta", self.beta, counts.n_words, default=1.0 / self.n_topics,
                             whose="words")
        clustered = (None
                     if at_random or self.start == "random"
                     else clustered_counts(counts, self.n_topics, self.seed))
        return alpha, TopicWords.at_random(beta, self.n_topics, self.seed, counts=clustered)

    def _progress(self, gamma: np.ndarray) -> _Progress:
        """Where learning stands, with documents of their own."""
        return _Progress(self.alpha_, gamma, list(self.bound_), self.n_steps_, self._afresh)

    def _run(self, counts: Counts, words: TopicWords, progress: _Progress, *,
             n_epochs: int) -> None:
        """Epochs of either kind of learning; keeps what was found."""
        whole = Batch.of(counts)
        with thread_map(self.threads) as each:
            for _ in range(n_epochs):
                if self.learning == "batch":
                    found = self._rising_e_step(whole, counts, words, progress, each)
                    self._m_step(whole, words, found, (1.0, 1.0), each)
                    progress.n_steps += 1
                else:
                    order = (children(self.seed,
                                      len(progress.bounds) + 1)[-1].permutation(counts.n_documents)
                             if self.shuffle else None)
                    progress.gamma = uniform_gamma(counts, progress.alpha)
                    self._stream(counts, words, progress, (order, counts.n_documents), each)
                    progress.bounds.append(
                        lower_bound(whole, words, progress.alpha, progress.gamma, each))
            if self.learning == "online":  # the first documents were met by topics that knew little
                self._e_step(whole, words, progress.alpha, progress.gamma, each)
        self._keep(words, counts, progress)

    def _stream(self, counts: Counts, words: TopicWords, progress: _Progress,
                reading: tuple[np.ndarray | None, int], each: Each) -> None:
        """One step per batch; fills gamma.

        ``reading``: the order of the documents, None for theirs, and how many the whole stream has.
        """
        order, total = reading
        for start in range(0, counts.n_documents, self.batch_size):
            rows = (slice(start, start + self.batch_size)
                    if order is None
                    else order[start : start + self.batch_size])
            batch = Batch.of(counts.rows(rows))
            gamma = np.ascontiguousarray(progress.gamma[rows])
            found = self._e_step(batch, words, progress.alpha, gamma, each)
            progress.n_steps += 1
            self._m_step(batch, words, found,
                         ((self.offset + progress.n_steps)**-self.decay, total / len(gamma)), each)
            progress.gamma[rows] = gamma

    def _rising_e_step(self, whole: Batch, counts: Counts, words: TopicWords, progress: _Progress,
                       each: Each) -> tuple[np.ndarray, ...]:
        """An E step that never lowers the bound, and notes it.

        Documents start anew each time, which finds far better topics than to go on from where they
        were; but that may lower the bound once little is left to gain. From then on they do go on
        from where they were, as the proof of the rising bound supposes.
        """
        former = progress.gamma
        if progress.afresh:
            progress.gamma = uniform_gamma(counts, progress.alpha)
            found = self._e_step(whole, words, progress.alpha, progress.gamma, each)
            bound = lower_bound(whole, words, progress.alpha, progress.gamma, each)
            if not progress.bounds or bound >= progress.bounds[-1]:
                progress.bounds.append(bound)
                return found
            progress.gamma, progress.afresh = former, False
        found = self._e_step(whole, words, progress.alpha, progress.gamma, each)
        progress.bounds.append(lower_bound(whole, words, progress.alpha, progress.gamma, each))
        return found

    def _e_step(self, batch: Batch, words: TopicWords, alpha: np.ndarray, gamma: np.ndarray,
                each: Each) -> tuple[np.ndarray, ...]:
        """Iterate gamma, in place, until it stands still.

        Returns (weight, ratio, table) for the M step.
        """
        table = words.table(batch.used, each)
        found = gamma, np.empty_like(gamma), np.empty(len(batch.slots), dtype=np.float32)
        priors = np.maximum(alpha, LEAST).astype(np.float32), self.max_inner, float(self.tol)
        blocks = runs(batch.offsets,
                      min(BLOCK // self.n_topics,
                          len(batch.slots) // (4 * self.threads)))
        each(lambda block: infer_documents(batch.cells, table, priors, found, *block), blocks)
        return found[1], found[2], table

    def _m_step(self, batch: Batch, words: TopicWords, found: tuple[np.ndarray, ...],
                step: tuple[float, float], each: Each) -> None:
        """lambda = (1 - rho) lambda + rho (beta + copies * expected counts), with step = (rho,
        copies) and ``found`` by the E step.
        """
        (weight, ratio, table), (rho, copies) = found, step
        words.shrink(1.0 - rho)
        goal = batch.used, words.excess, rho * copies / words.scale
        parts = each(
            lambda block: add_expected(batch.by_word, (weight, ratio), table, goal, *block),
            runs(batch.by_word[0], BLOCK // (4 * self.n_topics)))
        for part in parts:  # in the order of the words, whatever the threads did
            words.totals += part

    def _keep(self, words: TopicWords, counts: Counts, progress: _Progress) -> None:
        found = fingerprint(counts.matrix.indptr, counts.matrix.indices, counts.matrix.data)
        self._words, self.alpha_, self.gamma_, self.bound_ = words, progress.alpha, progress.gamma, progress.bounds
        self.n_steps_, self._afresh = progress.n_steps, progress.afresh
        self.doc_topic_, self._fingerprint = mixtures(progress.gamma, counts, progress.alpha), found
        self._components = None

    # -------------------------------------------------------------------------- what was learned

    @property
    def lambda_(self) -> np.ndarray:
        """Dirichlet parameters of the topics: (K, V) float64."""
        self._check_fitted("_words")
        return self._words.dense()

    @property
    def components_(self) -> np.ndarray:
        """Mean of p(word | topic) under the posterior: (K, V) float64, rows sum to 1; made when it
        is first asked for.
        """
        if not hasattr(self, "_components"):
            raise AttributeError("components_ comes with fit")
        if self._components is None:
            dense = self._words.dense()
            self._components = dense / dense.sum(axis=1, keepdims=True)
        return self._components

    @components_.setter
    def components_(self, value: np.ndarray) -> None:
        """A loaded model brings its own."""
        self._components = value

    def _infer(self, counts: Counts, seed: int) -> np.ndarray:
        gamma, batch = uniform_gamma(counts, self.alpha_), Batch.of(counts)
        with thread_map(self.threads) as each:
            self._e_step(batch, self._words, self.alpha_, gamma, each)
        return mixtures(gamma, counts, self.alpha_)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        words = self._words
        arrays = {
            "excess": words.excess, "totals": words.totals, "beta": words.beta,
            "scale": np.array([words.scale]), "gamma": self.gamma_, "bound": np.asarray(
                self.bound_, dtype=np.float64)
        }
        return arrays, {
            "n_steps": self.n_steps_, "n_documents_seen": self.n_documents_seen_,
            "afresh": self._afresh, "fingerprint": self._fingerprint
        }

    def _restore(self, arrays: dict[str, np.ndarray], extra: dict[str, Any],
                 path: str | os.PathLike) -> None:
        n_topics, n_words = self.components_.shape
        shapes = {
            "excess": (n_words, n_topics), "totals": (n_topics, ), "beta": (n_words, ),
            "scale": (1, ), "gamma": (len(self.doc_topic_), n_topics), "bound": (len(
                arrays.get("bound", ())), )
        }
        own = {
            name: loaded_array(path, arrays, name, shape=shape) for name, shape in shapes.items()
        }
        if own["excess"].dtype != np.float32 or own["gamma"].dtype != np.float32 or own["scale"][
                0] <= 0:
            raise DamagedFile(f"{path}: the topics of this OnlineLDA are not in float32, or their "
                              "scale is not > 0. Save the model again")
        self._words = TopicWords(np.array(own["excess"]), own["totals"], own["beta"],
                                 float(own["scale"][0]))
        self.gamma_, self.bound_ = own["gamma"], own["bound"].tolist()
        self.n_steps_, self.n_documents_seen_ = check_int("n_steps", extra["n_steps"]), check_int(
            "n_documents_seen", extra["n_documents_seen"])
        self._afresh, self._fingerprint = bool(extra["afresh"]), str(extra["fingerprint"])
