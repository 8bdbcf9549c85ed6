"""Exercises of lesson ``10_sbert``: labels of pairs, features of a pair, the triplet loss, the
gradient of the cosine regression, what a classifier cannot see, and pairs that only a comparison
tells apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.random import Generator

from ..core import shown
from ._declare import by_name, function_task, labelled, value_task, which_of
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


def _solve_features(u: np.ndarray, v: np.ndarray, names: list[str]) -> np.ndarray:
    known = {"u": u, "v": v, "|u-v|": np.abs(u - v), "u*v": u * v}
    return np.hstack([known[name] for name in names])


def _with(difference: Callable, product: Callable) -> Callable:
    def features(u, v, names):
        known = {"u": u, "v": v, "|u-v|": difference(u, v), "u*v": product(u, v)}
        return np.hstack(
            [known[name] if known[name].ndim == 2 else known[name][:, None] for name in names])

    return features


_U = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]])
_V = np.array([[2.0, 0.5], [1.0, -1.0], [-3.0, 1.0]])
_FEATURE_CASES = [(_U, _V, ["u", "v", "|u-v|"]), (_U, _V, ["|u-v|"]), (_U, _V, ["u*v", "|u-v|"]),
                  (_U[:1], _V[:1], ["v", "u"]), (_V, _U, ["u", "v", "|u-v|", "u*v"])]


def _solve_triplet(a: np.ndarray, p: np.ndarray, n: np.ndarray, margin: float) -> float:
    near, far = np.linalg.norm(a - p, axis=1), np.linalg.norm(a - n, axis=1)
    return float(np.maximum(near - far + margin, 0).mean())


def _triplet_of(of, power=1):
    def triplet(a, p, n, margin):
        return float(of(np.linalg.norm(a - p, axis=1)**power, np.linalg.norm(a - n, axis=1)**power,
                        margin).mean())

    return triplet


_A, _P, _N = np.zeros((1, 2)), np.array([[1.0, 0.0]]), np.array([[0.0, 3.0]])
_TRIPLET_CASES = [(_A, _P, _N, 1.0), (_A, _P, np.array([[0.0, 1.0]]), 1.0), (_A, _P, _P, 5.0),
                  (_A, _N, _P, 0.0), (np.vstack([_A, _A]), np.vstack([_P, _N]), np.vstack([_N, _P]),
                                      1.0)]


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


def _fresh_features(rng: Generator) -> list[tuple]:
    names = ["u", "v", "|u-v|", "u*v"]
    orders = ([names[i] for i in rng.permutation(4)], ["|u-v|", "u"], ["u*v", "v", "|u-v|"])
    return [(*rng.normal(size=(2, n, d)), order) for (n, d), order in zip(((1, 2), (4, 3), (3, 5)),
                                                                          orders, strict=True)]


def _fresh_triplets(rng: Generator) -> list[tuple]:
    cases = []
    for n, d in ((2, 2), (4, 3), (7, 2)):
        a, p, q = rng.normal(size=(3, n, d))
        # one triplet is content, one is the wrong way round
        p[:2], q[:2] = [a[0] + 0.1, a[1] + 2], [a[0] + 2, a[1] + 0.1]
        cases.append((a, p, q, float(rng.uniform(0.2, 1.5))))
    return cases


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
    function_task("features", "What the classifier sees of a pair",
        _solve_features, _FEATURE_CASES, fresh=_fresh_features,
        wrong={"always in one order":
                   lambda u, v, names: _solve_features(
                       u, v, sorted(names, key=("u", "v", "|u-v|", "u*v").index)),
               "difference with its sign": _with(lambda u, v: u - v, lambda u, v: u * v),
               "inner product": _with(lambda u, v: np.abs(u - v), lambda u, v: (u * v).sum(axis=1)),
               "length of the difference":
                   _with(lambda u, v: np.linalg.norm(u - v, axis=1), lambda u, v: u * v),
               "difference squared": _with(lambda u, v: (u - v)**2, lambda u, v: u * v)},
        hints=("A dict from name to array, then the arrays side by side, in the order of the "
               "names.",
               "np.hstack([...]) of arrays (n, dim).")),
    function_task("triplet", "Mean over the triplets of max(‖a - p‖ - ‖a - n‖ + margin, 0)",
        _solve_triplet, _TRIPLET_CASES, fresh=_fresh_triplets,
        wrong={"squared lengths":
                   _triplet_of(lambda near, far, m: np.maximum(near - far + m, 0), power=2),
               "hinge after the mean":
                   lambda a, p, n, margin: max(float((np.linalg.norm(a - p, axis=1)
                                                      - np.linalg.norm(a - n, axis=1)).mean())
                                               + margin, 0.0),
               "signs exchanged": _triplet_of(lambda near, far, m: np.maximum(far - near + m, 0)),
               "no hinge": _triplet_of(lambda near, far, m: near - far + m),
               "margin outside": _triplet_of(lambda near, far, m: np.maximum(near - far, 0) + m)},
        hints=("One distance per row: np.linalg.norm(a - p, axis=1).",
               "The maximum with 0 is taken for each triplet, then the mean.")),
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
    value_task("weights",
        "How many numbers are in the head that sees u, v, |u - v| and u * v, for vectors of 768 "
        "numbers and three classes?",
        9219,
        remark="How many features has a pair, how many rows has W, and what else is in a head?",
        wrong={"without b": 9216,
               "three features": 6915,
               "three features, without b": 6912,
               "one class": 3073,
               "one b for each feature": 12288},
        hints=("A pair has 4 · 768 features; W has a row of them for each class.",
               "3 · 4 · 768 numbers in W, and 3 in b.")))
