"""Peak memory of the kernels above their inputs, each in a process of its own, with the naive form beside it where that fits.

Each function here makes inputs of one size and returns the work, which gives the bytes of its result. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn import functional

from .. import kernels
from . import naive
from .measure import Row
from .memory import measure_memory

__all__ = ["info_nce", "memory_rows", "naive_info_nce", "naive_uniformity", "naive_uniformity_value", "uniformity", "uniformity_value"]

Prepared = Callable[[], int]
UNIFORMITY_WIDTH, INFO_NCE_WIDTH = 256, 768
NAIVE_NEEDS = 8e9                               # bytes free, before the naive InfoNCE of 16384 rows is tried


def _unit(n: int, d: int, seed: int) -> Tensor:
    return functional.normalize(torch.randn(n, d, generator=torch.Generator().manual_seed(seed)), dim=1)


def _bytes(results: tuple[Tensor, ...]) -> int:
    return sum(tensor.nbytes for tensor in results)


def _both(loss: Callable[..., Tensor], n: int) -> Prepared:
    query, key = _unit(n, INFO_NCE_WIDTH, 0), _unit(n, INFO_NCE_WIDTH, 1)
    return lambda: _bytes(naive.with_gradient(loss, query, key))


def _points(loss: Callable[..., Tensor], n: int, *, gradient: bool) -> Prepared:
    x = _unit(n, UNIFORMITY_WIDTH, 0)
    return lambda: _bytes(naive.with_gradient(loss, x) if gradient else (loss(x),))


def uniformity(n: int) -> Prepared:
    """Value and gradient of the uniformity of n points."""
    return _points(kernels.uniformity, n, gradient=True)


def uniformity_value(n: int) -> Prepared:
    """The value alone."""
    return _points(kernels.uniformity, n, gradient=False)


def naive_uniformity(n: int) -> Prepared:
    """Value and gradient by all distances at once."""
    return _points(naive.uniformity_pdist, n, gradient=True)


def naive_uniformity_value(n: int) -> Prepared:
    """The value by all distances at once."""
    return _points(naive.uniformity_pdist, n, gradient=False)


def info_nce(n: int) -> Prepared:
    """Value and both gradients of n queries against n keys."""
    return _both(kernels.info_nce, n)


def naive_info_nce(n: int) -> Prepared:
    """The same from the whole n x n matrix."""
    return _both(naive.info_nce, n)


def memory_rows(group: str) -> Iterator[Row]:
    """The memory goals of the kernels."""
    import psutil

    here = f"{__name__}:"
    yield measure_memory(group, "uniformity 4096 x 256, forward + backward: memory", here + "uniformity", 4096, goal_mb=100,
                         prepared=True, peer="torch.pdist", peer_function=here + "naive_uniformity", unit="points")
    yield measure_memory(group, "uniformity 16384 x 256, forward: memory", here + "uniformity_value", 16384, goal_mb=100,
                         prepared=True, peer="torch.pdist", peer_function=here + "naive_uniformity_value", unit="points")
    fits = psutil.virtual_memory().available > NAIVE_NEEDS
    yield measure_memory(group, "info_nce 16384 x 768, forward + backward: memory", here + "info_nce", 16384, goal_mb=300,
                         prepared=True, peer="cross_entropy(a @ b.T / t)" if fits else "",
                         peer_function=here + "naive_info_nce" if fits else None, unit="queries")
