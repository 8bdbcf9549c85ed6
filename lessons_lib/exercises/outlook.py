"""Exercises of lesson ``16_outlook``: a nested loss, the last token, a causal mean, who gets an
instruction, contrast with few negatives, and an index that was cut and not scaled.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.random import Generator

from ._declare import (by_name, debug_task, experiment_task, function_task, value_task,
                       which_of)

__all__ = ["EXERCISES"]


def _cut_cosines(X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    Y = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    return X[:, :k] @ Y[:, :k].T                                                    # the fault


def _solve_cut_cosines(X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    return _cut_cosines(X[:, :k], Y[:, :k], k)


_X = np.array([[3.0, 4.0, 12.0, 1.0], [1.0, 0.5, 1.0, 2.0], [-1.0, 2.0, 2.0, 4.0]])
_CUT_CASES = [(_X, _X, 2), (_X, _X[:2], 3), (_X[:1], _X, 1)]


def _info_nce(u: np.ndarray, v: np.ndarray, tau: float) -> float:
    u, v = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (u, v))
    logits = u @ v.T / tau
    return float(np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diag(logits)))


def _solve_nested_loss(U: np.ndarray, V: np.ndarray, sizes: list[int], tau: float) -> float:
    total = 0.0
    for m in sizes:
        u, v = (X[:, :m] / np.linalg.norm(X[:, :m], axis=1, keepdims=True) for X in (U, V))
        logits = u @ v.T / tau
        total += np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diag(logits))
    return total


def _in_slices(U: np.ndarray, V: np.ndarray, sizes: list[int], tau: float) -> float:
    ends = [0, *sorted(sizes)]
    return sum(_info_nce(U[:, a:b], V[:, a:b], tau) for a, b in pairwise(ends))


def _scaled_once(U: np.ndarray, V: np.ndarray, sizes: list[int], tau: float) -> float:
    u, v = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (U, V))
    logits = [u[:, :m] @ v[:, :m].T / tau for m in sizes]
    return float(sum(np.mean(np.log(np.exp(x).sum(axis=1)) - np.diag(x)) for x in logits))


_U = np.array([[1.0, 0.5, -0.2, 0.3], [-0.4, 1.0, 0.6, 0.1], [0.2, -0.7, 1.0, 0.9]])
_V = np.array([[0.9, 0.6, 0.1, -0.3], [-0.5, 0.8, 0.7, 0.4], [0.1, -0.9, 0.6, 1.1]])
_NESTED_CASES = [(_U, _V, [2, 4], 0.5), (_U, _V, [1, 2, 4], 0.2), (_U[:2], _V[:2], [4, 2], 1.0),
                 (_V, _U, [3], 0.5)]


def _solve_last_token(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
    last = mask.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=1)
    return states[np.arange(len(states)), last]


def _mean_of_all(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)


_STATES = np.arange(24.0).reshape(2, 4, 3)
_RIGHT, _LEFT, _FULL = (np.array(m)
                        for m in ([[1, 1, 0, 0], [1, 1, 1, 1]], [[0, 0, 1, 1], [0, 1, 1, 1]],
                                  [[1, 1, 1, 1], [1, 1, 1, 1]]))
_LAST_CASES = [(_STATES, _RIGHT), (_STATES, _LEFT), (_STATES, _FULL),
               (_STATES[:1], np.array([[1, 0, 0, 0]]))]

_RULES = {
    "E5: the question of a search": "E5 was trained with `query: ` before questions",
    "E5: the passages to be searched": "E5 was trained with `passage: ` before passages",
    "BGE: the short question of a search": "BGE puts its instruction before short questions",
    "BGE: the passages to be searched": "with BGE only the question gets an instruction",
    "E5-mistral: the question of a search":
        "E5-mistral's template begins with `Instruct:` and ends in the query",
    "E5-mistral: the documents to be searched": "with E5-mistral documents get none"}
TEXTS = tuple(_RULES)
TOLD = frozenset((TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[4]))


def _fresh_vectors(rng: Generator) -> list[tuple]:
    sizes = ((2, 3, 1), (4, 5, 3), (6, 4, 2))
    return [(rng.normal(size=(n, d)), rng.normal(size=(3, d)), k) for n, d, k in sizes]


def _fresh_views(rng: Generator) -> list[tuple]:
    tables = zip((2, 3, 5), ([1, 2], [4, 2], [2, 3, 6]), rng.uniform(0.2, 0.9, size=3), strict=True)
    return [(*rng.normal(size=(2, n, max(sizes))), sizes, float(tau)) for n, sizes, tau in tables]


def _fresh_masks(rng: Generator) -> list[tuple]:
    cases = []
    for n, length in ((2, 4), (3, 5), (4, 7)):
        right = (np.arange(length) < rng.integers(2, length, size=n)[:, None]).astype(int)
        cases += [(rng.normal(size=(n, length, 2)), mask) for mask in (right, right[:, ::-1])]
    return cases


EXERCISES = by_name(
    function_task("nested_loss",
        "The sum of InfoNCE over nested sizes, each a mean over rows of U that search among the "
        "rows of V",
        _solve_nested_loss, _NESTED_CASES, fresh=_fresh_views,
        wrong={
            "slices instead of beginnings": _in_slices,
            "scaled to length 1 once": _scaled_once,
            "mean over the sizes":
                lambda U, V, sizes, tau: _solve_nested_loss(U, V, sizes, tau) / len(sizes),
            "multiplied by tau": lambda U, V, sizes, tau: _solve_nested_loss(U, V, sizes, 1 / tau),
            "the smallest size alone":
                lambda U, V, sizes, tau: _solve_nested_loss(U, V, [min(sizes)], tau)},
        hints=("For every m: cut both tables to their first m columns, scale their rows to length "
               "1, then the mean over rows of -log softmax. Add the losses.",
               "logits = u @ v.T / tau; a row's loss is log of the sum of its exponentials, less "
               "the entry on the diagonal.")),
    function_task("last_token", "The vector of the last real token, wherever the padding is",
        _solve_last_token, _LAST_CASES, fresh=_fresh_masks,
        wrong={"last column": lambda states, mask: states[:, -1],
               "length less one":
                   lambda states, mask: states[np.arange(len(states)), mask.sum(axis=1) - 1],
               "mean": _mean_of_all,
               "first token":
                   lambda states, mask: states[np.arange(len(states)), np.argmax(mask, axis=1)],
               "one after":
                   lambda states, mask: states[np.arange(len(states)),
                                               np.minimum(mask.sum(axis=1), mask.shape[1] - 1)]},
        hints=("mask[:, ::-1] read from the left is the mask read from the right.",
               "np.argmax of a row of zeros and ones is the place of its first one.")),
    value_task("first_weight", "Weight of the first of five tokens in the mean of causal averages",
        137 / 300, rtol=2e-3,
        remark="Place i holds the mean of tokens 1 to i, so the first token has 1/i there. Average "
               "over i.",
        wrong=(0.2, 1.0, 137 / 60, 1 / 3, 0.04),
        hints=("Five places: 1, 1/2, 1/3, 1/4, 1/5 of the first token.",)),
    which_of("who_is_told", "Which texts get a prefix or an instruction?",
        _RULES, TOLD, look="Think of what each was trained with",
        wrong=(set(TEXTS), set(TEXTS[::2]), set(TEXTS[:2]), set(TEXTS[:4]), set(TEXTS[1::2])),
        hints=("Four of the six.", "E5 has a prefix for either side.")),
    experiment_task("few_negatives", "Contrast with batches of 8",
        {"as with 128": (71.8, 76), "a part of the gain": (67.4, 71.7),
         "below no training": (40, 67.3)},
        measured=69.0,
        why="each sentence has 7 negatives in place of 127. Its partner is found at once, so the "
            "loss and its gradient are small. On test nothing of the gain is left. With equally "
            "many sentences, 2,400 steps, most of it is back there, but dev stays near 70 at this "
            "rate",
        hints=("How many candidates does a row of the batch have?",
               "batch = 8, then score(train(start, contrast, steps)).")),
    debug_task("cut_cosines", "Why do texts no longer find themselves?", _cut_cosines,
        _solve_cut_cosines, _CUT_CASES, fresh=_fresh_vectors,
        symptom="What is the product of a row with itself, and what should it be?",
        wrong={"scaled by the length of X alone":
                   lambda X, Y, k: (X[:, :k] / np.linalg.norm(X[:, :k], axis=1, keepdims=True)
                                    @ Y[:, :k].T),
               "the last k": lambda X, Y, k: _solve_cut_cosines(X[:, ::-1], Y[:, ::-1], k),
               "not cut": lambda X, Y, k: _cut_cosines(X, Y, X.shape[1])},
        hints=("Which rows have norm 1 after the cut?", "First cut, then scale.")))
