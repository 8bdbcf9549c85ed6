"""Exercises of lesson ``12_bert_whitening``: the whitening matrix, statistics of two parts, what
whitening cannot see, how many directions there are, β and γ, and uncorrelated directions that are
not orthogonal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import generator
from ._declare import CaseJudge, by_name, function_task, value_task, which_of
from .base import Exercise

__all__ = ["EXERCISES"]


def _solve_whitening_matrix(S: np.ndarray, k: int) -> np.ndarray:
    variances, U = np.linalg.eigh(S)
    strongest = np.argsort(-variances)[:k]
    return U[:, strongest] / np.sqrt(variances[strongest])


def _made_of(make: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """The first k columns of a matrix that is made of the variances, rising, and of U."""
    return lambda S, k: make(*np.linalg.eigh(S))[:, :k]


_THREE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]])
_COVARIANCES = [(np.array([[2.0, 1.0], [1.0, 2.0]]), 2), (np.array([[5.0, 2.0], [2.0, 2.0]]), 1),
                (_THREE, 3), (_THREE, 2)]


def _check_whitening(mine: Callable, S: np.ndarray, k: int) -> str | None:
    """Columns are right up to their signs, so what they do is compared, not what they are."""
    case, W = f"for S = {S.tolist()} and k = {k}", np.asarray(mine(S.copy(), k), dtype=float)
    if W.shape != (len(S), k):
        return f"{case}: expected shape {(len(S), k)}, yours has shape {W.shape}"
    after = W.T @ S @ W
    if not np.allclose(after, np.eye(k), atol=1e-6):
        return (f"{case}: the covariance after it, WᵀSW, is {after.round(3).tolist()}; "
                "expected the identity")
    V = _solve_whitening_matrix(S, k)
    if not np.allclose(W @ W.T, V @ V.T, atol=1e-6):
        return (f"{case}: the covariance is I, but these are not the {k} directions with "
                "the largest variances")
    return None


def _solve_merge(n_a: int, m_a: np.ndarray, S_a: np.ndarray, n_b: int, m_b: np.ndarray,
                 S_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, apart = n_a + n_b, m_b - m_a
    m = m_a + n_b / n * apart
    S = (n_a * S_a + n_b * S_b) / n + n_a * n_b / n**2 * np.outer(apart, apart)
    return m, S


def _merged(between: Callable[[int, int], float], weighted: bool = True) -> Callable:
    def merge(n_a, m_a, S_a, n_b, m_b, S_b):
        n = n_a + n_b
        a, b = (n_a / n, n_b / n) if weighted else (0.5, 0.5)
        return a * m_a + b * m_b, a * S_a + b * S_b + between(n_a, n_b) * np.outer(
            m_b - m_a, m_b - m_a)

    return merge


def _statistics(x: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    return len(x), x.mean(axis=0), np.cov(x.T, ddof=0)


_A = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 6.0]])
_B = np.array([[9.0, -1.0], [7.0, 0.0]])
_MERGE_CASES = [(*_statistics(_A), *_statistics(_B)), (*_statistics(_B), *_statistics(_A)),
                (*_statistics(_A), *_statistics(_A + 5)),
                (*_statistics(np.vstack([_A, _B])), *_statistics(_A))]

_REASONS = {
    "all vectors times 3": "a common factor is in Λ, and is divided out",
    "one vector added to all": "it is in μ, and μ is taken away",
    "one column times 10": "that is a product with a diagonal matrix",
    "the columns in another order": "that is a product with a matrix of zeros and ones",
    "all multiplied by one invertible matrix":
        "Σ becomes AᵀΣA, and its inverse undoes A on both sides",
    "each vector scaled to length 1": "another factor for every vector is no linear map",
    "the hyperbolic tangent of every number": "that is no linear map"}
CHANGES = tuple(_REASONS)
UNSEEN = frozenset(CHANGES[:5])  # tests/exercises/test_bert_whitening.py measures it


def _solve_parameterised(X: np.ndarray, beta: float, gamma: float) -> np.ndarray:
    Y = X - beta * X.mean(axis=0)
    variances, U = np.linalg.eigh(Y.T @ Y / len(Y))
    Z = Y @ U * variances ** (-gamma / 2)
    return Z @ Z.T


def _about_the_mean(X: np.ndarray, beta: float, gamma: float) -> np.ndarray:
    variances, U = np.linalg.eigh(np.cov(X.T, ddof=0))
    Z = (X - beta * X.mean(axis=0)) @ U * variances ** (-gamma / 2)
    return Z @ Z.T


_X = np.array([[3.0, 1.0], [5.0, 2.0], [4.0, 4.0], [6.0, 3.0], [2.0, 0.0]])
_PARAMETERISED_CASES = [(_X, 1.0, 1.0), (_X, 0.0, 0.0), (_X, 0.0, 1.0), (_X, 0.5, 0.5),
                        (_X, 1.0, 0.0)]

SIGMA = np.array([[4.0, 2.0], [2.0, 3.0]])


def _judge_uncorrelated(answer: Any) -> str | None:
    x = np.asarray(answer, dtype=float)
    if x.shape != (2, 2) or not np.isfinite(x).all() or (np.linalg.norm(x, axis=1) < 1e-6).any():
        return ("expected two directions of the plane, [[a, b], [c, d]], none of them zero; yours "
                f"has shape {x.shape}")
    p, q = x / np.linalg.norm(x, axis=1, keepdims=True)
    if abs(p @ SIGMA @ q) > 1e-6:
        return (f"the covariance of x·p and x·q is pᵀΣq = {p @ SIGMA @ q:.3f} (at length 1); it "
                "should be 0")
    if abs(p @ q) > 0.05:
        return None
    return (f"uncorrelated, but also orthogonal (their cosine is {p @ q:.3f}): you have found the "
            "eigenvectors")


def _fresh_covariances(seed: int) -> list[tuple]:
    rng = generator(seed)
    clouds = [rng.normal(size=(12, d)) * rng.uniform(0.5, 3, size=d) @ rng.normal(size=(d, d))
              for d in (2, 3, 4)]
    return [(np.cov(x.T, ddof=0), k) for x, k in zip(clouds, (2, 2, 4), strict=True)]


EXERCISES = by_name(
    Exercise("whitening_matrix", question="W for vectors as rows, the k strongest directions",
        judge=CaseJudge(_check_whitening, tuple(_COVARIANCES)),
        solution=_solve_whitening_matrix, fresh=_fresh_covariances,
        wrong={"Λ^(-1/2) U": _made_of(lambda v, U: (np.diag(1 / np.sqrt(v)) @ U)[:, ::-1]),
               "weakest directions first": _made_of(lambda v, U: U / np.sqrt(v)),
               "no root": _made_of(lambda v, U: (U / v)[:, ::-1]),
               "turned only": _made_of(lambda v, U: U[:, ::-1]),
               "columns of ZCA cut off": _made_of(lambda v, U: U / np.sqrt(v) @ U.T),
               "inverse of the wrong matrix, transposed":
                   _made_of(lambda v, U: np.linalg.inv((U / np.sqrt(v))[:, ::-1].T))},
        hints=("np.linalg.eigh(S) gives the variances, rising, and U with the directions as "
               "columns.",
               "Divide each column of U by the root of its variance; take the k columns with the "
               "largest variances.")),
    function_task("merge", "Mean and covariance of two parts, from those of each",
        _solve_merge, _MERGE_CASES,
        fresh=lambda rng: [(*_statistics(rng.normal(size=(n, d))),
                            *_statistics(rng.normal(size=(m, d)) + 3))
                           for n, m, d in ((3, 6, 2), (8, 4, 3))],
        wrong={"nothing between the parts": _merged(lambda a, b: 0.0),
               "parts of equal weight": _merged(lambda a, b: 0.25, weighted=False),
               "the means' difference whole": _merged(lambda a, b: 1.0),
               "one n too few": _merged(lambda a, b: a * b / (a + b)),
               "subtracted": _merged(lambda a, b: -a * b / (a + b)**2)},
        hints=("The mean is the weighted mean. For the covariance, every vector's distance from "
               "the new mean has two parts.",
               "Weighted mean of the covariances, and n_a n_b / n² times the outer product of the "
               "difference of the means.")),
    which_of("unseen",
        "Which changes of the vectors leave the cosines after full whitening as they are?",
        _REASONS, UNSEEN,
        wrong=(set(CHANGES[:2]), set(CHANGES[:3]), set(CHANGES[:4]), set(CHANGES[:6]),
               set(CHANGES)),
        hints=("Each vector becomes xA + b with one matrix A and one b: which of the changes are "
               "of this kind, with an invertible A?",
               "Five of the seven.")),
    value_task("directions",
        "How many directions can 100 vectors of 256 numbers vary in, of which 20 are copies of "
        "others?",
        79,
        remark="How many different points are there, and how many directions do two points make?",
        wrong=(256, 100, 99, 80, 78),
        hints=("Two points lie on a line, three in a plane.",
               "80 different points, seen from their mean.")),
    function_task("parameterised", "All inner products after whitening with β and γ",
        _solve_parameterised, _PARAMETERISED_CASES,
        fresh=lambda rng: [(rng.normal(size=(6, d)) + 2, float(beta), float(gamma))
                           for d, (beta, gamma) in zip((2, 3, 3),
                                                       rng.uniform(0.2, 0.8, size=(3, 2)),
                                                       strict=True)],
        wrong={"Σ about μ": _about_the_mean,
               "γ not halved": lambda X, beta, gamma: _solve_parameterised(X, beta, 2 * gamma),
               "β twice": lambda X, beta, gamma: _solve_parameterised(X, beta * beta, gamma),
               "all of the mean": lambda X, beta, gamma: _solve_parameterised(X, 1.0, gamma),
               "enlarged": lambda X, beta, gamma: _solve_parameterised(X, beta, -gamma)},
        hints=("Take βμ away first. Σ is the mean of yᵀy of what is left, whatever its mean is.",
               "Z = Y U Λ^(-γ/2): column j of Y U times variance j to the power of -γ/2. Return Z "
               "@ Z.T.")),
    Exercise("uncorrelated", question="Two directions that are uncorrelated and not orthogonal",
        judge=_judge_uncorrelated, solution=np.array([[1.0, 0.0], [1.0, -2.0]]),
        wrong={"the axes": np.eye(2),
               "orthogonal": np.array([[1.0, 1.0], [1.0, -1.0]]),
               "the eigenvectors": np.linalg.eigh(SIGMA)[1].T,
               "one direction twice": np.array([[1.0, 0.0], [1.0, 0.0]]),
               "orthogonal under the inverse": np.array([[1.0, 0.0], [2.0, 3.0]])},
        hints=("Take p = (1, 0). Then pᵀΣ is the first row of Σ.",
               "Which q = (1, b) has 4·1 + 2·b = 0?")))
