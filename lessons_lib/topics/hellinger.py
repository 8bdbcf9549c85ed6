"""Square roots of distributions, after which the cosine says how much two of them overlap.

For p and q that sum to 1, sqrt(p) and sqrt(q) have norm 1, and their inner product is the
Bhattacharyya coefficient; its distance is Hellinger's. Used behind a topic model as ``model |
Hellinger()``. Taught in lesson ``03_topic_models``.
"""

from __future__ import annotations

import numpy as np

from ..core import Estimator, check_array

__all__ = ["Hellinger"]


class Hellinger(Estimator):
    """Replaces each number by its square root; needs no fit.

    An encoder's second step: ``model | Hellinger()``.
    """

    name = "Hellinger"

    def __init__(self) -> None:
        """There are no settings."""

    def transform(self, vectors: np.ndarray) -> np.ndarray:
        """Square root of each number.

        Parameters
        ----------
        vectors : (n, dim) floats >= 0

        Returns
        -------
        (n, dim) of the same type

        Raises
        ------
        TypeError, ValueError
            A number below 0, by row; as `core.check_array`.
        """
        vectors = check_array("vectors", vectors)
        bad = np.flatnonzero((vectors < 0).any(axis=1))
        if len(bad):
            raise ValueError(f"vectors[{bad[0]}] holds a number below 0 ({len(bad)} rows do); "
                             "expected distributions, such as topic mixtures")
        return np.sqrt(vectors)
