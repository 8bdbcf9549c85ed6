"""Neighbours by blocks: a matrix product, the best of each block, and a list of the best so far.

Memory beyond the prepared rows is a few blocks of scores, whatever m and n are. Runs on any device
that has float64. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..autograd import result_type
from . import exact

ROWS = 128                      # queries of a block; on a GPU products need more to be fast
GPU_ROWS, GPU_BLOCK = 2048, 1 << 26
SPARE = 32                      # candidates beyond k: fewer equals, and no query is looked at twice


def _candidates(space: exact.Space, rows: Tensor, kept: int, block: int, *,
                exclude_self: bool) -> tuple[Tensor, Tensor]:
    """The ``kept`` best fast scores of some queries, falling, and their columns."""
    step = max(1, block // len(rows))
    scores, columns = space.weight.new_empty(len(rows), 0), rows.new_empty(len(rows), 0)
    for start in range(0, len(space.x), step):
        new = space.scores(rows, slice(start, start + step), exclude_self=exclude_self)
        best, places = new.topk(min(kept, new.shape[1]), dim=1)
        scores = torch.cat([scores, best], dim=1)
        columns = torch.cat([columns, places + start], dim=1)
        scores, order = scores.topk(min(kept, scores.shape[1]), dim=1)
        columns = columns.gather(1, order)
    return scores, columns


def nearest(query: Tensor, x: Tensor, *, k: int, metric: str,
            exclude_self: bool) -> tuple[Tensor, Tensor]:
    """Values and row numbers of the k nearest, exact and in one order."""
    space = exact.space_of(query, x, metric=metric, dtype=result_type(x))
    least, block = (GPU_ROWS, GPU_BLOCK) if x.is_cuda else (ROWS, exact.BLOCK)
    kept, results = min(len(x), k + SPARE), []
    for rows in exact.row_blocks(len(query), max(least, block // len(x)), x.device):
        candidates = _candidates(space, rows, kept, block, exclude_self=exclude_self)
        results.append(exact.settle(space, rows, candidates, k=k, exclude_self=exclude_self))
    return exact.joined(x, results, k=k, metric=metric)
