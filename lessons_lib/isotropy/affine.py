"""Rows times a matrix, shifted before and after, some rows at a time: no centred copy of the table
is ever written.

What is subtracted before the product is rounded to the type of the product, and what that rounding
missed is added after it, exactly: a mean of 30 standard deviations costs no digit. Used by
`Whitening`, in lesson ``12_bert_whitening``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .rows import BLOCK, as_rows

__all__ = ["Affine"]

# how much stronger than others a direction may be enlarged before float32 products lose digits
STEEP = 32.0
MODERATE = 1e30  # a float32 product holds factors between 1 / this and this


@dataclass(frozen=True, eq=False)
class Affine:
    """x ↦ (x - before) M + after.

    ``before`` (d,), ``matrix`` (d, m), ``after`` (m,), float64. ``enlarged`` (any,): the singular
    values of M, which decide how products of float32 rows are taken: in float32 where they differ
    by a factor of at most 32, else in float64, because the least enlarged direction, often the
    strongest one, would leave its rounding in all others.
    """

    before: np.ndarray
    matrix: np.ndarray
    after: np.ndarray
    enlarged: np.ndarray

    def working(self, dtype: np.dtype) -> type:
        """The type in which rows of ``dtype`` are multiplied."""
        low, high = float(self.enlarged.min()), float(self.enlarged.max())
        narrow = (dtype.itemsize <= 4 and high <= STEEP * low and low > 1 / MODERATE
                  and high < MODERATE)
        return np.float32 if narrow else np.float64

    def __call__(self, x: Any, *, name: str = "x", normalize: bool = False) -> np.ndarray:
        """The image of every row, (n, m) float32, n >= 0; with ``normalize`` at length 1, a row of
        zeros stays zeros.

        Raises TypeError, ValueError (shape, NaN or infinity with the first bad row, a result beyond
        float32).
        """
        x = as_rows(name, x, min_rows=0, look=False)
        if x.shape[1] != len(self.matrix):
            raise ValueError(f"{name} has shape {x.shape}; expected {len(self.matrix)} columns")
        kind = self.working(x.dtype)
        out = np.empty((len(x), self.matrix.shape[1]), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):       # looked at below
            fine = self._write(x, out, kind, normalize)
        if not fine:
            _explain(name, x, out)
        return out

    def _write(self, x: np.ndarray, out: np.ndarray, kind: type, normalize: bool) -> bool:
        """Fill ``out`` block by block; whether a sum of each block is finite."""
        near, matrix, step = self.before.astype(kind), np.ascontiguousarray(self.matrix, kind), max(
            1, BLOCK // max(self.matrix.shape))
        rest = (self.after + (near.astype(np.float64) - self.before) @ self.matrix).astype(kind)
        room, product = np.empty((min(step, len(x)), x.shape[1]), kind), np.empty(
            (min(step, len(x)), out.shape[1]), kind)
        fine = True
        for start in range(0, len(x), step):
            part = x[start : start + step]
            centred, z = room[: len(part)], product[: len(part)]
            np.subtract(part, near, out=centred, casting="unsafe")
            np.matmul(centred, matrix, out=z)
            z += rest
            if normalize:
                _normalize(z)
            out[start : start + step] = z
            fine &= bool(np.isfinite(z.sum(dtype=np.float64))) and (kind is np.float32 or bool(
                np.isfinite(out[start:start + step]).all()))
        return fine


def _normalize(z: np.ndarray) -> None:
    lengths = np.sqrt(np.einsum("ij,ij->i", z, z))
    z *= (1 / np.where(lengths > 0, lengths, 1)).astype(z.dtype)[:, None]


def _explain(name: str, x: np.ndarray, out: np.ndarray) -> None:
    as_rows(name, x)                                              # raises where a number is none
    bad = np.flatnonzero(~np.isfinite(out).all(axis=1))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] gives numbers beyond float32 ({len(bad)} of {len(x)} "
                         f"rows do); scale {name} as the vectors of fit were")
