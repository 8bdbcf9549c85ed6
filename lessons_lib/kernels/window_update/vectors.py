"""The arithmetic of one window as vector instructions: all dot products of a tile at once, their gains, and what the gains move.

A tile is R input rows times K output rows; its R·K running sums stay in registers while the columns go by, and become gains all together. Then the
gains move inputs and outputs in one pass over the columns. Lanes follow the processor. Taught in ``04_word2vec``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from .draws import GOLDEN, MIXING
from .lanes import LANES, REGISTERS, Code, constant, operation, order

__all__ = ["BIG", "SMALL", "TALL", "add_row", "apply_big", "apply_small", "copy_numbers", "copy_row", "draw_noise", "fetch_row", "mean_rows",
           "tile_1_big", "tile_1_small", "tile_2_big", "tile_2_small", "tile_4_big", "tile_4_small"]

BIG, SMALL = 6, 3                               # output rows of a tile: a word and five negatives; a remainder
TALL = 4 if REGISTERS == 32 else 2              # input rows of the tallest tile: its running sums must find room
EIGHT = 8                                       # numbers of 64 bits that are copied or drawn together; labels that are read together

_I8, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
_WHOLE, _FEW = ir.VectorType(_I64, EIGHT), ir.VectorType(_F32, EIGHT)
_TILE = (*(types.int64,) * 5, types.float32, types.int64)
_SCALED = (*(types.int64,) * 3, types.float32)


def _place(b: Any, row: Any, i: Any, kind: Any) -> Any:
    return b.bitcast(b.gep(row, [i]), kind.as_pointer())


def _tile(n_rows: int, size: int) -> Any:
    @operation(*_TILE)
    def tile(code: Code, inputs: Any, outputs: Any, width: Any, labels: Any, weights: Any, rate: Any, gains: Any) -> None:
        b, xs, os, gains = code.b, code.rows(inputs, n_rows), code.rows(outputs, size), code.pointer(gains)

        def column(i: Any, sums: list[Any]) -> list[Any]:
            x, found = [code.load(row, i) for row in xs], list(sums)
            for k, row in enumerate(os):
                o = code.load(row, i)
                for r in range(n_rows):
                    found[r * size + k] = code.fma(x[r], o, found[r * size + k])
            return found

        sums = code.loop(width, [constant(0.0)] * (n_rows * size), column)
        label, weight = (b.load(_place(b, code.pointer(x), _I64(0), _FEW), align=4) for x in (labels, weights))
        for first in range(0, len(sums), LANES):
            pattern = order([(first + lane) % size for lane in range(LANES)])
            missing = b.fsub(b.shuffle_vector(label, label, pattern), code.logistic(code.lane_sums(sums[first : first + LANES])))
            share = b.fmul(b.shuffle_vector(weight, weight, pattern), code.spread(rate))
            code.store(b.fmul(share, missing), gains, _I64(first))

    return tile


def _apply(size: int) -> Any:
    @operation()
    def apply(code: Code, inputs: Any, targets: Any, n_rows: Any, outputs: Any, width: Any, gains: Any) -> None:
        b, os = code.b, code.rows(outputs, size)
        inputs, targets, gains = code.pointer(inputs, _I64), code.pointer(targets, _I64), code.pointer(gains)

        def column(i: Any, _: list[Any]) -> list[Any]:
            o = [code.load(row, i) for row in os]

            def row(r: Any, moves: list[Any]) -> list[Any]:
                x, target = (code.pointer(b.load(b.gep(table, [r]))) for table in (inputs, targets))
                at, x, moved, found = b.gep(gains, [b.mul(r, _I64(size))]), code.load(x, i), code.load(target, i), []
                for k in range(size):
                    gain = code.spread(code.number(at, k))
                    moved = code.fma(gain, o[k], moved)
                    found.append(code.fma(gain, x, moves[k]))
                code.store(moved, target, i)
                return found

            moves = code.loop(n_rows, [constant(0.0)] * size, row, step=1)
            for k in range(size):                   # read again: one word may be drawn twice
                code.store(b.fadd(code.load(os[k], i), moves[k]), os[k], i)
            return []

        code.loop(width, [], column)

    return apply


@operation(*_SCALED)
def add_row(code: Code, row: Any, errors: Any, width: Any, scale: Any) -> None:
    """row += scale · errors."""
    row, errors, scale = code.pointer(row), code.pointer(errors), code.spread(scale)

    def column(i: Any, _: list[Any]) -> list[Any]:
        code.store(code.fma(scale, code.load(errors, i), code.load(row, i)), row, i)
        return []

    code.loop(width, [], column)


@operation()
def copy_row(code: Code, row: Any, target: Any, width: Any) -> None:
    """target = row."""
    row, target = code.pointer(row), code.pointer(target)

    def column(i: Any, _: list[Any]) -> list[Any]:
        code.store(code.load(row, i), target, i)
        return []

    code.loop(width, [], column)


@operation(*_SCALED, types.int64)
def mean_rows(code: Code, inputs: Any, n_rows: Any, width: Any, scale: Any, out: Any) -> None:
    """out = scale · (sum of the rows)."""
    b, table, out, scale = code.b, code.pointer(inputs, _I64), code.pointer(out), code.spread(scale)

    def column(i: Any, _: list[Any]) -> list[Any]:
        def row(r: Any, sums: list[Any]) -> list[Any]:
            return [b.fadd(sums[0], code.load(code.pointer(b.load(b.gep(table, [r]))), i))]

        code.store(b.fmul(scale, code.loop(n_rows, [constant(0.0)], row, step=1)[0]), out, i)
        return []

    code.loop(width, [], column)


@operation()
def fetch_row(code: Code, row: Any, width: Any) -> None:
    """Ask for a row that will be read and written soon."""
    b, row = code.b, code.pointer(row)

    def line(i: Any, _: list[Any]) -> list[Any]:
        code.call("llvm.prefetch.p0", ir.VoidType(), _place(b, row, i, _I8), _I32(0), _I32(3), _I32(1))
        return []

    code.loop(width, [], line, step=16)


@operation()
def copy_numbers(code: Code, source: Any, target: Any, n: Any) -> None:
    """Copy n > 0 numbers of 64 bits, eight at a time: up to seven more are read and written."""
    b, source, target = code.b, code.pointer(source, _I64), code.pointer(target, _I64)

    def part(i: Any, _: list[Any]) -> list[Any]:
        b.store(b.load(_place(b, source, i, _WHOLE), align=8), _place(b, target, i, _WHOLE), align=8)
        return []

    code.loop(n, [], part, step=EIGHT)


def _same(x: int) -> Any:
    return ir.Constant(_WHOLE, [x] * EIGHT)


def _all(b: Any, x: Any) -> Any:
    nothing = ir.Constant(_WHOLE, ir.Undefined)
    return b.shuffle_vector(b.insert_element(nothing, x, _I32(0)), nothing, order([0] * EIGHT))


def _drawn(b: Any, x: Any, table: Any, n_words: Any) -> Any:
    """The words that eight numbers draw from the alias table."""
    column, entry = b.lshr(b.mul(b.lshr(x, _same(32)), _all(b, n_words)), _same(32)), _same(0)
    for lane in range(EIGHT):
        entry = b.insert_element(entry, b.load(b.gep(table, [b.extract_element(column, _I32(lane))])), _I32(lane))
    itself = b.icmp_unsigned("<", b.and_(x, _same(0x7FFFFFFF)), b.lshr(entry, _same(32)))
    return b.select(itself, column, b.and_(entry, _same(0xFFFFFFFF)))


@operation(types.uint64, *(types.int64,) * 9)
def draw_noise(code: Code, key: Any, n: Any, table: Any, n_words: Any, word: Any, start: Any, stride: Any, outputs: Any, labels: Any,
               weights: Any) -> None:
    """Draw n words from an alias table of 64-bit entries, the threshold above the other word; draw i mixes key + i · GOLDEN.

    The addresses of their rows, labels 0, and weights (0 for ``word`` itself, else 1) are written by eights: up to seven more than asked for.
    """
    b, table, outputs, labels, weights = code.b, *(code.pointer(x, kind) for x, kind in zip((table, outputs, labels, weights),
                                                                                         (_I64, _I64, _F32, _F32), strict=True))
    zeros, ones = (ir.Constant(_FEW, [x] * EIGHT) for x in (0.0, 1.0))

    def some(i: Any, _: list[Any]) -> list[Any]:
        x = b.add(_all(b, b.add(key, b.mul(i, _I64(GOLDEN)))), ir.Constant(_WHOLE, [k * GOLDEN % 2**64 for k in range(EIGHT)]))
        for shift, factor in MIXING:
            x = b.mul(b.xor(x, b.lshr(x, _same(shift))), _same(factor))
        drawn = _drawn(b, b.xor(x, b.lshr(x, _same(31))), table, n_words)
        weight = b.select(b.icmp_signed("==", drawn, _all(b, word)), zeros, ones)
        b.store(b.add(_all(b, start), b.mul(drawn, _all(b, stride))), _place(b, outputs, i, _WHOLE), align=8)
        for x, row in ((zeros, labels), (weight, weights)):
            b.store(x, _place(b, row, i, _FEW), align=4)
        return []

    code.loop(n, [], some, step=EIGHT)


# gains[r · K + k] = rate · weights[k] · (labels[k] − logistic(x_r · o_k)) for the R rows and K outputs whose addresses begin at inputs and outputs;
# width, columns of a row, a multiple of 16. Whole vectors are read and written: up to 15 numbers beyond the tile.
tile_4_big, tile_2_big, tile_1_big = (_tile(n_rows, BIG) for n_rows in (4, 2, 1))
tile_4_small, tile_2_small, tile_1_small = (_tile(n_rows, SMALL) for n_rows in (4, 2, 1))
# o_k += sum_r gains[r · K + k] x_r, and target_r += sum_k gains[r · K + k] o_k with the o_k from before. A target may be its own x_r, not another's.
apply_big, apply_small = _apply(BIG), _apply(SMALL)
