"""A sweep on the processor: documents in compiled loops, one vector of sixteen topics at a time.

With ``at_once=1`` every token sees all that was drawn before it. Otherwise the documents of a batch
see the words as they were when it began, threads share them, and the changes are counted
afterwards, so the result does not depend on the number of threads. Work comes back to Python every
few hundred milliseconds, where Ctrl-C is heard. Taught in ``03_topic_models``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch
from torch import Tensor

from .state import LdaState, Settings, padded

__all__ = ["lda_sweep"]

TOKENS_PER_CALL = 1 << 21
MOST_VECTORS = 64  # of sixteen topics, for the unrolled walk; its code grows with them


def lda_sweep(words: Tensor, state: LdaState, how: Settings) -> int:
    """The sweep; a state on a GPU is drawn here and copied back."""
    if state.words.is_cuda:
        return _on_host(words, state, how)
    from .sampling import count, draw

    offsets, blocks = state.offsets.numpy(), (0,) * (state.word_topic.shape[1] // 16)
    live = how.at_once == 1 and not state.frozen
    beta_sum = np.float32(state.n_words * how.beta)
    inverse = padded(1.0 / (state.totals.to(torch.float32) + beta_sum))
    topics, counts, totals = state.topics.numpy(), state.word_topic.numpy(), state.totals.numpy()
    shared = (state.words.numpy(), offsets, topics, state.streams.numpy(), counts)
    numbers = (np.float32(how.beta), beta_sum, state.own, state.n_topics, how.seed, how.sweep)
    work = partial(draw, blocks if len(blocks) <= MOST_VECTORS else (), live, *shared, totals,
                   how.alpha.numpy())
    if live or (state.frozen and how.threads == 1):
        return sum(work(inverse.numpy(), first, last, *numbers)
                   for first, last in _parts(offsets, 0, state.n_documents, 1))
    changed = 0
    step = state.n_documents if state.frozen else how.at_once
    with _threads(how.threads) as side_by_side:
        for first in range(0, state.n_documents, max(1, step)):
            last = min(first + step, state.n_documents)
            batch = slice(offsets[first], offsets[last])
            before = topics[batch].copy()
            changed += sum(side_by_side(lambda part: work(inverse.numpy(), *part, *numbers),
                                        _parts(offsets, first, last, how.threads)))
            if not state.frozen:
                count(shared[0][batch], before, topics[batch], counts, totals)
                inverse.copy_(1.0 / (state.totals.to(torch.float32) + beta_sum))
    return changed


@contextlib.contextmanager
def _threads(n: int) -> Iterator[Callable[..., Iterable[int]]]:
    """A ``map`` on n threads; after an error or Ctrl-C nothing further begins."""
    if n == 1:
        yield map
        return
    pool = ThreadPoolExecutor(n)
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)


def _parts(offsets: np.ndarray, first: int, last: int, threads: int) -> Iterator[tuple[int, int]]:
    """Runs of documents with about as many tokens each: at least one run per thread, none of much
    more than `TOKENS_PER_CALL`."""
    tokens = int(offsets[last] - offsets[first])
    n = max(threads, -(-tokens // TOKENS_PER_CALL))
    cuts = (np.searchsorted(offsets[first:last + 1], offsets[first] + tokens * np.arange(1, n) // n)
            + first)
    bounds = np.unique(np.concatenate([[first], cuts, [last]]))
    yield from zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)


def _on_host(words: Tensor, state: LdaState, how: Settings) -> int:
    host = object.__new__(LdaState)
    host.__dict__.update({name: value.cpu() if isinstance(value, Tensor) else value
                          for name, value in vars(state).items()})
    host.word_topic = padded(host.word_topic)
    changed = lda_sweep(words.cpu(), host, Settings(padded(how.alpha.cpu()), how.beta, how.seed,
                                                    how.sweep, how.at_once, how.threads))
    for name in ("topics", "word_topic", "totals"):
        getattr(state, name).copy_(getattr(host, name))
    return changed
