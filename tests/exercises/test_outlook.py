"""The exercises of lesson 16: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import torch

from lessons_lib.contrastive.losses import in_batch_loss
from lessons_lib.core import PROJECT
from lessons_lib.evaluation import unit_rows
from lessons_lib.exercises.outlook import EXERCISES, TEXTS

RNG = np.random.default_rng(0)


def solution(name: str):
    return EXERCISES[name].solution


def test_cosines_of_cut_vectors_are_those_of_the_first_parts_at_norm_one():
    x, y = RNG.normal(size=(2, 5, 8))
    expected = unit_rows(x[:, :3]) @ unit_rows(y[:, :3]).T
    assert np.allclose(solution("cut_cosines")(x, y, 3), expected)
    assert np.allclose(np.diag(solution("cut_cosines")(x, x, 3)), 1)


def test_the_nested_loss_is_the_sum_of_the_losses_of_the_library():
    u, v = RNG.normal(size=(2, 6, 8))
    parts = [in_batch_loss(torch.from_numpy(u[:, :m]), torch.from_numpy(v[:, :m]), temperature=0.2)
             for m in (2, 4, 8)]
    assert np.isclose(solution("nested_loss")(u, v, [2, 4, 8], 0.2), float(sum(parts)))


def test_the_stub_lists_the_texts_that_the_judge_knows():
    lesson = (PROJECT / "notebooks" / "16_outlook.md").read_text(encoding="utf-8")
    assert all(f'"{text}"' in lesson for text in TEXTS) and "lessons_lib.exercises" not in lesson


def test_the_weight_of_the_first_token_is_what_averages_of_one_hot_vectors_show():
    causal = np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None]
    assert np.isclose((causal @ np.eye(5)).mean(axis=0)[0], solution("first_weight"))


def test_the_last_token_is_found_on_either_side_of_the_padding():
    states = RNG.normal(size=(2, 3, 4))
    right, left = np.array([[1, 1, 0], [1, 0, 0]]), np.array([[0, 1, 1], [0, 0, 1]])
    assert np.allclose(solution("last_token")(states, right), [states[0, 1], states[1, 0]])
    assert np.allclose(solution("last_token")(states, left), states[:, 2])
