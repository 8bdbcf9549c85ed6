"""The rows as the tiles want them: near the origin, and none whose square is no number.

In ‖x_i‖² + ‖x_j‖² - 2 x_i·x_j nearly all is lost when the rows lie far out: of rows near 1000 that
differ by 0.1 no digit is left. Distances do not change when all points move together, so points
far out first move to where their middle is the origin. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

SAMPLE = 64                                     # rows that say where the middle is


def centred(x: Tensor) -> Tensor:
    """A gapless copy of x; if its middle lies beyond the unit sphere, moved to the origin.

    Within it nothing is to be gained: t ‖x_i - x_j‖² counts in absolute terms, and squares near 1
    are exact enough. Half types keep every digit: only columns move whose differences from the
    middle they can hold, those that lie within a factor of 2 of it.
    """
    sample = x[:: -(-len(x) // SAMPLE)]
    # the median of each column: a point between the points, wherever a few of them stray
    middle = sample.sort(dim=0).values[len(sample) // 2]
    if torch.linalg.vector_norm(middle.float()) <= 1:
        return x.clone(memory_format=torch.contiguous_format)
    if x.dtype in (torch.float16, torch.bfloat16):
        low, high = x.amin(dim=0) / middle, x.amax(dim=0) / middle
        near = (torch.minimum(low, high) >= 0.5) & (torch.maximum(low, high) <= 2)
        middle = torch.where(near, middle, 0.0)
    return (x - middle).contiguous()


def drop_far_rows(x: Tensor) -> Tensor:
    """Squared norms of the rows, in float32 at least; rows whose square is too large for sums of
    three become 0, written over x, with square inf.

    So their distance from all others is infinite and they pull at nothing, as in the formula;
    otherwise infinity minus infinity would be no number. A row that holds infinity gets NaN.
    """
    squares = x.to(torch.promote_types(x.dtype, torch.float32)).square().sum(dim=1)
    far = squares > torch.finfo(squares.dtype).max / 4
    largest = torch.linalg.vector_norm(x, math.inf, dim=1).to(squares.dtype)
    x.masked_fill_(far[:, None], 0.0)
    return torch.where(far, math.inf, squares).add_(largest.mul_(0.0))
