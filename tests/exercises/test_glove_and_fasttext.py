"""The exercises of lesson 05: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.exercises.glove_and_fasttext import CHANGES, EXERCISES, UNCHANGED
from lessons_lib.text.subwords import fnv1a, ngrams


def loss(w: np.ndarray, c: np.ndarray, b: np.ndarray, b_c: np.ndarray) -> float:
    logs = np.random.default_rng(7).normal(size=(5, 5))
    logs = logs + logs.T
    weight = np.minimum(1, np.exp(logs) / 3) ** 0.75
    return float((weight * (w @ c.T + b[:, None] + b_c - logs) ** 2).sum())


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_the_named_changes_leave_the_loss_as_it_is(name):
    rng = np.random.default_rng(0)
    w, c, b, b_c = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(
        size=5)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    after = dict(
        zip(CHANGES, ((w @ turn, c @ turn, b, b_c), (2 * w, c / 2, b, b_c), (w, c, b + 1, b_c - 1),
                      (c, w, b_c, b), (w + 1, c, b, b_c), (w + c, c, b, b_c)), strict=True))[name]
    assert np.isclose(loss(*after), loss(w, c, b, b_c)) == (name in UNCHANGED)


@pytest.mark.parametrize("word", ["a", "is", "where", "banana", "où", "你好"])
def test_parts_and_hashes_are_those_of_the_library(word):
    assert EXERCISES["parts"].solution(word, 3, 6) == ngrams(word)
    assert [EXERCISES["hash_of"].solution(part) for part in ngrams(word)] == [
        fnv1a(part) for part in ngrams(word)
    ]


def test_the_forgetful_steps_have_one_size_and_adagrads_become_smaller():
    exercise = EXERCISES["never_settles"]
    forgetful = exercise.wrong["the code as it was"]
    gradients = [2.0, -0.5, 3.0, -0.01]
    assert np.allclose(np.abs(forgetful(gradients, 0.3)), 0.3)
    x, G = 0.0, 1.0
    for g, step in zip(gradients, exercise.solution(gradients, 0.3), strict=True):
        before, G = x, G + g**2                  # as section 4 writes it
        x -= 0.3 * g / np.sqrt(G)
        assert np.isclose(x - before, step)
