"""Exercises of lesson ``01_one_hot``: cosine without vectors, words needed for a share of the text,
equal distances, training on shuffled grades, a wrong derivative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from ..core import generator
from ._declare import by_name, debug_task, experiment_task, function_task, value_task
from .base import Exercise

__all__ = ["EXERCISES"]


def _solve_overlap_cosine(a: list[str], b: list[str]) -> float:
    shared = len(set(a) & set(b))
    return shared / math.sqrt(len(set(a)) * len(set(b))) if a and b else 0.0


def _solve_words_needed(counts: list[int], share: float) -> int:
    covered = np.cumsum(np.sort(counts)[::-1]) / np.sum(counts)
    return int(np.flatnonzero(covered >= share)[0]) + 1


def _needed(order: Callable[[list[int]], list[int]]) -> Callable:
    """The words needed when they are taken in another order."""
    return lambda counts, share: int(
        np.flatnonzero(np.cumsum(order(counts)) / np.sum(counts) >= share)[0]) + 1


def _half_of_the_shared(w: np.ndarray, A: np.ndarray, B: np.ndarray,
                        grades: np.ndarray) -> np.ndarray:
    c = 2 * (A * B) @ w / ((A + B) @ w)
    scaled = (c - grades / 5) / ((A + B) @ w)
    return (A * B).T @ scaled - (A + B).T @ (scaled * c)                 # the fault


def _solve_dice_slope(w: np.ndarray, A: np.ndarray, B: np.ndarray,
                      grades: np.ndarray) -> np.ndarray:
    c = 2 * (A * B) @ w / ((A + B) @ w)
    scaled = (c - grades / 5) / ((A + B) @ w)
    return 2 * (A * B).T @ scaled - (A + B).T @ (scaled * c)


def _judge_equidistant(points: Any) -> str | None:
    x = np.asarray(points, dtype=float)
    if x.shape != (4, 3):
        return f"expected shape (4, 3): four words, three dimensions; yours has shape {x.shape}"
    if not (np.abs(x) < 1e100).all():            # NaN is not below it either
        return (f"expected numbers, finite and below 1e100; yours run from {x.min():.3g} to "
                f"{x.max():.3g}")
    distance = np.linalg.norm(x[:, None] - x, axis=2)[np.triu_indices(4, k=1)]
    if distance.min() < 1e-6:
        return "two of your words share one place: their distance is 0"
    if np.ptp(distance) > 1e-6 * distance.max():
        return (f"the six distances differ: they run from {distance.min():.3f} to "
                f"{distance.max():.3f}")
    return None


_WORD_CASES = [(["cat"], ["cat"]), (["cat"], ["dog"]), ([], ["dog"]), (["a", "cat"], ["a", "dog"]),
               (["a", "b", "c"], ["b"]), (["the", "cat", "saw", "the", "dog"],
                                          ["the", "dog", "saw", "the", "bird"]),
               (["x", "x", "x", "y"], ["x", "z"])]
_COUNT_CASES = [([4, 3, 2, 1], 0.5), ([4, 3, 2, 1], 0.7), ([1, 2, 3, 4], 0.7),
                ([10, 1, 1, 1, 1], 0.5), ([5, 5, 5, 5], 1.0),
                (generator(0).integers(1, 50, size=30).tolist(), 0.9)]
_DICE_CASES = [
    (np.ones(3), np.array([[1, 1, 0]]), np.array([[0, 1, 1]]), np.array([4.0])),
    (np.array([0.5, 2.0, 1.0, 1.5]), np.array([[1, 1, 0, 1], [0, 1, 1, 0]]),
     np.array([[1, 0, 1, 1], [1, 0, 0, 1]]), np.array([2.0, 5.0]))]
_TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def _fresh_texts(rng: Generator) -> list[tuple]:
    words = [f"w{i}" for i in rng.choice(1000, size=12, replace=False)]

    def text(n: int) -> list[str]:
        return [words[i] for i in rng.integers(len(words), size=n)]

    return [([], text(3)), (text(4), []), ([], []), *((text(int(n)), text(int(m)))
                                                      for n, m in rng.integers(3, 14, size=(6, 2)))]


def _fresh_pairs(rng: Generator) -> list[tuple]:
    pairs = []
    for n, n_words in ((2, 4), (4, 6)):
        A, B = rng.integers(0, 2, size=(2, n, n_words))
        A[:, 0] = B[:, :2] = 1                   # no empty sentence, and a shared word
        pairs.append((rng.uniform(0.3, 3, size=n_words), A, B, rng.uniform(0, 5, size=n).round(1)))
    return pairs


def _fresh_counts(rng: Generator) -> list[tuple]:
    some = [(rng.integers(1, 60, size=int(n)).tolist(), float(share))
            for n, share in zip((7, 12, 25), rng.uniform(0.35, 0.85, size=3), strict=True)]
    equal = int(rng.integers(2, 9))
    # a share that is met exactly, and all of it
    return [*some, ([equal] * 8, 0.5), ([1, *some[0][0][:3], 90], 1.0)]


EXERCISES = by_name(
    function_task("overlap_cosine", "The cosine of two one-hot sums, without building a vector",
        _solve_overlap_cosine, _WORD_CASES, fresh=_fresh_texts,
        wrong={
            "share of the union (Jaccard)":
                lambda a, b: len(set(a) & set(b)) / len(set(a) | set(b)),
            "no square root":
                lambda a, b: len(set(a) & set(b)) / (len(set(a)) * len(set(b))) if a and b else 0.0,
            "repeated words count in the norm":
                lambda a, b: len(set(a) & set(b)) / math.sqrt(len(a) * len(b)) if a and b else 0.0,
            "empty text divides by zero":
                lambda a, b: len(set(a) & set(b)) / math.sqrt(len(set(a)) * len(set(b)))},
        hints=("The vectors hold only 0 and 1. What is their inner product, said in words?",
               "The squared norm of a vector of zeros and ones is the number of its ones: count "
               "distinct words, not words.")),
    function_task("words_needed", "How many words cover a given share of a text?",
        _solve_words_needed, _COUNT_CASES, fresh=_fresh_counts,
        wrong={"one too many": lambda counts, share: _solve_words_needed(counts, share) + 1,
               "counts taken in the given order": _needed(lambda counts: counts),
               "rarest words first": _needed(np.sort),
               "more than the share":
                   lambda counts, share: _solve_words_needed(counts, min(share, 0.999999) + 1e-12),
               "share of the words, not of the text":
                   lambda counts, share: math.ceil(share * len(counts))},
        hints=("Take the most frequent words first, and keep a running total: np.cumsum.",
               "You need the first position at which the running total, divided by the sum of all "
               "counts, reaches the share. Positions start at 0.")),
    Exercise("equidistant", question="Four words in three dimensions, all equally far apart",
        judge=_judge_equidistant, solution=_TETRAHEDRON,
        wrong={"four one-hot vectors": np.eye(4),
               "corners of a square": np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]),
               "three one-hots and the origin": np.vstack([np.eye(3), np.zeros((1, 3))]),
               "all in one place": np.ones((4, 3)),
               "points on a line": np.arange(12).reshape(4, 3)},
        hints=("Three points at equal distances make a triangle. Which body has four corners at "
               "equal distances?",
               "Take every second corner of a cube: between any two of them exactly two of the "
               "three coordinates change sign.")),
    value_task("five_words", "How many dimensions do five equidistant words need?", 4,
        wrong=(3, 5, 2, 10),
        remark="Two words fit on a line, three into a plane, four into space: go on",
        hints=("Two words need a line, and three a plane. What do four need?",
               "In space there is no fifth place: the only point at one distance from all four "
               "corners of a tetrahedron is its centre, and it is nearer to them than they are to "
               "each other.")),
    experiment_task("shuffled_grades", "What does a training on shuffled grades do to the score?",
        {"it rises as before": (73, 100), "it stays or falls a little": (50, 72),
         "it falls below 40": (-100, 40)}, measured=63,
        why="Shuffled grades say nothing about the words of their pair. The weights learn noise, "
            "which costs a few points; a bag of words with such weights still counts shared words",
        hints=("Which part of the training set still fits to the sentences? Which does not?",
               "The loss falls here, too: thousands of weights can fit noise. Does that help on "
               "other pairs?")),
    debug_task("dice_slope", "Which line has the wrong derivative?", _half_of_the_shared,
        _solve_dice_slope, _DICE_CASES, fresh=_fresh_pairs,
        symptom="Doubled weights give the same c. What must w @ slope be, and what is it?",
        wrong={"the other part halved": lambda *pairs: _solve_dice_slope(*pairs) / 2,
               "shared words count as the others":
                   lambda *pairs: 2 * _half_of_the_shared(*pairs) - _solve_dice_slope(*pairs),
               "points downhill": lambda *pairs: -_solve_dice_slope(*pairs),
               "the grades not divided": lambda w, A, B, grades:
                   _solve_dice_slope(w, A, B, 5 * np.asarray(grades))},
        hints=("Take the derivative of 2s / (a + b) by one weight: a word of both sentences, then "
               "a word of one of them only.",
               "The line of c is right. The derivative of 2s by the weight of a shared word is "
               "2.")))
