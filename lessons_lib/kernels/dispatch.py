"""Which implementation runs: the readable formula, the fast processor path, or the Triton kernel.

Every operation is a folder with ``reference.py``, ``cpu.py`` and, where a kernel of our own pays, ``gpu.py``; all three hold the same functions with
the same signatures. A choice made by name (argument, then `use_backend`, then the variable ``LESSONS_BACKEND``) is kept or refused, never replaced.
Without one the device of the tensor decides, and a GPU that must do without its kernel is told once per process and cause. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import logging
import os
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from ..core import BackendUnavailable, check_choice
from .interpreter import interpreting
from .tracing import recorded

__all__ = ["BACKENDS", "Operation", "use_backend"]

BACKENDS = ("triton", "cpu", "reference")
OLDEST = 80                                     # below sm_80 Triton emits no tensor-core instruction for tl.dot and spills instead
_MODULE = {"triton": "gpu", "cpu": "cpu", "reference": "reference"}
_preferred: ContextVar[str | None] = ContextVar("lessons_backend", default=None)


@contextlib.contextmanager
def use_backend(name: str) -> Iterator[None]:
    """Run the kernels inside the ``with`` block by one backend: "triton", "cpu" or "reference".

    A call that names its own ``backend`` keeps it. Raises ValueError for an unknown name (nearest name, all names).
    """
    token = _preferred.set(check_choice("backend", name, BACKENDS))
    try:
        yield
    finally:
        _preferred.reset(token)


def _asked(backend: str | None) -> tuple[str | None, str]:
    """The backend somebody named, and where they named it."""
    for name, where in ((backend, "backend="), (_preferred.get(), "use_backend"), (os.environ.get("LESSONS_BACKEND"), "LESSONS_BACKEND")):
        if name:
            return check_choice(where.rstrip("="), name, BACKENDS), where
    return None, ""


@functools.cache
def _notice(operation: str, cause: str) -> None:
    if os.environ.get("LESSONS_QUIET") != "1":
        logging.getLogger("lessons_lib").warning("%s: %s; using blocked torch on the same device (same result, more time or memory). "
                                                 "Silence: LESSONS_QUIET=1", operation, cause)


@functools.cache
def _capability(index: int) -> int:
    major, minor = torch.cuda.get_device_capability(index)
    return 10 * major + minor


@dataclass(frozen=True)
class Operation:
    """One folder under ``kernels``.

    Parameters: name, of folder and function; kernel, whether it has a Triton kernel; dot, whether that kernel multiplies matrices and so needs
    sm_80; without, why it has none, in words.
    """

    name: str
    kernel: bool = True
    dot: bool = False
    without: str = ""

    def module(self, backend: str) -> ModuleType:
        """The module that implements one backend; Triton is imported only here."""
        return importlib.import_module(f"{__package__}.{self.name}.{_MODULE[backend]}")

    def obstacle(self, x: Tensor) -> str | None:
        """Why the Triton kernel cannot take x, or None when it can. Cheap; also what explains a choice in a caption."""
        if not self.kernel:
            return f"no Triton kernel: {self.without}"
        if x.dtype == torch.float64:
            return "the kernels compute in float32 and x is float64"
        if importlib.util.find_spec("triton") is None:
            return "Triton is not installed (it has wheels for Linux only: pip install triton)"
        if interpreting():
            return None if x.device.type == "cpu" else "Triton's interpreter is on and takes CPU tensors only"
        if not torch.cuda.is_available():
            return "no CUDA device (kernels.interpret() runs tiny inputs in Triton's interpreter)"
        if not x.is_cuda:
            return f"x lies on {x.device.type}, not on the GPU (move it: x.cuda())"
        if self.dot and torch.version.hip is None and _capability(x.device.index or 0) < OLDEST:
            return f"sm_{_capability(x.device.index or 0)} is older than sm_{OLDEST}, where Triton's tl.dot uses tensor cores"
        return None

    def choose(self, x: Tensor, backend: str | None, *, limit: str | None = None) -> tuple[str, str]:
        """The backend for x, and the reason in words.

        Parameters: x, the tensor that decides; backend, the caller's wish or None; limit, an obstacle that only this call has (too large a k, say).
        Raises BackendUnavailable when a backend is named that cannot run, with cause and remedy; ValueError for an unknown name.
        """
        name, where = _asked(backend)
        if name is not None and name != "triton":
            return name, f"asked for by {where}"
        obstacle = self.obstacle(x) or limit
        if name == "triton":
            if obstacle:
                raise BackendUnavailable(f"{self.name}: {where}{'' if where.endswith('=') else '='}'triton' cannot run here: {obstacle}. "
                                         "Leave the backend out and the fastest one that can run is taken")
            return name, f"asked for by {where}"
        if obstacle is None and x.is_cuda:
            return "triton", "CUDA tensor"
        if obstacle and x.is_cuda and self.kernel:
            _notice(self.name, obstacle)
        return "cpu", obstacle or "CPU tensor"

    def run(self, function: str, *args: Any, backend: str | None = None, limit: str | None = None, **options: Any) -> Any:
        """Call ``function`` of the chosen implementation and record what ran. The first argument is the tensor that decides."""
        name, reason = self.choose(args[0], backend, limit=limit)
        work = getattr(self.module(name), function)
        with recorded(self.name, name, reason, args[0]) as record:
            return record.done(work(*args, **options))
