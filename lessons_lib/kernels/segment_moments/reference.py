"""The formulas of the segment moments and of their gradient, as one would write them on paper: one segment after the other.

Any type, also float64; float32 for half types. Taught in ``09_anisotropy``.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from jaxtyping import Float, Int64
from torch import Tensor

__all__ = ["gradient", "segment_moments"]


def _rows(x: Float[Tensor, "n d"], offsets: Int64[Tensor, " bounds"]) -> list[Float[Tensor, "_ d"]]:
    exact = x if x.dtype == torch.float64 else x.float()
    return [exact[start:stop] for start, stop in pairwise(offsets.tolist())]


def _direction(rows: Float[Tensor, "k d"]) -> tuple[Float[Tensor, "k d"], Float[Tensor, "k 1"]]:
    """(x / ‖x‖, ‖x‖); a zero row stays zero. Divided by its largest entry first, so that no square overflows."""
    peak = rows.abs().amax(dim=1, keepdim=True)
    scaled = rows / torch.where(peak == 0, 1, peak)
    length = torch.linalg.vector_norm(scaled, dim=1, keepdim=True)
    return scaled / length.clamp(min=1), peak * length                    # the length is >= 1 unless it is 0


def segment_moments(x: Float[Tensor, "n d"], offsets: Int64[Tensor, " bounds"]) -> tuple[
        Float[Tensor, "bounds-1 d"], Float[Tensor, "bounds-1 d"], Float[Tensor, " bounds-1"], Int64[Tensor, " bounds-1"]]:
    """Σ x, Σ x/‖x‖, Σ ‖x‖ and the number of rows that are not zero, of each segment."""
    found = []
    for rows in _rows(x, offsets):
        u, length = _direction(rows)
        found.append((rows.sum(dim=0), u.sum(dim=0), length.sum(), (length > 0).sum()))
    if not found:
        blank = x.new_empty(0, x.shape[1], dtype=torch.float64 if x.dtype == torch.float64 else torch.float32)
        return blank, blank.clone(), blank.new_empty(0), blank.new_empty(0, dtype=torch.int64)
    return tuple(torch.stack(column) for column in zip(*found, strict=True))


def gradient(x: Float[Tensor, "n d"], offsets: Int64[Tensor, " bounds"], of_sum: Float[Tensor, "bounds-1 d"],
             of_unit_sum: Float[Tensor, "bounds-1 d"], of_norm_sum: Float[Tensor, " bounds-1"]) -> Float[Tensor, "n d"]:
    """∂L/∂x_t = ∂L/∂S + (∂L/∂U - u_t (u_t · ∂L/∂U)) / ‖x_t‖ + ∂L/∂N u_t, each of the segment of t; only the first for a zero row."""
    found = [x.new_empty(0, x.shape[1])]
    for i, rows in enumerate(_rows(x, offsets)):
        u, length = _direction(rows)
        across = of_unit_sum[i] - u * (u @ of_unit_sum[i])[:, None]
        found.append(of_sum[i] + torch.where(length == 0, 0, across / length) + of_norm_sum[i] * u)
    return torch.cat([rows.to(x.dtype) for rows in found])
