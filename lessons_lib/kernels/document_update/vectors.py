"""What frozen outputs add to the vector code of window updates: gains move the targets, and nothing else. Taught in ``07_doc2vec``."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..window_update.lanes import Code, operation
from ..window_update.vectors import BIG, SMALL

__all__ = ["push_big", "push_small"]

_I64 = ir.IntType(64)


def _push(size: int) -> Any:
    @operation()
    def push(code: Code, targets: Any, n_rows: Any, outputs: Any, width: Any, gains: Any) -> None:
        b, os, targets, gains = code.b, code.rows(outputs, size), code.pointer(targets, _I64), code.pointer(gains)

        def column(i: Any, _: list[Any]) -> list[Any]:
            o = [code.load(row, i) for row in os]

            def row(r: Any, _: list[Any]) -> list[Any]:
                at, target = b.gep(gains, [b.mul(r, _I64(size))]), code.pointer(b.load(b.gep(targets, [r])))
                moved = code.load(target, i)
                for k in range(size):
                    moved = code.fma(code.spread(code.number(at, k)), o[k], moved)
                code.store(moved, target, i)
                return []

            code.loop(n_rows, [], row, step=1)
            return []

        code.loop(width, [], column)

    return push


# target_r += sum_k gains[r · K + k] o_k
push_big, push_small = _push(BIG), _push(SMALL)
