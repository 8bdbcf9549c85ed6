"""Shapes in a plane: where their points lie, that the seed decides, and the density that is known."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.datasets import bent_log_density, synthetic_plane


def test_the_ring_has_no_point_near_its_middle_and_no_direction():
    x = synthetic_plane("ring", 20_000)
    radius = np.linalg.norm(x, axis=1)
    assert radius.mean() == pytest.approx(2, abs=0.01) and radius.std() == pytest.approx(0.15, rel=0.05) and radius.min() > 1
    assert np.cov(x.T) == pytest.approx(np.eye(2) * (4 + 0.15**2) / 2, abs=0.05)


def test_the_moons_are_two_half_circles():
    x = synthetic_plane("moons", 4000)
    upper, lower = np.abs(np.linalg.norm(x, axis=1) - 1), np.abs(np.linalg.norm(x - [1, 0.5], axis=1) - 1)
    assert np.quantile(np.minimum(upper, lower), 0.99) < 0.3
    assert 0.4 < (upper < lower).mean() < 0.6


def test_the_bent_gaussian_has_the_density_it_says():
    x = synthetic_plane("bent", 50_000)
    assert bent_log_density(x).mean() == pytest.approx(-np.log(2 * np.pi * np.e) - np.log(0.5), abs=0.02)
    assert np.corrcoef(x[:, 0] ** 2, x[:, 1])[0, 1] > 0.8 and abs(np.corrcoef(x.T)[0, 1]) < 0.05
    axis = np.linspace(-8, 40, 1500)
    grid = np.stack(np.meshgrid(axis[axis < 8], axis, indexing="ij"), axis=-1).reshape(-1, 2)
    assert np.exp(bent_log_density(grid)).sum() * (axis[1] - axis[0]) ** 2 == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("shape", ["moons", "ring", "bent"])
def test_the_seed_decides_and_no_point_is_no_mistake(shape):
    assert np.array_equal(synthetic_plane(shape, 50), synthetic_plane(shape, 50))
    assert not np.array_equal(synthetic_plane(shape, 50), synthetic_plane(shape, 50, seed=1))
    assert synthetic_plane(shape, 0).shape == (0, 2)


def test_P27_an_unknown_shape_gets_the_nearest_one():
    with pytest.raises(ValueError, match="shape='moon' is unknown. Did you mean 'moons'"):
        synthetic_plane("moon")
    with pytest.raises(ValueError, match="n=-1"):
        synthetic_plane("ring", -1)
