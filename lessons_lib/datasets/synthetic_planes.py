"""Points of a plane whose shape no linear map can round: two moons, a ring, a bent Gaussian. For the pictures of lesson ``11_bert_flow``.

The bent Gaussian is a flow by itself, x = (z₁, z₂ / 2 + bend (z₁² - 1)), so its density is known, and a coupling can undo it exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core import check_choice, check_int, generator

__all__ = ["PLANES", "bent_log_density", "synthetic_plane"]

BEND = 0.8
NARROW = 0.5                                      # standard deviation of the bent Gaussian across the bend


def _moons(n: int, rng: np.random.Generator) -> np.ndarray:
    """Two half circles that reach into each other."""
    angle, lower = rng.uniform(0, np.pi, n), rng.random(n) < 0.5
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    x[lower] = [1.0, 0.5] - x[lower]
    return x + rng.normal(scale=0.08, size=(n, 2))


def _ring(n: int, rng: np.random.Generator) -> np.ndarray:
    """A circle of radius 2, blurred."""
    angle, radius = rng.uniform(0, 2 * np.pi, n), 2 + rng.normal(scale=0.15, size=n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def _bent(n: int, rng: np.random.Generator) -> np.ndarray:
    """A Gaussian whose second number follows the square of the first."""
    z = rng.normal(size=(n, 2))
    return np.column_stack([z[:, 0], NARROW * z[:, 1] + BEND * (z[:, 0] ** 2 - 1)])


PLANES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {"moons": _moons, "ring": _ring, "bent": _bent}


def synthetic_plane(shape: str, n: int = 2000, *, seed: int = 0) -> np.ndarray:
    """n points of a plane, (n, 2) float64.

    Parameters: shape, "moons", "ring" or "bent"; n >= 0; seed. Raises TypeError, ValueError.

    >>> synthetic_plane("ring", 3).shape
    (3, 2)
    """
    return PLANES[check_choice("shape", shape, PLANES)](check_int("n", n, low=0), generator(seed))


def bent_log_density(x: np.ndarray) -> np.ndarray:
    """log p of points under the bent Gaussian, in nats: (n,). Its mean over points of ``synthetic_plane("bent")`` is -log(2πe) - log ½ = -2.145."""
    z = np.column_stack([x[:, 0], (x[:, 1] - BEND * (x[:, 0] ** 2 - 1)) / NARROW])
    return -0.5 * (z**2).sum(axis=1) - np.log(2 * np.pi) - np.log(NARROW)
