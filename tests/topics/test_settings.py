"""Settings that topic models share: how many topics, and the concentrations of the priors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lessons_lib.core import DataWarning
from lessons_lib.topics.settings import MAX_TOPICS, checked_prior, checked_topics


@pytest.mark.parametrize("value", [0, -1, 1.5, "8", True, None, MAX_TOPICS + 1, 2**16 + 1])
def test_P10_a_number_of_topics_that_cannot_be_is_refused_with_the_limit(value):
    with pytest.raises((TypeError, ValueError), match=rf"n_topics=.*expected int in \[1, {MAX_TOPICS}\]"):
        checked_topics(value, n_documents=10, n_words=10)


def test_P11_more_topics_than_documents_or_words_are_named():
    with pytest.warns(DataWarning, match="n_topics=6 is more than the 5 documents or the 9 words"):
        assert checked_topics(6, n_documents=5, n_words=9) == 6
    assert checked_topics(5, n_documents=5, n_words=9) == 5


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "0.1", True, [0.1, 0.2], [0.1, 0.0, 0.1], [0.1, np.nan, 0.1], np.ones((3, 1)),
                                   ["a", "b", "c"]])
def test_P12_a_prior_that_cannot_be_is_named(value):
    with pytest.raises((TypeError, ValueError), match="alpha.*expected"):
        checked_prior("alpha", value, 3)


def test_P12_a_wrong_shape_says_which_is_expected():
    with pytest.raises(ValueError, match=r"alpha has shape \(2,\); expected one number > 0, or 3 of them \(one for each of the topics\)"):
        checked_prior("alpha", [1, 2], 3)


@pytest.mark.parametrize(("value", "expected"), [(2, [2, 2, 2]), (np.float32(0.5), [0.5] * 3), (np.array(0.5), [0.5] * 3), ([1, 2, 3], [1, 2, 3])])
def test_one_number_stands_for_all(value, expected):
    assert_array_equal(checked_prior("alpha", value, 3), expected)


def test_none_is_allowed_only_with_a_default():
    assert_array_equal(checked_prior("alpha", None, 2, default=0.5), [0.5, 0.5])
    with pytest.raises(TypeError, match="alpha=None"):
        checked_prior("alpha", None, 2)
