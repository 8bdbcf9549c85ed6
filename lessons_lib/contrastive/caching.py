"""Gradient caching: batches of any size in the memory of a small one, with the gradient of the
large one.

A contrastive loss needs all vectors of a batch at once, but no text's way through the model. So
texts are read chunk by chunk without keeping anything, the loss says how it changes with every
vector, and then every chunk is read again, with the same dropout, and carries its share back into
the weights. Twice the reading, a chunk's memory. Taught in ``14_simcse``. [gao2021scaling]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

__all__ = ["Chunk", "Loss", "cached_backward", "direct_backward"]

Chunk = Callable[[], Tensor]       # reads some texts, with the same dropout every time: (n, dim)
Loss = Callable[[Tensor], Tensor]  # of all vectors, chunk after chunk, to a number


def direct_backward(parts: Sequence[Chunk], loss: Loss) -> Tensor:
    """Read everything, add the gradient of the loss to the weights', return the loss: a number
    without a graph.
    """
    value = loss(torch.cat([part() for part in parts]))
    value.backward()
    return value.detach()


def cached_backward(parts: Sequence[Chunk], loss: Loss) -> Tensor:
    """The same as `direct_backward` in the memory of one part, for twice the reading.

    Parameters: parts, calls that give vectors (n_i, dim), the same ones each time; loss, of all
    vectors (n, dim) in that order to a number; it is called once, and what it holds itself, such as
    a head, gets its gradient as usual.
    """
    # with a graph that is dropped at once: without one, other kernels would draw other masks
    read = [part().detach() for part in parts]
    vectors = torch.cat(read).requires_grad_(True)
    value = loss(vectors)
    value.backward()
    for part, gradient in zip(parts, vectors.grad.split([len(x) for x in read]), strict=True):
        part().backward(gradient)                 # the graph of this part lives on this line only
    return value.detach()
