"""Which implementation runs: the readable formula, the fast processor path, or the Triton kernel.

A choice made by name (argument, then `use_backend`, then the variable ``LESSONS_BACKEND``) is kept
or refused, never replaced. Without one the device of the tensor decides, and a GPU that must do
without its kernel is told once per process and cause. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..core import BackendUnavailable, check_choice, shown
from .tracing import Scope, recorded

__all__ = ["BACKENDS", "OLDEST", "Operation", "backend_name", "broken_triton", "capability",
           "interpreting", "missing_triton", "use_backend"]

BACKENDS = ("triton", "cpu", "reference")
OLDEST = 80                 # below sm_80 tl.dot uses no tensor core and spills
_MODULE = {"triton": "gpu", "cpu": "cpu", "reference": "reference"}
_preferred: Scope[str] = Scope("lessons_backend")
_told: set[str] = set()
_telling = threading.Lock()


@functools.cache
def missing_triton() -> str | None:
    """Why Triton cannot be imported here, with the remedy, or None. Does not load it."""
    try:
        installed = importlib.util.find_spec("triton") is not None
    except (ImportError, ValueError):           # something in between refuses it
        installed = False
    return None if installed else ("Triton is not installed (it has wheels for Linux only: "
                                   "pip install triton)")


@functools.cache
def broken_triton() -> str | None:
    """Why an installed Triton cannot be loaded (another system's libraries), or None. Loads it."""
    try:
        importlib.import_module("triton.language")
    except Exception as error:                  # whatever its libraries raise
        return ("Triton is installed but cannot be loaded "
                f"({type(error).__name__}: {shown(str(error))})")
    return None


def interpreting() -> bool:
    """Whether kernels run in Triton's interpreter in this process.

    Triton decides when it is imported; before that the variable ``TRITON_INTERPRET`` says what it
    would decide.

    Returns
    -------
    bool
    """
    # itself a kernel function, made at Triton's import
    decided = getattr(sys.modules.get("triton.language.standard"), "sum", None)
    if decided is not None:
        return type(decided).__name__ == "InterpretedFunction"
    return os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "on")


@functools.cache
def capability(index: int) -> int:
    """The architecture of a GPU: 90 for sm_90."""
    major, minor = torch.cuda.get_device_capability(index)
    return 10 * major + minor


@contextlib.contextmanager
def use_backend(name: str) -> Iterator[None]:
    """Run the kernels inside the ``with`` block by one backend.

    A call that names its own ``backend`` keeps it. The innermost block holds; threads without a
    block of their own (torch's backward threads) follow the one opened last. An operation that
    has no Triton kernel on purpose runs its algebra under "triton" too.

    Parameters
    ----------
    name : {"triton", "cpu", "reference"}

    Returns
    -------
    context manager

    Raises
    ------
    ValueError
        Unknown name.
    """
    with _preferred.holding(check_choice("backend", name, BACKENDS)):
        yield


def backend_name(backend: str | None) -> str:
    """The ``backend`` argument as registered operations take it: "" for None, else checked."""
    return "" if backend is None else check_choice("backend", backend, BACKENDS)


def _asked(backend: str | None) -> tuple[str | None, str]:
    """The backend somebody named, and where they named it."""
    from_outside = os.environ.get("LESSONS_BACKEND") or None
    for name, where in ((backend, "backend="), (_preferred.get(), "use_backend"),
                        (from_outside, "LESSONS_BACKEND")):
        if name is not None:
            return check_choice(where.rstrip("="), name, BACKENDS), where
    return None, ""


def _notice(operation: str, cause: str, instead: str) -> None:
    """Tell once per process and cause: the cause is the machine, and it does not change."""
    with _telling:
        if cause in _told:
            return
        _told.add(cause)
    if os.environ.get("LESSONS_QUIET") != "1":
        logging.getLogger("lessons_lib").warning(
            "%s: %s; using %s on the same device (same result, more time or memory), here and "
            "wherever this holds. Silence: LESSONS_QUIET=1", operation, cause, instead)


