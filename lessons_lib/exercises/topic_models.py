"""Exercises of lesson ``03_topic_models``: what the posterior of LDA cannot see, relevance, an
experiment with its prior, and a fault in an M step.
"""

from __future__ import annotations


import numpy as np

from ._declare import by_name, debug_task, experiment_task, function_task, which_of

__all__ = ["EXERCISES"]


def _solve_m_step(n_kw: np.ndarray) -> np.ndarray:
    return n_kw / n_kw.sum(axis=1, keepdims=True)


_M_STEP_CASES = [(np.array([[1.0, 3.0], [2.0, 2.0]]),),
                 (np.array([[2.0, 0.0, 8.0], [1.0, 1.0, 2.0]]),)]


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


EXERCISES = by_name(
    which_of("unseen", "Which changes leave the probability of the corpus under LDA as it is?",
        _REASONS, UNSEEN,
        wrong=(set(CHANGES[:1]), set(CHANGES[:2]), set(CHANGES[:4]), {*CHANGES[:3], CHANGES[4]},
               set(CHANGES)),
        hints=("Go through the formula of the draw. Which of its counts change?",
               "Counts of words in documents survive when words or documents change places, and a "
               "topic's number is a name. Copying, joining and leaving out change counts.")),
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
               "With weight 1 only the first stays, with weight 0 only the second.")),
    experiment_task("even_mixtures", "What does alpha = 10 do to the largest topic of a document?",
        {"it rises above": (0.95, 1.0), "it stays between": (0.7, 0.95),
         "it falls below": (1 / 3, 0.7)}, 0.53,
        why="alpha = 10 is ten tokens of every topic, seen in advance in every document. Even "
            "forty tokens of one topic would give only (40 + 10) / 70 = 0.71. And alpha = 10 "
            "makes the document's factor nearly even, so the tokens split as well: about 28 of "
            "40, (28 + 10) / 70 = 0.54",
        hints=("How many tokens does alpha = 10 add to a document of three topics, and how many "
               "has a post? And what does it do to the first factor of the draw?",
               "Run the two cells again and measure; the prior now adds thirty.")),
    debug_task("m_step", "Why is the loss of this training far too low?",
        lambda n_kw: n_kw / n_kw.sum(axis=0, keepdims=True), _solve_m_step, _M_STEP_CASES,
        fresh=lambda rng: [(rng.gamma(1.0, size=(k, 7)) + 0.1,) for k in (2, 3, 5)],
        symptom="The perplexity is near 1, of 2,000 words. Which sums should be 1: those of a "
                "word over topics, or those of a topic over words?",
        wrong={"not divided": lambda n_kw: n_kw * 1.0,
               "divided by the sum of all": lambda n_kw: n_kw / n_kw.sum(),
               "divided by the largest": lambda n_kw: n_kw / n_kw.max(axis=1, keepdims=True)},
        hints=("A row of phi is one topic: a distribution over words.",
               "axis=0 sums over the topics. Which axis runs over the words?")))
