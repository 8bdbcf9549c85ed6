"""LDA by variational Bayes: replace the posterior of topics and mixtures by the nearest product of
Dirichlet distributions.

The E step finds each document's mixture with the words of topics held fixed, the M step counts
words with the mixtures held fixed. Read batch by batch, with steps that shrink, the same two steps
learn from a stream that never fits into memory. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, Self

import numpy as np

from ..core import DataWarning, check_int, check_rounds, children, track
from ..core.learned import Array, Learned, checked_array
from ..core.parameters import Choice, Count, Flag, Float, Given, Int, Threads
from .counts_input import Counts, Each, as_counts, fingerprint_of, runs, thread_map
from .model import TopicModel, checked_prior
from .online_lda_kernel import LEAST, add_expected, infer_documents
from .online_lda_shards import infer_in_shards
from .online_lda_state import (BLOCK, Batch, TopicWords, clustered_counts, lower_bound, mixtures,
                               uniform_gamma)

__all__ = ["OnlineLDA"]


@dataclass
class _Progress:
    """Where learning stands beside the topics; ``afresh``: whether documents still start anew."""

    alpha: np.ndarray
    gamma: np.ndarray
    bounds: list[float] = field(default_factory=list)
    n_steps: int = 0
    afresh: bool = True
    n_documents_seen: int = 0
    fingerprint: str = ""


class _ProgressState(Learned):
    """The `_Progress` of a model in its files, so that it can go on."""

    def pack(self, value: _Progress) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        noted = {name: getattr(value, name)
                 for name in ("n_steps", "n_documents_seen", "afresh", "fingerprint")}
        return {"own.gamma": value.gamma, "own.bound": np.array(value.bounds, dtype=np.float64)}, \
            {"own": noted}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> _Progress:
        own = extra["own"]
        return _Progress(
            checked_array(arrays, "alpha", "n_topics", sizes=sizes),
            checked_array(arrays, "own.gamma", "documents", "n_topics", dtype="float32",
                          sizes=sizes),
            checked_array(arrays, "own.bound", "epochs").tolist(),
            check_int("n_steps", own["n_steps"]), bool(own["afresh"]),
            check_int("n_documents_seen", own["n_documents_seen"]), str(own["fingerprint"]))


class _Words(Learned):
    """`TopicWords` in the files of a model."""

    def pack(self, value: TopicWords) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"own.excess": value.excess, "own.totals": value.totals, "own.beta": value.beta,
                "own.scale": np.array([value.scale])}, {}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> TopicWords:
        excess = checked_array(arrays, "own.excess", "words", "n_topics", dtype="float32",
                               sizes=sizes)
        scale = float(checked_array(arrays, "own.scale", 1)[0])
        if scale <= 0:
            raise ValueError(f"array 'own.scale' holds {scale}; expected a number > 0")
        return TopicWords(np.array(excess),
                          checked_array(arrays, "own.totals", "n_topics", sizes=sizes),
                          checked_array(arrays, "own.beta", "words", sizes=sizes), scale)


class OnlineLDA(TopicModel):
    """LDA by variational Bayes, online (batches) or in batch mode (the whole corpus for each step).

    Notes
    -----
    Step t = 1, 2, … weighs (offset + t)^-decay. ``batch_size``, ``decay``, ``offset`` and
    ``shuffle`` matter online only; `partial_fit` always starts at random. The E step computes in
    float32: a step of gamma agrees with float64 to 3e-6 of a document's length. [hoffman2010online]
    """

    alpha = Given(None, "prior of p(topic | document); None: 1/K",
                  kind="float > 0, or n_topics of them")
    beta = Given(None, "prior of p(word | topic), one number or V of them; None: 1/K",
                 kind="float > 0, or one for each word")
    learning = Choice("online", "batch")
    n_epochs = Count(10, "passes over the corpus in `fit`")
    batch_size = Int(256, "documents per step")
    decay = Float(0.7, "kappa: how soon steps shrink", above=0.5, high=1)
    offset = Float(10.0, "tau: how little the first steps weigh", low=0)
    shuffle = Flag(True, "read the documents of `fit` in a new order in each epoch")
    start = Choice("clusters", "random", doc="what `fit` begins with: 'clusters', the word counts "
                   "of clusters of documents, which ends in far better topics, or 'random', lambda "
                   "near 1 everywhere as in the paper")
    max_inner = Int(100, "a document's E step ends after so many steps", high=1_000_000)
    tol = Float(1e-3, "or when gamma moves less than this on average", low=0)
    threads = Threads(1, "any number gives the same result")
    progress = Flag(False, "show a bar")

    _components = Array("n_topics", "words", dtype="f", file="components")
    _words = _Words(file="own.excess")
    _reached = _ProgressState(file="own.gamma")

    name = "LDA"

    _client, _n_shards, _on_epoch = None, 8, None

    _bytes_needed = 28, 12       # lambda, its logarithms and those of words in use; gamma, mixtures

    def over(self, client: Any, *, n_shards: int = 8) -> Self:
        """Let the workers of a Dask client do the E steps of this object from now on.

        Topics are the same to the last bit; it pays where a step has many documents, so raise
        ``batch_size`` with the workers. The client is not saved with the model.

        Parameters
        ----------
        client : distributed.Client or None
            As `text.shards.dask_client` gives it; None: this process again.
        n_shards : int >= 1, default 8
            Of the documents of a step: several for each worker, so that none waits long.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            ``n_shards``.
        """
        self._n_shards, self._client = check_int("n_shards", n_shards), client
        return self

    def fit(self, data: Any, *, vocabulary: Any = None,
            on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Learn topics.

        Ctrl-C ends after the step that is under way and comes out as KeyboardInterrupt; the model
        holds what was learned by then.

        Parameters
        ----------
        data, vocabulary
            As in `TopicModel.fit`: counts, or a corpus; the words of the columns.
        on_epoch : callable, optional
            Called with the model after each epoch but the last, for example to save it: `resume`
            goes on from there to the bits of a fit that was not stopped.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            Settings; what is no count (see `as_counts`).
        """
        self._on_epoch = on_epoch
        try:
            return super().fit(data, vocabulary=vocabulary)
        finally:
            self._on_epoch = None

    def _fit(self, counts: Counts, asked: Event) -> None:
        alpha, words = self._start(counts)
        progress = _Progress(alpha, uniform_gamma(counts, alpha),
                             n_documents_seen=counts.n_documents)
        self._run(counts, words, progress, self.n_epochs, asked)

    def resume(self, data: Any, *, n_epochs: int = 10,
               on_epoch: Callable[[Self], object] | None = None) -> Self:
        """Go on with `fit` on the same data; bitwise what one longer `fit` gives, also after
        `load`.

        Parameters
        ----------
        data
            That of the fit.
        n_epochs : int >= 1, default 10
        on_epoch : callable, optional
            As in `fit`.

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
        n_epochs = check_rounds("n_epochs", n_epochs)
        # the last part of a stream is not all of it
        self._check_same_data(fingerprint_of(counts) == self._reached.fingerprint
                              and np.array_equal(counts.word_counts, self.word_counts_), counts)
        self._on_epoch = on_epoch
        try:
            with self._learning(counts) as asked:
                self._run(counts, self._words.copy(), self._further(self.gamma_.copy()), n_epochs,
                          asked)
        finally:
            self._on_epoch = None
        return self

    def partial_fit(self, data: Any, *, vocabulary: Any = None, total: int | None = None) -> Self:
        """Learn from the next documents of a stream, in their order, ``batch_size`` for each step.

        Calls that cut a stream at multiples of batch_size give bitwise what one call gives, when
        ``total`` is the same. A stream that is begun by `fit` on its first part starts better.
        ``doc_topic_`` and ``gamma_`` hold these documents as they were met. Documents without a
        known token are counted, and nothing is learned where there are no others.

        Parameters
        ----------
        data
            As in `fit`.
        vocabulary : list of str, Vocabulary or mapping, optional
            The words of the columns at the first call; later, words that the model lacks are
            dropped.
        total : int, optional
            How many documents the stream is taken to have; None: as many as were seen so far.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            As `fit` and `transform`; learning="batch"; a total below the documents seen; an
            ``n_topics`` that was changed since the stream began.
        """
        self._check_settings()
        if self.learning != "online":
            raise ValueError(f'learning={self.learning!r} has no stream; partial_fit needs '
                             'learning="online"')
        first = "_words" not in vars(self)
        if first:
            counts = as_counts(data, vocabulary=vocabulary)
        else:
            self._check_same_topics("partial_fit")
            counts = (self._known_counts(data) if vocabulary is None
                      else self._named_counts(data, vocabulary))
        seen = (0 if first else self.n_documents_seen_) + counts.n_documents
        total = seen if total is None else check_int("total", total, low=seen)
        if first:
            self._compare_sizes(total, counts.n_words)
            self._check_memory(counts)
            alpha, words = self._start(counts, at_random=True)
            progress = _Progress(alpha, uniform_gamma(counts, alpha), n_documents_seen=seen)
        elif counts.n_tokens == 0:
            self._reached = replace(self._reached, n_documents_seen=seen)
            return self
        else:
            words = self._words.copy()
            progress = self._further(uniform_gamma(counts, self.alpha_), n_documents_seen=seen)
        with thread_map(self.threads) as each:
            self._stream(counts, words, progress, None, total, each, Event())
        self._keep(words, counts, progress)
        self._note_corpus(counts, add=not first)
        return self

    def _named_counts(self, data: Any, vocabulary: Any) -> Counts:
        """Counts, with the model's columns, of a later part that brings words of its own."""
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
        clustered = (None if at_random or self.start == "random"
                     else clustered_counts(counts, self.n_topics, self.seed))
        return alpha, TopicWords.at_random(beta, self.n_topics, self.seed, counts=clustered)

    def _further(self, gamma: np.ndarray, **changed: Any) -> _Progress:
        """Where learning stands, with documents of their own."""
        return replace(self._reached, alpha=self.alpha_, gamma=gamma,
                       bounds=list(self.bound_), **changed)

    def _run(self, counts: Counts, words: TopicWords, progress: _Progress, n_epochs: int,
             asked: Event) -> None:
        """Epochs of either kind of learning; keeps the result. An epoch that is cut short online
        leaves no bound behind, and counts for nothing in a later `resume`."""
        whole = Batch.of(counts)
        with thread_map(self.threads) as each:
            for epoch in track(range(n_epochs), label=self.name, show=self.progress):
                if self.learning == "batch":
                    result = self._rising_e_step(whole, counts, words, progress, each)
                    self._m_step(whole, words, result, (1.0, 1.0), each)
                    progress.n_steps += 1
                else:
                    rng = children(self.seed, len(progress.bounds) + 1)[-1]
                    order = rng.permutation(counts.n_documents) if self.shuffle else None
                    progress.gamma = uniform_gamma(counts, progress.alpha)
                    self._stream(counts, words, progress, order, counts.n_documents, each,
                                 asked)
                    if not asked.is_set():
                        progress.bounds.append(
                            lower_bound(whole, words, progress.alpha, progress.gamma, each))
                if asked.is_set():
                    break
                if self._on_epoch is not None and epoch < n_epochs - 1:
                    self._keep(words.copy(), counts, replace(
                        progress, gamma=progress.gamma.copy(), bounds=list(progress.bounds)))
                    self._note_corpus(counts)
                    self._on_epoch(self)
            if self.learning == "online":  # the first documents were met by topics that knew little
                self._e_step(whole, words, progress.alpha, progress.gamma, each)
        self._keep(words, counts, progress)

    def _stream(self, counts: Counts, words: TopicWords, progress: _Progress,
                order: np.ndarray | None, total: int, each: Each, asked: Event) -> None:
        """One step per batch of ``total`` documents in an order (None: theirs); fills gamma."""
        for start in range(0, counts.n_documents, self.batch_size):
            rows = slice(start, start + self.batch_size)
            rows = rows if order is None else order[rows]
            batch = Batch.of(counts.rows(rows))
            gamma = np.ascontiguousarray(progress.gamma[rows])
            result = self._e_step(batch, words, progress.alpha, gamma, each)
            progress.n_steps += 1
            self._m_step(batch, words, result,
                         ((self.offset + progress.n_steps)**-self.decay, total / len(gamma)), each)
            progress.gamma[rows] = gamma
            if asked.is_set():
                return

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
            result = self._e_step(whole, words, progress.alpha, progress.gamma, each)
            bound = lower_bound(whole, words, progress.alpha, progress.gamma, each)
            if not progress.bounds or bound >= progress.bounds[-1]:
                progress.bounds.append(bound)
                return result
            progress.gamma, progress.afresh = former, False
        result = self._e_step(whole, words, progress.alpha, progress.gamma, each)
        progress.bounds.append(lower_bound(whole, words, progress.alpha, progress.gamma, each))
        return result

    def _e_step(self, batch: Batch, words: TopicWords, alpha: np.ndarray, gamma: np.ndarray,
                each: Each) -> tuple[np.ndarray, ...]:
        """Iterate gamma in place until it stands still; returns (weight, ratio, table)."""
        table = words.table(batch.used, each)
        result = gamma, np.empty_like(gamma), np.empty(len(batch.slots), dtype=np.float32)
        priors = np.maximum(alpha, LEAST).astype(np.float32), self.max_inner, float(self.tol)
        if self._client is not None and len(batch.slots):
            infer_in_shards(self._client, self._n_shards, batch, table, priors, result)
            return result[1], result[2], table
        size = min(BLOCK // self.n_topics, len(batch.slots) // (4 * self.threads))
        each(lambda block: infer_documents(batch.cells, table, priors, result, *block),
             runs(batch.offsets, size))
        return result[1], result[2], table

    def _m_step(self, batch: Batch, words: TopicWords, result: tuple[np.ndarray, ...],
                step: tuple[float, float], each: Each) -> None:
        """lambda = (1 - rho) lambda + rho (beta + copies * counts) with step = (rho, copies)."""
        (weight, ratio, table), (rho, copies) = result, step
        words.shrink(1.0 - rho)
        goal = batch.used, words.excess, rho * copies / words.scale
        parts = each(
            lambda block: add_expected(batch.by_word, (weight, ratio), table, goal, *block),
            runs(batch.by_word[0], BLOCK // (4 * self.n_topics)))
        for part in parts:  # in the order of the words, whatever the threads did
            words.totals += part

    def _keep(self, words: TopicWords, counts: Counts, progress: _Progress) -> None:
        """Set the learned attributes; the components are made when they are first asked for."""
        self.doc_topic_ = mixtures(progress.gamma, counts, progress.alpha)
        self._reached = replace(progress, fingerprint=fingerprint_of(counts))
        self._words, self.alpha_, self._components = words, progress.alpha, None

    @property
    def lambda_(self) -> np.ndarray:
        """Dirichlet parameters of the topics: (K, V) float64."""
        self._check_fitted("_words")
        return self._words.dense()

    @property
    def components_(self) -> np.ndarray:
        """Mean of p(word | topic) under the posterior: (K, V) float64, rows sum to 1."""
        if self._components is None:
            dense = self._words.dense()
            self._components = dense / dense.sum(axis=1, keepdims=True)
        return self._components

    @components_.setter
    def components_(self, value: np.ndarray) -> None:
        self._components = value

    @property
    def gamma_(self) -> np.ndarray:
        """Dirichlet parameters of the documents last learned from: (D, K) float32."""
        return self._reached.gamma

    @property
    def bound_(self) -> list[float]:
        """Evidence lower bound in nats after each epoch of `fit`; never falls in batch mode."""
        return self._reached.bounds

    @property
    def n_steps_(self) -> int:
        """M steps done."""
        return self._reached.n_steps

    @property
    def n_documents_seen_(self) -> int:
        """Documents of the fit and of all parts of a stream."""
        return self._reached.n_documents_seen

    def _infer(self, counts: Counts, seed: int) -> np.ndarray:
        gamma, batch = uniform_gamma(counts, self.alpha_), Batch.of(counts)
        with thread_map(self.threads) as each:
            self._e_step(batch, self._words, self.alpha_, gamma, each)
        return mixtures(gamma, counts, self.alpha_)

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        checked_prior("alpha", settings["alpha"], settings["n_topics"], default=1.0)

    def _saved_settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Makes the components if nobody asked for them before."""
        self._components = self.components_
        return super()._saved_settings()
