"""Settings that topic models share: how many topics, and the concentrations of the priors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lessons_lib.core import DataWarning
from lessons_lib.kernels.lda_sweep import state
from lessons_lib.topics import PLSA, OnlineLDA
from lessons_lib.topics.model import LARGEST_PRIOR, MAX_TOPICS, SMALLEST_PRIOR, checked_prior


@pytest.mark.parametrize("value", [0, -1, 1.5, "8", True, None, MAX_TOPICS + 1, 2**16 + 1])
def test_P10_a_number_of_topics_that_cannot_be_is_refused_with_the_limit(value):
    with pytest.raises((TypeError, ValueError), match=rf"n_topics=.*expected int in \[1, {MAX_TOPICS}\]"):
        PLSA(value).fit(np.eye(10, dtype=int))


def test_P11_more_topics_than_documents_or_words_are_named():
    with pytest.warns(DataWarning, match="n_topics=6 is more than the 5 documents or the 9 words"):
        PLSA(6, n_iter=1).fit(np.ones((5, 9), dtype=int))


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "0.1", True, [0.1, 0.2], [0.1, 0.0, 0.1], [0.1, np.nan, 0.1], np.ones((3, 1)),
                                   ["a", "b", "c"]])
def test_P12_a_prior_that_cannot_be_is_named(value):
    with pytest.raises((TypeError, ValueError), match="alpha.*expected"):
        checked_prior("alpha", value, 3)


def test_P12_a_wrong_shape_says_which_is_expected():
    expected = r"one number in \[1e-12, 1e\+06\], or 3 of them \(one for each of the topics\)"
    with pytest.raises(ValueError, match=rf"alpha has shape \(2,\); expected {expected}"):
        checked_prior("alpha", [1, 2], 3)


@pytest.mark.parametrize(("value", "expected"), [(2, [2, 2, 2]), (np.float32(0.5), [0.5] * 3), (np.array(0.5), [0.5] * 3), ([1, 2, 3], [1, 2, 3])])
def test_one_number_stands_for_all(value, expected):
    assert_array_equal(checked_prior("alpha", value, 3), expected)


@pytest.mark.parametrize("value", [1e-300, 1e-50, 9e-13, 1.1e6, 1e9, 1e39, 1e300, 10**400])
@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_P12_a_prior_beyond_what_float32_can_work_with_is_refused_with_the_bounds(name, value):
    with pytest.raises(ValueError, match=rf"{name}=1.* is out of range; expected a finite number >= 1e-12 and <= 1e\+06|{name}=9e-13"):
        checked_prior(name, value, 3)
    if value < 1e308:
        with pytest.raises(ValueError, match=rf"{name}\[1\]=.* is out of range; expected one number in \[1e-12, 1e\+06\]"):
            checked_prior(name, [1.0, value, 1.0], 3)
        with pytest.raises(ValueError, match=name):
            OnlineLDA(2, **{name: value}).fit(np.eye(3, dtype=int))


@pytest.mark.parametrize("learning", ["online", "batch"])
@pytest.mark.parametrize("alpha", [SMALLEST_PRIOR, LARGEST_PRIOR])
@pytest.mark.parametrize("beta", [SMALLEST_PRIOR, LARGEST_PRIOR])
def test_P12_the_extreme_priors_that_are_allowed_give_distributions(learning, alpha, beta):
    counts = np.random.default_rng(0).poisson(0.5, (12, 30)) + np.eye(12, 30, dtype=int)
    model = OnlineLDA(3, alpha=alpha, beta=beta, learning=learning, n_epochs=2).fit(counts)
    for found in (model.components_, model.doc_topic_, model.transform(counts)):
        assert (found >= 0).all() and np.allclose(found.sum(axis=1), 1.0)
    assert np.isfinite(model.bound_).all()


@pytest.mark.parametrize("value", [1e308, 1.1e6, -1e-9, np.nan])
def test_P12_a_smoothing_that_swallows_every_count_is_refused(value):
    with pytest.raises(ValueError, match=r"smoothing=.* is out of range; expected a finite number >= 0 and <= 1e\+06"):
        PLSA(2, smoothing=value).fit(np.eye(3, dtype=int))
    assert np.allclose(PLSA(2, smoothing=LARGEST_PRIOR, n_iter=3).fit(np.eye(3, dtype=int)).components_, 1 / 3, atol=1e-5)


def test_a_sweep_takes_the_priors_that_a_model_takes():
    assert (state.SMALLEST_PRIOR, state.LARGEST_PRIOR) == (SMALLEST_PRIOR, LARGEST_PRIOR)


def test_none_is_allowed_only_with_a_default():
    assert_array_equal(checked_prior("alpha", None, 2, default=0.5), [0.5, 0.5])
    with pytest.raises(TypeError, match="alpha=None"):
        checked_prior("alpha", None, 2)
