"""Exercises of lesson ``12_bert_whitening``: what whitening cannot see, how many directions there
are, forgetting sentences, uncorrelated directions that are not orthogonal, whitening without the
rotation, and a matrix in the wrong order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import generator
from ._declare import by_name, debug_task, experiment_task, function_task, value_task, which_of
from .base import Exercise

__all__ = ["CHANGES", "EXERCISES", "SIGMA", "UNSEEN"]


def _solve_forget(n: int, mu: np.ndarray, S: np.ndarray, n_b: int, mu_b: np.ndarray,
                  S_b: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    n_a = n - n_b
    mu_a = (n * mu - n_b * mu_b) / n_a
    apart = mu_b - mu_a
    return n_a, mu_a, S - S_b - n_a * n_b / n * np.outer(apart, apart)


def _forgetting(between: Callable[[int, int], float], weighted: bool = True) -> Callable:
    def forget(n, mu, S, n_b, mu_b, S_b):
        n_a = n - n_b
        mu_a = (n * mu - n_b * mu_b) / n_a if weighted else 2 * mu - mu_b
        return n_a, mu_a, S - S_b - between(n_a, n_b) * np.outer(mu_b - mu_a, mu_b - mu_a)

    return forget


def _moments(x: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    y = x - x.mean(axis=0)
    return len(x), x.mean(axis=0), y.T @ y


def _whole_and_part(a: np.ndarray, b: np.ndarray) -> tuple:
    return *_moments(np.vstack([a, b])), *_moments(b)


_A = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 6.0]])
_B = np.array([[9.0, -1.0], [7.0, 0.0]])
_FORGET_CASES = [_whole_and_part(_A, _B), _whole_and_part(_B, _A), _whole_and_part(_A, _A + 5)]

_REASONS = {
    "all vectors times 3": "a common factor is in Λ, and is divided out",
    "one vector added to all": "it is in μ, and μ is taken away",
    "one column times 10": "that is a product with a diagonal matrix",
    "the columns in another order": "that is a product with a matrix of zeros and ones",
    "all multiplied by one invertible matrix":
        "Σ becomes AᵀΣA, and its inverse undoes A on both sides",
    "each vector scaled to norm 1": "another factor for every vector is no linear map",
    "the hyperbolic tangent of every number": "that is no linear map"}
CHANGES = tuple(_REASONS)
UNSEEN = frozenset(CHANGES[:5])  # tests/exercises/test_bert_whitening.py measures it

SIGMA = np.array([[4.0, 2.0], [2.0, 3.0]])


def _judge_uncorrelated(answer: Any) -> str | None:
    x = np.asarray(answer, dtype=float)
    if x.shape != (2, 2) or not np.isfinite(x).all() or (np.linalg.norm(x, axis=1) < 1e-6).any():
        return ("expected two directions of the plane, [[a, b], [c, d]], none of them zero; yours "
                f"has shape {x.shape}")
    p, q = x / np.linalg.norm(x, axis=1, keepdims=True)
    if abs(p @ SIGMA @ q) > 1e-6:
        return (f"the covariance of x·p and x·q is p Σ qᵀ = {p @ SIGMA @ q:.3f} (at norm 1); it "
                "should be 0")
    if abs(p @ q) > 0.05:
        return None
    return (f"uncorrelated, but also orthogonal (their cosine is {p @ q:.3f}): you have found the "
            "eigenvectors")


def _wrong_order(x: np.ndarray) -> np.ndarray:
    y = x - x.mean(axis=0)
    variance, U = np.linalg.eigh(np.cov(y.T))
    W = np.diag(variance**-0.5) @ U
    return np.cov((y @ W).T)


def _solve_wrong_order(x: np.ndarray) -> np.ndarray:
    y = x - x.mean(axis=0)
    variance, U = np.linalg.eigh(np.cov(y.T))
    W = U @ np.diag(variance**-0.5)
    return np.cov((y @ W).T)


def _with_matrix(make: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    def covariance_after(x):
        y = x - x.mean(axis=0)
        return np.cov((y @ make(*np.linalg.eigh(np.cov(y.T)))).T)

    return covariance_after


def _cloud(rng: np.random.Generator, d: int) -> np.ndarray:
    return rng.normal(size=(12, d)) * rng.uniform(0.5, 3, size=d) @ rng.normal(size=(d, d)) + 2


_CLOUDS = [(_cloud(generator(k), d),) for k, d in enumerate((2, 3, 4))]

EXERCISES = by_name(
    which_of("unseen",
        "Which changes of the vectors leave the cosines after full whitening as they are?",
        _REASONS, UNSEEN,
        wrong=(set(CHANGES[:2]), set(CHANGES[:3]), set(CHANGES[:4]), set(CHANGES[:6]),
               set(CHANGES)),
        hints=("Each vector becomes xA + b with one matrix A and one b: which of the changes are "
               "of this kind, with an invertible A?",
               "Five of the seven.")),
    value_task("directions",
        "How many directions can 100 vectors of dimension 256 vary in, of which 20 are copies of "
        "others?",
        79,
        remark="How many different points are there, and how many directions do two points make?",
        wrong=(256, 100, 99, 80, 78),
        hints=("Two points lie on a line, three in a plane.",
               "80 different points, seen from their mean.")),
    function_task("forget", "The moments of what is left when some sentences are forgotten",
        _solve_forget, _FORGET_CASES,
        fresh=lambda rng: [_whole_and_part(rng.normal(size=(n, d)), rng.normal(size=(m, d)) + 3)
                           for n, m, d in ((3, 6, 2), (8, 4, 3))],
        wrong={"nothing between the parts": _forgetting(lambda a, b: 0.0),
               "parts of equal weight": _forgetting(lambda a, b: a * b / (a + b), weighted=False),
               "the means' difference whole": _forgetting(lambda a, b: 1.0),
               "divided by n twice": _forgetting(lambda a, b: a * b / (a + b)**2),
               "added": _forgetting(lambda a, b: -a * b / (a + b))},
        hints=("n mu is the sum of all sentences, and n_b mu_b that of the part. So the mean of "
               "the rest needs no formula of section 7.",
               "Once mu_a is known, solve the formula for S of section 7 for S_a.")),
    Exercise("uncorrelated", question="Two directions that are uncorrelated and not orthogonal",
        judge=_judge_uncorrelated, solution=np.array([[1.0, 0.0], [1.0, -2.0]]),
        wrong={"the axes": np.eye(2),
               "orthogonal": np.array([[1.0, 1.0], [1.0, -1.0]]),
               "the eigenvectors": np.linalg.eigh(SIGMA)[1].T,
               "one direction twice": np.array([[1.0, 0.0], [1.0, 0.0]]),
               "orthogonal under the inverse": np.array([[1.0, 0.0], [2.0, 3.0]])},
        hints=("Take p = (1, 0). Then p Σ is the first row of Σ.",
               "Which q = (1, b) has 4·1 + 2·b = 0?")),
    experiment_task("standardised", "How much of the gain comes without the rotation?",
        {"as much as by whitening (10 or more)": (10, 30), "by a part (6 to 10)": (6, 10),
         "by little (0 to 6)": (0, 6)}, 3.4,
        why="The direction of a frequent word is no column: its vector has a part in each of "
            "them. So no column has a far larger variance than the others, and dividing by it "
            "changes little; centring alone gives most of this. The large variances show in the "
            "principal axes only.",
        hints=("Is the vector of the word a one column of the table, or spread over all?",
               "x = X[\"word2vec\"]; score((x - x.mean(axis=0)) / x.std(axis=0)) - score(x)")),
    debug_task("wrong_order", "A whitening whose covariance is not I",
        _wrong_order, _solve_wrong_order, _CLOUDS,
        symptom="It should return I. Each column of U is a principal axis: which side must the "
                "scale of a column stand on?",
        wrong={"no root": _with_matrix(lambda v, U: U / v),
               "rotated only": _with_matrix(lambda v, U: U),
               "stretched, not shrunk": _with_matrix(lambda v, U: U * np.sqrt(v)),
               "the inverse, not transposed":
                   _with_matrix(lambda v, U: np.linalg.inv(U * np.sqrt(v)))},
        hints=("Compute WᵀΣW by hand for both orders of the two factors.",
               "Multiplying by a diagonal matrix from the right scales columns, from the left "
               "rows."),
        fresh=lambda rng: [(_cloud(rng, d),) for d in (2, 3)]))
