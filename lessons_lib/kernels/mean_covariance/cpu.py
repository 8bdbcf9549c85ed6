"""Mean and covariance in blocks of rows: shift, multiply the block with itself, add up in float64.

The shift is the mean of rows spread over x and need not be right: with t = Σ (x_i - shift), what it
missed is t tᵀ / n, taken off at the end. On a processor NumPy sees that ``y.T @ y`` is symmetric
and lets the BLAS compute one half; other devices get torch's. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

BLOCK = 6 << 20                                 # numbers of a block: 24 MB in float32
LONGEST = 8192                                  # rows; longer float32 sums lose digits
SAMPLE = 1024                                   # rows whose mean is the shift


def _rows_per_block(n: int, d: int) -> int:
    return min(n, LONGEST, max(256, BLOCK // d))


def _rows(x: Tensor, part: slice) -> np.ndarray:
    """Some rows as an array, without a copy where NumPy has the type."""
    return (x[part].float() if x.dtype == torch.bfloat16 else x[part]).numpy(force=True)


def _sums_on_processor(x: Tensor, double: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Shift, Σ (x_i - shift) and Σ (x_i - shift)(x_i - shift)ᵀ.

    All by NumPy: torch's threads spin for a while after each operation and would keep the cores
    from the BLAS.
    """
    (n, d), step = x.shape, _rows_per_block(*x.shape)
    working = np.float64 if double or x.dtype == torch.float64 else np.float32
    workspace, ones = np.empty((step, d), working), np.ones(step, working)
    total, products = np.zeros(d), np.zeros((d, d))
    # the caller looks at the result and names the row
    with np.errstate(invalid="ignore", over="ignore"):
        # so that no memory layout shows in its sum
        sample = np.ascontiguousarray(_rows(x, slice(None, None, max(1, n // SAMPLE))))
        shift = sample.mean(axis=0, dtype=np.float64).astype(working)
        for start in range(0, n, step):
            block = _rows(x, slice(start, start + step))
            centred = np.subtract(block, shift, out=workspace[: len(block)])
            total += ones[: len(block)] @ centred
            products += centred.T @ centred
    return torch.from_numpy(shift), torch.from_numpy(total), torch.from_numpy(products)


def _sums_on_device(x: Tensor, double: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """The same by torch, for other devices; the sums are kept in float64, on the processor where
    the device (Apple's) has none."""
    (n, d), home = x.shape, torch.device("cpu") if x.device.type == "mps" else x.device
    working = torch.float64 if double or x.dtype == torch.float64 else torch.float32
    shift = x[:: max(1, n // SAMPLE)].to(working).mean(dim=0)
    total = torch.zeros(d, dtype=torch.float64, device=home)
    products = torch.zeros(d, d, dtype=torch.float64, device=home)
    for block in x.split(_rows_per_block(n, d)):
        centred = block.to(working) - shift
        total += centred.sum(dim=0).to(home)
        products += (centred.T @ centred).to(home)
    return shift.to(home), total, products


def mean_and_scatter(x: Tensor, *, double: bool = False) -> tuple[Tensor, Tensor]:
    """Mean and Σ (x_i - mean)(x_i - mean)ᵀ in float64: shifted sums, then the exact correction.
    ``double``: products in float64, too."""
    sums = _sums_on_processor if x.device.type == "cpu" else _sums_on_device
    shift, total, products = sums(x, double)
    return shift.double() + total / len(x), products - torch.outer(total, total) / len(x)
