"""The exercises of lesson 12: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.evaluation import unit_rows
from lessons_lib.exercises.bert_whitening import CHANGES, EXERCISES, SIGMA, UNSEEN
from lessons_lib.isotropy import Whitening

X = np.random.default_rng(0).normal(size=(60, 4)) @ np.random.default_rng(1).normal(size=(4, 4)) + 2
MATRIX = np.random.default_rng(2).normal(size=(4, 4))
CHANGED = dict(zip(CHANGES, (3 * X, X + np.array([1, 0, 5, -2]), X * [1, 10, 1, 1],
                             X[:, [2, 0, 3, 1]], X @ MATRIX, unit_rows(X), np.tanh(X)),
                   strict=True))


def cosines(x: np.ndarray) -> np.ndarray:
    z = Whitening().fit(x).transform(x, normalize=True).astype(np.float64)
    return z @ z.T


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_are_invisible_after_whitening(name):
    assert np.allclose(cosines(CHANGED[name]), cosines(X), atol=1e-4) == (name in UNSEEN)


def test_the_matrix_is_that_of_the_library_up_to_signs():
    whitening = Whitening(3).fit(X)
    mine = EXERCISES["whitening_matrix"].solution(np.cov(X.T), 3)
    assert np.allclose(np.abs(mine), np.abs(whitening.matrix_))


def test_merged_statistics_are_those_of_all_vectors():
    parts = [(len(x), x.mean(axis=0), np.cov(x.T, ddof=0)) for x in (X[:17], X[17:])]
    mean, covariance = EXERCISES["merge"].solution(*parts[0], *parts[1])
    assert np.allclose(mean, X.mean(axis=0)) and np.allclose(covariance, np.cov(X.T, ddof=0))


def test_copies_and_the_mean_cost_directions():
    x = np.random.default_rng(3).normal(size=(80, 256))
    with pytest.warns(match="vary in 79 directions"):
        assert Whitening().fit(np.vstack([x, x[:20]])).rank_ == EXERCISES["directions"].solution


@pytest.mark.parametrize(("beta", "gamma"), [(0.0, 0.0), (1.0, 1.0), (0.5, 0.7)])
def test_inner_products_with_beta_and_gamma_are_those_of_the_library(beta, gamma):
    z = Whitening(beta=beta, gamma=gamma, ddof=0).fit(X).transform(X).astype(np.float64)
    assert np.allclose(EXERCISES["parameterised"].solution(X, beta, gamma), z @ z.T, atol=1e-3)


def test_the_two_directions_are_uncorrelated_in_a_drawn_cloud_and_lean():
    p, q = EXERCISES["uncorrelated"].solution
    x = np.random.default_rng(4).multivariate_normal([0, 0], SIGMA, size=20_000)
    assert abs(np.corrcoef(x @ p, x @ q)[0, 1]) < 0.02 and abs(p @ q) > 0.4
