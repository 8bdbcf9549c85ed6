"""Patterns from outside: refused with a position, stopped after a second."""

import time

import pytest

from lessons_lib.text.patterns import TokenPattern


def test_T22_an_invalid_pattern_names_pattern_and_position():
    with pytest.raises(ValueError, match=r"token_pattern='\[a-z' is no regular expression: unterminated character set at position 0"):
        TokenPattern("[a-z")


def test_T22_more_than_one_group_is_refused():
    with pytest.raises(ValueError, match=r"has 2 groups; expected at most 1"):
        TokenPattern("(a)(b)")


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"(?:\w+)*!"])
def test_T22_a_catastrophic_pattern_is_stopped(pattern):
    begin = time.monotonic()
    with pytest.raises(ValueError, match=r"was stopped: it needs more than 1 s for 10,000 characters"):
        TokenPattern(pattern).try_on(["a" * 10_000])
    assert time.monotonic() - begin < 30          # it came back at all; a busy machine may be slow to start Python


def test_T22_a_plain_pattern_passes_and_longer_texts_are_tried_again():
    pattern = TokenPattern(r"(a+)+b|c")
    pattern.try_on(["ccc"])
    assert pattern.findall("cc") == ["", ""]
    with pytest.raises(ValueError, match="was stopped"):
        pattern.try_on(["short", "a" * 5_000])


@pytest.mark.parametrize("pattern", [None, 5, b"a"])
def test_T22_a_pattern_that_is_no_str_is_refused(pattern):
    with pytest.raises(TypeError, match="expected a regular expression"):
        TokenPattern(pattern)
