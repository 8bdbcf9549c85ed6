"""Block shapes of the Triton kernels, by kernel, architecture and type (``configs.json``), and what
has to be known to compile them without a GPU.

A table instead of Triton's autotuner, which needs a GPU even to import: so kernels can be compiled
and tested anywhere, and the shape that made a figure is known. ``lessons bench`` on a GPU says
which entries its measurements justify. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .dispatch import interpreting
from .inputs import type_name
from .tracing import Scope

__all__ = ["EXPECTATIONS", "FLOATS", "Blocks", "CompileCase", "blocks_for", "entry", "other_blocks",
           "table", "types_of"]

INTERPRETER = 0         # the "architecture" of small tiles, so that few numbers fill several
FLOATS = {"float32": "*fp32", "bfloat16": "*bf16"}
# kind of instruction -> {oldest architecture: pattern in the PTX}; the newest that applies counts
EXPECTATIONS = {
    "tensor_core": {80: r"\bmma\.sync", 90: r"wgmma\.mma_async"},
    "wide_load": {80: r"ld\.global[^\n]*v4\.b32|cp\.async\.c[ag]\.shared\.global[^\n]*0x10"},
    "atomic": {80: r"\b(?:red|atom)\.global[^\n]*\.add[^\n]*f32"},
    "vector_atomic": {90: r"\b(?:red|atom)\.global[^\n]*\.add[^\n]*\.v[24]\.f32"}}


@dataclass(frozen=True)
class Blocks:
    """How one kernel is launched: ``sizes`` are its constexpr arguments, the rest Triton's own."""

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
    """The entry of the newest architecture not newer than ``arch``, its own type before any ("*").

    A GPU older than all entries gets the oldest one: only kernels without tl.dot are started there.
    Raises KeyError when the table has none, which is a fault of the table.
    """
    known = [e for e in table() if e.kernel == kernel and e.dtype in (dtype, "*")
             and (e.arch == INTERPRETER) == (arch == INTERPRETER)]
    if not known:
        raise KeyError(f"configs.json has no entry for {kernel} on sm_{arch} in {dtype}")
    oldest = min(e.arch for e in known)
    return max((e for e in known if e.arch <= max(arch, oldest)),
               key=lambda e: (e.arch, e.dtype != "*"))


_change: Scope[Callable[[Blocks], Blocks]] = Scope("lessons_blocks")


@contextlib.contextmanager
def other_blocks(change: Callable[[Blocks], Blocks]) -> Iterator[None]:
    """Launch with ``change(entry of the table)`` inside the ``with`` block: to try sizes out, or to
    see which entries are used."""
    with _change.holding(change):
        yield


def blocks_for(kernel: str, x: Tensor) -> Blocks:
    """The launch of ``kernel`` for the device and type of x."""
    arch = INTERPRETER
    if not interpreting():
        major, minor = torch.cuda.get_device_capability(x.device)
        arch = 10 * major + minor
    blocks, change = entry(kernel, arch, type_name(x.dtype)), _change.get()
    return change(blocks) if change else blocks


def types_of(names: dict[str, str], **more: str) -> dict[str, str]:
    """Argument name -> type from {type: "name name …"}, and the arguments in ``more``."""
    return {name: kind for kind, text in names.items() for name in text.split()} | more


@dataclass(frozen=True)
class CompileCase:
    """One kernel in one type.

    ``kernel``: the ``@triton.jit`` function; ``dtype``: the key into ``configs.json``; ``types``:
    argument name -> Triton type ("*bf16", "i32", "fp32"); ``constants``: constexpr arguments that
    are no block sizes; ``divisible``: integer arguments that are multiples of 16 at run time
    (strides); ``expects``: kinds of `EXPECTATIONS` that the code must use; ``num_warps``: where
    the launcher chooses them by the constants (0: the table does).
    """

    kernel: Any
    dtype: str
    types: dict[str, str]
    constants: dict[str, Any] = field(default_factory=dict)
    divisible: tuple[str, ...] = ()
    expects: tuple[str, ...] = ()
    num_warps: int = 0

    @property
    def name(self) -> str:
        """Name of the kernel, which is also its key in ``configs.json``."""
        return self.kernel.fn.__name__
