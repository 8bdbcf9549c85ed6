"""Singular values of a table of vectors: how much of it lies along its strongest directions, and
how many directions it uses.

A space without preferred direction has a flat spectrum; a narrow cone has one singular value far
above all others. The table is read once, in blocks: each is joined to the triangle R of the QR
factorisation of those before it, which has the same singular values to full precision, where XᵀX
would lose half of the digits. Taught in ``09_anisotropy``, looked at again in ``14_simcse``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rows import BLOCK, as_rows, blocks, power_of_two, stable_signs

__all__ = ["effective_rank", "participation_ratio", "right_singular_vectors", "share_of_first",
           "singular_spectrum", "singular_values", "top_share", "values_of"]


def _triangle(x: np.ndarray, *, index: np.ndarray | None = None, exponent: int = 0,
              centred: bool = False) -> tuple[np.ndarray, float]:
    """R of the QR factorisation of x / 2^exponent, (min(n, d), d), which has the singular values
    and right singular vectors of it, as RᵀR = XᵀX; and the largest magnitude in it.
    """
    d, n = x.shape[1], len(x) if index is None else len(index)
    mean = (sum(block.sum(axis=0) for block in blocks(x, index=index, exponent=exponent)) / n
            if centred else 0.0)
    r, peak = np.zeros((0, d)), 0.0
    # many rows: R is factorised again with each block
    for block in blocks(x, index=index, exponent=exponent, step=max(4 * d, BLOCK // d)):
        peak = max(peak, float(block.max()), -float(block.min()))
        r = np.linalg.qr(np.vstack([r, block - mean]), mode="r")
    return r, peak


def values_of(x: np.ndarray, *, index: np.ndarray | None = None, exponent: int = 0,
              centred: bool = False) -> np.ndarray:
    """Singular values of rows of x / 2^exponent, those named by ``index`` or all, falling; where
    the rows are centred, values that rounding alone could have made are 0.
    """
    r, peak = _triangle(x, index=index, exponent=exponent, centred=centred)
    values = np.linalg.svd(r, compute_uv=False)
    if centred:
        n = len(x) if index is None else len(index)
        values[values <= np.finfo(np.float64).eps * peak * np.sqrt(n * x.shape[1])] = 0.0
    return values


def singular_values(x: Any, *, centred: bool = False) -> np.ndarray:
    """Singular values of a table of vectors, falling.

    Parameters
    ----------
    x : (n, d) real, n >= 1
    centred : bool, default False
        Take the mean of the rows away first.

    Returns
    -------
    (min(n, d),) float64

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.

    Notes
    -----
    Memory beyond x: a block of rows and d x d.

    Examples
    --------
    >>> singular_values([[3.0, 0.0], [0.0, -4.0]]).tolist()
    [4.0, 3.0]
    """
    x = as_rows("x", x)
    exponent = power_of_two(x)
    return np.ldexp(values_of(x, exponent=exponent, centred=centred), exponent)


def right_singular_vectors(x: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n <= d strongest directions of uncentred rows, (n, d), the entry of largest magnitude
    positive, and all min(rows, d) singular values, up to a power of two.
    """
    r, _ = _triangle(x, exponent=power_of_two(x))
    _, values, vectors = np.linalg.svd(r, full_matrices=n > len(r))
    return stable_signs(vectors[:n]), values


def singular_spectrum(x: Any, *, centred: bool = False) -> np.ndarray:
    """Singular values divided by the largest one: flat where no direction is preferred.

    [gao2019representation, Fig. 1; wang2020improving]

    Parameters
    ----------
    x, centred
        As in `singular_values`.

    Returns
    -------
    (min(n, d),) float64
        Zeros for a table of zeros.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.
    """
    values = singular_values(x, centred=centred)
    return values / values[0] if values[0] > 0 else values


def share_of_first(values: np.ndarray) -> float:
    """σ₁² / Σ σ² of falling singular values; 0 when all are 0."""
    return float(1 / ((values / values[0]) ** 2).sum()) if values[0] > 0 else 0.0


def top_share(x: Any, *, centred: bool = False) -> float:
    """How much one direction explains: the share of the largest squared singular value.

    Parameters
    ----------
    x, centred
        As in `singular_values`.

    Returns
    -------
    float in (0, 1]
        0 for a table of zeros.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.

    Notes
    -----
    σ₁² / Σ σ_k², uncentred by default: the mean counts, and in a cone it is most of what there is.
    For the occurrences of one word this is Ethayarajh's maximum explainable variance. It is not
    scikit-learn's ``TruncatedSVD`` ratio, which divides the *variance* of the projections, without
    their mean. [ethayarajh2019contextual, Sec. 3]

    Examples
    --------
    >>> top_share([[1.0, 0.0], [0.0, 1.0]])
    0.5
    """
    return share_of_first(singular_values(x, centred=centred))


def effective_rank(x: Any, *, centred: bool = False) -> float:
    """How many directions the rows use, by entropy.

    Parameters
    ----------
    x, centred
        As in `singular_values`.

    Returns
    -------
    float in [1, d]
        1 for rows on a line through the origin, d for a flat spectrum, 0 for a table of zeros.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.

    Notes
    -----
    exp(-Σ p ln p) with p = σ / Σ σ. [roy2007effective]
    """
    values = singular_spectrum(x, centred=centred)
    p = values[values > 0] / max(values.sum(), 1e-300)
    return float(np.exp(-(p * np.log(p)).sum())) if len(p) else 0.0


def participation_ratio(x: Any, *, centred: bool = True) -> float:
    """How many directions the rows use, by squares.

    Parameters
    ----------
    x : (n, d) real, n >= 1
    centred : bool, default True
        Take the mean of the rows away first.

    Returns
    -------
    float in [1, d]
        1 for rows on a line, d for a flat spectrum, 0 for rows that are all equal.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.

    Notes
    -----
    (Σ λ)² / Σ λ² with λ = σ², the eigenvalues of the covariance.
    """
    squares = singular_spectrum(x, centred=centred) ** 2
    return float(squares.sum() ** 2 / (squares**2).sum()) if squares[0] > 0 else 0.0


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
    difference. Z is large for long vectors, so compare tables of like norms only. Where eigenvalues
    coincide the directions, and so the figure, are not unique. Memory beyond x: a block of rows and
    d x d. [mu2018allbutthetop]

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
