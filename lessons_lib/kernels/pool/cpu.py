"""Pooling text by text, in blocks: only the rows of real tokens are read, none is copied masked.

A sum of chosen rows is what ``embedding_bag`` computes; half types are widened block by block.
Runs on any device. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from ..autograd import result_type

BLOCK = 1 << 20                 # numbers of token vectors per block: 4 MB, which the caches hold
MOST_ROWS = 512                 # of a float32 sum: a longer one, row after row, loses digits


def _runs(places: Tensor, rows: Tensor, counts: Tensor, most: int) -> Tensor:
    """Σ of the chosen rows of each run in ``places``; of its parts where ``most`` are too many."""
    starts = counts.cumsum(dim=0) - counts
    if most <= MOST_ROWS:
        return embedding_bag(places, rows, starts, mode="sum")
    parts = (counts + MOST_ROWS - 1) // MOST_ROWS
    run = torch.repeat_interleave(parts)
    number = torch.arange(len(run), device=rows.device)
    earlier = (number - (parts.cumsum(dim=0) - parts)[run]) * MOST_ROWS
    sums = embedding_bag(places, rows, starts[run] + earlier, mode="sum")
    return _runs(number, sums, parts, -(-most // MOST_ROWS))


def _sums(hidden: Tensor, mask: Tensor) -> Tensor:
    """Σ of the real tokens' vectors, one row per text."""
    b, length, d = hidden.shape
    total = torch.zeros(b, d, dtype=result_type(hidden), device=hidden.device)
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


def _mean(hidden: Tensor, mask: Tensor, first: Tensor | None) -> Tensor:
    """Of both layers when ``first`` is given: the mean of a sum is the sum of the means."""
    z = _sums(hidden, mask)
    if first is not None:
        z = z.add_(_sums(first, mask)).div_(2)
    return z.div_(mask.sum(dim=1, keepdim=True).clamp_(min=1))


def _largest(hidden: Tensor, mask: Tensor, winners: bool) -> tuple[Tensor, Tensor]:
    """Text by text; the places of the maxima only where a gradient will ask for them."""
    b, _, d = hidden.shape
    z = torch.zeros(b, d, dtype=result_type(hidden), device=hidden.device)
    winner = torch.zeros((b, d) if winners else (0,), dtype=torch.int32, device=hidden.device)
    for i in range(b):
        real = mask[i].nonzero()[:, 0]
        if len(real) and winners:
            z[i], place = hidden[i, real].max(dim=0)
            winner[i] = real[place]
        elif len(real):
            z[i] = hidden[i, real].amax(dim=0)
    return z, winner


def pool(hidden: Tensor, mask: Tensor, first: Tensor | None, *, largest: bool, normalize: bool,
         winners: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Mean or maximum, and its norm: by the largest entry first, so that no square overflows."""
    winner = torch.empty(0, dtype=torch.int32, device=hidden.device)
    if largest:
        z, winner = _largest(hidden, mask, winners)
    else:
        z = _mean(hidden, mask, first)
    if not normalize:
        return z.to(hidden.dtype), z.new_empty(0), winner
    peak = torch.linalg.vector_norm(z, torch.inf, dim=1, keepdim=True)
    z.div_(peak.masked_fill(peak == 0, 1))
    norm = torch.linalg.vector_norm(z, dim=1, keepdim=True)
    z.div_(norm.masked_fill(norm == 0, 1))                  # a zero vector stays zero
    return z.to(hidden.dtype), (peak * norm)[:, 0], winner
