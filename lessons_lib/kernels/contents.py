"""What the numbers themselves have to be: finite, whole, in range, or comparable without loss.

Only what measures (neighbours, moments, ranks) looks at the numbers: on a GPU that means waiting
for it. Used by most operations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..core import check_int, shown
from .inputs import as_array, check_dense, readable, type_name

__all__ = ["as_indices", "as_integers", "check_finite", "check_indices", "in_order", "part",
           "whole"]


def check_finite(name: str, x: Tensor) -> None:
    """Raises ValueError when x, (n, …), holds NaN or infinity: the first row and how many.

    Reads x once and keeps nothing. A function that may be compiled asks for it inside its
    registered operation.
    """
    if x.numel() == 0:
        return
    lowest, highest = x.detach().aminmax()       # NaN wins both: one pass without a mask
    if math.isfinite(lowest) and math.isfinite(highest):
        return
    rows = torch.nonzero(~torch.isfinite(x).reshape(len(x), -1).all(dim=1))
    raise ValueError(f"{name}[{int(rows[0])}] holds NaN or infinity ({len(rows)} of "
                     f"{len(x)} rows do); expected finite numbers. Keep the others: "
                     f"{name}[torch.isfinite({name}){'.all(-1)' if x.ndim > 1 else ''}]")


def as_integers(name: str, value: Any, *, meaning: str = "row numbers") -> Tensor:
    """Whole numbers as int64, whatever their shape; an array of int64 keeps its memory.

    Raises TypeError (no integers), ValueError (ragged lists).
    """
    if not isinstance(value, Tensor):
        array = as_array(name, value)
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name}={shown(value)} has dtype {array.dtype}; "
                            f"expected {meaning} (int)")
        array = array.astype(np.int64, copy=False)
        usable = array.flags.writeable and readable(array)
        value = torch.from_numpy(array if usable else array.copy())
    check_dense(name, value)
    floating = value.dtype.is_floating_point
    if floating or value.dtype.is_complex or value.dtype == torch.bool:
        remedy = f". Convert it: {name}.long()" if floating else ""
        raise TypeError(f"{name} has dtype {type_name(value.dtype)}; expected {meaning} "
                        f"(int){remedy}")
    return value.to(torch.int64)


def as_indices(name: str, value: Any, *, n: int, high: int, device: torch.device) -> Tensor:
    """Row numbers as int64 of shape (n,) on ``device``, each in [0, high).

    Raises TypeError (no integers), ValueError (another length; the first number out of range).
    """
    value = as_integers(name, value)
    if tuple(value.shape) != (n,):
        raise ValueError(f"{name} has shape {tuple(value.shape)}; expected ({n},), one row number "
                         "per query")
    if not torch.compiler.is_compiling():
        check_indices(name, value, high=high)
    return value.to(device)


def check_indices(name: str, value: Tensor, *, high: int) -> None:
    """Raises ValueError for a row number outside [0, high). A tensor on a GPU is trusted."""
    bad = torch.nonzero((value < 0) | (value >= high)) if value.device.type == "cpu" else ()
    if len(bad):
        i = int(bad[0])
        raise ValueError(f"{name}[{i}]={int(value[i])} is no row; expected ints in [0, {high - 1}]")


def in_order(name: str, values: Any) -> Tensor | None:
    """Integers and booleans as int64 with the same order and the same ties, or None for all else.

    The upper half of uint64 has no place in int64, so its lowest value becomes the lowest int64.
    Integers of lists that no type of NumPy holds are compared as Python compares them.
    """
    if isinstance(values, Tensor):
        dense = not values.is_nested and values.layout == torch.strided
        if not dense or values.dtype.is_floating_point or values.dtype.is_complex:
            return None
        if values.dtype == torch.uint64:
            return values.view(torch.int64) ^ torch.iinfo(torch.int64).min
        return values.to(torch.int64)
    is_list = isinstance(values, (list, tuple))
    if is_list and any(isinstance(row, Tensor) for row in values):
        return None
    array = as_array(name, values)
    if is_list and array.dtype.kind in "fO":
        return _places(values, array)
    if array.dtype.kind not in "iub":
        return None
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:
        array = (array.astype(np.uint64) ^ np.uint64(1 << 63)).view(np.int64)
    return torch.from_numpy(array.astype(np.int64))


def _places(values: Any, array: np.ndarray) -> Tensor | None:
    """Places of the numbers of a list among each other where floats could merge large integers,
    else None."""
    if array.dtype.kind == "f" and not (array.size and np.abs(array).max() >= 2.0**53):
        return None
    flat = np.array(values, dtype=object).flat
    numbers = [v.item() if isinstance(v, np.generic) else v for v in flat]
    if not all(isinstance(v, int) or (isinstance(v, float) and math.isfinite(v)) for v in numbers):
        return None
    places = np.unique(np.array(numbers, dtype=object), return_inverse=True)[1]
    return torch.from_numpy(places.reshape(array.shape))


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
