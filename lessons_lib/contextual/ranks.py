"""One of the processes that train together: its number, how many there are, and sums over all of
them.

``torchrun`` starts the processes and tells each its number; without it there is one, and a sum is
what was given. Used by ``lessons pretrain``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import Tensor, nn

from ..core import torch_device

__all__ = ["Ranks", "joined"]

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

    Parameters: device, "auto" (a GPU where there is one), "cpu" or "cuda". Raises
    BackendUnavailable, ValueError.
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
