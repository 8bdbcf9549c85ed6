"""Correlations: identities, agreement with SciPy, and no NaN ever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from lessons_lib.evaluation import average_ranks, pearson, spearman

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
