"""Exercises of lesson ``16_outlook``: cutting vectors short, nested losses, what a bag of words can
tell a decoder, equal budgets, the last token, a causal mean, and who gets an instruction.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from ._declare import by_name, function_task, value_task, which_of

__all__ = ["EXERCISES"]


def _solve_cut_short(X: np.ndarray, k: int) -> np.ndarray:
    first = X[:, :k]
    lengths = np.linalg.norm(first, axis=1, keepdims=True)
    return first / np.where(lengths > 0, lengths, 1)


def _zero_row_forgotten(X: np.ndarray, k: int) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return X[:, :k] / np.linalg.norm(X[:, :k], axis=1, keepdims=True)


_X = np.array([[3.0, 4.0, 12.0, 0.0], [0.0, 0.0, 1.0, 2.0], [-1.0, 2.0, 2.0, 4.0]])
_CUT_CASES = [(_X, 2), (_X, 3), (_X, 4), (_X[:1], 1)]


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
    tables = [(rng.normal(size=(n, d)), k) for n, d, k in ((2, 3, 1), (4, 5, 3), (6, 4, 2))]
    for X, k in tables:
        X[rng.integers(len(X)), :k] = 0  # a row of which nothing is left
    return tables


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
    function_task("cut_short", "The first k numbers of each vector, scaled to length 1",
        _solve_cut_short, _CUT_CASES, fresh=_fresh_vectors,
        wrong={"scaled before the cut": lambda X, k: _solve_cut_short(X, X.shape[1])[:, :k],
               "not scaled": lambda X, k: X[:, :k],
               "the last k": lambda X, k: _solve_cut_short(X[:, ::-1], k)[:, ::-1],
               "a zero row gives NaN": _zero_row_forgotten,
               "the first k rows": lambda X, k: _solve_cut_short(X, X.shape[1])[:k]},
        hints=("Cut first. What is the length of what is left?",
               "A row whose first k numbers are all 0 stays 0: divide it by 1.")),
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
        hints=("For every m: cut both tables to m columns, scale their rows to length 1, then the "
               "mean over rows of -log softmax.",
               "logits = u @ v.T / tau; a row's loss is log of the sum of its exponentials, less "
               "the entry on the diagonal.")),
    value_task("bag_floor",
        "The least mean loss of a decoder that knows the bag and no order, for 12 different pieces",
        math.log(12), rtol=1e-3,
        remark="At each place all 12 pieces are equally likely. What is minus the logarithm of "
               "that?",
        wrong=(0.0, math.log2(12), 12.0, math.log(8192), math.log(12) / 12),
        hints=("The decoder knows which 12 pieces there are, and not which stands where.",
               "-log(1/12), in nats.")),
    value_task("blocks_run",
        "Steps of auto-encoding that run as many blocks as 100 steps of contrastive learning",
        2400 / 13, rtol=5e-3,
        remark="How often is a sentence read by the twelve blocks in either way, and what reads it "
               "besides?",
        wrong=(100, 200, 1200 / 13, 1300 / 24, 50),
        hints=("Two views of the sentence in one of them. One view and a decoder of one block in "
               "the other.",
               "100 · 2 · 12 = steps · (12 + 1).")),
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
        hints=("Four of the six.", "E5 has a prefix for either side.")))
