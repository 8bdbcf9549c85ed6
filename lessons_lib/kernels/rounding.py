"""What the fast arithmetic of a GPU does to a product, imitated on a processor.

Operands are rounded to few bits, products summed exactly. Tensor cores read tf32 (10 bits of the
fraction) or bfloat16 (7). Three tf32 products of a rounded part and the rest bring nearly all
digits of float32 back. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import numpy as np
import torch

from ..core import check_array, check_choice

__all__ = ["PRECISIONS", "gram", "rounded"]

PRECISIONS = ("float32", "three tf32", "tf32", "bfloat16")


def rounded(x: np.ndarray, precision: str) -> np.ndarray:
    """x as a tensor core reads it: each number rounded to the nearest of a type, in float32.

    "tf32" rounds halves away from 0, "bfloat16" to even. Raises ValueError for another precision.

    >>> rounded(np.float32([1.0004883, 3.0]), "tf32").tolist()
    [1.0009765625, 3.0]
    """
    check_choice("precision", precision, ("tf32", "bfloat16"))
    x = np.ascontiguousarray(x, dtype=np.float32)
    if precision == "bfloat16":
        return torch.from_numpy(x).bfloat16().float().numpy()
    return ((x.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


def gram(x: np.ndarray, precision: str) -> np.ndarray:
    """x.T @ x with operands in a precision.

    x, (n, d), is taken as float32; "float32" also adds up in float32, as a processor does, the
    others of `PRECISIONS` add up exactly, so they show the loss of the rounding alone. Returns
    (d, d) float64. Raises ValueError (shape, not finite, precision).
    """
    check_choice("precision", precision, PRECISIONS)
    x = check_array("x", x, ndim=2, min_rows=1).astype(np.float32)
    if precision == "float32":
        return (x.T @ x).astype(np.float64)
    high = rounded(x, precision.split()[-1])
    product = high.T.astype(np.float64) @ high
    if precision == "three tf32":
        rest = rounded(x - high, "tf32")
        cross = high.T.astype(np.float64) @ rest
        product += cross + cross.T
    return product
