"""The exercises of lesson 09: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib.exercises.anisotropy import CHANGED, CHANGES, EXERCISES
from lessons_lib.isotropy import (cone_angle, cosine_in_basis, isoscore,
                                  maximum_explainable_variance, mean_cosine, top_share)
from lessons_lib.isotropy import group_rows


def nearest(x: np.ndarray) -> float:
    apart = np.linalg.norm(x[:, None] - x, axis=2)
    return float(np.sort(apart, axis=1)[:, 1].mean())


MEASURES = dict(zip(CHANGES, (mean_cosine, top_share, cone_angle, isoscore, nearest,
                              lambda x: np.cov(x.T)), strict=True))


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_numbers_change_with_a_shift(name):
    x = np.random.default_rng(0).normal(size=(60, 5))
    same = np.allclose(MEASURES[name](x), MEASURES[name](x + np.array([3.0, 0, 1, 0, 0])),
                       rtol=1e-9)
    assert same == (name not in CHANGED)


def test_the_length_of_the_mean_gives_the_mean_cosine():
    rng = np.random.default_rng(1)
    mean = rng.normal(size=100)
    x = (rng.normal(size=(4000, 100)) +
         EXERCISES["length_of_mean"].solution * mean / np.linalg.norm(mean))
    assert mean_cosine(x) == pytest.approx(0.9, abs=0.01)


def test_explained_is_that_of_the_library():
    x = np.random.default_rng(2).normal(size=(7, 4)) + 1
    assert np.isclose(EXERCISES["explained"].solution(x),
                      maximum_explainable_variance(x, group_rows(np.zeros(7, int)))[0])


def test_the_push_is_the_gradient_of_a_softmax():
    rng = np.random.default_rng(3)
    w, contexts, others = rng.normal(size=3), rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    table = torch.tensor(np.vstack([w, others]), requires_grad=True)
    answers = torch.tensor(rng.integers(1, 5, size=6))                      # never word 0
    torch.nn.functional.cross_entropy(torch.tensor(contexts) @ table.T, answers).backward()
    assert np.allclose(EXERCISES["push"].solution(w, contexts, others), -table.grad[0].numpy())


def test_the_cosine_in_a_basis_is_that_of_the_vectors_themselves():
    rng = np.random.default_rng(4)
    x, y, basis = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 5))
    a, b = x @ basis, y @ basis
    mine = EXERCISES["basis_cosine"].solution(x, y, basis)
    assert np.isclose(mine, a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    assert np.isclose(mine, cosine_in_basis(x[None], y[None], basis)[0])


def test_the_vectors_that_look_even_are_a_line_by_the_library():
    points = EXERCISES["even_looking"].solution
    assert abs(mean_cosine(points)) < 0.05 and isoscore(points) < 0.1
