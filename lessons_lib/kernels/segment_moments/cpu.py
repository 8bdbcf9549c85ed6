"""Segment moments block by block: a block of rows comes into the cache once and is used three times there.

Sums over runs of rows are what ``embedding_bag`` computes, with weights 1/‖x‖ also the sum of directions, so neither unit vectors nor a
float32 copy of x are ever kept. A segment that spans blocks is the sum of its parts, which also keeps long float32 sums exact. Runs on any
device. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

__all__ = ["gradient", "segment_moments"]

BLOCK = 1 << 19                                 # numbers of x per block: 2 MB in float32, about what the caches hold
MOST_ROWS = 1024                                # of a block: a float32 sum of more, one after the other, would lose digits


def _type(x: Tensor) -> torch.dtype:
    """float64 stays; float32 for all else, because sums of half types lose digits."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _blocks(x: Tensor, offsets: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    """(rows, the segments they belong to, where these begin and end within the rows)."""
    bounds = offsets.cpu()
    step = max(1, min(BLOCK // x.shape[1], MOST_ROWS))
    for start in range(0, len(x), step):
        stop = min(len(x), start + step)
        first = int(torch.searchsorted(bounds, start, right=True)) - 1
        last = int(torch.searchsorted(bounds, stop))
        yield slice(start, stop), slice(first, last), (bounds[first : last + 1].clamp(start, stop) - start).to(x.device)


def _directions(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(rows, factors that make them unit vectors, lengths): the rows themselves, or scaled ones where a square could overflow or vanish."""
    lengths = torch.linalg.vector_norm(rows, dim=1)
    kind = torch.finfo(rows.dtype)
    if bool(((lengths > kind.tiny**0.4) & (lengths < kind.max**0.4)).all()):
        return rows, 1 / lengths, lengths
    peak = rows.abs().amax(dim=1)
    scaled = rows / peak.masked_fill(peak == 0, 1)[:, None]
    scaled_lengths = torch.linalg.vector_norm(scaled, dim=1)
    return scaled, 1 / scaled_lengths.clamp(min=1), peak * scaled_lengths          # the length of a scaled row is >= 1 unless it is 0


def segment_moments(x: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Every block adds its part to the segments it touches."""
    kind, s = _type(x), len(offsets) - 1
    total, unit = (torch.zeros(s, x.shape[1], dtype=kind, device=x.device) for _ in range(2))
    norm, count = torch.zeros(s, dtype=kind, device=x.device), torch.zeros(s, dtype=torch.int64, device=x.device)
    for block, segments, bounds in _blocks(x, offsets):
        rows = x[block].to(kind).contiguous()   # the order of a sum must not depend on how x lies
        places = torch.arange(len(rows), device=x.device)
        scaled, factors, lengths = _directions(rows)
        total[segments] += embedding_bag(places, rows, bounds[:-1], mode="sum")
        unit[segments] += embedding_bag(places, scaled, bounds[:-1], mode="sum", per_sample_weights=factors)
        scalars = embedding_bag(places, torch.stack([lengths, (lengths > 0).to(kind)], dim=1), bounds[:-1], mode="sum")
        norm[segments] += scalars[:, 0]
        count[segments] += scalars[:, 1].long()
    return total, unit, norm, count


def gradient(x: Tensor, offsets: Tensor, of_sum: Tensor, of_unit_sum: Tensor, of_norm_sum: Tensor) -> Tensor:
    """Row by row from the gradients of its segment, in blocks."""
    found = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    for block, segments, bounds in _blocks(x, offsets):
        scaled, factors, lengths = _directions(x[block].to(_type(x)).contiguous())
        segment = torch.repeat_interleave(bounds.diff()) + segments.start
        u = scaled * factors[:, None]
        across = of_unit_sum.index_select(0, segment)
        across.addcmul_((u * across).sum(dim=1, keepdim=True), u, value=-1)
        across.mul_(torch.where(lengths == 0, 0, 1 / lengths)[:, None])
        found[block] = across.add_(of_sum.index_select(0, segment)).addcmul_(of_norm_sum[segment][:, None], u)
    return found
