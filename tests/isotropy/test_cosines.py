"""Cosines of random pairs: closed forms against double loops, a Gaussian against theory, and who
makes the mean.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import isotropy


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


def pair_mean(x):
    return np.mean([cosine(x[i], x[j]) for i in range(len(x)) for j in range(len(x)) if i != j])


def test_44_the_mean_cosine_is_that_of_all_pairs_and_the_regulariser_one_sum_over_n_squared(cloud):
    x = cloud(25, 6, mean=0.4)
    assert isotropy.mean_cosine(x) == pytest.approx(pair_mean(x), abs=1e-12)
    assert isotropy.cosine_regulariser(x) == pytest.approx(pair_mean(x) * 24 / 25, abs=1e-12)


def test_45_a_gaussian_has_mean_cosine_0_and_squares_of_1_over_d_and_a_common_mean_raises_it(cloud):
    x = cloud(4000, 20)
    assert abs(isotropy.mean_cosine(x)) < 0.001
    assert (isotropy.random_cosines(x, 40_000) ** 2).mean() == pytest.approx(1 / 20, rel=0.03)
    expected = 2.33 / (2.33 + 1)                                 # ‖m‖² / (‖m‖² + tr Σ) = .700
    measured = isotropy.mean_cosine(cloud(4000, 50) + np.sqrt(2.33))
    assert measured == pytest.approx(expected, abs=0.006)


@given(st.integers(0, 1000), st.floats(1e-3, 1e3))
def test_rotation_and_length_change_no_cosine(seed, scale):
    rng = np.random.default_rng(seed)
    x, turn = rng.normal(size=(9, 4)) + 0.5, np.linalg.qr(rng.normal(size=(4, 4)))[0]
    lengths = rng.uniform(0.1, 10, size=(9, 1))
    assert isotropy.mean_cosine(scale * lengths * x @ turn) == pytest.approx(
        isotropy.mean_cosine(x), abs=1e-12)
    assert isotropy.random_cosines(lengths * x @ turn, 30) == pytest.approx(
        isotropy.random_cosines(x, 30), abs=1e-12)


def test_random_cosines_never_pair_a_row_with_itself():
    x = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    found = isotropy.random_cosines(x, 3000)
    assert set(found) == {-1.0, 0.0} and (found == -1).mean() == pytest.approx(1 / 3, abs=0.03)
    assert set(isotropy.random_cosines(np.ones((2, 3)), 50).round(12)) == {1.0}


def test_random_cosines_are_those_of_their_mean_and_repeat(cloud):
    x = cloud(200, 5, mean=1.0)
    found = isotropy.random_cosines(x, 50_000, seed=3)
    assert found.mean() == pytest.approx(isotropy.mean_cosine(x), abs=0.01)
    assert np.array_equal(found, isotropy.random_cosines(x, 50_000, seed=3))
    assert not np.array_equal(found, isotropy.random_cosines(x, 50_000, seed=4))


def test_contributions_of_the_dimensions_add_up_to_the_mean_cosine(cloud):
    x = cloud(30, 6, mean=0.3)
    contributions = isotropy.cosine_contributions(x)
    assert contributions.sum() == pytest.approx(isotropy.mean_cosine(x), abs=1e-12)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    third = np.mean([unit[i, 3] * unit[j, 3] for i in range(30) for j in range(30) if i != j])
    assert contributions[3] == pytest.approx(third, abs=1e-12)


def test_one_large_dimension_is_named_and_standardising_takes_it_away(cloud):
    x = cloud(500, 16)
    x[:, 11] += 20
    rogue = isotropy.rogue_dimensions(x, 2)
    assert rogue.dimensions[0] == 11 and rogue.shares[0] == pytest.approx(1, abs=0.01)
    assert rogue.mean_cosine > 0.9 and abs(rogue.standardised) < 0.01
    assert rogue.mean_cosine == pytest.approx(isotropy.mean_cosine(x), abs=1e-12)
    # where there is no mean cosine to share
    assert isotropy.rogue_dimensions([[1.0, 0.0], [0.0, 1.0]], 2).shares.tolist() == [0, 0]


def test_standardised_dimensions_have_mean_0_and_variance_1(cloud):
    x = cloud(40, 5) * [1, 10, 1e-3, 1, 1] + [0, 5, 100, 0, 0.1]
    x[:, 4] = 0.1
    z = isotropy.standardise(x)
    assert z.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert z.std(axis=0)[:4] == pytest.approx(1, abs=1e-9) and not z[:, 4].any()
    assert isotropy.standardise(x.astype(np.float16)).dtype == np.float32
