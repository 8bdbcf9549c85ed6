"""Mean cosines out of segment moments: n vectors have n (n - 1) / 2 pairs, and the sum of their directions knows the answer.

‖Σ u‖² = Σ_j Σ_k u_j·u_k holds all pairs and every vector with itself; the mean over sentences works the same way. Taught in
``09_anisotropy``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import SegmentMoments
from .runs import as_offsets

__all__ = ["intra_sentence_similarity", "self_similarity"]


def _row_counts(moments: SegmentMoments, offsets: Any) -> Tensor:
    offsets = as_offsets(offsets, device=moments.sum.device)
    if len(offsets) != len(moments.sum) + 1:
        raise ValueError(f"offsets has {len(offsets)} numbers and moments {len(moments.sum)} segments; expected {len(moments.sum) + 1}, "
                         "the offsets these moments were made with")
    return offsets.diff().to(moments.sum.dtype)


def self_similarity(moments: SegmentMoments, offsets: Any) -> Tensor:
    """How alike the vectors of a segment are (all occurrences of a word): the mean cosine over pairs of different rows.

        (‖Σ u‖² - Σ ‖u‖²) / (n (n - 1)),      Σ ‖u‖² = n when no row is zero; a zero row has cosine 0 with every other

    Parameters: moments, of `segment_moments`; offsets, the ones they were made with. Returns (s,) in the moments' type, in [-1, 1],
    differentiable. A segment with fewer than two rows has no pair and gives 0: leave such out before averaging (the measurements of the
    paper ask for five contexts of a word and leave out [CLS] and [SEP]). Raises ValueError, TypeError (offsets). [ethayarajh2019contextual]
    """
    n = _row_counts(moments, offsets)
    pairs = n * (n - 1)
    total = moments.unit_sum.square().sum(dim=1) - moments.n_nonzero
    return torch.where(pairs > 0, total / pairs.clamp(min=1), 0).clamp(-1, 1)


def intra_sentence_similarity(moments: SegmentMoments, offsets: Any) -> Tensor:
    """How much the vectors of a segment agree with their mean (the tokens of a sentence): the mean of cos(mean, x_t).

        1/n Σ_t u_t · S / ‖S‖ = U·S / (n ‖S‖),      S = Σ x, U = Σ u

    The mean contains every row, so about 1/√n is left even where rows have nothing in common.

    Parameters: moments, of `segment_moments`; offsets, the ones they were made with. Returns (s,) in the moments' type, in [-1, 1],
    differentiable. 0 where the rows sum to the zero vector, which has no direction, and for an empty segment. Raises ValueError, TypeError
    (offsets). [ethayarajh2019contextual]
    """
    n = _row_counts(moments, offsets)
    peak = moments.sum.detach().abs().amax(dim=1, keepdim=True)
    total = moments.sum / torch.where(peak > 0, peak, 1)                  # so that no square overflows; it cancels
    squares = total.square().sum(dim=1)
    length = torch.where(squares > 0, squares, 1).sqrt()
    return ((moments.unit_sum * total).sum(dim=1) / (n.clamp(min=1) * length)).clamp(-1, 1)
