"""The contests of the kernels that train: word2vec, GloVe and LDA on a GPU, with a text whose words are as unequal as those of a language.

A pass changes its model, so what is timed goes on from pass to pass; what is checked is a short text, learned by the kernel and by the processor
from the same start. Racing programs cannot be equal to it: there the losses are compared. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import kernels
from . import work
from .gpu_cases import Contest, Sides

__all__ = ["ModelSizes", "contests"]

WINDOW, NEGATIVES, SAMPLE = 5, 5, 1e-3
LOSS, NUMBERS = 1e-2, 1e-3                      # allowed: of a loss learned in a race; of numbers learned in the same order
OBJECTIVES = ("negative_sampling", "hierarchical_softmax")


@dataclass(frozen=True)
class ModelSizes:
    """How much is learned; tests use less. ``checked``: tokens or counts of the comparison with the processor."""

    tokens: int = 4_000_000
    n_words: int = 70_000
    counts: int = 20_000_000
    topics: int = 128
    lda_tokens: int = 10_000_000
    checked: int = 200_000


def _shares(n_words: int) -> np.ndarray:
    """How frequent the words of a language are, roughly (Zipf and Mandelbrot)."""
    p = 1.0 / (np.arange(n_words) + 2.7)
    return p / p.sum()


def _text(n: int, n_words: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.searchsorted(np.cumsum(_shares(n_words)), rng.random(n)).clip(max=n_words - 1)


def _kept(n: int, n_words: int) -> int:
    """Tokens that subsampling leaves, on average."""
    ratio = SAMPLE / _shares(n_words)
    return int(n * (np.minimum(1.0, np.sqrt(ratio) + ratio) * _shares(n_words)).sum())


# ------------------------------------------------------------------------------------------------ word2vec


def _windows(n: int, n_words: int, d: int, objective: str, device: str) -> kernels.WindowState:
    words, rng = _text(n, n_words), np.random.default_rng(1)
    outputs = np.zeros((n_words - (objective == OBJECTIVES[1]), d), dtype=np.float32)
    return kernels.WindowState(words, [*range(0, n, 1000), n], (rng.random((n_words, d), dtype=np.float32) - 0.5) / d, outputs,
                               np.bincount(words, minlength=n_words) + 1, sample=SAMPLE, device=device)


def _window_update(s: ModelSizes, d: int, architecture: str, objective: str, device: str) -> Sides:
    run = partial(kernels.window_update, architecture=architecture, objective=objective, window=WINDOW, negatives=NEGATIVES, deterministic=False)
    state = _windows(s.tokens, s.n_words, d, objective, device)

    def error() -> float:
        n_words, losses = max(2, s.n_words // 20), []
        for backend in (None, "cpu"):
            short = _windows(s.checked, n_words, d, objective, device)
            losses.append([run(short, loss_every=1, epoch=epoch, backend=backend)[0] for epoch in range(2)][-1])
        return abs(losses[0] - losses[1]) / losses[1]

    return Sides(lambda: run(state), error)


def _word_contests(s: ModelSizes) -> Iterator[Contest]:
    n = _kept(s.tokens, s.n_words)
    for architecture, objective, d, millions in (("skip_gram", OBJECTIVES[0], 300, 40), ("skip_gram", OBJECTIVES[0], 128, 100),
                                                 ("skip_gram", OBJECTIVES[1], 300, 30), ("cbow", OBJECTIVES[0], 300, None)):
        outputs = NEGATIVES + 1 if objective == OBJECTIVES[0] else np.log2(s.n_words)
        needs = work.window_update(n, WINDOW + 1 if architecture == "skip_gram" else 1, outputs, d)
        yield Contest(f"window_update {architecture} {objective}, {n} words, d={d}", partial(_window_update, s, d, architecture, objective),
                      millions and n / millions / 1e3, needs, "float32", n, "words", LOSS)


# ------------------------------------------------------------------------------------------------ GloVe


def _degrees(n: int, n_words: int) -> np.ndarray:
    """How many different contexts each word has: n in all, by its share of the text, at most all of them."""
    low, high = 0.0, float(n * n_words)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(n_words, middle * _shares(n_words)).astype(int).sum() <= n else (low, middle)
    found = np.minimum(n_words, low * _shares(n_words)).astype(int)
    found[np.flatnonzero(found < n_words)[: n - found.sum()]] += 1
    return found


def _cooccurrences(n: int, n_words: int, d: int, device: str) -> kernels.GloveState:
    """n counts of words that are as unequal as in a language, of contexts that are all alike, which is harder for a cache."""
    rng, degrees = np.random.default_rng(2), _degrees(n, n_words)
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    first = np.repeat(rng.integers(n_words, size=n_words) - offsets[:-1], degrees)
    start = [(rng.random((n_words, d + 1)) - 0.5) / d for _ in range(2)]
    return kernels.GloveState(offsets, (first + np.arange(n)) % n_words, rng.lognormal(2.0, 2.0, size=n), *start, device=device)


def _glove_step(s: ModelSizes, d: int, device: str) -> Sides:
    state = _cooccurrences(s.counts, s.n_words, d, device)

    def error() -> float:
        learned = []
        for backend in (None, "cpu"):
            short = _cooccurrences(s.checked, max(20, s.checked // 100), d, device)
            kernels.glove_step(short, backend=backend)
            learned.append(short.words[:, 0])
        return float((learned[0] - learned[1]).norm() / learned[1].norm())

    return Sides(lambda: kernels.glove_step(state), error)


# ------------------------------------------------------------------------------------------------ LDA


def _topics(n: int, s: ModelSizes, device: str) -> kernels.LdaState:
    topics = np.random.default_rng(3).integers(s.topics, size=n)
    return kernels.LdaState(_text(n, s.n_words), [*range(0, n, 200), n], topics, n_topics=s.topics, n_words=s.n_words, device=device)


def _lda_sweep(s: ModelSizes, device: str) -> Sides:
    state = _topics(s.lda_tokens, s, device)
    run: Callable[..., Any] = partial(kernels.lda_sweep, at_once=max(2, s.lda_tokens // 200 // 16))

    def error() -> float:
        found = []
        for backend in (None, "cpu"):
            short = _topics(s.checked, s, device)
            run(short, backend=backend)
            found.append(short.topics)
        return float((found[0] != found[1]).double().mean())

    return Sides(lambda: run(state), error)


def contests(sizes: ModelSizes | None = None) -> tuple[Contest, ...]:
    """All contests, the most telling first. Making the list makes no inputs."""
    s = sizes or ModelSizes()
    n = s.counts
    return (*_word_contests(s),
            Contest(f"glove_step {n} counts, d=300", partial(_glove_step, s, 300), n / 250e3, work.glove_step(n, 300), "float32", n, "counts",
                    NUMBERS),
            Contest(f"lda_sweep {s.lda_tokens} tokens, {s.topics} topics", partial(_lda_sweep, s), s.lda_tokens / 1.5e6,
                    work.lda_sweep(s.lda_tokens, s.n_words, s.topics), "float32", s.lda_tokens, "tokens", NUMBERS))
