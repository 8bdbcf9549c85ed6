"""Seeded chance: every draw comes from a generator that somebody passes on, none from global state.

Streams are PCG64, so the same seed draws the same numbers on every system. ``children`` gives
workers streams that do not overlap.
"""

from __future__ import annotations

import numpy as np

from .checks import check_int, check_seed

__all__ = ["children", "generator"]


def generator(seed: int) -> np.random.Generator:
    """A PCG64 generator.

    Parameters
    ----------
    seed : int >= 0

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    TypeError, ValueError
    """
    return np.random.Generator(np.random.PCG64(check_seed(seed)))


def children(seed: int, n: int) -> list[np.random.Generator]:
    """Independent generators, one per worker or epoch, the same for every number of threads.

    Parameters
    ----------
    seed : int >= 0
    n : int >= 1

    Returns
    -------
    list of numpy.random.Generator
    """
    sequences = np.random.SeedSequence(check_seed(seed)).spawn(check_int("n", n))
    return [np.random.Generator(np.random.PCG64(sequence)) for sequence in sequences]
