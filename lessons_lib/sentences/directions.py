"""The directions that all sentences share, and how they are taken away.

The right singular vectors of the uncentred matrix X of sentence vectors are the eigenvectors of XᵀX, which is added up block by block, so that X need
not exist. Unlike principal components nothing is centred: the mean itself is most of what is removed. Taught in lesson ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..core.compiled import compiled

__all__ = ["Directions", "common_directions", "remove"]

_FLAT = 1e-4                                     # below this share of the largest, an eigenvalue is looked at again in float64
_NOTHING = 1e-12                                 # below this one it is rounding of float32 vectors


@dataclass(frozen=True)
class Directions:
    """``components``: (m, dim) float64, orthonormal, the strongest first, the largest number of each positive. ``singular_values``: (m,) float64.
    ``rank``: how many different directions the vectors span, as far as it was looked at: at most m + 1."""

    components: np.ndarray
    singular_values: np.ndarray
    rank: int


def common_directions(blocks: Callable[[], Iterable[np.ndarray]], dim: int, n: int) -> Directions:
    """The n strongest directions of vectors, but always one fewer than they span, so that something is left when these are removed.

    Parameters: blocks, gives the vectors anew at each call, float32 (any, dim) each. Products are float32 and their sums float64; where the spectrum
    falls so steeply that float32 could invent directions, all is done again in float64.
    """
    if n == 0:
        return Directions(np.zeros((0, dim)), np.zeros(0), 1)
    squares, vectors = _spectrum(blocks(), dim, np.float32)
    if dim <= n or squares[n] < _FLAT * squares[0]:
        squares, vectors = _spectrum(blocks(), dim, np.float64)
    rank = int(np.count_nonzero(squares[: n + 1] > _NOTHING * squares[0]))
    m = max(min(n, rank - 1), 0)
    components = np.ascontiguousarray(vectors[:m])
    largest = components[np.arange(m), np.abs(components).argmax(axis=1)]
    return Directions(components * np.where(largest < 0, -1.0, 1.0)[:, None], np.sqrt(squares[:m]), rank)


def _spectrum(blocks: Iterable[np.ndarray], dim: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of XᵀX, the largest first, and its eigenvectors as rows; float64."""
    total, scale = np.zeros((dim, dim)), 0.0
    for block in blocks:
        if scale == 0:                           # a power of two that brings the first vectors near 1, so that no square leaves float32
            peak = float(np.abs(block).max(initial=0))
            scale = 0.0 if peak == 0 else float(2.0 ** -np.clip(np.frexp(peak)[1], -126, 126))
        block = block.astype(dtype, copy=False)
        if not 2.0**-30 < scale < 2.0**30:
            block = block * dtype(scale)
        total += block.T @ block
    scale = scale if not 2.0**-30 < scale < 2.0**30 else 1.0
    values, vectors = np.linalg.eigh(total)
    return np.maximum(values[::-1], 0.0) / (scale or 1.0) ** 2, vectors.T[::-1]


def remove(vectors: np.ndarray, components: np.ndarray, shares: np.ndarray) -> None:
    """v ← v - Σ_i λ_i ⟨v, c_i⟩ c_i for every row, in place. Parameters: vectors, float32; components c_i, orthonormal; shares λ_i."""
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
