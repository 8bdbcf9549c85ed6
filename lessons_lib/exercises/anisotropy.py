"""Exercises of lesson ``09_anisotropy``: the norm of a common mean, what a shift changes, the push
on a rare word, a softmax with a table of its own, a regulariser without effect.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from ._declare import (by_name, debug_task, experiment_task, function_task, value_task,
                       which_of)
from .base import Exercise

__all__ = ["CHANGED", "CHANGES", "EXERCISES"]

_REASONS = {
    "the mean cosine": "cosines look from the origin, and the origin lies elsewhere now",
    "the norms": "a norm is the distance to the origin",
    "the order of pairs by cosine": "the origin moves; does each angle change by the same amount?",
    "the distances of nearest neighbours": "x + m and y + m are as far apart as x and y",
    "the covariance": "it is measured around the mean, wherever that is",
    "the vectors after all-but-the-top": "what is its first step?"}
CHANGES = tuple(_REASONS)
CHANGED = frozenset(CHANGES[:3])                 # tests/exercises/test_anisotropy.py measures it


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


def _no_effect(W: np.ndarray) -> float:
    unit = W / np.linalg.norm(W)
    total = unit.sum(axis=0)
    return (total @ total - (unit * unit).sum()) / (len(W) * (len(W) - 1))


def _solve_no_effect(W: np.ndarray) -> float:
    unit = W / np.linalg.norm(W, axis=1, keepdims=True)
    total = unit.sum(axis=0)
    return (total @ total - (unit * unit).sum()) / (len(W) * (len(W) - 1))


_W = np.array([[1.0, 0.0], [3.0, 3.0], [0.0, 2.0], [-1.0, 0.5]])
_W_CASES = [(_W[:2],), (_W[:3],), (_W,), (np.vstack([_W, 10 * _W]),)]


def _fresh_contexts(rng: Generator) -> list[tuple]:
    large = float(rng.integers(700, 900))  # without the largest score taken away, exp overflows
    return [*((rng.normal(size=d), rng.normal(size=(n, d)) + 0.5, rng.normal(size=(4, d))) for n,
              d in ((2, 3), (5, 4))), (np.array([large, 0.0]), _H, np.array([[large - 10, 0.0]]))]


def _asks_for_the_input(untied: Exercise) -> Exercise:
    """The same; a number of the output table, or of a tied one, is told what it is."""
    def judge(mine: Any) -> str | None:
        text = untied.judge(mine)
        if text and "another number" in text and 0.5 < float(mine[1]) < 0.9:
            return (f"you measured {float(mine[1]):g}. Is this rare(output), or does the copy of "
                    "loss_of still use table.T? The question is about rare(table), of the input")
        return text
    return replace(untied, judge=judge)


EXERCISES = by_name(
    value_task("norm_of_mean", "How large is the norm of the mean behind a mean cosine of 0.9?",
        30.0, rtol=0.01,
        remark="Put 0.9 into the formula of a common mean; what is E‖ε‖² of 100 numbers with "
               "variance 1?",
        wrong=(9.0, 3.0, 0.9, 90.0, 900.0),
        hints=("E‖ε‖² is the sum of the variances: 100.",
               "L² / (L² + 100) = 0.9. Solve for L², then take the root.")),
    which_of("changes", "What changes in general when one vector is added to all rows?",
        _REASONS, CHANGED,
        wrong=(set(CHANGES[:1]), set(CHANGES[:2]), set(CHANGES[:4]), set(CHANGES),
               set(CHANGES[3:])),
        hints=("Ask of each: is it seen from the origin, or from the mean?",
               "Three of the six change.")),
    function_task("push", "Where a step of training sends a word that is never the answer",
        _solve_push, _PUSH_CASES, fresh=_fresh_contexts,
        wrong={"towards the contexts": lambda w, H, others: -_solve_push(w, H, others),
               "away from the mean context": lambda w, H, others: -H.mean(axis=0),
               "its own score left out":
                   lambda w, H, others: -(np.exp(H @ w)
                                          / np.exp(H @ others.T).sum(axis=1)) @ H / len(H),
               "the sum over the contexts": lambda w, H, others: len(H) * _solve_push(w, H, others),
               "back to the origin": _against_itself},
        hints=("The loss of a context h is log Σ exp(h·w) less the score of the answer. The word "
               "is in the first part only.",
               "Its gradient is p(w | h) h, with p a softmax over w and all others. Take the mean "
               "over the contexts, and go downhill.")),
    _asks_for_the_input(experiment_task(
        "untied", "Where is the cone when the softmax has a table of its own?",
        {"stay (above 0.4)": (0.4, 1), "fall by half (0.2 to 0.4)": (0.2, 0.4),
         "stay near 0 (below 0.2)": (-1, 0.2)}, 0.0,
        why="The push acts on the rows that are scored: those of the output table. There two rare "
            "words have a cosine of 0.7. A row of the input table moves only when its word is "
            "read, and a rare word is seldom read.",
        hints=("Which table is multiplied with the hidden states? Its rows get the push.",
               "rare(table) is the number; rare(output) is worth a look, too."))),
    debug_task("no_effect", "The regulariser is tiny from the first step, and the cone comes",
        _no_effect, _solve_no_effect, _W_CASES,
        symptom="The mean cosine of two equal rows is 1. What does the function say for them?",
        wrong={"the largest norm for all":
                   lambda W: _no_effect(W) * np.linalg.norm(W) ** 2
                   / np.linalg.norm(W, axis=1).max() ** 2,
               "columns instead of rows":
                   lambda W: _solve_no_effect(W.T) if W.shape[1] > 1 else 0.0,
               "each cosine with itself":
                   lambda W: (_solve_no_effect(W) * (len(W) - 1) + 1) / len(W),
               "the norm of the mean": lambda W: float(np.linalg.norm(
                   (W / np.linalg.norm(W, axis=1, keepdims=True)).mean(axis=0)))},
        hints=("np.linalg.norm(W) is one number, the norm of the whole table.",
               "A norm for each row: np.linalg.norm(W, axis=1, keepdims=True)."),
        fresh=lambda rng: [(rng.normal(size=(n, d)) + 1,) for n, d in ((3, 2), (5, 4), (9, 3))]))
