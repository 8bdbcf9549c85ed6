"""Block shapes of the Triton kernels: a ``configs.json`` beside each ``gpu.py``, by kernel, architecture and type.

A table instead of Triton's autotuner, which needs a GPU even to import: so kernels can be compiled and tested anywhere, and the shape that made a
figure is known. ``lessons bench`` on a GPU says which entries its measurements justify. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .interpreter import interpreting

__all__ = ["Blocks", "blocks_for", "table"]

INTERPRETER = 0                                 # the "architecture" whose tiles are small, so that few numbers fill several tiles


@dataclass(frozen=True)
class Blocks:
    """How one kernel is launched: ``sizes`` are its constexpr arguments; ``num_warps`` and ``num_stages`` as Triton means them."""

    kernel: str
    arch: int
    dtype: str
    sizes: dict[str, Any]
    num_warps: int
    num_stages: int
    note: str = ""

    def options(self) -> dict[str, Any]:
        """Keyword arguments of the launch."""
        return {**self.sizes, "num_warps": self.num_warps, "num_stages": self.num_stages}


@functools.cache
def table() -> tuple[Blocks, ...]:
    """All entries of all operations."""
    files = sorted(Path(__file__).parent.glob("*/configs.json"))
    return tuple(Blocks(**row) for path in files for row in json.loads(path.read_text("utf-8")))


def entry(kernel: str, arch: int, dtype: str) -> Blocks:
    """The entry of the newest architecture that is not newer than ``arch``; the type's own one before the one for any type ("*").

    Raises KeyError when the table has none, which is a fault of the table.
    """
    fitting = [e for e in table() if e.kernel == kernel and e.arch <= arch and (e.arch == INTERPRETER) == (arch == INTERPRETER) and e.dtype in (dtype, "*")]
    if not fitting:
        raise KeyError(f"configs.json has no entry for {kernel} on sm_{arch} in {dtype}")
    return max(fitting, key=lambda e: (e.arch, e.dtype != "*"))


def blocks_for(kernel: str, x: Tensor) -> Blocks:
    """The launch of ``kernel`` for the device and type of x."""
    dtype = str(x.dtype).removeprefix("torch.")
    if interpreting():
        return entry(kernel, INTERPRETER, dtype)
    major, minor = torch.cuda.get_device_capability(x.device)
    return entry(kernel, 10 * major + minor, dtype)
