"""Do two lists of numbers rise together? Pearson compares the numbers, Spearman their ranks.

Spearman is the Pearson correlation of average ranks: equal values share a rank, and only the order
counts. Both refuse input for which no correlation exists (constant, NaN, fewer than two pairs).
Taught in ``01_one_hot``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core import check_array, shown

__all__ = ["average_ranks", "checked_pairs", "checked_values", "pearson", "spearman"]


def checked_values(name: str, values: Sequence[float] | np.ndarray, *,
                   exact: bool = False) -> np.ndarray:
    """One finite, 1-D column of numbers as float64, or with ``exact`` integers as they are.

    Raises TypeError for text, naming the first value, and as `check_array` for NaN and shapes.
    """
    array = np.asarray(values)
    if array.dtype.kind in "USO" and array.size and isinstance(array.flat[0], str):
        raise TypeError(f"{name}[0]={shown(str(array.flat[0]))} is text; expected numbers. Convert "
                        f"the column: np.asarray({name}, dtype=float)")
    checked = check_array(name, array, ndim=1).astype(np.float64)
    # float64 would make neighbours beyond 2^53 equal
    return array if exact and array.dtype.kind in "iu" else checked


def checked_pairs(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, *,
                  names: tuple[str, str] = ("predictions", "gold"),
                  exact: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that have a correlation, (n,) each, as `checked_values`.

    Raises ValueError for other lengths, fewer than two pairs, NaN or a constant side, with the
    side and the first index concerned.
    """
    x, y = (checked_values(name, column, exact=exact)
            for name, column in zip(names, (x, y), strict=True))
    if len(x) != len(y):
        raise ValueError(f"{names[0]} has {len(x)} values and {names[1]} has {len(y)}; expected "
                         "one of each per pair. The first without a partner has index "
                         f"{min(len(x), len(y))}")
    if len(x) < 2:
        raise ValueError(f"{names[0]} and {names[1]} hold {len(x)} pairs; a correlation needs >= 2")
    for name, column in zip(names, (x, y), strict=True):
        if column.min() == column.max():
            raise ValueError(f"{name} is constant: all {len(column)} values from index 0 on are "
                             f"{column[0]:g}; a correlation needs >= 2 different values")
    return x, y


def average_ranks(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Rank 1 for the smallest value up to n for the largest; equal values share their mean rank.

    Parameters
    ----------
    values : (n,) real, finite

    Returns
    -------
    (n,) float64
        Multiples of 1/2 that add up to n(n+1)/2.

    Examples
    --------
    >>> average_ranks([10, 30, 20, 20]).tolist()
    [1.0, 4.0, 2.5, 2.5]
    """
    from ..kernels import ranks                 # here, not above: it loads torch

    return ranks(checked_values("values", values, exact=True), backend="cpu").numpy()


def _scaled(x: np.ndarray) -> np.ndarray:
    """Times the power of two that brings the largest magnitude into [0.5, 1): no overflow later."""
    return np.ldexp(x, -np.frexp(np.abs(x).max())[1])


def _centred(x: np.ndarray) -> np.ndarray:
    x = _scaled(x)
    x = _scaled(x - x[0])  # values that differ in their last digits only keep those digits
    return x - x.mean()


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    x, y = _centred(x), _centred(y)
    return float(np.clip((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()), -1.0, 1.0))


def pearson(predictions: Sequence[float] | np.ndarray, gold: Sequence[float] | np.ndarray) -> float:
    """Linear correlation of two columns; unchanged when one is shifted or multiplied by c > 0.

    Parameters
    ----------
    predictions, gold : (n,) real

    Returns
    -------
    float in [-1, 1]

    Raises
    ------
    TypeError
        Text.
    ValueError
        Lengths differ, < 2 pairs, NaN, a constant side.
    """
    return _correlation(*checked_pairs(predictions, gold))


def spearman(predictions: Sequence[float] | np.ndarray,
             gold: Sequence[float] | np.ndarray) -> float:
    """Correlation of the ranks of two columns; unchanged by any increasing function of a column.

    Parameters
    ----------
    predictions, gold : (n,) real

    Returns
    -------
    float in [-1, 1]
        Ties share their average rank.

    Raises
    ------
    TypeError
        Text.
    ValueError
        Lengths differ, < 2 pairs, NaN, a constant side.

    Examples
    --------
    >>> spearman([0.1, 0.2, 0.9], [1, 4, 5])
    1.0
    """
    x, y = checked_pairs(predictions, gold, exact=True)
    return _correlation(average_ranks(x), average_ranks(y))
