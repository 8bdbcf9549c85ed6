"""Triton's interpreter: runs a kernel as NumPy, program by program, on a machine without a GPU.

It shows what a kernel computes, not how fast. Triton decides when it is imported, so the switch has to come first. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import os
import sys

from ..core import BackendUnavailable

__all__ = ["interpret", "interpreting"]


def interpreting() -> bool:
    """Whether kernels loaded in this process run in the interpreter."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def interpret() -> None:
    """Let ``backend="triton"`` run in Triton's interpreter from now on: CPU tensors, tiny inputs, about 1 ms per program and 0.2 ms per operation.

    Raises BackendUnavailable where Triton is missing, or where it was imported before and kernels are compiled already.
    """
    if interpreting():
        return
    if "triton.language" in sys.modules:
        raise BackendUnavailable("Triton is loaded already and compiles its kernels; call kernels.interpret() first, in a fresh Python")
    os.environ["TRITON_INTERPRET"] = "1"
    try:
        import triton.language  # noqa: F401  Triton reads the switch at its import
    except ImportError:
        del os.environ["TRITON_INTERPRET"]
        raise BackendUnavailable("Triton is not installed (it has wheels for Linux only: pip install triton); the formula and the CPU path need none"
                                 ) from None
