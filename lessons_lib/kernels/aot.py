"""Compiles the Triton kernels without a GPU and reads what the machine code needs.

Triton's wheel brings the assembler, so registers, shared memory, spills and instructions of a kernel are known on any Linux machine, before it ever runs.
``python -m lessons_lib.kernels.aot`` does it in a process of its own (the interpreter's switch must be off) and prints JSON; `cards` starts that process.
The stored table is ``resources.json``. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..core import BackendUnavailable, cache_folder, check_choice

__all__ = ["ARCHITECTURES", "SHARED_LIMIT", "Card", "cards", "stored_cards"]

ARCHITECTURES = (80, 90)
SHARED_LIMIT = {75: 64 << 10, 80: 163 << 10, 86: 99 << 10, 89: 99 << 10, 90: 227 << 10}      # bytes a block may use
REGISTERS, WARPS, THREADS = 65_536, 64, 32                                                  # of one multiprocessor; threads of a warp
RESOURCES = Path(__file__).with_name("resources.json")


@dataclass(frozen=True)
class Card:
    """What one compiled kernel needs.

    ``registers`` per thread, ``spill_bytes`` per thread (numbers that did not fit into registers), ``shared_bytes`` per block; ``instructions``:
    how many of each kind are in the code; ``ptx``: the code itself (empty in the stored table).
    """

    operation: str
    kernel: str
    arch: int
    dtype: str
    sizes: dict[str, Any]
    num_warps: int
    num_stages: int
    registers: int
    spill_bytes: int
    shared_bytes: int
    instructions: dict[str, int]
    ptx: str = ""

    @property
    def blocks_per_multiprocessor(self) -> int:
        """How many blocks fit on one multiprocessor by registers, shared memory and warps; 0 when not even one does."""
        by_registers = REGISTERS // (max(1, self.registers) * THREADS * self.num_warps)
        by_memory = SHARED_LIMIT[self.arch] // self.shared_bytes if self.shared_bytes else WARPS
        return min(by_registers, by_memory, WARPS // self.num_warps)

    def line(self) -> str:
        """One line for people."""
        sizes = " x ".join(str(v) for v in self.sizes.values())
        return (f"{self.kernel} {self.dtype} sm_{self.arch}: blocks {sizes}, {self.num_warps} warps, {self.registers} registers, {self.spill_bytes} B spilled, "
                f"{self.shared_bytes / 1024:.0f} KB shared, {self.blocks_per_multiprocessor} blocks per multiprocessor")


def operations_with_kernels() -> list[str]:
    """Names of the folders that hold a ``gpu.py``."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/gpu.py"))


def stored_cards() -> list[Card]:
    """The committed table, made with the Triton version that the course pins."""
    return [Card(**entry) for entry in json.loads(RESOURCES.read_text("utf-8"))["cards"]]


def cards(*, operations: list[str] | None = None, architectures: tuple[int, ...] = ARCHITECTURES, sizes: dict[str, Any] | None = None) -> list[Card]:
    """Compile the kernels of some operations (default: all) in a fresh process.

    Parameters: architectures, such as 80 (A100) and 90 (H100, H200); sizes, block sizes, ``num_warps`` or ``num_stages`` that replace those of the table, to try things out.
    Returns one `Card` per kernel, type and architecture, with PTX. Raises BackendUnavailable without Triton, ValueError for an unknown operation,
    RuntimeError when a kernel does not compile.
    """
    if importlib.util.find_spec("triton") is None:
        raise BackendUnavailable("Triton is not installed (it has wheels for Linux only: pip install triton); stored_cards() holds the committed table")
    names = [check_choice("operations", name, operations_with_kernels()) for name in operations or operations_with_kernels()]
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(cache_folder() / "triton"), "TRITON_DEFAULT_FP_FUSION": "1"}
    command = [sys.executable, "-m", f"{__package__}.aot", *names, "--arch", *map(str, architectures), "--sizes", json.dumps(sizes or {})]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=Path(__file__).parents[2])
    if done.returncode != 0:
        raise RuntimeError(f"the kernels of {', '.join(names)} did not compile:\n{done.stderr[-3000:]}")
    return [Card(**entry) for entry in json.loads(done.stdout.splitlines()[-1])]


# ------------------------------------------------------------------------------------------------ inside the process that compiles


def _compiled(case: Any, arch: int, replaced: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Triton's compiled kernel of one case, and the launch it was compiled for."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from .configs import entry

    blocks = entry(case.name, arch, case.dtype)
    options = {"num_warps": blocks.num_warps, "num_stages": blocks.num_stages} | {k: replaced[k] for k in ("num_warps", "num_stages") if k in replaced}
    sizes = blocks.sizes | {k: v for k, v in replaced.items() if k in blocks.sizes}
    constants = case.constants | sizes
    names = [parameter.name for parameter in case.kernel.params]
    signature = {name: "constexpr" if name in constants else case.types[name] for name in names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names) if signature[name].startswith("*") or name in case.divisible}
    source = ASTSource(case.kernel, signature=signature, constexprs=constants, attrs=aligned)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options), {"sizes": sizes, **options}


def _resources(binary: bytes) -> tuple[int, int]:
    """Registers and spilled bytes per thread of a compiled kernel, read by NVIDIA's tool inside Triton's wheel."""
    import triton

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        text = subprocess.run([str(tool), "--dump-resource-usage", file.name], capture_output=True, text=True, check=True).stdout
    registers, stack = map(int, re.search(r"REG:(\d+) STACK:(\d+)", text).groups())
    return registers, stack


def _card(operation: str, case: Any, arch: int, replaced: dict[str, Any]) -> Card:
    from .compile_case import EXPECTATIONS

    kernel, launch = _compiled(case, arch, replaced)
    registers, spilled = _resources(kernel.asm["cubin"])
    counted = {}
    for kind, patterns in EXPECTATIONS.items():
        fitting = [oldest for oldest in patterns if oldest <= arch]
        counted[kind] = len(re.findall(patterns[max(fitting)], kernel.asm["ptx"])) if fitting else 0
    return Card(operation, case.name, arch, case.dtype, launch["sizes"], launch["num_warps"], launch["num_stages"], registers, spilled,
                kernel.metadata.shared, counted, kernel.asm["ptx"])


def _main() -> None:
    parser = argparse.ArgumentParser(description="Compile Triton kernels ahead of time and say what they need.")
    parser.add_argument("operations", nargs="*")
    parser.add_argument("--arch", nargs="+", type=int, default=list(ARCHITECTURES))
    parser.add_argument("--sizes", default="{}", help="JSON that replaces block sizes")
    parser.add_argument("--write", action="store_true", help="write resources.json")
    arguments = parser.parse_args()
    found = [_card(name, case, arch, json.loads(arguments.sizes)) for name in arguments.operations or operations_with_kernels()
             for case in importlib.import_module(f"{__package__}.{name}.gpu").COMPILE_CASES for arch in arguments.arch]
    if arguments.write:
        from importlib import metadata

        from ..core import write_json

        write_json(RESOURCES, {"triton": metadata.version("triton"), "cards": [asdict(card) | {"ptx": ""} for card in found]})
    sys.stdout.write(json.dumps([asdict(card) for card in found]) + "\n")


if __name__ == "__main__":
    _main()
