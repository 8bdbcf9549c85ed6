"""Exercises of lesson ``17_search``: MRR, which the lesson defines and leaves to the reader, what
no ranking by words sees, counts that are left out, and a fusion by what are no ranks.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from ._declare import by_name, debug_task, experiment_task, function_task, which_of

__all__ = ["CHANGES", "EXERCISES", "SAME"]


def _solve_mean_reciprocal_rank(rankings: list, relevant: list, k: int = 10) -> float:
    total = 0.0
    for ranking, right in zip(rankings, relevant, strict=True):
        for place, row in enumerate(ranking[:k], start=1):
            if row in right:
                total += 1 / place
                break
    return total / len(rankings)


def _places(rankings: list, relevant: list, k: int) -> list[list[int]]:
    """The places of the right passages among the first k of each ranking, from 1."""
    return [[place for place, row in enumerate(ranking[:k], start=1) if row in right]
            for ranking, right in zip(rankings, relevant, strict=True)]


def _every_right_one(rankings: list, relevant: list, k: int = 10) -> float:
    each = _places(rankings, relevant, k)
    return sum(1 / place for places in each for place in places) / len(each)


def _answered_only(rankings: list, relevant: list, k: int = 10) -> float:
    firsts = [places[0] for places in _places(rankings, relevant, k) if places]
    return float(np.mean([1 / place for place in firsts])) if firsts else 0.0


def _of_the_mean_place(rankings: list, relevant: list, k: int = 10) -> float:
    firsts = [places[0] for places in _places(rankings, relevant, k) if places]
    return len(firsts) / sum(firsts) if firsts else 0.0


_MRR_CASES = [([[4, 2, 9]], [[9]]), ([[4, 2, 9], [1, 5, 7]], [[2], [7, 5]]),
              ([[3, 8], [6, 1, 2], [5, 0, 7]], [[8], [4], [7, 0]]),
              ([list(range(20)), list(range(20))], [[11, 3], [10]]),
              dict(rankings=[[1, 2, 3, 4], [4, 3, 2, 1]], relevant=[[4], [3, 2]], k=3)]


def _fresh_questions(rng: Generator) -> list[tuple]:
    return [([rng.permutation(30)[:12].tolist() for _ in range(n)],
             [rng.permutation(30)[:6].tolist() for _ in range(n)], k)
            for n, k in ((3, 4), (4, 5), (5, 3), (6, 10), (7, 6))]


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


def _fused_scores(first: np.ndarray, second: np.ndarray, c: float) -> np.ndarray:
    total = np.zeros(len(first))
    for scores in (first, second):
        rank = 1 + (-scores).argsort()                                              # the fault
        total += 1 / (c + rank)
    return total


def _solve_fused_scores(first: np.ndarray, second: np.ndarray, c: float) -> np.ndarray:
    total = np.zeros(len(first))
    for scores in (first, second):
        rank = 1 + (-scores).argsort().argsort()
        total += 1 / (c + rank)
    return total


def _fresh_scores(rng: Generator) -> list[tuple]:
    return [(*rng.permuted(np.arange(2.0 * n).reshape(2, n), axis=1), c)
            for n, c in ((7, 5), (9, 1), (11, 60), (8, 20))]


EXERCISES = by_name(
    function_task("mean_reciprocal_rank",
        "Mean over questions of 1 / the place of the first right passage",
        _solve_mean_reciprocal_rank, _MRR_CASES, fresh=_fresh_questions,
        wrong={"every right passage counts": _every_right_one,
               "questions without a right one left out": _answered_only,
               "1 / the mean place": _of_the_mean_place,
               "all places, not the first k":
                   lambda rankings, relevant, k=10: _solve_mean_reciprocal_rank(rankings, relevant,
                                                                                k=1000),
               "the place of the first in relevant":
                   lambda rankings, relevant, k=10: _solve_mean_reciprocal_rank(
                       rankings, [right[:1] for right in relevant], k)},
        hints=("For one question: go down the first k places and stop at the first right passage. "
               "Without one it adds 0, and still counts as a question.",
               "enumerate(ranking[:k], start=1) gives places from 1. Divide the sum by "
               "len(rankings).")),
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
    debug_task("fused_scores", "Why is the fusion of two good rankings random?", _fused_scores,
        _solve_fused_scores,
        [(np.array([0.2, 0.9, 0.5]), np.array([3.0, 8.0, 1.0]), 5),
         (np.array([0.1, 0.4, 0.2, 0.9]), np.array([7.0, 2.0, 9.0, 4.0]), 1),
         (np.array([5.0, 1.0, 4.0, 2.0, 3.0]), np.array([0.3, 0.5, 0.1, 0.2, 0.4]), 60)],
        fresh=_fresh_scores,
        symptom="Which rank does the passage with the highest score get?",
        wrong={"the lowest score first":
                   lambda first, second, c: _solve_fused_scores(-first, -second, c),
               "ranks from 0": lambda first, second, c: _solve_fused_scores(first, second, c - 1),
               "scores in place of ranks":
                   lambda first, second, c: 1 / (c + first) + 1 / (c + second),
               "the first alone mended":
                   lambda first, second, c: (_solve_fused_scores(first, first, c)
                                             + _fused_scores(second, second, c)) / 2},
        hints=("The ranks of the scores 0.2, 0.9, 0.5 are 3, 1, 2. Print yours.",
               "argsort says which passage stands at each place. You want the place of each "
               "passage: that is the argsort of the argsort.")))
