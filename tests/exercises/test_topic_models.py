"""The exercises of lesson 03: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from lessons_lib import topics
from lessons_lib.exercises.topic_models import CHANGES, EXERCISES, UNSEEN

DOCUMENTS = [[0, 1, 0, 2], [2, 2, 1, 3], [3, 0, 0, 1], [1, 1, 2, 0]]
TOPICS = [[0, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 0], [1, 0, 1, 1]]
V, K, ALPHA, BETA = 4, 2, 0.7, 0.3


def log_joint(documents: list[list[int]], topics_of: list[list[int]]) -> float:
    """log p(w, z) under symmetric priors."""
    total, words = 0.0, np.zeros((K, V))
    for document, z in zip(documents, topics_of, strict=True):
        n_dk = np.bincount(z, minlength=K)
        np.add.at(words, (z, document), 1)
        total += gammaln(K * ALPHA) - gammaln(K * ALPHA + n_dk.sum()) + (gammaln(n_dk + ALPHA) -
                                                                         gammaln(ALPHA)).sum()
    return (total + (gammaln(V * BETA) - gammaln(V * BETA + words.sum(axis=1)) +
                     (gammaln(words + BETA) - gammaln(BETA)).sum(axis=1)).sum())


def changed(name: str) -> tuple[list[list[int]], list[list[int]]]:
    d, z = DOCUMENTS, TOPICS
    if name == CHANGES[0]:
        order = [3, 1, 0, 2]
        return [[row[i] for i in order] for row in d], [[row[i] for i in order] for row in z]
    if name == CHANGES[1]:
        return d[::-1], z[::-1]
    if name == CHANGES[2]:
        return d, [[1 - k for k in row] for row in z]
    if name == CHANGES[3]:
        return [row * 2 for row in d], [row * 2 for row in z]
    if name == CHANGES[4]:
        return [d[0] + d[1], d[2] + d[3]], [z[0] + z[1], z[2] + z[3]]
    return [row[::2] for row in d], [row[::2] for row in z]


def test_exactly_the_named_changes_leave_the_probability_as_it_is():
    before = log_joint(DOCUMENTS, TOPICS)
    assert {name for name in CHANGES if np.isclose(log_joint(*changed(name)), before, rtol=0,
                                                   atol=1e-9)} == set(UNSEEN)


def test_the_mended_m_step_gives_the_tables_of_the_library():
    X = np.array([[2, 1, 0], [0, 1, 3]])
    one, two = (topics.PLSA(2, n_iter=n, tol=0).fit(X) for n in (1, 2))
    ratio = X / (one.doc_topic_ @ one.components_)
    mended = EXERCISES["m_step"].solution(one.components_ * (one.doc_topic_.T @ ratio))
    assert np.allclose(mended, two.components_)


def test_the_relevance_of_the_exercise_ranks_as_the_library_does():
    X = np.random.default_rng(0).integers(1, 9, size=(6, 7))
    model = topics.PLSA(2, n_iter=5).fit(X)
    score = EXERCISES["relevance"].solution(model.components_, X.sum(axis=0) / X.sum(), 0.4)
    assert (np.argsort(-score, axis=1) == model.top_columns(7, relevance=0.4)).all()
