"""The shape of a space: cosines of pairs, alignment of true pairs, uniformity of all points.

Everything is measured on the unit sphere; a zero vector stays zero and has cosine 0 with all. Dense
arrays and SciPy CSR matrices are taken, entries from 1e-320 to 1e300 included. Taught in
``14_simcse``; cosines from ``01_one_hot`` on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import check_array, check_float, shown

__all__ = ["alignment", "pair_cosines", "uniformity", "unit_rows"]

BLOCK = 1 << 20                                   # numbers per dense block: 8 MB in float64


def _checked(name: str, x: Any, *, min_rows: int = 0) -> Any:
    """A contiguous float32 or float64 array, or CSR of such; half precision becomes float32."""
    if not hasattr(x, "tocsr"):
        x = check_array(name, x, min_rows=min_rows)
        kind = np.float32 if x.dtype.itemsize < 4 else x.dtype.newbyteorder("=")
        return np.ascontiguousarray(x, dtype=kind)
    x = x.tocsr()
    if x.shape[0] < min_rows:
        raise ValueError(f"{name} has {x.shape[0]} rows; expected >= {min_rows}")
    check_array(f"{name}.data", x.data, ndim=1)
    return x.astype(np.float64) if x.dtype.kind != "f" else x


def _scaled_rows(x: Any) -> Any:
    """Each row times the power of two that brings its largest entry into [0.5, 1), exactly.

    Then no square over- or underflows.
    """
    if 0 in x.shape:
        return x
    peaks = abs(x).max(axis=1)
    if not hasattr(x, "tocsr"):
        return np.ldexp(x, -np.frexp(peaks)[1][:, None])
    exponent = -np.frexp(peaks.toarray().ravel())[1]
    scaled = x.copy()
    scaled.data = np.ldexp(x.data, np.repeat(exponent, np.diff(x.indptr)))
    return scaled


def _row_dots(x: Any, y: Any) -> np.ndarray:
    """Dot product of each row of x with the same row of y, in float64. Returns (n,)."""
    if hasattr(x, "tocsr"):
        return np.asarray(x.astype(np.float64).multiply(y).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", x, y, dtype=np.float64)


def unit_rows(x: Any) -> Any:
    """Every row at norm 1; a zero row stays zero.

    Parameters
    ----------
    x : (n, dim) array or CSR matrix

    Returns
    -------
    (n, dim) of the same kind
        Half precision becomes float32, integers float64.
    """
    x = _scaled_rows(_checked("x", x))
    length = np.sqrt(_row_dots(x, x))
    length[length == 0] = 1
    if not hasattr(x, "tocsr"):
        return (x / length[:, None]).astype(x.dtype)
    unit = x.copy()
    unit.data = (x.data / np.repeat(length, np.diff(x.indptr))).astype(x.dtype)
    return unit


def _row_numbers(name: str, rows: Any, n: int) -> np.ndarray:
    numbers = np.asarray(rows)
    if numbers.size and numbers.dtype.kind not in "iu":
        raise TypeError(f"{name}={shown(rows)} has dtype {numbers.dtype}; expected row numbers "
                        "(int)")
    if numbers.ndim != 1:
        raise ValueError(f"{name} has shape {numbers.shape}; expected row numbers of shape "
                         "(pairs,)")
    if len(bad := np.flatnonzero((numbers < 0) | (numbers >= n))):
        raise ValueError(f"{name}[{bad[0]}]={numbers[bad[0]]} is no row; expected ints in [0, "
                         f"{n - 1}]")
    return numbers.astype(np.intp)


def pair_cosines(vectors: Any, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cosine of ``vectors[left[k]]`` and ``vectors[right[k]]`` for every k, summed in float64.

    Parameters
    ----------
    vectors : (n, dim) array or CSR matrix
    left, right : (pairs,) int
        Row numbers.

    Returns
    -------
    (pairs,) float64 in [-1, 1]
        0 where a vector is zero, exactly 1 for a non-zero vector with itself.

    Raises
    ------
    TypeError, ValueError
        Row numbers that do not pair up or are out of range.
    """
    vectors = _scaled_rows(_checked("vectors", vectors))
    left = _row_numbers("left", left, vectors.shape[0])
    right = _row_numbers("right", right, vectors.shape[0])
    if len(left) != len(right):
        raise ValueError(f"left has {len(left)} and right {len(right)} row numbers; expected one "
                         "of each per pair")
    squares = _row_dots(vectors, vectors)
    cosines = np.zeros(len(left))
    width = vectors.nnz // len(squares) if hasattr(vectors, "tocsr") else vectors.shape[1]
    step = max(1, BLOCK // max(1, width))
    for start in range(0, len(left), step):
        i, j = left[start : start + step], right[start : start + step]
        lengths = np.sqrt(squares[i] * squares[j])
        np.divide(_row_dots(vectors[i], vectors[j]), lengths, where=lengths > 0,
                  out=cosines[start : start + step])
    return np.clip(cosines, -1.0, 1.0)


def alignment(x: Any, y: Any, *, alpha: float = 2.0) -> float:
    """Mean distance, to the power alpha, between the unit vectors of each true pair; 0 is best.

    Parameters
    ----------
    x, y : (n, dim) array or CSR matrix
        Row i of x belongs to row i of y.
    alpha : float in (0, 100], default 2.0

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Other shapes, no pair.

    Notes
    -----
    mean ‖x_i - y_i‖^alpha, for alpha = 2 and no zero vector 2 - 2 mean cos. [wang2020understanding]

    Examples
    --------
    >>> alignment([[1.0, 0.0]], [[0.0, 5.0]])
    2.0
    """
    alpha = check_float("alpha", alpha, low=0, high=100, open_low=True)
    x, y = unit_rows(_checked("x", x, min_rows=1)), unit_rows(_checked("y", y, min_rows=1))
    if x.shape != y.shape:
        raise ValueError(f"x has shape {x.shape} and y has shape {y.shape}; expected equal shapes, "
                         "one row per pair")
    if hasattr(x, "tocsr") or hasattr(y, "tocsr"):
        from ..kernels.alignment import mean_power

        gap = x - y
        return float(mean_power(_tensor(_row_dots(gap, gap)), alpha=alpha))
    from .. import kernels

    kind = np.promote_types(x.dtype, y.dtype)
    x, y = (_tensor(side.astype(kind, copy=False)) for side in (x, y))
    return float(kernels.alignment(x, y, alpha=alpha, backend="cpu"))


def _tensor(x: np.ndarray) -> Any:
    """The array as a torch tensor; the kernels know float32 and float64."""
    import torch

    kind = np.float32 if x.dtype == np.float32 else np.float64
    return torch.from_numpy(x.astype(kind, copy=False))


def uniformity(x: Any, *, t: float = 2.0) -> float:
    """How evenly unit vectors spread; lower is more evenly.

    Parameters
    ----------
    x : (n, dim) array or CSR matrix, n >= 2
    t : float in (0, 100], default 2.0

    Returns
    -------
    float <= 0
        0 when all vectors are equal, about -2t when they fill a sphere of high dimension.

    Raises
    ------
    ValueError
        Fewer than 2 rows.

    Notes
    -----
    Log of the mean of exp(-t ‖x_i - x_j‖²) over all pairs i < j. Works in blocks: memory beyond x
    is O(n) and never n x n. [wang2020understanding]

    Examples
    --------
    >>> uniformity([[1.0, 0.0], [-1.0, 0.0]])
    -8.0
    """
    t = check_float("t", t, low=0, high=100, open_low=True)
    x = unit_rows(_checked("x", x, min_rows=2))
    if hasattr(x, "tocsr"):
        from ..kernels.uniformity.cpu import log_mean_kernel, tiles

        grams = ((rows, columns, _tensor((x[rows] @ x[columns].T).toarray()))
                 for rows, columns in tiles(x.shape[0]))      # inner products, tile by tile
        return log_mean_kernel(grams, _tensor(_row_dots(x, x).astype(x.dtype)), t=t)
    from .. import kernels

    return float(kernels.uniformity(_tensor(x), t=t, backend="cpu"))
