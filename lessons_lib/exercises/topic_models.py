"""Exercises of lesson ``03_topic_models``: the E step, the draw of Gibbs sampling, relevance, and
what the posterior of LDA cannot see.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import generator
from ._which_of import judge_which
from .base import Exercise, judge_function

__all__ = ["EXERCISES"]

# ------------------------------------------------------------------------------ e_step


def _solve_e_step(theta: np.ndarray, phi: np.ndarray, d: int, w: int) -> np.ndarray:
    share = theta[d] * phi[:, w]
    return share / share.sum()


def _not_normalised(theta: np.ndarray, phi: np.ndarray, d: int, w: int) -> np.ndarray:
    return theta[d] * phi[:, w]


def _forgets_the_document(theta: np.ndarray, phi: np.ndarray, d: int, w: int) -> np.ndarray:
    return phi[:, w] / phi[:, w].sum()


def _forgets_the_word(theta: np.ndarray, phi: np.ndarray, d: int, w: int) -> np.ndarray:
    return theta[d] / theta[d].sum()


def _takes_the_best(theta: np.ndarray, phi: np.ndarray, d: int, w: int) -> np.ndarray:
    share = theta[d] * phi[:, w]
    return (share == share.max()).astype(float)


def _adds(theta: np.ndarray, phi: np.ndarray, d: int, w: int) -> np.ndarray:
    share = theta[d] + phi[:, w]
    return share / share.sum()


_THETA = np.array([[0.5, 0.5], [0.9, 0.1]])
_PHI = np.array([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
_THETA_3 = np.array([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])
_PHI_3 = np.array([[0.25, 0.25, 0.5, 0.0], [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])
_E_STEP_CASES = [(_THETA, _PHI, 0, 0), (_THETA, _PHI, 1, 2), (_THETA_3, _PHI_3, 0, 3),
                 (_THETA_3, _PHI_3, 1, 1)]

# ------------------------------------------------------------------------------ gibbs_weights


def _solve_gibbs_weights(n_dk: np.ndarray, n_kw: np.ndarray, n_k: np.ndarray, old: int, *, V: int,
                         alpha: float = 0.1, beta: float = 0.01) -> np.ndarray:
    itself = np.arange(len(n_k)) == old
    weight = (n_dk - itself + alpha) * (n_kw - itself + beta) / (n_k - itself + V * beta)
    return weight / weight.sum()


def _counts_itself(n_dk: np.ndarray, n_kw: np.ndarray, n_k: np.ndarray, old: int, *, V: int,
                   alpha: float = 0.1, beta: float = 0.01) -> np.ndarray:
    weight = (n_dk + alpha) * (n_kw + beta) / (n_k + V * beta)
    return weight / weight.sum()


def _leaves_only_the_document(n_dk: np.ndarray, n_kw: np.ndarray, n_k: np.ndarray, old: int, *,
                              V: int, alpha: float = 0.1, beta: float = 0.01) -> np.ndarray:
    weight = (n_dk - (np.arange(len(n_k)) == old) + alpha) * (n_kw + beta) / (n_k + V * beta)
    return weight / weight.sum()


def _without_priors(n_dk: np.ndarray, n_kw: np.ndarray, n_k: np.ndarray, old: int, *, V: int,
                    alpha: float = 0.1, beta: float = 0.01) -> np.ndarray:
    return _solve_gibbs_weights(n_dk, n_kw, n_k, old, V=V, alpha=1e-9, beta=1e-9)


def _without_V(n_dk: np.ndarray, n_kw: np.ndarray, n_k: np.ndarray, old: int, *, V: int,
               alpha: float = 0.1, beta: float = 0.01) -> np.ndarray:
    itself = np.arange(len(n_k)) == old
    weight = (n_dk - itself + alpha) * (n_kw - itself + beta) / (n_k - itself + beta)
    return weight / weight.sum()


def _priors_exchanged(n_dk: np.ndarray, n_kw: np.ndarray, n_k: np.ndarray, old: int, *, V: int,
                      alpha: float = 0.1, beta: float = 0.01) -> np.ndarray:
    return _solve_gibbs_weights(n_dk, n_kw, n_k, old, V=V, alpha=beta, beta=alpha)


def _weights_not_normalised(n_dk: np.ndarray, n_kw: np.ndarray, n_k: np.ndarray, old: int, *,
                            V: int, alpha: float = 0.1, beta: float = 0.01) -> np.ndarray:
    itself = np.arange(len(n_k)) == old
    return (n_dk - itself + alpha) * (n_kw - itself + beta) / (n_k - itself + V * beta)


def _case(n_dk: list[int], n_kw: list[int], n_k: list[int], old: int,
          **keywords: Any) -> dict[str, Any]:
    return dict(n_dk=np.array(n_dk), n_kw=np.array(n_kw), n_k=np.array(n_k), old=old, **keywords)


_GIBBS_CASES = [
    _case([1, 0], [1, 0], [1, 0], 0, V=2),
    _case([1, 2], [2, 1], [3, 4], 1, V=5, alpha=1.0, beta=1.0),
    _case([3, 0, 1], [0, 7, 2], [20, 30, 9], 2, V=50),
    _case([1, 1, 0], [1, 0, 0], [4, 4, 4], 0, V=10, alpha=0.5, beta=0.02)
]

# ------------------------------------------------------------------------------ relevance


def _solve_relevance(phi: np.ndarray, p: np.ndarray, weight: float) -> np.ndarray:
    return weight * np.log(phi) + (1 - weight) * np.log(phi / p)


def _weight_exchanged(phi: np.ndarray, p: np.ndarray, weight: float) -> np.ndarray:
    return _solve_relevance(phi, p, 1 - weight)


def _without_logarithm(phi: np.ndarray, p: np.ndarray, weight: float) -> np.ndarray:
    return weight * phi + (1 - weight) * phi / p


def _lift_upside_down(phi: np.ndarray, p: np.ndarray, weight: float) -> np.ndarray:
    return weight * np.log(phi) + (1 - weight) * np.log(p / phi)


def _logarithm_of_the_sum(phi: np.ndarray, p: np.ndarray, weight: float) -> np.ndarray:
    return np.log(weight * phi + (1 - weight) * phi / p)


_RELEVANCE_CASES = [(np.array([0.5, 0.5]), np.array([0.5, 0.5]), 1.0),
                    (np.array([0.5, 0.5]), np.array([0.9, 0.1]), 0.0),
                    (np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]), np.array([0.5, 0.2, 0.3]), 0.6),
                    (np.array([0.2, 0.8]), np.array([0.6, 0.4]), 0.25)]

# ------------------------------------------------------------------------------ unseen

CHANGES = ("words shuffled inside each document", "documents in another order", "topics renumbered",
           "every document copied behind itself", "documents joined two by two",
           "every second token left out")
UNSEEN = frozenset(CHANGES[:3])  # tests/exercises/test_topic_models.py enumerates it
_REASONS = {CHANGES[0]: "look for the place of a word in the formulas; they know only counts",
            CHANGES[1]: "the documents share the topics and nothing else, and no document has a "
                        "number in the formulas",
            CHANGES[2]: "all topics have one prior, so their numbers are names",
            CHANGES[3]: "twice the words are twice the evidence: the posterior becomes narrower",
            CHANGES[4]: "which words share a document is all that the model learns from",
            CHANGES[5]: "fewer words are less evidence"}


def _judge_unseen(answer: Any) -> str | None:
    return judge_which(answer, _REASONS, UNSEEN)

# ------------------------------------------------------------------- inputs for a class, made anew

def _fresh_shares(seed: int) -> list[tuple]:
    rng = generator(seed)
    return [(rng.dirichlet(np.ones(k), size=3), rng.dirichlet(np.ones(6), size=k),
             int(rng.integers(3)), int(rng.integers(6))) for k in (2, 3, 5)]


def _fresh_counts(seed: int) -> list[dict[str, Any]]:
    rng = generator(seed)
    cases = []
    for k in (3, 4, 6):
        n_dk, n_kw = rng.integers(1, 9, size=k), rng.integers(1, 9, size=k)
        cases.append(
            dict(n_dk=n_dk, n_kw=n_kw, n_k=n_kw + rng.integers(5, 40, size=k), old=int(
                rng.integers(k)), V=int(rng.integers(20, 90)), alpha=float(rng.uniform(0.2, 1)),
                 beta=float(rng.uniform(0.01, 0.1))))
    return cases


def _fresh_words(seed: int) -> list[tuple]:
    rng = generator(seed)
    return [(rng.dirichlet(np.ones(5), size=3), rng.dirichlet(np.ones(5)), float(weight))
            for weight in (0.0, 0.3, rng.uniform(0.6, 0.9))]


EXERCISES = {
    "unseen": Exercise(
        name="unseen",
        question="Which changes leave the probability of the corpus under LDA as it "
        "is?",
        judge=_judge_unseen,
        solution=set(UNSEEN),
        # their labels are printed and must not give it away
        wrong={
            f"answer {letter}": answer
            for letter, answer in zip("ABCDE", (set(CHANGES[:1]), set(CHANGES[:2]),
                                                set(CHANGES[:4]), {*CHANGES[:3], CHANGES[4]},
                                                set(CHANGES)), strict=True)
        },
        hints=("Go through the formula of the draw. Which of its counts change?",
               "Counts of words in documents survive when words or documents change places, and a "
               "topic's number is a name. "
               "Copying, joining and leaving out change counts.")),
    "e_step": Exercise(
        name="e_step", question="The share of each topic in the count of one word in one document",
        judge=judge_function(_solve_e_step, _E_STEP_CASES), solution=_solve_e_step,
        fresh=_fresh_shares, wrong={
            "does not sum to 1": _not_normalised, "forgets the document": _forgets_the_document,
            "forgets the word": _forgets_the_word, "all to the best topic": _takes_the_best,
            "adds instead of multiplying": _adds
        }, hints=("theta[d] holds p(topic | document), phi[:, w] holds p(word | topic): one number "
                  "for each topic.", "Bayes: the product of both, divided by its sum.")),
    "gibbs_weights": Exercise(
        name="gibbs_weights",
        question="The probabilities with which one token draws its topic", judge=judge_function(
            _solve_gibbs_weights,
            _GIBBS_CASES), solution=_solve_gibbs_weights, fresh=_fresh_counts, wrong={
                "the token votes for itself": _counts_itself, "leaves the document but not the "
                "word": _leaves_only_the_document, "no priors": _without_priors,
                "beta instead of V beta": _without_V, "alpha and beta exchanged": _priors_exchanged,
                "do not sum to 1": _weights_not_normalised
            },
        hints=("The three counts still hold the token itself, in topic `old`. Take it out of each "
               "first, without changing the arguments.",
               "itself = np.arange(len(n_k)) == old is 1 at the old topic and 0 elsewhere; then "
               "the formula, then divide by the sum.")),
    "relevance": Exercise(
        name="relevance", question="A word's relevance for a topic, between frequent and own",
        judge=judge_function(_solve_relevance, _RELEVANCE_CASES), solution=_solve_relevance,
        fresh=_fresh_words, wrong={
            "the weight at the other end": _weight_exchanged, "no logarithms": _without_logarithm,
            "lift upside down": _lift_upside_down, "the logarithm of the sum": _logarithm_of_the_sum
        }, hints=("Two logarithms: of phi, and of phi / p.", "With weight 1 only the first stays, "
                  "with weight 0 only the second.")),
}
