"""The formulas of the segment moments, as one would write them on paper: segment by segment.

Any type, also float64; float32 for half types. Plain torch, so autograd differentiates them (no
zero rows then). Taught in ``09_anisotropy``.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from ..autograd import result_type


def _direction(rows: Float[Tensor, "k d"]) -> tuple[Float[Tensor, "k d"], Float[Tensor, "k 1"]]:
    """(x / ‖x‖, ‖x‖); a zero row stays zero. By its largest entry first: no square overflows."""
    peak = rows.abs().amax(dim=1, keepdim=True)
    scaled = rows / torch.where(peak == 0, 1, peak)
    norm = torch.linalg.vector_norm(scaled, dim=1, keepdim=True)
    return scaled / norm.clamp(min=1), peak * norm              # the norm is >= 1 unless it is 0


def segment_moments(x: Float[Tensor, "n d"], offsets: Int64[Tensor, " bounds"]) -> tuple[
        Float[Tensor, "bounds-1 d"], Float[Tensor, "bounds-1 d"], Float[Tensor, " bounds-1"],
        Int64[Tensor, " bounds-1"]]:
    """Σ x, Σ x/‖x‖, Σ ‖x‖ and the number of rows that are not zero, of each segment."""
    exact, result = x.to(result_type(x)), []
    for start, stop in pairwise(offsets.tolist()):
        rows = exact[start:stop]
        u, norm = _direction(rows)
        result.append((rows.sum(dim=0), u.sum(dim=0), norm.sum(), (norm > 0).sum()))
    if not result:
        none = exact.new_empty(0, x.shape[1])
        return none, none.clone(), none.new_empty(0), none.new_empty(0, dtype=torch.int64)
    return tuple(torch.stack(column) for column in zip(*result, strict=True))
