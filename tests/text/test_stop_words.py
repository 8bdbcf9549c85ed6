"""Stop words: the list scikit-learn has, or the caller's own."""

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from lessons_lib.text.stop_words import ENGLISH, checked_stop_words


def test_the_english_list_is_scikit_learns():
    assert ENGLISH == ENGLISH_STOP_WORDS
    assert checked_stop_words("english") is ENGLISH


def test_none_is_no_word_at_all():
    assert checked_stop_words(None) == frozenset()
