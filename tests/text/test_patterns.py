"""Patterns from outside: refused with a position, stopped after a second."""

import re
import time

import pytest

from lessons_lib.text.patterns import TokenPattern, may_explode


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"(?:\w+)*!"])
def test_T22_a_catastrophic_pattern_is_stopped(pattern):
    begin = time.monotonic()
    with pytest.raises(ValueError, match=r"was stopped: .* more than 1 s for 10,000 characters"):
        TokenPattern(pattern).findall("a" * 10_000)
    assert time.monotonic() - begin < 30         # it came back; a busy machine starts Python slowly


def test_T22_every_text_is_guarded_whatever_passed_before_it():
    pattern = TokenPattern(r"(a+)+b|c")
    assert pattern.findall("cc" * 8_000) == [""] * 16_000
    with pytest.raises(ValueError, match="was stopped"):
        pattern.findall("a" * 60 + "!")
    assert pattern.findall("aab c") == ["aa", ""]


@pytest.mark.parametrize("pattern, risky", [
    (r"\w+", False), (r"[^\W\d_]{2,}", False), (r"(?u)\b[a-zé]+\b", False),
    (r"(?i:a\+\|b)\?c*", False), (r"https?://\S+", True), (r"\d{2,4}-\d{2}", True),
    (r"(a+)+b", True), (r"(?:a|aa)+$", True), (r"\w*\w*\w*!", True), (r"(?:a{1,30}){1,30}", True),
    ("a?" * 30 + "a" * 30, True), (r"(?=(?:a|aa)*b)a", True)])
def test_T22_shapes_that_may_explode_are_known(pattern, risky):
    assert may_explode(pattern) is risky


def test_T22_the_guarded_run_finds_what_re_finds():
    texts = ["", "don't e-mail", "\u00e9t\u00e9's \u6211\u7231", "x\n" * 6_000, "\0 a\u2028b"]
    for pattern in (r"\w+(?:['-]\w+)*", r"(\w+)\s|(?:ab)*"[:8]):
        for text in texts:
            assert TokenPattern(pattern).findall(text) == re.findall(pattern, text)
