"""One of the processes that train together: its number, how many there are, sums over all of them,
and the vectors of all in each, so that a batch that was divided among them is one batch to a loss.

``torchrun`` starts the processes and tells each its number; without it there is one, and a sum is
what was given. Used by ``lessons pretrain``; taught in ``14_simcse``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, nn

from ..core import torch_device

__all__ = ["Ranks", "gather", "joined", "together"]

# for another process that does not answer; one that has ended is known at once
WAIT = timedelta(minutes=10)


@dataclass(frozen=True)
class Ranks:
    """This process (``rank`` of ``size``) and the device it works on."""

    rank: int
    size: int
    device: torch.device

    def total(self, value: Tensor) -> Tensor:
        """The sum of a tensor over all processes."""
        if self.size > 1:
            value = value.clone()
            torch.distributed.all_reduce(value)
        return value

    def add_gradients(self, model: nn.Module) -> None:
        """Give every process the sum of all gradients: one message for all of them."""
        if self.size == 1:
            return
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        whole = torch.cat([g.flatten() for g in gradients])
        torch.distributed.all_reduce(whole)
        for gradient, part in zip(gradients, whole.split([g.numel() for g in gradients]),
                                  strict=True):
            gradient.copy_(part.view_as(gradient))

    def share(self, n: int) -> slice:
        """The part of ``n`` rows that is this process's."""
        return slice(self.rank * n // self.size, (self.rank + 1) * n // self.size)


@contextmanager
def joined(device: str = "auto") -> Iterator[Ranks]:
    """Join the other processes that ``torchrun`` started, if it did, and leave them at the end.
    Raises BackendUnavailable, ValueError.
    """
    kind = torch_device(device).type
    size, rank, local = ((int(os.environ.get(name, default))
                          for name, default in (("WORLD_SIZE", 1), ("RANK", 0), ("LOCAL_RANK", 0))))
    place = torch.device(kind, local) if kind == "cuda" else torch.device("cpu")
    if size == 1:
        yield Ranks(0, 1, place)
        return
    if kind == "cuda":
        torch.cuda.set_device(place)
    torch.distributed.init_process_group("nccl" if kind == "cuda" else "gloo", timeout=WAIT)
    try:
        yield Ranks(rank, size, place)
    finally:
        torch.distributed.destroy_process_group()


class _Gather(torch.autograd.Function):
    """All rows forward, the own ones of the summed gradient backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ranks: Ranks, rows: int) -> Tensor:
        ctx.ranks, ctx.rows = ranks, rows
        counts = [len(range(rows)[Ranks(r, ranks.size, ranks.device).share(rows)])
                  for r in range(ranks.size)]
        longest = max(counts)
        own = torch.cat([x, x.new_zeros(longest - len(x), *x.shape[1:])]).contiguous()
        parts = [torch.empty_like(own) for _ in counts]
        torch.distributed.all_gather(parts, own)
        return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        total = upstream.contiguous().clone()
        torch.distributed.all_reduce(total)
        return total[ctx.ranks.share(ctx.rows)], None, None


def gather(x: Tensor, ranks: Ranks, *, rows: int | None = None) -> Tensor:
    """The rows of all processes in their order, (rows, …), of which process r holds
    ``ranks.share(rows)``; None: all hold as many. The gradient of x is the sum over processes of
    what each has found for these rows: give each a share of the loss, and add the gradients of the
    weights up by ``ranks.add_gradients``. Raises ValueError.
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
    """Work that needs all processes: when one has gone, the others get a ConnectionError."""
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
