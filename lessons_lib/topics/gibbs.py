"""Latent Dirichlet allocation by collapsed Gibbs sampling: every token has a topic, and draws it
again and again given all others.

Both families of distributions are integrated out, so a state of the chain is one topic number per
token. After burn-in the states are samples of the posterior; their mean is the estimate. It is
exact in the limit, and the draws are compiled vector code (`kernels.lda_sweep`). Taught in lesson
``03_topic_models``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, Self

import numpy as np

from ..core import BackendUnavailable, check_int, check_rounds, fingerprint, generator, shown, track
from ..core.learned import Array, Learned, checked_array
from ..core.parameters import Choice, Count, Flag, Given, Int, Threads
from .counts_input import Counts
from .model import TopicModel, checked_prior

__all__ = ["GibbsLDA"]

LEARN_EVERY = 10                                # sweeps between two looks at the whole state
# sweeps, at most: a prior learned from a chain that is still mixing can shut a topic for good
LEARN_AFTER = 50
FOLD_IN_BURN, FOLD_IN_SAMPLES = 20, 30          # sweeps over new documents


@dataclass
class _Past:
    """What a chain needs to go on beside topics and means; ``mean_beta`` is of the samples."""

    alpha: np.ndarray
    beta: float
    burn_in: int
    n_sweeps: int = 0
    n_samples: int = 0
    history: list[list[float]] = field(default_factory=list)
    fingerprint: str = ""
    mean_beta: float = 0.0


class _PastState(Learned):
    """The `_Past` of a model in its files, so that the chain can go on."""

    def pack(self, value: _Past) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        noted = dict(vars(value))
        arrays = {"own.alpha": noted.pop("alpha"), "own.history": _table(noted.pop("history"))}
        return arrays, {"own": noted}

    def unpack(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any],
               sizes: dict[str, int]) -> _Past:
        own, n_topics = extra["own"], sizes["n_topics"]
        alpha = checked_array(arrays, "own.alpha", n_topics)
        beta, mean_beta = (float(checked_prior("beta", own[name], 1)[0])
                           for name in ("beta", "mean_beta"))
        return _Past(checked_prior("alpha", alpha, n_topics), beta,
                     check_int("burn_in", own["burn_in"], low=0),
                     check_int("n_sweeps", own["n_sweeps"]),
                     check_int("n_samples", own["n_samples"], low=0),
                     checked_array(arrays, "own.history", "looks", 2).tolist(),
                     str(own["fingerprint"]), mean_beta)


def _table(history: list[list[float]]) -> np.ndarray:
    return np.array(history, dtype=np.float64).reshape(-1, 2)


class GibbsLDA(TopicModel):
    """LDA by collapsed Gibbs sampling.

    Notes
    -----
    p(z = k | all others) ~ (n_dk + alpha_k) (n_kw + beta) / (n_k + V beta).

    ``components_``, ``doc_topic_``, ``alpha_`` and ``beta_`` are means over the samples, or the
    last state where there is none yet. A mean over samples supposes that topics keep their numbers,
    as they do in one chain on real text; on tiny corpora they may swap. Priors are fitted by
    Minka's fixed point, once half of burn_in or 50 sweeps are over. New documents are folded in:
    Gibbs sampling of their topics with ``components_`` frozen, 20 sweeps and the mean of 30 more.
    The result is bitwise the same for equal settings. [griffiths2004finding; blei2003latent]
    """

    alpha = Given(0.1, "concentration of p(topic | document)",
                  kind="float > 0, or n_topics of them")
    beta = Given(0.01, "concentration of p(word | topic)", kind="float > 0",
                 check=lambda name, value: float(checked_prior(name, value, 1)[0]))
    n_sweeps = Count(200, "how often every token is drawn")
    burn_in = Int(None, "sweeps before the first sample; None: half of n_sweeps", low=0)
    thin = Int(10, "sweeps from one sample to the next")
    learn_alpha = Flag(True, "fit one number per topic to the chain, every ten sweeps")
    learn_beta = Flag(True, "fit beta to the chain, every ten sweeps")
    threads = Threads(1, "one is the exact chain; more draw the documents of a batch side by side, "
                     "each sweep in 16 batches, with the words' counts of when the batch began, "
                     "and give the same result for any number above one")
    device = Choice("cpu", "cuda", doc="on 'cuda' batches, too")
    progress = Flag(False, "show a bar")

    assignments_ = Array("tokens", dtype="i", file="own.assignments",
                         doc="topics of the tokens after the last sweep")
    _past = _PastState(file="own.alpha")

    name = "LDA (Gibbs)"

    @property
    def beta_(self) -> float:
        """Concentration of the prior on p(word | topic)."""
        return self._past.mean_beta

    @property
    def history_(self) -> np.ndarray:
        """Sweep and log p(words, topics) per token, every ten sweeps: (m, 2) float64."""
        return _table(self._past.history)

    @property
    def n_sweeps_(self) -> int:
        """Sweeps so far."""
        return self._past.n_sweeps

    @property
    def n_samples_(self) -> int:
        """Samples so far."""
        return self._past.n_samples

    def _check_together(self, settings: Mapping[str, Any]) -> None:
        checked_prior("alpha", settings["alpha"], settings["n_topics"])

    def _check_machine(self) -> None:
        if self.device == "cuda":
            import torch

            if not torch.cuda.is_available():
                raise BackendUnavailable('device="cuda" cannot be used: PyTorch finds no CUDA '
                                         'device on this machine. Take device="cpu", the default')

    _bytes_needed = 16, 8        # the state, estimates and components; mixtures

    def _fit(self, counts: Counts, asked: Event) -> None:
        _check_sizes(counts, words=True)
        rng = generator(self.seed)
        key = int(rng.integers(1 << 62))
        topics = rng.integers(self.n_topics, size=counts.n_tokens, dtype=np.int32)
        past = _Past(checked_prior("alpha", self.alpha, self.n_topics),
                     float(checked_prior("beta", self.beta, 1)[0]),
                     self.n_sweeps // 2 if self.burn_in is None else self.burn_in)
        self._run(_Chain(self, counts, topics, key, past), self.n_sweeps, asked)

    def resume(self, data: Any, *, n_sweeps: int = 100) -> Self:
        """Go on with the chain on the same data; works after `load`.

        With the same ``burn_in`` the result is bitwise that of one `fit` of all the sweeps.

        Parameters
        ----------
        data
            That of the fit.
        n_sweeps : int >= 1, default 100

        Returns
        -------
        self

        Raises
        ------
        NotFittedError, BackendUnavailable
        TypeError, ValueError
            Other data; ``n_topics`` was changed; a wrong number.
        """
        counts = self._ready_to_resume(data)
        check_rounds("n_sweeps", n_sweeps)
        _check_sizes(counts, words=True)
        same = fingerprint(*counts.tokens_in_order()) == self._past.fingerprint
        self._check_same_data(same, counts)
        key = int(generator(self.seed).integers(1 << 62))
        with self._learning(counts) as asked:
            chain = _Chain(self, counts, self.assignments_, key, self._past)
            self._run(chain, n_sweeps, asked)
        return self

    def _run(self, chain: _Chain, n_sweeps: int, asked: Event) -> None:
        for _ in track(range(n_sweeps), label=self.name, show=self.progress):
            chain.sweep()
            if asked.is_set():
                break
        means = chain.means if chain.past.n_samples else chain.estimates()
        word_topic, self.doc_topic_, self.alpha_, beta = means
        self.components_ = np.ascontiguousarray(word_topic.T)
        self.assignments_ = chain.topics().copy()
        self._past = replace(chain.past, mean_beta=float(beta))

    def _infer(self, counts: Counts, seed: int) -> np.ndarray:
        from ..kernels.lda_sweep import LdaState, lda_sweep
        from .concentrations import add_document_counts

        _check_sizes(counts)
        used, words = np.unique(counts.matrix.indices, return_inverse=True)
        offsets, ids = Counts(counts.matrix).tokens_in_order()
        result = np.zeros((counts.n_documents, len(self.alpha_)))
        if len(ids):
            table = self.components_[:, used].T
            words = np.repeat(words, counts.matrix.data)
            state = LdaState(words, offsets, (table * self.alpha_).argmax(axis=1)[words],
                             n_topics=len(self.alpha_), n_words=len(used),
                             streams=_streams(offsets, ids), word_topic=table)
            key = int(generator(seed).integers(1 << 62))
            for sweep in range(FOLD_IN_BURN + FOLD_IN_SAMPLES):
                lda_sweep(state, alpha=self.alpha_, seed=key, sweep=sweep, threads=self.threads)
                if sweep >= FOLD_IN_BURN:
                    add_document_counts(offsets, state.topics.numpy(), result)
        result = result / FOLD_IN_SAMPLES + self.alpha_
        return result / result.sum(axis=1, keepdims=True)

    def _after_load(self, arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any]) -> None:
        super()._after_load(arrays, extra)
        topics, n_tokens = self.assignments_.astype(np.int32), int(self.word_counts_.sum())
        if len(topics) != n_tokens:
            raise ValueError(f"array 'own.assignments' has shape {topics.shape}; expected "
                             f"({n_tokens},), a topic for each token")
        if len(topics) and not 0 <= topics.min() <= topics.max() < self.n_topics:
            raise ValueError("array 'own.assignments' holds numbers that are no topics")
        self.assignments_ = topics


class _Chain:
    """The sampler's state and the samples' means: p(w | k) (V, K), p(k | d) (D, K), alpha, beta."""

    def __init__(self, model: GibbsLDA, counts: Counts, topics: np.ndarray, key: int,
                 past: _Past) -> None:
        from ..kernels.lda_sweep import LdaState

        self.model, self.key = model, key
        self.offsets, words = counts.tokens_in_order()
        self.lengths = np.diff(self.offsets)
        self.state = LdaState(words, self.offsets, topics, n_topics=model.n_topics,
                              n_words=counts.n_words, device=model.device)
        self.past = replace(past, history=list(past.history),
                            fingerprint=fingerprint(*counts.tokens_in_order()))
        self.means: tuple[Any, ...] = ()
        if past.n_samples:
            self.means = (np.ascontiguousarray(model.components_.T), model.doc_topic_.copy(),
                          model.alpha_.copy(), model.beta_)

    def topics(self) -> np.ndarray:
        """The topic of every token."""
        return self.state.topics.cpu().numpy()

    def sweep(self) -> None:
        """Draw every token once; then learn the priors and take a sample where it is time."""
        from ..kernels.lda_sweep import lda_sweep

        past = self.past
        lda_sweep(self.state, alpha=past.alpha, beta=past.beta, seed=self.key, sweep=past.n_sweeps,
                  threads=self.model.threads)
        past.n_sweeps += 1
        if past.n_sweeps % LEARN_EVERY == 0:
            self._look()
        if past.n_sweeps > past.burn_in and (past.n_sweeps - past.burn_in) % self.model.thin == 0:
            self._sample()

    def _look(self) -> None:
        """Note the joint likelihood and fit the priors to the counts."""
        from .concentrations import (learned_alpha, learned_beta, log_joint, sizes_by_topic,
                                     sizes_of_words)

        past, state, n_topics = self.past, self.state, self.model.n_topics
        totals = state.totals[:n_topics].cpu().numpy()
        by_topic = sizes_by_topic(self.offsets, self.topics(), n_topics)
        of_words = sizes_of_words(state.word_topic.cpu().numpy(), n_topics, len(state.words))
        joint = log_joint(by_topic, of_words, lengths=self.lengths, totals=totals,
                          n_words=state.n_words, alpha=past.alpha, beta=past.beta)
        past.history.append([float(past.n_sweeps), joint / len(state.words)])
        if past.n_sweeps <= min(LEARN_AFTER, past.burn_in // 2):
            return
        if self.model.learn_alpha:
            past.alpha = learned_alpha(by_topic, self.lengths, past.alpha)
        if self.model.learn_beta:
            past.beta = learned_beta(of_words, totals, state.n_words, past.beta)

    def estimates(self) -> tuple[Any, ...]:
        """p(word | topic) (V, K), p(topic | document) (D, K), alpha and beta of now."""
        from .concentrations import add_document_counts

        past, state, n_topics = self.past, self.state, self.model.n_topics
        totals = state.totals[:n_topics].cpu().numpy()
        words = ((state.word_topic[:, :n_topics].cpu().numpy() + past.beta) /
                 (totals + state.n_words * past.beta))
        documents = np.tile(past.alpha, (len(self.lengths), 1))
        add_document_counts(self.offsets, self.topics(), documents)
        documents /= (self.lengths + past.alpha.sum())[:, None]
        return words, documents, past.alpha, past.beta

    def _sample(self) -> None:
        """Move the means towards the state of now, in place, because (V, K) numbers are many."""
        self.past.n_samples += 1
        now, n = self.estimates(), self.past.n_samples
        if n == 1:
            self.means = tuple(np.array(x, dtype=np.float64) for x in now[:3]) + now[3:]
            return
        for mean, x in zip(self.means[:3], now[:3], strict=True):
            mean += (x - mean) / n
        self.means = (*self.means[:3], self.means[3] + (now[3] - self.means[3]) / n)


def _check_sizes(counts: Counts, *, words: bool = False) -> None:
    """Refuse a document, or with ``words`` a word, of more tokens than a sweep can count."""
    from ..kernels.lda_sweep.state import MAX_COUNT

    lengths, often = counts.document_lengths, counts.word_counts if words else ()
    if len(lengths) and lengths.max() >= MAX_COUNT:
        raise ValueError(f"document {lengths.argmax()} has {lengths.max():,} tokens; expected "
                         f"fewer than {MAX_COUNT:,}, which float32 can count. "
                         "Split it")
    if len(often) and often.max() >= MAX_COUNT:
        w = int(often.argmax())
        name = "" if counts.tokens is None else f" ({shown(counts.tokens[w])})"
        raise ValueError(f"word {w}{name} occurs {often[w]:,} times; expected fewer than "
                         f"{MAX_COUNT:,}, which float32 can count. "
                         "Leave out the most frequent words")


def _streams(offsets: np.ndarray, words: np.ndarray) -> np.ndarray:
    """A number below 2^63 per document, of its words alone: neighbours change no draw."""
    x = words.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    # the mixing of SplitMix64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    up_to = np.concatenate([np.zeros(1, dtype=np.uint64),
                            np.cumsum(x ^ (x >> np.uint64(31)), dtype=np.uint64)])
    return ((up_to[offsets[1:]] - up_to[offsets[:-1]]) >> np.uint64(1)).astype(np.int64)
