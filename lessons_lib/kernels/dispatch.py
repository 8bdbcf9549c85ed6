"""Which implementation runs: the readable formula, the fast processor path, or the Triton kernel.

Every operation is a folder with ``reference.py``, ``cpu.py`` and, where a kernel of our own pays, ``gpu.py``; all three hold the same functions with
the same signatures. A choice made by name (argument, then `use_backend`, then the variable ``LESSONS_BACKEND``) is kept or refused, never replaced.
Without one the device of the tensor decides, and a GPU that must do without its kernel is told once per process and cause. The kernels use no atomics
and add in a fixed order, so ``torch.use_deterministic_algorithms`` has nothing to ask of them, but for that of window updates, which gives way under
it. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from ..core import BackendUnavailable, check_choice
from .interpreter import broken_triton, interpreting, missing_triton
from .scope import Scope
from .tracing import recorded

__all__ = ["BACKENDS", "Backend", "Operation", "backend_name", "backends", "use_backend"]

BACKENDS = ("triton", "cpu", "reference")
OLDEST = 80                                     # below sm_80 Triton emits no tensor-core instruction for tl.dot and spills instead
_MODULE = {"triton": "gpu", "cpu": "cpu", "reference": "reference"}
_preferred: Scope[str] = Scope("lessons_backend")
_told: set[str] = set()
_telling = threading.Lock()


@contextlib.contextmanager
def use_backend(name: str) -> Iterator[None]:
    """Run the kernels inside the ``with`` block by one backend: "triton", "cpu" or "reference".

    A call that names its own ``backend`` keeps it. The innermost block holds; threads without a block of their own (torch's backward threads) follow
    the one opened last. An operation that has no Triton kernel on purpose runs its algebra under "triton" too. Raises ValueError for an unknown
    name (nearest name, all names).
    """
    with _preferred.holding(check_choice("backend", name, BACKENDS)):
        yield


def backend_name(backend: str | None) -> str:
    """The ``backend`` argument as the registered operations take it: "" for None, else a checked name. Raises ValueError."""
    return "" if backend is None else check_choice("backend", backend, BACKENDS)


def _asked(backend: str | None) -> tuple[str | None, str]:
    """The backend somebody named, and where they named it."""
    from_outside = os.environ.get("LESSONS_BACKEND") or None
    for name, where in ((backend, "backend="), (_preferred.get(), "use_backend"), (from_outside, "LESSONS_BACKEND")):
        if name is not None:
            return check_choice(where.rstrip("="), name, BACKENDS), where
    return None, ""


def _notice(operation: str, cause: str, instead: str) -> None:
    """Tell once per process and cause, not once per operation: the cause is the machine, and it does not change."""
    with _telling:
        if cause in _told:
            return
        _told.add(cause)
    if os.environ.get("LESSONS_QUIET") != "1":
        logging.getLogger("lessons_lib").warning("%s: %s; using %s on the same device (same result, more time or memory), here and wherever "
                                                 "this holds. Silence: LESSONS_QUIET=1", operation, cause, instead)


@functools.cache
def _capability(index: int) -> int:
    major, minor = torch.cuda.get_device_capability(index)
    return 10 * major + minor


def _own_precision(device: str) -> contextlib.AbstractContextManager[Any]:
    """Autocast switched off where it is on."""
    on = torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)
    return torch.autocast(device, enabled=False) if on else contextlib.nullcontext()


@dataclass(frozen=True)
class Backend:
    """One backend on this machine: whether ``backend=name`` can run, and with what, or why not."""

    name: str
    available: bool
    reason: str


def backends() -> list[Backend]:
    """The three backends and what this machine can do with each; shown by ``lessons doctor``."""
    return [_triton_here(), Backend("cpu", True, "blocked torch and compiled loops, on any device of torch"),
            Backend("reference", True, "the formulas as written, for reading and tests")]


def _triton_here() -> Backend:
    if missing_triton():
        return Backend("triton", False, missing_triton())
    if interpreting():
        return Backend("triton", broken_triton() is None, broken_triton() or "Triton's interpreter: CPU tensors, tiny inputs")
    if not torch.cuda.is_available():
        return Backend("triton", False, "no CUDA device; kernels.interpret() runs tiny inputs, and kernels can be compiled and read")
    if broken_triton():
        return Backend("triton", False, broken_triton())
    name = torch.cuda.get_device_name(0)
    if torch.version.hip is not None:
        return Backend("triton", True, f"{name} (AMD: kernels compile for it, the course never ran them there)")
    old = f"; older than sm_{OLDEST}, so kernels with matrix products give way to the cpu backend" if _capability(0) < OLDEST else ""
    return Backend("triton", True, f"{name}, sm_{_capability(0)}{old}")


@dataclass(frozen=True)
class Operation:
    """One folder under ``kernels``.

    Parameters: name, of folder and function; kernel, whether it has a Triton kernel; dot, whether that kernel multiplies matrices and so needs
    sm_80; without, why it has none, in words; processor, what its ``cpu.py`` is made of, for captions.
    """

    name: str
    kernel: bool = True
    dot: bool = False
    without: str = ""
    processor: str = "blocked torch"

    def module(self, backend: str) -> ModuleType:
        """The module that implements one backend; Triton is imported only here."""
        return importlib.import_module(f"{__package__}.{self.name}.{_MODULE[backend]}")

    def obstacle(self, x: Tensor) -> str | None:
        """Why the Triton kernel cannot take x, or None when it can. Cheap; also what explains a choice in a caption."""
        if not self.kernel:
            return f"no Triton kernel: {self.without}"
        if x.dtype == torch.float64:
            return "the kernels compute in float32 and x is float64"
        if missing_triton():
            return missing_triton()
        if interpreting():
            return broken_triton() if x.device.type == "cpu" else "Triton's interpreter is on and takes CPU tensors only"
        if not torch.cuda.is_available():
            return "no CUDA device (kernels.interpret() runs tiny inputs in Triton's interpreter)"
        if not x.is_cuda:
            return f"x lies on {x.device.type}, not on the GPU (move it: x.cuda())"
        if self.dot and torch.version.hip is None and _capability(x.device.index or 0) < OLDEST:
            return f"sm_{_capability(x.device.index or 0)} is older than sm_{OLDEST}, where Triton's tl.dot uses tensor cores"
        return broken_triton()

    def choose(self, x: Tensor, backend: str | None, *, limit: str | None = None, no_gain: str | None = None) -> tuple[str, str]:
        """The backend for x, and the reason in words.

        Parameters: x, the tensor that decides; backend, the caller's wish or None; limit, an obstacle that only this call has (too large a k, say);
        no_gain, why the kernel could run here but would not be faster: then it runs only when it is asked for by name.
        Raises BackendUnavailable when a backend is named that cannot run, with cause and remedy; ValueError for an unknown name.
        """
        name, where = _asked(backend)
        if name is not None and name != "triton":
            return name, f"asked for by {where}"
        obstacle = self.obstacle(x) or limit
        if name == "triton" and (self.kernel or where == "backend="):
            if obstacle:
                raise BackendUnavailable(f"{self.name}: {where}{'' if where.endswith('=') else '='}'triton' cannot run here: {obstacle}. "
                                         f"Without {where.rstrip('=')} the fastest one that can run is taken")
            return name, f"asked for by {where}"
        if obstacle is None and x.is_cuda:
            return ("cpu", no_gain) if no_gain else ("triton", "CUDA tensor")
        if obstacle and self.kernel and x.device.type not in ("cpu", "meta"):
            _notice(self.name, obstacle, self.processor)
        return "cpu", obstacle or "CPU tensor"

    def run(self, function: str, *args: Any, backend: str | None = None, limit: str | None = None, no_gain: str | None = None, **options: Any) -> Any:
        """Call ``function`` of the chosen implementation and record what ran. The first argument is the tensor that decides.

        ``torch.autocast`` does not reach inside: an implementation chooses its types itself, and a product rounded behind its back breaks its bounds.
        """
        name, reason = self.choose(args[0], backend, limit=limit, no_gain=no_gain)
        if name == "reference":                 # a formula for reading should not have to know how its numbers lie
            args = tuple(arg.contiguous() if isinstance(arg, Tensor) else arg for arg in args)
        work = getattr(self.module(name), function)
        with recorded(self.name, name, reason, args[0], processor=self.processor) as record, _own_precision(args[0].device.type):
            return record.done(work(*args, **options))
