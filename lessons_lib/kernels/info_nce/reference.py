"""The formula of InfoNCE and of its gradient, as on paper: all queries against all keys at once.

Any type, also float64; n x m numbers are kept, so this is for reading and for tests. Taught in
``14_simcse``.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..autograd import gradient_type, result_type


def _logits(query: Float[Tensor, "n d"], key: Float[Tensor, "m d"],
            temperature: float) -> Float[Tensor, "n m"]:
    """s_ij = query_i·key_j / temperature, in float32 at least."""
    return query.to(result_type(query)) @ key.to(result_type(key)).T / temperature


def _weighted(logits: Float[Tensor, "n m"], hard_negative: Int[Tensor, " n"] | None,
              hard_weight: float) -> Float[Tensor, "n m"]:
    """s_ij + h_ij: the weight of its hard negative added in every row."""
    if hard_negative is None:
        return logits
    i = torch.arange(len(logits), device=logits.device)
    return logits.index_put((i, hard_negative), logits[i, hard_negative] + hard_weight)


def info_nce(query: Float[Tensor, "n d"], key: Float[Tensor, "m d"], *,
             positive: Int[Tensor, " n"], hard_negative: Int[Tensor, " n"] | None,
             temperature: float, hard_weight: float, symmetric: bool) -> Float[Tensor, ""]:
    """Mean of log Σ_j exp(s_ij + h_ij) - s_ip; symmetric: of that and log Σ_a exp(s_ap) - s_ip."""
    logits = _logits(query, key, temperature)
    own = logits.gather(1, positive[:, None])[:, 0]
    loss = (_weighted(logits, hard_negative, hard_weight).logsumexp(dim=1) - own).mean()
    if symmetric:
        loss = (loss + (logits[:, positive].logsumexp(dim=0) - own).mean()) / 2
    return loss


def value_and_gradient(query: Float[Tensor, "n d"], key: Float[Tensor, "m d"], *,
                       positive: Int[Tensor, " n"], hard_negative: Int[Tensor, " n"] | None,
                       temperature: float, hard_weight: float, symmetric: bool,
                       wanted: tuple[bool, bool]
                       ) -> tuple[Float[Tensor, ""], Float[Tensor, "n d"] | None,
                                  Float[Tensor, "m d"] | None]:
    """L, ∂L/∂query = G key, ∂L/∂key = Gᵀ query with G = (softmax - one-hot) / (n temperature)."""
    value = info_nce(query, key, positive=positive, hard_negative=hard_negative,
                     temperature=temperature, hard_weight=hard_weight, symmetric=symmetric)
    logits, i = _logits(query, key, temperature), torch.arange(len(query), device=query.device)
    one_hot = torch.zeros_like(logits).index_put((i, positive), logits.new_ones(()))
    slope = _weighted(logits, hard_negative, hard_weight).softmax(dim=1) - one_hot
    if symmetric:
        columns = torch.zeros_like(logits)
        columns[:, positive] = logits[:, positive].softmax(dim=0)
        slope = (slope + columns - one_hot) / 2
    slope = slope / (len(query) * temperature)
    dquery = (slope @ key.to(slope.dtype)).to(gradient_type(query.dtype)) if wanted[0] else None
    dkey = (slope.T @ query.to(slope.dtype)).to(gradient_type(key.dtype)) if wanted[1] else None
    return value, dquery, dkey
