"""Exercises of lesson ``03_topic_models``: the E step, the draw of Gibbs sampling, relevance, and
what the posterior of LDA cannot see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from ._declare import by_name, function_task, which_of

__all__ = ["EXERCISES"]


def _solve_e_step(theta: np.ndarray, phi: np.ndarray, d: int, w: int) -> np.ndarray:
    share = theta[d] * phi[:, w]
    return share / share.sum()


_THETA = np.array([[0.5, 0.5], [0.9, 0.1]])
_PHI = np.array([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
_THETA_3 = np.array([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])
_PHI_3 = np.array([[0.25, 0.25, 0.5, 0.0], [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])
_E_STEP_CASES = [(_THETA, _PHI, 0, 0), (_THETA, _PHI, 1, 2), (_THETA_3, _PHI_3, 0, 3),
                 (_THETA_3, _PHI_3, 1, 1)]


def _solve_gibbs_weights(n_dk: np.ndarray, n_kw: np.ndarray, n_k: np.ndarray, old: int, *, V: int,
                         alpha: float = 0.1, beta: float = 0.01) -> np.ndarray:
    itself = np.arange(len(n_k)) == old
    weight = (n_dk - itself + alpha) * (n_kw - itself + beta) / (n_k - itself + V * beta)
    return weight / weight.sum()


def _draw(*, document: int = 1, word: int = 1, words: int = 0, shares: bool = True) -> Callable:
    """The draw with the token left in some counts, another number of words, or no sum of 1."""
    def gibbs_weights(n_dk, n_kw, n_k, old, *, V, alpha=0.1, beta=0.01):
        itself = np.arange(len(n_k)) == old
        weight = ((n_dk - document * itself + alpha) * (n_kw - word * itself + beta)
                  / (n_k - word * itself + (words or V) * beta))
        return weight / weight.sum() if shares else weight

    return gibbs_weights


def _case(n_dk, n_kw, n_k, old, **keywords: Any):
    return dict(n_dk=np.array(n_dk), n_kw=np.array(n_kw), n_k=np.array(n_k), old=old, **keywords)


_GIBBS_CASES = [_case([1, 0], [1, 0], [1, 0], 0, V=2), _case([1, 2], [2, 1], [3, 4], 1, V=5,
                                                             alpha=1.0, beta=1.0),
                _case([3, 0, 1], [0, 7, 2], [20, 30, 9], 2, V=50),
                _case([1, 1, 0], [1, 0, 0], [4, 4, 4], 0, V=10, alpha=0.5, beta=0.02)]


def _solve_relevance(phi: np.ndarray, p: np.ndarray, weight: float) -> np.ndarray:
    return weight * np.log(phi) + (1 - weight) * np.log(phi / p)


_RELEVANCE_CASES = [(np.array([0.5, 0.5]), np.array([0.5, 0.5]), 1.0),
                    (np.array([0.5, 0.5]), np.array([0.9, 0.1]), 0.0),
                    (np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]), np.array([0.5, 0.2, 0.3]), 0.6),
                    (np.array([0.2, 0.8]), np.array([0.6, 0.4]), 0.25)]

_REASONS = {
    "words shuffled inside each document":
        "look for the place of a word in the formulas; they know only counts",
    "documents in another order":
        "the documents share the topics and nothing else, and no document has a number in the "
        "formulas",
    "topics renumbered": "all topics have one prior, so their numbers are names",
    "every document copied behind itself":
        "twice the words are twice the evidence: the posterior becomes narrower",
    "documents joined two by two": "which words share a document is all that the model learns from",
    "every second token left out": "fewer words are less evidence"}
CHANGES = tuple(_REASONS)
UNSEEN = frozenset(CHANGES[:3])  # tests/exercises/test_topic_models.py enumerates it


def _fresh_counts(rng: Generator) -> list[dict[str, Any]]:
    cases = []
    for k in (3, 4, 6):
        n_dk, n_kw = rng.integers(1, 9, size=k), rng.integers(1, 9, size=k)
        cases.append(dict(n_dk=n_dk, n_kw=n_kw, n_k=n_kw + rng.integers(5, 40, size=k),
                          old=int(rng.integers(k)), V=int(rng.integers(20, 90)),
                          alpha=float(rng.uniform(0.2, 1)), beta=float(rng.uniform(0.01, 0.1))))
    return cases


EXERCISES = by_name(
    which_of("unseen", "Which changes leave the probability of the corpus under LDA as it is?",
        _REASONS, UNSEEN,
        wrong=(set(CHANGES[:1]), set(CHANGES[:2]), set(CHANGES[:4]), {*CHANGES[:3], CHANGES[4]},
               set(CHANGES)),
        hints=("Go through the formula of the draw. Which of its counts change?",
               "Counts of words in documents survive when words or documents change places, and a "
               "topic's number is a name. Copying, joining and leaving out change counts.")),
    function_task("e_step", "The share of each topic in the count of one word in one document",
        _solve_e_step, _E_STEP_CASES,
        fresh=lambda rng: [(rng.dirichlet(np.ones(k), size=3), rng.dirichlet(np.ones(6), size=k),
                            int(rng.integers(3)), int(rng.integers(6))) for k in (2, 3, 5)],
        wrong={"does not sum to 1": lambda theta, phi, d, w: theta[d] * phi[:, w],
               "forgets the document": lambda theta, phi, d, w: phi[:, w] / phi[:, w].sum(),
               "forgets the word": lambda theta, phi, d, w: theta[d] / theta[d].sum(),
               "all to the best topic":
                   lambda theta, phi, d, w: ((s := theta[d] * phi[:, w]) == s.max()) * 1.0,
               "adds instead of multiplying":
                   lambda theta, phi, d, w: (s := theta[d] + phi[:, w]) / s.sum()},
        hints=("theta[d] holds p(topic | document), phi[:, w] holds p(word | topic): one number "
               "for each topic.",
               "Bayes: the product of both, divided by its sum.")),
    function_task("gibbs_weights", "The probabilities with which one token draws its topic",
        _solve_gibbs_weights, _GIBBS_CASES, fresh=_fresh_counts,
        wrong={"the token votes for itself": _draw(document=0, word=0),
               "leaves the document but not the word": _draw(word=0),
               "no priors":
                   lambda **case: _solve_gibbs_weights(**case | {"alpha": 1e-9, "beta": 1e-9}),
               "beta instead of V beta": _draw(words=1),
               "alpha and beta exchanged":
                   lambda alpha=0.1, beta=0.01, **case: _solve_gibbs_weights(**case, alpha=beta,
                                                                                   beta=alpha),
               "do not sum to 1": _draw(shares=False)},
        hints=("The three counts still hold the token itself, in topic `old`. Take it out of each "
               "first, without changing the arguments.",
               "itself = np.arange(len(n_k)) == old is 1 at the old topic and 0 elsewhere; then "
               "the formula, then divide by the sum.")),
    function_task("relevance", "A word's relevance for a topic, between frequent and own",
        _solve_relevance, _RELEVANCE_CASES,
        fresh=lambda rng: [(rng.dirichlet(np.ones(5), size=3), rng.dirichlet(np.ones(5)),
                            float(weight)) for weight in (0.0, 0.3, rng.uniform(0.6, 0.9))],
        wrong={"the weight at the other end":
                   lambda phi, p, weight: _solve_relevance(phi, p, 1 - weight),
               "no logarithms": lambda phi, p, weight: weight * phi + (1 - weight) * phi / p,
               "lift upside down":
                   lambda phi, p, weight: weight * np.log(phi) + (1 - weight) * np.log(p / phi),
               "the logarithm of the sum":
                   lambda phi, p, weight: np.log(weight * phi + (1 - weight) * phi / p)},
        hints=("Two logarithms: of phi, and of phi / p.",
               "With weight 1 only the first stays, with weight 0 only the second.")))
