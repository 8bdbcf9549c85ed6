"""The code most people write: the peers that every kernel is measured beside, in plain torch, on any device.

Nothing here is used by the library itself. Where a formula needs all pairs, these keep them all; that is the point. Shown in
``15_gpu_kernels``.
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

__all__ = ["alignment", "compiled", "cosent", "covariance", "info_nce", "knn_cdist", "knn_chunks", "lda_sweep", "mean_cosine",
           "pool", "segment_index_add", "segment_loop", "spearman_loop", "uniformity_gram", "uniformity_pdist", "with_gradient"]


def with_gradient(loss: Callable[..., Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
    """Value and gradients of a loss: one forward and one backward pass, nothing kept between calls."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    value = loss(*leaves)
    return value.detach(), *torch.autograd.grad(value, leaves)


def _has_compiler() -> bool:
    return any(shutil.which(name) for name in (os.environ.get("CXX", "g++"), "g++", "clang++", "c++"))


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.compile(function)`` for fixed shapes; what it gives raises PeerMissing where torch cannot compile (no compiler, or it fails)."""
    fast = torch.compile(function, dynamic=False)

    def call(*args: Any) -> Any:
        if not any(x.is_cuda for x in args if isinstance(x, Tensor)) and not _has_compiler():
            raise PeerMissing("torch.compile needs a C++ compiler, and none was found")
        try:
            return fast(*args)
        except torch._dynamo.exc.BackendCompilerFailed as error:
            raise PeerMissing(f"torch.compile failed: {str(error).splitlines()[0][:100]}") from error

    return call


# ------------------------------------------------------------------------------------------------ all pairs


def info_nce(query: Tensor, key: Tensor, temperature: float = 0.05) -> Tensor:
    """The loss of matching row i with row i, from the whole matrix of similarities."""
    return functional.cross_entropy(query @ key.T / temperature, torch.arange(len(query), device=query.device))


def uniformity_pdist(x: Tensor, t: float = 2.0) -> Tensor:
    """As in the authors' code: all distances, squared, exponentiated, averaged."""
    return torch.pdist(x).pow(2).mul(-t).exp().mean().log()


def uniformity_gram(x: Tensor, t: float = 2.0) -> Tensor:
    """From one whole product: faster than `uniformity_pdist`, n x n numbers of memory."""
    n, squares = len(x), x.float().square().sum(dim=1)
    log_kernel = t * (2 * (x @ x.T).float() - squares[:, None] - squares[None, :])
    return log_kernel.fill_diagonal_(-math.inf).flatten().logsumexp(dim=0) - math.log(n * (n - 1))


def cosent(similarity: Tensor, label: Tensor, scale: float = 20.0) -> Tensor:
    """log(1 + sum over pairs of pairs with label_i > label_j of exp(scale (s_j - s_i))), from an n x n matrix."""
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
    """Cosines in chunks of queries, the k largest of each: the honest opponent of a neighbour kernel."""
    query, x = functional.normalize(query, dim=1), functional.normalize(x, dim=1)
    found = [(chunk @ x.T).topk(k) for chunk in query.split(rows)]
    return torch.cat([values for values, _ in found]), torch.cat([indices for _, indices in found])


# ------------------------------------------------------------------------------------------------ one read


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
    """Sum of vectors, sum of unit vectors, sum of lengths, segment by segment."""
    places = offsets.tolist()
    parts = [x[a:b].float() for a, b in itertools.pairwise(places)]
    return (torch.stack([p.sum(dim=0) for p in parts]), torch.stack([functional.normalize(p, dim=1).sum(dim=0) for p in parts]),
            torch.stack([p.norm(dim=1).sum() for p in parts]))


def segment_index_add(x: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same by three scattered additions over float32 copies."""
    n, exact = len(offsets) - 1, x.float()
    segment = torch.repeat_interleave(torch.arange(n, device=x.device), offsets.diff().to(x.device))
    norms = exact.norm(dim=1)
    return (exact.new_zeros(n, x.shape[1]).index_add_(0, segment, exact),
            exact.new_zeros(n, x.shape[1]).index_add_(0, segment, functional.normalize(exact, dim=1)),
            exact.new_zeros(n).index_add_(0, segment, norms))


def spearman_loop(x: Any, y: Any) -> list[float]:
    """Spearman's correlation of each row of x with the same row of y, by SciPy, one row after the other."""
    from scipy.stats import spearmanr

    return [float(spearmanr(a, b).statistic) for a, b in zip(x, y, strict=True)]


def lda_sweep(state: LdaState, *, alpha: float = 0.1, beta: float = 0.01) -> None:
    """A Gibbs sweep as a plain loop over topics, compiled by Numba; the draws of `kernels.lda_sweep`, without its vector code."""
    from ..kernels.lda_sweep.sampling import draw
    from ..kernels.rows import padded

    beta_sum = state.n_words * beta
    prior = padded(torch.full((state.n_topics,), alpha))
    arrays = (x.numpy() for x in (state.words, state.offsets, state.topics, state.streams, state.word_topic, state.totals, prior,
                                  1 / (state.totals.float() + beta_sum)))
    draw((), True, *arrays, 0, state.n_documents, np.float32(beta), np.float32(beta_sum), 1, state.n_topics, 0, 0)
