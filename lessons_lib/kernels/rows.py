"""What states of models are made of: rows of float32 as vector instructions and 128-bit loads ask
for them, lists of whole numbers, and which part of the work a call does. Taught in
``15_gpu_kernels``."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core import check_int, shown
from .layout import padded_width

__all__ = ["padded", "part", "whole"]


def padded(rows: Tensor) -> Tensor:
    """A float32 copy of (…, K) numbers, with rows of a multiple of 16 columns that begin at
    multiples of 64 bytes, and zeros in the columns that are new."""
    shape = (*rows.shape[:-1], padded_width(rows.shape[-1]))
    size = int(np.prod(shape))
    space = torch.zeros(0 if rows.device.type == "cpu" else size + 16, device=rows.device)
    if rows.device.type == "cpu":  # NumPy asks Linux for large pages, torch does not: random rows
        space = torch.from_numpy(np.zeros(size + 16, np.float32))  # are found a tenth sooner
    start = -(space.data_ptr() // 4) % 16
    result = space[start : start + size].view(shape)
    result[..., : rows.shape[-1]] = rows
    return result


def whole(name: str, values: Any, kind: type) -> np.ndarray:
    """Whole numbers on one axis as a type that holds them, without a copy where none is needed.
    Raises TypeError, ValueError."""
    numbers = np.asarray(values)
    if numbers.ndim != 1 or (len(numbers) and numbers.dtype.kind not in "iu"):
        raise TypeError(f"{name}={shown(numbers)} has shape {numbers.shape} of {numbers.dtype}; "
                        "expected whole numbers on one axis")
    limits = np.iinfo(kind)
    if len(numbers) and not limits.min <= numbers.min() <= numbers.max() <= limits.max:
        raise ValueError(f"{name} reach from {numbers.min()} to {numbers.max()}; expected numbers "
                         f"within {limits.dtype}")
    return np.ascontiguousarray(numbers, dtype=kind)


def part(name: str, value: tuple[int, int] | None, n: int) -> tuple[int, int]:
    """First and last + 1 of n things to work on. Raises TypeError, ValueError."""
    if value is None:
        return 0, n
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected (first, last + "
                        f"1), or None for all {n}")
    first = check_int(f"{name}[0]", value[0], low=0, high=n)
    return first, check_int(f"{name}[1]", value[1], low=first, high=n)
