"""What ran, and why: every call of a kernel leaves one line, so that a figure can say what produced it.

``with kernels.trace() as t:`` collects the calls of a block with their times; ``t.caption()`` is the line under a figure, ``t.table()`` the whole
list. Outside a trace nothing is timed and a GPU is never waited for. Used by the heavy cells of all lessons, taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from .interpreter import interpreting
from .scope import Scope

__all__ = ["Run", "Trace", "launched", "recorded", "trace"]

_open_trace: Scope[Trace] = Scope("lessons_trace")
_open_run: ContextVar[Run | None] = ContextVar("lessons_run", default=None)


@dataclass
class Run:
    """One call: ``launches`` are the Triton kernels it started, as (kernel, grid, block configuration); ``ms`` counts the whole call."""

    operation: str
    backend: str
    reason: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    processor: str = "blocked torch"
    ms: float = 0.0
    launches: list[tuple[str, tuple[int, ...], dict[str, Any]]] = field(default_factory=list)
    _clock: Any = None

    def done(self, result: Any) -> Any:
        """Stop the clock (after the GPU has finished) and hand the result on."""
        self.ms = self._clock()
        return result

    def caption(self) -> str:
        """One line: operation, implementation, block shape, time, or the reason why no kernel ran."""
        where = {"triton": f"triton ({self.device})", "cpu": f"{self.device} ({self.processor})",
                 "reference": f"reference formula on {self.device}"}[self.backend]
        blocks = ["x".join(str(v) for k, v in config.items() if k.startswith("BLOCK")) for _, _, config in self.launches]
        detail = blocks[0] if blocks and blocks[0] else self.reason
        ms = f"{self.ms:.2g}" if self.ms < 9.95 else f"{self.ms:.0f}"
        return f"{self.operation} · {where} · {detail} · {ms} ms"


@dataclass
class Trace:
    """The calls of one ``with trace()`` block, in order."""

    runs: list[Run] = field(default_factory=list)

    def caption(self) -> str:
        """The caption of the slowest call, which is the one a figure owes its time to; "no kernel ran" when there was none."""
        return max(self.runs, key=lambda run: run.ms).caption() if self.runs else "no kernel ran"

    def table(self) -> list[tuple[str, ...]]:
        """Rows of texts, header first: operation, backend, reason, kernels, grid, shape, type, milliseconds."""
        rows = [("operation", "backend", "reason", "kernels", "grid", "shape", "type", "ms")]
        for run in self.runs:
            kernels = " + ".join(name for name, _, _ in run.launches) or "–"
            grids = " + ".join("x".join(map(str, grid)) for _, grid, _ in run.launches) or "–"
            rows.append((run.operation, run.backend, run.reason, kernels, grids, "x".join(map(str, run.shape)), run.dtype, f"{run.ms:.3g}"))
        return rows


@contextlib.contextmanager
def trace() -> Iterator[Trace]:
    """Collect and time every kernel call inside the ``with`` block; of two nested blocks the inner one collects. Calls that fail leave nothing."""
    with _open_trace.holding(Trace()) as collected:
        yield collected


def _device_name(x: Tensor) -> str:
    if x.is_cuda and torch.version.hip is None:
        return "sm_{}{}".format(*torch.cuda.get_device_capability(x.device))
    return "interpreter" if interpreting() and x.device.type == "cpu" else x.device.type


def _clock(x: Tensor) -> Any:
    """A function that gives the milliseconds since now; on a GPU both ends wait for the work before them."""
    def finish() -> None:
        if x.is_cuda:
            torch.cuda.synchronize(x.device)

    finish()
    start = time.perf_counter()

    def elapsed() -> float:
        finish()
        return 1000 * (time.perf_counter() - start)

    return elapsed


@contextlib.contextmanager
def recorded(operation: str, backend: str, reason: str, x: Tensor, *, processor: str) -> Iterator[Run]:
    """The record of one call; timed and kept only inside a `trace`."""
    collected = _open_trace.get()
    device = _device_name(x) if backend == "triton" else x.device.type
    run = Run(operation, backend, reason, tuple(x.shape), str(x.dtype).removeprefix("torch."), device, processor,
              _clock=_clock(x) if collected is not None else lambda: 0.0)
    if collected is not None:
        collected.runs.append(run)
    token = _open_run.set(run)
    try:
        yield run
    except BaseException:
        if collected is not None:
            collected.runs.remove(run)
        raise
    finally:
        _open_run.reset(token)


def launched(kernel: str, grid: tuple[int, ...], config: dict[str, Any]) -> None:
    """Note a Triton launch in the record of the running call; called by the launchers in ``gpu.py``."""
    run = _open_run.get()
    if run is not None:
        run.launches.append((kernel, grid, config))
