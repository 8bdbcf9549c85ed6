"""What ran, and why: every call of a kernel leaves one line, so a figure can say what produced it.

``with kernels.trace() as t:`` collects the calls of a block with their times; ``t.caption()`` is
the line under a figure. Outside a trace nothing is timed and a GPU is never waited for. Used by
the heavy cells of all lessons, taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

__all__ = ["Run", "Scope", "Trace", "launched", "recorded", "trace"]

T = TypeVar("T")


class Scope(Generic[T]):
    """A value that holds inside a ``with`` block: the innermost block of this thread, or, in a
    thread that opened none (torch's backward threads), the block opened last and still open."""

    def __init__(self, name: str) -> None:
        self._own: ContextVar[list[T] | None] = ContextVar(name, default=None)
        self._open: tuple[list[T], ...] = ()     # replaced as a whole: a reader needs no lock
        self._lock = threading.Lock()

    def get(self) -> T | None:
        """The value that holds here, or None outside of every block."""
        own, blocks = self._own.get(), self._open
        if any(own is block for block in blocks):       # not one closed from another context
            return own[0]
        return blocks[-1][0] if blocks else None

    @contextlib.contextmanager
    def holding(self, value: T) -> Iterator[T]:
        """Let ``value`` hold inside the ``with`` block."""
        block = [value]                         # a list equals itself only
        token = self._own.set(block)
        with self._lock:
            self._open = (*self._open, block)
        try:
            yield value
        finally:
            with self._lock:
                self._open = tuple(other for other in self._open if other is not block)
            with contextlib.suppress(ValueError):       # a generator closed in another context
                self._own.reset(token)


@dataclass
class Run:
    """One call; ``launches`` are the Triton kernels it started, as (kernel, grid, blocks)."""

    operation: str
    backend: str
    reason: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    processor: str = "blocked torch"
    ms: float = 0.0
    launches: list[tuple[str, tuple[int, ...], dict[str, Any]]] = field(default_factory=list)

    def caption(self) -> str:
        """Operation, implementation, block shape or the reason why no kernel ran, and time."""
        where = {"triton": f"triton ({self.device})", "cpu": f"{self.device} ({self.processor})",
                 "reference": f"reference formula on {self.device}"}[self.backend]
        blocks = ["x".join(str(v) for k, v in config.items() if k.startswith("BLOCK"))
                  for _, _, config in self.launches]
        detail = blocks[0] if blocks and blocks[0] else self.reason
        ms = f"{self.ms:.2g}" if self.ms < 9.95 else f"{self.ms:.0f}"
        return f"{self.operation} · {where} · {detail} · {ms} ms"


@dataclass
class Trace:
    """The calls of one ``with trace()`` block, in order.

    Parameters
    ----------
    runs : list of Run
        One for each call: operation, backend, reason, shape, dtype, device, ms, launches.
    """

    runs: list[Run] = field(default_factory=list)

    def caption(self) -> str:
        """The line under a figure: that of the slowest call.

        Returns
        -------
        str
            "no kernel ran" where there was none.
        """
        if not self.runs:
            return "no kernel ran"
        return max(self.runs, key=lambda run: run.ms).caption()

    def table(self) -> list[tuple[str, ...]]:
        """All calls as rows of texts.

        Returns
        -------
        list of tuple of str
            Header first: operation, backend, reason, kernels, grid, shape, type, ms.
        """
        rows = [("operation", "backend", "reason", "kernels", "grid", "shape", "type", "ms")]
        for run in self.runs:
            kernels = " + ".join(name for name, _, _ in run.launches) or "–"
            grids = " + ".join("x".join(map(str, grid)) for _, grid, _ in run.launches) or "–"
            shape = "x".join(map(str, run.shape))
            rows.append((run.operation, run.backend, run.reason, kernels, grids, shape, run.dtype,
                         f"{run.ms:.3g}"))
        return rows


_open_trace: Scope[Trace] = Scope("lessons_trace")
_open_run: ContextVar[Run | None] = ContextVar("lessons_run", default=None)


@contextlib.contextmanager
def trace() -> Iterator[Trace]:
    """Collect and time every kernel call inside the ``with`` block.

    Of two nested blocks the inner one collects. A call that fails leaves nothing.

    Returns
    -------
    context manager of Trace
    """
    with _open_trace.holding(Trace()) as collected:
        yield collected


def _now(x: Tensor) -> float:
    """The clock, once the GPU of x has finished what came before."""
    if x.is_cuda:
        torch.cuda.synchronize(x.device)
    return time.perf_counter()


@contextlib.contextmanager
def recorded(operation: str, backend: str, reason: str, x: Tensor, *, device: str,
             processor: str) -> Iterator[Run]:
    """The record of one call; timed and kept only inside a `trace`, and only if it succeeds."""
    collected, dtype = _open_trace.get(), str(x.dtype).removeprefix("torch.")
    run = Run(operation, backend, reason, tuple(x.shape), dtype, device, processor)
    if collected is not None:
        collected.runs.append(run)
        start = _now(x)
    token = _open_run.set(run)
    try:
        yield run
        if collected is not None:
            run.ms = 1000 * (_now(x) - start)
    except BaseException:
        if collected is not None:
            collected.runs.remove(run)
        raise
    finally:
        _open_run.reset(token)


def launched(kernel: str, grid: tuple[int, ...], config: dict[str, Any]) -> None:
    """Note a Triton launch in the record of the running call."""
    run = _open_run.get()
    if run is not None:
        run.launches.append((kernel, grid, config))
