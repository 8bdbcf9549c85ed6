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


def moments(x: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    return len(x), x.mean(axis=0), np.cov(x.T, ddof=0) * len(x)


def cosines(x: np.ndarray) -> np.ndarray:
    z = Whitening().fit(x).transform(x, normalize=True).astype(np.float64)
    return z @ z.T


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_are_invisible_after_whitening(name):
    assert np.allclose(cosines(CHANGED[name]), cosines(X), atol=1e-4) == (name in UNSEEN)


def test_what_is_left_when_a_part_is_forgotten_has_its_own_moments():
    whole, part, rest = map(moments, (X, X[40:], X[:40]))
    for found, expected in zip(EXERCISES["forget"].solution(*whole, *part), rest, strict=True):
        assert np.allclose(found, expected)


def test_copies_and_the_mean_cost_directions():
    x = np.random.default_rng(3).normal(size=(80, 256))
    with pytest.warns(match="vary in 79 directions"):
        assert Whitening().fit(np.vstack([x, x[:20]])).rank_ == EXERCISES["directions"].solution


def test_the_two_directions_are_uncorrelated_in_a_drawn_cloud_and_lean():
    p, q = EXERCISES["uncorrelated"].solution
    x = np.random.default_rng(4).multivariate_normal([0, 0], SIGMA, size=20_000)
    assert abs(np.corrcoef(x @ p, x @ q)[0, 1]) < 0.02 and abs(p @ q) > 0.4


def test_standardising_columns_leaves_a_shared_direction_as_large_as_it_was():
    rng = np.random.default_rng(5)                   # a token: one direction in all columns
    token = rng.choice([-1.0, 1.0], size=200) / np.sqrt(200)
    x = rng.normal(size=(4000, 200)) + 10 * rng.normal(size=(4000, 1)) * token
    shares = [np.var(y @ token) / y.var(axis=0).sum()
              for y in (x, x / x.std(axis=0), Whitening().fit(x).transform(x))]
    assert shares[0] > 0.3 and abs(shares[0] - shares[1]) < 0.02 and shares[2] < 0.01


def test_the_mended_order_whitens_and_the_printed_one_does_not():
    exercise = EXERCISES["wrong_order"]
    broken = exercise.wrong["the code as it was"]
    assert np.allclose(exercise.solution(X), np.eye(4)) and not np.allclose(broken(X), np.eye(4))


def test_a_score_put_in_for_the_difference_means_no_outcome():
    said = EXERCISES["standardised"].judge(("by little (0 to 6)", 58.6))
    assert "another number" in said and "as much as" not in said
