"""Correlations and their intervals: identities, agreement with SciPy, and no NaN ever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from lessons_lib.evaluation import (PairedDifference, average_ranks, bootstrap, bootstrap_interval,
                                    paired_difference, pearson, spearman, spearman_interval)
from lessons_lib.evaluation.bootstrap import (in_brackets, percentile_interval,
                                              spearman_resamples)

columns = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=2,
                   max_size=40).filter(
                       lambda rows: len({a for a, _ in rows}) > 1 and len({b for _, b in rows}) > 1)


@given(columns)
def test_spearman_and_pearson_agree_with_scipy_with_many_ties(rows):
    x, y = np.array(rows, dtype=float).T
    assert_allclose(average_ranks(x), stats.rankdata(x), rtol=0)
    assert_allclose(spearman(x, y), stats.spearmanr(x, y).statistic, atol=1e-12)
    assert_allclose(pearson(x, y), stats.pearsonr(x, y).statistic, atol=1e-12)


@given(columns)
def test_spearman_is_the_pearson_of_average_ranks_and_ignores_increasing_functions(rows):
    x, y = np.array(rows, dtype=float).T
    assert spearman(x, y) == pytest.approx(pearson(average_ranks(x), average_ranks(y)), abs=1e-12)
    assert spearman(np.exp(x / 7), y**3) == spearman(x, y)
    assert spearman(-x, y) == pytest.approx(-spearman(x, y), abs=1e-12)
    assert spearman(y, x) == pytest.approx(spearman(x, y), abs=1e-12)


def test_cosine_and_minus_the_angle_have_equal_spearman():
    rng = np.random.default_rng(0)
    cosine, gold = rng.uniform(-1, 1, 50), rng.normal(size=50)
    assert spearman(cosine, gold) == spearman(-np.arccos(cosine), gold)


@pytest.mark.parametrize("scale", [1e-300, 1e200, 5e-324 * 2**30])
def test_V04_tiny_and_huge_values_keep_their_correlation(scale):
    x, y = np.array([1.0, 2, 4, 8, 9]), np.array([3.0, 1, 4, 1, 5])
    assert pearson(x * scale, y) == pytest.approx(pearson(x, y), abs=1e-8)


def test_values_that_differ_in_their_last_digit_only_still_correlate_exactly():
    assert pearson([1.0, np.nextafter(1.0, 2)], [0, 1]) == 1.0


def test_V09_views_give_the_same_bits_and_inputs_stay_as_they_were():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=20), rng.normal(size=20)
    wide = np.zeros((20, 3))
    wide[:, 1] = x
    wide.setflags(write=False)
    assert pearson(wide[:, 1], y.astype(">f8")) == pearson(x, y)
    assert spearman(x[::-1][::-1], y) == spearman(x, y)
    assert (wide[:, 1] == x).all()


def test_integers_beyond_2_to_the_53_keep_their_order():
    large = np.array([2**53 + 1, 2**53, 2**53 + 2, 2**53 + 3])
    assert average_ranks(large).tolist() == [2.0, 1.0, 3.0, 4.0]
    assert spearman(large, [2, 1, 3, 4]) == 1.0 == spearman([2**63 + 1, 2**63], [2, 1])


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


def test_an_interval_leaves_out_the_same_share_on_both_sides():
    samples = np.random.default_rng(0).permutation(1001)
    assert percentile_interval(samples) == pytest.approx((25, 975))
    assert percentile_interval(samples, confidence=0.8) == pytest.approx((100, 900))
    assert in_brackets((0.251, 0.9749)) == " [25.1, 97.5]" and in_brackets(None) == ""


def test_an_interval_keeps_the_order_of_integers_beyond_2_to_the_53():
    small, gold = np.random.default_rng(0).permutation(20), np.arange(20)
    assert spearman_interval(small + 2**53, gold) == spearman_interval(small, gold)


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


@pytest.mark.parametrize(("interval", "clear"), [
    ((0.1, 0.3), True), ((-0.3, -0.1), True), ((-0.1, 0.3), False), ((0.0, 0.3), False),
    ((-0.3, 0.0), False)])
def test_a_difference_is_clear_when_its_interval_leaves_out_0(interval, clear):
    assert PairedDifference(0.1, interval, 0.9).clear is clear


def test_paired_difference_tells_a_good_encoder_from_noise_but_not_from_itself():
    gold, good = noisy(200, seed=7, noise=0.3)
    noise = np.random.default_rng(8).normal(size=200)
    clear = paired_difference(good, noise, gold)
    assert clear.clear and clear.interval[0] > 0 and clear.share_above_zero == 1.0
    same = paired_difference(good, good, gold)
    assert same.interval == (0.0, 0.0) and not same.clear and same.share_above_zero == 0.0
