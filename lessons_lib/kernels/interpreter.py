"""What this machine can do with kernels, and Triton's interpreter, which runs them without a GPU.

The interpreter runs a kernel as NumPy, program by program: it shows what a kernel computes, not
how fast. Triton decides when it is imported, so the switch has to come first. Taught in
``15_gpu_kernels``.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import torch

from ..core import BackendUnavailable
from .dispatch import OLDEST, broken_triton, capability, interpreting, missing_triton

__all__ = ["Backend", "backends", "broken_triton", "interpret", "interpreting", "missing_triton"]


def interpret() -> None:
    """Let ``backend="triton"`` run in Triton's interpreter from now on.

    It takes CPU tensors and tiny inputs: about 1 ms per program and 0.2 ms per operation.

    Raises
    ------
    BackendUnavailable
        Triton is missing, or was imported before and compiles its kernels already.
    """
    if missing_triton():
        raise BackendUnavailable(f"{missing_triton()}; the formula and the CPU path need none")
    if "triton.language" in sys.modules and not interpreting():
        raise BackendUnavailable(
            "Triton is loaded already (torch does so for the first gradient) and compiles its "
            "kernels; call kernels.interpret() first, in a fresh Python")
    os.environ["TRITON_INTERPRET"] = "1"        # read by Triton at its import, which comes next
    if broken_triton():
        del os.environ["TRITON_INTERPRET"]
        raise BackendUnavailable(broken_triton())


@dataclass(frozen=True)
class Backend:
    """One backend on this machine.

    Parameters
    ----------
    name : {"triton", "cpu", "reference"}
    available : bool
        Whether ``backend=name`` can run.
    reason : str
        With what it runs, or why it cannot.
    """

    name: str
    available: bool
    reason: str


def backends() -> list[Backend]:
    """What this machine can do with each backend; shown by ``lessons doctor``.

    Returns
    -------
    list of Backend
    """
    return [Backend("triton", *_triton_here()),
            Backend("cpu", True, "blocked torch and compiled loops, on any device of torch"),
            Backend("reference", True, "the formulas as written, for reading and tests")]


def _triton_here() -> tuple[bool, str]:
    if missing_triton():
        return False, missing_triton()
    if interpreting():
        return (broken_triton() is None,
                broken_triton() or "Triton's interpreter: CPU tensors, tiny inputs")
    if not torch.cuda.is_available():
        return False, ("no CUDA device; kernels.interpret() runs tiny inputs, and kernels can be "
                       "compiled and read")
    if broken_triton():
        return False, broken_triton()
    name = torch.cuda.get_device_name(0)
    if torch.version.hip is not None:
        return True, f"{name} (AMD: kernels compile for it, the course never ran them there)"
    old = (f"; older than sm_{OLDEST}, so kernels with matrix products give way to the cpu backend"
           if capability(0) < OLDEST else "")
    return True, f"{name}, sm_{capability(0)}{old}"
