"""Offsets: where each run of rows begins and the last one ends. Used by the segment moments, taught in ``09_anisotropy``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..inputs import as_integers

__all__ = ["as_offsets", "check_offsets"]


def as_offsets(value: Any, *, device: torch.device) -> Tensor:
    """Offsets as int64 on ``device``, shape (s + 1,). Raises TypeError (no whole numbers), ValueError (another shape, or none at all)."""
    value = as_integers("offsets", value, meaning="whole numbers")
    if value.ndim != 1 or len(value) == 0:
        raise ValueError(f"offsets has shape {tuple(value.shape)}; expected (s + 1,), one number more than there are segments")
    return value.to(device=device).contiguous()


def check_offsets(offsets: Tensor, *, n: int) -> None:
    """Raises ValueError unless the offsets start with 0, never fall and end with n."""
    first, last = offsets[[0, -1]].tolist()
    if first != 0:
        raise ValueError(f"offsets[0]={first}; expected 0, where the first segment starts")
    falls = torch.nonzero(offsets[1:] < offsets[:-1])            # a difference could leave int64
    if len(falls):
        i = int(falls[0]) + 1
        before, here = offsets[i - 1 : i + 1].tolist()
        raise ValueError(f"offsets[{i}]={here} is less than offsets[{i - 1}]={before}; expected numbers that never fall")
    if last != n:
        raise ValueError(f"offsets[{len(offsets) - 1}]={last}; expected {n}, the number of rows of x, where the last segment ends")
