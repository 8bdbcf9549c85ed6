"""Triton's interpreter: runs a kernel as NumPy, program by program, on a machine without a GPU.

It shows what a kernel computes, not how fast. Triton decides when it is imported, so the switch has to come first. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys

from ..core import BackendUnavailable, shown

__all__ = ["broken_triton", "interpret", "interpreting", "missing_triton"]


@functools.cache
def missing_triton() -> str | None:
    """Why Triton cannot be imported here, with the remedy; None where it is installed. Looks for it, and does not load it."""
    try:
        found = importlib.util.find_spec("triton") is not None
    except (ImportError, ValueError):           # something in between refuses it
        found = False
    return None if found else "Triton is not installed (it has wheels for Linux only: pip install triton)"


@functools.cache
def broken_triton() -> str | None:
    """Why an installed Triton cannot be loaded (another system's libraries, say), or None. Loads it."""
    try:
        importlib.import_module("triton.language")
    except Exception as error:                  # whatever its libraries raise: the course goes on without kernels
        return f"Triton is installed but cannot be loaded ({type(error).__name__}: {shown(str(error))})"
    return None


def interpreting() -> bool:
    """Whether kernels run in the interpreter in this process: what Triton decided at its import, or would decide now."""
    decided = getattr(sys.modules.get("triton.language.standard"), "sum", None)      # itself a kernel function, made at Triton's import
    if decided is not None:
        return type(decided).__name__ == "InterpretedFunction"
    return os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "on")


def interpret() -> None:
    """Let ``backend="triton"`` run in Triton's interpreter from now on: CPU tensors, tiny inputs, about 1 ms per program and 0.2 ms per operation.

    Raises BackendUnavailable where Triton is missing, or where it was imported before and kernels are compiled already.
    """
    if missing_triton():
        raise BackendUnavailable(f"{missing_triton()}; the formula and the CPU path need none")
    if "triton.language" in sys.modules and not interpreting():
        raise BackendUnavailable("Triton is loaded already (torch does so for the first gradient) and compiles its kernels; "
                                 "call kernels.interpret() first, in a fresh Python")
    os.environ["TRITON_INTERPRET"] = "1"        # read by Triton while it is imported, which comes next
    if broken_triton():
        del os.environ["TRITON_INTERPRET"]
        raise BackendUnavailable(broken_triton())
