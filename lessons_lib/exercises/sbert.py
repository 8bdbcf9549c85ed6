"""Exercises of lesson ``10_sbert``: labels of pairs, the gradient of the cosine regression, what a
classifier cannot see, pairs that only a comparison tells apart, a difference with its sign, and
grades on the wrong scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.random import Generator

from ..core import shown
from ._declare import (by_name, debug_task, experiment_task, function_task, labelled,
                       which_of)
from .base import Exercise

__all__ = ["CHANGES", "EXERCISES", "PAIRS", "UNSEEN", "separable"]

_GUITAR = "A man is playing a guitar on the street."
_CHILDREN = "Three children are eating ice cream."
PAIRS = ((_GUITAR, "A man is making music.", "entailment"),
         (_GUITAR, "A man is playing a guitar for money.", "neutral"),
         (_GUITAR, "A man is asleep in his bed.", "contradiction"),
         ("A man is making music.", _GUITAR, "neutral"),
         (_CHILDREN, "At least two children are eating ice cream.", "entailment"),
         (_CHILDREN, "Nobody is eating.", "contradiction"))
_KINDS = ("entailment", "neutral", "contradiction")
_WHY = ("who plays the guitar makes music", "it may be for money, or not",
        "he cannot do both at once", "the other way round it may be a violin",
        "three are at least two", "three children eat")


def _judge_labels(answer: Any) -> str | None:
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        return f"expected a list of six labels, yours is {type(answer).__name__}"
    mine = list(answer)
    unknown = [label for label in mine if not isinstance(label, str) or label not in _KINDS]
    if len(mine) != len(PAIRS) or unknown:
        has = f"{len(mine)} labels" if len(mine) != len(PAIRS) else shown(unknown[0])
        return f"expected six labels out of {', '.join(_KINDS)}; yours has {has}"
    wrong = [i for i, (label, pair) in enumerate(zip(mine, PAIRS, strict=True)) if label != pair[2]]
    return (f"{len(wrong)} of six are wrong. Think about the first of these, pair {wrong[0] + 1}: "
            f"{_WHY[wrong[0]]}" if wrong else None)


def _solve_cosine_gradient(u: np.ndarray, v: np.ndarray, y: float) -> np.ndarray:
    a, b = np.linalg.norm(u), np.linalg.norm(v)
    c = u @ v / (a * b)
    return 2 * (c - y) * (v / (a * b) - c * u / a**2)


def _slope(of: Callable) -> Callable:
    """The gradient with another derivative of the cosine c: ``of(u, v, c, |u| |v|)``."""
    def cosine_gradient(u, v, y):
        ab = np.linalg.norm(u) * np.linalg.norm(v)
        return 2 * (u @ v / ab - y) * of(u, v, u @ v / ab, ab)

    return cosine_gradient


_GRADIENT_CASES = [(np.array([1.0, 0.0]), np.array([1.0, 1.0]), 0.2),
                   (np.array([3.0, 4.0]), np.array([1.0, 0.5]), 1.0),
                   (np.array([0.0, 2.0, 0.0]), np.array([1.0, -1.0, 1.0]), 0.0)]

_REASONS = {
    "every vector times 3": "W can be divided by 3",
    "every coordinate by a factor of its own":
        "|su - sv| = |s| |u - v|, number by number, and W can take the factors back",
    "one vector added to all":
        "it cancels in |u - v|, and b can take back what it does to W u and W v",
    "the coordinates in another order": "W can put them back",
    "the sign of one coordinate turned":
        "the absolute value does not see it, and W can turn it in u and v",
    "all vectors turned by one rotation":
        "the absolute value is taken number by number, and turned numbers are mixtures",
    "each vector scaled to length 1": "another factor for every vector; no W takes that back"}
CHANGES = tuple(_REASONS)
UNSEEN = frozenset(CHANGES[:5])                  # tests/exercises/test_sbert.py measures it


def separable(x: np.ndarray, label: np.ndarray) -> bool:
    """Whether a straight cut, w·x + b, puts the two labels (0 and 1) on its two sides.

    Parameters: x (n, d); label (n,).
    """
    from scipy.optimize import linprog

    sign = np.where(label > 0, 1.0, -1.0)[:, None]
    bounds = np.hstack([x, np.ones((len(x), 1))]) * sign  # sign · (w·x + b) >= 1 for all
    return bool(linprog(np.zeros(x.shape[1] + 1), A_ub=-bounds, b_ub=-np.ones(len(x)),
                        bounds=[(None, None)] * (x.shape[1] + 1)).status == 0)


def _judge_compare(answer: Any) -> str | None:
    x = np.asarray(answer, dtype=float)
    if x.ndim != 2 or x.shape[1] != 3 or not 2 <= len(x) <= 20 or not np.isfinite(x).all():
        return f"expected 2 to 20 rows (u, v, label), yours has shape {x.shape}"
    u, v, label = x.T
    if not set(label) <= {0.0, 1.0} or len(set(label)) < 2:
        return f"expected the labels 0 and 1, each at least once; yours are {sorted(set(label))}"
    if separable(np.column_stack([u, v]), label):
        return ("a classifier of (u, v) tells these labels apart: there are w and b with w·(u, v) "
                "+ b on the right side for each pair")
    return None if separable(np.abs(u - v)[:, None],
                             label) else "neither (u, v) nor |u - v| tells these labels apart"


def _raw_grades(u: np.ndarray, v: np.ndarray, grades: np.ndarray) -> float:
    norms = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    return float((((u * v).sum(axis=1) / norms - grades)**2).mean())                # the fault


def _solve_raw_grades(u: np.ndarray, v: np.ndarray, grades: np.ndarray) -> float:
    return _raw_grades(u, v, np.asarray(grades) / 5)


_GRADED = (np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 1.0], [2.0, -1.0]]),
           np.array([4.0, 0.5]))


def _fresh_graded(rng: Generator) -> list[tuple]:
    return [(*rng.normal(size=(2, n, 3)), rng.uniform(0, 5, size=n)) for n in (2, 5)]


EXERCISES = by_name(
    Exercise("labels", question="What follows, what may be, what cannot be?",
        judge=_judge_labels, solution=[label for *_, label in PAIRS],
        wrong=labelled([*_KINDS[:1] * 2, "contradiction", "entailment", *_KINDS[2:] * 2],
                       [*_KINDS, "entailment", "contradiction", "contradiction"],
                       [*_KINDS[:2], "neutral", "neutral", "entailment", "contradiction"],
                       [*_KINDS, "neutral", "contradiction", "contradiction"], ["neutral"] * 6),
        hints=("Ask of each pair: if the first sentence is true, must, may or cannot the second be "
               "true of the same scene?",
               "Each label stands twice.")),
    function_task("cosine_gradient", "The gradient of (cos(u, v) - y)² with respect to u",
        _solve_cosine_gradient, _GRADIENT_CASES,
        fresh=lambda rng: [(*rng.normal(size=(2, d)), float(rng.uniform())) for d in (2, 3, 5)],
        wrong={"not at right angles to u": _slope(lambda u, v, c, ab: v / ab),
               "without the 2": lambda u, v, y: _solve_cosine_gradient(u, v, y) / 2,
               "the other sign": lambda u, v, y: -_solve_cosine_gradient(u, v, y),
               "with respect to v": lambda u, v, y: _solve_cosine_gradient(v, u, y),
               "as if of length 1": _slope(lambda u, v, c, ab: v - c * u)},
        hints=("The derivative of the cosine with respect to u is v / (‖u‖ ‖v‖) less its part "
               "along u.",
               "2 (c - y) (v / (‖u‖ ‖v‖) - c u / ‖u‖²), with c the cosine.")),
    which_of("unseen", "Which changes of all vectors can the classifier take back?",
        _REASONS, UNSEEN,
        wrong=({CHANGES[0]}, set(CHANGES[:2]), set(CHANGES[:4]), set(CHANGES[:6]), set(CHANGES)),
        hints=("For which changes is each new feature a weighted sum, plus a constant, of old ones "
               "that W can undo? u and v: any invertible matrix. And |u - v|?",
               "Five of the seven.")),
    Exercise("compare", question="Pairs of numbers whose labels |u - v| tells and (u, v) cannot",
        judge=_judge_compare,
        solution=np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
        wrong={"told by u":
                   np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]),
               "told by u - v": np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]),
               "told by neither": np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [2.0, 2.0, 1.0]]),
               "one label": np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]),
               "two columns": np.eye(2)},
        hints=("Draw the pairs as points of the plane. A classifier of (u, v) is a straight cut "
               "through it.",
               "Same or different: two pairs with u = v, and two with u and v exchanged. The name "
               "of the puzzle is XOR.")),
    experiment_task("signed_difference", "Can the head compare with u - v?",
        {"as with all three": (61.3, 70), "as with (u, v)": (55, 61.2), "chance": (25, 45)},
        measured=58.3,
        why="W [u; v; u - v] is a sum of a number of u and a number of v, as W [u; v] is: u - v "
            "adds nothing new. The absolute value is what makes it a comparison",
        hints=("Write w · (u - v) as a sum of two terms.",
               "w · u and -w · v: a layer that sees u and v has such terms already. Section 6 has "
               "its accuracy.")),
    debug_task("raw_grades", "Why do all cosines go to 1?", _raw_grades, _solve_raw_grades,
        [_GRADED], fresh=_fresh_graded,
        symptom="Which values can a cosine have, and which the grades?",
        wrong={"the absolute error": lambda u, v, grades: abs(_solve_raw_grades(u, v, grades))**.5,
               "grades from -1 to 1": lambda u, v, grades: _raw_grades(u, v, grades / 2.5 - 1),
               "cosines times 5":
                   lambda u, v, grades: 25 * _solve_raw_grades(u, v, grades)},
        hints=("STS-B has grades from 0 to 5. What does the formula of section 7 expect?",
               "Divide the grades by 5.")))
