"""Products of float32 matrices on a processor, by the faster of the libraries that torch brings.

Torch multiplies matrices with MKL, which leaves the 512-bit instructions of AMD processors unused;
oneDNN, there for torch's layers, uses them and takes half the time. Everywhere else, for other
types and devices, and where a build of torch lacks oneDNN, this is torch's own product. Taught in
``15_gpu_kernels``.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import torch
from torch import Tensor

__all__ = ["add_row_product", "row_product"]

WORTH_IT = 1 << 21      # multiplications from which the better instructions outweigh the way there
PIECE = 1 << 21         # numbers of a product that is added piece by piece


@functools.cache
def prefers_onednn() -> bool:
    """Whether oneDNN is faster than MKL here: on AMD processors with 512-bit instructions."""
    both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    if not both or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    try:
        processor = Path("/proc/cpuinfo").read_text("ascii", "replace")
    except OSError:                             # no Linux
        processor = os.environ.get("PROCESSOR_IDENTIFIER", "")
    return "AuthenticAMD" in processor and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def _by_onednn(a: Tensor, b: Tensor) -> bool:
    float32 = a.dtype == b.dtype == torch.float32 and a.device.type == "cpu"
    return float32 and a.numel() * len(b) >= WORTH_IT and prefers_onednn()


def _compact(x: Tensor) -> Tensor:
    """x, or its transpose, as one piece without gaps; oneDNN reads anything else number by number,
    a hundred times slower."""
    return x if x.is_contiguous() or x.T.is_contiguous() else x.contiguous()


def row_product(a: Tensor, b: Tensor, *, scale: float = 1.0) -> Tensor:
    """scale a @ b.T, both of one type: (n, k) and (m, k) give (n, m)."""
    if not _by_onednn(a, b):
        return torch.addmm(a.new_zeros(()), a, b.T, beta=0, alpha=scale)
    # the smaller of a and the result is scaled
    before = scale if a.shape[1] < len(b) else 1.0
    a = a if before == 1 else a * before
    result = torch.ops.mkldnn._linear_pointwise(a.contiguous(), _compact(b), None, "none", [], "")
    return result if before == scale else result.mul_(scale)


def add_row_product(total: Tensor, a: Tensor, b: Tensor, *, scale: float = 1.0) -> None:
    """total += scale a @ b.T in place, without a second matrix of that size: (n, m), (n, k) and (m,
    k)."""
    if not _by_onednn(a, b):
        total.addmm_(a, b.T, alpha=scale)
        return
    step = max(1, PIECE // len(b))
    for start in range(0, len(a), step):
        total[start : start + step].add_(row_product(a[start : start + step], b), alpha=scale)
