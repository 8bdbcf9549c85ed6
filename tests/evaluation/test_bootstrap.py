"""The fast bootstrap equals the slow one, resample by resample; its intervals cover; equal seeds
give equal bits.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lessons_lib.evaluation import (bootstrap, bootstrap_interval, paired_difference, spearman,
                                    spearman_interval)
from lessons_lib.evaluation.bootstrap import percentile_interval, spearman_resamples


def noisy(n: int, *, seed: int, digits: int = 1,
          noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns with many ties."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(digits)
    return x, (x + noise * rng.normal(size=n)).round(digits)


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_each_resample_is_the_spearman_of_its_drawn_pairs_ranked_anew(digits):
    x, y = noisy(60, seed=1, digits=digits)
    drawn = next(bootstrap._draws(60, 25, np.random.default_rng(2)))                # row numbers
    fast = spearman_resamples([x, y], y, n_resamples=25, rng=np.random.default_rng(2))
    slow = [spearman(x[rows], y[rows]) for rows in drawn]
    assert_allclose(fast[0], slow, atol=1e-12)
    assert_allclose(fast[1], 1.0, atol=1e-12)
    assert drawn.shape == (25, 60) and drawn.min() >= 0 and drawn.max() < 60


def test_the_fast_interval_has_the_width_of_the_plain_one():
    x, y = noisy(80, seed=3)
    fast = spearman_interval(x, y, n_resamples=1500, seed=0)
    plain = bootstrap_interval(lambda index: spearman(x[index], y[index]), 80, n_resamples=1500,
                               seed=1)
    assert_allclose(fast, plain, atol=0.03)
    assert fast[0] < spearman(x, y) < fast[1]


def test_about_95_of_100_intervals_cover_the_true_correlation():
    # Spearman of a normal pair with Pearson sqrt(1/2)
    truth = 6 / np.pi * np.arcsin(np.sqrt(0.5) / 2)
    hits = 0
    for seed in range(100):
        x, y = noisy(120, seed=seed, digits=6)
        low, high = spearman_interval(x, y, n_resamples=200, seed=seed)
        hits += low <= truth <= high
    assert 87 <= hits <= 99


def test_blocks_do_not_change_the_result(monkeypatch):
    x, y = noisy(30, seed=4)
    whole = spearman_interval(x, y, n_resamples=40)
    monkeypatch.setattr(bootstrap, "BLOCK", 30 * 7)
    assert spearman_interval(x, y, n_resamples=40) == whole


def test_same_seed_same_bits_other_seed_other_interval():
    x, y = noisy(50, seed=5)
    assert spearman_interval(x, y, seed=7) == spearman_interval(x, y, seed=7)
    assert spearman_interval(x, y, seed=7) != spearman_interval(x, y, seed=8)


def test_resamples_without_a_correlation_are_left_out():
    samples = spearman_resamples([np.array([1.0, 2.0])], np.array([1.0, 2.0]), n_resamples=200,
                                 rng=np.random.default_rng(0))[0]
    assert np.isnan(samples).any()
    assert_array_equal(samples[~np.isnan(samples)], 1.0)
    assert percentile_interval(samples) == (1.0, 1.0)


def test_paired_difference_is_antisymmetric_and_narrower_than_two_intervals():
    gold, a = noisy(300, seed=6, noise=0.6)
    b = a + 0.05 * np.random.default_rng(9).normal(size=300)
    there, back = paired_difference(a, b, gold), paired_difference(b, a, gold)
    assert there.difference == -back.difference == spearman(a, gold) - spearman(b, gold)
    assert_allclose(there.interval, [-back.interval[1], -back.interval[0]], atol=1e-12)
    low, high = spearman_interval(a, gold)
    assert there.interval[1] - there.interval[0] < (high - low) / 2


def test_paired_difference_tells_a_good_encoder_from_noise_but_not_from_itself():
    gold, good = noisy(200, seed=7, noise=0.3)
    noise = np.random.default_rng(8).normal(size=200)
    clear = paired_difference(good, noise, gold)
    assert clear.clear and clear.interval[0] > 0 and clear.share_above_zero == 1.0
    same = paired_difference(good, good, gold)
    assert same.interval == (0.0, 0.0) and not same.clear and same.share_above_zero == 0.0
