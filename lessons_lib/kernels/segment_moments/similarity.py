"""Mean cosines out of segment moments: the sum of the directions knows all pairs.

‖Σ u‖² = Σ_j Σ_k u_j·u_k holds every pair and every vector with itself; the mean over sentences
works the same way. Taught in ``09_anisotropy``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import SegmentMoments, as_offsets

__all__ = ["intra_sentence_similarity", "self_similarity"]


def _row_counts(moments: SegmentMoments, offsets: Any) -> Tensor:
    offsets, s = as_offsets(offsets, device=moments.sum.device), len(moments.sum)
    if len(offsets) != s + 1:
        raise ValueError(f"offsets has {len(offsets)} numbers and moments {s} segments; expected "
                         f"{s + 1}, the offsets these moments were made with")
    return offsets.diff().to(moments.sum.dtype)


def self_similarity(moments: SegmentMoments, offsets: Any) -> Tensor:
    """Mean cosine over pairs of different rows: how alike all occurrences of a word are.

    Parameters
    ----------
    moments : SegmentMoments
    offsets : (s + 1,) ints
        The ones the moments were made with.

    Returns
    -------
    Tensor, (s,)
        In [-1, 1], in the moments' type, differentiable. A segment with fewer than two rows has no
        pair and gives 0: leave such out before averaging (the paper asks for five contexts of a
        word and leaves out [CLS] and [SEP]).

    Raises
    ------
    ValueError, TypeError
        Offsets.

    Notes
    -----
    ``(‖Σ u‖² - Σ ‖u‖²) / (n (n - 1))``; Σ ‖u‖² = n when no row is zero, and a zero row has cosine
    0 with every other. [ethayarajh2019contextual]
    """
    n = _row_counts(moments, offsets)
    pairs = n * (n - 1)
    total = moments.unit_sum.square().sum(dim=1) - moments.n_nonzero
    return torch.where(pairs > 0, total / pairs.clamp(min=1), 0).clamp(-1, 1)


def intra_sentence_similarity(moments: SegmentMoments, offsets: Any) -> Tensor:
    """Mean of cos(mean, x_t): how much the tokens of a sentence agree with their mean.

    Parameters
    ----------
    moments : SegmentMoments
    offsets : (s + 1,) ints
        The ones the moments were made with.

    Returns
    -------
    Tensor, (s,)
        In [-1, 1], in the moments' type, differentiable. 0 for an empty segment, and where the
        rows sum to the zero vector, which has no direction.

    Raises
    ------
    ValueError, TypeError
        Offsets.

    Notes
    -----
    ``1/n Σ_t u_t · S / ‖S‖ = U·S / (n ‖S‖)`` with S = Σ x, U = Σ u. The mean contains every row,
    so about 1/√n is left even where rows have nothing in common. [ethayarajh2019contextual]
    """
    n = _row_counts(moments, offsets)
    peak = moments.sum.detach().abs().amax(dim=1, keepdim=True)
    total = moments.sum / torch.where(peak > 0, peak, 1)        # no square overflows; it cancels
    squares = total.square().sum(dim=1)
    norm = torch.where(squares > 0, squares, 1).sqrt()
    return ((moments.unit_sum * total).sum(dim=1) / (n.clamp(min=1) * norm)).clamp(-1, 1)
