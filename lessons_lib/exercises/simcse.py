"""Exercises of lesson ``14_simcse``: the loss of equal vectors, when two views are one, hard
negatives with a weight, three directions whose largest eigenvalue exceeds the sum of their cosines,
one mask for both views, and a loss that stays where it began.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from ._declare import (by_name, debug_task, experiment_task, function_task, labelled,
                       which_of)
from .base import Exercise, judge_value

__all__ = ["EXERCISES"]


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _vectors(seed: int, n: int, d: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).round(2)


_H, _P, _N = (_vectors(seed, 4, 3) for seed in (0, 1, 2))


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


def _fresh_hard(rng: Generator) -> list[tuple]:
    weights = zip((2, 3, 5), rng.uniform(0.1, 0.9, size=3), (0.3, 2.0, rng.uniform(3, 6)),
                  strict=True)
    return [(*rng.normal(size=(3, n, 3)), float(tau), float(alpha)) for n, tau, alpha in weights]


_REASONS = {
    "dropout of 0.1, two masks": "every pass draws its own mask",
    "dropout of 0.1, one mask for both": "the same numbers are set to zero twice",
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
    return (f"the sum of all cosines is {total:.2f} and the largest eigenvalue {largest:.2f}, "
            "which is not above it. How small can you make the sum? With u, v and w at norm 1 it "
            "is the squared norm of u + v + w")


def _loss_of_logits(logits: Callable[[np.ndarray, float], np.ndarray]) -> Callable:
    """The loss with other logits: ``logits(cosines, τ)``."""
    def loss(h, h_plus, tau):
        s = logits(_unit(h) @ _unit(h_plus).T, tau)
        return float((logsumexp(s, axis=1) - np.diag(s)).mean())

    return loss


_stuck_loss = _loss_of_logits(lambda cosines, tau: cosines * tau)           # the fault


def _solve_stuck_loss(h: np.ndarray, h_plus: np.ndarray, tau: float) -> float:
    u, v = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (h, h_plus))
    s = u @ v.T / tau
    return float((np.log(np.exp(s).sum(axis=1)) - np.diag(s)).mean())


EXERCISES = by_name(
    Exercise("equal_loss",
        question="The supervised loss of a model that gives all sentences the same vector",
        judge=judge_value(float(np.log(128)), rtol=0.005,
                          remark="All candidates look alike. How many are there, and how large a "
                                 "share does the right one get?"),
        solution=round(float(np.log(128)), 4),
        wrong=labelled(0.0, float(np.log(64)), float(np.log(65)), float(np.log(192)), 128.0,
                       float(np.log2(128))),
        hints=("The loss is −log of the share that the right candidate gets.",
               "64 entailments and 64 contradictions; the logarithm is the natural one.")),
    which_of("same_views", "For which of these ways are the two views of a sentence one and the "
             "same vector?",
        _REASONS, SAME,
        wrong=({WAYS[1], WAYS[2]}, {WAYS[2]}, {WAYS[1], WAYS[2], WAYS[4]},
               {WAYS[1], WAYS[2], WAYS[5]}, set(WAYS[1:])),
        hints=("Ask of each: does the model read the same tokens twice, and are the same numbers "
               "set to zero both times?",
               "Four of the six.")),
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
        hints=("With no cosine below 0 the sum is never smaller. Which three directions have the "
               "sum zero, or nearly?",
               "A star with three rays; or a vector, its opposite, and any third one.")),
    experiment_task("one_mask", "Does one mask for both views ruin the bag, too?",
        {"far below no training": (20, 63), "about as no training": (63, 69),
         "about as with two masks": (69, 76)},
        measured=73.4,
        why="both views are equal, so the positive pulls nothing, and only the negatives teach. "
            "This is so with dropout 0, too, and for the bag, in a training this short, that was "
            "enough. We did not test why one mask ruins BERT, which has masks in every layer",
        hints=("What is the cosine of a vector with itself? So which part of the loss is left?",
               "In a copy of train: anchors = encoder(columns[0][rows]), and candidates = "
               "[anchors].")),
    debug_task("stuck_loss", "Why does the loss stay near ln N?", _stuck_loss, _solve_stuck_loss,
        [(_H, _P, 0.5), (_H, _P, 0.05)],
        fresh=lambda rng: [(*rng.normal(size=(2, n, 4)), float(tau)) for n, tau in
                           zip((2, 5), rng.uniform(0.1, 0.9, size=2), strict=True)],
        symptom="Between which numbers are the logits when τ is 0.05?",
        wrong={"τ twice": _loss_of_logits(lambda cosines, tau: cosines / tau**2),
               "no temperature": _loss_of_logits(lambda cosines, tau: cosines),
               "the other sign": _loss_of_logits(lambda cosines, tau: -cosines / tau)},
        hints=("ln N is the loss where all candidates are equally likely. When are the logits of a "
               "row nearly equal?",
               "Divide the cosines by τ.")))
