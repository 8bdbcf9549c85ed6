"""Vectors of all processes in every process, so that a batch that was divided among them is one
batch to the loss.

Forward every process gets all rows; backward each row's gradient is the sum of what all processes
found for it. If every process then takes its share of the loss, the gradients of the weights, added
up over processes, are those of one process with the whole batch. Taught in ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from ..contextual.ranks import Ranks

__all__ = ["gather", "together"]


class _Gather(torch.autograd.Function):
    """All rows forward, the own ones of the summed gradient backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ranks: Ranks, rows: int) -> Tensor:
        ctx.ranks, ctx.rows = ranks, rows
        counts = [len(range(rows)[Ranks(r, ranks.size, ranks.device).share(rows)])
                  for r in range(ranks.size)]
        longest = max(counts)
        own = torch.cat([x, x.new_zeros(longest - len(x), *x.shape[1:])]).contiguous()
        found = [torch.empty_like(own) for _ in counts]
        torch.distributed.all_gather(found, own)
        return torch.cat([part[:count] for part, count in zip(found, counts, strict=True)])

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        total = upstream.contiguous().clone()
        torch.distributed.all_reduce(total)
        return total[ctx.ranks.share(ctx.rows)], None, None


def gather(x: Tensor, ranks: Ranks, *, rows: int | None = None) -> Tensor:
    """The rows of all processes, in the order of processes, (rows, …).

    Parameters: x, (own rows, …), floating or whole numbers; ranks; rows in all, of which process r
    holds ``ranks.share(rows)``, None: every process holds as many as this one. The gradient of x is
    the sum over processes of what each has found for these rows: give every process a share of the
    loss, such as the whole loss divided by ``ranks.size``, and add the gradients of the weights up
    by ``ranks.add_gradients``. Raises ValueError where x is not this process's share.
    """
    if ranks.size == 1:
        return x
    rows = len(x) * ranks.size if rows is None else rows
    share = len(range(rows)[ranks.share(rows)])
    if len(x) != share:
        raise ValueError(f"x has {len(x)} rows in process {ranks.rank}; expected {share}, its "
                         f"share of rows={rows} among {ranks.size} processes")
    return _Gather.apply(x, ranks, rows)


@contextmanager
def together(ranks: Ranks) -> Iterator[None]:
    """Work that needs all processes: when one of them has gone, the others hear so.

    Raises ConnectionError instead of what the messenger library says.
    """
    try:
        yield
    except RuntimeError as error:
        lost = isinstance(error, torch.distributed.DistError) or any(
            word in str(error).lower() for word in ("gloo", "nccl", "connection", "peer"))
        if ranks.size == 1 or not lost:
            raise
        raise ConnectionError(f"process {ranks.rank} of {ranks.size} has lost the others: one of "
                              "them has stopped. See its own message, then start all again: "
                              "training goes on from the last checkpoint") from error
