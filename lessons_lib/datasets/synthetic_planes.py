"""Points of a plane whose shape no linear map can round: two moons, a ring, a bent Gaussian. For
the pictures of lesson ``11_bert_flow``.

The bent Gaussian is a flow by itself, x = (z₁, z₂ / 2 + bend (z₁² - 1)), so its density is known,
and a coupling can undo it exactly.
"""

from __future__ import annotations

import numpy as np

from ..core import check_choice, check_int, check_memory, generator

__all__ = ["bent_log_density", "synthetic_plane"]

PLANES = ("moons", "ring", "bent")
BEND = 0.8
NARROW = 0.5  # standard deviation of the bent Gaussian across the bend


def synthetic_plane(shape: str, n: int = 2000, *, seed: int = 0) -> np.ndarray:
    """Points of a plane.

    Parameters
    ----------
    shape : {"moons", "ring", "bent"}
        Two half circles that reach into each other; a circle of radius 2, blurred; a Gaussian
        whose second number follows the square of the first.
    n : int >= 0
    seed : int

    Returns
    -------
    (n, 2) float64

    Raises
    ------
    TypeError, ValueError : an argument

    Examples
    --------
    >>> synthetic_plane("ring", 3).shape
    (3, 2)
    """
    check_choice("shape", shape, PLANES)
    n, rng = check_int("n", n, low=0), generator(seed)
    check_memory(f"{n:,} points", 16 * n, f"Lower n={n}")
    if shape == "bent":
        z = rng.normal(size=(n, 2))
        return np.column_stack([z[:, 0], NARROW * z[:, 1] + BEND * (z[:, 0] ** 2 - 1)])
    angle = rng.uniform(0, np.pi if shape == "moons" else 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    if shape == "ring":
        return (2 + rng.normal(scale=0.15, size=n))[:, None] * circle
    lower = rng.random(n) < 0.5
    circle[lower] = [1.0, 0.5] - circle[lower]
    return circle + rng.normal(scale=0.08, size=(n, 2))


def bent_log_density(x: np.ndarray) -> np.ndarray:
    """log p of points under the bent Gaussian, in nats.

    Parameters
    ----------
    x : (n, 2) float

    Returns
    -------
    (n,) float64
        The mean over points of ``synthetic_plane("bent")`` is -log(2πe) - log ½ = -2.145.
    """
    z = np.column_stack([x[:, 0], (x[:, 1] - BEND * (x[:, 0] ** 2 - 1)) / NARROW])
    return -0.5 * (z**2).sum(axis=1) - np.log(2 * np.pi) - np.log(NARROW)
