"""The formulas of pooling and of their gradients, as one would write them on paper.

Any type, also float64; float32 for half types. The gradient of a mean or of a maximum only sends numbers to their places, which one torch
expression does at the rate of memory on every device, so all implementations use the one written here. Taught in
``08_bert_sentence_vectors``.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int32
from torch import Tensor

__all__ = ["gradient", "largest", "mean", "unscaled"]


def _working(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


def _scaled(z: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"], Float[Tensor, " b"]]:
    """(z / ‖z‖, ‖z‖); a zero vector stays zero. Divided by its largest entry first, so that no square overflows."""
    peak = z.abs().amax(dim=1, keepdim=True)
    z = z / torch.where(peak == 0, 1, peak)
    length = z.square().sum(dim=1, keepdim=True).sqrt()
    return z / torch.where(length == 0, 1, length), (peak * length)[:, 0]


def mean(hidden: Float[Tensor, "b length d"], mask: Bool[Tensor, "b length"], first: Float[Tensor, "b length d"] | None, *,
         normalize: bool) -> tuple[Float[Tensor, "b d"], Float[Tensor, " lengths"]]:
    """Σ_{t real} h_t / n, or Σ_{t real} (f_t + h_t) / 2n with ``first``; and ‖·‖ before normalising (empty without)."""
    tokens = _working(hidden) if first is None else (_working(first) + _working(hidden)) / 2
    total = torch.where(mask[:, :, None], tokens, 0).sum(dim=1)            # where, not times: 0 · NaN is NaN
    z = total / mask.sum(dim=1, keepdim=True).clamp(min=1)
    y, length = _scaled(z) if normalize else (z, z.new_empty(0))
    return y.to(hidden.dtype), length


def largest(hidden: Float[Tensor, "b length d"], mask: Bool[Tensor, "b length"], *, normalize: bool,
            gradient: bool) -> tuple[Float[Tensor, "b d"], Float[Tensor, " lengths"], Int32[Tensor, "*places"]]:
    """max_{t real} h_tj; ‖·‖ before normalising (empty without); the first t that reaches each maximum (empty without ``gradient``)."""
    before = _working(hidden).new_full((len(hidden), 1, hidden.shape[2]), -torch.inf)            # so that no text has zero positions
    tokens = torch.where(mask[:, :, None], _working(hidden), -torch.inf)
    best, place = torch.cat([tokens, before], dim=1).max(dim=1)
    z = torch.where(mask.any(dim=1, keepdim=True), best, 0)
    y, length = _scaled(z) if normalize else (z, z.new_empty(0))
    winner = place.clamp(max=max(0, hidden.shape[1] - 1)).int() if gradient else place.new_empty(0, dtype=torch.int32)
    return y.to(hidden.dtype), length, winner


def unscaled(upstream: Float[Tensor, "b d"], y: Float[Tensor, "b d"], length: Float[Tensor, " b"]) -> Float[Tensor, "b d"]:
    """The gradient before y = z / ‖z‖ from the one after it: (u - y (y·u)) / ‖z‖; 0 for a zero vector, which has no direction."""
    u, y = upstream.to(length.dtype), y.to(length.dtype)
    along = (y * u).sum(dim=1, keepdim=True)
    return torch.where(length[:, None] == 0, 0, (u - y * along) / length[:, None]).to(upstream.dtype)


def gradient(g: Float[Tensor, "b d"], mask: Bool[Tensor, "b length"], winner: Int32[Tensor, "b d"] | None) -> Float[Tensor, "b length d"]:
    """∂L/∂h: g / n for every real token of a mean; for a maximum g_j at ``winner`` alone."""
    if winner is None:
        share = g / mask.sum(dim=1, keepdim=True).clamp(min=1)
        return torch.where(mask[:, :, None], share[:, None, :], 0)
    blank = g.new_zeros(*mask.shape, g.shape[1])
    if mask.shape[1] == 0:
        return blank
    places = winner.long()
    share = torch.where(mask.gather(1, places), g, 0)                      # a text without a real token has no winner
    return blank.scatter(1, places[:, None, :], share[:, None, :])
