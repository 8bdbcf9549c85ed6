"""What every kernel accepts: checks that name the argument, and nothing that reads the numbers of a tensor unless a kernel asks for it.

NumPy arrays become tensors without a copy; results are tensors. Looking at the numbers would make a GPU wait, so losses pass NaN on as torch does,
while the measuring kernels (neighbours, moments, ranks) refuse it by `check_finite`. Used by every operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core import shown

__all__ = ["as_indices", "as_tensor", "as_vectors", "check_finite", "check_same_width", "wants_gradient"]


def as_tensor(name: str, value: Any, *, ndim: int, min_rows: int = 0) -> Tensor:
    """A tensor of real floating numbers with ``ndim`` axes; arrays and lists are converted, tensors kept as they are.

    Raises TypeError for integers, text and complex numbers, ValueError for another number of axes or fewer rows.
    """
    if not isinstance(value, Tensor):
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{name} has dtype {array.dtype}; expected real numbers as a tensor or an array")
        array = array if array.dtype.kind == "f" else array.astype(np.float64)
        value = torch.from_numpy(np.ascontiguousarray(array) if array.flags.writeable else array.copy())
    if not value.dtype.is_floating_point:
        raise TypeError(f"{name} has dtype {str(value.dtype).removeprefix('torch.')}; expected floating numbers. Convert it: {name}.float()")
    if value.ndim != ndim:
        remedy = f" For one row pass {name}[None]." if value.ndim == ndim - 1 else ""
        raise ValueError(f"{name} has shape {tuple(value.shape)}; expected {ndim} axes.{remedy}")
    if value.shape[0] < min_rows:
        raise ValueError(f"{name} has {value.shape[0]} rows; expected >= {min_rows}")
    return value


def as_vectors(name: str, value: Any, *, min_rows: int = 1) -> Tensor:
    """A matrix of row vectors, shape (n, d) with d >= 1 and n >= min_rows."""
    x = as_tensor(name, value, ndim=2, min_rows=min_rows)
    if x.shape[1] == 0:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected >= 1 column")
    return x


def check_same_width(x: Tensor, y: Tensor, *, names: tuple[str, str]) -> None:
    """Both have the same number of columns, dtype and device. Raises ValueError or TypeError that name both."""
    (a, b) = names
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"{a} has {x.shape[-1]} columns and {b} has {y.shape[-1]}; expected the same number")
    if x.dtype != y.dtype:
        raise TypeError(f"{a} is {x.dtype} and {b} is {y.dtype}; expected one type. Convert one: {b}.to({a}.dtype)")
    if x.device != y.device:
        raise ValueError(f"{a} lies on {x.device} and {b} on {y.device}; expected one device. Move one: {b}.to({a}.device)")


def as_indices(name: str, value: Any, *, n: int, high: int, device: torch.device) -> Tensor:
    """Row numbers as int64 of shape (n,) on ``device``, each in [0, high).

    Arrays and lists are looked at; a tensor on a GPU is trusted, because looking would make it wait. Raises TypeError (no integers) or
    ValueError (another length, the first number out of range and its place).
    """
    if not isinstance(value, Tensor):
        array = np.asarray(value)
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name}={shown(value)} has dtype {array.dtype}; expected row numbers (int)")
        value = torch.from_numpy(array.astype(np.int64))
    if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool:
        raise TypeError(f"{name} has dtype {value.dtype}; expected row numbers (int)")
    if tuple(value.shape) != (n,):
        raise ValueError(f"{name} has shape {tuple(value.shape)}; expected ({n},), one row number per query")
    if value.device.type == "cpu" and not torch.compiler.is_compiling():
        bad = torch.nonzero((value < 0) | (value >= high))
        if len(bad):
            i = int(bad[0])
            raise ValueError(f"{name}[{i}]={int(value[i])} is no row; expected ints in [0, {high - 1}]")
    return value.to(device=device, dtype=torch.int64)


def check_finite(name: str, x: Tensor) -> None:
    """Raises ValueError when x, of shape (n, …), holds NaN or infinity: the first row and the number of bad rows."""
    bad = ~torch.isfinite(x).reshape(len(x), -1).all(dim=1)
    if bool(bad.any()):
        rows = torch.nonzero(bad)
        raise ValueError(f"{name}[{int(rows[0])}] holds NaN or infinity ({len(rows)} of {len(x)} rows do); expected finite numbers. "
                         f"Keep the others: {name}[torch.isfinite({name}).all(-1)]")


def wants_gradient(*tensors: Tensor | None) -> bool:
    """Whether autograd will ask for a gradient of one of the tensors."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)
