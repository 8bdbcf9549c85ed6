"""Whitening beside its authors' lines of NumPy, on the same vectors, and one epoch of a flow.

The authors take np.cov and the singular values of the covariance, and multiply float32 vectors by a
float64 matrix. The mean is float64 on both sides: their float32 one alone moves cosines by 3e-5.
No library that the course depends on has flows to run beside ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core import available_cores, generator
from .gates import close
from .measure import Case
from .work import flow_epoch

THREADS = 2
TOLERANCE, AFTER_FLOAT32 = 1e-5, 1e-4           # largest difference of a cosine or a number
PEER = "authors' program (np.cov, np.linalg.svd)"
FIT, TRANSFORM = 1.8, 1.4                       # goals, times faster
EPOCH = {256: 30.0, 768: 90.0}                  # goals in seconds, by dimension
BENDS = 4


def uneven(n: int, d: int) -> np.ndarray:
    """Vectors as uneven as a BERT's: variances over four powers of ten along turned axes, around a
    mean that is longer than most of them."""
    rng = generator(0)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    spread = (turn * np.logspace(0, -2, d)[:, None]).astype(np.float32)
    x = rng.standard_normal((n, d), dtype=np.float32) @ spread
    return x + rng.normal(size=d).astype(np.float32)


def _authors_fit(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kernel and bias, as the authors compute them."""
    mean = x.mean(axis=0, keepdims=True, dtype=np.float64)
    u, s, _ = np.linalg.svd(np.cov(x.T))
    return np.dot(u, np.diag(1 / np.sqrt(s))), -mean


def _authors_transform(x: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Whitened vectors of norm 1, as the authors compute them."""
    z = (x + bias).dot(kernel)
    return z / np.clip((z**2).sum(axis=1, keepdims=True) ** 0.5, 1e-8, np.inf)


def _same_cosines(sample: np.ndarray, tolerance: float, ours: Any,
                  theirs: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether both maps give the sample the same cosines; axes may differ in their signs."""
    a, b = ours.transform(sample, normalize=True), _authors_transform(sample, *theirs)
    return close(tolerance)(a @ a.T, b @ b.T)


def whitening_cases(n: int = 100_000, d: int = 768,
                    kept: Sequence[int] = (256, 768)) -> Iterator[Case]:
    """Learn the map, and apply it with vectors of norm 1."""
    from ..isotropy import Whitening
    from ..kernels import Moments
    x = uneven(n, d)
    learn = {"Whitening.fit": (lambda: Whitening().fit(x), TOLERANCE),
             "Whitening.fit of Moments, float32 products":
                 (lambda: Whitening().fit(Moments(d).update(x)), AFTER_FLOAT32)}
    for name, (ours, tolerance) in learn.items():
        yield Case("isotropy", f"{name} {n} x {d}", PEER, ours, partial(_authors_fit, x),
                   partial(_same_cosines, x[:1000], tolerance), n, "vectors", FIT,
                   f"cosines of {min(n, 1000)} whitened vectors equal to {tolerance:g}",
                   threads=THREADS)
    fitted, bias = Whitening().fit(x), -x.mean(axis=0, keepdims=True, dtype=np.float64)
    for k in kept:
        white = Whitening(k).fit(fitted.moments_)
        yield Case("isotropy", f"Whitening.transform + normalize {n} x {d}, k={k}", PEER,
                   partial(white.transform, x, normalize=True),
                   partial(_authors_transform, x, fitted.matrix_[:, :k], bias), close(TOLERANCE), n,
                   "vectors", TRANSFORM, f"every number equal to {TOLERANCE:g}", threads=THREADS)


def bent(n: int, d: int) -> np.ndarray:
    """Normal vectors but for a bend, which a flow can find and whitening cannot: most numbers
    follow the squares of four."""
    rng = generator(0)
    x = rng.standard_normal((n, d), dtype=np.float32)
    x[:, BENDS:] = 0.5 * x[:, BENDS:] + np.square(x[:, :BENDS])[:, np.arange(d - BENDS) % BENDS]
    return x[:, rng.permutation(d)]


def _learned(flow: Any, nothing: None) -> bool:
    """Whether held-out vectors are better described than by standardisation."""
    history = flow.history_
    return bool(np.isfinite(history).all() and history[-1, 2] < history[0, 2] - 0.01)


def flow_cases(n: int = 100_000, dims: Sequence[int] = tuple(EPOCH),
               threads: Sequence[int] = (1, 2)) -> Iterator[Case]:
    """One epoch: in the seconds of the goal, all epochs that are needed take minutes."""
    from ..isotropy import Flow
    for d in dims:
        x = bent(n, d)
        for t in [t for t in threads if t <= available_cores()]:
            name = f"Flow.fit {n} x {d}, 1 epoch, {t} thread{'s' * (t > 1)}"
            flow = partial(Flow, epochs=1.0, deterministic=t == 1, device="cpu")
            yield Case("isotropy", name, "", lambda flow=flow, x=x: flow().fit(x), None, _learned,
                       n, "vectors", EPOCH.get(d, 30.0),
                       "held-out bits per dimension at least 0.01 below standardisation",
                       flow_epoch(n, d, levels=2, depth=3, width=32), threads=t)


def cases() -> Iterator[Case]:
    """The races, one after the other; vectors are made when a case is asked for."""
    yield from whitening_cases()
    yield from flow_cases()
