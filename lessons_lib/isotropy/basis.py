"""Cosine depends on the basis: the formula by coordinates gives the angle between two vectors only
where the basis is orthonormal.

Coordinates x, y in a basis with the rows B stand for the vectors xB, yB, whose inner product is ⟨x,
y⟩_G = x G yᵀ with G = B Bᵀ. With G ∝ I that is the usual sum of products; else cos(x, y) by
coordinates compares something else. Nobody knows the basis in which a BERT writes its sentences;
whitening *assumes* that meaning is spread evenly and estimates G by the inverse covariance. Taught
in ``09_anisotropy``, used in ``12_bert_whitening``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import check_array
from .principal import moments_of
from .rows import as_rows, blocks, unit

__all__ = ["cosine_in_basis", "cosine_under", "estimated_metric", "gram", "inner_product",
           "worst_cosine"]


def gram(basis: Any) -> np.ndarray:
    """Inner products of the basis vectors, G = B Bᵀ.

    Parameters
    ----------
    basis : (k, d) real
        One vector per row, linearly independent.

    Returns
    -------
    (k, k) float64
        Exactly symmetric.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, dependent rows.

    Examples
    --------
    >>> gram([[1.0, 0.0], [1.0, 1.0]]).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    basis = as_rows("basis", basis).astype(np.float64)
    rank = int(np.linalg.matrix_rank(basis))
    if rank < len(basis):
        raise ValueError(f"basis has {len(basis)} vectors that span {rank} dimensions; expected "
                         "linearly independent ones")
    g = basis @ basis.T
    return (g + g.T) / 2


def _pair(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    x, y = as_rows("x", x), as_rows("y", y)
    if x.shape != y.shape:
        raise ValueError(f"x has shape {x.shape} and y has shape {y.shape}; expected equal shapes, "
                         "one pair per row")
    return x, y


def _metric(metric: Any, k: int) -> np.ndarray:
    g = check_array("metric", metric).astype(np.float64)
    if g.shape != (k, k):
        raise ValueError(f"metric has shape {g.shape} for coordinates of {k} columns; expected "
                         f"({k}, {k})")
    lowest = float(np.linalg.eigvalsh((g + g.T) / 2)[0])
    if not np.allclose(g, g.T, rtol=1e-8, atol=1e-12 * np.abs(g).max()) or lowest <= 0:
        raise ValueError("metric is not symmetric or not positive definite (smallest eigenvalue "
                         f"{lowest:.3g}); expected the Gram matrix of a basis. "
                         "Make it: gram(basis)")
    return g


def inner_product(x: Any, y: Any, metric: Any) -> np.ndarray:
    """⟨x, y⟩_G = x G yᵀ of each row of x with the same row of y.

    Parameters
    ----------
    x, y : (n, k) real
        Coordinates.
    metric : (k, k) real
        Of `gram`.

    Returns
    -------
    (n,) float64
        The inner products of the vectors themselves, whatever their basis is.

    Raises
    ------
    TypeError, ValueError
        Shapes, NaN, a matrix that is no metric.
    """
    x, y = _pair(x, y)
    g = _metric(metric, x.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.concatenate(
            [np.einsum("ij,ij->i", a @ g, b) for a, b in zip(blocks(x), blocks(y), strict=True)])
    if not np.isfinite(result).all():
        raise ValueError(f"x[{int(np.flatnonzero(~np.isfinite(result))[0])}] has an inner product "
                         "beyond float64; divide x or y by a number first")
    return result


def cosine_under(x: Any, y: Any, metric: Any) -> np.ndarray:
    """⟨x, y⟩_G / (‖x‖_G ‖y‖_G) of each row of x with the same row of y.

    With ``np.eye(k)`` it is the usual formula, with the metric of `estimated_metric` the cosine
    after whitening.

    Parameters
    ----------
    x, y, metric
        As in `inner_product`.

    Returns
    -------
    (n,) float64 in [-1, 1]
        0 with a zero row.

    Raises
    ------
    TypeError, ValueError
        As `inner_product`.
    """
    x, y = _pair(x, y)
    # G = L Lᵀ: xL has the usual inner products
    root = np.linalg.cholesky(_metric(metric, x.shape[1]))
    return np.clip(np.concatenate([np.einsum("ij,ij->i", unit(unit(a) @ root), unit(unit(b) @ root))
                                   for a, b in zip(blocks(x), blocks(y), strict=True)]), -1.0, 1.0)


def cosine_in_basis(x: Any, y: Any, basis: Any) -> np.ndarray:
    """The true cosine of the vectors that have the coordinates x and y in a basis.

    Parameters
    ----------
    x, y : (n, k) real
        Coordinates, row by row.
    basis : (k, d) real
        Its vectors as rows.

    Returns
    -------
    (n,) float64 in [-1, 1]
        0 with a zero row.

    Raises
    ------
    TypeError, ValueError
        Shapes, NaN, dependent rows.

    Examples
    --------
    >>> cosine_in_basis([[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]).round(4).tolist()
    [0.7071]
    """
    return cosine_under(x, y, gram(basis))


def worst_cosine(basis: Any) -> float:
    """The largest true cosine of two vectors whose coordinates are orthogonal: how wrong the
    formula by coordinates can be.

    Parameters
    ----------
    basis : (k, d) real
        One vector per row, linearly independent.

    Returns
    -------
    float in [0, 1)
        0 exactly for orthogonal basis vectors of one norm.

    Raises
    ------
    TypeError, ValueError
        As `gram`.

    Notes
    -----
    (κ - 1) / (κ + 1), κ = largest / smallest eigenvalue of G (Wielandt's inequality).
    [horn2012matrix, Sec. 7.4]
    """
    values = np.linalg.eigvalsh(gram(basis))
    return float(max(0.0, (values[-1] - values[0]) / (values[-1] + values[0])))


def estimated_metric(x: Any) -> tuple[np.ndarray, np.ndarray]:
    """The metric under which a cloud is even in all directions: the inverse of its covariance.

    Cosines of centred rows under it are those after whitening (Mahalanobis cosines). That the space
    of meanings *is* even is an assumption, not a theorem. [su2021whitening]

    Parameters
    ----------
    x : (n, d) real

    Returns
    -------
    mean : (d,) float64
    metric : (d, d) float64

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, rows that span fewer than d dimensions around their mean.
    """
    x = as_rows("x", x, min_rows=2)
    moments = moments_of(x)
    covariance = moments.covariance().numpy()
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if rank < x.shape[1]:
        raise ValueError(f"x has {len(x)} rows that span {rank} of {x.shape[1]} dimensions around "
                         f"their mean; expected all, so >= {x.shape[1] + 1} "
                         "rows. Keep fewer columns, or take more rows")
    inverse = np.linalg.inv(covariance)
    return moments.mean.numpy(), (inverse + inverse.T) / 2
