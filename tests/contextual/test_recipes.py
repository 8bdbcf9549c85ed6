"""Recipes: rates by what was read, moments ever further apart, weights that fit the project."""

from __future__ import annotations

import pytest

from lessons_lib.contextual import LessonBertForPretraining
from lessons_lib.contextual.recipes import RECIPES, Recipe, doublings, moments


def test_the_rate_rises_then_falls_to_zero_in_straight_lines():
    recipe = Recipe(tokens=64 * 32 * 1000, warmup=0.1)
    rates = [recipe.rate(step) for step in range(recipe.steps)]
    assert recipe.steps == 1000 and max(rates) == pytest.approx(1e-3, rel=0.01)
    assert rates.index(max(rates)) in (99, 100)
    assert rates[10] - rates[9] == pytest.approx(rates[90] - rates[89])
    assert rates[-1] == pytest.approx(1e-3 * 0.0005 / 0.9)


@pytest.mark.parametrize("steps", [0, 1, 5, 79, 30_000])
def test_moments_begin_at_0_and_end_at_the_end(steps):
    found = moments(steps)
    assert found[0] == 0 and found[-1] == steps and found == sorted(set(found)) and len(found) <= 24


def test_milestones_are_the_steps_that_reach_each_doubling_and_the_last():
    recipe = Recipe(tokens=5_000_000)
    assert doublings(recipe) == [489, 977, 1954, recipe.steps]
    assert [n * recipe.tokens_per_step // 1_000_000 for n in doublings(recipe)] == [1, 2, 4, 5]


def test_dropout_sets_in_after_its_share_of_the_steps():
    recipe = Recipe(tokens=64 * 32 * 9, dropout=0.1, dropout_from=2 / 3)
    assert [recipe.dropout_at(step) for step in range(9)] == [0.0] * 6 + [0.1] * 3


@pytest.mark.parametrize("scale", ["laptop", "gpu"])
def test_weights_as_float16_stay_below_25_megabytes(scale):
    model = LessonBertForPretraining(RECIPES[scale].size(8192))
    assert 2 * sum(p.numel() for p in model.parameters()) <= 25e6
