"""The parts of a word: n-grams of its characters between ``<`` and ``>``, and the buckets that they
fall into.

A word never seen shares parts with words that were. There are too many parts for a table, so a hash
sends each to one of some million buckets, and parts that meet there share a row. Parts, hash and
buckets are those of fastText, also for letters beyond ASCII. [bojanowski2017enriching] Taught in
lesson ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core import check_int, shown
from ..core.compiled import compiled
from ..core.learned import packed_strings

__all__ = ["check_parts", "fnv1a", "ngram_buckets", "ngrams"]

LARGEST_HASH = 2**32 - 1
_BASIS, _PRIME, _LOW = np.uint32(2166136261), np.uint32(16777619), np.uint32(LARGEST_HASH)
_OPENS, _CLOSES, _LEAD, _FOLLOWS, _SIGN, _HIGH = 60, 62, 0xC0, 0x80, 0x80, np.uint32(0xFFFFFF00)


def check_parts(min_n: int, max_n: int, buckets: int) -> None:
    """Check the settings of parts: 1 <= min_n <= max_n, or max_n = 0 for none; 1 <= buckets < 2^32.

    Raises TypeError, ValueError.
    """
    high = check_int("max_n", max_n, low=0)
    low = check_int("min_n", min_n, low=0 if high == 0 else 1)
    if low > high > 0:
        raise ValueError(f"min_n={low} is above max_n={high}; expected min_n <= max_n, or max_n=0 "
                         "for words without parts")
    check_int("buckets", buckets, high=LARGEST_HASH)


def _word(word: str) -> str:
    if not isinstance(word, str):
        raise TypeError(f"word={shown(word)} is {type(word).__name__}; expected a str")
    return word


def fnv1a(text: str | bytes) -> int:
    """The 32-bit FNV-1a hash of a text's UTF-8 bytes, each with its sign carried to 32 bits, as in
    fastText. [fowler2019fnv]

    The sign matters beyond ASCII only: there the bytes are >= 128, negative numbers to fastText.
    Raises TypeError.

    >>> fnv1a("a"), fnv1a("é")
    (3826002220, 1023043777)
    """
    value = int(_BASIS)
    for byte in text if isinstance(text, bytes) else _word(text).encode():
        signed = byte | int(_HIGH) if byte & _SIGN else byte
        value = (value ^ signed) * int(_PRIME) & LARGEST_HASH
    return value


def ngrams(word: str, *, min_n: int = 3, max_n: int = 6) -> list[str]:
    """The n-grams of ``<word>`` with min_n to max_n characters, place by place, short ones first; a
    lone ``<`` or ``>`` is none.

    A part that comes twice is listed twice. Raises TypeError, ValueError.

    >>> ngrams("is")
    ['<is', '<is>', 'is>']
    """
    check_parts(min_n, max_n, 1)
    whole = f"<{_word(word)}>"
    borders = (0, len(whole) - 1)
    return [whole[i : i + n] for i in range(len(whole))
            for n in range(max(min_n, 1), min(max_n, len(whole) - i) + 1)
            if n > 1 or i not in borders]


@compiled(inner=True)
def _byte(arena: np.ndarray, begin: int, end: int, i: int) -> int:
    """Byte i of ``<word>``."""
    if i == 0:
        return _OPENS
    return np.int64(arena[begin + i - 1]) if begin + i <= end else _CLOSES


@compiled(inner=True)
def _parts_of(arena: np.ndarray, begin: int, end: int, min_n: int, max_n: int, buckets: int,
              out: np.ndarray, at: int) -> int:
    """Write the buckets of a word's n-grams from ``at`` on, where ``out`` has room; returns where
    they end."""
    size = end - begin + 2
    for i in range(size):
        if _byte(arena, begin, end, i) & _LEAD == _FOLLOWS:
            continue
        value, j, n = _BASIS, i, 0
        while j < size and n < max_n:
            byte = _byte(arena, begin, end, j)
            while True:                          # a character: its first byte and those that follow
                signed = np.uint32(byte) | (_HIGH if byte & _SIGN else np.uint32(0))
                value = ((value ^ signed) * _PRIME) & _LOW
                j += 1
                byte = _byte(arena, begin, end, j)
                if j >= size or byte & _LEAD != _FOLLOWS:
                    break
            n += 1
            if n >= min_n and not (n == 1 and (i == 0 or j == size)):
                if at < len(out):
                    out[at] = np.int64(value) % buckets
                at += 1
    return at


@compiled
def _all_parts(arena: np.ndarray, offsets: np.ndarray, min_n: int, max_n: int, buckets: int,
               bounds: np.ndarray, out: np.ndarray) -> None:
    at = np.int64(0)                            # a literal would compile what it is handed to twice
    for word in range(len(offsets) - 1):
        at = _parts_of(arena, offsets[word], offsets[word + 1], min_n, max_n, buckets, out, at)
        bounds[word + 1] = at


def ngram_buckets(words: Sequence[str], *, min_n: int = 3, max_n: int = 6,
                  buckets: int = 2_000_000) -> tuple[np.ndarray, np.ndarray]:
    """The bucket of each n-gram of each word, ``fnv1a(n-gram) mod buckets``, in the order of
    `ngrams`.

    Returns bounds (n + 1,) int64 and numbers int64: those of word i are
    ``numbers[bounds[i]:bounds[i + 1]]``. Raises TypeError, ValueError.

    >>> ngram_buckets(["is"])[1].tolist() == [fnv1a(part) % 2_000_000 for part in ngrams("is")]
    True
    """
    check_parts(min_n, max_n, buckets)
    try:
        packed = packed_strings([_word(word) for word in words])
    except UnicodeEncodeError as error:
        raise ValueError(f"words hold {shown(error.object[error.start])}, a lone surrogate, which "
                         'is not text; replace it: text.encode("utf-8", errors="replace").decode()'
                         ) from None
    arena, offsets = packed["token_bytes"], packed["token_offsets"]
    bounds, nothing = np.zeros(len(offsets), dtype=np.int64), np.empty(0, dtype=np.int64)
    settings = (arena, offsets, max(min_n, 1), max_n, buckets, bounds)
    _all_parts(*settings, nothing)              # once to count
    numbers = np.empty(bounds[-1], dtype=np.int64)
    _all_parts(*settings, numbers)
    return bounds, numbers
