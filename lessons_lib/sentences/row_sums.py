"""The weighted sum of rows of a table, as vector instructions: the running sum stays in registers while the rows go by.

A loop that a compiler makes of the formula reads and writes the sum at every row. Here up to eight vectors of columns are summed over all rows before
they are written, once. The last columns of a row that fills no whole vectors are taken with some of the columns before them, which are written twice
with the same numbers. The code is LLVM's portable vector language, written through Numba's ``intrinsic``. Taught in ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..core.compiled import compiled

__all__ = ["LINE", "fetch", "weighted_sum"]

LANES = 16 if llvm.get_host_cpu_features().get("avx512f") else 8
LINE = 64                                       # bytes that come from memory together

_I8, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
_VECTOR = ir.VectorType(_F32, LANES)
_ZERO = ir.Constant(_VECTOR, [0.0] * LANES)


def _loop(b: Any, n: Any, sums: list[Any], body: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    """for i = 0 … n - 1 (at least once): ``body(i, sums)`` gives the sums that the next turn is handed. Returns the last."""
    before, turn, done = b.block, b.append_basic_block("turn"), b.append_basic_block("done")
    b.branch(turn)
    b.position_at_end(turn)
    i, carried = b.phi(_I64), [b.phi(_VECTOR) for _ in sums]
    after, then = body(i, carried), b.add(i, _I64(1))
    for phi, first, later in zip((i, *carried), (_I64(0), *sums), (then, *after), strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(later, b.block)
    b.cbranch(b.icmp_signed("<", then, n), turn, done)
    b.position_at_end(done)
    return after


def _generate(b: Any, size: int, arguments: Any) -> None:
    table, rows, weights, n, out = arguments
    rows, weights = (b.inttoptr(address, kind.as_pointer()) for address, kind in ((rows, _I64), (weights, _F32)))
    undefined, lanes = ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    fma = cgutils.get_or_insert_function(b.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), f"llvm.fmuladd.v{LANES}f32")

    def vectors(address: Any) -> list[Any]:
        first = b.inttoptr(address, _VECTOR.as_pointer())
        return [b.gep(first, [_I64(k)]) for k in range(size)]

    def row(i: Any, sums: list[Any]) -> list[Any]:
        weight = b.shuffle_vector(b.insert_element(undefined, b.load(b.gep(weights, [i])), _I32(0)), undefined, lanes)
        found = []
        for place, total in zip(vectors(b.add(table, b.load(b.gep(rows, [i])))), sums, strict=True):
            numbers = b.load(place)
            numbers.align = 4
            found.append(b.call(fma, [weight, numbers, total]))
        return found

    for place, total in zip(vectors(out), _loop(b, n, [_ZERO] * size, row), strict=True):
        b.store(total, place).align = 4


def _tile(size: int) -> Any:
    @intrinsic
    def tile(typing: Any, table: Any, rows: Any, weights: Any, n: Any, out: Any) -> Any:
        def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            _generate(b, size, arguments)
            return context.get_dummy_value()

        return types.void(*(types.int64,) * 5), generate

    return tile


@intrinsic
def fetch(typing: Any, address: Any) -> Any:
    """Ask for the 64 bytes around an address, which will be read soon."""
    def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(b.module, kind, "llvm.prefetch.p0")
        b.call(function, [b.inttoptr(arguments[0], _I8.as_pointer()), _I32(0), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


# out[:size · LANES] = sum_i weights[i] · table[rows[i] …], all by address: table of the first column, rows in bytes from it
_tile_8, _tile_4, _tile_2, _tile_1 = (_tile(size) for size in (8, 4, 2, 1))


@compiled
def weighted_sum(matrix: np.ndarray, places: np.ndarray, weights: np.ndarray, begin: int, end: int, out: np.ndarray) -> None:
    """out = Σ_i weights[i] · (the row that begins ``places[i]`` bytes after the first), begin <= i < end; zeros for no row.

    Parameters: matrix, (V, dim) float32, rows without gaps between them; places, int64; weights, float32; out, (dim,) float32.
    """
    n, width = end - begin, out.size
    if n == 0 or width < LANES:
        out[:] = 0
        for i in range(begin, end):
            a = matrix[places[i] // (4 * width)]
            for k in range(width):
                out[k] += weights[i] * a[k]
        return
    table, rows, factors, target = matrix.ctypes.data, places.ctypes.data + 8 * begin, weights.ctypes.data + 4 * begin, out.ctypes.data
    column, step = 0, 4 * LANES
    for _ in range(width // (8 * LANES)):
        _tile_8(table + column, rows, factors, n, target + column)
        column += 8 * step
    left = width % (8 * LANES) // LANES
    if left & 4:
        _tile_4(table + column, rows, factors, n, target + column)
        column += 4 * step
    if left & 2:
        _tile_2(table + column, rows, factors, n, target + column)
        column += 2 * step
    if left & 1:
        _tile_1(table + column, rows, factors, n, target + column)
    if width % LANES:
        column = 4 * (width - LANES)
        _tile_1(table + column, rows, factors, n, target + column)
