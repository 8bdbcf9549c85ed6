"""One spelling per word."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text.normalise import FORMS, normalise


def test_T15_composed_and_decomposed_spelling_become_one():
    assert normalise("cafe\u0301") == normalise("caf\u00e9") == "caf\u00e9"


@given(st.text(), st.sampled_from(FORMS))
def test_normalising_twice_is_normalising_once(text, form):
    once = normalise(text, form)
    assert once == normalise(once, form) == unicodedata.normalize(form, text)


def test_none_changes_nothing():
    assert normalise("cafe\u0301", None) == "cafe\u0301"
