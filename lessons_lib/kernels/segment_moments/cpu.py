"""Segment moments block by block: a block of rows comes into the cache once and is used there.

Sums over runs of rows are what ``embedding_bag`` computes, with weights 1/‖x‖ also the sum of
directions, so neither unit vectors nor a float32 copy of x are ever kept. A segment that spans
blocks is the sum of its parts, which also keeps long float32 sums exact. Runs on any device.
Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from ..autograd import result_type

BLOCK = 1 << 19                 # numbers of x per block: 2 MB in float32, what the caches hold
BLOCK_GPU = 1 << 24             # for gradients; a GPU wants few large steps
MOST_ROWS = 1024                # of a sum: a longer one in float32, row after row, loses digits


def _blocks(x: Tensor, offsets: Tensor, step: int) -> Iterator[tuple[slice, slice, Tensor]]:
    """(rows, the segments they belong to, where these begin and end within the rows)."""
    bounds = offsets.cpu()
    for start in range(0, len(x), max(1, step)):
        stop = min(len(x), start + max(1, step))
        first = int(torch.searchsorted(bounds, start, right=True)) - 1
        last = int(torch.searchsorted(bounds, stop))
        inside = (bounds[first : last + 1].clamp(start, stop) - start).to(x.device)
        yield slice(start, stop), slice(first, last), inside


def _directions(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(rows, factors that make them unit vectors, norms): the rows themselves, or scaled ones
    where a square could overflow or vanish."""
    norms = torch.linalg.vector_norm(rows, dim=1)
    kind = torch.finfo(rows.dtype)
    if bool(((norms > kind.tiny**0.4) & (norms < kind.max**0.4)).all()):
        return rows, 1 / norms, norms
    peak = rows.abs().amax(dim=1)
    scaled = rows / peak.masked_fill(peak == 0, 1)[:, None]
    norms = torch.linalg.vector_norm(scaled, dim=1)             # >= 1 unless the row is 0
    return scaled, 1 / norms.clamp(min=1), peak * norms


def segment_moments(x: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Every block adds its part to the segments it touches."""
    kind, s, d = result_type(x), len(offsets) - 1, x.shape[1]
    total, unit = (torch.zeros(s, d, dtype=kind, device=x.device) for _ in range(2))
    norm = torch.zeros(s, dtype=kind, device=x.device)
    count = torch.zeros(s, dtype=torch.int64, device=x.device)
    for block, segments, bounds in _blocks(x, offsets, min(BLOCK // d, MOST_ROWS)):
        rows = x[block].to(kind).contiguous()   # the order of a sum must not depend on how x lies
        places, starts = torch.arange(len(rows), device=x.device), bounds[:-1]
        scaled, factors, norms = _directions(rows)
        total[segments] += embedding_bag(places, rows, starts, mode="sum")
        unit[segments] += embedding_bag(places, scaled, starts, mode="sum",
                                        per_sample_weights=factors)
        scalars = torch.stack([norms, (norms > 0).to(kind)], dim=1)
        scalars = embedding_bag(places, scalars, starts, mode="sum")
        norm[segments] += scalars[:, 0]
        count[segments] += scalars[:, 1].long()
    return total, unit, norm, count


def gradient(x: Tensor, offsets: Tensor, of_sum: Tensor, of_unit_sum: Tensor,
             of_norm_sum: Tensor) -> Tensor:
    """Row by row from the gradients of its segment."""
    result = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    step = (BLOCK_GPU if x.is_cuda else BLOCK) // x.shape[1]
    for block, segments, bounds in _blocks(x, offsets, step):
        scaled, factors, norms = _directions(x[block].to(result_type(x)).contiguous())
        segment = torch.repeat_interleave(bounds.diff()) + segments.start
        u = scaled * factors[:, None]
        across = of_unit_sum.index_select(0, segment)
        across.addcmul_((u * across).sum(dim=1, keepdim=True), u, value=-1)
        across.mul_(torch.where(norms == 0, 0, 1 / norms)[:, None])
        across.add_(of_sum.index_select(0, segment))
        result[block] = across.addcmul_(of_norm_sum[segment][:, None], u)
    return result
