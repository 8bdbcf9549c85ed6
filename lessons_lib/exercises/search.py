"""Exercises of lesson ``17_search``: the weight of a word, what no ranking by words sees, counts
that are left out, and a measure whose best value is not 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from ._declare import by_name, debug_task, experiment_task, function_task, which_of

__all__ = ["CHANGES", "EXERCISES", "SAME"]


def _solve_bm25_weight(tf: float, df: int, N: int, length: float, mean_length: float, *,
                       k1: float = 1.5, b: float = 0.75) -> float:
    idf = math.log(1 + (N - df + 0.5) / (df + 0.5))
    return idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean_length))


def _bm25(weight: Callable[..., float]) -> Callable:
    """Another weight of the same arguments."""
    def bm25_weight(tf, df, N, length, mean_length, *, k1=1.5, b=0.75):
        return weight(tf, df, N, length, mean_length, k1=k1, b=b)

    return bm25_weight


_BM25_CASES = [(0, 1, 10, 5, 5), (1, 1, 10, 5, 5), (3, 2, 10, 5, 10), (285, 20, 106, 8975, 4365.7),
               (2, 100, 106, 300, 4000),
               *(dict(tf=2, df=5, N=10, length=8, mean_length=4, k1=k1, b=b)
                 for k1, b in [(1.2, 0.0), (2.0, 1.0)])]


def _fresh_weights(rng: Generator) -> list[dict]:
    return [dict(tf=int(rng.integers(1, 30)), df=int(rng.integers(1, 60)),
                 N=int(rng.integers(60, 200)), length=int(rng.integers(20, 400)),
                 mean_length=float(rng.integers(50, 300)) + 0.5, k1=float(rng.uniform(0.8, 2.2)),
                 b=float(rng.uniform(0.55, 0.95))) for _ in range(5)]


_REASONS = {
    "all idf doubled": "every score doubles, so the order stays",
    "words of each passage shuffled": "BM25 counts words and knows no order",
    "words of the question shuffled": "a sum has no order",
    "a word that stands nowhere added to the question": "its list is empty, so it adds nothing",
    "each passage written twice in a row":
        "all counts double; because of saturation a word that stood once gains more than one "
        "that stood often",
    "one long passage added": "the mean length and the idf of its words change"}
CHANGES = tuple(_REASONS)
SAME = frozenset(CHANGES[:4])                    # tests/exercises/test_search.py measures it


def _low_ceiling(ranking: list, relevant: list, k: int) -> float:
    gain = 1 / np.log2(np.arange(k) + 2)
    right = [row in relevant for row in ranking[:k]]
    return float((gain[: len(right)] * right).sum() / gain.sum())                   # the fault


def _solve_low_ceiling(ranking: list, relevant: list, k: int) -> float:
    gain = 1 / np.log2(np.arange(k) + 2)
    right = [row in relevant for row in ranking[:k]]
    return float((gain[: len(right)] * right).sum() / gain[: len(relevant)].sum())


def _fresh_rankings(rng: Generator) -> list[tuple]:
    return [(rng.permutation(30)[:12].tolist(), rng.permutation(30)[:n].tolist(), 10)
            for n in (3, 6, 14)]


EXERCISES = by_name(
    function_task("bm25_weight", "What one word adds to the BM25 score of a passage",
        _solve_bm25_weight, _BM25_CASES, fresh=_fresh_weights,
        wrong={"no saturation":
                   _bm25(lambda tf, df, N, n, mean, k1, b: math.log(1 + (N - df + 0.5) / (df + 0.5))
                         * tf / (1 - b + b * n / mean)),
               "no 1 inside the logarithm":
                   _bm25(lambda tf, df, N, n, mean, k1, b: math.log((N - df + 0.5) / (df + 0.5))
                         * tf * (k1 + 1) / (tf + k1 * (1 - b + b * n / mean))),
               "length upside down":
                   _bm25(lambda *of, **k: _solve_bm25_weight(*of[:3], *of[:2:-1], **k)),
               "b and 1 - b exchanged":
                   _bm25(lambda *of, k1, b: _solve_bm25_weight(*of, k1=k1, b=1 - b)),
               "no factor k1 + 1":
                   _bm25(lambda *of, k1, b: _solve_bm25_weight(*of, k1=k1, b=b) / (k1 + 1))},
        hints=("First the idf, with math.log or np.log. Then the fraction, written as in the "
               "formula.",
               "In a passage of mean length the bracket after k1 is 1. Check yours: 1 - b + b * "
               "1.")),
    which_of("same_ranking", "Which changes leave every BM25 ranking as it is?", _REASONS, SAME,
        wrong=({CHANGES[0]}, set(CHANGES[:2]), set(CHANGES[:3]), set(CHANGES[:5]), set(CHANGES)),
        hints=("Which numbers of the formula does each change touch: tf, df, N, the lengths?",
               "Four of the six.")),
    experiment_task("presence_only", "BM25 that does not see how often a word occurs",
        {"it falls by more than 20": (5, 44), "it falls by less than 10": (54.7, 64.6),
         "it rises": (64.8, 80)},
        measured=63.4,
        why="in a passage of at most 120 words a rare word seldom occurs twice, and the lengths "
            "differ little, so little is lost",
        hints=("How often does a rare word occur in a passage of 120 words?",
               "Rank with other = ll.search.InvertedIndex(k1=0, ...).fit(passages) and "
               "other.search_each(dev.question, k=10), then by_kind.")),
    debug_task("low_ceiling", "Why is the best nDCG not 1?", _low_ceiling, _solve_low_ceiling,
        [([4, 2, 9], [4], 10), ([1, 5, 7, 3], [5, 3], 3), ([1, 2], [8], 10)],
        fresh=_fresh_rankings,
        symptom="How many right passages does the best order have among its first k?",
        wrong={"divided by how many are right":
                   lambda ranking, relevant, k: _low_ceiling(ranking, relevant, k)
                   / len(relevant),
               "no discount":
                   lambda ranking, relevant, k: len({*ranking[:k]} & {*relevant}) / len(relevant)},
        hints=("The best order has the right passages in front, and there are len(relevant) of "
               "them.",
               "Divide by the sum of the first len(relevant) gains.")))
