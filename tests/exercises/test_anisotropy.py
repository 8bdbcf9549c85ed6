"""The exercises of lesson 09: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import rankdata

from lessons_lib.exercises.anisotropy import CHANGED, CHANGES, EXERCISES
from lessons_lib.isotropy import mean_cosine


def nearest(x: np.ndarray) -> float:
    apart = np.linalg.norm(x[:, None] - x, axis=2)
    return float(np.sort(apart, axis=1)[:, 1].mean())


def order(x: np.ndarray) -> np.ndarray:
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return rankdata((unit @ unit.T)[np.triu_indices(len(x), 1)])


def all_but_the_top(x: np.ndarray) -> np.ndarray:
    x = x - x.mean(axis=0)
    top = np.linalg.eigh(x.T @ x)[1][:, -1:]
    return x - x @ top @ top.T


MEASURES = dict(zip(CHANGES, (mean_cosine, lambda x: np.linalg.norm(x, axis=1), order, nearest,
                              lambda x: np.cov(x.T), all_but_the_top), strict=True))


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_things_change_with_a_shift(name):
    x = np.random.default_rng(0).normal(size=(60, 5))
    same = np.allclose(MEASURES[name](x), MEASURES[name](x + np.array([3.0, 0, 1, 0, 0])),
                       rtol=1e-9)
    assert same == (name not in CHANGED)


def test_the_norm_of_the_mean_gives_the_mean_cosine():
    rng = np.random.default_rng(1)
    mean = rng.normal(size=100)
    x = (rng.normal(size=(4000, 100)) +
         EXERCISES["norm_of_mean"].solution * mean / np.linalg.norm(mean))
    assert mean_cosine(x) == pytest.approx(0.9, abs=0.01)


def test_the_number_of_the_wrong_table_is_told_which_table_it_is():
    judge, (expected, _) = EXERCISES["untied"].judge, EXERCISES["untied"].solution
    assert "of the input" in judge((expected, 0.74)) and judge((expected, 0.1)) is None
    assert "of the input" not in judge((expected, 0.3)) + judge(("stay (above 0.4)", 0.01))


def test_the_mended_regulariser_is_the_mean_cosine():
    x = np.random.default_rng(2).normal(size=(7, 4)) + 1
    assert np.isclose(EXERCISES["no_effect"].solution(x), mean_cosine(x))


def test_the_push_is_the_gradient_of_a_softmax():
    rng = np.random.default_rng(3)
    w, contexts, others = rng.normal(size=3), rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    table = torch.tensor(np.vstack([w, others]), requires_grad=True)
    answers = torch.tensor(rng.integers(1, 5, size=6))                      # never word 0
    torch.nn.functional.cross_entropy(torch.tensor(contexts) @ table.T, answers).backward()
    assert np.allclose(EXERCISES["push"].solution(w, contexts, others), -table.grad[0].numpy())
