"""One epoch of a flow on many vectors: seconds, for no library that the course depends on has flows to run beside it.

The vectors are normal but for a bend: most numbers follow the squares of four, so that a flow has something to find that whitening cannot. What the
epoch found is judged on rows that it did not see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core import available_cores, generator
from .measure import Case, fixed_threads
from .work import flow_epoch

__all__ = ["Sizes", "cases"]

BENDS = 4
GOALS = {256: 30.0, 768: 90.0}                  # seconds: with the vectors of an encoder at hand, minutes for all epochs that are needed


@dataclass(frozen=True)
class Sizes:
    """How many vectors, how wide, and on how many threads; tests use less."""

    vectors: int = 100_000
    widths: tuple[int, ...] = (256, 768)
    threads: tuple[int, ...] = (1, 2)


def _vectors(n: int, d: int) -> np.ndarray:
    """Bent float32 vectors; see above."""
    rng = generator(0)
    x = rng.standard_normal((n, d), dtype=np.float32)
    x[:, BENDS:] = 0.5 * x[:, BENDS:] + np.square(x[:, :BENDS])[:, np.arange(d - BENDS) % BENDS]
    return x[:, rng.permutation(d)]


def _fit(x: np.ndarray, threads: int) -> Any:
    from ..isotropy import Flow

    with fixed_threads(threads):
        return Flow(epochs=1.0, deterministic=threads == 1, device="cpu").fit(x)


def _learned(flow: Any, nothing: None) -> bool:
    """Whether held-out vectors are read better than by standardisation."""
    return bool(np.isfinite(flow.history_).all() and flow.history_[-1, 2] < flow.history_[0, 2] - 0.01)


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """One case for each width and number of threads."""
    sizes = sizes or Sizes()
    for d in sizes.widths:
        x = _vectors(sizes.vectors, d)
        for threads in [t for t in sizes.threads if t <= available_cores()]:
            name = f"Flow.fit {sizes.vectors} x {d}, 1 epoch, {threads} thread{'s' * (threads > 1)}"
            yield Case("isotropy", name, "", partial(_fit, x, threads), None, _learned, sizes.vectors, "vectors", GOALS.get(d, 30.0),
                       "held-out bits per dimension at least 0.01 below standardisation", flow_epoch(sizes.vectors, d, levels=2, depth=3, width=32))
