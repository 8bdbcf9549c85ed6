"""Exercises of lesson ``15_gpu_kernels``: log-sums of columns, a merge for the two largest,
operations per byte, the size of a block, slopes at the wrong place, padding in Triton.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.random import Generator

from ..core import generator
from . import _row_range
from ._declare import by_name, debug_task, experiment_task, function_task
from .base import Exercise

__all__ = ["EXERCISES"]

Pair = tuple[float, float]


def _solve_column_log_sums(blocks: list[np.ndarray]) -> np.ndarray:
    m, total = np.full(blocks[0].shape[1], -np.inf), np.zeros(blocks[0].shape[1])
    for block in blocks:
        new = np.maximum(m, block.max(axis=0))
        total = total * np.exp(m - new) + np.exp(block - new).sum(axis=0)
        m = new
    return m + np.log(total)


def _no_maximum(blocks: list[np.ndarray]) -> np.ndarray:
    with np.errstate(over="ignore", divide="ignore"):
        return np.log(sum(np.exp(block).sum(axis=0) for block in blocks))


def _last_maximum(blocks: list[np.ndarray]) -> np.ndarray:
    """Every block is measured from its own maximum, and nothing is rescaled."""
    total = sum(np.exp(block - block.max(axis=0)).sum(axis=0) for block in blocks)
    return blocks[-1].max(axis=0) + np.log(total)


def _wrong_rows(logits: np.ndarray, start: int) -> np.ndarray:
    slope = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    for i in range(len(logits)):
        slope[i, i] -= 1                                                           # the fault
    return slope


def _solve_wrong_rows(logits: np.ndarray, start: int) -> np.ndarray:
    slope = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    for i in range(len(logits)):
        slope[i, start + i] -= 1
    return slope


def _pulled(logits: np.ndarray, start: int, pull: float) -> np.ndarray:
    """The softmax of each row, with its own column pulled by ``pull`` instead of 1."""
    right = np.eye(*logits.shape, start)
    return _solve_wrong_rows(logits, start) + (1 - pull) * right


def _over_columns(logits: np.ndarray, start: int) -> np.ndarray:
    right = np.eye(*logits.shape, start)
    return np.exp(logits - np.logaddexp.reduce(logits, axis=0)) - right


def _solve_largest_two(a: Pair, b: Pair) -> Pair:
    first, second = sorted([*a, *b], reverse=True)[:2]
    return first, second


_TABLE = generator(0).normal(size=(7, 7)) * 4
_BLOCKS = [([np.array([[0.0, 1.0], [0.0, 1.0]])],), ([_TABLE[:3], _TABLE[3:]],),
           (list(_TABLE[:, None]),), ([_TABLE[:4] + 900.0, _TABLE[4:] - 900.0],),
           ([_TABLE[:4] - 900.0, _TABLE[4:] - 900.0],)]
_SLOPES = [(_TABLE[:3], 0), (_TABLE[3:5], 3), (_TABLE[6:], 6)]
_INF = math.inf
_PAIRS = [((3.0, 1.0), (2.0, 0.0)), ((3.0, 2.5), (2.0, 1.0)), ((5.0, -_INF), (4.0, -_INF)),
          ((-_INF, -_INF), (-2.0, -7.0)), ((1.0, 1.0), (1.0, 0.0)),
          ((-_INF, -_INF), (-_INF, -_INF)), ((-4.0, -_INF), (-_INF, -_INF)),
          ((0.5, 0.25), (9.0, 8.0))]

def _per_byte(n: int, k: int, m: int) -> float:
    """Operations per byte of the product of an (n, k) and a (k, m) matrix of 4-byte numbers."""
    return 2 * n * k * m / (4 * (n * k + k * m + n * m))


_PER_BYTE = {"add": 1 / 12, "matrix x matrix": _per_byte(3000, 3000, 3000),
             "matrix x vector": _per_byte(3000, 3000, 1),
             "tall x wide": _per_byte(100_000, 50, 100_000)}
_WITHIN = 0.05                                             # 0.08 for 1/12 is right


def _judge_per_byte(mine: Any) -> str | None:
    if not isinstance(mine, dict) or set(mine) != set(_PER_BYTE):
        return (f"expected a dict with the names {', '.join(repr(name) for name in _PER_BYTE)} and "
                "one number each")
    for name, right in _PER_BYTE.items():
        value = mine[name]
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return f"{name!r} holds {value!r}; expected a number"
        if not abs(value / right - 1) <= _WITHIN:
            return (f"{name!r} has not {value:.4g} operations per byte but "
                    f"{'fewer' if value > right else 'more'}: count once more")
    return None


def _fresh_blocks(rng: Generator) -> list[tuple]:
    tables = [rng.normal(size=(n, n)) * 3 + shift for n, shift in ((4, 0.0), (6, 800.0))]
    return [(np.split(table, [1, 3]),) for table in tables]


def _fresh_tiles(rng: Generator) -> list[tuple]:
    some = [tuple(sorted(rng.normal(size=2).tolist(), reverse=True)) for _ in range(6)]
    low, high = (-8.5, -9.5), (9.5, 8.5)
    return [*zip(some[::2], some[1::2], strict=True), (high, some[0]), (some[1], high),
            (low, (-_INF, -_INF)), ((7.0, -_INF), (7.0, -_INF)), ((-_INF, -_INF), (-3.0, -_INF))]


EXERCISES = by_name(
    function_task("column_log_sums", "The log-sum of every column of a table that comes in blocks",
        _solve_column_log_sums, _BLOCKS, fresh=_fresh_blocks,
        wrong={"sums without a maximum": _no_maximum,
               "each block from its own maximum": _last_maximum,
               "of the rows":
                   lambda blocks: np.concatenate([np.logaddexp.reduce(block, axis=1)
                                                  for block in blocks]),
               "log-sums added up":
                   lambda blocks: sum(np.logaddexp.reduce(block, axis=0) for block in blocks),
               "the last block alone": lambda blocks: np.logaddexp.reduce(blocks[-1], axis=0)},
        hints=("It is `merge` of section 2, for N columns at once: begin with m = -inf and s = 0 "
               "everywhere.",
               "new = np.maximum(m, block.max(axis=0)); then rescale s, add the exponentials of "
               "the block measured from new, and keep new.")),
    function_task("largest_two", "Join the two largest numbers of two tiles",
        _solve_largest_two, _PAIRS, fresh=_fresh_tiles,
        wrong={"the best of each tile": lambda a, b: (max(a[0], b[0]), min(a[0], b[0])),
               "place by place": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
               "equal numbers count once":
                   lambda a, b: tuple([*sorted({*a, *b}, reverse=True), -math.inf][:2]),
               "0 stands for nothing": lambda a, b: tuple(sorted([*a, *b, 0.0], reverse=True)[:2]),
               "the first tile wins": lambda a, b: a},
        hints=("Both of the two largest may come from the same tile.",
               "Four numbers come in, and the two largest of them go out.",
               "Minus infinity loses against every number by itself: an empty tile needs no line "
               "of its own.")),
    Exercise("per_byte", question="How many operations per byte does each piece of work have?",
        judge=_judge_per_byte, solution=_PER_BYTE, kind="predict",
        wrong={"numbers taken for bytes": {name: 4 * value for name, value in _PER_BYTE.items()},
               "a multiplication and an addition counted as one":
                   _PER_BYTE | {name: _PER_BYTE[name] / 2 for name in list(_PER_BYTE)[1:]},
               "the output forgotten":
                   _PER_BYTE | {"add": 1 / 8, "tall x wide": 2 * 1e10 * 50 / (4 * 1e7)},
               "words": dict.fromkeys(_PER_BYTE, "memory")},
        hints=("Adding: one operation per number of the result; two numbers come in and one goes "
               "out, 4 bytes each.",
               "The square product: 2 · 3000³ operations, 3 · 3000² numbers of 4 bytes.",
               "Tall times wide writes 10¹⁰ numbers, and each of them is a sum of only 50 "
               "products.")),
    experiment_task("rows_per_block", "What do four times larger blocks do to the memory?",
        {"no change": (0.95, 1.05), "up to twice as much": (1.06, 2.0),
         "more than twice as much": (2.01, 9)}, measured=2.22,
        why="With 128 rows the four arrays of the size of q are most of the memory. With 512 rows "
            "four arrays of the size of a block are alive at once (the slopes of the block before "
            "and three in one_block), and they are larger",
        hints=("A block of 512 rows has 512 × 2,048 numbers. How many has q?",
               "Which arrays of the size of a block does one_block hold at the same time?")),
    debug_task("wrong_rows", "Which line pulls the wrong pairs?", _wrong_rows,
        _solve_wrong_rows, _SLOPES,
        fresh=lambda rng: [(rng.normal(size=(rows, 9)), start)
                           for rows, start in ((3, 0), (3, 3), (2, 7))],
        symptom="The first block is right, all others are wrong. Which column is the own one of "
                "row 5 in a block that starts with row 128?",
        wrong={"softmax over the columns": _over_columns,
               "no pull at all": lambda logits, start: _pulled(logits, start, 0.0),
               "pushed instead of pulled": lambda logits, start: _pulled(logits, start, -1.0)},
        hints=("The table of a block is not square: its rows are numbered from `start`, its "
               "columns from 0.",
               "Row i of the block is row start + i of the batch.")),
    *_row_range.exercises().values())
