"""Races of whitening: learn the map, and apply it with vectors at length 1, beside the authors' lines of NumPy.

Those take np.cov and the singular values of the covariance, and multiply float32 vectors by a float64 matrix. The vectors are as uneven as a BERT's:
variances over four powers of ten along turned axes, around a mean that is longer than most of them. Both sides get the same threads. The mean is
float64 on both sides: the authors' float32 one alone moves cosines by 3e-5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core import available_cores, generator
from .measure import Case, fixed_threads

__all__ = ["Sizes", "cases"]

THREADS = 2
TOLERANCE = 1e-5                                # largest difference of a cosine, or of a number of a vector of length 1
SHORT = 1e-4                                    # the same of cosines after float32 products
PEER = "authors' program (np.cov, np.linalg.svd)"
GOALS = {"fit": 1.8, "transform": 1.4}


@dataclass(frozen=True)
class Sizes:
    """How many vectors, how wide, and what is kept of them; tests use less."""

    vectors: int = 100_000
    width: int = 768
    kept: tuple[int, ...] = (256, 768)


def _vectors(n: int, d: int) -> np.ndarray:
    """Uneven float32 vectors; see above."""
    rng = generator(0)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    spread = (turn * np.logspace(0, -2, d)[:, None]).astype(np.float32)
    return rng.standard_normal((n, d), dtype=np.float32) @ spread + rng.normal(size=d).astype(np.float32)


def _authors_fit(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kernel and bias, as the authors compute them."""
    mean = x.mean(axis=0, keepdims=True, dtype=np.float64)
    u, s, _ = np.linalg.svd(np.cov(x.T))
    return np.dot(u, np.diag(1 / np.sqrt(s))), -mean


def _authors_transform(x: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Whitened vectors of length 1, as the authors compute them."""
    z = (x + bias).dot(kernel)
    return z / np.clip((z**2).sum(axis=1, keepdims=True) ** 0.5, 1e-8, np.inf)


def _same_cosines(sample: np.ndarray, ours: Any, theirs: tuple[np.ndarray, np.ndarray], *, tolerance: float = TOLERANCE) -> bool:
    """Whether both maps give the sample the same cosines; axes may differ in their signs."""
    a, b = ours.transform(sample, normalize=True), _authors_transform(sample, *theirs)
    return a.shape == b.shape and bool(np.abs(a @ a.T - b @ b.T).max() <= tolerance)


def _close(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return ours.shape == theirs.shape and bool(np.abs(ours - theirs).max() <= TOLERANCE)


def _on_both_cores(work: Callable[[], Any]) -> Any:
    with fixed_threads(min(THREADS, available_cores())):
        return work()


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """The races, one after the other."""
    from ..isotropy import Whitening
    from ..kernels import Moments

    sizes = sizes or Sizes()
    n, d = sizes.vectors, sizes.width
    x = _vectors(n, d)
    yield Case("isotropy", f"Whitening.fit {n} x {d}", PEER, partial(_on_both_cores, lambda: Whitening().fit(x)),
               partial(_on_both_cores, partial(_authors_fit, x)), partial(_same_cosines, x[:1000]), n, "vectors", GOALS["fit"],
               f"cosines of {min(n, 1000)} whitened vectors equal to {TOLERANCE:g}")
    yield Case("isotropy", f"Whitening.fit of Moments, float32 products {n} x {d}", PEER,
               partial(_on_both_cores, lambda: Whitening().fit(Moments(d).update(x))), partial(_on_both_cores, partial(_authors_fit, x)),
               partial(_same_cosines, x[:1000], tolerance=SHORT), n, "vectors", GOALS["fit"],
               f"cosines of {min(n, 1000)} whitened vectors equal to {SHORT:g}")
    fitted = Whitening().fit(x)
    for k in sizes.kept:
        white = Whitening(k).fit(fitted.moments_)
        kernel, bias = fitted.matrix_[:, :k], -x.mean(axis=0, keepdims=True, dtype=np.float64)
        yield Case("isotropy", f"Whitening.transform + normalize {n} x {d}, k={k}", PEER,
                   partial(_on_both_cores, partial(white.transform, x, normalize=True)),
                   partial(_on_both_cores, partial(_authors_transform, x, kernel, bias)), _close, n, "vectors", GOALS["transform"],
                   f"every number equal to {TOLERANCE:g}")
