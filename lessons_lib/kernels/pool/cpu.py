"""Pooling text by text, in blocks: only the rows of real tokens are read, and no masked copy of the token vectors is made.

A sum of chosen rows is what ``embedding_bag`` computes; half types are widened block by block. Runs on any device. Taught in
``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

__all__ = ["largest", "mean"]

BLOCK = 1 << 20                                 # numbers of token vectors per block: 4 MB in float32, about what the caches hold
MOST_ROWS = 512                                 # of a sum: a longer one in float32, one after the other, would lose digits


def _type(x: Tensor) -> torch.dtype:
    """float64 stays; float32 for all else, because sums of half types lose digits."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _scaled(z: Tensor) -> tuple[Tensor, Tensor]:
    """(z / ‖z‖, ‖z‖), written over z; the largest entry is divided out first, so that no square overflows and a zero vector stays zero."""
    peak = torch.linalg.vector_norm(z, torch.inf, dim=1, keepdim=True)
    z.div_(peak.masked_fill(peak == 0, 1))
    length = torch.linalg.vector_norm(z, dim=1, keepdim=True)
    return z.div_(length.masked_fill(length == 0, 1)), (peak * length)[:, 0]


def _runs(places: Tensor, rows: Tensor, counts: Tensor, most: int) -> Tensor:
    """Σ of the chosen rows of each run, one run after the other in ``places``; the sum of its parts where ``most`` rows of a run are too many."""
    starts = counts.cumsum(dim=0) - counts
    if most <= MOST_ROWS:
        return embedding_bag(places, rows, starts, mode="sum")
    parts = (counts + MOST_ROWS - 1) // MOST_ROWS
    run = torch.repeat_interleave(parts)
    number = torch.arange(len(run), device=rows.device)
    earlier = (number - (parts.cumsum(dim=0) - parts)[run]) * MOST_ROWS
    return _runs(number, embedding_bag(places, rows, starts[run] + earlier, mode="sum"), parts, -(-most // MOST_ROWS))


def _sums(hidden: Tensor, mask: Tensor) -> Tensor:
    """Σ of the real tokens' vectors, one row per text."""
    b, length, d = hidden.shape
    total = torch.zeros(b, d, dtype=_type(hidden), device=hidden.device)
    step = max(1, BLOCK // max(1, length * d))
    for start in range(0, b if length else 0, step):
        tokens, chosen = hidden[start : start + step], mask[start : start + step]
        if tokens.dtype == total.dtype:
            rows, places = tokens.reshape(-1, d).contiguous(), chosen.flatten().nonzero()[:, 0]
        else:
            rows = tokens[chosen].to(total.dtype).contiguous()
            places = torch.arange(len(rows), device=rows.device)
        if len(places):
            total[start : start + step] = _runs(places, rows, chosen.sum(dim=1), length)
    return total


def mean(hidden: Tensor, mask: Tensor, first: Tensor | None, *, normalize: bool) -> tuple[Tensor, Tensor]:
    """The mean over real tokens, of both layers when ``first`` is given: the mean of a sum is the sum of the means."""
    z = _sums(hidden, mask)
    if first is not None:
        z = z.add_(_sums(first, mask)).div_(2)
    z.div_(mask.sum(dim=1, keepdim=True).clamp_(min=1))
    z, length = _scaled(z) if normalize else (z, z.new_empty(0))
    return z.to(hidden.dtype), length


def largest(hidden: Tensor, mask: Tensor, *, normalize: bool, gradient: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The maximum over real tokens, text by text; the places of the maxima only where a gradient will ask for them."""
    b, _, d = hidden.shape
    z = torch.zeros(b, d, dtype=_type(hidden), device=hidden.device)
    winner = torch.zeros((b, d) if gradient else (0,), dtype=torch.int32, device=hidden.device)
    for i in range(b):
        real = mask[i].nonzero()[:, 0]
        if len(real) and gradient:
            z[i], place = hidden[i, real].max(dim=0)
            winner[i] = real[place]
        elif len(real):
            z[i] = hidden[i, real].amax(dim=0)
    z, length = _scaled(z) if normalize else (z, z.new_empty(0))
    return z.to(hidden.dtype), length, winner
