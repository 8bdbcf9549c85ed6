"""Cosines of pairs that have nothing to do with each other: their mean without a pair, a sample of
them, and which dimensions make them.

In an isotropic space two random vectors have cosine 0 on average; what is above is the narrow cone,
and often the work of a few rogue dimensions with a large mean. The mean over all pairs needs one
pass over the rows, because ‖Σ u‖² holds every pair. Taught in ``09_anisotropy``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import check_int, check_memory, generator
from .rows import BLOCK, as_rows, blocks, power_of_two, unit

__all__ = ["RogueDimensions", "cosine_contributions", "cosine_regulariser", "mean_cosine",
           "random_cosines", "rogue_dimensions", "standardise"]


def mean_cosine(x: Any) -> float:
    """Mean of cos(x_i, x_j) over all pairs i ≠ j, in O(n d).

    Parameters
    ----------
    x : (n, d) real, n >= 2
        A zero row has cosine 0 with all.

    Returns
    -------
    float in [-1 / (n - 1), 1]

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.

    Notes
    -----
    (‖Σ u_i‖² - M) / (n (n - 1)), u_i = x_i / ‖x_i‖, M rows that are not zero. For x = m + noise it
    is about ‖m‖² / (‖m‖² + E‖noise‖²): a common mean is enough for high cosines.
    [ethayarajh2019contextual]

    Examples
    --------
    >>> mean_cosine([[1.0, 0.0], [0.0, 3.0], [-2.0, 0.0]])
    -0.3333333333333333
    """
    from .. import kernels                       # here, not above: it loads torch

    return float(kernels.mean_cosine(as_rows("x", x, min_rows=2), backend="cpu"))


def cosine_regulariser(x: Any) -> float:
    """What Gao et al. add to a language model's loss so that its word vectors keep apart.

    Parameters
    ----------
    x : (n, d) real, n >= 2

    Returns
    -------
    float
        (n - 1) / n times `mean_cosine`.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.

    Notes
    -----
    1/n² Σ_{i≠j} cos(x_i, x_j), in O(n d). [gao2019representation]
    """
    return mean_cosine(x) * (len(x) - 1) / len(x)


def random_cosines(x: Any, n: int = 10_000, *, seed: int = 0) -> np.ndarray:
    """Cosines of n random pairs of different rows, for a histogram.

    Parameters
    ----------
    x : (rows, d) real, rows >= 2
    n : int >= 1, default 10_000
    seed : int, default 0

    Returns
    -------
    (n,) float64 in [-1, 1]
        0 with a zero row.

    Raises
    ------
    TypeError, ValueError
    """
    x, rng = as_rows("x", x, min_rows=2), generator(seed)
    n = check_int("n", n)
    check_memory(f"{n:,} pairs of rows", 24 * n, f"Lower n={n}")
    left = rng.integers(len(x), size=n)
    right = (left + rng.integers(1, len(x), size=n)) % len(x)  # any other row, each as likely
    step = max(1, BLOCK // x.shape[1])
    pairs = zip(blocks(x, index=left, step=step), blocks(x, index=right, step=step), strict=True)
    return np.clip(np.concatenate([np.einsum("ij,ij->i", unit(a), unit(b)) for a, b in pairs]),
                   -1.0, 1.0)


def cosine_contributions(x: Any) -> np.ndarray:
    """What each dimension adds to the mean cosine, in O(n d).

    Parameters
    ----------
    x : (n, d) real, n >= 2

    Returns
    -------
    (d,) float64
        The sum is the mean cosine.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.

    Notes
    -----
    The mean of u_ik u_jk over all pairs i ≠ j, ((Σ_i u_ik)² - Σ_i u_ik²) / (n (n - 1)), with
    u_i = x_i / ‖x_i‖. [timkey2021all]
    """
    x = as_rows("x", x, min_rows=2)
    sums, squares = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for block in blocks(x):
        u = unit(block)
        sums += u.sum(axis=0)
        squares += np.einsum("ij,ij->j", u, u)
    return (sums**2 - squares) / (len(x) * (len(x) - 1))


@dataclass(frozen=True)
class RogueDimensions:
    """The dimensions that make most of the mean cosine.

    Attributes
    ----------
    dimensions : (k,) int
        Their numbers, the strongest first.
    shares : (k,) float
        Of ``mean_cosine``; 0 where that is no more than rounding.
    mean_cosine : float
    standardised : float
        The mean cosine once every dimension has mean 0 and variance 1.
    """

    dimensions: np.ndarray
    shares: np.ndarray = field(repr=False)
    mean_cosine: float = 0.0
    standardised: float = 0.0


def rogue_dimensions(x: Any, k: int = 3) -> RogueDimensions:
    """The k dimensions with the largest contribution to the mean cosine.

    A few of them can make nearly all of it; then cosine looks at these and at nothing else, and
    standardising takes most of the anisotropy away. [timkey2021all]

    Parameters
    ----------
    x : (n, d) real, n >= 2
    k : int in [1, d], default 3

    Returns
    -------
    RogueDimensions

    Raises
    ------
    TypeError, ValueError
        Shape, NaN, k.
    """
    x = as_rows("x", x, min_rows=2)
    contributions = cosine_contributions(x)
    order = np.argsort(-contributions, kind="stable")[: check_int("k", k, high=len(contributions))]
    mean = float(contributions.sum())
    shares = contributions[order] / mean if abs(mean) > 1e-12 else np.zeros(len(order))
    return RogueDimensions(order, shares, mean, mean_cosine(standardise(x)))


def standardise(x: Any) -> np.ndarray:
    """Every dimension with mean 0 and variance 1; a constant one becomes 0.

    Parameters
    ----------
    x : (n, d) real, n >= 2

    Returns
    -------
    (n, d)
        float32 for half precision, else x's floating type.

    Raises
    ------
    TypeError, ValueError
        Shape, NaN.
    """
    x = as_rows("x", x, min_rows=2)
    exponent = power_of_two(x)
    mean = sum(block.sum(axis=0) for block in blocks(x, exponent=exponent)) / len(x)
    spread = np.sqrt(
        sum(((block - mean)**2).sum(axis=0) for block in blocks(x, exponent=exponent)) / len(x))
    # no more than rounding of the mean
    constant = spread <= 4 * np.finfo(np.float64).eps * np.abs(mean)
    result = np.empty(x.shape,
                     dtype=np.float32 if x.dtype.itemsize < 4 else x.dtype.newbyteorder("="))
    start = 0
    for block in blocks(x, exponent=exponent):
        result[start:start + len(block)] = np.where(constant, 0.0,
                                                   (block - mean) / np.where(constant, 1.0, spread))
        start += len(block)
    return result
