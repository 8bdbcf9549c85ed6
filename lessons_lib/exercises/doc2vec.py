"""Exercises of lesson ``07_doc2vec``: the input of PV-DM, the gradient of a document, what a bag of
words cannot see, shuffled articles, an inference that is not frozen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._declare import (by_name, debug_task, experiment_task, function_task, value_task,
                       which_of)

__all__ = ["EXERCISES"]


def _sigma(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


_REASONS = {
    "the words within each document shuffled":
        "which pairs of a document and a word does the loss hold? Does their place occur in it?",
    "the documents taken in another order": "is a sum the same in another order?",
    "each document cut into two with tags of their own":
        "which words does each vector predict now?",
    "two documents with the same tag joined into one":
        "which words did the tag's vector predict before, and which now?",
    "a window of 10 words instead of 5":
        "where are the context words in PV-DBOW without word training?",
    "half of the negative samples": "how often is each word drawn as a negative sample?"}
CHANGES = tuple(_REASONS)
UNCHANGED = frozenset((*CHANGES[:2], *CHANGES[3:5]))  # tests/exercises/test_doc2vec.py measures it


def _solve_dm_input(words: np.ndarray, document: np.ndarray, combine: str) -> np.ndarray:
    rows = np.vstack([words, document])
    return {"mean": rows.mean(axis=0), "sum": rows.sum(axis=0), "concat": rows.ravel()}[combine]


def _instead(of: str, change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """The right input but for one way to combine."""
    return lambda words, document, combine: (change(words, document) if combine == of
                                             else _solve_dm_input(words, document, combine))


_WORDS, _DOCUMENT = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]]), np.array([4.0, 8.0])
_DM_CASES = [(_WORDS[:n], _DOCUMENT, combine) for n in (1, 2, 3)
             for combine in ("mean", "sum", "concat")]


def _solve_document_gradient(D: np.ndarray, U: np.ndarray, n: np.ndarray, P: np.ndarray,
                             k: int) -> np.ndarray:
    s = 1 / (1 + np.exp(-U @ D))
    return (k * n.sum() * P * s - n * (1 - s)) @ U


_U = np.array([[1.0, 0.0], [0.5, -1.0], [-1.0, 2.0]])
_GRADIENT_CASES = [(np.array([0.0, 0.0]), _U, np.array([1, 1, 0]), np.array([0.5, 0.25, 0.25]), 2),
                   (np.array([0.3, -0.2]), _U, np.array([4, 0, 2]), np.array([0.2, 0.3, 0.5]), 5),
                   (np.array([1.0, 2.0, 0.5]), np.array([[1.0, 0.0, 2.0], [-0.5, 1.0, 0.0]]),
                    np.array([3, 1]), np.array([0.6, 0.4]), 3)]


def _solve_not_frozen(D: np.ndarray, U: np.ndarray, labels: np.ndarray, rate: float,
                      steps: int) -> np.ndarray:
    for _ in range(steps):
        error = labels - 1 / (1 + np.exp(-U @ D))
        D = D + rate * error @ U
    return D


def _moves_the_outputs(D: np.ndarray, U: np.ndarray, labels: np.ndarray, rate: float,
                       steps: int) -> np.ndarray:
    for _ in range(steps):
        error = labels - _sigma(U @ D)
        D, U[:] = D + rate * error @ U, U + rate * np.outer(error, D)                 # the fault
    return D


_INFER_CASES = [(np.array([0.1, 0.0]), _U, np.array([1.0, 0.0, 0.0]), 0.1, 2),
                (np.array([0.0, 0.5]), _U, np.array([0.0, 1.0, 0.0]), 0.5, 3),
                (np.array([0.2, -0.1]), _U, np.array([1.0, 1.0, 0.0]), 0.05, 20)]

# words, documents, the edge, outputs
N_NUMBERS = 10_000 * 100 + 1000 * 100 + 100 + 10_000 * 100 * 11

EXERCISES = by_name(
    which_of("same_objective", "Which changes leave the objective of PV-DBOW as it is?",
        _REASONS, UNCHANGED,
        wrong=({CHANGES[1], *CHANGES[3:5]}, set(CHANGES[:2]), {*CHANGES[:2], CHANGES[3]},
               set(CHANGES[:5]), set(CHANGES)),
        hints=("Write the loss as a sum over all pairs of a tag and a word, and over the negative "
               "samples of each.",
               "It depends on how often each word occurs under each tag, on the distribution "
               "of negative samples, and on k. Does the change touch one of these?")),
    function_task("dm_input", "What the outputs are multiplied with in PV-DM",
        _solve_dm_input, _DM_CASES,
        fresh=lambda rng: [(rng.normal(size=(n, 3)), rng.normal(size=3), combine) for n in (2, 4)
                           for combine in ("mean", "sum", "concat")],
        wrong={"forgets the document":
                   lambda words, document, combine: _solve_dm_input(words[:-1], words[-1], combine),
               "the document weighs as much as all words":
                   _instead("mean", lambda words, document: (words.mean(axis=0) + document) / 2),
               "the document comes first":
                   _instead("concat", lambda words, document: np.vstack([document, words]).ravel()),
               "mixes up the coordinates":
                   _instead("concat", lambda words, own: np.vstack([words, own]).T.ravel())},
        hints=("np.vstack([words, document]) has the document as its last row.",
               "mean and sum go over axis 0; .ravel() lays the rows side by side.")),
    function_task("document_gradient",
        "The gradient of a document's loss for its vector, from counts",
        _solve_document_gradient, _GRADIENT_CASES,
        fresh=lambda rng: [(rng.normal(size=d), rng.normal(size=(V, d)),
                            rng.integers(0, 6, size=V) + np.eye(V, dtype=int)[0],
                            rng.dirichlet(np.ones(V)), int(rng.integers(2, 8)))
                           for V, d in ((4, 2), (6, 3))],
        wrong={"points uphill": lambda D, U, n, P, k: -_solve_document_gradient(D, U, n, P, k),
               "leaves the negative samples out":
                   lambda D, U, n, P, k: (-n * (1 - _sigma(U @ D))) @ U,
               "negative samples for one word, not for each":
                   lambda D, U, n, P, k: (k * P * _sigma(U @ D) - n * (1 - _sigma(U @ D))) @ U,
               "forgets k": lambda D, U, n, P, k: _solve_document_gradient(D, U, n, P, 1),
               "shares instead of counts":
                   lambda D, U, n, P, k: _solve_document_gradient(D, U, n / n.sum(), P, k)},
        hints=("A true word w is there n[w] times and adds -(1 - s[w]) U[w] each time.",
               "As a negative sample it is expected k * n.sum() * P[w] times and adds s[w] U[w] "
               "each time.")),
    value_task("n_numbers", "How many numbers a PV-DM model with concatenation holds",
        N_NUMBERS, rtol=0.001,
        remark="Count the rows of words and documents with d numbers each; then ask how long a row "
               "of the outputs must be, if all inputs stand side by side",
        wrong={"outputs of d numbers": 10_000 * 100 * 2 + 1000 * 100,
               "no place for the document": 10_000 * 100 * 11 + 1000 * 100,
               "one side of the window": 10_000 * 100 * 7 + 1000 * 100,
               "outputs for documents, too": 12 * 11_000 * 100},
        hints=("Ten words and the document stand side by side.",
               "Inputs: (V + N) d, and one row for the edge of the text. Outputs: V rows of 11 "
               "d.")),
    experiment_task("shuffled_articles", "Does PV-DM need the order of the words?",
        {"almost none": (0, 10), "about half": (30, 65), "as many as before, or more": (75, 100)},
        measured=87,
        why="In a shuffled article the context words say less about the centre word, and the "
            "document's vector has to say more. So with shuffled words it often finds even "
            "more. Which words an article has did not change, and the topic is in them",
        hints=("What does the test ask for, grammar or topic?",
               "If the context words no longer help, which vector has to predict the word?")),
    debug_task("not_frozen", "Which line lets inference change the model?",
        _moves_the_outputs, _solve_not_frozen, _INFER_CASES,
        fresh=lambda rng: [(rng.normal(size=d), rng.normal(size=(4, d)),
                            np.array([1.0, 0.0, 1.0, 0.0]), float(rng.uniform(0.05, 0.4)),
                            int(rng.integers(3, 15))) for d in (2, 3)],
        symptom="The vector depends on what was inferred before. Which table should inference "
                "leave as it is?",
        wrong={"stops after one step":
                   lambda D, U, labels, rate, steps: _solve_not_frozen(D, U, labels, rate, 1),
               "goes the wrong way":
                   lambda D, U, labels, rate, steps: _solve_not_frozen(D, U, labels, -rate,
                                                                             steps),
               "forgets the negative samples":
                   lambda D, U, labels, *rest: _solve_not_frozen(D, U[labels == 1],
                                                                 labels[labels == 1], *rest),
               "one large step":
                   lambda D, U, labels, rate, steps: _solve_not_frozen(D, U, labels,
                                                                             rate * steps, 1)},
        hints=("Frozen means that only D moves.",
               "The last line of the loop moves two tables. Leave one of them as it is."))
    )
