"""n-grams: a text as its overlapping runs of n tokens, which keep a little of the word order.

A text of length len has len - n + 1 of them, and none when it is shorter than n. For whole
collections `BagOfWords` counts them (``ngram_range``), of words and of characters. Taught in lesson
``02_bag_of_words``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from ..core import check_int
from ..core.checks import shown

__all__ = ["ngrams"]


def ngrams(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All runs of n neighbouring tokens, in order.

    Parameters
    ----------
    tokens : sequence of str
        Of one text; for characters pass ``list(text)``.
    n : int >= 1

    Returns
    -------
    list of tuples
        max(0, len(tokens) - n + 1) of them.

    Raises
    ------
    TypeError, ValueError
        A str, or tokens that are none; n below 1.

    Examples
    --------
    >>> ngrams(["I", "love", "machine", "learning"], 2)
    [('I', 'love'), ('love', 'machine'), ('machine', 'learning')]
    """
    n = check_int("n", n)
    if isinstance(tokens, (str, bytes)):
        raise TypeError(f"tokens={shown(tokens)} is one {type(tokens).__name__}; expected a list "
                        "of tokens. For characters pass list(text)")
    if isinstance(tokens, (Set, Mapping)) or not isinstance(tokens, Iterable):
        raise TypeError(f"tokens={shown(tokens)} is {type(tokens).__name__}, which has no order; "
                        "expected a list of tokens")
    tokens = list(tokens)
    for i, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(f"tokens[{i}]={shown(token)} is {type(token).__name__}; expected a "
                            "token (str)")
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
