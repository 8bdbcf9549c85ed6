"""The arithmetic of one window as vector instructions: all dot products of a tile at once, their gains, and what the gains move.

A tile is R input rows times K output rows; its R·K running sums stay in registers while the columns go by. Sixteen sums are then folded together into
the lanes of one vector (half the shuffles of folding each alone), where the logistic function takes all of them in one go. The code is LLVM's
portable vector language, written through Numba's ``intrinsic``; lanes follow the processor. Taught in ``04_word2vec``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["BIG", "SMALL", "add_row", "apply_big", "apply_small", "fetch_row", "mean_rows", "tile_1_big", "tile_1_small", "tile_2_big",
           "tile_2_small", "tile_4_big", "tile_4_small"]

BIG, SMALL = 6, 3                               # output rows of a tile: a word and five negatives; a remainder
LANES = 16 if llvm.get_host_cpu_features().get("avx512f") else 8
STEEPEST = 80.0                                 # |x| beyond which exp(x) would leave float32

_I8, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
_VECTOR, _WHOLE = ir.VectorType(_F32, LANES), ir.VectorType(_I32, LANES)


def _constant(x: float) -> Any:
    return ir.Constant(_VECTOR, [x] * LANES)


def _order(lanes: list[int]) -> Any:
    return ir.Constant(ir.VectorType(_I32, len(lanes)), lanes)


class _Code:
    """The vector operations that a window is made of, written at the builder's place."""

    def __init__(self, builder: Any) -> None:
        self.b = builder

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call one of LLVM's own functions."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self.b.call(cgutils.get_or_insert_function(self.b.module, kind, name), list(arguments))

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x y + z, in one rounding where the processor can."""
        return self.call(f"llvm.fmuladd.v{LANES}f32", _VECTOR, x, y, z)

    def spread(self, number: Any) -> Any:
        """The same number in all lanes."""
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        return self.b.shuffle_vector(self.b.insert_element(nothing, number, _I32(0)), nothing, _order([0] * LANES))

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
        found = self.b.load(self.b.bitcast(self.b.gep(row, [column]), _VECTOR.as_pointer()))
        found.align = 4
        return found

    def store(self, x: Any, row: Any, column: Any) -> None:
        """Put a vector where `load` would read it."""
        self.b.store(x, self.b.bitcast(self.b.gep(row, [column]), _VECTOR.as_pointer())).align = 4

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
        """The sum of the lanes of each of at most `LANES` vectors, in the first lanes of one."""
        n = 1 << (len(vectors) - 1).bit_length()
        vectors, size = vectors + [_constant(0.0)] * (n - len(vectors)), LANES
        while len(vectors) > 1:
            half = [g + i for g in range(0, 2 * LANES, size) for i in range(size // 2)]
            vectors = [self._folded(x, y, half, size // 2) for x, y in zip(vectors[::2], vectors[1::2], strict=True)]
            size //= 2
        found, spacing = vectors[0], size
        while size > 1:
            size //= 2
            found = self._folded(found, found, [min(i, LANES - 1 - size) for i in range(LANES)], size)
        return found if spacing == 1 else self.b.shuffle_vector(found, found, _order([min(i * spacing, LANES - 1) for i in range(LANES)]))

    def _folded(self, x: Any, y: Any, lanes: list[int], by: int) -> Any:
        """Chosen lanes of x and y plus the lanes that lie ``by`` further on."""
        return self.b.fadd(self.b.shuffle_vector(x, y, _order(lanes)), self.b.shuffle_vector(x, y, _order([i + by for i in lanes])))

    def logistic(self, x: Any) -> Any:
        """1 / (1 + exp(-x)), relative error below 10^-6; exp as a power of two times a polynomial on half a unit to both sides."""
        b = self.b
        for name, border in (("minnum", STEEPEST), ("maxnum", -STEEPEST)):
            x = self.call(f"llvm.{name}.v{LANES}f32", _VECTOR, x, _constant(border))
        power = b.fmul(x, _constant(-math.log2(math.e)))
        whole = self.call(f"llvm.rint.v{LANES}f32", _VECTOR, power)
        rest, found = b.fsub(power, whole), _constant(math.log(2.0) ** 6 / 720.0)
        for k in range(5, -1, -1):
            found = self.fma(found, rest, _constant(math.log(2.0) ** k / math.factorial(k)))
        exponent = b.add(b.fptosi(whole, _WHOLE), ir.Constant(_WHOLE, [127] * LANES))
        scale = b.bitcast(b.shl(exponent, ir.Constant(_WHOLE, [23] * LANES)), _VECTOR)
        return b.fdiv(_constant(1.0), self.fma(found, scale, _constant(1.0)))


def _generate_tile(code: _Code, n_rows: int, size: int, arguments: Any) -> None:
    inputs, outputs, width, labels, weights, rate, gains = arguments
    b = code.b
    xs, os = code.rows(inputs, n_rows), code.rows(outputs, size)
    labels, weights, gains = (code.pointer(a) for a in (labels, weights, gains))

    def column(i: Any, sums: list[Any]) -> list[Any]:
        x, found = [code.load(row, i) for row in xs], list(sums)
        for k, row in enumerate(os):
            o = code.load(row, i)
            for r in range(n_rows):
                found[r * size + k] = code.fma(x[r], o, found[r * size + k])
        return found

    sums = code.loop(width, [_constant(0.0)] * (n_rows * size), column)
    label, weight = code.load(labels, _I64(0)), b.fmul(code.load(weights, _I64(0)), code.spread(rate))
    for first in range(0, len(sums), LANES):
        share = code.logistic(code.lane_sums(sums[first : first + LANES]))
        pattern = _order([(first + lane) % size for lane in range(LANES)])
        missing = b.fsub(b.shuffle_vector(label, label, pattern), share)
        code.store(b.fmul(b.shuffle_vector(weight, weight, pattern), missing), gains, _I64(first))


def _tile(n_rows: int, size: int) -> Any:
    @intrinsic
    def tile(typing: Any, inputs: Any, outputs: Any, width: Any, labels: Any, weights: Any, rate: Any, gains: Any) -> Any:
        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            _generate_tile(_Code(b), n_rows, size, arguments)
            return context.get_dummy_value()

        return types.void(*(types.int64,) * 5, types.float32, types.int64), generate

    return tile


def _generate_apply(code: _Code, size: int, arguments: Any) -> None:
    inputs, n_rows, outputs, width, gains, errors, fresh = arguments
    b = code.b
    os, table = code.rows(outputs, size), code.pointer(inputs, _I64)
    gains, errors = code.pointer(gains), code.pointer(errors)
    fresh = b.icmp_signed("==", fresh, _I64(1))

    def column(i: Any, _: list[Any]) -> list[Any]:
        o = [code.load(row, i) for row in os]

        def row(r: Any, moves: list[Any]) -> list[Any]:
            x, at = code.load(code.pointer(b.load(b.gep(table, [r]))), i), b.gep(gains, [b.mul(r, _I64(size))])
            place = b.add(b.mul(r, width), i)
            error, found = b.select(fresh, _constant(0.0), code.load(errors, place)), []
            for k in range(size):
                gain = code.spread(code.number(at, k))
                error = code.fma(gain, o[k], error)
                found.append(code.fma(gain, x, moves[k]))
            code.store(error, errors, place)
            return found

        moves = code.loop(n_rows, [_constant(0.0)] * size, row, step=1)
        for k in range(size):                       # read again: one word may be drawn twice
            code.store(b.fadd(code.load(os[k], i), moves[k]), os[k], i)
        return []

    code.loop(width, [], column)


def _apply(size: int) -> Any:
    @intrinsic
    def apply(typing: Any, inputs: Any, n_rows: Any, outputs: Any, width: Any, gains: Any, errors: Any, fresh: Any) -> Any:
        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            _generate_apply(_Code(b), size, arguments)
            return context.get_dummy_value()

        return types.void(*(types.int64,) * 7), generate

    return apply


@intrinsic
def add_row(typing: Any, row: Any, errors: Any, width: Any, scale: Any) -> Any:
    """row += scale · errors."""
    def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(b)
        row, errors, scale = code.pointer(arguments[0]), code.pointer(arguments[1]), code.spread(arguments[3])

        def column(i: Any, _: list[Any]) -> list[Any]:
            code.store(code.fma(scale, code.load(errors, i), code.load(row, i)), row, i)
            return []

        code.loop(arguments[2], [], column)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.float32), generate


@intrinsic
def mean_rows(typing: Any, inputs: Any, n_rows: Any, width: Any, scale: Any, out: Any) -> Any:
    """out = scale · (sum of the rows)."""
    def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(b)
        table, out, scale = code.pointer(arguments[0], _I64), code.pointer(arguments[4]), code.spread(arguments[3])

        def column(i: Any, _: list[Any]) -> list[Any]:
            def row(r: Any, sums: list[Any]) -> list[Any]:
                return [b.fadd(sums[0], code.load(code.pointer(b.load(b.gep(table, [r]))), i))]

            code.store(b.fmul(scale, code.loop(arguments[1], [_constant(0.0)], row, step=1)[0]), out, i)
            return []

        code.loop(arguments[2], [], column)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.float32, types.int64), generate


@intrinsic
def fetch_row(typing: Any, row: Any, width: Any) -> Any:
    """Ask for a row that will be read and written soon."""
    def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(b)
        row = code.pointer(arguments[0])

        def line(i: Any, _: list[Any]) -> list[Any]:
            code.call("llvm.prefetch.p0", ir.VoidType(), b.bitcast(b.gep(row, [i]), _I8.as_pointer()), _I32(0), _I32(3), _I32(1))
            return []

        code.loop(arguments[1], [], line, step=16)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


# gains[r · K + k] = rate · weights[k] · (labels[k] − logistic(x_r · o_k)) for the R rows and K outputs whose addresses begin at inputs and outputs;
# width, columns of a row, a multiple of 16. Whole vectors are written: up to 15 numbers beyond the tile.
tile_4_big, tile_2_big, tile_1_big = (_tile(n_rows, BIG) for n_rows in (4, 2, 1))
tile_4_small, tile_2_small, tile_1_small = (_tile(n_rows, SMALL) for n_rows in (4, 2, 1))
# o_k += sum_r gains[r · K + k] x_r, and errors[r] (+)= sum_k gains[r · K + k] o_k with the o_k from before; fresh: 1 to set errors, 0 to add to them.
apply_big, apply_small = _apply(BIG), _apply(SMALL)
