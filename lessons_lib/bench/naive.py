"""The code most people write: the peers of the kernels, in plain torch, on any device.

Where a formula needs all pairs, these keep them all. Shown in ``15_gpu_kernels``.
"""

from __future__ import annotations

import itertools
import math
import os
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..kernels import LdaState
from .measure import PeerMissing


def with_gradient(loss: Callable[..., Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
    """Value and gradients of a loss: one forward and one backward pass, nothing kept."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    value = loss(*leaves)
    return value.detach(), *torch.autograd.grad(value, leaves)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.compile(function)`` for fixed shapes; PeerMissing where torch cannot compile."""
    fast = torch.compile(function, dynamic=False)
    compilers = (os.environ.get("CXX", "g++"), "g++", "clang++", "c++")

    def call(*args: Any) -> Any:
        on_gpu = any(x.is_cuda for x in args if isinstance(x, Tensor))
        if not on_gpu and not any(map(shutil.which, compilers)):
            raise PeerMissing("torch.compile needs a C++ compiler, and none was found")
        try:
            return fast(*args)
        except torch._dynamo.exc.BackendCompilerFailed as error:
            reason = str(error).splitlines()[0][:100]
            raise PeerMissing(f"torch.compile failed: {reason}") from error
    return call


def info_nce(query: Tensor, key: Tensor, temperature: float = 0.05) -> Tensor:
    """The loss of matching row i with row i, from the whole matrix of similarities."""
    rows = torch.arange(len(query), device=query.device)
    return functional.cross_entropy(query @ key.T / temperature, rows)


def uniformity_pdist(x: Tensor, t: float = 2.0) -> Tensor:
    """As in the authors' code: all distances, squared, exponentiated, averaged."""
    return torch.pdist(x).pow(2).mul(-t).exp().mean().log()


def uniformity_gram(x: Tensor, t: float = 2.0) -> Tensor:
    """From one whole product: faster than `uniformity_pdist`, n x n numbers of memory."""
    n, squares = len(x), x.float().square().sum(dim=1)
    log_kernel = t * (2 * (x @ x.T).float() - squares[:, None] - squares[None, :])
    return log_kernel.fill_diagonal_(-math.inf).flatten().logsumexp(dim=0) - math.log(n * (n - 1))


def cosent(similarity: Tensor, label: Tensor, scale: float = 20.0) -> Tensor:
    """log(1 + sum over label_i > label_j of exp(scale (s_j - s_i))), from an n x n matrix."""
    difference = scale * (similarity[None, :] - similarity[:, None])
    wanted = difference.masked_fill(label[:, None] <= label[None, :], -math.inf)
    return torch.cat([wanted.flatten(), wanted.new_zeros(1)]).logsumexp(dim=0)


def mean_cosine(x: Tensor) -> Tensor:
    """The mean of the off-diagonal of the whole matrix of cosines."""
    unit, n = functional.normalize(x, dim=1), len(x)
    cosines = unit @ unit.T
    return (cosines.sum() - cosines.diagonal().sum()) / (n * (n - 1))


def knn_cdist(query: Tensor, x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """All distances, then the k smallest."""
    return torch.cdist(query, x).topk(k, largest=False)


def knn_chunks(query: Tensor, x: Tensor, k: int, *, rows: int = 1024) -> tuple[Tensor, Tensor]:
    """Cosines in chunks of queries, the k largest of each: what a neighbour kernel has to beat."""
    query, x = functional.normalize(query, dim=1), functional.normalize(x, dim=1)
    nearest = [(chunk @ x.T).topk(k) for chunk in query.split(rows)]
    return tuple(torch.cat(parts) for parts in zip(*nearest, strict=True))


def alignment(x: Tensor, y: Tensor, alpha: float = 2.0) -> Tensor:
    """As in the authors' code: the mean distance of the two sides, to a power."""
    return (x - y).norm(dim=1).pow(alpha).mean()


def covariance(x: Tensor) -> Tensor:
    """``torch.cov`` of the columns, which keeps a centred copy."""
    return torch.cov(x.T)


def pool(hidden: Tensor, mask: Tensor) -> Tensor:
    """Mean over the tokens whose mask is 1."""
    weights = mask.to(hidden.dtype).unsqueeze(-1)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def segment_loop(x: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sum of vectors, sum of unit vectors, sum of norms, segment by segment."""
    parts = [x[a:b].float() for a, b in itertools.pairwise(offsets.tolist())]
    return (torch.stack([part.sum(dim=0) for part in parts]),
            torch.stack([functional.normalize(part, dim=1).sum(dim=0) for part in parts]),
            torch.stack([part.norm(dim=1).sum() for part in parts]))


def segment_index_add(x: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same by three scattered additions over float32 copies."""
    n, exact = len(offsets) - 1, x.float()
    segment = torch.repeat_interleave(torch.arange(n, device=x.device), offsets.diff().to(x.device))

    def added(values: Tensor) -> Tensor:
        return values.new_zeros(n, *values.shape[1:]).index_add_(0, segment, values)
    return added(exact), added(functional.normalize(exact, dim=1)), added(exact.norm(dim=1))


def maxsim_loop(query: Tensor, tokens: Tensor, offsets: Tensor) -> Tensor:
    """A product for each text, and the largest of each row of it."""
    return torch.stack([(query @ tokens[a:b].T).amax(dim=1).sum()
                        for a, b in itertools.pairwise(offsets.tolist())])


def maxsim_padded(query: Tensor, tokens: Tensor, offsets: Tensor) -> Tensor:
    """The texts filled up to the longest, one product, and the padding masked."""
    texts = [tokens[a:b] for a, b in itertools.pairwise(offsets.tolist())]
    padded = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
    real = torch.arange(padded.shape[1])[None, :] < offsets.diff()[:, None]
    products = (padded @ query.T).masked_fill(~real[:, :, None], -torch.inf)
    return products.amax(dim=1).sum(dim=1)


def spearman_loop(x: Any, y: Any) -> list[float]:
    """Spearman's correlation of each row of x with the same row of y, by SciPy, row by row."""
    from scipy.stats import spearmanr
    return [float(spearmanr(a, b).statistic) for a, b in zip(x, y, strict=True)]


def lda_sweep(state: LdaState, *, alpha: float = 0.1, beta: float = 0.01) -> None:
    """A Gibbs sweep as a plain loop over topics, compiled by Numba. The draws are those of
    `kernels.lda_sweep`, without its vector code."""
    from ..kernels.lda_sweep.sampling import draw
    from ..kernels.layout import padded
    beta_sum = state.n_words * beta
    arrays = (x.numpy() for x in (
        state.words, state.offsets, state.topics, state.streams, state.word_topic, state.totals,
        padded(torch.full((state.n_topics,), alpha)), 1 / (state.totals.float() + beta_sum)))
    draw((), True, *arrays, 0, state.n_documents, np.float32(beta), np.float32(beta_sum), 1,
         state.n_topics, 0, 0)
