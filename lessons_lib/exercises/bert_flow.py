"""Exercises of lesson ``11_bert_flow``: a density, what keeps volume, two likelihoods, the way
back, couplings that only shift, and a matrix that keeps areas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from ._declare import (by_name, debug_task, experiment_task, function_task, value_task,
                       which_of)
from .base import Exercise

__all__ = ["EXERCISES"]

_REASONS = {
    "an additive coupling": "its Jacobian is triangular; what stands on the diagonal?",
    "an affine coupling": "it multiplies the second half by exp(s)",
    "ActNorm set from data": "data with a standard deviation of 3 are squeezed to 1",
    "a fixed order of the dimensions": "nothing is stretched when numbers change places",
    "a rotation": "a turned square is as large as before",
    "any invertible matrix": "2 I is invertible, too",
    "the inverse of an additive coupling": "log-determinants of a map and its inverse add up to 0"}
MAPS = tuple(_REASONS)
# tests/exercises/test_bert_flow.py measures it
KEEPING = frozenset({MAPS[0], MAPS[3], MAPS[4], MAPS[6]})


def _solve_linear_log_density(x: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    z = (x - b) @ W.T
    gauss = -0.5 * (z**2).sum(axis=1) - 0.5 * x.shape[1] * np.log(2 * np.pi)
    return gauss + np.linalg.slogdet(W)[1]


def _no_determinant(x: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _solve_linear_log_density(x, W, b) - np.linalg.slogdet(W)[1]


def _one_dimension(x: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    return _solve_linear_log_density(x, W, b) + 0.5 * (x.shape[1] - 1) * np.log(2 * np.pi)


def _log_of_signed(x: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return _no_determinant(x, W, b) + np.log(np.linalg.det(W))


_X = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 0.0]])
_LINEAR_CASES = [(np.array([[3.0]]), np.array([[2.0]]), np.array([1.0])),
                 (_X, np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([0.5, 1.0])),
                 (_X, np.array([[0.0, 3.0], [1.0, 0.0]]), np.zeros(2))]

Net = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def _solve_undo(z: np.ndarray, net: Net) -> np.ndarray:
    first, second = np.split(z, 2, axis=1)
    s, t = net(first)
    return np.hstack([first, second * np.exp(-s) - t])


def _undone(way: Callable, of: int = 0) -> Callable:
    """Another way back of the second half; the net reads half number ``of``."""
    def undo(z, net):
        halves = np.split(z, 2, axis=1)
        return np.hstack([halves[0], way(halves[1], *net(halves[of]))])

    return undo


@dataclass(frozen=True)
class _Named:
    """A net that says its formula where a failing case is printed."""

    formula: str
    rule: Net

    def __call__(self, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.rule(h)

    def __repr__(self) -> str:
        return f"<net: {self.formula}>"


_BENT = _Named("s = sin(h), t = h² − 1", lambda h: (np.sin(h), h**2 - 1))
_STRETCHING = _Named("s = 0.5, t = 0", lambda h: (np.full_like(h, 0.5), np.zeros_like(h)))
_Z = np.array([[0.5, 1.0, -1.0, 2.0], [0.0, 0.0, 1.0, 1.0]])
_UNDO_CASES = [(np.array([[1.0, 2.0]]), _BENT), (_Z, _BENT), (_Z, _STRETCHING)]


def _solve_collapsed(z: np.ndarray, log_det: np.ndarray) -> float:
    log_normal = -0.5 * (z**2 + np.log(2 * np.pi)).sum(axis=1)
    return float(-(log_normal + log_det).mean() / z.shape[1])


def _collapsed(z: np.ndarray, log_det: np.ndarray) -> float:
    return _solve_collapsed(z, -log_det)


def _judge_same_area(answer: Any) -> str | None:
    try:
        A = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        return f"expected numbers, [[a, b], [c, d]], yours is {type(answer).__name__}"
    if A.shape != (2, 2) or not np.isfinite(A).all():
        return f"expected shape (2, 2) and finite numbers; yours has shape {A.shape}"
    area, longest = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0], np.linalg.norm(A, 2)
    if not abs(area - 1) <= 1e-6:                # also where it is too large to be known
        return f"a square of area 1 should have the signed area 1 afterwards; yours has {area:.4g}"
    return (None if longest >= 3 - 1e-9
            else "some vector should become at least 3 times as long; the most that yours does is "
            f"{longest:.3g}")


def _fresh_maps(rng: Generator) -> list[tuple]:
    maps = [rng.normal(size=(d, d)) + 2 * np.eye(d) for d in (2, 3, 4)]
    maps[1] *= (-np.sign(np.linalg.det(maps[1])), 1, 1)  # a map that turns space inside out
    return [(rng.normal(size=(4, len(W))), W, rng.normal(size=len(W))) for W in maps]


def _fresh_couplings(rng: Generator) -> list[tuple]:
    a, b = (float(value) for value in rng.uniform(0.3, 0.9, size=2))
    net = _Named(f"s = {a:.3f} cos(h), t = h³ − {b:.3f}", lambda h: (a * np.cos(h), h**3 - b))
    return [(rng.normal(size=(n, d)), net) for n, d in ((1, 2), (3, 4), (4, 6))]


EXERCISES = by_name(
    value_task("density_at", "The density of the square of an even number",
        2.5, rtol=0.01,
        remark="x = 0.04 comes from z = 0.2. How fast does x grow there, and what does that do to "
               "a density of 1?",
        wrong=(1.0, 0.4, 0.2, 12.5, 5.0, 0.08),
        hints=("p(x) = p(z) / |f'(z)|, and p(z) is 1.", "f'(z) = 2 z at z = √0.04.")),
    which_of("keeps_volume", "Which maps keep volume, whatever their weights?",
        _REASONS, KEEPING,
        wrong=({MAPS[3], MAPS[4]}, {MAPS[0], MAPS[3], MAPS[4]}, set(MAPS) - {MAPS[1]},
               set(KEEPING) | {MAPS[2]}, set(KEEPING) | {MAPS[5]}),
        hints=("Would a square be as large afterwards?", "Four of the seven do.")),
    function_task("linear_log_density",
        "The log-density of vectors that a linear map makes Gaussian",
        _solve_linear_log_density, _LINEAR_CASES, fresh=_fresh_maps,
        wrong={"no determinant": _no_determinant,
               "the determinant of the way back":
                   lambda x, W, b: _solve_linear_log_density(x, W, b) - 2 * np.linalg.slogdet(W)[1],
               "rows times W, not Wᵀ": lambda x, W, b: _solve_linear_log_density(x, W.T, b),
               "2π for one dimension only": _one_dimension,
               "the logarithm of a signed volume": _log_of_signed},
        hints=("z = (x - b) @ W.T, and log N(z; 0, I) = -½‖z‖² - (d / 2) log 2π.",
               "Add log |det W|: np.linalg.slogdet(W)[1].")),
    function_task("undo", "The way back of a coupling of Glow",
        _solve_undo, _UNDO_CASES, fresh=_fresh_couplings,
        wrong={"in the order of RealNVP": _undone(lambda x, s, t: (x - t) * np.exp(-s)),
               "the net reads the second half":
                   _undone(lambda x, s, t: x * np.exp(-s) - t, of=1),
               "there again": _undone(lambda x, s, t: (x + t) * np.exp(s)),
               "divided by the log-scale":
                   _undone(lambda x, s, t: x / np.where(s == 0, 1, s) - t),
               "halves exchanged":
                   lambda z, net: np.hstack(np.split(_solve_undo(z, net), 2, axis=1)[::-1])},
        hints=("The first half passed, so the net can be asked again with the same input.",
               "What was done last is undone first: the stretch.")),
    Exercise("same_area", question="A matrix that keeps areas and stretches a vector",
        judge=_judge_same_area, solution=np.array([[3.0, 0.0], [0.0, 1 / 3]]),
        wrong={"a rotation": np.array([[0.0, -1.0], [1.0, 0.0]]),
               "three times as large": 3 * np.eye(2),
               "area turned over": np.array([[3.0, 0.0], [0.0, -1 / 3]]),
               "a small shear": np.array([[1.0, 0.5], [0.0, 1.0]]),
               "a stretch alone": np.array([[3.0, 0.0], [0.0, 1.0]])},
        hints=("The determinant has to be 1.",
               "Stretch one direction and squeeze the other, or shear: [[1, k], [0, 1]].")),
    experiment_task("shift_only", "What is lost where couplings only shift?",
        {"clearly lower": (-30, -3), "about the same": (-2.99, 2.99), "clearly higher": (3, 30)},
        measured=0.2,
        why="nearly all that the flow does to these vectors is linear, and a shift by a network "
            "can do most of it: after several layers each coordinate has been mixed with others. "
            "The loss is much worse and the score about the same: likelihood is not ranking",
        hints=("Section 10: how much of the trained flow is linear?",
               "In section 4 multiply s by 0, run that cell again, and then the first cell of "
               "section 8. Put in the new score minus the old one.")),
    debug_task("collapsed", "Why does the cloud collapse?", _collapsed, _solve_collapsed,
        [(np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([0.5, 1.5])),
         (np.array([[0.5, 0.0, -2.0]]), np.array([-1.0]))],
        fresh=lambda rng: [(rng.normal(size=(n, d)), rng.normal(size=n))
                           for n, d in ((3, 2), (4, 5))],
        symptom="A map that squeezes has a negative log-determinant. Should that make the loss "
                "smaller or larger?",
        wrong={"no log-determinant":
                   lambda z, log_det: _solve_collapsed(z, 0 * np.asarray(log_det)),
               "everything turned round": lambda z, log_det: -_solve_collapsed(z, log_det),
               "divided by the rows only":
                   lambda z, log_det: _solve_collapsed(z, log_det) * z.shape[1]},
        hints=("Compare with the formula of section 5, sign by sign.",
               "log p(x) is the log-density of z plus the log-determinant.")))
