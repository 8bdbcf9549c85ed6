"""Offsets: where each run of rows begins and the last one ends. Used by the segment moments, taught in ``09_anisotropy``."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...core import shown

__all__ = ["as_offsets", "check_offsets"]


def as_offsets(value: Any, *, device: torch.device) -> Tensor:
    """Offsets as int64 on ``device``, shape (s + 1,). Raises TypeError (no whole numbers), ValueError (another shape, or none at all)."""
    if not isinstance(value, Tensor):
        array = np.asarray(value)
        if array.dtype.kind not in "iu":
            raise TypeError(f"offsets={shown(value)} has dtype {array.dtype}; expected whole numbers (int) from 0 to the number of rows")
        value = torch.from_numpy(array.astype(np.int64))
    if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool:
        raise TypeError(f"offsets has dtype {value.dtype}; expected whole numbers (int). Convert it: offsets.long()")
    if value.ndim != 1 or len(value) == 0:
        raise ValueError(f"offsets has shape {tuple(value.shape)}; expected (s + 1,), one number more than there are segments")
    return value.to(device=device, dtype=torch.int64).contiguous()


def check_offsets(offsets: Tensor, *, n: int) -> None:
    """Raises ValueError unless the offsets start with 0, never fall and end with n. A function that is being compiled is not checked."""
    if torch.compiler.is_compiling():
        return
    first, last = offsets[[0, -1]].tolist()
    if first != 0:
        raise ValueError(f"offsets[0]={first}; expected 0, where the first segment starts")
    falls = torch.nonzero(offsets.diff() < 0)
    if len(falls):
        i = int(falls[0]) + 1
        before, here = offsets[i - 1 : i + 1].tolist()
        raise ValueError(f"offsets[{i}]={here} is less than offsets[{i - 1}]={before}; expected numbers that never fall")
    if last != n:
        raise ValueError(f"offsets[{len(offsets) - 1}]={last}; expected {n}, the number of rows of x, where the last segment ends")
