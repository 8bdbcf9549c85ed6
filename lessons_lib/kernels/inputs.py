"""What every kernel accepts: checks that name the argument, and nothing that reads the numbers of a tensor unless a kernel asks for it.

NumPy arrays become tensors without a copy; results are tensors; inputs are never written. Looking at the numbers would make a GPU wait, so losses
pass NaN on as torch does, while the measuring kernels (neighbours, moments, ranks) refuse it by `check_finite`. Used by every operation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from ..core import shown

__all__ = ["as_indices", "as_integers", "as_tensor", "as_vectors", "check_finite", "check_indices", "check_same_width", "in_order", "wants_gradient"]

FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def as_tensor(name: str, value: Any, *, ndim: int | None, min_rows: int = 0) -> Tensor:
    """A dense tensor of float16, bfloat16, float32 or float64 with ``ndim`` axes (None: one or more).

    Tensors are kept as they are, arrays and lists are converted.

    An array that lies as torch can read it becomes a tensor over the same memory, also a read-only or memory-mapped one: never write into the result.
    Integers and booleans of arrays become float64. Raises TypeError for tensors of other types, sparse ones, lists of tensors, text and complex
    numbers; ValueError for another number of axes, fewer rows, or rows of different lengths; RuntimeError inside ``torch.vmap`` and
    ``torch.func.jvp`` and for tensors with a tangent, whose derivatives would get lost without a word.
    """
    x = value if isinstance(value, Tensor) else _from_array(name, value)
    _check_no_transform(name, x)
    kind = str(x.dtype).removeprefix("torch.")
    if x.is_nested:
        raise TypeError(f"{name} is a nested tensor; expected a dense one. Pad it: {name}.to_padded_tensor(0.0)")
    if x.layout != torch.strided:
        raise TypeError(f"{name} is a {str(x.layout).removeprefix('torch.')} tensor; expected a dense one. Convert it: {name}.to_dense()")
    if x.dtype not in FLOATING:
        remedy = "" if x.is_complex() else f" Convert it: {name}.float()"
        raise TypeError(f"{name} has dtype {kind}; expected floating numbers ({', '.join(str(t).removeprefix('torch.') for t in FLOATING)}).{remedy}")
    ndim = max(1, x.ndim) if ndim is None else ndim
    if x.ndim != ndim:
        remedy = f" For one row pass {name}[None]." if x.ndim == ndim - 1 else ""
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {ndim} axes.{remedy}")
    if x.shape[0] < min_rows:
        raise ValueError(f"{name} has {x.shape[0]} rows; expected >= {min_rows}")
    return x


def _transforms() -> list[str]:
    """The transforms of torch.func that we are inside of, outermost first: "Grad", "Vmap", "Jvp"."""
    return [layer.key().name for layer in torch._C._functorch.get_interpreter_stack() or ()]


_transforms._dynamo_marked_constant = True       # what torch.compiler.assume_constant_result sets, which would load the compiler


def _check_no_transform(name: str, x: Tensor) -> None:
    """Raises RuntimeError inside torch.vmap or torch.func.jvp, or when x carries a tangent of forward-mode differentiation."""
    inside = _transforms()
    if "Jvp" in inside or (not torch.compiler.is_compiling() and forward_ad.unpack_dual(x).tangent is not None):
        raise RuntimeError(f"{name} came in inside forward-mode differentiation (torch.func.jvp, jacfwd, a dual tensor), which the kernels do not "
                           "know: the tangent would be lost. Use torch.autograd.grad, or the function in the operation's reference.py")
    if "Vmap" in inside:
        raise RuntimeError(f"{name} came in inside torch.vmap (or a transform made of it), which the kernels do not know: its gradient would be "
                           "lost. Loop over the batch, torch.stack([loss(one) for one in batch]), or map the function in reference.py")


def _as_array(name: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(f"{name} is no array of numbers ({shown(str(error))}); expected rows of one length") from None


def _from_array(name: str, value: Any) -> Tensor:
    if isinstance(value, (list, tuple)) and any(isinstance(row, Tensor) for row in value):
        raise TypeError(f"{name} is a {type(value).__name__} of tensors; expected one tensor. Join them: torch.stack({name})")
    if hasattr(value, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix; expected a dense array. Convert it: {name}.toarray()")
    array = _as_array(name, value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}; expected real numbers as a tensor or an array")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if not _readable(array):
        array = array.copy()
    return torch.from_dlpack(array) if array.size else torch.from_numpy(array.copy())     # from_numpy would warn of read-only memory


def _readable(array: np.ndarray) -> bool:
    """Whether torch can read it where it lies: no reversed view, no field of a record."""
    return not any(stride < 0 or stride % array.itemsize for stride in array.strides)


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
    value = as_integers(name, value)
    if tuple(value.shape) != (n,):
        raise ValueError(f"{name} has shape {tuple(value.shape)}; expected ({n},), one row number per query")
    if not torch.compiler.is_compiling():
        check_indices(name, value, high=high)
    return value.to(device)


def check_indices(name: str, value: Tensor, *, high: int) -> None:
    """Raises ValueError when row numbers on the processor leave [0, high): the first one and its place. Others are not looked at."""
    bad = torch.nonzero((value < 0) | (value >= high)) if value.device.type == "cpu" else ()
    if len(bad):
        i = int(bad[0])
        raise ValueError(f"{name}[{i}]={int(value[i])} is no row; expected ints in [0, {high - 1}]")


def as_integers(name: str, value: Any, *, meaning: str = "row numbers") -> Tensor:
    """Whole numbers as int64, whatever their shape; an array of int64 keeps its memory. Raises TypeError (others), ValueError (ragged lists)."""
    if not isinstance(value, Tensor):
        array = _as_array(name, value)
        if array.dtype.kind not in "iu":
            raise TypeError(f"{name}={shown(value)} has dtype {array.dtype}; expected {meaning} (int)")
        array = array.astype(np.int64, copy=False)
        value = torch.from_numpy(array if array.flags.writeable and _readable(array) else array.copy())
    if value.layout != torch.strided:
        raise TypeError(f"{name} is a {str(value.layout).removeprefix('torch.')} tensor; expected a dense one. Convert it: {name}.to_dense()")
    if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool:
        remedy = f". Convert it: {name}.long()" if value.dtype.is_floating_point else ""
        raise TypeError(f"{name} has dtype {str(value.dtype).removeprefix('torch.')}; expected {meaning} (int){remedy}")
    return value.to(torch.int64)


def in_order(name: str, values: Any) -> Tensor | None:
    """Integers and booleans as int64 with the same order and the same ties, or None for all else.

    The upper half of uint64 has no place in int64, so its lowest value becomes the lowest int64. Integers of lists that no type of NumPy holds are
    compared as Python compares them, and their places among each other stand for them.
    """
    if isinstance(values, Tensor):
        if values.is_nested or values.layout != torch.strided or values.dtype.is_floating_point or values.dtype.is_complex:
            return None
        return values.view(torch.int64) ^ torch.iinfo(torch.int64).min if values.dtype == torch.uint64 else values.to(torch.int64)
    if isinstance(values, (list, tuple)) and any(isinstance(row, Tensor) for row in values):
        return None
    array = _as_array(name, values)
    if array.dtype.kind in "fO" and isinstance(values, (list, tuple)):
        return _places(values, array)
    if array.dtype.kind not in "iub":
        return None
    if array.dtype.kind == "u" and array.dtype.itemsize == 8:
        array = (array.astype(np.uint64) ^ np.uint64(1 << 63)).view(np.int64)
    return torch.from_numpy(array.astype(np.int64))


def _places(values: Any, array: np.ndarray) -> Tensor | None:
    """Places of the numbers of a list among each other where floats could merge large integers, else None."""
    if array.dtype.kind == "f" and not (array.size and np.abs(array).max() >= 2.0**53):
        return None
    numbers = [v.item() if isinstance(v, np.generic) else v for v in np.array(values, dtype=object).flat]
    if not all(isinstance(v, int) or (isinstance(v, float) and math.isfinite(v)) for v in numbers):
        return None
    return torch.from_numpy(np.unique(np.array(numbers, dtype=object), return_inverse=True)[1].reshape(array.shape))


def check_finite(name: str, x: Tensor) -> None:
    """Raises ValueError when x, of shape (n, …), holds NaN or infinity: the first row and the number of bad rows.

    Reads x once and keeps nothing. It looks at the numbers, so a function that may be compiled asks for it inside its registered operation.
    """
    if x.numel() == 0:
        return
    lowest, highest = x.detach().aminmax()       # NaN wins both: one pass without a mask as large as x
    if math.isfinite(lowest) and math.isfinite(highest):
        return
    bad = ~torch.isfinite(x).reshape(len(x), -1).all(dim=1)
    rows = torch.nonzero(bad)
    raise ValueError(f"{name}[{int(rows[0])}] holds NaN or infinity ({len(rows)} of {len(x)} rows do); expected finite numbers. "
                     f"Keep the others: {name}[torch.isfinite({name}){'.all(-1)' if x.ndim > 1 else ''}]")


def wants_gradient(*tensors: Tensor | None) -> bool:
    """Whether autograd will ask for a gradient of one of the tensors. Raises RuntimeError inside torch.func.grad, which knows no kernel."""
    wanted = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)
    if wanted and _transforms():
        raise RuntimeError("torch.func.grad (vjp, jacrev) does not know the kernels; use torch.autograd.grad or loss.backward(), or the function "
                           "in the operation's reference.py, which is plain torch")
    return wanted
