"""The one place where compiled loops are given vector instructions: rows of float32, as many lanes
as the processor has, and numbers at raw addresses.

A loop over columns that a compiler makes of plain code runs a third as fast: skip-gram written as
plain Numba loops was 3.6 times as fast as gensim with 100 columns and 2.4 times with 300, where
this code was 12.5 and 7.2 times. `Code` writes LLVM's portable vector language, so any processor
runs it. Arrays go by address: Numba hands an array on as seven numbers and counts its users at
every call, which is most of the time where a call does little; who calls keeps the arrays alive.
Taught in ``15_gpu_kernels``; used in ``03_topic_models`` to ``07_doc2vec``.
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

__all__ = [
    "LANES", "REGISTERS", "Code", "fetch", "get_f32", "get_i32", "get_i64", "operation",
    "put_f32", "put_i32", "put_i64",
]

_FEATURES = llvm.get_host_cpu_features()
LANES = 16 if _FEATURES.get("avx512f") else 8 if _FEATURES.get("avx") else 4
REGISTERS = 32 if _FEATURES.get("avx512f") or _FEATURES.get("neon") else 16
STEEPEST = 80.0  # |x| beyond which exp(x) would leave float32
_I8, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()


def operation(*kinds: Any, result: Any = types.void, fixed: int = 0) -> Callable[[Callable], Any]:
    """Make a function of compiled loops from one that writes it: ``write(code, *arguments)``.

    ``kinds``: Numba's types of the arguments, int64 where none are given; ``fixed``: so many
    arguments before them are of any type, and the writer gets their types instead of values, of
    which it may read a size. What the writer returns is a value of type ``result``.
    """

    def made(write: Callable) -> Any:
        @functools.wraps(write)
        def typed(typing: Any, *arguments: Any) -> Any:
            first = arguments[:fixed]

            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                value = write(Code(builder), *first, *values[fixed:])
                if result is types.void:
                    return context.get_dummy_value()
                tuples = isinstance(result, types.BaseTuple)
                return context.make_tuple(builder, result, value) if tuples else value

            return result(*first, *(kinds or (types.int64,) * len(arguments))), generate

        return intrinsic(typed)

    return made


class Code:
    """Vector operations, written at the builder's place; ``lanes`` float32 numbers to a vector."""

    def __init__(self, builder: Any, lanes: int = LANES) -> None:
        self.b, self.lanes = builder, lanes
        self.vector = ir.VectorType(_F32, lanes)

    def constant(self, x: float) -> Any:
        """A vector of the same number."""
        return ir.Constant(self.vector, [x] * self.lanes)

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call one of LLVM's own functions."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        function = cgutils.get_or_insert_function(self.b.module, kind, name)
        return self.b.call(function, list(arguments))

    def each(self, name: str, *vectors: Any) -> Any:
        """Call a function of LLVM's that takes vectors lane by lane."""
        return self.call(f"llvm.{name}.v{self.lanes}f32", self.vector, *vectors)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x y + z, in one rounding where the processor can."""
        return self.each("fmuladd", x, y, z)

    def spread(self, number: Any, lanes: int = 0) -> Any:
        """The same number, of any type, in all lanes."""
        nothing = ir.Constant(ir.VectorType(number.type, lanes or self.lanes), ir.Undefined)
        first = self.b.insert_element(nothing, number, _I32(0))
        return self.shuffled(first, nothing, [0] * (lanes or self.lanes))

    def shuffled(self, x: Any, y: Any, lanes: list[int]) -> Any:
        """Chosen lanes of two vectors, of which y's are counted behind those of x."""
        order = ir.Constant(ir.VectorType(_I32, len(lanes)), lanes)
        return self.b.shuffle_vector(x, y, order)

    # ------------------------------------------------------------------------------ memory

    def pointer(self, address: Any, kind: Any = _F32) -> Any:
        """A number as a pointer."""
        return self.b.inttoptr(address, kind.as_pointer())

    def number(self, row: Any, i: Any) -> Any:
        """Number i of an array."""
        return self.b.load(self.b.gep(row, [_I64(i) if isinstance(i, int) else i]))

    def rows(self, addresses: Any, n: int) -> list[Any]:
        """The rows whose addresses lie one after the other."""
        table = self.pointer(addresses, _I64)
        return [self.pointer(self.number(table, i)) for i in range(n)]

    def place(self, row: Any, column: Any, kind: Any) -> Any:
        """Where a column of a row lies, as a pointer to another kind."""
        column = _I64(column) if isinstance(column, int) else column
        return self.b.bitcast(self.b.gep(row, [column]), kind.as_pointer())

    def load(self, row: Any, column: Any, *, align: int = 4) -> Any:
        """The vector that begins at a column."""
        return self.b.load(self.place(row, column, self.vector), align=align)

    def store(self, x: Any, row: Any, column: Any, *, align: int = 4) -> None:
        """Put a vector where `load` would read it."""
        self.b.store(x, self.place(row, column, self.vector), align=align)

    def fetch(self, row: Any, column: Any, *, write: bool = False) -> None:
        """Ask for the 64 bytes around a column, which will be read (or written) soon."""
        place = self.place(row, column, _I8)
        self.call("llvm.prefetch.p0", ir.VoidType(), place, _I32(int(write)), _I32(3), _I32(1))

    # ------------------------------------------------------------------------------ loops

    def loop(
        self,
        end: Any,
        start: list[Any],
        body: Callable[[Any, list[Any]], list[Any] | None],
        step: int = 0,
    ) -> list[Any]:
        """for i = 0, step, 2 step, … < end (at least once): ``body(i, carried)`` gives what the
        next turn is handed. Returns the last; a step is a vector where none is given."""
        b = self.b
        before, turn, done = b.block, b.append_basic_block("turn"), b.append_basic_block("done")
        b.branch(turn)
        b.position_at_end(turn)
        i, carried = b.phi(_I64), [b.phi(x.type) for x in start]
        after = body(i, carried) or []
        then = b.add(i, _I64(step or self.lanes))
        for phi, first, later in zip(
            (i, *carried), (_I64(0), *start), (then, *after), strict=True
        ):
            phi.add_incoming(first, before)
            phi.add_incoming(later, b.block)
        b.cbranch(b.icmp_signed("<", then, end), turn, done)
        b.position_at_end(done)
        return after

    # ------------------------------------------------------------------------------ numbers

    def lane_sums(self, vectors: list[Any]) -> Any:
        """The sum of the lanes of each of at most ``lanes`` vectors, in the first lanes of one.

        Two vectors become one that holds the half sums of both, and so on: half the shuffles of
        folding each alone.
        """
        n, size, lanes = 1 << (len(vectors) - 1).bit_length(), self.lanes, range(self.lanes)
        vectors = vectors + [self.constant(0.0)] * (n - len(vectors))
        while len(vectors) > 1:  # within runs of ``size`` lanes: halves of x, beside those of y
            half, upper = len(vectors) // 2, [self.lanes * bool(i & size // 2) for i in lanes]
            one = [i + up for i, up in enumerate(upper)]
            other = [(i ^ size // 2) + up for i, up in enumerate(upper)]
            vectors = [
                self.b.fadd(self.shuffled(x, y, one), self.shuffled(x, y, other))
                for x, y in zip(vectors[:half], vectors[half:], strict=True)
            ]
            size //= 2
        total, spacing = vectors[0], size
        while size > 1:
            size //= 2
            total = self.b.fadd(total, self.shuffled(total, total, [i ^ size for i in lanes]))
        if spacing == 1:
            return total
        return self.shuffled(total, total, [i * spacing % self.lanes for i in lanes])

    def logistic(self, x: Any) -> Any:
        """1 / (1 + exp(-x)), relative error below 10^-6; exp as a power of two times a polynomial
        on half a unit to both sides."""
        b, whole = self.b, ir.VectorType(_I32, self.lanes)
        for sign, border in (("<", STEEPEST), (">", -STEEPEST)):
            edge = self.constant(border)
            x = b.select(b.fcmp_ordered(sign, x, edge), x, edge)
        power = b.fmul(x, self.constant(-math.log2(math.e)))
        rounded = self.each("rint", power)
        rest, exp = b.fsub(power, rounded), self.constant(math.log(2.0) ** 6 / 720.0)
        for k in range(5, -1, -1):
            exp = self.fma(exp, rest, self.constant(math.log(2.0) ** k / math.factorial(k)))
        exponent = b.add(b.fptosi(rounded, whole), ir.Constant(whole, [127] * self.lanes))
        scale = b.bitcast(b.shl(exponent, ir.Constant(whole, [23] * self.lanes)), self.vector)
        return b.fdiv(self.constant(1.0), self.fma(exp, scale, self.constant(1.0)))


# ------------------------------------------------------------------------------------ addresses


@operation()
def fetch(code: Code, address: Any) -> None:
    """Ask for the 64 bytes around an address, which will be read soon."""
    code.fetch(code.pointer(address), 0)


def _reader(kind: Any, shown: Any) -> Any:
    @operation(types.int64, types.int64, result=shown)
    def get(code: Code, address: Any, i: Any) -> Any:
        number = code.number(code.pointer(address, kind), i)
        return number if kind in (_F32, _I64) else code.b.sext(number, _I64)

    return get


def _writer(kind: Any, shown: Any) -> Any:
    @operation(types.int64, types.int64, shown)
    def put(code: Code, address: Any, i: Any, value: Any) -> None:
        number = value if kind in (_F32, _I64) else code.b.trunc(value, kind)
        code.b.store(number, code.b.gep(code.pointer(address, kind), [i]))

    return put


# get(address, i) is number i of an array that begins at the address, put(address, i, value) writes
# it; int32 is read and written as int64.
get_i32, put_i32 = _reader(_I32, types.int64), _writer(_I32, types.int64)
get_i64, put_i64 = _reader(_I64, types.int64), _writer(_I64, types.int64)
get_f32, put_f32 = _reader(_F32, types.float32), _writer(_F32, types.float32)
