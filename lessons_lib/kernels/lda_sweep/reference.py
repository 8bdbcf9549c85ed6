"""One sweep of the collapsed Gibbs sampler as in a textbook: token by token, in float64.

The only liberty is the order in which topics share the interval [0, 1): column by column of a table
with sixteen columns, as the fast paths add them up. Any order gives the same law. Taught in
``03_topic_models``.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Int32
from torch import Tensor

from .state import LdaState, Settings
from .uniforms import uniforms

__all__ = ["lda_sweep"]


def _order(n_topics: int) -> np.ndarray:
    """0, 16, 32, …, 1, 17, 33, …: topics lane by lane."""
    return np.concatenate([np.arange(lane, n_topics, 16) for lane in range(min(16, n_topics))])


def lda_sweep(words: Int32[Tensor, " n"], state: LdaState, how: Settings) -> int:
    """p(z = k | all others) ∝ (n_dk + α_k) (n_kw + β) / (n_k + V β), counts without the token
    itself; returns how many topics changed."""
    k, changed, bounds = state.n_topics, 0, state.offsets.tolist()
    tensors = state.word_topic[:, :k], state.totals[:k], state.topics
    word_topic, totals, topics = (x.cpu().numpy().astype(np.float64) for x in tensors)
    alpha, order, topics = how.alpha[:k].double().cpu().numpy(), _order(k), topics.astype(np.int64)
    for first in range(0, state.n_documents, how.at_once):
        # several documents see the words as they were when their batch began
        seen = [x if how.at_once == 1 else x.copy() for x in (word_topic, totals)]
        for d in range(first, min(first + how.at_once, state.n_documents)):
            begin, end = bounds[d : d + 2]
            document = np.bincount(topics[begin:end], minlength=k).astype(np.float64)
            draws = uniforms(end - begin, seed=how.seed, sweep=how.sweep,
                             stream=int(state.streams[d]))
            for t, u in zip(range(begin, end), draws, strict=True):
                old, word = topics[t], int(words[t])
                itself = np.arange(k) == old
                document -= itself
                others = seen[0][word] - state.own * itself, seen[1] - state.own * itself
                weights = ((document + alpha) * (others[0] + how.beta)
                           / (others[1] + state.n_words * how.beta))
                shares = np.cumsum(weights[order])
                new = order[min(np.searchsorted(shares, u * shares[-1], side="right"), k - 1)]
                document[new] += 1
                if not state.frozen:
                    word_topic[word, [old]] -= 1
                    word_topic[word, [new]] += 1
                    totals[old] -= 1
                    totals[new] += 1
                topics[t], changed = new, changed + int(new != old)
    for tensor, array in zip(tensors, (word_topic, totals, topics), strict=True):
        tensor.copy_(Tensor(array).to(tensor.dtype))
    return changed
