"""The directions that all sentences share, and how they are taken away.

The right singular vectors of the uncentred matrix X of sentence vectors are the eigenvectors of
XᵀX, which is added up block by block, so that X need not exist. Unlike principal components nothing
is centred: the mean itself is most of what is removed. Taught in lesson ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..core.compiled import compiled

__all__ = ["Directions", "SecondMoment", "common_directions", "remove"]

_FLAT = 1e-4  # below this share of the largest, an eigenvalue is looked at again in float64
_NOTHING = 1e-12                                 # below this one it is rounding of float32 vectors


@dataclass(frozen=True)
class Directions:
    """``components``: (m, dim) float64, orthonormal, the strongest first, the largest number of
    each positive. ``singular_values``: (m,) float64. ``rank``: how many different directions the
    vectors span, as far as it was looked at: at most m + 1."""

    components: np.ndarray
    singular_values: np.ndarray
    rank: int


class SecondMoment:
    """XᵀX of vectors that come in blocks; products are taken in ``dtype`` and added up in float64.

    Parameters: dim, columns of a vector; size, about how large those numbers are: squares of very
    large or small ones would leave float32.
    """

    def __init__(self, dim: int, size: float, dtype: type = np.float32):
        self.dim, self.size, self._dtype = dim, size, dtype
        exponent = int(np.frexp(size)[1]) if size > 0 else 0
        self._scale = 1.0 if abs(exponent) < 30 else 2.0 ** float(np.clip(-exponent, -126, 126))
        self._total = np.zeros((dim, dim))

    def add(self, block: np.ndarray) -> None:
        """Take vectors (any, dim) in."""
        block = block.astype(self._dtype, copy=False)
        if self._scale != 1:
            block = block * self._dtype(self._scale)
        self._total += block.T @ block

    def spectrum(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The n largest eigenvalues, the largest first, and their eigenvectors as rows; float64."""
        from scipy.linalg import eigh

        values, vectors = eigh(self._total, subset_by_index=[self.dim - n, self.dim - 1])
        return np.maximum(values[::-1], 0.0) / self._scale**2, vectors.T[::-1]


def common_directions(moment: SecondMoment, n: int,
                      again: Callable[[], Iterable[np.ndarray]]) -> Directions:
    """The n strongest directions of vectors, but always one fewer than they span, so that something
    is left when these are removed.

    Parameters: moment, of all the vectors in float32; again, gives them once more, in blocks: where
    the spectrum falls so steeply that float32 could invent directions, all is done again in
    float64.
    """
    if n == 0:
        return Directions(np.zeros((0, moment.dim)), np.zeros(0), 1)
    wanted = min(n + 1, moment.dim)
    squares, vectors = moment.spectrum(wanted)
    if moment.dim <= n or squares[n] < _FLAT * squares[0]:
        exact = SecondMoment(moment.dim, moment.size, np.float64)
        for block in again():
            exact.add(block)
        squares, vectors = exact.spectrum(wanted)
    rank = int(np.count_nonzero(squares > _NOTHING * squares[0]))
    m = max(min(n, rank - 1), 0)
    components = np.ascontiguousarray(vectors[:m])
    largest = components[np.arange(m), np.abs(components).argmax(axis=1)]
    return Directions(components * np.where(largest < 0, -1.0, 1.0)[:, None], np.sqrt(squares[:m]),
                      rank)


def remove(vectors: np.ndarray, components: np.ndarray, shares: np.ndarray) -> None:
    """v ← v - Σ_i λ_i ⟨v, c_i⟩ c_i for every row, in place.

    Parameters: vectors, float32; components c_i, orthonormal; shares λ_i.
    """
    if len(components):
        _remove(vectors, np.ascontiguousarray(components, np.float32), shares.astype(np.float32))


@compiled(reorder=True)
def _remove(vectors: np.ndarray, components: np.ndarray, shares: np.ndarray) -> None:
    along = np.empty(shares.size, np.float32)
    for s in range(vectors.shape[0]):
        v = vectors[s]
        for i in range(shares.size):
            c, total = components[i], np.float32(0.0)
            for k in range(v.size):
                total += v[k] * c[k]
            along[i] = shares[i] * total
        for i in range(shares.size):
            c, part = components[i], along[i]
            for k in range(v.size):
                v[k] -= part * c[k]
