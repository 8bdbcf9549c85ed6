"""One spelling per word, and the words that say little."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from lessons_lib.text.normalise import FORMS, normalise
from lessons_lib.text.stop_words import ENGLISH, checked_stop_words


def test_T15_composed_and_decomposed_spelling_become_one():
    assert normalise("cafe\u0301") == normalise("caf\u00e9") == "caf\u00e9"
    assert normalise("cafe\u0301", None) == "cafe\u0301"


@given(st.text(), st.sampled_from(FORMS))
def test_normalising_twice_is_normalising_once(text, form):
    once = normalise(text, form)
    assert once == normalise(once, form) == unicodedata.normalize(form, text)


def test_the_english_stop_words_are_scikit_learns():
    assert ENGLISH == ENGLISH_STOP_WORDS
    assert checked_stop_words("english") is ENGLISH
    assert checked_stop_words(None) == frozenset()
