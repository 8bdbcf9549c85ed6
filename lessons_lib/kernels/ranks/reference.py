"""Ranks by their definition, every value compared with every other, and Spearman as the Pearson correlation of such ranks.

n x n comparisons per row are kept, so this is for reading and for tests. Taught in ``01_one_hot``.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from jaxtyping import Float, Int, Real
from torch import Tensor

__all__ = ["ranks", "spearman_resamples"]


def ranks(values: Real[Tensor, "*rows n"]) -> Float[Tensor, "*rows n"]:
    """#smaller + (#equal + 1) / 2, where a value equals itself."""
    mine, other = values[..., :, None], values[..., None, :]
    return (other < mine).sum(dim=-1) + ((other == mine).sum(dim=-1) + 1).double() / 2


def _correlation(a: Float[Tensor, "resamples m"], b: Float[Tensor, "resamples m"]) -> Float[Tensor, " resamples"]:
    """Pearson of each row; NaN where a side is constant."""
    a, b = (side - side.mean(dim=1, keepdim=True) for side in (a, b))
    spread = (a.square().sum(dim=1) * b.square().sum(dim=1)).sqrt()
    return torch.where(spread > 0, (a * b).sum(dim=1) / spread, torch.nan).clamp(-1, 1)


def spearman_resamples(columns: Real[Tensor, "c n"], gold: Real[Tensor, " n"],
                       draws: Iterable[Int[Tensor, "resamples m"]]) -> Float[Tensor, "c resamples"]:
    """Rank what was drawn, anew in every resample, and correlate."""
    none = torch.empty(len(columns), 0, dtype=torch.float64, device=columns.device)
    return torch.cat([none, *(torch.stack([_correlation(ranks(column[rows]), ranks(gold[rows])) for column in columns]) for rows in draws)], dim=1)
