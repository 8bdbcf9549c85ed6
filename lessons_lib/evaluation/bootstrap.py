"""How far would the score move with other test pairs? Draw them again, with replacement, and score.

The 95 % interval reaches from the 2.5th to the 97.5th percentile of the scores of 1,000 draws.
Ranks are made anew in every draw, ties included (`kernels.spearman_resamples`), so the result is
exact, and 1,379 pairs take a hundredth of a second. Taught in ``01_one_hot``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..core import check_float, check_int, check_memory, generator
from ..core.checks import check_most, shown
from .ranks import average_ranks, checked_pairs, spearman

__all__ = ["PairedDifference", "bootstrap_interval", "checked_resamples", "in_brackets",
           "paired_difference", "percentile_interval", "spearman_interval", "spearman_resamples"]

BLOCK = 1 << 18  # numbers per block of draws: 2 MB, which the caches hold


@dataclass(frozen=True)
class PairedDifference:
    """Spearman of encoder a minus Spearman of encoder b on the same pairs.

    An interval that holds 0 means: this test set cannot tell the two apart.

    Attributes
    ----------
    difference : float
    interval : (low, high)
        Its bootstrap interval.
    share_above_zero : float
        Share of the resamples in which a is better.
    """

    difference: float
    interval: tuple[float, float]
    share_above_zero: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.interval[0] > 0 or self.interval[1] < 0


def _draws(n: int, n_resamples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Blocks of (resamples, n) of n items; together the same draws for any size of block."""
    step = max(1, BLOCK // n)
    for start in range(0, n_resamples, step):
        yield rng.integers(n, size=(min(step, n_resamples - start), n))


def spearman_resamples(columns: Sequence[np.ndarray], gold: np.ndarray, *, n_resamples: int,
                       rng: np.random.Generator) -> np.ndarray:
    """Spearman of every checked column (n,) with gold in the same resamples, as float64.

    NaN for a resample in which a side is constant (drawn from few pairs): it has no correlation,
    and `percentile_interval` leaves it out. Returns (len(columns), n_resamples).
    """
    from .. import kernels

    # one type for all columns, the same order and ties
    ranked = np.stack([average_ranks(column) for column in columns])
    return kernels.spearman_resamples(ranked, gold, _draws(len(gold), n_resamples, rng),
                                      backend="cpu").numpy()


def percentile_interval(samples: np.ndarray, *, confidence: float = 0.95) -> tuple[float, float]:
    """The middle ``confidence`` share of samples (n,) that are not NaN; ValueError for none."""
    tail = (1 - check_float("confidence", confidence, low=0, high=1, open_low=True)) / 2
    defined = samples[~np.isnan(samples)]
    if len(defined) == 0:
        raise ValueError(f"none of the {len(samples)} resamples has a defined statistic; there are "
                         "too few different pairs")
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def in_brackets(interval: tuple[float, float] | None) -> str:
    """An interval of correlations as it is printed behind one, x 100; "" where there is none."""
    return "" if interval is None else f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def _number(value: object) -> float:
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "fiub":
        raise TypeError(f"statistic gave {shown(value)}, a {type(value).__name__}; expected one "
                        "number per resample")
    if not np.isfinite(array):
        raise ValueError(f"statistic gave {float(array)} for a resample; expected a finite number. "
                         "Return a fallback where it is undefined")
    return float(array)


def checked_resamples(name: str, n: int, *, low: int = 1) -> int:
    """A number of resamples, when their figures fit. Raises TypeError, ValueError, MemoryError."""
    n = check_most(name, check_int(name, n, low=low))
    check_memory(f"the figures of {n:,} resamples", 8 * n, f"Lower {name}={n}")
    return n


def bootstrap_interval(statistic: Callable[[np.ndarray], float], n_items: int, *,
                       n_resamples: int = 1000, confidence: float = 0.95,
                       seed: int = 0) -> tuple[float, float]:
    """Percentile interval of any statistic of items that are drawn again with replacement.

    Parameters
    ----------
    statistic : function of an index array (n_items,) to a finite number
    n_items : int >= 1
    n_resamples : int >= 1, default 1000
    confidence : float in (0, 1], default 0.95
    seed : int, default 0

    Returns
    -------
    low, high : float

    Raises
    ------
    TypeError
        No function, or it gives no number.
    ValueError
        It gives NaN or infinity.

    Notes
    -----
    For Spearman `spearman_interval` gives the same kind of interval faster.

    Examples
    --------
    >>> values = np.arange(10.0)
    >>> low, high = bootstrap_interval(lambda index: values[index].mean(), 10)
    >>> low < 4.5 < high
    True
    """
    if not callable(statistic):
        raise TypeError(f"statistic={shown(statistic)} is {type(statistic).__name__}; expected a "
                        "function of an index array")
    n, rng = check_int("n_items", n_items), generator(seed)
    check_memory(f"the numbers of {n:,} items", 8 * n, f"Lower n_items={n}")
    samples = [_number(statistic(rng.integers(n, size=n)))
               for _ in range(checked_resamples("n_resamples", n_resamples))]
    return percentile_interval(np.array(samples, dtype=np.float64), confidence=confidence)


def spearman_interval(predictions: Sequence[float] | np.ndarray, gold: Sequence[float] | np.ndarray,
                      *, n_resamples: int = 1000, confidence: float = 0.95,
                      seed: int = 0) -> tuple[float, float]:
    """Percentile bootstrap interval of Spearman over pairs.

    Parameters
    ----------
    predictions, gold : (n,) real
    n_resamples : int >= 1, default 1000
    confidence : float in (0, 1], default 0.95
    seed : int, default 0

    Returns
    -------
    low, high : float

    Raises
    ------
    TypeError
        Text.
    ValueError
        Lengths differ, < 2 pairs, NaN, a constant side.
    """
    x, y = checked_pairs(predictions, gold, exact=True)
    samples = spearman_resamples([x], y, n_resamples=checked_resamples("n_resamples", n_resamples),
                                 rng=generator(seed))
    return percentile_interval(samples[0], confidence=confidence)


def paired_difference(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray,
                      gold: Sequence[float] | np.ndarray, *, n_resamples: int = 1000,
                      confidence: float = 0.95, seed: int = 0) -> PairedDifference:
    """Is encoder a better than encoder b? The interval of the difference of their Spearman.

    Both are scored on the same resamples, which removes what the two have in common: this interval
    is narrower than two separate ones suggest.

    Parameters
    ----------
    a, b : (n,) real
        Predictions of two encoders for the same pairs.
    gold : (n,) real
    n_resamples : int >= 1, default 1000
    confidence : float in (0, 1], default 0.95
    seed : int, default 0

    Returns
    -------
    PairedDifference

    Raises
    ------
    TypeError
        Text.
    ValueError
        Lengths differ, < 2 pairs, NaN, a constant side.
    """
    x, y = checked_pairs(a, gold, names=("a", "gold"), exact=True)
    z, _ = checked_pairs(b, gold, names=("b", "gold"), exact=True)
    n = checked_resamples("n_resamples", n_resamples)
    first, second = spearman_resamples([x, z], y, n_resamples=n, rng=generator(seed))
    difference = first - second
    interval = percentile_interval(difference, confidence=confidence)
    above = float((difference[~np.isnan(difference)] > 0).mean())
    return PairedDifference(spearman(x, y) - spearman(z, y), interval, above)
