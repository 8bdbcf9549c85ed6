"""The arithmetic of one window as vector instructions: all dot products of a tile at once, their
gains, and what the gains move.

A tile is R input rows times K output rows; its R·K running sums stay in registers while the columns
go by, and become gains all together. Then the gains move inputs and outputs in one pass over the
columns. Rows and tables of rows are addresses; whole vectors are read and written, so lists end
with spare places. Taught in ``04_word2vec`` and ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from ...core.vector_code import LANES, REGISTERS, Code, operation
from .draws import GOLDEN, MIXING

__all__ = ["BIG", "SMALL", "TALL", "add_row", "apply_big", "apply_small", "copy_numbers",
           "copy_row", "draw_noise", "fetch_row", "mean_rows", "push_big", "push_small",
           "tile_1_big", "tile_1_small", "tile_2_big", "tile_2_small", "tile_4_big", "tile_4_small"]

BIG, SMALL = 6, 3  # output rows of a tile: a word and five negatives; a remainder
TALL = 4 if REGISTERS == 32 else 2  # input rows of the tallest tile: its sums must find a place
EIGHT = 8  # numbers of 64 bits that are copied or drawn together; labels that are read together

_I64, _F32 = ir.IntType(64), ir.FloatType()
_EIGHT_I64, _EIGHT_F32 = ir.VectorType(_I64, EIGHT), ir.VectorType(_F32, EIGHT)


def _tile(n_rows: int, size: int) -> Any:
    """gains[r · K + k] = rate · weights[k] · (labels[k] − logistic(x_r · o_k)) for R rows and K
    outputs, whose addresses begin at ``inputs`` and ``outputs``; width is a multiple of 16."""

    @operation(*(types.int64,) * 5, types.float32, types.int64)
    def tile(code: Code, inputs: Any, outputs: Any, width: Any, labels: Any, weights: Any,
             rate: Any, gains: Any) -> None:
        b, xs, os = code.b, code.rows(inputs, n_rows), code.rows(outputs, size)

        def column(i: Any, sums: list[Any]) -> list[Any]:
            x, sums = [code.load(row, i) for row in xs], list(sums)
            for k, row in enumerate(os):
                o = code.load(row, i)
                for r in range(n_rows):
                    sums[r * size + k] = code.fma(x[r], o, sums[r * size + k])
            return sums

        sums = code.loop(width, [code.constant(0.0)] * (n_rows * size), column)
        label, weight = (b.load(code.place(code.pointer(x), 0, _EIGHT_F32), align=4)
                         for x in (labels, weights))
        for first in range(0, len(sums), LANES):
            order = [(first + lane) % size for lane in range(LANES)]
            said = code.logistic(code.lane_sums(sums[first : first + LANES]))
            missing = b.fsub(code.shuffled(label, label, order), said)
            share = b.fmul(code.shuffled(weight, weight, order), code.spread(rate))
            code.store(b.fmul(share, missing), code.pointer(gains), first)

    return tile


def _apply(size: int, *, frozen: bool) -> Any:
    """target_r += sum_k gains[r · K + k] o_k, and unless frozen o_k += sum_r gains[r · K + k] x_r
    with the x_r from before. A target may be its own x_r, not another's."""

    @operation()
    def apply(code: Code, inputs: Any, targets: Any, n_rows: Any, outputs: Any, width: Any,
              gains: Any) -> None:
        b, os, gains = code.b, code.rows(outputs, size), code.pointer(gains)
        inputs, targets = code.pointer(inputs, _I64), code.pointer(targets, _I64)

        def column(i: Any, _: list[Any]) -> None:
            o = [code.load(row, i) for row in os]

            def row(r: Any, moves: list[Any]) -> list[Any]:
                target = code.pointer(code.number(targets, r))
                at, moved, after = b.gep(gains, [b.mul(r, _I64(size))]), code.load(target, i), []
                x = None if frozen else code.load(code.pointer(code.number(inputs, r)), i)
                for k in range(size):
                    gain = code.spread(code.number(at, k))
                    moved = code.fma(gain, o[k], moved)
                    if not frozen:
                        after.append(code.fma(gain, x, moves[k]))
                code.store(moved, target, i)
                return after

            start = [] if frozen else [code.constant(0.0)] * size
            for k, moved in enumerate(code.loop(n_rows, start, row, step=1)):
                code.store(b.fadd(code.load(os[k], i), moved), os[k], i)  # one may be drawn twice

        code.loop(width, [], column)

    return apply


tile_4_big, tile_2_big, tile_1_big = (_tile(n_rows, BIG) for n_rows in (4, 2, 1))
tile_4_small, tile_2_small, tile_1_small = (_tile(n_rows, SMALL) for n_rows in (4, 2, 1))
apply_big, apply_small = (_apply(size, frozen=False) for size in (BIG, SMALL))
push_big, push_small = (_apply(size, frozen=True) for size in (BIG, SMALL))


