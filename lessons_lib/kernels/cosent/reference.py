"""The formula of CoSENT and of its gradient, as one would write them on paper: every pair of pairs.

Any type, also float64; N x N numbers are kept, so this is for reading and for tests. Taught in ``13_cosent``.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Real
from torch import Tensor

from ..autograd import gradient_type

__all__ = ["cosent", "value_and_gradient"]


def _violations(s: Float[Tensor, " n"], label: Real[Tensor, " n"], scale: float) -> Float[Tensor, "n n"]:
    """λ (s_j - s_i) at (i, j) where y_i > y_j, and -inf, which the exponential makes 0, where it is not."""
    return (scale * (s[None, :] - s[:, None])).masked_fill(label[:, None] <= label[None, :], -math.inf)


def cosent(similarity: Float[Tensor, " n"], label: Real[Tensor, " n"], *, scale: float) -> Float[Tensor, ""]:
    """log( 1 + Σ_{y_i > y_j} exp(λ (s_j - s_i)) ): the 1 is one more term, exp(0)."""
    s = similarity if similarity.dtype == torch.float64 else similarity.float()
    value = torch.cat([s.new_zeros(1), _violations(s, label, scale).flatten()]).logsumexp(dim=0)
    return value.where(~similarity.isnan().any(), math.nan)      # also where no pair looks at the missing number


def value_and_gradient(similarity: Float[Tensor, " n"], label: Real[Tensor, " n"], *, scale: float) -> tuple[Float[Tensor, ""], Float[Tensor, " n"]]:
    """L and ∂L/∂s_k = λ (what k pays as the lower label - what it pays as the higher one)."""
    s = similarity if similarity.dtype == torch.float64 else similarity.float()
    value = cosent(similarity, label, scale=scale)
    share = (_violations(s, label, scale) - value).exp()
    return value, (scale * (share.sum(dim=0) - share.sum(dim=1))).to(gradient_type(similarity.dtype))
