"""Rows of a table of vectors as a flow reads them: centred, scaled by powers of two, float32, in a
seeded order.

Far-away means and odd units are taken away in float64, a batch at a time, so that the table itself
may be half precision, float64, memory-mapped or larger than memory. Used by `estimator.Flow`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import warn_data
from ..rows import as_rows, blocks, power_of_two
from ..spectrum import values_of

__all__ = ["Order", "Unit", "check_varies", "fingerprint_of", "rows_of", "sample_rows", "unit_of"]

SAMPLE = 16_384                 # rows from which spread and rank are taken
SMALL_COLUMN = 2.0**-8          # of the root mean square deviation: below it, a scale of its own
LEAST_SINGULAR = 1e-6           # of the largest value, standardised: below it is float32's rounding


@dataclass(frozen=True, eq=False)
class Unit:
    """What is done to rows before they reach the layers: y = (x - ``mean``) / 2^``exponents``.

    ``mean`` (d,) float64; ``exponents`` (d,) int, equal but for columns that hardly vary;
    ``spread``, the root mean square deviation of y, in [0.5, 1) but for chance and such columns.
    """

    mean: np.ndarray
    exponents: np.ndarray
    spread: float

    def enter(self, rows: np.ndarray) -> np.ndarray:
        """y of rows x, (n, d) float32; infinite where x is too far away for that."""
        with np.errstate(over="ignore"):
            return np.ldexp(rows.astype(np.float64) - self.mean,
                            -self.exponents).astype(np.float32)

    def leave(self, rows: np.ndarray) -> np.ndarray:
        """x of rows y, (n, d) float64."""
        return np.ldexp(rows.astype(np.float64), self.exponents) + self.mean

    @property
    def log_det(self) -> float:
        """log |det ∂y/∂x|."""
        return -int(self.exponents.sum()) * float(np.log(2))


def sample_rows(x: np.ndarray, n: int) -> np.ndarray:
    """At most n rows, evenly spaced over the table, the same in every run."""
    return x if len(x) <= n else x[np.linspace(0, len(x) - 1, n).astype(np.int64)]


def unit_of(x: np.ndarray) -> Unit:
    """The mean of all rows, and the power of two next above the root mean square deviation of a
    sample of them; a column that varies far less gets the one above its own largest deviation, for
    a gradient with respect to its shift goes as 1 / its scale and would drown all others.

    Raises ValueError when all rows are equal.
    """
    exponent = power_of_two(x)
    mean = sum(block.sum(axis=0) for block in blocks(x, exponent=exponent)) / len(x)
    deviations = np.ldexp(sample_rows(x, SAMPLE).astype(np.float64), -exponent) - mean
    spread = float(np.sqrt(np.square(deviations).mean()))
    first = next(blocks(x[:1]))
    if all((block == first).all() for block in blocks(x)):
        raise ValueError(f"x has {len(x)} rows, all of them equal; expected >= 2 different rows")
    largest = np.abs(deviations).max(axis=0)
    small = (largest > 0) & (largest < SMALL_COLUMN * spread)
    powers = np.where(small, np.frexp(largest)[1], int(np.frexp(spread)[1]))
    if small.any():
        spread = float(np.sqrt(np.square(np.ldexp(deviations, -powers)).mean()))
    else:
        spread = float(np.ldexp(spread, -powers[0]))
    return Unit(np.ldexp(mean, exponent), exponent + powers, spread)


def fingerprint_of(x: np.ndarray, unit: Unit) -> str:
    """By what a run knows its table again, whatever its type: shape, mean, some rows."""
    digest = hashlib.sha256(np.array(x.shape, dtype=np.int64).tobytes() + unit.mean.tobytes())
    digest.update(unit.enter(sample_rows(x, 1024)).tobytes())
    return digest.hexdigest()


def check_varies(x: np.ndarray, unit: Unit) -> int:
    """In how many directions the rows vary; warns if not in all: no maximum likelihood then."""
    d = x.shape[1]
    rows = unit.enter(sample_rows(x, 4 * d)).astype(np.float64)
    spread = rows.std(axis=0)
    moving = spread > 4 * np.finfo(np.float32).eps * np.abs(rows).max(axis=0)
    rank = 0
    if moving.any():
        values = values_of(rows[:, moving] / spread[moving], centred=True)
        rank = int((values > LEAST_SINGULAR * values[0]).sum())
    if rank < d:
        warn_data(f"x of shape {x.shape} varies in {rank} of {d} directions only, so a flow can "
                  "raise the likelihood without end; its scales stop at 10^4 times those of the "
                  f"beginning. Take fewer columns first: Whitening(k={rank}), or give more rows, "
                  "or noise=0.01")
    return rank


class Order:
    """Which rows are learned from, which are held out, and in which batches the first are read: all
    by the seed.

    Parameters: n, rows; held_out, their share that is not learned from, at most `MOST_HELD_OUT`
    rows; batch_size; seed. Batches of an epoch differ by at most one row in length.
    """

    MOST_HELD_OUT = 4096

    def __init__(self, n: int, *, held_out: float, batch_size: int, seed: int) -> None:
        self.seed = seed
        mixed = self._chance(0).permutation(n)
        self.n_held_out = min(int(n * held_out), self.MOST_HELD_OUT, n - 2)
        self.held_out = np.sort(mixed[: self.n_held_out])
        self.learned = np.sort(mixed[self.n_held_out :])
        self.per_epoch = -(-len(self.learned) // batch_size)
        self._epoch, self._order = -1, self.learned

    def _chance(self, *numbers: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, *numbers])))

    def first(self, n: int) -> np.ndarray:
        """Numbers of the first n rows that are learned from, in the order of the first epoch."""
        return self._of_epoch(0)[:n]

    def batch(self, step: int) -> np.ndarray:
        """Row numbers of a step."""
        epoch, part = divmod(step, self.per_epoch)
        order = self._of_epoch(epoch)
        begin, end = (len(order) * i // self.per_epoch for i in (part, part + 1))
        return order[begin:end]

    def noise(self, step: int, shape: tuple[int, ...]) -> np.ndarray:
        """Standard normal numbers of a step, float32."""
        return self._chance(2, step).standard_normal(shape, dtype=np.float32)

    def _of_epoch(self, epoch: int) -> np.ndarray:
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._chance(1, epoch).permutation(self.learned)
        return self._order


def rows_of(name: str, x: Any, *, dim: int | None = None, min_rows: int = 0) -> np.ndarray:
    """A finite table, (n, d) or (n, dim).

    Raises TypeError, ValueError as `rows.as_rows`, and ValueError for another width.
    """
    x = as_rows(name, x, min_rows=min_rows)
    if dim is not None and x.shape[1] != dim:
        raise ValueError(f"{name} has shape {x.shape}; expected {dim} columns, as in fit")
    return x
