"""The axes along which vectors vary, from nothing but their mean and covariance: one pass over the
data serves every choice of β, γ and k.

The covariance is taken about β μ, which needs no further look at the vectors: Σ_β = Σ_1 + (1 - β)²
μᵀμ, up to the factor that ddof makes. With β = 0 the axes are those of an uncentred PCA. Taught in
``12_bert_whitening``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array
from .rows import BLOCK, as_rows, blocks, stable_signs

if TYPE_CHECKING:
    from ..kernels import Moments

__all__ = ["PrincipalAxes", "moments_of", "principal_axes"]

LEAST_VARIANCE = 1e-280  # of a table: below it the squares of weaker directions leave float64
NO_SPREAD = 1e-13  # of the largest mean: a standard deviation below it is rounding of float64


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """Mean (d,), variances along the axes, falling, (d,), and axes (d, d), one per row,
    orthonormal, the entry of largest magnitude positive. All float64.
    """

    mean: np.ndarray
    spectrum: np.ndarray
    axes: np.ndarray


def moments_of(x: Any, sample_weight: Any = None) -> Moments:
    """Mean and scatter of the rows of x, (n, d) real, n >= 0, or a copy of `kernels.Moments`.

    With ``sample_weight``, one number >= 0 per row, μ = 1/n Σ_i w_i x_i and the scatter is
    Σ_i w_i (x_i - μ)ᵀ(x_i - μ), the weights first scaled to a mean of 1, so that n stays. Products
    are taken in float64, whatever x is: what float32 loses in them is what whitening divides by.
    Memory beyond x: a block of rows and d x d. Raises TypeError, ValueError (shape, NaN or
    infinity, numbers whose squares overflow; weights for Moments, or with fewer than two above 0).
    """
    from ..kernels import Moments                # here, not above: it loads torch

    if isinstance(x, Moments):
        if sample_weight is not None:
            raise TypeError(f"sample_weight is given for x={x!r}, which holds no rows any more; "
                            "pass the vectors themselves as x, or sample_weight=None")
        return Moments(x.dim).merge(x)
    if sample_weight is not None:
        return Moments.of(*_weighted_sums(x, sample_weight))
    x = as_rows("x", x, min_rows=0, look=False)
    try:
        return Moments(x.shape[1]).update(x, backend="cpu", double=True)
    except ValueError as error:
        as_rows("x", x)                          # names the row, if a number is none
        raise ValueError(str(error).replace("batch", "x", 1)) from None


def _weighted_sums(x: Any, sample_weight: Any) -> tuple[int, np.ndarray, np.ndarray]:
    """n, mean and scatter of rows that count unequally, in two passes over blocks of them."""
    x = as_rows("x", x)
    weights = check_array("sample_weight", sample_weight, ndim=1).astype(np.float64)
    some = np.count_nonzero(weights)
    if len(weights) != len(x) or (weights < 0).any() or some < 2:
        raise ValueError(f"sample_weight has {len(weights)} values, the least "
                         f"{min(weights, default=0):g}, {some} of them not 0, for {len(x)} rows "
                         "of x; expected one >= 0 per row, and two or more above 0")
    weights /= weights.max()                     # so that their sum is finite
    weights *= len(x) / weights.sum()
    step = max(1, BLOCK // x.shape[1])
    parts = [weights[start : start + step] for start in range(0, len(x), step)]
    with np.errstate(over="ignore", invalid="ignore"):       # looked at below
        mean = sum(part @ block
                   for part, block in zip(parts, blocks(x, step=step), strict=True)) / len(x)
        scatter = np.zeros((x.shape[1], x.shape[1]))
        for part, block in zip(parts, blocks(x, step=step), strict=True):
            block -= mean
            block *= np.sqrt(part)[:, None]
            scatter += block.T @ block
    if not np.isfinite(scatter).all():
        raise ValueError(f"x holds numbers up to {np.abs(x).max():.3g}, whose squares overflow in "
                         "float64 products; scale it down")
    return len(x), mean, (scatter + scatter.T) / 2


def principal_axes(moments: Moments, *, beta: float = 1.0, ddof: int = 1) -> PrincipalAxes:
    """Eigenvectors and eigenvalues of the covariance about β μ.

        Σ_β = 1/(n - ddof) Σ_i (x_i - βμ)ᵀ(x_i - βμ) = Σ_1 + n/(n - ddof) (1 - β)² μᵀμ

    Parameters: moments, of n >= 2 vectors that are not all equal; beta, finite; ddof, 0 or 1.
    Raises ValueError (too few vectors, no spread, squares that leave float64).
    """
    n = moments.n
    if n < 2:
        raise ValueError(f"x has {n} rows; expected >= 2 different rows, because one point has no "
                         "spread")
    mean, covariance = (part.cpu().numpy() for part in (moments.mean, moments.covariance(ddof)))
    if np.sqrt(max(np.trace(covariance), 0.0) / len(mean)) <= NO_SPREAD * np.abs(mean).max():
        raise ValueError(f"x has {n} rows that are all equal, as far as float64 can square their "
                         "differences; expected >= 2 different rows")
    if np.trace(covariance) < LEAST_VARIANCE:
        raise ValueError(f"x varies by {np.sqrt(np.trace(covariance)):.3g} only, whose square "
                         "leaves float64; scale x up")
    with np.errstate(over="ignore"):
        about = covariance + n / (n - ddof) * np.outer((1 - beta) * mean, (1 - beta) * mean)
    if not np.isfinite(about).all():
        raise ValueError(f"beta={beta:g} with means up to {np.abs(mean).max():.3g} gives a "
                         "covariance that overflows float64; scale x down")
    values, vectors = np.linalg.eigh(about)
    return PrincipalAxes(mean, np.maximum(values[::-1], 0.0),
                         np.ascontiguousarray(stable_signs(vectors.T[::-1])))
