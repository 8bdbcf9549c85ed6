"""One number for how evenly vectors fill their space: IsoScore of the covariance, and the partition
function of Mu and Viswanath.

Both are 1 for a space without preferred direction and fall to 0. They see different things:
IsoScore looks at spread around the mean and knows nothing of the mean itself, the partition
function grows with the length of vectors and notices a common mean at once. Taught in
``09_anisotropy``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rows import as_rows, blocks
from .spectrum import participation_ratio, right_singular_vectors

__all__ = ["isoscore", "partition_isotropy"]


def isoscore(x: Any) -> float:
    """The share of dimensions that a cloud uses evenly.

    Parameters
    ----------
    x : (n, d) real, n >= 2 different rows, d >= 2

    Returns
    -------
    float in [0, 1]
        1 for an isotropic cloud, 0 for a line, (k - 1) / (d - 1) for k of d dimensions.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, all rows equal.

    Notes
    -----
    λ̂ = √d λ / ‖λ‖,   δ = ‖λ̂ - 1‖ / √(2 (d - √d)),
    ι = ((d - δ² (d - √d))² - d) / (d (d - 1)) = (r - 1) / (d - 1)

    λ are the variances along the principal components; the printed steps reduce to their
    participation ratio r = (Σ λ)² / Σ λ². A shift, a rotation and a change of unit leave it as it
    is; few rows lower it (n rows span at most n - 1 dimensions). [rudman2022isoscore]

    Examples
    --------
    >>> round(isoscore([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), 12)
    1.0
    """
    x = as_rows("x", x, min_rows=2)
    if x.shape[1] < 2:
        raise ValueError(f"x has shape {x.shape}; expected >= 2 columns: on a line there is no "
                         "direction to prefer")
    ratio = participation_ratio(x)
    if ratio == 0:
        raise ValueError(f"x has {len(x)} equal rows; expected >= 2 different ones: a point has no "
                         "spread")
    return float(np.clip((ratio - 1) / (x.shape[1] - 1), 0.0, 1.0))


def partition_isotropy(x: Any) -> float:
    """How far the partition function depends on the direction: its least value over its largest
    one.

    Parameters
    ----------
    x : (n, d) real, n >= 1

    Returns
    -------
    float in [0, 1]
        It may underflow to 0.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.

    Notes
    -----
    I = min Z(c) / max Z(c), Z(c) = Σ_w exp(c·w), c in ± the eigenvectors of XᵀX. Both signs of each
    direction are asked: the sign of an eigenvector means nothing, and a cone shows in the
    difference. Z
    is large for long vectors, so compare tables of like norms only. Where eigenvalues coincide the
    directions, and so the figure, are not unique. Memory beyond x: a block of rows and d x d.
    [mu2018allbutthetop]

    Examples
    --------
    >>> round(partition_isotropy([[1.0]]), 6) == round(float(np.exp(-2)), 6)
    True
    """
    x = as_rows("x", x)
    axes, _ = right_singular_vectors(x, x.shape[1])
    # log Z in two parts, so that no exponential overflows
    peak, total = np.full(2 * len(axes), -np.inf), np.zeros(2 * len(axes))
    for block in blocks(x):
        along = block @ axes.T
        logits = np.hstack([along, -along])
        higher = np.maximum(peak, logits.max(axis=0))
        total = total * np.exp(peak - higher) + np.exp(logits - higher).sum(axis=0)
        peak = higher
    log_z = peak + np.log(total)
    return float(np.exp(log_z.min() - log_z.max()))
