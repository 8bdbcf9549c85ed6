"""Compiles the Triton kernels without a GPU and reads what the machine code needs.

Triton's wheel brings the assembler, so registers, shared memory, spills and instructions of a
kernel are known on any Linux machine, before it ever runs. ``python -m lessons_lib.kernels.aot``
does it in a process of its own (the interpreter's switch must be off) and prints JSON; `cards`
starts that process. The stored table is ``resources.json``. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core import BackendUnavailable, cache_folder, check_choice
from .dispatch import missing_triton

__all__ = ["ARCHITECTURES", "SHARED_LIMIT", "Card", "cards", "stored_cards"]

ARCHITECTURES = (80, 90)
# bytes a block may use; warps and blocks that a multiprocessor holds at most
SHARED_LIMIT = {75: 64 << 10, 80: 163 << 10, 86: 99 << 10, 89: 99 << 10, 90: 227 << 10}
RESIDENT = {75: (32, 16), 80: (64, 32), 86: (48, 16), 89: (48, 24), 90: (64, 32)}
# of a multiprocessor; of a warp; bytes the driver keeps for each block
REGISTERS, THREADS, RESERVED = 65_536, 32, 1 << 10
RESOURCES = Path(__file__).with_name("resources.json")


@dataclass(frozen=True)
class Card:
    """What one compiled kernel needs.

    ``registers`` per thread, ``spill_bytes`` per thread (numbers that did not fit into registers),
    ``shared_bytes`` per block; ``instructions``: how many of each kind are in the code;
    ``expects``: the kinds that have to be there; ``constants``: arguments that are part of the code
    and no block sizes; ``ptx``: the code itself (empty in the stored table).
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
    expects: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    @property
    def case(self) -> tuple[Any, ...]:
        """What tells this card from all others."""
        constants = tuple(sorted(self.constants.items()))
        return self.operation, self.kernel, constants, self.dtype, self.arch

    @property
    def blocks_per_multiprocessor(self) -> int:
        """How many fit by registers, shared memory, warps and blocks; 0 when not even one does."""
        warps, blocks = RESIDENT[self.arch]
        granted = -(-max(1, self.registers) // 8) * 8       # registers are handed out in eights
        by_registers = REGISTERS // (granted * THREADS * self.num_warps)
        by_memory = (SHARED_LIMIT[self.arch] + RESERVED) // (self.shared_bytes + RESERVED)
        return min(by_registers, by_memory, warps // self.num_warps, blocks)

    def faults(self) -> list[str]:
        """What is wrong with the compiled kernel, in words; empty when it can run as meant."""
        faults = []
        if self.spill_bytes:
            faults.append(f"{self.spill_bytes} bytes per thread do not fit into registers")
        if self.shared_bytes > SHARED_LIMIT[self.arch]:
            faults.append(f"{self.shared_bytes} bytes of shared memory, a block may use "
                          f"{SHARED_LIMIT[self.arch]}")
        if self.blocks_per_multiprocessor < 1:
            faults.append("not even one block fits on a multiprocessor")
        return faults + [f"no {kind} instruction" for kind in self.expects
                         if not self.instructions[kind]]

    def line(self) -> str:
        """One line for people."""
        sizes = f"blocks {' x '.join(str(v) for v in self.sizes.values())}, " if self.sizes else ""
        fixed = "".join(f" {name}={value}" for name, value in self.constants.items()
                        if type(value) is int)
        return (f"{self.kernel}{fixed} {self.dtype} sm_{self.arch}: {sizes}{self.num_warps} warps, "
                f"{self.registers} registers, {self.spill_bytes} B spilled, "
                f"{self.shared_bytes / 1024:.0f} KB shared, "
                f"{self.blocks_per_multiprocessor} blocks per multiprocessor")


def operations_with_kernels() -> list[str]:
    """Names of the folders that hold a ``gpu.py``."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/gpu.py"))


def stored_cards() -> list[Card]:
    """The committed table, made with the Triton version that the course pins."""
    return [Card(**entry) for entry in json.loads(RESOURCES.read_text("utf-8"))["cards"]]


def cards(*, operations: list[str] | None = None, architectures: tuple[int, ...] = ARCHITECTURES,
          sizes: dict[str, Any] | None = None, odd: tuple[str, ...] = (),
          dtypes: tuple[str, ...] = ()) -> list[Card]:
    """Compile the kernels of some operations (default: all) in a fresh process.

    ``architectures``: such as 80 (A100) and 90 (H100, H200); ``sizes``: block sizes, ``num_warps``
    or ``num_stages`` that replace those of the table; ``odd``: integer arguments (a stride, a
    width) to compile as if they were no multiples of 16; ``dtypes``: some types alone
    ("bfloat16"). Returns one `Card` per kernel, type and architecture, with PTX. Raises
    BackendUnavailable without Triton, ValueError for an unknown operation or architecture,
    RuntimeError when a kernel does not compile.
    """
    if missing_triton():
        raise BackendUnavailable(f"{missing_triton()}; stored_cards() holds the committed table")
    known = operations_with_kernels()
    names = [check_choice("operations", name, known) for name in operations or known]
    for arch in architectures:
        check_choice("architectures", str(arch), map(str, SHARED_LIMIT))
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(cache_folder() / "triton"),
                    "TRITON_DEFAULT_FP_FUSION": "1"}
    command = [sys.executable, "-m", f"{__package__}.aot", *names, "--arch",
               *map(str, architectures), "--sizes", json.dumps(sizes or {}), "--odd", *odd,
               "--dtypes", *dtypes]
    done = subprocess.run(command, capture_output=True, text=True, env=environment,
                          cwd=Path(__file__).parents[2])
    if done.returncode != 0:
        raise RuntimeError(f"the kernels of {', '.join(names)} did not compile:\n"
                           f"{done.stderr[-3000:]}")
    return [Card(**entry) for entry in json.loads(done.stdout.splitlines()[-1])]


def _compiled(case: Any, arch: int, replaced: dict[str, Any],
              odd: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """Triton's compiled kernel of one case, and the launch it was compiled for."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from .configs import entry

    blocks = entry(case.name, arch, case.dtype)
    options = {"num_warps": case.num_warps or blocks.num_warps, "num_stages": blocks.num_stages}
    options |= {k: v for k, v in replaced.items() if k in options}
    sizes = blocks.sizes | {k: v for k, v in replaced.items() if k in blocks.sizes}
    constants = case.constants | sizes
    names = [parameter.name for parameter in case.kernel.params]
    signature = {name: "constexpr" if name in constants else case.types[name] for name in names}
    divisible = set(case.divisible) - set(odd)
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names)
               if signature[name].startswith("*") or name in divisible}
    source = ASTSource(case.kernel, signature=signature, constexprs=constants, attrs=aligned)
    compiled = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
    return compiled, {"sizes": sizes, **options}


