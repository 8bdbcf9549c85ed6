"""Exercises of lesson ``14_simcse``: the loss, its gradient and its hard negatives, what it is
before anything is learned, when two views are one, and a cloud for which the bound on the largest
eigenvalue fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp, softmax

from ._declare import by_name, function_task, labelled, which_of
from .base import Exercise, judge_value

__all__ = ["EXERCISES"]


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _solve_simcse_loss(h: np.ndarray, h_plus: np.ndarray, tau: float) -> float:
    u, v = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (h, h_plus))
    s = u @ v.T / tau
    return float((logsumexp(s, axis=1) - np.diag(s)).mean())


def _without_own(h: np.ndarray, h_plus: np.ndarray, tau: float) -> float:
    s = _unit(h) @ _unit(h_plus).T / tau
    others = np.where(np.eye(len(s), dtype=bool), -np.inf, s)
    return float((logsumexp(others, axis=1) - np.diag(s)).mean())


def _vectors(seed: int, n: int, d: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).round(2)


_H, _P, _N = (_vectors(seed, 4, 3) for seed in (0, 1, 2))
_LOSS_CASES = [(np.eye(2), 2 * np.eye(2)[::-1], 1.0), (_H[:2], _P[:2], 0.5), (_H, _P, 0.5),
               (_H, _P, 0.05), (5 * _H, _P, 0.05)]


def _solve_hard_negatives(h: np.ndarray, h_plus: np.ndarray, h_minus: np.ndarray, tau: float,
                          alpha: float) -> float:
    u, v, w = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (h, h_plus, h_minus))
    s, t = u @ v.T / tau, u @ w.T / tau + np.log(alpha) * np.eye(len(h))
    return float((logsumexp(np.hstack([s, t]), axis=1) - np.diag(s)).mean())


def _hard(weigh: Callable[[np.ndarray, float], np.ndarray], own: bool = False) -> Callable:
    """The loss with another treatment of the negatives' logits; ``own``: each sentence sees its own
    negative only.
    """
    def hard_negatives(h, h_plus, h_minus, tau, alpha):
        s, t = _unit(h) @ _unit(h_plus).T / tau, weigh(_unit(h) @ _unit(h_minus).T / tau, alpha)
        t = np.diag(t)[:, None] if own else t
        return float((logsumexp(np.hstack([s, t]), axis=1) - np.diag(s)).mean())

    return hard_negatives


_HARD_CASES = [(_H[:2], _P[:2], _N[:2], 0.5, 1.0), (_H, _P, _N, 0.5, 1.0), (_H, _P, _N, 0.05, 2.0),
               (_H, _P, _N, 0.5, 0.5)]


def _solve_pull(s: np.ndarray, tau: float) -> np.ndarray:
    return (softmax(s / tau, axis=1) - np.eye(len(s))) / (len(s) * tau)


_COSINES = np.array([[0.9, 0.1, -0.2], [0.3, 0.8, 0.7], [0.0, 0.2, 0.4]])
_PULL_CASES = [(_COSINES[:2, :2], 1.0), (_COSINES, 1.0), (_COSINES, 0.5), (_COSINES, 0.1)]

_REASONS = {
    "dropout of 0.1, two masks": "every pass draws its own mask",
    "dropout of 0.1, one mask for both": "the same units are missing twice",
    "dropout of 0": "nothing is left to chance",
    "dropout of 0, one word deleted in the second": "the model reads another text",
    "dropout of 0, the second in capitals":
        "the tokenizer of LessonBERT, like that of bert-base-uncased, lowers all letters",
    "dropout of 0.1, evaluation mode":
        "dropout is for training: a model that is evaluated drops nothing"}
WAYS = tuple(_REASONS)
SAME = frozenset((WAYS[1], WAYS[2], WAYS[4], WAYS[5]))  # tests/exercises/test_simcse.py measures it


def _judge_counterexample(answer: Any) -> str | None:
    x = np.asarray(answer, dtype=float)
    if x.shape != (3, 2) or not np.isfinite(x).all() or (np.linalg.norm(x, axis=1) < 1e-6).any():
        return ("expected three directions of the plane, [[a, b], [c, d], [e, f]], none of them "
                f"zero; yours has shape {x.shape}")
    W = _unit(x)
    total, largest = float((W @ W.T).sum()), float(np.linalg.eigvalsh(W @ W.T)[-1])
    if largest > total + 1e-6:
        return None
    return (f"the sum of all cosines is {total:.2f} and the largest eigenvalue {largest:.2f}: here "
            "the bound holds")


def _fresh_hard(rng: Generator) -> list[tuple]:
    weights = zip((2, 3, 5), rng.uniform(0.1, 0.9, size=3), (0.3, 2.0, rng.uniform(3, 6)),
                  strict=True)
    return [(*rng.normal(size=(3, n, 3)), float(tau), float(alpha)) for n, tau, alpha in weights]


EXERCISES = by_name(
    Exercise("first_loss",
        question="The loss of a model that gives all 64 sentences of a batch the same vector",
        judge=judge_value(float(np.log(64)), rtol=0.005,
                          remark="All 64 candidates look alike, so how large a share does the "
                                 "right one get?"),
        solution=round(float(np.log(64)), 4),
        wrong=labelled(0.0, 1.0, 64.0, 20.0, float(np.log2(64))),
        hints=("The loss is −log of the share that the right candidate gets.",
               "The share is 1/64, and the logarithm is the natural one.")),
    which_of("same_views",
        "For which of six ways are the two views of a sentence one and the same vector?",
        _REASONS, SAME,
        wrong=({WAYS[1], WAYS[2]}, {WAYS[2]}, {WAYS[1], WAYS[2], WAYS[4]},
               {WAYS[1], WAYS[2], WAYS[5]}, set(WAYS[1:])),
        hints=("Ask of each: does the model read the same pieces twice, and are the same units "
               "missing both times?",
               "Four of the six.")),
    function_task("simcse_loss", "The loss of a batch, from the vectors of both views",
        _solve_simcse_loss, _LOSS_CASES,
        fresh=lambda rng: [(*rng.normal(size=(2, n, d)), float(tau))
                           for (n, d), tau in zip(((2, 2), (3, 4), (6, 3)),
                                                  rng.uniform(0.1, 0.9, size=3), strict=True)],
        wrong={"lengths are kept":
                   lambda h, h_plus, tau: float((logsumexp((s := h @ h_plus.T / tau), axis=1)
                                                  - np.diag(s)).mean()),
               "times τ": lambda h, h_plus, tau: _solve_simcse_loss(h, h_plus, 1 / tau),
               "own candidate left out below": _without_own,
               "sum, not mean": lambda h, h_plus, tau: len(h) * _solve_simcse_loss(h, h_plus, tau),
               "first views with themselves": lambda h, h_plus, tau: _solve_simcse_loss(h, h, tau)},
        hints=("Scale rows to length 1 first; s = u @ v.T / tau has the right candidate of "
               "sentence i at s[i, i].",
               "For each row: log of the sum of exponentials, less the diagonal. Then the mean.")),
    function_task("pull", "The derivative of the mean loss by every cosine",
        _solve_pull, _PULL_CASES,
        fresh=lambda rng: [(rng.uniform(-1, 1, size=(n, n)), float(tau))
                           for n, tau in zip((2, 3, 5), rng.uniform(0.1, 0.9, size=3),
                                             strict=True)],
        wrong={
            "right candidate not subtracted":
                lambda s, t: softmax(s / t, axis=1) / (len(s) * t),
            "not divided by τ":
                lambda s, t: (softmax(s / t, axis=1) - np.eye(len(s))) / len(s),
            "not divided by n": lambda s, t: (softmax(s / t, axis=1) - np.eye(len(s))) / t,
            "columns": lambda s, t: (softmax(s / t, axis=0) - np.eye(len(s))) / (len(s) * t),
            "uphill": lambda s, t: (np.eye(len(s)) - softmax(s / t, axis=1)) / (len(s) * t)},
        hints=("The derivative of log Σ exp(x_j) by x_j is softmax(x)_j.",
               "Softmax of each row of s / tau, less 1 on the diagonal, by n and by τ.")),
    function_task("hard_negatives", "The loss with hard negatives, the own one α times",
        _solve_hard_negatives, _HARD_CASES, fresh=_fresh_hard,
        wrong={"α on all negatives": _hard(lambda t, a: t + np.log(a)),
               "α, not log α": _hard(lambda t, a: t + (a - 1) * np.eye(len(t))),
               "times α": _hard(lambda t, a: t * (1 + (a - 1) * np.eye(len(t)))),
               "own negative only": _hard(lambda t, a: t + np.log(a), own=True),
               "no negatives": _hard(lambda t, a: t - np.inf)},
        hints=("Each sentence has 2n candidates: all positives and all negatives of the batch. "
               "Join two tables side by side.",
               "exp(t + log α) is α exp(t): add np.log(alpha) to the diagonal of the second "
               "table.")),
    Exercise("counterexample",
        question="Three directions for which the largest eigenvalue exceeds the sum of all entries",
        judge=_judge_counterexample,
        solution=np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]]),
        wrong={"the cross": np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]),
               "one direction": np.array([[1.0, 0.0]] * 3),
               "a narrow cone": np.array([[1.0, 0.0], [1.0, 0.2], [1.0, -0.2]]),
               "a wide cone": np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]),
               "one negative cosine": np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]]),
               "a shape": np.ones((3, 3))},
        hints=("The bound needs cosines that are ≥ 0. Which three directions have a sum of zero, "
               "or nearly?",
               "A star with three rays; or a vector, its opposite, and any third one.")))
