"""Passages: a long text cut into parts of some sentences, small enough to be one vector each.

Neighbours share some words, so that what stands at a border is whole in one of them. Taught in
``17_search``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..core import check_int, check_kind
from ..text import split_sentences

__all__ = ["Passage", "split_passages"]

# A run of letters and digits; of Chinese and Japanese, which have no spaces, each character. A run
# that no word is (a coded picture, a line of Thai) counts as several, else a passage had no end.
_CJK, LONGEST_WORD = r"\u3040-\u30ff\u3400-\u9fff", 200
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]{{1,{LONGEST_WORD}}}")


class Passage(NamedTuple):
    """A part of a text: ``text[start:end]``.

    Parameters
    ----------
    text : str
    start, end : int
        Characters of the whole text.
    """

    text: str
    start: int
    end: int


def _units(text: str, size: int) -> list[tuple[int, int, int]]:
    """Start, end and words of each sentence, of longer ones than ``size`` in parts."""
    units, position = [], 0
    for sentence in split_sentences(text):
        start = text.index(sentence, position)
        position = start + len(sentence)
        n = 0
        for n, word in enumerate(_WORD.finditer(text, start, position), start=1):
            if n > 1 and n % size == 1 % size:   # one more than the part holds
                units.append((start, word.start(), size))
                start = word.start()
        units.append((start, position, (n - 1) % size + 1))
    return units


def split_passages(text: str, *, size: int = 120, overlap: int = 20) -> list[Passage]:
    """Cut a text into passages of whole sentences.

    Parameters
    ----------
    text : str
    size : int >= 1, default 120
        Words of a passage at most. A longer sentence is cut, at a word.
    overlap : int in [0, size - 1], default 20
        Words at most that a passage repeats of the end of the one before, as whole sentences.

    Returns
    -------
    list of Passage
        In order. A text without a word has none.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> [p.text for p in split_passages("One is here. Two is here. Three.", size=6, overlap=3)]
    ['One is here. Two is here.', 'Two is here. Three.']
    """
    check_kind("text", text, str, "str. For a list: [split_passages(t) for t in texts]")
    size = check_int("size", size)
    overlap = check_int("overlap", overlap, low=0, high=size - 1)
    units, passages, first = _units(text, size), [], 0
    while first < len(units):
        last, words = first, 0
        while last < len(units) and words + units[last][2] <= size:
            words += units[last][2]
            last += 1
        start = units[first][0]
        passage = text[start : units[last - 1][1]].rstrip()
        passages.append(Passage(passage, start, start + len(passage)))
        if last == len(units):
            break
        first, words, following = last, 0, units[last][2]
        # the sentence after the border has to fit, too: else the next passage would hold no news
        while words + units[first - 1][2] <= min(overlap, size - following):
            first -= 1
            words += units[first][2]
    return passages
