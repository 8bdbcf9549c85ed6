"""What this machine offers: processor, memory, accelerator and the versions that matter, as one
small record.

Torch is asked only when it is wanted: importing it takes seconds. Shown by ``lessons doctor``,
which lesson ``00_start_here`` names.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from .checks import check_choice
from .errors import BackendUnavailable

if TYPE_CHECKING:
    import torch

__all__ = ["DeviceReport", "available_cores", "device_report", "torch_device"]


@dataclass(frozen=True)
class DeviceReport:
    """One machine.

    Parameters
    ----------
    system, python : str
    cores : int, usable by this process
    memory_gb : float, in all, of 10^9 bytes
    accelerator : str, "none" without one
    versions : dict of str
    """

    system: str
    python: str
    cores: int
    memory_gb: float
    accelerator: str
    versions: dict[str, str]


def available_cores() -> int:
    """Processor cores this process may use; containers and hubs often grant fewer than there are.

    Returns
    -------
    int
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _accelerator() -> str:
    import torch

    if torch.cuda.is_available():
        return f"cuda: {torch.cuda.get_device_name(0)}"
    return "mps: Apple GPU" if torch.backends.mps.is_available() else "none"


def device_report(*, packages: tuple[str, ...] = (
        "torch", "numpy", "scipy", "scikit-learn", "gensim", "transformers")) -> DeviceReport:
    """Ask the machine, in about two seconds where Torch was not imported before.

    Parameters
    ----------
    packages : tuple of str
        Those whose versions are reported.

    Returns
    -------
    DeviceReport
    """
    import psutil

    versions = {}
    for name in packages:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "missing"
    system = f"{platform.system()} {platform.machine()}"
    return DeviceReport(system, ".".join(map(str, sys.version_info[:3])), available_cores(),
                        round(psutil.virtual_memory().total / 1e9, 1), _accelerator(), versions)


def torch_device(name: str) -> torch.device:
    """The device of a name.

    Parameters
    ----------
    name : "auto" (a GPU where there is one), "cpu" or "cuda"

    Returns
    -------
    torch.device

    Raises
    ------
    ValueError, BackendUnavailable
    """
    import torch

    check_choice("device", name, ("auto", "cpu", "cuda"))
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise BackendUnavailable("device='cuda' cannot be used: PyTorch finds no NVIDIA GPU here. "
                                 "Use device='cpu', or ask `lessons doctor`")
    return torch.device("cuda" if there and name != "cpu" else "cpu")
