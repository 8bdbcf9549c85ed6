"""The arithmetic of GloVe steps as vector instructions: a product of two rows, then both rows and their sums of squares in one pass.

Neither row waits for the other, so the processor begins the next count while this one is still being written; rows a few counts further on are asked
for meanwhile. 1 / √G is the processor's own estimate with a step of Newton's method, where it has one. Taught in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..window_update.lanes import LANES, Code

__all__ = ["walk"]

AHEAD = 4                                       # counts
_I8, _I32, _I64, _F32, _F64 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType()
_VECTOR = ir.VectorType(_F32, LANES)
_KINDS = (*(types.int64,) * 8, types.float32, types.float32)


@dataclass(frozen=True)
class _Task:
    """The arguments of a walk as LLVM values, in the order of the call."""

    words: Any
    contexts: Any
    rows: Any
    columns: Any
    logs: Any
    weights: Any
    n: Any
    width: Any
    rate: Any
    clip: Any


def _row(code: Code, task: _Task, name: str, places: str, at: Any) -> Any:
    """The row of ``words`` or ``contexts`` whose place is number ``at`` of ``rows`` or ``columns``."""
    b = code.b
    place = b.sext(b.load(b.gep(getattr(task, places), [at])), _I64)
    return b.gep(getattr(task, name), [b.mul(place, b.mul(task.width, _I64(2)))])


def _pair(code: Code, task: _Task, at: Any) -> tuple[Any, Any]:
    return _row(code, task, "words", "rows", at), _row(code, task, "contexts", "columns", at)


def _fetch_ahead(code: Code, task: _Task, i: Any) -> None:
    """Ask for the rows of a later count; the last one stands for those after it."""
    b = code.b
    later = b.add(i, _I64(AHEAD))
    last = b.sub(task.n, _I64(1))
    rows = _pair(code, task, b.select(b.icmp_signed("<", later, last), later, last))

    def line(j: Any, _: list[Any]) -> list[Any]:
        for row in rows:
            code.call("llvm.prefetch.p0", ir.VoidType(), b.bitcast(b.gep(row, [j]), _I8.as_pointer()), _I32(1), _I32(3), _I32(1))
        return []

    code.loop(b.mul(task.width, _I64(2)), [], line, step=16)


def _moved(code: Code, numbers: tuple[Any, Any], row: Any, at: tuple[Any, Any], limits: tuple[Any, Any, Any]) -> None:
    """w −= u / √G, G += u² for the vectors at two places of a row, with u = η clip(f diff w̃)."""
    b, (mine, other), (pull, low, high) = code.b, numbers, limits
    step = code.call(f"llvm.minnum.v{LANES}f32", _VECTOR, b.fmul(pull, other), high)
    step = code.call(f"llvm.maxnum.v{LANES}f32", _VECTOR, step, low)
    squares = code.load(row, at[1])
    root = code.call(f"llvm.sqrt.v{LANES}f32", _VECTOR, squares)
    scale = b.fdiv(ir.Constant(_VECTOR, [1.0] * LANES), root, flags=("arcp", "contract"))       # lets the compiler take an estimate of 1 / √G
    code.store(b.fsub(mine, b.fmul(step, scale)), row, at[0])
    code.store(code.fma(step, step, squares), row, at[1])


def _learn(code: Code, task: _Task, rows: tuple[Any, Any], pull: Any) -> None:
    """Move both rows of a count, each by the old values of the other."""
    b = code.b
    high = b.fmul(task.rate, task.clip)
    limits = [code.spread(x) for x in (b.fmul(task.rate, pull), b.fneg(high), high)]

    def columns(j: Any, _: list[Any]) -> list[Any]:
        w, c = (code.load(row, j) for row in rows)
        for mine, other, row in ((w, c, rows[0]), (c, w, rows[1])):
            _moved(code, (mine, other), row, (j, b.add(j, task.width)), limits)
        return []

    code.loop(task.width, [], columns)


def _step(code: Code, task: _Task, i: Any, so_far: list[Any]) -> list[Any]:
    """One count; returns the loss with its ½ f diff² and how many counts were left out, with this one where its diff is NaN or infinite."""
    b = code.b
    _fetch_ahead(code, task, i)
    rows = _pair(code, task, i)
    sums = code.loop(task.width, [ir.Constant(_VECTOR, [0.0] * LANES)], lambda j, s: [code.fma(code.load(rows[0], j), code.load(rows[1], j), s[0])])
    diff = b.fsub(b.extract_element(code.lane_sums(sums), _I32(0)), b.load(b.gep(task.logs, [i])))
    pull = b.fmul(b.load(b.gep(task.weights, [i])), diff)
    sane = b.fcmp_ordered("<", code.call("llvm.fabs.f32", _F32, diff), _F32(float("inf")))
    with b.if_then(sane, likely=True):
        _learn(code, task, rows, pull)
    cost = b.fmul(_F64(0.5), b.fmul(b.fpext(pull, _F64), b.fpext(diff, _F64)))
    return [b.fadd(so_far[0], b.select(sane, cost, _F64(0.0))), b.add(so_far[1], b.select(sane, _I64(0), _I64(1)))]


@intrinsic
def walk(typing: Any, words: Any, contexts: Any, rows: Any, columns: Any, logs: Any, weights: Any, n: Any, width: Any, rate: Any, clip: Any) -> Any:
    """Learn from n > 0 counts in their order; returns Σ ½ f diff² and how many were left out.

    Parameters: addresses of the first row of words and of contexts, and of the first count's place among either, log X and f; n; width, columns of a
    row, a multiple of 16, which are followed by as many sums of squares; rate; clip.
    """
    found = types.Tuple((types.float64, types.int64))

    def generate(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
        code, task = Code(b), _Task(*arguments)
        kinds = {"words": _F32, "contexts": _F32, "rows": _I32, "columns": _I32, "logs": _F32, "weights": _F32}
        task = _Task(**{**vars(task), **{name: code.pointer(getattr(task, name), kind) for name, kind in kinds.items()}})
        return context.make_tuple(b, found, code.loop(task.n, [_F64(0.0), _I64(0)], lambda i, so_far: _step(code, task, i, so_far), step=1))

    return found(*_KINDS), generate
