"""The settings that all counting methods share, and their checks.

`BagOfWords`, `TfIdf`, `BM25` and `OneHot` take the same settings and hand them on; a wrong one is
refused here, before any text is read, in one place with one message. Used by lessons ``01_one_hot``
and ``02_bag_of_words``.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from ..core import check_choice, check_int
from ..core.checks import shown
from ..text.normalise import check_text, checked_form
from ..text.scanner import checked_threads
from ..text.stop_words import checked_stop_words

__all__ = [
    "ANALYZERS", "BAG_SETTINGS", "TOKEN_PATTERN", "check_bag_settings", "checked_document_bounds",
    "checked_ngram_range", "checked_vocabulary"
]

ANALYZERS = ("word", "char", "char_wb")
TOKEN_PATTERN = r"(?u)\b\w\w+\b"
BAG_SETTINGS = ("ngram_range", "min_df", "max_df", "max_features", "lowercase", "token_pattern",
                "analyzer", "stop_words", "vocabulary", "normalise", "threads")


def checked_ngram_range(value: object) -> tuple[int, int]:
    """Return (shortest, longest) with 1 <= shortest <= longest.

    Raises TypeError or ValueError that names both ends.
    """
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"ngram_range={shown(value)} is no pair; expected (shortest, longest), "
                        "such as (1, 2)")
    low, high = (check_int(f"ngram_range[{i}]", end, low=-(2**62)) for i, end in enumerate(value))
    if not 1 <= low <= high:
        raise ValueError(f"ngram_range=({low}, {high}) is out of range; expected 1 <= shortest <= "
                         "longest")
    return low, high


def _check_share_or_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected a number of "
                        "documents (int >= 1) or a share (float in [0, 1])")
    allowed = value >= 1 if isinstance(value, numbers.Integral) else 0 <= value <= 1
    if not allowed:
        raise ValueError(f"{name}={shown(value)} is out of range; expected a number of documents "
                         "(int >= 1) or a share (float in [0, 1])")


def checked_document_bounds(min_df: float, max_df: float, n_documents: int) -> tuple[float, float]:
    """The two settings as numbers of documents.

    Raises ValueError when the lower bound lies above the upper.
    """
    low, high = (df if isinstance(df, numbers.Integral) else df * n_documents
                 for df in (min_df, max_df))
    if high < low:
        raise ValueError(f"min_df={min_df} lies above max_df={max_df} for {n_documents} documents "
                         f"({low:g} > {high:g}); lower min_df or raise max_df")
    return low, high


def checked_vocabulary(
        vocabulary: Mapping[str, int] | Iterable[str] | None) -> dict[str, int] | None:
    """A given vocabulary as dict token -> column, or None. A set is sorted, a sequence keeps its
    order.

    Raises TypeError (not tokens), ValueError (empty, a token twice, columns that are not 0 … n -
    1).
    """
    if vocabulary is None:
        return None
    if isinstance(vocabulary, (str, bytes, Iterator)) or not isinstance(vocabulary, Iterable):
        remedy = (". An iterator can be read only once: pass a list"
                  if isinstance(vocabulary, Iterator)
                  else "")
        raise TypeError(f"vocabulary={shown(vocabulary)} is {type(vocabulary).__name__}; expected "
                        f"a list of tokens or a dict token -> column{remedy}")
    vocabulary = vocabulary if isinstance(vocabulary, (Mapping, Set)) else list(vocabulary)
    for token in vocabulary:
        if not isinstance(token, str):
            raise TypeError(f"vocabulary holds {shown(token)}, a {type(token).__name__}; expected "
                            "tokens (str)")
        check_text("vocabulary: token", token)
    if not isinstance(vocabulary, Mapping):
        tokens = sorted(vocabulary) if isinstance(vocabulary, Set) else list(vocabulary)
        vocabulary = {token: column for column, token in enumerate(tokens)}
        if len(vocabulary) < len(tokens):
            twice = next(token for i, token in enumerate(tokens) if vocabulary[token] != i)
            raise ValueError(f"vocabulary holds {shown(twice)} twice; expected each token once")
    if not vocabulary:
        raise ValueError("vocabulary is empty; expected >= 1 token")
    for token, column in vocabulary.items():
        check_int(f"vocabulary[{shown(token)}]", column, low=-(2**62))
    if sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise ValueError(f"vocabulary has columns {shown(sorted(set(vocabulary.values())))}; "
                         f"expected each of 0 … {len(vocabulary) - 1} once")
    return {token: int(column) for token, column in vocabulary.items()}


def check_bag_settings(settings: Mapping[str, Any]) -> None:
    """Check every setting of `BAG_SETTINGS`, and ``binary``, but the token pattern, compiled where
    it is used. Raises TypeError or ValueError.
    """
    checked_ngram_range(settings["ngram_range"])
    _check_share_or_count("min_df", settings["min_df"])
    _check_share_or_count("max_df", settings["max_df"])
    if settings["max_features"] is not None:
        check_int("max_features", settings["max_features"])
    check_choice("analyzer", settings["analyzer"], ANALYZERS)
    checked_stop_words(settings["stop_words"])
    checked_vocabulary(settings["vocabulary"])
    checked_form(settings["normalise"])
    checked_threads(settings["threads"])
    for name in ("lowercase", "binary"):
        if not isinstance(settings[name], bool):
            raise TypeError(f"{name}={shown(settings[name])} is {type(settings[name]).__name__}; "
                            "expected True or False")
