"""Exercises of lesson ``15_gpu_kernels``: padding in NumPy and in Triton, a merge for the two
largest, a gradient, operations per byte.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from ..core import generator
from . import _row_range
from ._declare import by_name, function_task
from .base import Exercise

__all__ = ["EXERCISES"]

Pair = tuple[float, float]


def _solve_masked_mean(x: np.ndarray, n_real: int, block: int) -> float:
    total, count = 0.0, 0
    for start in range(0, len(x), block):
        lanes = start + np.arange(block)
        inside = lanes < n_real
        values = np.where(inside, x[np.minimum(lanes, len(x) - 1)], 0.0)  # 0 is neutral for a sum
        total += values.sum()
        count += inside.sum()  # only real lanes are counted
    return total / count


def _blocked_mean(x, n_real, block, *, other, count_all):
    total, count = 0.0, 0
    for start in range(0, len(x), block):
        lanes = start + np.arange(block)
        inside = lanes < n_real
        total += np.where(inside, x[np.minimum(lanes, len(x) - 1)], other).sum()
        count += len(lanes) if count_all else int(inside.sum())
    return total / count


def _solve_largest_two(a: Pair, b: Pair) -> Pair:
    first, second = sorted([*a, *b], reverse=True)[:2]
    return first, second


def _solve_uniformity_gradient(x: np.ndarray, t: float) -> np.ndarray:
    kernel = np.exp(-t * ((x[:, None] - x) ** 2).sum(axis=2))
    np.fill_diagonal(kernel, 0)
    w = 2 * kernel / kernel.sum()                          # each pair stands in the table twice
    return -2 * t * (w.sum(axis=1, keepdims=True) * x - w @ x)


def _gradient(*, factor: float = 1.0, diagonal: float = 0.0, own: float = 1.0) -> Callable:
    """The gradient with another factor, with its diagonal, or without the point's own term."""
    def gradient(x, t):
        kernel = np.exp(-t * ((x[:, None] - x) ** 2).sum(axis=2))
        np.fill_diagonal(kernel, diagonal)
        w = 2 * kernel / kernel.sum()
        return 2 * t * factor * (w @ x - own * w.sum(axis=1, keepdims=True) * x)

    return gradient


_NUMBERS = generator(0).normal(size=23) + 3
_MEANS = [(np.array([2.0, 4.0, 6.0]), 3, 2), (np.array([5.0, 5.0, 9.0, 9.0]), 2, 2),
          (np.array([-1.0]), 1, 4), (_NUMBERS, 23, 8), (_NUMBERS, 17, 8), (_NUMBERS, 16, 16)]
_INF = math.inf
_PAIRS = [((3.0, 1.0), (2.0, 0.0)), ((3.0, 2.5), (2.0, 1.0)), ((5.0, -_INF), (4.0, -_INF)),
          ((-_INF, -_INF), (-2.0, -7.0)), ((1.0, 1.0), (1.0, 0.0)),
          ((-_INF, -_INF), (-_INF, -_INF)), ((-4.0, -_INF), (-_INF, -_INF)),
          ((0.5, 0.25), (9.0, 8.0))]
_POINTS = [(np.array([[1.0, 0.0], [0.0, 1.0]]), 2.0), (np.array([[1.0, 0.0], [0.0, 1.0],
                                                                 [-1.0, 0.0]]), 2.0),
           (generator(1).normal(size=(5, 3)), 0.5), (np.zeros((3, 2)), 1.0)]


def _per_byte(n: int, k: int, m: int) -> float:
    """Operations per byte of the product of an (n, k) and a (k, m) matrix of 4-byte numbers."""
    return 2 * n * k * m / (4 * (n * k + k * m + n * m))


_PER_BYTE = {"add": 1 / 12, "matrix x matrix": _per_byte(3000, 3000, 3000),
             "matrix x vector": _per_byte(3000, 3000, 1),
             "tall x wide": _per_byte(100_000, 50, 100_000)}
_WITHIN = 0.02                                             # a learner may round


def _judge_per_byte(mine: Any) -> str | None:
    if not isinstance(mine, dict) or set(mine) != set(_PER_BYTE):
        return (f"expected a dict with the names {', '.join(repr(name) for name in _PER_BYTE)} and "
                "one number each")
    for name, right in _PER_BYTE.items():
        value = mine[name]
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return f"{name!r} holds {value!r}; expected a number"
        if not abs(value / right - 1) <= _WITHIN:
            return (f"{name!r} has not {value:.4g} operations per byte but "
                    f"{'fewer' if value > right else 'more'}: count once more")
    return None


def _fresh_blocks(rng: Generator) -> list[tuple]:
    sizes = [(int(n), int(n) - int(rng.integers(1, 4)), 8) for n in rng.integers(9, 30, size=3)]
    return [(rng.normal(size=n) + 4, real if real % block else real - 1, block)
            for n, real, block in sizes]


def _fresh_tiles(rng: Generator) -> list[tuple]:
    some = [tuple(sorted(rng.normal(size=2).tolist(), reverse=True)) for _ in range(6)]
    low, high = (-8.5, -9.5), (9.5, 8.5)
    return [*zip(some[::2], some[1::2], strict=True), (high, some[0]), (some[1], high),
            (low, (-_INF, -_INF)), ((7.0, -_INF), (7.0, -_INF)), ((-_INF, -_INF), (-3.0, -_INF))]


EXERCISES = by_name(
    function_task("masked_mean", "A mean in blocks, in which padding lanes change nothing",
        _solve_masked_mean, _MEANS, fresh=_fresh_blocks,
        wrong={
            "as it stood":
                lambda x, n_real, block: _blocked_mean(x, n_real, block, other=1.0, count_all=True),
            "padding still counted":
                lambda x, n_real, block: _blocked_mean(x, n_real, block, other=0.0, count_all=True),
            "padding still 1": lambda x, n_real, block: _blocked_mean(x, n_real, block, other=1.0,
                                                                      count_all=False),
            "neutral element of a maximum":
                lambda x, n_real, block: _blocked_mean(x, n_real, block, other=-math.inf,
                                                       count_all=False),
            "ignores n_real": lambda x, n_real, block: float(np.mean(x))},
        hints=("Which number changes nothing when it is added?",
               "A mean is a sum and a count. Which of the lanes of a block may be counted?")),
    *_row_range.exercises().values(),
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
    function_task("uniformity_gradient",
        "The gradient of uniformity, from the weights of the pairs",
        _solve_uniformity_gradient, _POINTS,
        fresh=lambda rng: [(rng.normal(size=(n, d)), float(rng.uniform(0.4, 1.8)))
                           for n, d in ((2, 2), (4, 3), (6, 2))],
        wrong={"weights that sum to one over ordered pairs": _gradient(factor=0.5),
               "sign": _gradient(factor=-1.0),
               "diagonal kept": _gradient(diagonal=1.0),
               "the point's own term missing": _gradient(own=0.0),
               "factor t forgotten": lambda x, t: _solve_uniformity_gradient(x, t) / t},
        hints=("Make the (n, n) table of exp(-t · distance²) with x[:, None] - x, and set its "
               "diagonal to 0.",
               "The denominator runs over a < b: each pair once. Your table holds each pair twice.",
               "The sum over j splits into x_i · (row sum of w) and w @ x: no third axis is "
               "needed.")),
    Exercise("per_byte", question="How many operations per byte does each piece of work have?",
        judge=_judge_per_byte, solution=_PER_BYTE,
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
               "products.")))
