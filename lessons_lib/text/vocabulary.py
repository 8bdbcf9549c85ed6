"""A vocabulary: which tokens there are, how often each occurs, and the number that stands for it.

The most frequent token has id 0, so an id is also a frequency rank (rank = id + 1), which later
lessons on anisotropy need. Tokens outside the vocabulary have no id: texts are encoded without
them. Taught in lesson ``01_one_hot``.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

import numpy as np

from ..core import UnknownWord, check_int, shown
from .strings import Strings

__all__ = ["Vocabulary", "checked_limits", "chosen_tokens", "near_words", "unknown_word"]

_LOOK_AMONG = 20_000                   # the most frequent tokens, when near words are looked for


def near_words(word: object, tokens: Iterable[str], n: int = 3) -> list[str]:
    """At most n tokens that look like a word: those with the same first letter, as difflib ranks
    them."""
    if not isinstance(word, str) or not word:
        return []
    lower = word.lower()
    alike = [token for token in tokens if token[:1].lower() == lower[0]]
    return difflib.get_close_matches(lower, alike[:_LOOK_AMONG], n=n, cutoff=0.6)


def unknown_word(word: object, tokens: Iterable[str]) -> UnknownWord:
    """The error for a word that a vocabulary lacks, with at most 3 near ones."""
    near = near_words(word, tokens)
    guess = f"; near words: {', '.join(map(repr, near))}" if near else ""
    return UnknownWord(f"{shown(word)} is not in the vocabulary{guess}")


def checked_limits(min_count: object, max_size: object) -> tuple[int, int | None]:
    """Return ``min_count`` (int >= 1) and ``max_size`` (int >= 1 or None). Raises TypeError or
    ValueError."""
    largest = None if max_size is None else check_int("max_size", max_size)
    return check_int("min_count", min_count), largest


def chosen_tokens(strings: Strings, counts: np.ndarray, *, min_count: int,
                  max_size: int | None) -> np.ndarray:
    """Numbers of the tokens that form a vocabulary, by falling count, equal counts alphabetically.

    ``min_count`` is the fewest occurrences, ``max_size`` the most tokens. Raises ValueError when
    none is left.
    """
    alphabetical = strings.sorted_order()
    order = alphabetical[np.argsort(-counts[alphabetical], kind="stable")]
    order = order[: np.count_nonzero(counts >= min_count)]
    if not len(order):
        raise ValueError(f"min_count={min_count} leaves no token: the largest count is "
                         f"{counts.max(initial=0)} among {len(strings)} distinct tokens; lower "
                         "min_count")
    return order[:max_size]


class Vocabulary:
    """Tokens by id, with counts; id 0 is the most frequent token, equal counts are in alphabetical
    order.

    Tokens outside the vocabulary get no id and are left out: ``oov`` is "drop".

    Parameters
    ----------
    tokens : sequence of distinct str, in that order
    counts : sequence of int >= 1, falling
        Occurrences of each token; kept as int64.

    Raises
    ------
    TypeError, ValueError
        For tokens that are no str or stand twice, counts that rise or are below 1, other lengths.
    """

    oov = "drop"

    def __init__(self, tokens: Sequence[str], counts: Sequence[int] | np.ndarray):
        self.tokens = _distinct_tokens(tokens)
        array = np.asarray(counts)
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"counts={shown(counts)} has dtype {array.dtype}; expected whole "
                            "numbers")
        self.counts = array.astype(np.int64, copy=False)
        if self.counts.shape != (len(self.tokens),):
            raise ValueError(f"counts has shape {self.counts.shape}; expected "
                             f"({len(self.tokens)},), one per token")
        if (self.counts < 1).any() or (np.diff(self.counts) > 0).any():
            raise ValueError("counts must be >= 1 and in falling order; Vocabulary.from_counts "
                             "sorts")

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], *, min_count: int = 1,
                    max_size: int | None = None) -> Vocabulary:
        """Build from a mapping token -> occurrences, such as a Counter.

        Parameters
        ----------
        counts : mapping from str to int >= 0
        min_count : int >= 1, default 1
            Drop rarer tokens.
        max_size : int >= 1 or None, default None
            Keep this many tokens, the most frequent ones.

        Returns
        -------
        Vocabulary

        Raises
        ------
        TypeError, ValueError
            For such counts and limits, and where no token is left.
        """
        min_count, max_size = checked_limits(min_count, max_size)
        tokens = list(counts)
        numbers = np.array([check_int(f"counts[{shown(token)}]", n, low=0)
                            for token, n in counts.items()], dtype=np.int64)
        chosen = chosen_tokens(Strings.of(tokens), numbers, min_count=min_count,
                               max_size=max_size)
        return cls([tokens[i] for i in chosen], numbers[chosen])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return dict(zip(self.tokens, range(len(self.tokens)), strict=True))

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Vocabulary) and self.tokens == other.tokens
                and np.array_equal(self.counts, other.counts))

    __hash__ = None

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)} tokens, {int(self.counts.sum())} occurrences"

    def id(self, token: str) -> int:
        """The id of a token.

        Parameters
        ----------
        token : str

        Returns
        -------
        int

        Raises
        ------
        UnknownWord
            With at most 3 near words.
        """
        result = self._ids.get(token) if isinstance(token, str) else None
        if result is None:
            raise unknown_word(token, self.tokens)
        return result

    def token(self, id: int) -> str:
        """The token of an id.

        Parameters
        ----------
        id : int from 0 to V - 1

        Returns
        -------
        str

        Raises
        ------
        TypeError, ValueError
        """
        return self.tokens[check_int("id", id, low=0, high=len(self) - 1)]

    def rank(self, token: str) -> int:
        """Frequency rank, 1 for the most frequent token.

        Parameters
        ----------
        token : str

        Returns
        -------
        int

        Raises
        ------
        UnknownWord
        """
        return self.id(token) + 1

    def count(self, token: str) -> int:
        """How often a token occurs; 0 for one outside the vocabulary.

        Parameters
        ----------
        token : str

        Returns
        -------
        int
        """
        id = self._ids.get(token)
        return 0 if id is None else int(self.counts[id])

    def encode(self, tokens: Iterable[str]) -> np.ndarray:
        """The ids of tokens, int32; tokens outside the vocabulary are dropped.

        Parameters
        ----------
        tokens : iterable of str

        Returns
        -------
        (n,) int32

        Raises
        ------
        TypeError
            For one str instead of a list.
        """
        if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
            raise TypeError(f"tokens={shown(tokens)} is {type(tokens).__name__}; expected a list "
                            "of tokens. Pass [token], or a text's tokens")
        ids = self._ids
        return np.array([ids[token] for token in tokens if token in ids], dtype=np.int32)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens of ids.

        Parameters
        ----------
        ids : iterable of int from 0 to V - 1

        Returns
        -------
        list of str

        Raises
        ------
        TypeError, ValueError
        """
        last = len(self) - 1
        return [self.tokens[check_int(f"ids[{i}]", id, low=0, high=last)]
                for i, id in enumerate(ids)]


def _distinct_tokens(tokens: Sequence[str]) -> list[str]:
    if isinstance(tokens, (str, bytes, Set)) or not isinstance(tokens, Iterable):
        raise TypeError(f"tokens={shown(tokens)} is {type(tokens).__name__}; expected a list of "
                        "distinct tokens")
    tokens = list(tokens)
    if wrong := set(map(type, tokens)) - {str}:
        i = next(i for i, token in enumerate(tokens) if type(token) in wrong)
        raise TypeError(f"tokens[{i}]={shown(tokens[i])} is {type(tokens[i]).__name__}; expected a "
                        "token (str)")
    if len(set(tokens)) < len(tokens):
        twice, _ = Counter(tokens).most_common(1)[0]
        raise ValueError(f"tokens holds {shown(twice)} twice; expected distinct tokens")
    return tokens