def _resources(binary: bytes) -> tuple[int, int]:
    """Registers and spilled bytes per thread, read by NVIDIA's tool inside Triton's wheel."""
    import triton

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        text = subprocess.run([str(tool), "--dump-resource-usage", file.name], capture_output=True,
                              text=True, check=True).stdout
    registers, stack = map(int, re.search(r"REG:(\d+) STACK:(\d+)", text).groups())
    return registers, stack


def _card(operation: str, case: Any, arch: int, replaced: dict[str, Any],
          odd: Sequence[str] = ()) -> Card:
    from .configs import EXPECTATIONS

    kernel, launch = _compiled(case, arch, replaced, odd)
    registers, spilled = _resources(kernel.asm["cubin"])
    counted = {}
    for kind, patterns in EXPECTATIONS.items():
        fitting = [oldest for oldest in patterns if oldest <= arch]
        counted[kind] = len(re.findall(patterns[max(fitting)], kernel.asm["ptx"])) if fitting else 0
    expects = [kind for kind in case.expects if min(EXPECTATIONS[kind]) <= arch]
    return Card(operation, case.name, arch, case.dtype, **launch, registers=registers,
                spill_bytes=spilled, shared_bytes=kernel.metadata.shared, instructions=counted,
                ptx=kernel.asm["ptx"], expects=expects, constants=case.constants)


def _main() -> None:
    parser = argparse.ArgumentParser(description="Compile Triton kernels and say what they need.")
    parser.add_argument("operations", nargs="*")
    parser.add_argument("--arch", nargs="+", type=int, default=list(ARCHITECTURES))
    parser.add_argument("--sizes", default="{}", help="JSON that replaces block sizes")
    parser.add_argument("--odd", nargs="*", default=[], help="integers not to be multiples of 16")
    parser.add_argument("--dtypes", nargs="*", default=[], help="all when left out")
    parser.add_argument("--write", action="store_true", help="write resources.json")
    arguments = parser.parse_args()
    made = [_card(name, case, arch, json.loads(arguments.sizes), arguments.odd)
            for name in arguments.operations or operations_with_kernels()
            for case in importlib.import_module(f"{__package__}.{name}.gpu").COMPILE_CASES
            if not arguments.dtypes or case.dtype in arguments.dtypes for arch in arguments.arch]
    if arguments.write:
        from importlib import metadata

        from ..core import write_json

        write_json(RESOURCES, {"triton": metadata.version("triton"),
                               "cards": [asdict(card) | {"ptx": ""} for card in made]})
    sys.stdout.write(json.dumps([asdict(card) for card in made]) + "\n")


if __name__ == "__main__":
    _main()
