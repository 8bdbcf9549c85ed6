"""The weighted sum of rows of a table: the running sum stays in registers while the rows go by.

A loop that a compiler makes of the formula reads and writes the sum at every row. Here up to eight
vectors of columns are summed over all rows before they are written, once. The last columns of a row
that fills no whole vectors are taken with some of the columns before them, which are written twice
with the same numbers. Taught in ``06_sif_and_usif``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ..core.compiled import compiled
from ..core.vector_code import LANES, Code, fetch, operation

__all__ = ["LINE", "fetch", "weighted_sum"]

LINE = 64  # bytes that come from memory together


def _tile(size: int) -> Any:
    """out[:size · LANES] = sum_i weights[i] · table[rows[i] …], all by address: ``table`` of the
    first column, ``rows`` in bytes from it."""

    @operation()
    def tile(code: Code, table: Any, rows: Any, weights: Any, n: Any, out: Any) -> None:
        rows, weights = code.pointer(rows, ir.IntType(64)), code.pointer(weights)

        def row(i: Any, sums: list[Any]) -> list[Any]:
            weight = code.spread(code.number(weights, i))
            numbers = code.pointer(code.b.add(table, code.number(rows, i)))
            return [
                code.fma(weight, code.load(numbers, k * LANES), total)
                for k, total in enumerate(sums)
            ]

        sums = code.loop(n, [code.constant(0.0)] * size, row, step=1)
        for k, total in enumerate(sums):
            code.store(total, code.pointer(out), k * LANES)

    return tile


_tile_8, _tile_4, _tile_2, _tile_1 = (_tile(size) for size in (8, 4, 2, 1))


@compiled
def weighted_sum(
    matrix: np.ndarray,
    places: np.ndarray,
    weights: np.ndarray,
    begin: int,
    end: int,
    out: np.ndarray,
) -> None:
    """out = Σ_i weights[i] · (the row that begins ``places[i]`` bytes after the first), begin <= i
    < end; zeros for no row. ``matrix`` (V, dim) float32 has no gaps between its rows."""
    n, width = end - begin, out.size
    if n == 0 or width < LANES:
        out[:] = 0
        for i in range(begin, end):
            a = matrix[places[i] // (4 * width)]
            for k in range(width):
                out[k] += weights[i] * a[k]
        return
    table, target, column, step = matrix.ctypes.data, out.ctypes.data, 0, 4 * LANES
    rows, factors = places.ctypes.data + 8 * begin, weights.ctypes.data + 4 * begin
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
