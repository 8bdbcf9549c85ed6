"""Gradient caching: batches of any size in the memory of a small one, with the gradient of the large one.

A contrastive loss needs all vectors of a batch at once, but no text's way through the model. So texts are read chunk by chunk without keeping
anything, the loss says how it changes with every vector, and then every chunk is read again, with the same dropout, and carries its share back into
the weights. Twice the reading, a chunk's memory. Taught in ``14_simcse``. [gao2021scaling]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from ..contextual.batching import Numbered
from ..core import check_int
from .reading import Reading, derived_seed

__all__ = ["cached_backward", "chunks", "direct_backward"]

Chunk = Callable[[], Tensor]
Loss = Callable[[Tensor], Tensor]


def chunks(reading: Reading, numbered: Numbered, rows: np.ndarray, *, seed: int | None, size: int | None = None, first: int = 0) -> list[Chunk]:
    """The rows in portions, each a call without arguments that reads it, with the same dropout every time.

    Parameters: rows, numbers of texts; seed of the masks, None: no dropout; size, texts in a portion, None: all; first, the number of the first
    portion, from which with ``seed`` its masks are drawn: a process that reads the second half of a batch counts on from the first half.
    """
    size = max(1, len(rows)) if size is None else check_int("chunk", size)
    parts = [rows[i : i + size] for i in range(0, len(rows), size)]
    seeds = [None if seed is None else derived_seed(seed, first + i) for i in range(len(parts))]
    return [lambda part=part, own=own: reading(numbered, part, seed=own) for part, own in zip(parts, seeds, strict=True)]


def direct_backward(parts: Sequence[Chunk], loss: Loss) -> Tensor:
    """Read everything, add the gradient of the loss to the weights', return the loss: a number without a graph."""
    value = loss(torch.cat([part() for part in parts]))
    value.backward()
    return value.detach()


def cached_backward(parts: Sequence[Chunk], loss: Loss) -> Tensor:
    """The same as `direct_backward` in the memory of one part, for twice the reading.

    Parameters: parts, calls that give vectors (n_i, dim), the same ones each time; loss, of all vectors (n, dim) in that order to a number; it is
    called once, and what it holds itself, such as a head, gets its gradient as usual.
    """
    with torch.no_grad():
        read = [part() for part in parts]
    vectors = torch.cat(read).requires_grad_(True)
    value = loss(vectors)
    value.backward()
    for part, gradient in zip(parts, vectors.grad.split([len(x) for x in read]), strict=True):
        part().backward(gradient)
    return value.detach()
