"""Exercises of lesson ``04_word2vec``: pairs of a window, words that are always kept, the gradient
of negative sampling, what leaves neighbours as they are, shuffled words, a loss without a push.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.random import Generator

from ._declare import by_name, debug_task, experiment_task, function_task, which_of

__all__ = ["EXERCISES"]


def _solve_window_pairs(tokens: list[str], half: int) -> list[tuple[str, str]]:
    return [(tokens[i], tokens[j]) for i in range(len(tokens))
            for j in range(max(0, i - half), min(len(tokens), i + half + 1)) if j != i]


def _pairs(near: Callable[[int, int, int], Iterable[int]]) -> Callable:
    """Pairs of word i with the words at other places: ``near(i, number of words, half)``."""
    return lambda tokens, half: [(tokens[i], tokens[j]) for i in range(len(tokens))
                                 for j in near(i, len(tokens), half)]


_PAIR_CASES = [(["cats", "drink"], 1), (["cats", "drink", "milk"], 1),
               (["cats", "drink", "milk"], 2), (["a", "b", "c", "d"], 2), (["a"], 3),
               (["very", "very", "cold"], 1)]


def _solve_always_kept(t: float) -> float:
    return t * (3 + 5**0.5) / 2                  # x + x² = 1 for x = √(t / f)


def _solve_centre_gradient(v: np.ndarray, u: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return (1 / (1 + np.exp(-u @ v)) - labels) @ u


_GRADIENT_CASES = [(np.array([1.0]), np.array([[2.0]]), np.array([1.0])),
                   (np.array([0.5, -1.0]), np.zeros((3, 2)), np.array([1.0, 0.0, 0.0])),
                   (np.array([0.5, -1.0]), np.array([[1.0, 0.5], [-0.3, 2.0]]),
                    np.array([1.0, 0.0])), (np.array([0.2, 0.1, -0.4]),
                                            np.array([[1.0, 0.0, 2.0], [0.5, -1.0, 0.0],
                                                      [3.0, 1.0, 1.0]]), np.array([1.0, 0.0, 0.0]))]

_REASONS = {
    "all vectors turned by the same rotation": "a rotation changes no norm and no angle",
    "all vectors times 3": "look for the factor 3 in the formula of the cosine, above and below",
    "each vector times a positive number of its own": "the cosine divides by both norms",
    "two columns exchanged": "in which order does a sum of products add?",
    "the same vector added to all":
        "draw two vectors at a right angle, then move both far away along the diagonal",
    "the first column times 10": "what does the cosine look like when only one column is large?"}
CHANGES = tuple(_REASONS)
UNCHANGED = frozenset(CHANGES[:4])               # tests/exercises/test_word2vec.py measures it


def _all_pulled(true: float, false: list[float]) -> float:
    pull = -np.log(1 / (1 + np.exp(-true)))
    push = -np.log(1 / (1 + np.exp(-np.asarray(false)))).sum()                     # the fault
    return float(pull + push)


def _solve_all_alike(true: float, false: list[float]) -> float:
    pull = -np.log(1 / (1 + np.exp(-true)))
    push = -np.log(1 / (1 + np.exp(np.asarray(false)))).sum()
    return float(pull + push)


def _fresh_tokens(rng: Generator) -> list[tuple]:
    texts = [["abcde"[i] for i in rng.integers(5, size=n)] for n in (4, 7, 10)]
    return [*((text, int(rng.integers(1, 4))) for text in texts), (["no", "no", "never"], 2),
            ([], 2)]


EXERCISES = by_name(
    which_of("same_neighbours",
        "Which changes leave every word's nearest neighbours by cosine as they are?",
        _REASONS, UNCHANGED,
        wrong=(set(CHANGES[:2]), set(CHANGES[:3]), {*CHANGES[:4], CHANGES[4]},
               {CHANGES[0], CHANGES[1], CHANGES[3]}, set(CHANGES)),
        hints=("The cosine is an inner product divided by two norms. Which of the changes do not "
               "cancel?",
               "Rotations, exchanged columns and norms leave angles as they are. A shift and a "
               "stretched axis do not.")),
    function_task("window_pairs", "All pairs (centre, context) of a text",
        _solve_window_pairs, _PAIR_CASES, fresh=_fresh_tokens,
        wrong={"negative places count from the end":
                   _pairs(lambda i, n, half: [j for j in range(i - half, min(n, i + half + 1))
                                               if j != i]),
               "the last neighbour is missing":
                   _pairs(lambda i, n, half: [j for j in range(max(0, i - half), min(n, i + half))
                                               if j != i]),
               "a word is its own neighbour":
                   _pairs(lambda i, n, half: range(max(0, i - half), min(n, i + half + 1))),
               "two equal words side by side are left out":
                   lambda tokens, half: [pair for pair in _solve_window_pairs(tokens, half)
                                         if pair[0] != pair[1]],
               "context first":
                   lambda tokens, half: [(b, a) for a, b in _solve_window_pairs(tokens, half)],
               "only the words before": _pairs(lambda i, n, half: range(max(0, i - half), i))},
        hints=("For the centre at place i the neighbours stand from i - half to i + half, without "
               "i itself.",
               "range(max(0, i - half), min(len(tokens), i + half + 1)): a negative place would "
               "count from the end of the list.")),
    function_task("always_kept",
        "Up to which share of the text is a word always kept by subsampling?",
        _solve_always_kept, [(1e-3,), (1e-4,), (1e-5,), (0.02,)],
        fresh=lambda rng: [(float(t),) for t in rng.uniform(1e-5, 1e-2, size=4)],
        wrong={"the formula of the paper": lambda t: t,
               "each of the two terms is 1/2, the second one left out": lambda t: 4 * t,
               "the other root": lambda t: t * (3 - 5**0.5) / 2,
               "x instead of its square": lambda t: t * (1 + 5**0.5) / 2},
        hints=("Call √(t / f) = x. The probability is x + x². Where does it reach 1?",
               "The positive root of x² + x = 1, then f = t / x².")),
    function_task("centre_gradient",
        "The gradient of the loss of negative sampling with respect to the centre's vector",
        _solve_centre_gradient, _GRADIENT_CASES,
        fresh=lambda rng: [(rng.normal(size=d), rng.normal(size=(k + 1, d)), np.eye(k + 1)[0])
                           for d, k in ((3, 2), (4, 5), (6, 3))],
        wrong={"points up instead of down":
                   lambda v, u, labels: -_solve_centre_gradient(v, u, labels),
               "the gradient with respect to the context vectors":
                   lambda v, u, labels: (1 / (1 + np.exp(-u @ v)) - labels).sum() * v,
               "forgets the labels": lambda v, u, labels: (1 / (1 + np.exp(-u @ v))) @ u,
               "no sigmoid": lambda v, u, labels: (u @ v - labels) @ u,
               "softmax instead of sigmoids":
                   lambda v, u, labels: (np.exp(u @ v) / np.exp(u @ v).sum() - labels) @ u},
        hints=("The derivative of -log σ(x) is σ(x) - 1, that of -log σ(-x) is σ(x). With a label "
               "y both read σ(x) - y.",
               "Each output contributes (σ(u·v) - y) u. Sum over the outputs: a product of a row "
               "with the matrix u.")),
    experiment_task("shuffled_words", "Does the model need the order of the words?",
        {"it falls to about 0": (-20, 12), "it keeps half or more": (22, 45),
         "it rises": (49, 100)}, measured=35,
        why="In a shuffled article the words of one subject still stand near each other, because "
            "the whole article is about it. What is lost is grammar: which word follows which",
        hints=("What do two words of one article have in common, even when the order is lost?",
               "Pairs from one article stay more frequent than pairs from two articles. What does "
               "that say about their PMI?")),
    debug_task("all_alike", "Which line makes all words alike?", _all_pulled, _solve_all_alike,
        [(0.0, [0.0] * 5), (2.0, [-1.0, 0.5]), (-1.0, [3.0])],
        fresh=lambda rng: [(float(rng.normal()), rng.normal(size=5).round(2).tolist())
                           for _ in range(2)],
        symptom="It falls to almost 0, and all words come near to each other. Which part of the "
                "loss should push words apart?",
        wrong={"only the true pair": lambda true, false: _solve_all_alike(true, []),
               "the mean of the negative samples": lambda true, false:
                   _solve_all_alike(true, []) + _solve_all_alike(50.0, false) / len(false),
               "the true pair is pushed, too": lambda true, false: _solve_all_alike(-true, false)},
        hints=("What should the product with a negative sample become: large, or small?",
               "Compare the two logarithms with the formula of section 4, sign by sign.")))
