"""The exercises of lesson 01: the derivative of the Dice coefficient is that of its loss."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.exercises.one_hot import EXERCISES

SLOPE = EXERCISES["dice_slope"]
PAIRS = list(SLOPE.fresh(3))


def half_loss(w, A, B, grades):
    c = 2 * (A * B) @ w / ((A + B) @ w)
    return ((c - grades / 5)**2).sum() / 2


@pytest.mark.parametrize("case", range(len(PAIRS)))
def test_the_slope_of_the_exercise_is_a_finite_difference_of_its_loss(case):
    w, *pairs = PAIRS[case]
    numeric = [(half_loss(w + h, *pairs) - half_loss(w - h, *pairs)) / 2e-6
               for h in 1e-6 * np.eye(len(w))]
    assert np.allclose(SLOPE.solution(w, *pairs), numeric, atol=1e-7)


@pytest.mark.parametrize("case", range(len(PAIRS)))
def test_the_slope_along_the_weights_is_zero_unless_the_fault_is_there(case):
    w, *pairs = PAIRS[case]
    assert abs(w @ SLOPE.solution(w, *pairs)) < 1e-12
    assert abs(w @ SLOPE.wrong["the code as it was"](w, *pairs)) > 1e-3
