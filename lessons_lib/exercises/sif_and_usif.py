"""Exercises of lesson ``06_sif_and_usif``: removal as a matrix, alpha from a, uSIF's a by hand,
what a cosine of SIF cannot see, a list of stop words, and a removal that leaves the cone.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from ._declare import (by_name, debug_task, experiment_task, function_task, value_task,
                       which_of)

__all__ = ["EXERCISES"]


def _solve_removal_matrix(directions: np.ndarray, shares: np.ndarray) -> np.ndarray:
    return np.eye(directions.shape[1]) - (directions.T * shares) @ directions


def _orthonormal(rng: Generator, m: int, d: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(d, m)))[0].T


_AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
_MATRIX_CASES = [(_AXES[:1], np.array([1.0])), (_AXES, np.array([0.75, 0.25])),
                 (_AXES, np.array([0.5, 0.5]))]


def _solve_frequency_share(a: float, Z: float) -> float:
    return 1 / (1 + a * Z)


_TOY = np.array([0.5, 0.3, 0.1, 0.05, 0.05])


def _solve_still_a_cone(X: np.ndarray) -> np.ndarray:
    u = np.linalg.svd(np.asarray(X, dtype=float), full_matrices=False)[2][0]
    return X - np.outer(X @ u, u)


def _still_a_cone(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=float)
    centred = X - X.mean(axis=0)
    u = np.linalg.svd(centred, full_matrices=False)[2][0]
    return X - np.outer(X @ u, u)


_WIDE = np.array([[3.0, 1.0, 0.0], [2.0, -1.0, 1.0]])
_TALL = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, -1.0], [4.0, 0.0, 1.0], [2.5, 1.0, -2.0]])


def _fresh_rows(rng: Generator) -> list[tuple]:
    return [(rng.normal(size=(n, d)) + 2 * rng.normal(size=d),)
            for n, d in ((3, 5), (4, 4), (7, 3))]


_REASONS = {
    "all word vectors times 3":
        "the weights do not know the vectors; what happens to every sentence vector, and what to "
        "its direction?",
    "all word vectors turned by the same rotation":
        "the common direction turns along with everything else",
    "the words of each sentence shuffled": "where in the formulas is the place of a word?",
    "each sentence said twice in a row":
        "twice the words, twice the |s|; and what happens to each p(w)?",
    "each word vector scaled to norm 1":
        "a vector with a large norm counts more in a sum than one with a small norm",
    "the same vector added to all word vectors":
        "sentences get different amounts of it: the sum of their weights divided by |s|"}
CHANGES = tuple(_REASONS)
UNCHANGED = frozenset(CHANGES[:4])               # tests/exercises/test_sif_and_usif.py measures it


EXERCISES = by_name(
    function_task("removal_matrix", "Piecewise removal as one matrix",
        _solve_removal_matrix, _MATRIX_CASES,
        fresh=lambda rng: [(_orthonormal(rng, m, d), rng.dirichlet(np.ones(m)))
                           for m, d in ((1, 3), (2, 5), (4, 4))],
        wrong={"the part that is removed": lambda c, s: (c.T * s) @ c,
               "removes each direction whole": lambda c, s: np.eye(c.shape[1]) - c.T @ c,
               "the share enters twice": lambda c, s: np.eye(c.shape[1]) - (c.T * s**2) @ c,
               "keeps the share": lambda c, s: np.eye(c.shape[1]) - (c.T * (1 - s)) @ c},
        hints=("The part of a row x along c is (x·c) c, which is x times the outer product of c "
               "with itself.",
               "Start from np.eye(d) and subtract (directions.T * shares) @ directions.")),
    function_task("frequency_share", "How often is a word said only because it is frequent?",
        _solve_frequency_share, [(1e-3, 1000.0), (0.5, 2.0), (1e-3, 50_000.0)],
        fresh=lambda rng: [(float(rng.uniform(1e-4, 1)), float(rng.uniform(2, 100)))
                           for _ in range(3)],
        wrong={"the other way round": lambda a, Z: a * Z / (1 + a * Z),
               "without Z": lambda a, Z: 1 / (1 + a),
               "the 1 is forgotten": lambda a, Z: 1 / (a * Z)},
        hints=("Multiply a = (1 - α) / (α Z) by α Z. Which equation in α is left?",
               "a α Z = 1 - α. Bring both α to one side.")),
    value_task("toy_a", "uSIF's a for five words, by hand", 1.6,
        wrong={"Z = V": 0.8, "a number of words": 0.0, "a share of tokens": 0.4,
               "α itself": 0.2},
        hints=("The threshold is 1 - (1 - 1/5)². How many of the five words are above it?",
               "Only the first. So α = 1/5 and Z = 5/2."),
        remark="α is a share of words: one of five. Then Z = 5/2."),
    which_of("unchanged", "Which changes leave every cosine of SIF as it is?",
        _REASONS, UNCHANGED,
        wrong=(set(CHANGES[:2]), set(CHANGES[:3]), {*CHANGES[:4], CHANGES[5]},
               {*CHANGES[:3], CHANGES[4]}, set(CHANGES)),
        hints=("SIF is a weighted sum, divided by |s|, minus its part along u. Follow each change "
               "through these three.",
               "Does a change leave each p(w), each sum's direction up to a common factor or "
               "rotation, and u along with it?")),
    experiment_task("stop_list", "Frequent words left out altogether: what is the score?",
        {"more than 2 points below": (-100, -2), "within 2 points": (-2, 2),
         "more than 2 points above": (2, 100)}, measured=0.3,
        why="What matters most is that the top of the list counts little: the mean has 55.1, the "
            "stop list 69.6, SIF's weights 69.3. The exact curve matters less. But a list has an "
            "end. On the course's dev pairs 300 words have 3 points less than 100, because words "
            "with a meaning are among them",
        hints=("Which weights does SIF give to the 100 most frequent words? And to the others?",
               "From 0.01 up to about a half, and more to the others. Which of these words make "
               "up most of a mean (section 2)?")),
    debug_task("still_a_cone", "Which line leaves the cone?", _still_a_cone, _solve_still_a_cone,
        [(_WIDE,), (_TALL,)], fresh=_fresh_rows,
        symptom="Cosines of unrelated sentences are still far above 0. In which direction do all "
                "sentence vectors point together, and is it still there after `centred`?",
        wrong={"subtracts the mean": lambda X: np.asarray(X) - np.mean(X, axis=0),
               "centres the result": lambda X: _still_a_cone(X) - _still_a_cone(X).mean(axis=0),
               "the weakest direction": lambda X: X - np.outer(
                   X @ (u := np.linalg.svd(X, full_matrices=False)[2][-1]), u)},
        hints=("What is the mean of the rows after centring? What is the common component mostly?",
               "Give the SVD the table as it is.")))
