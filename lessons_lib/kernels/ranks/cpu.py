"""Ranks by one sort; ranks of resamples by counting, without a sort.

Which values are equal and which is smaller is the same in every resample, so the pairs are sorted once; how often each group of equal values was
drawn then gives all ranks of a resample by a running sum. On the processor this is a compiled loop whose tables stay in the cache, elsewhere a
scatter of torch. Taught in ``01_one_hot``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

__all__ = ["ranks", "spearman_resamples"]

BLOCK = 1 << 23                                 # numbers per table of the torch path: 64 MB


def _sorted(values: Tensor) -> tuple[Tensor, Tensor]:
    """The order of each row and, in that order, whether a place begins a new group of equal values."""
    on_processor = values.device.type == "cpu"  # there NumPy sorts with vector instructions, several times faster than torch
    order = torch.from_numpy(np.argsort(values.numpy(), axis=-1)) if on_processor else values.argsort(dim=-1)
    ordered = values.gather(-1, order)
    new = torch.ones_like(values, dtype=torch.bool)
    torch.ne(ordered[..., 1:], ordered[..., :-1], out=new[..., 1:])
    return order, new


def ranks(values: Tensor) -> Tensor:
    """A group of equal values from place p on shares the rank p + (size + 1) / 2."""
    order, new = _sorted(values)
    first = new.flatten().nonzero().squeeze(1)
    size = torch.diff(first, append=first.new_tensor([new.numel()]))
    shared = (first % values.shape[-1] if len(first) else first) + (size + 1).double() / 2
    found = torch.empty(values.shape, dtype=torch.float64, device=values.device)
    return found.scatter_(-1, order, shared[new.flatten().cumsum(dim=0) - 1].reshape(values.shape))


def _groups(values: Tensor) -> Tensor:
    """Number of the group of equal values that each value belongs to, 0 for the smallest. Same shape, int64."""
    order, new = _sorted(values)
    return torch.empty_like(order).scatter_(-1, order, new.cumsum(dim=-1) - 1)


def spearman_resamples(columns: Tensor, gold: Tensor, draws: Iterable[Tensor]) -> Tensor:
    """One block of draws after the other, by the loop that suits the device."""
    groups = torch.cat([_groups(columns), _groups(gold)[None]])
    correlate: Callable[[Tensor, Tensor], Tensor] = _by_loop if columns.device.type == "cpu" else _by_scatter
    none = torch.empty(len(columns), 0, dtype=torch.float64, device=columns.device)
    return torch.cat([none, *(correlate(groups, rows) for rows in draws)], dim=1)


def _by_loop(groups: Tensor, draws: Tensor) -> Tensor:
    from .counting import correlate

    found = np.empty((len(groups) - 1, len(draws)))
    correlate(groups.to(torch.int32).numpy(), draws.contiguous().numpy(), found)
    return torch.from_numpy(found)


def _centred(group: Tensor, draws: Tensor) -> Tensor:
    """Twice the rank of every drawn value within its resample, minus twice their mean. Same shape as draws, float64 (whole numbers)."""
    drawn = group[draws]
    size = drawn.new_zeros(len(draws), int(group.max()) + 1).scatter_add_(1, drawn, drawn.new_ones(1, 1).expand_as(drawn))
    return (2 * size.cumsum(dim=1) - size - draws.shape[1]).gather(1, drawn).double()


def _by_scatter(groups: Tensor, draws: Tensor) -> Tensor:
    blocks = []
    for rows in draws.split(max(1, BLOCK // max(draws.shape[1], groups.shape[1]))):
        gold, *sides = (_centred(group, rows) for group in (groups[-1], *groups[:-1]))
        products = torch.stack([(side * gold).sum(dim=1) for side in sides])
        spread = (torch.stack([side.square().sum(dim=1) for side in sides]) * gold.square().sum(dim=1)).sqrt()
        blocks.append(torch.where(spread > 0, products / spread, torch.nan).clamp(-1, 1))
    return torch.cat(blocks, dim=1)
