"""Latent Dirichlet allocation by collapsed Gibbs sampling: every token has a topic, and draws it
again and again given all others.

Both families of distributions are integrated out, so a state of the chain is one topic number per
token. After burn-in the states are samples of the posterior; their mean is the estimate. It is
exact in the limit, and the draws are compiled vector code (`kernels.lda_sweep`). Taught in lesson
``03_topic_models``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import (BackendUnavailable, DamagedFile, check_choice, check_int, fingerprint,
                    generator, shown, track)
from ..counts.encoding import loaded_array
from .counts_input import Counts
from .model import TopicModel
from .settings import checked_prior

__all__ = ["GibbsLDA"]

LEARN_EVERY = 10                                # sweeps between two looks at the whole state
# sweeps, at most: a prior learned from a chain that is still mixing can shut a topic for good
LEARN_AFTER = 50
FOLD_IN_BURN, FOLD_IN_SAMPLES = 20, 30          # sweeps over new documents


class GibbsLDA(TopicModel):
    """LDA by collapsed Gibbs sampling: p(z = k | all others) ~ (n_dk + alpha_k) (n_kw + beta) /
    (n_k + V beta).

    Parameters: n_topics, K; alpha, concentration of p(topic | document) > 0, one number or one per
    topic; beta, of p(word | topic) > 0; n_sweeps, how often every token is drawn; burn_in, sweeps
    before the first sample, None for half of n_sweeps; thin, sweeps from one sample to the next;
    learn_alpha (one number per topic) and learn_beta, whether to fit the priors to the chain every
    ten sweeps (Minka's fixed point), once half of burn_in or 50 sweeps are over; seed; threads: one
    is the exact chain; more draw the documents of a batch side by side, each sweep in 16 batches,
    with the words' counts of when the batch began, and give the same result for any number above
    one; device, "cpu" or "cuda" (batches there, too); progress, show a bar. Learned, beside what
    every `TopicModel` has: ``assignments_`` (n_tokens,) int32, the topics of the tokens after the
    last sweep; ``beta_``; ``n_sweeps_`` and ``n_samples_``, sweeps and samples so far; ``history_``
    (m, 2), sweep and log p(words, topics) per token, every ten sweeps. ``components_``,
    ``doc_topic_``, ``alpha_`` and ``beta_`` are means over the samples, or the last state where
    there is none yet. A mean over samples supposes that topics keep their numbers, as they do in
    one chain on real text; on tiny corpora they may swap. New documents are folded in: Gibbs
    sampling of their topics with ``components_`` frozen, 20 sweeps and the mean of 30 more. The
    result is bitwise the same for equal settings. [griffiths2004finding; blei2003latent]
    """

    name = "LDA (Gibbs)"

    def __init__(self, n_topics: int = 20, *, alpha: Any = 0.1, beta: float = 0.01,
                 n_sweeps: int = 200, burn_in: int | None = None, thin: int = 10,
                 learn_alpha: bool = True, learn_beta: bool = True, seed: int = 0, threads: int = 1,
                 device: str = "cpu", progress: bool = False):
        self.n_topics, self.alpha, self.beta, self.n_sweeps = n_topics, alpha, beta, n_sweeps
        self.burn_in, self.thin, self.learn_alpha, self.learn_beta = burn_in, thin, learn_alpha, learn_beta
        self.seed, self.threads, self.device, self.progress = seed, threads, device, progress

    def _check_settings(self) -> None:
        super()._check_settings()
        checked_prior("alpha", self.alpha, self.n_topics)
        checked_prior("beta", self.beta, 1)
        check_int("n_sweeps", self.n_sweeps)
        if self.burn_in is not None:
            check_int("burn_in", self.burn_in, low=0)
        check_int("thin", self.thin)
        check_int("threads", self.threads)
        for name in ("learn_alpha", "learn_beta", "progress"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name}={shown(getattr(self, name))} is "
                                f"{type(getattr(self, name)).__name__}; expected True or False")
        check_choice("device", self.device, ("cpu", "cuda"))

    def _check_machine(self) -> None:
        if self.device == "cuda":
            import torch

            if not torch.cuda.is_available():
                raise BackendUnavailable('device="cuda" cannot be used: PyTorch finds no CUDA '
                                         'device on this machine. Take device="cpu", the default')

    # -------------------------------------------------------------------------- learning

    def _fit(self, counts: Counts) -> None:
        _check_sizes(counts, words=True)
        rng = generator(self.seed)
        key, topics = int(rng.integers(1 << 62)), rng.integers(self.n_topics, size=counts.n_tokens,
                                                               dtype=np.int32)
        past = _Past(checked_prior("alpha", self.alpha, self.n_topics),
                     float(checked_prior("beta", self.beta, 1)[0]),
                     self.n_sweeps // 2 if self.burn_in is None else self.burn_in)
        self._run(_Chain(self, counts, topics, key, past), self.n_sweeps)

    def resume(self, data: Any, *, n_sweeps: int = 100) -> GibbsLDA:
        """Go on with the chain on the same data for ``n_sweeps`` sweeps; works after `load`.

        With the same ``burn_in`` the result is bitwise that of one `fit` of all the sweeps. Returns
        self. Raises NotFittedError, TypeError or ValueError for a wrong number, ValueError when the
        data are not those of the fit or ``n_topics`` was changed, BackendUnavailable.
        """
        self._check_fitted("components_")
        self._check_same_topics("resume")
        self._check_settings()
        self._check_machine()
        check_int("n_sweeps", n_sweeps)
        counts = self._known_counts(data)
        _check_sizes(counts, words=True)
        if fingerprint(*counts.tokens_in_order()) != self._past.fingerprint:
            raise ValueError(f"data has {counts.n_documents} documents and {counts.n_tokens:,} "
                             f"tokens, the fit had {len(self.doc_topic_)} and "
                             f"{len(self.assignments_):,}, or another order; resume needs the data "
                             "of the fit")
        key = int(generator(self.seed).integers(1 << 62))
        self._run(_Chain(self, counts, self.assignments_, key, self._past), n_sweeps)
        self._note_corpus(counts)
        return self

    def _run(self, chain: _Chain, n_sweeps: int) -> None:
        for _ in track(range(n_sweeps), label=self.name, show=self.progress):
            chain.sweep()
        past = chain.past
        word_topic, self.doc_topic_, self.alpha_, beta = (chain.means
                                                          if past.n_samples
                                                          else chain.estimates())
        self.components_, self.beta_ = np.ascontiguousarray(word_topic.T), float(beta)
        self.assignments_, self.history_ = chain.topics().copy(), np.array(
            past.history, dtype=np.float64).reshape(-1, 2)
        self.n_sweeps_, self.n_samples_, self._past = past.n_sweeps, past.n_samples, past

    # -------------------------------------------------------------------------- using

    def _infer(self, counts: Counts, seed: int) -> np.ndarray:
        from ..kernels import LdaState, lda_sweep
        from .gibbs_kernel import add_document_counts

        _check_sizes(counts)
        used, words = np.unique(counts.matrix.indices, return_inverse=True)
        offsets, ids = Counts(counts.matrix).tokens_in_order()
        found = np.zeros((counts.n_documents, len(self.alpha_)))
        if len(ids):
            table = self.components_[:, used].T
            words = np.repeat(words, counts.matrix.data)
            state = LdaState(words, offsets, (table * self.alpha_).argmax(axis=1)[words],
                             n_topics=len(self.alpha_), n_words=len(used), streams=_streams(
                                 offsets, ids), word_topic=table)
            key = int(generator(seed).integers(1 << 62))
            for sweep in range(FOLD_IN_BURN + FOLD_IN_SAMPLES):
                lda_sweep(state, alpha=self.alpha_, seed=key, sweep=sweep, threads=self.threads)
                if sweep >= FOLD_IN_BURN:
                    add_document_counts(offsets, state.topics.numpy(), found)
        found = found / FOLD_IN_SAMPLES + self.alpha_
        return found / found.sum(axis=1, keepdims=True)

    # -------------------------------------------------------------------------- files

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        past = self._past
        arrays = {"assignments": self.assignments_, "history": self.history_, "alpha": past.alpha}
        return arrays, {
            "beta": past.beta, "mean_beta": self.beta_, "burn_in": past.burn_in,
            "n_sweeps": past.n_sweeps, "n_samples": past.n_samples, "fingerprint": past.fingerprint
        }

    def _restore(self, arrays: dict[str, np.ndarray], extra: dict[str, Any],
                 path: str | os.PathLike) -> None:
        self.assignments_ = loaded_array(path, arrays, "assignments", shape=(int(
            self.word_counts_.sum()), ), kind="i").astype(np.int32)
        if len(self.assignments_
               ) and not 0 <= self.assignments_.min() <= self.assignments_.max() < self.n_topics:
            raise DamagedFile(f"{path}: array 'assignments' holds numbers that are no topics. Save "
                              "the model again")
        n_history = len(arrays.get("history", ()))
        self.history_ = loaded_array(path, arrays, "history", shape=(n_history, 2))
        alpha = loaded_array(path, arrays, "alpha", shape=(self.n_topics,))
        self.beta_ = float(checked_prior("beta", extra["mean_beta"], 1)[0])
        self._past = _Past(checked_prior("alpha", alpha, self.n_topics),
                           float(checked_prior("beta", extra["beta"], 1)[0]),
                           check_int("burn_in", extra["burn_in"], low=0),
                           check_int("n_sweeps", extra["n_sweeps"]),
                           check_int("n_samples", extra["n_samples"], low=0),
                           self.history_.tolist(), str(extra["fingerprint"]))
        self.n_sweeps_, self.n_samples_ = self._past.n_sweeps, self._past.n_samples


# ------------------------------------------------------------------------------ the chain


@dataclass
class _Past:
    """What a chain needs to go on, beside the topics and the means: the priors of now, and how far
    it is.
    """

    alpha: np.ndarray
    beta: float
    burn_in: int
    n_sweeps: int = 0
    n_samples: int = 0
    history: list[list[float]] = field(default_factory=list)
    fingerprint: str = ""


class _Chain:
    """The state of the sampler while it runs, and the means of the samples so far (words by topics,
    documents by topics, alpha, beta).
    """

    def __init__(self, model: GibbsLDA, counts: Counts, topics: np.ndarray, key: int,
                 past: _Past) -> None:
        from ..kernels import LdaState

        self.model, self.key = model, key
        self.offsets, words = counts.tokens_in_order()
        self.lengths = np.diff(self.offsets)
        self.state = LdaState(words, self.offsets, topics, n_topics=model.n_topics,
                              n_words=counts.n_words, device=model.device)
        self.past = _Past(
            **{
                **vars(past), "history": list(past.history), "fingerprint": fingerprint(
                    *counts.tokens_in_order())
            })
        self.means: tuple[Any, ...] = ()
        if past.n_samples:
            self.means = (np.ascontiguousarray(model.components_.T), model.doc_topic_.copy(),
                          model.alpha_.copy(), model.beta_)

    def topics(self) -> np.ndarray:
        """The topic of every token."""
        return self.state.topics.cpu().numpy()

    def sweep(self) -> None:
        """Draw every token once; then learn the priors and take a sample where it is time."""
        from ..kernels import lda_sweep

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
        """p(word | topic) as (V, K), p(topic | document) as (D, K), alpha, beta, given the state of
        now.
        """
        from .gibbs_kernel import add_document_counts

        past, state, n_topics = self.past, self.state, self.model.n_topics
        totals = state.totals[:n_topics].cpu().numpy()
        words = ((state.word_topic[:, :n_topics].cpu().numpy() + past.beta) /
                 (totals + state.n_words * past.beta))
        documents = np.tile(past.alpha, (len(self.lengths), 1))
        add_document_counts(self.offsets, self.topics(), documents)
        documents /= (self.lengths + past.alpha.sum())[:, None]
        return words, documents, past.alpha, past.beta

    def _sample(self) -> None:
        """Move the means a step towards the state of now; written in place, because (V, K) numbers
        are many.
        """
        self.past.n_samples += 1
        now, n = self.estimates(), self.past.n_samples
        if n == 1:
            self.means = tuple(np.array(x, dtype=np.float64) for x in now[:3]) + now[3:]
            return
        for mean, x in zip(self.means[:3], now[:3], strict=True):
            mean += (x - mean) / n
        self.means = (*self.means[:3], self.means[3] + (now[3] - self.means[3]) / n)


def _check_sizes(counts: Counts, *, words: bool = False) -> None:
    """Raise ValueError for a document, or with ``words`` for a word, of more tokens than a sweep
    can count: before they are laid out one by one.
    """
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
    """A number below 2^63 for each document that depends on its words alone: what it draws must not
    depend on its neighbours.
    """
    x = words.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    # the mixing of SplitMix64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    up_to = np.concatenate(
        [np.zeros(1, dtype=np.uint64),
         np.cumsum(x ^ (x >> np.uint64(31)), dtype=np.uint64)])
    return ((up_to[offsets[1:]] - up_to[offsets[:-1]]) >> np.uint64(1)).astype(np.int64)
