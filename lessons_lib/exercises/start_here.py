"""Exercises of lesson ``00_start_here``: ranks with ties, Spearman from ranks, a perfect order that
is no straight line, the width of an interval, and a cosine without squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from ..evaluation import pearson, spearman
from ._declare import by_name, debug_task, experiment_task, function_task, value_task
from .base import Exercise

__all__ = ["EXERCISES"]


def _ranks(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, dtype=float)
    return np.array([(x < value).sum() + ((x == value).sum() + 1) / 2 for value in x])


def _solve_my_spearman(x: np.ndarray, y: np.ndarray) -> float:
    def average_ranks(values: np.ndarray) -> np.ndarray:
        return np.array([(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values])

    return float(np.corrcoef(average_ranks(x), average_ranks(y))[0, 1])


def _positions(x: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(x, kind="stable"), kind="stable").astype(float)


GOLD = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])


def _judge_bent(answer: Any) -> str | None:
    scores = np.asarray(answer, dtype=float)
    if scores.shape != (6,):
        return f"expected 6 numbers, one per pair; yours has shape {scores.shape}"
    if len(set(scores.tolist())) == 1:
        return "all six numbers are equal: they put the pairs in no order"
    order, line = spearman(scores, GOLD), pearson(scores, GOLD)
    if order < 1 - 1e-12:
        ties = "; equal scores are no order" if len(set(scores.tolist())) < 6 else ""
        return f"the order is not perfect: Spearman is {order:.3f}, it should be 1{ties}"
    return (None if line < 0.8
            else f"Spearman is 1, but Pearson is {line:.3f}; it should be below 0.8")


_A, _B = np.array([3.0, 1.0, 4.0, 1.0, 5.0]), np.array([2.0, 7.0, 1.0, 8.0, 2.0])
_CASES = [(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 15.0])),
          (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 4.0, 9.0, 100.0])), (_A, _B), (_B, _A),
          (np.array([1.0, 1.0, 2.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.2, 0.9, 0.7]))]


def _fresh_grades(rng: Generator) -> list[tuple]:
    # ties on one side
    whole = [(rng.integers(0, 6, size=n).astype(float), rng.normal(size=n) + 0.1 * np.arange(n))
             for n in (6, 9, 15)]
    return [*whole, *((y, x) for x, y in whole), (np.exp(rng.normal(size=8))**3,
                                                  rng.normal(size=8))]


def _cosine_without_squares(u: np.ndarray, v: np.ndarray) -> float:
    return float(u @ v / (np.sqrt(u.sum()) * np.sqrt(v.sum())))


def _solve_own_cosine(u: np.ndarray, v: np.ndarray) -> float:
    return float(u @ v / (np.sqrt((u**2).sum()) * np.sqrt((v**2).sum())))


EXERCISES = by_name(
    value_task("ranks_by_hand", "The average ranks of four grades, on paper",
        [2.5, 1, 2.5, 4],
        remark="The smallest grade has rank 1. Equal grades share the mean of the places that they "
               "take.",
        wrong={"ties in order of appearance": [2, 1, 3, 4],
               "largest is first": [2.5, 4, 2.5, 1],
               "both take the better place": [2, 1, 2, 4],
               "places start at 0": [1.5, 0, 1.5, 3]},
        hints=("Sort the four grades. Which places do the two equal grades take?",)),
    function_task("my_spearman", "Spearman's correlation from ranks",
        _solve_my_spearman, _CASES, rtol=1e-9, fresh=_fresh_grades,
        wrong={"Pearson of the raw values": lambda x, y: float(np.corrcoef(x, y)[0, 1]),
               "ties in order of appearance":
                   lambda x, y: float(np.corrcoef(_positions(x), _positions(y))[0, 1]),
               "one side ranked": lambda x, y: float(np.corrcoef(_ranks(x), y)[0, 1]),
               "argsort taken for ranks":
                   lambda x, y: float(np.corrcoef(np.argsort(x), np.argsort(y))[0, 1])},
        hints=("Replace each value by its average rank, on both sides. Then correlate as usual.",
               "The average rank of v: how many values are smaller, plus half of (how many are "
               "equal, plus one).")),
    Exercise("bent_but_perfect",
        question="Six scores in perfect order that are far from a straight line",
        judge=_judge_bent, solution=[0, 0.001, 0.002, 0.003, 0.004, 1],
        wrong={"a straight line": [0, 1, 2, 3, 4, 5],
               "all equal": [1] * 6,
               "one pair swapped": [0, 0.002, 0.001, 0.003, 0.004, 1],
               "slightly bent": [0, 1, 4, 9, 16, 25],
               "five numbers": [0, 1, 2, 3, 100]},
        hints=("Spearman sees only the order. What may happen to the last value without changing "
               "the order?",)),
    experiment_task("few_pairs", "How wide is the interval on a fifteenth of the pairs?",
        {"as wide as before": (0, 14), "about four times as wide": (14, 55),
         "about fifteen times as wide": (55, 200)}, measured=28,
        why="The width falls with the square root of the number of pairs, and the root of 15 is "
            "nearly 4. To halve an interval, one needs four times as many pairs",
        hints=("Does a mean of four times as many values lie four times as near to the truth?",
               "The standard error of a mean of n values is their standard deviation divided by "
               "the square root of n. It is similar for a correlation.")),
    debug_task("own_cosine", "What is missing under the roots of this cosine?",
        _cosine_without_squares, _solve_own_cosine,
        [(np.array([3.0, 4.0]), np.array([6.0, 8.0])),
         (np.array([1.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0])),
         (np.array([2.0, 1.0, 1.0]), np.array([3.0, 1.0, 0.0]))],
        fresh=lambda rng: [(rng.integers(1, 6, size=5).astype(float),
                            rng.integers(1, 6, size=5).astype(float)) for _ in range(3)],
        symptom="The cosine of (3, 4) with itself should be 1. What is the norm of (3, 4)?",
        wrong={"one root left out": lambda u, v: float(u @ v / ((u**2).sum()
                                                                * np.sqrt((v**2).sum()))),
               "the inner product alone": lambda u, v: float(u @ v),
               "a distance": lambda u, v: float(np.linalg.norm(u - v))},
        hints=("For zeros and ones the sum of the entries equals the sum of their squares.",
               "The norm is the root of the sum of the squared entries.")))
