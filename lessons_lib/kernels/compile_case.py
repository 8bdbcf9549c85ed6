"""What has to be known to compile a kernel without a GPU, and what the machine code must hold.

Used by `aot` and by every ``gpu.py``. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["EXPECTATIONS", "FLOATS", "CompileCase", "types_of"]

FLOATS = {"float32": "*fp32", "bfloat16": "*bf16"}
# kind of instruction -> {oldest architecture: pattern in the PTX}; the newest that applies counts
EXPECTATIONS = {
    "tensor_core": {80: r"\bmma\.sync", 90: r"wgmma\.mma_async"},
    "wide_load": {80: r"ld\.global[^\n]*v4\.b32|cp\.async\.c[ag]\.shared\.global[^\n]*0x10"},
    "atomic": {80: r"\b(?:red|atom)\.global[^\n]*\.add[^\n]*f32"},
    "vector_atomic": {90: r"\b(?:red|atom)\.global[^\n]*\.add[^\n]*\.v[24]\.f32"},
}


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
