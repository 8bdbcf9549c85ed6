"""Exercises of lesson ``06_sif_and_usif``: weights from counts, removal whole and piecewise, uSIF's
a, and what a cosine of SIF cannot see.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from ._declare import by_name, function_task, which_of

__all__ = ["EXERCISES"]


def _solve_sif_weights(counts: np.ndarray, a: float) -> np.ndarray:
    p = counts / counts.sum()
    return a / (a + p)


_WEIGHT_CASES = [(np.array([1, 1]), 0.5), (np.array([3, 1]), 1.0), (np.array([6, 3, 1, 0]), 0.1),
                 (np.array([900, 90, 9, 1]), 1e-3)]


def _solve_remove_common(X: np.ndarray) -> np.ndarray:
    u = np.linalg.svd(X, full_matrices=False)[2][0]
    return X - np.outer(X @ u, u)


def _removed(direction: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """The part along another direction is taken away."""
    return lambda X: X - np.outer(X @ (u := direction(X)), u)


_WIDE = np.array([[3.0, 1.0, 0.0], [2.0, -1.0, 1.0]])
_TALL = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, -1.0], [4.0, 0.0, 1.0], [2.5, 1.0, -2.0]])
_SQUARE = np.array([[2.0, 1.0], [1.0, 3.0]])
_REMOVE_CASES = [(_SQUARE,), (_WIDE,), (_TALL,)]


def _solve_usif_a(p: np.ndarray, n: float) -> float:
    V = len(p)
    alpha = np.mean(p > 1 - (1 - 1 / V) ** n)
    return (1 - alpha) / (alpha * V / 2)


def _a_of(alpha: Callable[[np.ndarray, float], float], half: int = 2) -> Callable:
    """The formula with another share of words above the threshold, or without the half."""
    return lambda p, n: (1 - alpha(p, n)) / (alpha(p, n) * len(p) / half)


def _threshold(p: np.ndarray, n: float) -> float:
    return 1 - (1 - 1 / len(p)) ** n


_TOY = np.array([0.5, 0.3, 0.1, 0.05, 0.05])
_ZIPF = (1 / np.arange(1, 41)) / (1 / np.arange(1, 41)).sum()
_A_CASES = [(_TOY, 2), (np.array([0.5, 0.38, 0.06, 0.03, 0.03]), 2), (_ZIPF, 3), (_ZIPF, 5)]


def _solve_piecewise(X: np.ndarray, m: int) -> np.ndarray:
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    share = sigma[:m] ** 2 / (sigma[:m] ** 2).sum()
    return X - (X @ Vt[:m].T * share) @ Vt[:m]


def _removed_by(share: Callable[[np.ndarray, int], np.ndarray | float]) -> Callable:
    """Each of the first m directions is taken away by another share."""
    def remove(X, m):
        _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
        return X - (X @ Vt[:m].T * share(sigma, m)) @ Vt[:m]

    return remove


_PIECEWISE_CASES = [(_SQUARE, 1), (_SQUARE, 2), (_TALL, 2), (_TALL, 3)]

_REASONS = {
    "all word vectors times 3":
        "the weights do not know the vectors; what happens to every sentence vector, and what to "
        "its direction?",
    "all word vectors turned by the same rotation":
        "the common direction turns along with everything else",
    "the words of each sentence shuffled": "where in the formulas is the place of a word?",
    "each sentence said twice in a row":
        "twice the words, twice the |s|; and what happens to each p(w)?",
    "each word vector scaled to length 1":
        "a long vector has a larger say in a sum than a short one",
    "the same vector added to all word vectors":
        "sentences get different amounts of it: the sum of their weights divided by |s|"}
CHANGES = tuple(_REASONS)
UNCHANGED = frozenset(CHANGES[:4])               # tests/exercises/test_sif_and_usif.py measures it


def _fresh_rows(rng: Generator) -> list[tuple]:
    return [(rng.normal(size=(n, d)) + 2 * rng.normal(size=d),)
            for n, d in ((3, 5), (4, 4), (7, 3))]


def _fresh_shares(rng: Generator) -> list[tuple]:
    p = 1 / np.arange(1, 61) ** rng.uniform(0.9, 1.2)
    second = float(rng.uniform(0.365, 0.395))    # between 1 - (1 - 1/5)² and 2/5
    return [(p / p.sum(), n) for n in (2, 4)] + [(rng.permutation([0.5, second, 0.4 - second, 0.06,
                                                                   0.04]), 2)]


EXERCISES = by_name(
    which_of("unchanged", "Which changes leave every cosine of SIF as it is?",
        _REASONS, UNCHANGED,
        wrong=(set(CHANGES[:2]), set(CHANGES[:3]), {*CHANGES[:4], CHANGES[5]},
               {*CHANGES[:3], CHANGES[4]}, set(CHANGES)),
        hints=("SIF is a weighted sum, divided by |s|, minus its part along u. Follow each change "
               "through these three.",
               "Does a change leave each p(w), each sum's direction up to a common factor or "
               "rotation, and u along with it?")),
    function_task("sif_weights", "The smooth inverse frequency of words from their counts",
        _solve_sif_weights, _WEIGHT_CASES,
        fresh=lambda rng: [(np.append(rng.integers(1, 400, size=n), 0), float(a))
                           for n, a in zip((3, 6, 20), rng.uniform(0.02, 0.3, size=3),
                                           strict=True)],
        wrong={
            "counts instead of shares": lambda counts, a: a / (a + counts),
            "shares of the largest count": lambda counts, a: a / (a + counts / counts.max()),
            "weights frequent words": lambda counts, a: (p := counts / counts.sum()) / (a + p),
            "inverse but not smooth": lambda counts, a: a / np.maximum((counts / counts.sum()), a),
            "uSIF's weights": lambda counts, a: a / (a / 2 + counts / counts.sum()),
            "weights that sum to 1":
                lambda counts, a: (w := _solve_sif_weights(counts, a)) / w.sum()},
        hints=("p is a share of all tokens: counts / counts.sum().",
               "A word with p = a has the weight one half.")),
    function_task("remove_common", "Remove the common direction from sentence vectors",
        _solve_remove_common, _REMOVE_CASES, fresh=_fresh_rows,
        wrong={"centres before the decomposition": _removed(
                   lambda X: np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]),
               "subtracts u itself": lambda X: X - np.linalg.svd(X, full_matrices=False)[2][0],
               "subtracts the mean": lambda X: X - X.mean(axis=0),
               "keeps what should go": lambda X: X - _solve_remove_common(X),
               "the weakest direction":
                   _removed(lambda X: np.linalg.svd(X, full_matrices=False)[2][-1]),
               "a column instead of a row":
                   _removed(lambda X: np.linalg.svd(X, full_matrices=False)[2][:, 0])},
        hints=("np.linalg.svd returns three parts; the rows of the third are the right singular "
               "vectors, the strongest first.",
               "The part of a row x along u is (x·u) u. For all rows: np.outer(X @ u, u).")),
    function_task("usif_a", "The a of uSIF from word shares and sentence length",
        _solve_usif_a, _A_CASES, fresh=_fresh_shares,
        wrong={"Z = V": _a_of(lambda p, n: np.mean(p > _threshold(p, n)), half=1),
               "a number of words instead of a share":
                   _a_of(lambda p, n: np.sum(p > _threshold(p, n))),
               "the threshold n / V": _a_of(lambda p, n: np.mean(p > n / len(p))),
               "the rare words": _a_of(lambda p, n: np.mean(p <= _threshold(p, n))),
               "a share of tokens instead of words":
                   _a_of(lambda p, n: p[p > _threshold(p, n)].sum())},
        hints=("alpha is the share of the V words whose p is above 1 - (1 - 1/V)**n.",
               "np.mean of a comparison is a share. Then Z = V / 2.")),
    function_task("piecewise", "Remove several directions, each by its share of their strength",
        _solve_piecewise, _PIECEWISE_CASES,
        fresh=lambda rng: [(X, m) for (X,) in _fresh_rows(rng) for m in (1, 2)],
        wrong={"shares of singular values, not squares":
                   _removed_by(lambda sigma, m: sigma[:m] / sigma[:m].sum()),
               "shares of all directions":
                   _removed_by(lambda sigma, m: sigma[:m] ** 2 / (sigma**2).sum()),
               "removes each direction whole": _removed_by(lambda sigma, m: 1.0),
               "the share enters twice": _removed_by(
                   lambda sigma, m: (sigma[:m] ** 2 / (sigma[:m] ** 2).sum()) ** 2)},
        hints=("X @ Vt[:m].T has one column for each direction: how much of it every row holds.",
               "Multiply these columns by sigma[:m]**2 / (sigma[:m]**2).sum(), go back with @ "
               "Vt[:m], and subtract.")))
