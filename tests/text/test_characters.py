"""The character table says what Python's re and str.lower say."""

import re
import sys

import numpy as np

from lessons_lib.text.characters import CODE_POINT, NEEDS_PYTHON, SPACE, WORD, character_table, lower_exceptions

CHARACTERS = [chr(c) for c in [*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, sys.maxunicode + 1, 7)]]


def entries(lowercase: bool) -> np.ndarray:
    table = character_table(lowercase)
    return table[[ord(c) for c in CHARACTERS]]


def test_every_character_is_lower_cased_as_python_does_or_left_to_python():
    got = entries(True)
    exceptions = set(lower_exceptions())
    assert "\u03a3" in exceptions and "\u0130" in exceptions
    for c, entry in zip(CHARACTERS, got.tolist(), strict=True):
        assert bool(entry & NEEDS_PYTHON) == (c in exceptions)
        assert c in exceptions or chr(entry & CODE_POINT) == c.lower()


def test_word_and_space_flags_are_those_of_re():
    word, space = re.compile(r"\w"), re.compile(r"\s")
    for c, entry in zip(CHARACTERS, entries(False).tolist(), strict=True):
        assert bool(entry & WORD) == bool(word.match(c))
        assert bool(entry & SPACE) == bool(space.match(c)) == c.isspace()
        assert chr(entry & CODE_POINT) == c


def test_flags_describe_the_lower_case_form():
    for c, entry in zip(CHARACTERS, entries(True).tolist(), strict=True):
        if not entry & NEEDS_PYTHON:
            assert bool(entry & WORD) == bool(re.match(r"\w", c.lower()))


def test_the_table_cannot_be_changed():
    assert not character_table(True).flags.writeable
