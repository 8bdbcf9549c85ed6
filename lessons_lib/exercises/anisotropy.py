"""Exercises of lesson ``09_anisotropy``: how long a mean must be, what a shift changes, one vector
for a word, the push on a rare word, a basis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from ._declare import by_name, function_task, value_task, which_of
from .base import Exercise

__all__ = ["EXERCISES"]

_REASONS = {
    "the mean cosine": "cosines look from the origin, and the origin lies elsewhere now",
    "the share of the first uncentred singular value": "nothing is centred, so the mean is in it",
    "the angle of the cone": "it is seen from the origin",
    "IsoScore": "it is made of the covariance alone",
    "distances of nearest neighbours": "x + m and y + m are as far apart as x and y",
    "the covariance": "it is measured around the mean, wherever that is"}
CHANGES = tuple(_REASONS)
CHANGED = frozenset(CHANGES[:3])                 # tests/exercises/test_anisotropy.py measures it


def _solve_explained(X: np.ndarray) -> float:
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    return squares[0] / squares.sum()


def _centred_first(X: np.ndarray) -> float:
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    return squares[0] / max(squares.sum(), 1e-12)


def _without_squares(X: np.ndarray) -> float:
    values = np.linalg.svd(X, compute_uv=False)
    return values[0] / values.sum()


def _variance_of_projections(X: np.ndarray) -> float:
    first = np.linalg.svd(X, full_matrices=False)[2][0]
    return (X @ first).var() / max(X.var(axis=0).sum(), 1e-12)


_TALL = np.array([[3.0, 0.0, 1.0], [3.0, 1.0, 0.0], [4.0, -1.0, 0.0], [2.0, 0.0, -2.0]])
_EXPLAINED_CASES = [(np.eye(2),), (np.array([[1.0, 2.0], [2.0, 4.0]]),), (_TALL,),
                    (np.vstack([_TALL, -_TALL]),)]


def _solve_push(w: np.ndarray, H: np.ndarray, others: np.ndarray) -> np.ndarray:
    scores = np.column_stack([H @ w, H @ others.T])
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = e[:, 0] / e.sum(axis=1)
    return -p @ H / len(H)


def _against_itself(w: np.ndarray, H: np.ndarray, others: np.ndarray) -> np.ndarray:
    return -np.linalg.norm(_solve_push(w, H, others)) * w / np.linalg.norm(w)


_H = np.array([[1.0, 0.5], [1.0, -0.5], [2.0, 0.0]])
_PUSH_CASES = [(np.array([1.0, 2.0]), np.array([[1.0, 1.0]]), np.array([[0.5, -1.0]])),
               (np.array([0.0, 1.0]), _H, np.array([[1.0, 0.0], [0.0, 0.0]])),
               (np.array([3.0, -1.0]), _H, np.eye(2)), (np.array([800.0, 0.0]), _H,
                                                        np.array([[790.0, 0.0]]))]


def _solve_basis_cosine(x: np.ndarray, y: np.ndarray, B: np.ndarray) -> float:
    G = B @ B.T
    return x @ G @ y / np.sqrt((x @ G @ x) * (y @ G @ y))


def _cosine(product: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """The cosine under another inner product."""
    return lambda x, y, B: x @ (G := product(B)) @ y / np.sqrt((x @ G @ x) * (y @ G @ y))


_B = np.array([[1.0, 0.0], [1.0, 1.0]])
_BASIS_CASES = [(np.array([1.0, 0.0]), np.array([0.0, 1.0]), _B),
                (np.array([1.0, 2.0]), np.array([2.0, -1.0]), _B),
                (np.array([1.0, -2.0]), np.array([3.0, 1.0]), np.array([[2.0, 1.0], [0.5, 3.0]])),
                (np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, -1.0]),
                 np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]))]


def _judge_even_looking(points: Any) -> str | None:
    x = np.asarray(points, dtype=float)
    if x.ndim != 2 or x.shape[1] != 2 or not 3 <= len(x) <= 50:
        return ("expected shape (n, 2) with n from 3 to 50, one vector per row; yours has shape "
                f"{x.shape}")
    if not np.isfinite(x).all() or (np.linalg.norm(x, axis=1) < 1e-6).any():
        return "one of your vectors has no length, or no numbers"
    u = x / np.linalg.norm(x, axis=1, keepdims=True)
    total = u.sum(axis=0)
    mean = float((total @ total - len(u)) / (len(u) * (len(u) - 1)))
    if abs(mean) > 0.05:
        return ("the mean cosine of all pairs should lie between -0.05 and 0.05; yours is "
                f"{mean:.3f}")
    spread = np.linalg.svd(x - x.mean(axis=0), compute_uv=False) ** 2
    if spread[0] == 0:
        return "all your vectors are equal"
    ratio = float(spread.sum() ** 2 / (spread**2).sum() - 1)
    return (None if ratio <= 0.1
            else f"IsoScore should be at most 0.1: nearly a line; yours is {ratio:.3f}")


def _fresh_contexts(rng: Generator) -> list[tuple]:
    large = float(rng.integers(700, 900))  # without the largest score taken away, exp overflows
    return [*((rng.normal(size=d), rng.normal(size=(n, d)) + 0.5, rng.normal(size=(4, d))) for n,
              d in ((2, 3), (5, 4))), (np.array([large, 0.0]), _H, np.array([[large - 10, 0.0]]))]


EXERCISES = by_name(
    value_task("length_of_mean", "How long is the common mean behind a mean cosine of 0.9?",
        30.0, rtol=0.01,
        remark="Put 0.9 into the formula of a common mean; what is E‖ε‖² of 100 numbers with "
               "variance 1?",
        wrong=(9.0, 3.0, 0.9, 90.0, 900.0),
        hints=("E‖ε‖² is the sum of the variances: 100.",
               "L² / (L² + 100) = 0.9. Solve for L², then take the root.")),
    which_of("changes", "Which numbers change when one vector is added to all rows?",
        _REASONS, CHANGED,
        wrong=(set(CHANGES[:1]), set(CHANGES[:2]), set(CHANGES[:4]), set(CHANGES),
               set(CHANGES[3:])),
        hints=("Ask of each number: is it seen from the origin, or from the mean?",
               "Three of the six change.")),
    function_task("explained", "How well one static vector stands for all occurrences of a word",
        _solve_explained, _EXPLAINED_CASES,
        fresh=lambda rng: [(rng.normal(size=(n, d)) + rng.normal(size=d),)
                           for n, d in ((2, 3), (5, 4), (9, 3))],
        wrong={"centred first": _centred_first,
               "no squares": _without_squares,
               "variance of the projections": _variance_of_projections,
               "the mean as the one vector":
                   lambda X: len(X) * (X.mean(axis=0) @ X.mean(axis=0)) / (X**2).sum()},
        hints=("np.linalg.svd(X, compute_uv=False) gives the singular values, the largest first.",
               "Squares, and the first over their sum. X stays as it is.")),
    function_task("push", "Where a step of training sends a word that is never the answer",
        _solve_push, _PUSH_CASES, fresh=_fresh_contexts,
        wrong={"towards the contexts": lambda w, H, others: -_solve_push(w, H, others),
               "away from the mean context": lambda w, H, others: -H.mean(axis=0),
               "its own score left out":
                   lambda w, H, others: -(np.exp(H @ w)
                                          / np.exp(H @ others.T).sum(axis=1)) @ H / len(H),
               "back to the origin": _against_itself},
        hints=("The loss of a context h is log Σ exp(h·w) less the score of the answer. The word "
               "is in the first part only.",
               "Its gradient is p(w | h) h, with p a softmax over w and all others. Take the mean "
               "over the contexts, and go downhill.")),
    function_task("basis_cosine",
        "The cosine of two vectors whose coordinates belong to some basis",
        _solve_basis_cosine, _BASIS_CASES,
        fresh=lambda rng: [(rng.normal(size=d), rng.normal(size=d),
                            rng.normal(size=(d, d)) + 2 * np.eye(d)) for d in (2, 3, 5)],
        wrong={
            "by coordinates": lambda x, y, B: x @ y / np.sqrt((x @ x) * (y @ y)),
            "BᵀB instead of BBᵀ": _cosine(lambda B: B.T @ B),
            "the inverse of G": _cosine(lambda B: np.linalg.inv(B @ B.T)),
            "lengths by coordinates": lambda x, y, B: x @ B @ B.T @ y / np.sqrt((x @ x) * (y @ y))},
        hints=("The vectors themselves are x @ B and y @ B.",
               "With G = B @ B.T every inner product is x @ G @ y; lengths are inner products, "
               "too.")),
    Exercise("even_looking", question="Vectors with a mean cosine of 0 that nearly lie on a line",
        judge=_judge_even_looking,
        solution=np.array([[1.0, 0.02], [1.0, -0.02], [1.0, 0.0], [-1.0, 0.0]]),
        wrong={"a square": np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]),
               "no line": np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]),
               "two against two": np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.1]]),
               "all on one side": np.array([[1.0, 0.1], [1.0, 0.0], [1.0, -0.1], [1.0, 0.05]]),
               "an even star":
                   np.array([[np.cos(t), np.sin(t)] for t in np.arange(5) * 2 * np.pi / 5])},
        hints=("The mean cosine is 0 where ‖Σu‖² = n.",
               "On a line every u is +1 or -1. How many of four have to be negative for (Σu)² = "
               "4?")))
