"""Exercises of lesson ``13_cosent``: how many terms the loss has, what it cannot see, its gradient,
sums over lower grades, cosines that a squared error and an order judge differently, grades on
another scale, and a loss that is upside down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from ._declare import (by_name, debug_task, experiment_task, function_task, value_task,
                       which_of)
from .base import Exercise

__all__ = ["EXERCISES"]

LABELS = (0, 0, 0, 1, 1, 2, 2, 2, 2, 5)           # of the batch that is asked about

_REASONS = {
    "0.3 added to all cosines": "only differences of cosines are in the sum",
    "all cosines doubled": "every difference doubles: that is another λ",
    "the grades 0, 1, 2 written as 0, 10, 11": "which of two grades is higher is all that is asked",
    "the grades 0, 1, 2 written as 2, 1, 0": "now every pair of pairs counts the other way round",
    "the pairs in another order": "a sum has no order",
    "the two sentences of a pair swapped": "cos(u, v) = cos(v, u)",
    "all vectors three times as long": "a cosine divides by the lengths"}
CHANGES = tuple(_REASONS)
# tests/exercises/test_cosent.py measures it
UNSEEN = frozenset((CHANGES[0], CHANGES[2], CHANGES[4], CHANGES[5], CHANGES[6]))


def _solve_gradient(s: np.ndarray, y: np.ndarray, scale: float) -> np.ndarray:
    terms = np.where(y[:, None] > y, np.exp(scale * (s - s[:, None])), 0.0)
    shares = terms / (1 + terms.sum())
    return scale * (shares.sum(axis=0) - shares.sum(axis=1))


def _gradient(*, one=1.0, flip=False, ties=False, scaled=True, higher=True):
    """The gradient with one thing wrong."""
    def gradient(s, y, scale):
        asked = y[:, None] >= y if ties else y[:, None] > y
        terms = np.where(asked, np.exp(scale * (s - s[:, None])), 0.0)
        shares = terms / (one + terms.sum() + 1e-300)
        slope = shares.sum(axis=0) - higher * shares.sum(axis=1)
        return (scale if scaled else 1.0) * (-slope if flip else slope)

    return gradient


_S, _Y = np.array([0.6, 0.8, 0.1, 0.7]), np.array([1, 0, 0, 2])
_GRADIENT_CASES = [(np.array([0.8, 0.6]), np.array([1, 0]), 20.0),
                   (np.array([0.5, 0.5]), np.array([3, 3]), 20.0), (_S, _Y, 1.0), (_S, _Y, 20.0),
                   (np.array([0.2, 0.9, 0.4, 0.4, 0.5]), np.array([2.0, 1.0, 1.0, 4.5, 0.0]), 5.0)]


def _solve_below(s: np.ndarray, y: np.ndarray) -> np.ndarray:
    order = np.argsort(y, kind="stable")
    running = np.concatenate([[0.0], np.cumsum(np.exp(s[order]))])
    return running[np.searchsorted(y[order], y)]


def _below(at: Callable[[np.ndarray, np.ndarray], np.ndarray], in_order: bool = True) -> Callable:
    """The running sums at other places, or of exponentials that were not sorted."""
    def below(s, y):
        order = np.argsort(y, kind="stable")
        running = np.concatenate([[0.0], np.cumsum(np.exp(s[order] if in_order else s))])
        return running[at(y[order], y)]

    return below


_ties_counted = _below(lambda rising, y: np.searchsorted(rising, y, side="right"))
_BELOW_CASES = [(np.array([0.5, 0.1]), np.array([1.0, 0.0])),
                (np.array([0.5, 0.1, 0.3]), np.array([2.0, 2.0, 2.0])),
                (np.array([0.3, -0.2, 0.9, 0.4, 0.0]), np.array([3.0, 0.0, 3.0, 1.0, 0.0])),
                (np.array([0.7]), np.array([4.0]))]

GRADES = np.array([0.0, 0.5, 1.0])
SAME = 0.01                                       # by how much the means of the two rows may differ


def _judge_disagree(answer: Any) -> str | None:
    x = np.asarray(answer, dtype=float)
    if x.shape != (2, 3) or not np.isfinite(x).all() or (np.abs(x) > 1).any():
        return ("expected two rows of three cosines between -1 and 1, [[a, b, c], [d, e, f]]; "
                f"yours has shape {x.shape}")
    error, in_order = ((x - GRADES) ** 2).mean(axis=1), (np.diff(x, axis=1) > 0).all(axis=1)
    if not in_order[0]:
        return f"the first row, {x[0].tolist()}, should rise as the grades do"
    if in_order[1]:
        return (f"the second row, {x[1].tolist()}, rises as the grades do; it should have a pair "
                "out of order")
    if abs(x[0].mean() - x[1].mean()) > SAME:
        return (f"the means are {x[0].mean():.2f} and {x[1].mean():.2f}; the rows should have the "
                "same mean, so that the level is no reason")
    if error[1] < error[0]:
        return None
    return (f"squared errors {error[0]:.3f} and {error[1]:.3f}: the second row should have the "
            "smaller one")


def _fresh_batches(rng: Generator) -> list[tuple]:
    batches = zip((3, 5, 7), rng.uniform(0.5, 6, size=3), strict=True)
    return [(rng.uniform(-0.5, 1, size=n), np.array([2, 0, 2, *rng.integers(0, 4, size=n - 3)]),
             float(scale)) for n, scale in batches]


def _upside_down(s: np.ndarray, y: np.ndarray, scale: float) -> float:
    differences = scale * (s[:, None] - s)                                          # the fault
    return float(np.log1p(np.exp(differences[y[:, None] > y]).sum()))


def _solve_upside_down(s: np.ndarray, y: np.ndarray, scale: float) -> float:
    return _upside_down(-s, y, scale)


EXERCISES = by_name(
    value_task("terms", "How many exponentials, besides the 1, does the loss of a batch with ten "
        "grades add up?",
        35,
        remark="Count the ordered pairs: the first has the strictly higher grade. The 1 is not "
               "counted.",
        wrong={"all pairs": 45, "both ways": 90, "ties counted": 44, "neighbours": 9,
               "different grades": 6, "the 1 counted": 36},
        hints=("All pairs of ten are 45. Which of them make no term?",
               "Equal grades make none: 3 pairs of zeros, 1 of ones, 6 of twos.")),
    which_of("unseen", "Which changes leave CoSENT as it is?",
        _REASONS, UNSEEN,
        wrong=(set(CHANGES), set(CHANGES[4:]), UNSEEN | {CHANGES[1]}, UNSEEN | {CHANGES[3]},
               UNSEEN - {CHANGES[2]}),
        hints=("In the formula a cosine stands in a difference, and a grade in a comparison.",
               "Five of the seven.")),
    function_task("gradient", "∂L/∂s of CoSENT",
        _solve_gradient, _GRADIENT_CASES, fresh=_fresh_batches,
        wrong={"the 1 forgotten": _gradient(one=0.0),
               "uphill": _gradient(flip=True),
               "equal grades count": _gradient(ties=True),
               "without λ": _gradient(scaled=False),
               "lower pairs only": _gradient(higher=False)},
        hints=("terms[i, j] = exp(λ (s[j] - s[i])) where y[i] > y[j], else 0. Divide them by 1 + "
               "their sum: those are the shares.",
               "s[k] stands with + in column k and with - in row k: λ times column sums less row "
               "sums.")),
    function_task("below",
        "For each pair, the sum of exp(s) over the pairs with a strictly smaller grade, without a "
        "loop",
        _solve_below, _BELOW_CASES,
        fresh=lambda rng: [(rng.normal(size=n),
                            np.array([2.5, 0.5, 2.5, *rng.integers(0, 4, size=n - 3)]))
                           for n in (3, 6, 9)],
        wrong={"equal grades counted":
                   _ties_counted,
               "by place, ties or not":
                   _below(lambda rising, y: np.argsort(np.argsort(y, kind="stable"))),
               "left in sorted order": _below(lambda rising, y: np.searchsorted(rising, rising)),
               "sums not sorted": _below(np.searchsorted, in_order=False),
               "the larger ones": lambda s, y: np.exp(s).sum() - _ties_counted(s, y)},
        hints=("Sort by grade, take running sums with a 0 before the first; running[k] is the sum "
               "over the k smallest.",
               "np.searchsorted(sorted_grades, y) says how many grades are strictly smaller.")),
    Exercise("disagree",
        question="Two rows of cosines with one mean for the grades 0, 0.5, 1: the first in order, "
                 "the second with the smaller squared error",
        judge=_judge_disagree, solution=np.array([[0.49, 0.50, 0.51], [0.26, 0.25, 0.99]]),
        wrong={"both in order": np.array([[0.1, 0.5, 0.9], [0.0, 0.5, 1.0]]),
               "both out of order": np.array([[0.9, 0.5, 0.1], [0.1, 0.6, 0.5]]),
               "the wrong way round": np.array([[0.26, 0.25, 0.99], [0.49, 0.50, 0.51]]),
               "as in the lesson, by the level": np.array([[0.80, 0.85, 0.90], [0.3, 0.25, 1.0]]),
               "error no smaller": np.array([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]]),
               "no cosines": np.array([[3.0, 4.0, 5.0], [0.1, 0.0, 1.0]])},
        hints=("With the same mean the level is the same. What else is in a squared error that no "
               "ranking notices?",
               "Three cosines close to 0.5 in the right order have an error near 0.17: their "
               "spread is wrong.")),
    experiment_task("squared_grades", "Which loss minds if the grades are squared?",
        {"as before": (-0.2, 1.6), "more than before": (1.61, 12), "less than before": (-8, -0.21)},
        measured=3.8,
        why="With the grades as they are the lead is about one point. The squares have the same "
            "order, so CoSENT is exactly the same. Regression now asks "
            "for cosines near 0 for most pairs, which is another level and another spread",
        hints=("Does the table of ordered pairs change?",
               "Give train the encoder encoder_of(bag), the loss of objective(name, 25), and "
               "the triple (first, second, grades ** 2).")),
    debug_task("upside_down", "Why does the score fall together with the loss?", _upside_down,
        _solve_upside_down, [(_S, _Y, 2.0), (np.array([0.8, 0.6]), np.array([1, 0]), 20.0)],
        fresh=_fresh_batches,
        symptom="Two pairs in order, 0.8 and 0.6 with grades 1 and 0: should the loss be small or "
                "large?",
        wrong={"equal grades count": lambda s, y, scale: float(
                   np.log1p(np.exp((scale * (s - s[:, None]))[y[:, None] >= y]).sum())),
               "without the 1": lambda s, y, scale: float(
                   np.log(np.exp((scale * (s - s[:, None]))[y[:, None] > y]).sum())),
               "the loss turned": lambda s, y, scale: -_upside_down(s, y, scale)},
        hints=("In the formula the exponent is s_j - s_i, with i the higher grade.",
               "Exchange the two terms of the difference, or the sign.")))
