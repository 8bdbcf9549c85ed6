"""The exercises of lesson 13: what their answers claim is measured."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch

from lessons_lib import kernels
from lessons_lib.contrastive.losses import cosent_loss
from lessons_lib.evaluation import spearman
from lessons_lib.exercises.cosent import CHANGES, EXERCISES, GRADES, LABELS, UNSEEN

RNG = np.random.default_rng(0)
U, V = (torch.from_numpy(RNG.normal(size=(6, 4))) for _ in range(2))
Y = np.array([0, 1, 2, 0, 2, 1])
C = torch.nn.functional.cosine_similarity(U, V)
ORDER = torch.tensor([3, 1, 5, 0, 2, 4])
LOSS = float(cosent_loss(U, V, Y))
CHANGED = dict(zip(CHANGES, (kernels.cosent(C + 0.3, Y), kernels.cosent(2 * C, Y),
                             cosent_loss(U, V, np.array([0, 10, 11])[Y]), cosent_loss(U, V, 2 - Y),
                             cosent_loss(U[ORDER], V[ORDER], Y[ORDER]),
                             cosent_loss(torch.cat([V[:1], U[1:]]), torch.cat([U[:1], V[1:]]), Y),
                             cosent_loss(3 * U, 3 * V, Y)), strict=True))


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_leave_the_loss_as_it_is(name):
    assert np.isclose(float(CHANGED[name]), LOSS) == (name in UNSEEN)


def test_terms_are_the_pairs_of_different_grades():
    assert EXERCISES["terms"].solution == sum(a != b for a, b in combinations(LABELS, 2))


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_the_gradient_is_that_of_the_kernel(scale):
    s = C.clone().requires_grad_()
    kernels.cosent(s, Y, scale=scale).backward()
    assert np.allclose(EXERCISES["gradient"].solution(C.numpy(), Y, scale), s.grad.numpy())


def test_the_sums_below_give_the_loss_without_a_table():
    s = C.numpy()
    below = EXERCISES["below"].solution(20 * s, Y)
    assert np.isclose(np.log1p((below * np.exp(-20 * s)).sum()), LOSS)


def test_the_two_rows_disagree_about_the_order_too():
    rows = EXERCISES["disagree"].solution
    errors = ((rows - GRADES) ** 2).mean(axis=1)
    assert spearman(rows[0], GRADES) == 1 > spearman(rows[1], GRADES) and errors[1] < errors[0]


def test_the_mended_loss_is_that_of_the_kernel():
    s = C.numpy()
    assert np.isclose(EXERCISES["upside_down"].solution(s, Y, 20.0), LOSS)
