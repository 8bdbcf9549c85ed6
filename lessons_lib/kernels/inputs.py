"""What every kernel accepts: checks that name the argument, and do not look at the numbers.

NumPy arrays become tensors without a copy; results are tensors; inputs are never written. Looking
at the numbers would make a GPU wait, so losses pass NaN on as torch does. Used by every operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from ..core import shown

__all__ = ["as_array", "as_tensor", "as_vectors", "check_dense", "check_same_width", "readable",
           "type_name", "wants_gradient"]

FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def type_name(dtype: torch.dtype) -> str:
    """"float32" for torch.float32."""
    return str(dtype).removeprefix("torch.")


def as_tensor(name: str, value: Any, *, ndim: int | None, min_rows: int = 0) -> Tensor:
    """A dense floating tensor with ``ndim`` axes (None: one or more).

    Tensors are kept. An array that torch can read becomes a tensor over the same memory, also a
    read-only or memory-mapped one: never write into the result. Integers and booleans of arrays
    become float64. Raises TypeError (other types, sparse, lists of tensors, text), ValueError
    (axes, rows), RuntimeError inside torch.vmap and forward-mode differentiation, whose
    derivatives would get lost without a word.
    """
    x = value if isinstance(value, Tensor) else _from_array(name, value)
    _check_no_transform(name, x)
    check_dense(name, x)
    if x.dtype not in FLOATING:
        remedy = "" if x.is_complex() else f" Convert it: {name}.float()"
        raise TypeError(f"{name} has dtype {type_name(x.dtype)}; expected floating numbers "
                        f"({', '.join(map(type_name, FLOATING))}).{remedy}")
    ndim = max(1, x.ndim) if ndim is None else ndim
    if x.ndim != ndim:
        remedy = f" For one row pass {name}[None]." if x.ndim == ndim - 1 else ""
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {ndim} axes.{remedy}")
    if x.shape[0] < min_rows:
        raise ValueError(f"{name} has {x.shape[0]} rows; expected >= {min_rows}")
    return x


def as_vectors(name: str, value: Any, *, min_rows: int = 1) -> Tensor:
    """A matrix of row vectors, shape (n, d) with d >= 1 and n >= min_rows."""
    x = as_tensor(name, value, ndim=2, min_rows=min_rows)
    if x.shape[1] == 0:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected >= 1 column")
    return x


def check_dense(name: str, x: Tensor) -> None:
    """Raises TypeError for nested and sparse tensors."""
    if x.is_nested:
        raise TypeError(f"{name} is a nested tensor; expected a dense one. "
                        f"Pad it: {name}.to_padded_tensor(0.0)")
    if x.layout != torch.strided:
        raise TypeError(f"{name} is a {type_name(x.layout)} tensor; expected a dense one. "
                        f"Convert it: {name}.to_dense()")


def check_same_width(x: Tensor, y: Tensor, *, names: tuple[str, str]) -> None:
    """Both have one number of columns, dtype and device. Raises ValueError, TypeError."""
    a, b = names
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"{a} has {x.shape[-1]} columns and {b} has {y.shape[-1]}; expected the "
                         "same number")
    if x.dtype != y.dtype:
        raise TypeError(f"{a} is {x.dtype} and {b} is {y.dtype}; expected one type. "
                        f"Convert one: {b}.to({a}.dtype)")
    if x.device != y.device:
        raise ValueError(f"{a} lies on {x.device} and {b} on {y.device}; expected one device. "
                         f"Move one: {b}.to({a}.device)")


def as_array(name: str, value: Any) -> np.ndarray:
    """np.asarray, with an error that names the argument."""
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(f"{name} is no array of numbers ({shown(str(error))}); "
                         "expected rows of one length") from None


def readable(array: np.ndarray) -> bool:
    """Whether torch can read it where it lies: no reversed view, no field of a record."""
    return not any(stride < 0 or stride % array.itemsize for stride in array.strides)


def _from_array(name: str, value: Any) -> Tensor:
    if isinstance(value, (list, tuple)) and any(isinstance(row, Tensor) for row in value):
        raise TypeError(f"{name} is a {type(value).__name__} of tensors; expected one tensor. "
                        f"Join them: torch.stack({name})")
    if hasattr(value, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix; expected a dense array. "
                        f"Convert it: {name}.toarray()")
    array = as_array(name, value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}; expected real numbers as a tensor or an "
                        "array")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.size == 0 or not readable(array):
        array = array.copy()
    # from_numpy would warn of read-only memory
    return torch.from_dlpack(array) if array.size else torch.from_numpy(array)


def _transforms() -> list[str]:
    """The transforms of torch.func that we are inside of: "Grad", "Vmap", "Jvp"."""
    return [layer.key().name for layer in torch._C._functorch.get_interpreter_stack() or ()]


# what torch.compiler.assume_constant_result sets, which would load the compiler
_transforms._dynamo_marked_constant = True


def _check_no_transform(name: str, x: Tensor) -> None:
    """Raises RuntimeError inside vmap or jvp, or when x carries a forward-mode tangent."""
    inside = _transforms()
    dual = not torch.compiler.is_compiling() and forward_ad.unpack_dual(x).tangent is not None
    if "Jvp" in inside or dual:
        raise RuntimeError(
            f"{name} came in inside forward-mode differentiation (torch.func.jvp, jacfwd, a dual "
            "tensor), which the kernels do not know: the tangent would be lost. Use "
            "torch.autograd.grad, or the operation's formula, which is plain torch")
    if "Vmap" in inside:
        raise RuntimeError(
            f"{name} came in inside torch.vmap (or a transform made of it), which the kernels do "
            "not know: its gradient would be lost. Loop over the batch, "
            "torch.stack([loss(one) for one in batch]), or map the operation's formula")


def wants_gradient(*tensors: Tensor | None) -> bool:
    """Whether autograd will ask for a gradient of one of the tensors. Raises RuntimeError inside
    torch.func.grad, which knows no kernel."""
    wanted = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)
    if wanted and _transforms():
        raise RuntimeError("torch.func.grad (vjp, jacrev) does not know the kernels; use "
                           "torch.autograd.grad or loss.backward(), or the operation's formula, "
                           "which is plain torch")
    return wanted
