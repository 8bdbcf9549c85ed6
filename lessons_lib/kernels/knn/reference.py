"""The formula of a neighbour search: all scores at once, then a stable sort.

Any type, also float64; m x n numbers are kept (m x n x d for distances), so this is for reading and
for tests. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..autograd import result_type


def _cosines(query: Float[Tensor, "m d"], x: Float[Tensor, "n d"]) -> Float[Tensor, "m n"]:
    """q·x / (‖q‖ ‖x‖), and 0 where a vector is zero."""
    norms = query.norm(dim=1)[:, None] * x.norm(dim=1)
    return torch.where(norms > 0, query @ x.T / norms, 0.0).clamp(-1, 1)


def _distances(query: Float[Tensor, "m d"], x: Float[Tensor, "n d"]) -> Float[Tensor, "m n"]:
    """‖q - x‖ from the differences: the expansion would lose what is small between long vectors."""
    return (query[:, None, :] - x[None, :, :]).square().sum(dim=2).sqrt()


def nearest(query: Float[Tensor, "m d"], x: Float[Tensor, "n d"], *, k: int, metric: str,
            exclude_self: bool) -> tuple[Float[Tensor, "m k"], Int[Tensor, "m k"]]:
    """Values and row numbers of the k nearest; a stable sort keeps equals in row order."""
    query, x, cosine = query.to(result_type(query)), x.to(result_type(x)), metric == "cosine"
    values = _cosines(query, x) if cosine else _distances(query, x)
    if exclude_self:
        own = torch.eye(len(x), dtype=torch.bool, device=x.device)
        values = values.masked_fill(own, -math.inf if cosine else math.inf)
    values, indices = values.sort(dim=1, stable=True, descending=cosine)
    return values[:, :k], indices[:, :k]
