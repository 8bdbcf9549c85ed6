"""Stop words: the list scikit-learn has, or the caller's own."""

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from lessons_lib.text.stop_words import ENGLISH, checked_stop_words


def test_the_english_list_is_scikit_learns():
    assert ENGLISH == ENGLISH_STOP_WORDS
    assert checked_stop_words("english") is ENGLISH


def test_T22_an_unknown_name_is_refused_with_the_allowed_ones():
    with pytest.raises(ValueError, match=r"stop_words='englisch' is unknown\. Did you mean 'english'.*Allowed: 'english'"):
        checked_stop_words("englisch")


@pytest.mark.parametrize("value, message", [([1], r"stop_words\[0\]=1 is int"), (5, "expected 'english', a list of words, or None")])
def test_T22_anything_but_words_is_refused(value, message):
    with pytest.raises(TypeError, match=message):
        checked_stop_words(value)


def test_none_is_no_word_at_all():
    assert checked_stop_words(None) == frozenset()
