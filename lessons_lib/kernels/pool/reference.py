"""The formulas of pooling and of their gradients, as one would write them on paper.

Any type, also float64; float32 for half types. The gradient only sends numbers to their places,
which one torch expression does at the rate of memory on every device, so all implementations use
the one written here. Taught in ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int32
from torch import Tensor

from ..autograd import result_type


def _scaled(z: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"], Float[Tensor, " b"]]:
    """(z / ‖z‖, ‖z‖); a zero vector stays zero. By its largest entry first: no overflow."""
    peak = z.abs().amax(dim=1, keepdim=True)
    z = z / torch.where(peak == 0, 1, peak)
    norm = z.square().sum(dim=1, keepdim=True).sqrt()
    return z / torch.where(norm == 0, 1, norm), (peak * norm)[:, 0]


def _mean(hidden: Float[Tensor, "b length d"], mask: Bool[Tensor, "b length"],
          first: Float[Tensor, "b length d"] | None) -> Float[Tensor, "b d"]:
    """Σ_{t real} h_t / n, or Σ_{t real} (f_t + h_t) / 2n with ``first``."""
    tokens = hidden if first is None else (first.to(hidden.dtype) + hidden) / 2
    total = torch.where(mask[:, :, None], tokens, 0).sum(dim=1)     # not times: 0 · NaN is NaN
    return total / mask.sum(dim=1, keepdim=True).clamp(min=1)


def _largest(hidden: Float[Tensor, "b length d"], mask: Bool[Tensor, "b length"]
             ) -> tuple[Float[Tensor, "b d"], Int32[Tensor, "b d"]]:
    """max_{t real} h_tj and the first t that reaches it."""
    # one row more, so that no text has zero positions
    lowest = hidden.new_full((hidden.shape[0], 1, hidden.shape[2]), -torch.inf)
    tokens = torch.where(mask[:, :, None], hidden, -torch.inf)
    best, place = torch.cat([tokens, lowest], dim=1).max(dim=1)
    z = torch.where(mask.any(dim=1, keepdim=True), best, 0)
    return z, place.clamp(max=max(0, hidden.shape[1] - 1)).int()


def pool(hidden: Float[Tensor, "b length d"], mask: Bool[Tensor, "b length"],
         first: Float[Tensor, "b length d"] | None, *, largest: bool, normalize: bool,
         winners: bool) -> tuple[Float[Tensor, "b d"], Float[Tensor, " norms"],
                                 Int32[Tensor, "*places"]]:
    """Mean or maximum; ‖·‖ before normalising and the places of the maxima, empty if unasked."""
    exact, winner = hidden.to(result_type(hidden)), None
    if largest:
        z, winner = _largest(exact, mask)
    else:
        z = _mean(exact, mask, first)
    y, norm = _scaled(z) if normalize else (z, z.new_empty(0))
    return y.to(hidden.dtype), norm, winner if winners else z.new_empty(0, dtype=torch.int32)


def unscaled(upstream: Float[Tensor, "b d"], y: Float[Tensor, "b d"],
             norm: Float[Tensor, " b"]) -> Float[Tensor, "b d"]:
    """The gradient before y = z / ‖z‖: (u - y (y·u)) / ‖z‖; 0 for a zero vector."""
    u, y = upstream.to(norm.dtype), y.to(norm.dtype)
    across = (u - y * (y * u).sum(dim=1, keepdim=True)) / norm[:, None]
    return torch.where(norm[:, None] == 0, 0, across).to(upstream.dtype)


def gradient(g: Float[Tensor, "b d"], mask: Bool[Tensor, "b length"],
             winner: Int32[Tensor, "b d"] | None) -> Float[Tensor, "b length d"]:
    """∂L/∂h: g / n for every real token of a mean; for a maximum g_j at ``winner`` alone."""
    if winner is None:
        share = g / mask.sum(dim=1, keepdim=True).clamp(min=1)
        return torch.where(mask[:, :, None], share[:, None, :], 0)
    blank = g.new_zeros(*mask.shape, g.shape[1])
    if mask.shape[1] == 0:
        return blank
    places = winner.long()
    share = torch.where(mask.gather(1, places), g, 0)   # a text without a real token has no winner
    return blank.scatter(1, places[:, None, :], share[:, None, :])