@operation(*(types.int64,) * 3, types.float32)
def add_row(code: Code, row: Any, errors: Any, width: Any, scale: Any) -> None:
    """row += scale · errors."""
    row, errors, scale = code.pointer(row), code.pointer(errors), code.spread(scale)

    def column(i: Any, _: list[Any]) -> None:
        code.store(code.fma(scale, code.load(errors, i), code.load(row, i)), row, i)

    code.loop(width, [], column)


@operation()
def copy_row(code: Code, row: Any, target: Any, width: Any) -> None:
    """target = row."""
    row, target = code.pointer(row), code.pointer(target)
    code.loop(width, [], lambda i, _: code.store(code.load(row, i), target, i))


@operation(*(types.int64,) * 3, types.float32, types.int64)
def mean_rows(code: Code, inputs: Any, n_rows: Any, width: Any, scale: Any, out: Any) -> None:
    """out = scale · (sum of the rows)."""
    b, table, out, scale = code.b, code.pointer(inputs, _I64), code.pointer(out), code.spread(scale)

    def column(i: Any, _: list[Any]) -> None:
        def row(r: Any, sums: list[Any]) -> list[Any]:
            return [b.fadd(sums[0], code.load(code.pointer(code.number(table, r)), i))]

        [total] = code.loop(n_rows, [code.constant(0.0)], row, step=1)
        code.store(b.fmul(scale, total), out, i)

    code.loop(width, [], column)


@operation()
def fetch_row(code: Code, row: Any, width: Any) -> None:
    """Ask for a row that will be read and written soon."""
    code.loop(width, [], lambda i, _: code.fetch(code.pointer(row), i), step=16)


@operation()
def copy_numbers(code: Code, source: Any, target: Any, n: Any) -> None:
    """Copy n numbers of 64 bits, eight at a time: up to eight more are read and written."""
    b, source, target = code.b, code.pointer(source, _I64), code.pointer(target, _I64)

    def eight(i: Any, _: list[Any]) -> None:
        numbers = b.load(code.place(source, i, _EIGHT_I64), align=8)
        b.store(numbers, code.place(target, i, _EIGHT_I64), align=8)

    code.loop(n, [], eight, step=EIGHT)


@operation(types.uint64, *(types.int64,) * 9)
def draw_noise(code: Code, key: Any, n: Any, table: Any, n_words: Any, word: Any, start: Any,
               stride: Any, outputs: Any, labels: Any, weights: Any) -> None:
    """Draw n words from an alias table of 64-bit entries, the threshold above the other word; draw
    i mixes key + i · GOLDEN.

    The addresses of their rows, labels 0, and weights (0 for ``word`` itself, else 1) are written
    by eights: up to seven more than asked for.
    """
    b, table, outputs = code.b, code.pointer(table, _I64), code.pointer(outputs, _I64)

    def same(x: int) -> Any:
        return ir.Constant(_EIGHT_I64, [x] * EIGHT)

    def spread(x: Any) -> Any:
        return code.spread(x, EIGHT)

    def eight(i: Any, _: list[Any]) -> None:
        steps = ir.Constant(_EIGHT_I64, [k * GOLDEN % 2**64 for k in range(EIGHT)])
        x = b.add(spread(b.add(key, b.mul(i, _I64(GOLDEN)))), steps)
        for shift, factor in MIXING:
            x = b.mul(b.xor(x, b.lshr(x, same(shift))), same(factor))
        x = b.xor(x, b.lshr(x, same(31)))
        column, entry = b.lshr(b.mul(b.lshr(x, same(32)), spread(n_words)), same(32)), same(0)
        for lane in map(ir.IntType(32), range(EIGHT)):
            drawn = code.number(table, b.extract_element(column, lane))
            entry = b.insert_element(entry, drawn, lane)
        itself = b.icmp_unsigned("<", b.and_(x, same(0x7FFFFFFF)), b.lshr(entry, same(32)))
        drawn = b.select(itself, column, b.and_(entry, same(0xFFFFFFFF)))
        rows = b.add(spread(start), b.mul(drawn, spread(stride)))
        b.store(rows, code.place(outputs, i, _EIGHT_I64), align=8)
        zeros, ones = (ir.Constant(_EIGHT_F32, [x] * EIGHT) for x in (0.0, 1.0))
        weight = b.select(b.icmp_signed("==", drawn, spread(word)), zeros, ones)
        for numbers, place in ((zeros, labels), (weight, weights)):
            b.store(numbers, code.place(code.pointer(place), i, _EIGHT_F32), align=4)

    code.loop(n, [], eight, step=EIGHT)
