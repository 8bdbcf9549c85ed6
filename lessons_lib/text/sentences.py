"""Sentences from running text by rule: an end mark, then white space, then something that can begin
a sentence.

Abbreviations of one letter ("J. Smith") and a short list of titles do not end a sentence. Good
enough to train and measure on; no tagger is loaded. Used from lesson ``01_one_hot`` on.
"""

from __future__ import annotations

import re
from itertools import islice

from ..core import check_int, shown

__all__ = ["split_sentences"]

# A mark, closing quotes or brackets, white space; ahead: an optional opening quote and a capital, a
# digit, or a letter without case (CJK).
_END = re.compile(r"(?<=[.!?…])([\"'”’)\]]*)\s+(?=[\"'“‘(\[]?[^\W_a-zß-öø-ÿ])"
                  r"|(?<=[。！？])[」』”’）]*")
_WORD = re.compile(r"\w+")
_NOT_AN_END = re.compile(r"(?:\b[A-Za-z]|\b(?:Mr|Mrs|Ms|Dr|St|Prof|Gen|Sen|Rep|Lt|Col|No|vs|cf|ca"
                         r"|etc|e\.g|i\.e))\.$")
_LONGEST_ABBREVIATION = 6              # characters to look back, one before the abbreviation too


def split_sentences(text: str, *, min_words: int = 1) -> list[str]:
    """Split a text into sentences; a line break ends one, too.

    Parameters
    ----------
    text : str
    min_words : int >= 1, default 1
        Leave out what has fewer words (headings, list items, rows of marks); a word is a run of
        letters and digits.

    Returns
    -------
    list of str
        In order, without surrounding white space.

    Raises
    ------
    TypeError, ValueError
    """
    if not isinstance(text, str):
        raise TypeError(f"text={shown(text)} is {type(text).__name__}; expected str. For a list: "
                        "[split_sentences(t) for t in texts]")
    check_int("min_words", min_words)
    sentences = []
    for line in text.splitlines():
        start = 0
        for mark in _END.finditer(line):
            before = line[max(start, mark.start() - _LONGEST_ABBREVIATION) : mark.start()]
            if not _NOT_AN_END.search(before):
                sentences.append(line[start : mark.end()].strip())
                start = mark.end()
        sentences.append(line[start:].strip())
    return [s for s in sentences
            if sum(1 for _ in islice(_WORD.finditer(s), min_words)) == min_words]
