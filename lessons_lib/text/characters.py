"""What Python's ``re`` and ``str.lower`` think of each character, as one table that a compiled loop can read.

A table has one entry per code point: its lower-case form and whether that form is a word character (``\\w``) or white space (``\\s``).
It is built from ``re`` and ``str.lower`` themselves, so it is right for the Unicode version of the Python that runs. Used by `fast_scan`.
"""

from __future__ import annotations

import functools
import re
import sys

import numpy as np

__all__ = ["CODE_POINT", "NEEDS_PYTHON", "SPACE", "WORD", "character_table", "lower_exceptions"]

CODE_POINT = 0x1FFFFF                            # bits 0-20: the (lower-case) code point
WORD, SPACE, NEEDS_PYTHON = 1 << 21, 1 << 22, 1 << 23

CAPITAL_SIGMA = "\u03a3"                         # the one letter whose lower case depends on its neighbours (final sigma)
_SURROGATES = range(0xD800, 0xE000)
_STEP = 256


def _all_characters() -> str:
    """Every code point at its own index; surrogates, which are not text, appear as NUL."""
    codes = np.arange(sys.maxunicode + 1, dtype="<u4")
    codes[_SURROGATES.start : _SURROGATES.stop] = 0
    return codes.tobytes().decode("utf-32-le")


def _code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.uint32)


@functools.cache
def lower_exceptions() -> str:
    """The characters that cannot be lower-cased one by one: capital sigma, and those whose lower case is longer than one character."""
    characters = _all_characters()
    longer = [c for start in range(0, len(characters), _STEP) if len((part := characters[start : start + _STEP]).lower()) != len(part)
              for c in part if len(c.lower()) != 1]
    return CAPITAL_SIGMA + "".join(longer)


def _flags(characters: str, pattern: str) -> np.ndarray:
    flags = np.zeros(len(characters), dtype=bool)
    for match in re.finditer(pattern, characters):
        flags[match.start() : match.end()] = True
    return flags


@functools.cache
def character_table(lowercase: bool) -> np.ndarray:
    """One uint32 per code point: the character after lower-casing (or unchanged), and the flags WORD, SPACE, NEEDS_PYTHON.

    The flags describe the character *after* lower-casing, because texts are lower-cased first and cut afterwards. The characters
    of `lower_exceptions` have NEEDS_PYTHON instead: only ``str.lower`` on their whole text is right.
    """
    characters = _all_characters()
    table = np.arange(len(characters), dtype=np.uint32)
    if lowercase:
        plain = characters
        for exception in lower_exceptions():
            plain = plain.replace(exception, "\0")
        table = _code_points(plain.lower())
    flags = _flags(characters, r"\w+") * np.uint32(WORD) | _flags(characters, r"\s+") * np.uint32(SPACE)
    table = table | flags[table]
    if lowercase:
        table[_code_points(lower_exceptions())] |= NEEDS_PYTHON
    table.flags.writeable = False
    return table