@dataclass(frozen=True)
class Operation:
    """One operation of this room, whose implementations have one signature.

    With a Triton kernel, or with much to read, it is a folder with ``reference.py``, ``cpu.py``
    and ``gpu.py``. One in plain torch (``plain``) is a file whose functions begin with
    ``reference_`` and ``cpu_``. ``dot``: its kernel multiplies matrices and so needs sm_80.
    ``without``: why it has no kernel. ``processor``: what its cpu path is made of, for captions.
    """

    name: str
    kernel: bool = True
    dot: bool = False
    without: str = ""
    processor: str = "blocked torch"
    plain: bool = False

    def implementation(self, backend: str, function: str) -> Callable[..., Any]:
        """One function of one backend; Triton is imported only here."""
        if self.plain:
            module = importlib.import_module(f"{__package__}.{self.name}")
            return getattr(module, f"{backend}_{function}")
        module = importlib.import_module(f"{__package__}.{self.name}.{_MODULE[backend]}")
        return getattr(module, function)

    def obstacle(self, x: Tensor) -> str | None:
        """Why the Triton kernel cannot take x, or None when it can. Cheap."""
        if not self.kernel:
            return f"no Triton kernel: {self.without}"
        if x.dtype == torch.float64:
            return "the kernels compute in float32 and x is float64"
        if missing_triton():
            return missing_triton()
        if interpreting():
            return (broken_triton() if x.device.type == "cpu"
                    else "Triton's interpreter is on and takes CPU tensors only")
        if not torch.cuda.is_available():
            return "no CUDA device (kernels.interpret() runs tiny inputs in Triton's interpreter)"
        if not x.is_cuda:
            return f"x lies on {x.device.type}, not on the GPU (move it: x.cuda())"
        arch = capability(x.device.index or 0) if torch.version.hip is None else OLDEST
        if self.dot and arch < OLDEST:
            return f"sm_{arch} is older than sm_{OLDEST}, where Triton's tl.dot uses tensor cores"
        return broken_triton()

    def choose(self, x: Tensor, backend: str | None, *, limit: str | None = None,
               no_gain: str | None = None) -> tuple[str, str]:
        """The backend for x, and the reason in words.

        ``limit`` is an obstacle that only this call has; ``no_gain`` says why the kernel would not
        be faster, so that it runs only when asked for by name. Raises BackendUnavailable (a named
        backend that cannot run), ValueError (unknown name).
        """
        name, where = _asked(backend)
        if name is not None and name != "triton":
            return name, f"asked for by {where}"
        obstacle = self.obstacle(x) or limit
        if name == "triton" and (self.kernel or where == "backend="):
            if obstacle:
                given = where.rstrip("=")
                raise BackendUnavailable(
                    f"{self.name}: {given}='triton' cannot run here: {obstacle}. "
                    f"Without {given} the fastest one that can run is taken")
            return name, f"asked for by {where}"
        if obstacle is None and x.is_cuda:
            return ("cpu", no_gain) if no_gain else ("triton", "CUDA tensor")
        if obstacle and self.kernel and x.device.type not in ("cpu", "meta"):
            _notice(self.name, obstacle, self.processor)
        return "cpu", obstacle or "CPU tensor"

    def run(self, function: str, *args: Any, backend: str | None = None, limit: str | None = None,
            no_gain: str | None = None, **options: Any) -> Any:
        """Call ``function`` of the implementation that the first argument decides, and record it.

        ``torch.autocast`` does not reach inside: an implementation chooses its types itself, and a
        product rounded behind its back breaks its bounds.
        """
        x, (name, reason) = args[0], self.choose(args[0], backend, limit=limit, no_gain=no_gain)
        kind = device = x.device.type
        if name == "reference":     # a formula for reading need not know how its numbers lie
            args = tuple(arg.contiguous() if isinstance(arg, Tensor) else arg for arg in args)
        if name == "triton":
            nvidia = x.is_cuda and torch.version.hip is None
            device = f"sm_{capability(x.device.index or 0)}" if nvidia else kind
            device = "interpreter" if kind == "cpu" else device
        autocast = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
        exact = torch.autocast(kind, enabled=False) if autocast else contextlib.nullcontext()
        work = self.implementation(name, function)
        with recorded(self.name, name, reason, x, device=device, processor=self.processor), exact:
            return work(*args, **options)
