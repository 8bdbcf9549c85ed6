"""Rows of numbers, some at a time and always in float64: how every measure of this room reads a
table of vectors.

A table may be half precision, memory-mapped, strided or far larger than what fits into memory
twice. Blocks of it are copied in one layout, so that a figure does not depend on how the numbers
lie; powers of two keep squares of very large and very small ones inside the type. Used in
``09_anisotropy``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import check_array

__all__ = ["as_rows", "blocks", "norms", "power_of_two", "stable_signs", "unit"]

BLOCK = 1 << 20                                   # numbers per block: 8 MB in float64
MODERATE = 100  # numbers between 2^-100 and 2^100 can be squared and summed as they are


def as_rows(name: str, x: Any, *, min_rows: int = 1, look: bool = True) -> np.ndarray:
    """A finite table of row vectors, (n, d) with d >= 1; floating arrays and tensors of a processor
    keep their memory. Reads blocks, so no mask is as large as x; ``look=False`` is for callers who
    see a bad number in their result. Raises TypeError and ValueError as `core.check_array`.
    """
    if hasattr(x, "detach"):
        x = x.detach()
        # NumPy knows no bfloat16
        x = (x.float() if str(x.dtype) == "torch.bfloat16" else x).numpy()
    try:
        array = np.asarray(x)
    except ValueError as error:                   # rows of different lengths
        raise ValueError(f"{name} is no table: {str(error)[:120]}; expected rows of equal "
                         "length") from error
    if not (array.ndim == 2 and array.dtype.kind == "f" and len(array) >= min_rows
            and (not look or _finite(array))):
        array = check_array(name, array, min_rows=min_rows)  # converts, or says what is wrong
    if array.shape[1] == 0:
        raise ValueError(f"{name} has shape {array.shape}; expected >= 1 column")
    return array


def _finite(array: np.ndarray) -> bool:
    step = max(1, BLOCK // max(1, array.shape[1]))
    return all(np.isfinite(array[start:start + step]).all() for start in range(0, len(array), step))


def power_of_two(x: np.ndarray) -> int:
    """Exponent e so that x / 2^e has no entry beyond 1; 0 for moderate numbers."""
    exponent = int(np.frexp(max(float(x.max()), -float(x.min())))[1]) if x.size else 0
    return exponent if abs(exponent) > MODERATE else 0


def blocks(x: np.ndarray, *, index: np.ndarray | None = None, exponent: int = 0,
           step: int | None = None) -> Iterator[np.ndarray]:
    """Copies of rows, ``step`` at a time (None: about a million numbers), as contiguous float64
    divided by 2^exponent; ``index`` names the rows (None: all, in order).
    """
    n, step = len(x) if index is None else len(index), step or max(1, BLOCK // x.shape[1])
    for start in range(0, n, step):
        part = x[start : start + step] if index is None else x[index[start : start + step]]
        block = np.array(part, dtype=np.float64, order="C")
        yield np.ldexp(block, -exponent) if exponent else block


def _scaled(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row / 2^e, so that its largest entry is in [0.5, 1), and the exponents e, (rows,)."""
    exponents = np.frexp(np.abs(block).max(axis=1))[1]
    return np.ldexp(block, -exponents[:, None]), exponents


def unit(block: np.ndarray) -> np.ndarray:
    """Every row at norm 1; a zero row stays zero. Right for entries from 1e-320 to 1e300."""
    scaled, _ = _scaled(block)
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    return scaled / np.where(lengths > 0, lengths, 1.0)[:, None]


def norms(x: np.ndarray, *, index: np.ndarray | None = None) -> np.ndarray:
    """Length of every row, or of the rows with the numbers ``index``; (n,) float64."""
    result = [np.zeros(0)]
    for block in blocks(x, index=index):
        scaled, exponents = _scaled(block)
        result.append(np.ldexp(np.sqrt(np.einsum("ij,ij->i", scaled, scaled)), exponents))
    return np.concatenate(result)


def stable_signs(axes: np.ndarray) -> np.ndarray:
    """Directions (k, d), turned so that the entry of largest magnitude is positive."""
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return axes * np.where(largest < 0, -1.0, 1.0)
