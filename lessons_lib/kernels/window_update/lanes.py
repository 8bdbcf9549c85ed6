"""A small vector language for compiled loops: rows of float32, as many lanes as the processor has, written through LLVM.

Sixteen running sums are folded together into the lanes of one vector (half the shuffles of folding each alone), where the logistic function takes
all of them in one go. The code is LLVM's portable vector language, so any processor runs it. Used by the kernels of lessons ``04_word2vec`` and
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["LANES", "REGISTERS", "VECTOR", "Code", "constant", "operation", "order"]

_FEATURES = llvm.get_host_cpu_features()
LANES = 16 if _FEATURES.get("avx512f") else 8 if _FEATURES.get("avx") else 4
REGISTERS = 32 if _FEATURES.get("avx512f") or _FEATURES.get("neon") else 16
STEEPEST = 80.0                                 # |x| beyond which exp(x) would leave float32

_I32, _I64, _F32 = ir.IntType(32), ir.IntType(64), ir.FloatType()
VECTOR, _WHOLE = ir.VectorType(_F32, LANES), ir.VectorType(_I32, LANES)


def constant(x: float) -> Any:
    """A vector of the same number."""
    return ir.Constant(VECTOR, [x] * LANES)


def order(lanes: list[int]) -> Any:
    """Which lanes a shuffle takes."""
    return ir.Constant(ir.VectorType(_I32, len(lanes)), lanes)


def operation(*kinds: Any) -> Callable[[Callable], Any]:
    """Make a function of compiled loops from one that writes it: ``write(code, *arguments)``; whole numbers where ``kinds`` are not given."""
    def made(write: Callable) -> Any:
        @functools.wraps(write)
        def typed(typing: Any, *arguments: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                write(Code(builder), *values)
                return context.get_dummy_value()

            return types.void(*(kinds or (types.int64,) * len(arguments))), generate

        return intrinsic(typed)

    return made


class Code:
    """The vector operations that a window is made of, written at the builder's place."""

    def __init__(self, builder: Any) -> None:
        self.b = builder

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call one of LLVM's own functions."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self.b.call(cgutils.get_or_insert_function(self.b.module, kind, name), list(arguments))

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x y + z, in one rounding where the processor can."""
        return self.call(f"llvm.fmuladd.v{LANES}f32", VECTOR, x, y, z)

    def spread(self, number: Any) -> Any:
        """The same number in all lanes."""
        nothing = ir.Constant(VECTOR, ir.Undefined)
        return self.b.shuffle_vector(self.b.insert_element(nothing, number, _I32(0)), nothing, order([0] * LANES))

    def pointer(self, address: Any, kind: Any = _F32) -> Any:
        """A number as a pointer."""
        return self.b.inttoptr(address, kind.as_pointer())

    def number(self, row: Any, i: int) -> Any:
        """Float i of a row."""
        return self.b.load(self.b.gep(row, [_I64(i)]))

    def rows(self, addresses: Any, n: int) -> list[Any]:
        """The rows whose addresses lie one after the other."""
        table = self.pointer(addresses, _I64)
        return [self.pointer(self.b.load(self.b.gep(table, [_I64(i)]))) for i in range(n)]

    def load(self, row: Any, column: Any) -> Any:
        """The vector that begins at a column."""
        found = self.b.load(self.b.bitcast(self.b.gep(row, [column]), VECTOR.as_pointer()))
        found.align = 4
        return found

    def store(self, x: Any, row: Any, column: Any) -> None:
        """Put a vector where `load` would read it."""
        self.b.store(x, self.b.bitcast(self.b.gep(row, [column]), VECTOR.as_pointer())).align = 4

    def loop(self, end: Any, start: list[Any], body: Callable[[Any, list[Any]], list[Any]], step: int = LANES) -> list[Any]:
        """for i = 0, step, 2 step, … < end (at least once): ``body(i, carried)`` gives what the next turn is handed. Returns the last."""
        b = self.b
        before, turn, done = b.block, b.append_basic_block("turn"), b.append_basic_block("done")
        b.branch(turn)
        b.position_at_end(turn)
        i, carried = b.phi(_I64), [b.phi(x.type) for x in start]
        after = body(i, carried)
        then = b.add(i, _I64(step))
        for phi, first, later in zip((i, *carried), (_I64(0), *start), (then, *after), strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(later, b.block)
        b.cbranch(b.icmp_signed("<", then, end), turn, done)
        b.position_at_end(done)
        return after

    def lane_sums(self, vectors: list[Any]) -> Any:
        """The sum of the lanes of each of at most `LANES` vectors, in the first lanes of one.

        Two vectors become one that holds the half sums of both, and so on; a blend and one shuffle each time.
        """
        n, size = 1 << (len(vectors) - 1).bit_length(), LANES
        vectors = vectors + [constant(0.0)] * (n - len(vectors))
        while len(vectors) > 1:
            half = len(vectors) // 2
            vectors, size = [self._folded(x, y, size) for x, y in zip(vectors[:half], vectors[half:], strict=True)], size // 2
        found, spacing = vectors[0], size
        while size > 1:
            size //= 2
            found = self.b.fadd(found, self.b.shuffle_vector(found, found, order([i ^ size for i in range(LANES)])))
        return found if spacing == 1 else self.b.shuffle_vector(found, found, order([i * spacing % LANES for i in range(LANES)]))

    def _folded(self, x: Any, y: Any, size: int) -> Any:
        """Within each run of ``size`` lanes: the two halves of x added up, beside those of y."""
        upper = [bool(i & size // 2) for i in range(LANES)]
        there = self.b.shuffle_vector(x, y, order([i + LANES * up for i, up in enumerate(upper)]))
        return self.b.fadd(there, self.b.shuffle_vector(x, y, order([(i ^ size // 2) + LANES * up for i, up in enumerate(upper)])))

    def logistic(self, x: Any) -> Any:
        """1 / (1 + exp(-x)), relative error below 10^-6; exp as a power of two times a polynomial on half a unit to both sides."""
        b = self.b
        for sign, border in (("<", STEEPEST), (">", -STEEPEST)):
            x = b.select(b.fcmp_ordered(sign, x, constant(border)), x, constant(border))
        power = b.fmul(x, constant(-math.log2(math.e)))
        whole = self.call(f"llvm.rint.v{LANES}f32", VECTOR, power)
        rest, found = b.fsub(power, whole), constant(math.log(2.0) ** 6 / 720.0)
        for k in range(5, -1, -1):
            found = self.fma(found, rest, constant(math.log(2.0) ** k / math.factorial(k)))
        exponent = b.add(b.fptosi(whole, _WHOLE), ir.Constant(_WHOLE, [127] * LANES))
        scale = b.bitcast(b.shl(exponent, ir.Constant(_WHOLE, [23] * LANES)), VECTOR)
        return b.fdiv(constant(1.0), self.fma(found, scale, constant(1.0)))
