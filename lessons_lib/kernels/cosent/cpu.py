"""CoSENT in N log N steps: exp(λ (s_j - s_i)) is a product, so each i needs only the sum of exp(λ s_j) over all smaller labels.

After sorting by label those sums are running sums; they are kept as logarithms in float64, so any scale and any similarities do. The gradient is the
same once more from the other end. Plain torch, runs on any device. Taught in ``13_cosent``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..autograd import gradient_type

__all__ = ["cosent", "value_and_gradient"]


def _scaled(similarity: Tensor, places: Tensor, scale: float) -> Tensor:
    """λ s in the order of ``places``: float64, or float32 on Apple's devices, which have no other."""
    return similarity[places].to(torch.float32 if similarity.device.type == "mps" else torch.float64) * scale


def _log_sums(values: Tensor, counts: Tensor) -> Tensor:
    """Log of the sum of exp over the first counts[i] values; -inf where that is none of them."""
    running = torch.cat([values.new_full((1,), -math.inf), values.logcumsumexp(dim=0)])
    return running[counts]


def _loss(paid: Tensor) -> Tensor:
    """log(1 + Σ exp(paid)): the 1 is one more term, exp(0)."""
    return torch.cat([paid.new_zeros(1), paid]).logsumexp(dim=0)


def _result_type(similarity: Tensor) -> torch.dtype:
    return torch.float64 if similarity.dtype == torch.float64 else torch.float32


def cosent(similarity: Tensor, label: Tensor, *, scale: float) -> Tensor:
    """The value alone: one sort, one running sum."""
    ordered, places = label.sort()
    s = _scaled(similarity.detach(), places, scale)
    paid = _log_sums(s, torch.searchsorted(ordered, ordered)) - s
    return _loss(paid).to(_result_type(similarity))


def value_and_gradient(similarity: Tensor, label: Tensor, *, scale: float) -> tuple[Tensor, Tensor]:
    """Value and gradient: what k pays as the lower label comes from a running sum of exp(-λ s), from the highest label down."""
    ordered, places = label.sort()
    s = _scaled(similarity.detach(), places, scale)
    paid = _log_sums(s, torch.searchsorted(ordered, ordered)) - s
    value = _loss(paid)
    n_larger = len(s) - torch.searchsorted(ordered, ordered, right=True)
    received = _log_sums(-s.flip(0), n_larger) + s
    share = (received - value).exp_() - (paid - value).exp_()
    gradient = torch.empty_like(share).index_copy_(0, places, share.mul_(scale))
    return value.to(_result_type(similarity)), gradient.to(gradient_type(similarity.dtype))
