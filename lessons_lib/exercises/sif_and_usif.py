"""Exercises of lesson ``06_sif_and_usif``: weights from counts, removal whole and piecewise, uSIF's
a, and what a cosine of SIF cannot see.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import generator
from ._which_of import judge_which
from .base import Exercise, judge_function

__all__ = ["EXERCISES"]

# ------------------------------------------------------------------------------ sif_weights


def _solve_sif_weights(counts: np.ndarray, a: float) -> np.ndarray:
    p = counts / counts.sum()
    return a / (a + p)


def _of_counts(counts: np.ndarray, a: float) -> np.ndarray:
    return a / (a + counts)


def _of_the_largest(counts: np.ndarray, a: float) -> np.ndarray:
    return a / (a + counts / counts.max())


def _weights_upside_down(counts: np.ndarray, a: float) -> np.ndarray:
    p = counts / counts.sum()
    return p / (a + p)


def _plain_inverse(counts: np.ndarray, a: float) -> np.ndarray:
    p = counts / counts.sum()
    return a / np.maximum(p, a)


def _weights_of_usif(counts: np.ndarray, a: float) -> np.ndarray:
    return a / (a / 2 + counts / counts.sum())


def _sums_to_one(counts: np.ndarray, a: float) -> np.ndarray:
    weight = _solve_sif_weights(counts, a)
    return weight / weight.sum()


_WEIGHT_CASES = [(np.array([1, 1]), 0.5), (np.array([3, 1]), 1.0), (np.array([6, 3, 1, 0]), 0.1),
                 (np.array([900, 90, 9, 1]), 1e-3)]

# ------------------------------------------------------------------------------ remove_common


def _solve_remove_common(X: np.ndarray) -> np.ndarray:
    u = np.linalg.svd(X, full_matrices=False)[2][0]
    return X - np.outer(X @ u, u)


def _centres_first(X: np.ndarray) -> np.ndarray:
    u = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][0]
    return X - np.outer(X @ u, u)


def _subtracts_the_direction(X: np.ndarray) -> np.ndarray:
    u = np.linalg.svd(X, full_matrices=False)[2][0]
    return X - u


def _subtracts_the_mean(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


def _keeps_only_it(X: np.ndarray) -> np.ndarray:
    return X - _solve_remove_common(X)


def _the_last_direction(X: np.ndarray) -> np.ndarray:
    u = np.linalg.svd(X, full_matrices=False)[2][-1]
    return X - np.outer(X @ u, u)


def _a_column_of_the_third(X: np.ndarray) -> np.ndarray:
    u = np.linalg.svd(X, full_matrices=False)[2][:, 0]
    return X - np.outer(X @ u, u)


_WIDE = np.array([[3.0, 1.0, 0.0], [2.0, -1.0, 1.0]])
_TALL = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, -1.0], [4.0, 0.0, 1.0], [2.5, 1.0, -2.0]])
_SQUARE = np.array([[2.0, 1.0], [1.0, 3.0]])
_REMOVE_CASES = [(_SQUARE,), (_WIDE,), (_TALL,)]

# ------------------------------------------------------------------------------ usif_a


def _solve_usif_a(p: np.ndarray, n: float) -> float:
    V = len(p)
    alpha = np.mean(p > 1 - (1 - 1 / V) ** n)
    return (1 - alpha) / (alpha * V / 2)


def _forgets_the_half(p: np.ndarray, n: float) -> float:
    alpha = np.mean(p > 1 - (1 - 1 / len(p)) ** n)
    return (1 - alpha) / (alpha * len(p))


def _counts_words(p: np.ndarray, n: float) -> float:
    alpha = np.sum(p > 1 - (1 - 1 / len(p)) ** n)
    return (1 - alpha) / (alpha * len(p) / 2)


def _threshold_n_over_v(p: np.ndarray, n: float) -> float:
    alpha = np.mean(p > n / len(p))
    return (1 - alpha) / (alpha * len(p) / 2)


def _rare_words(p: np.ndarray, n: float) -> float:
    alpha = np.mean(p <= 1 - (1 - 1 / len(p)) ** n)
    return (1 - alpha) / (alpha * len(p) / 2)


def _share_of_tokens(p: np.ndarray, n: float) -> float:
    alpha = p[p > 1 - (1 - 1 / len(p)) ** n].sum()
    return (1 - alpha) / (alpha * len(p) / 2)


_TOY = np.array([0.5, 0.3, 0.1, 0.05, 0.05])
_ZIPF = (1 / np.arange(1, 41)) / (1 / np.arange(1, 41)).sum()
_A_CASES = [(_TOY, 2), (np.array([0.5, 0.38, 0.06, 0.03, 0.03]), 2), (_ZIPF, 3), (_ZIPF, 5)]

# ------------------------------------------------------------------------------ piecewise


def _solve_piecewise(X: np.ndarray, m: int) -> np.ndarray:
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    share = sigma[:m] ** 2 / (sigma[:m] ** 2).sum()
    return X - (X @ Vt[:m].T * share) @ Vt[:m]


def _shares_of_sigma(X: np.ndarray, m: int) -> np.ndarray:
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    return X - (X @ Vt[:m].T * (sigma[:m] / sigma[:m].sum())) @ Vt[:m]


def _shares_of_all(X: np.ndarray, m: int) -> np.ndarray:
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    return X - (X @ Vt[:m].T * (sigma[:m] ** 2 / (sigma**2).sum())) @ Vt[:m]


def _whole(X: np.ndarray, m: int) -> np.ndarray:
    Vt = np.linalg.svd(X, full_matrices=False)[2]
    return X - X @ Vt[:m].T @ Vt[:m]


def _shares_on_both_sides(X: np.ndarray, m: int) -> np.ndarray:
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    share = sigma[:m] ** 2 / (sigma[:m] ** 2).sum()
    return X - (X @ Vt[:m].T * share**2) @ Vt[:m]


_PIECEWISE_CASES = [(_SQUARE, 1), (_SQUARE, 2), (_TALL, 2), (_TALL, 3)]

# ------------------------------------------------------------------------------ unchanged

CHANGES = ("all word vectors times 3", "all word vectors turned by the same rotation",
           "the words of each sentence shuffled", "each sentence said twice in a row",
           "each word vector scaled to length 1", "the same vector added to all word vectors")
UNCHANGED = frozenset(CHANGES[:4])               # tests/exercises/test_sif_and_usif.py measures it
_REASONS = {CHANGES[0]: "the weights do not know the vectors; what happens to every sentence "
                        "vector, and what to its direction?",
            CHANGES[1]: "the common direction turns along with everything else",
            CHANGES[2]: "where in the formulas is the place of a word?",
            CHANGES[3]: "twice the words, twice the |s|; and what happens to each p(w)?",
            CHANGES[4]: "a long vector has a larger say in a sum than a short one",
            CHANGES[5]: "sentences get different amounts of it: the sum of their weights divided "
                        "by |s|"}


def _judge_unchanged(answer: Any) -> str | None:
    return judge_which(answer, _REASONS, UNCHANGED)

# ------------------------------------------------------------------- inputs for a class, made anew


def _fresh_counts(seed: int) -> list[tuple]:
    rng = generator(seed)
    return [(np.append(rng.integers(1, 400, size=n), 0), float(a))
            for n, a in zip((3, 6, 20), rng.uniform(0.02, 0.3, size=3), strict=True)]


def _fresh_rows(seed: int) -> list[tuple]:
    rng = generator(seed)
    return [
        (rng.normal(size=(n, d)) + 2 * rng.normal(size=d), ) for n, d in ((3, 5), (4, 4), (7, 3))
    ]


def _fresh_shares(seed: int) -> list[tuple]:
    rng = generator(seed)
    p = 1 / np.arange(1, 61) ** rng.uniform(0.9, 1.2)
    second = float(rng.uniform(0.365, 0.395))    # between 1 - (1 - 1/5)² and 2/5
    return [(p / p.sum(), n)
            for n in (2, 4)] + [(rng.permutation([0.5, second, 0.4 - second, 0.06, 0.04]), 2)]


def _fresh_removals(seed: int) -> list[tuple]:
    return [(X, m) for (X,) in _fresh_rows(seed) for m in (1, 2)]


EXERCISES = {
    "unchanged": Exercise(
        name="unchanged",
        question="Which changes leave every cosine of SIF as it is?",
        judge=_judge_unchanged,
        solution=set(UNCHANGED),
        # their labels are printed and must not give it away
        wrong={
            f"answer {letter}": answer
            for letter, answer in zip("ABCDE", (set(CHANGES[:2]), set(CHANGES[:3]),
                                                {*CHANGES[:4], CHANGES[5]},
                                                {*CHANGES[:3], CHANGES[4]},
                                                set(CHANGES)), strict=True)
        },
        hints=("SIF is a weighted sum, divided by |s|, minus its part along u. Follow each change "
               "through these three.",
               "Does a change leave each p(w), each sum's direction up to a common factor or "
               "rotation, and u along with it?")),
    "sif_weights": Exercise(
        name="sif_weights", question="The smooth inverse frequency of words from their counts",
        judge=judge_function(_solve_sif_weights, _WEIGHT_CASES), solution=_solve_sif_weights,
        fresh=_fresh_counts, wrong={
            "counts instead of shares": _of_counts, "shares of the largest count": _of_the_largest,
            "weights frequent words": _weights_upside_down,
            "inverse but not smooth": _plain_inverse, "uSIF's weights": _weights_of_usif,
            "weights that sum to 1": _sums_to_one
        }, hints=("p is a share of all tokens: counts / counts.sum().", "A word with p = a has the "
                  "weight one half.")),
    "remove_common": Exercise(
        name="remove_common", question="Remove the common direction from sentence vectors",
        judge=judge_function(_solve_remove_common, _REMOVE_CASES), solution=_solve_remove_common,
        fresh=_fresh_rows, wrong={
            "centres before the decomposition": _centres_first,
            "subtracts u itself": _subtracts_the_direction,
            "subtracts the mean": _subtracts_the_mean, "keeps what should go": _keeps_only_it,
            "the weakest direction": _the_last_direction,
            "a column instead of a row": _a_column_of_the_third
        }, hints=("np.linalg.svd returns three parts; the rows of the third are the right singular "
                  "vectors, the strongest first.",
                  "The part of a row x along u is (x·u) u. For all rows: np.outer(X @ u, u).")),
    "usif_a": Exercise(
        name="usif_a",
        question="The a of uSIF from word shares and sentence length", judge=judge_function(
            _solve_usif_a, _A_CASES), solution=_solve_usif_a, fresh=_fresh_shares, wrong={
                "Z = V": _forgets_the_half, "a number of words instead of a share": _counts_words,
                "the threshold n / V": _threshold_n_over_v, "the rare words": _rare_words,
                "a share of tokens instead of words": _share_of_tokens
            }, hints=("alpha is the share of the V words whose p is above 1 - (1 - 1/V)**n.",
                      "np.mean of a comparison is a share. Then Z = V / 2.")),
    "piecewise": Exercise(
        name="piecewise", question="Remove several directions, each by its share of their strength",
        judge=judge_function(_solve_piecewise, _PIECEWISE_CASES), solution=_solve_piecewise,
        fresh=_fresh_removals, wrong={
            "shares of singular values, not squares": _shares_of_sigma, "shares of all "
            "directions": _shares_of_all, "removes each direction whole": _whole,
            "the share enters twice": _shares_on_both_sides
        }, hints=("X @ Vt[:m].T has one column for each direction: how much of it every row holds.",
                  "Multiply these columns by sigma[:m]**2 / (sigma[:m]**2).sum(), go back with @ "
                  "Vt[:m], and subtract.")),
}
