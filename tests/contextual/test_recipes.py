"""Recipes: rates by what was read, moments ever further apart, weights that fit into the project."""

from __future__ import annotations

import pytest

from lessons_lib.contextual import LessonBertForPretraining
from lessons_lib.contextual.recipes import RECIPES, Recipe, moments


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


@pytest.mark.parametrize("scale", ["laptop", "gpu"])
def test_weights_as_float16_stay_below_25_megabytes(scale):
    model = LessonBertForPretraining(RECIPES[scale].size(8192))
    assert 2 * sum(p.numel() for p in model.parameters()) <= 25e6
