"""Private words that lessons used to have, and the field's term for each.

Readers who know the field look for its terms, and readers who learn it must meet the same one every
time. A row is a pattern, whole words in any case, and what to write instead. Used by ``lessons
build --check``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["PRIVATE_WORDS", "private_words"]

PRIVATE_WORDS = {
    r"pieces?(?! of (?!a word))": "token, subword",
    r"noise words?": "negative sample",
    r"start weights": "random initialisation",
    r"words? of chance": "seed",
    r"surprises?": "negative log-likelihood",
    r"strangers?": "negative, random sentence",
    r"crowds?(?! worker)|crowded": "mean cosine, median cosine",
    r"thin(?:s|ned|ning)(?: out)?": "subsample, lower",
    r"unit length|length (?:1|one)|vector lengths?|lengths? of (?:a |the |each |its |all )?"
    r"(?:\w+ )?vectors?": "norm",
    r"numbers per vector|numbers of a vector|vectors? of \d+ numbers": "dimension",
    r"scratch room|room of (?:a|the) training": "workspace",
    r"readings": "encoded corpus",
    r"home (?:set|pairs|sentences|text|data)": "training set",
    r"looks? of attention|attention looks?": "attention weight",
    r"guess(?:es|ed|ing)? (?:its |the |their )?(?:neighbours?|context|centre|hidden word)":
        "predict",
    r"quoted from memory": "the table or figure it stands in, or leave it out"}
_WHOLE = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), term)
          for pattern, term in PRIVATE_WORDS.items()]


def private_words(text: str) -> Iterator[tuple[str, str]]:
    """Each private word of a text, and what to write instead."""
    for pattern, term in _WHOLE:
        for match in pattern.finditer(text):
            yield match[0], term
