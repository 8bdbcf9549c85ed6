"""The exercises of lesson 10: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.contrastive.losses import cosine_regression, pair_features
from lessons_lib.exercises.sbert import CHANGES, EXERCISES, PAIRS, UNSEEN, separable

RNG = np.random.default_rng(0)
# 40 pairs: fewer columns of features than pairs, so that a fit proves something
X = RNG.normal(size=(80, 4))
ROTATION = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
CHANGED = dict(zip(CHANGES, (3 * X, X * [1, 10, -2, 0.5], X + np.array([1, 0, 5, -2]),
                             X[:, [2, 0, 3, 1]], X * [1, -1, 1, 1], X @ ROTATION,
                             X / np.linalg.norm(X, axis=1, keepdims=True)), strict=True))


def features(x: np.ndarray) -> np.ndarray:
    u, v = torch.from_numpy(x[:40]), torch.from_numpy(x[40:])
    return np.hstack([pair_features(u, v).numpy(), np.ones((40, 1))])


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_leave_every_classifier_possible(name):
    """Every old score is a weighted sum of the new features if the old features are."""
    new, old = features(CHANGED[name]), features(X)
    left = old - new @ np.linalg.lstsq(new, old, rcond=None)[0]
    assert bool(np.abs(left).max() < 1e-9) == (name in UNSEEN)


def test_the_mended_loss_is_that_of_the_library():
    u, v = (torch.from_numpy(RNG.normal(size=(6, 3))) for _ in range(2))
    grades = RNG.uniform(0, 5, size=6)
    assert EXERCISES["raw_grades"].solution(u.numpy(), v.numpy(), grades) == pytest.approx(
        float(cosine_regression(u, v, torch.from_numpy(grades / 5))))


def test_the_gradient_is_that_of_the_library_and_at_right_angles_to_the_vector():
    u, v = (torch.from_numpy(RNG.normal(size=(1, 5))) for _ in range(2))
    u.requires_grad_()
    cosine_regression(u, v, [0.3]).backward()
    mine = EXERCISES["cosine_gradient"].solution(u.detach().numpy()[0], v.numpy()[0], 0.3)
    assert np.allclose(mine, u.grad.numpy()[0]) and abs(mine @ u.detach().numpy()[0]) < 1e-12


def test_a_straight_cut_tells_and_and_does_not_tell_xor():
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    assert separable(corners, np.array([0, 0, 0, 1]))
    assert not separable(corners, np.array([0, 1, 1, 0]))


def test_each_label_stands_twice_so_that_guessing_one_is_worth_a_third():
    labels = [label for *_, label in PAIRS]
    assert {labels.count(label) for label in labels} == {2}
