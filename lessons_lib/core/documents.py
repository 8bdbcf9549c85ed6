"""Checks of texts and of token lists, as they come: one text after the other, each with its place.

Used by every method that reads texts.
"""

from __future__ import annotations

import itertools
import sys
import math
from collections.abc import Iterable, Iterator, Mapping, Set

from .checks import shown

__all__ = ["MAX_TOKEN_CHARS", "check_encodable", "checked_batches", "checked_texts",
           "checked_token_lists"]

MAX_TOKEN_CHARS = 100_000


def _check_container(name: str, documents: object, of_what: str) -> None:
    if isinstance(documents, (str, bytes)):
        kind = "one str" if isinstance(documents, str) else "one bytes object"
        raise TypeError(f"{name}={shown(documents)} is {kind}; expected a sequence of {of_what}. "
                        "Pass a list: [text]")
    if isinstance(documents, (Mapping, Set)):
        kind = f"{type(documents).__name__}, which has no order"
        what = "dict" if isinstance(documents, Mapping) else kind
        raise TypeError(f"{name} is a {what}; expected a sequence of {of_what}. Pass a list")
    if getattr(documents, "ndim", 1) != 1:
        raise TypeError(f"{name} is a {documents.ndim}-D {type(documents).__name__} of shape "
                        f"{documents.shape}; expected a sequence of {of_what}")
    if not isinstance(documents, Iterable):
        raise TypeError(f"{name}={shown(documents)} is {type(documents).__name__}; expected a "
                        f"sequence of {of_what}")


def _items(documents: Iterable) -> Iterator:
    values = getattr(documents, "values", None)  # a pandas Series: by position, whatever its index
    return iter(values) if values is not None and not callable(values) else iter(documents)


def _wrong_text(name: str, i: int, item: object) -> TypeError:
    here = f"{name}[{i}]"
    if isinstance(item, float) and math.isnan(item):
        return TypeError(f"{here} is nan (a missing value?); expected str. Drop it: [d for d in "
                         f"{name} if isinstance(d, str)]")
    if isinstance(item, (bytes, bytearray)):
        return TypeError(f'{here} is bytes; expected str. Decode it: {here}.decode("utf-8")')
    if isinstance(item, (list, tuple)):
        return TypeError(f"{here}={shown(item)} is a {type(item).__name__} of tokens; expected "
                         "str. For token lists use Corpus.from_tokens")
    return TypeError(f"{here}={shown(item)} is {type(item).__name__}; expected str. Drop it: [d "
                     f"for d in {name} if isinstance(d, str)]")


def check_encodable(here: str, text: str) -> None:
    """Refuse a lone surrogate, by ValueError: no file and no other program can hold it."""
    try:
        if not text.isascii():
            text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        raise ValueError(f"{here} has a lone surrogate {code} at character {error.start}, which is "
                         "not text; "
                         f'replace it: text.encode("utf-8", errors="replace").decode()') from None


def checked_texts(documents: Iterable[str], *, name: str = "documents", allow_empty: bool = False,
                  first: int = 0) -> Iterator[str]:
    """Yield each text in turn after checking it.

    Parameters
    ----------
    documents : iterable of str (list, generator, Series)
        Looked at before the first item is drawn.
    name : str, default "documents"
        The caller's argument.
    allow_empty : bool, default False
        Whether there may be none: for ``transform`` and ``encode``, not for ``fit``.
    first : int, default 0
        Index of the first one.

    Returns
    -------
    iterator of str

    Raises
    ------
    TypeError
        Container or item is not text; the item's index is named.
    ValueError
        No documents, a lone surrogate.
    """
    _check_container(name, documents, "str")

    def checked() -> Iterator[str]:
        n = 0
        for i, item in enumerate(_items(documents), start=first):
            if type(item) is not str:
                if not isinstance(item, str):
                    raise _wrong_text(name, i, item)
                item = str(item)
            if not item.isascii():               # before its name is made, which takes longer
                check_encodable(f"{name}[{i}]", item)
            n = i + 1
            yield item
        if n == 0 and not allow_empty:
            raise ValueError(f"{name} holds 0 documents; expected >= 1 (an exhausted generator?)")

    return checked()


def checked_batches(documents: Iterable[str], *, name: str = "documents", allow_empty: bool = False,
                    size: int = 256) -> Iterator[list[str]]:
    """Yield texts in lists, checked as by `checked_texts`, but many at a time, for millions.

    Parameters
    ----------
    documents, name, allow_empty
        As in `checked_texts`.
    size : int, default 256
        Texts in a list.

    Returns
    -------
    iterator of lists of str

    Raises
    ------
    TypeError, ValueError
        With the index of the first bad text.
    """
    _check_container(name, documents, "str")

    def plain(batch: list) -> bool:
        if set(map(type, batch)) != {str}:
            return False
        try:
            "".join([text for text in batch if not text.isascii()]).encode()
        except UnicodeEncodeError:
            return False
        return True

    def checked() -> Iterator[list[str]]:
        items, first = _items(documents), 0
        while batch := list(itertools.islice(items, min(size, sys.maxsize))):
            yield batch if plain(batch) else list(checked_texts(batch, name=name, first=first))
            first += len(batch)
        if first == 0 and not allow_empty:
            raise ValueError(f"{name} holds 0 documents; expected >= 1 (an exhausted generator?)")

    return checked()


def checked_token_lists(documents: Iterable[Iterable[str]], *,
                        name: str = "documents") -> Iterator[list[str]]:
    """Yield each token list in turn after checking it, for `Corpus.from_tokens`.

    Parameters
    ----------
    documents : iterable of iterables of str
    name : str, default "documents"
        The caller's argument.

    Returns
    -------
    iterator of lists of str

    Raises
    ------
    TypeError
        Container, a text where tokens are expected, a token that is no str.
    ValueError
        No documents, an empty token.
    """
    _check_container(name, documents, "token lists")

    def checked() -> Iterator[list[str]]:
        n = 0
        for i, item in enumerate(_items(documents)):
            if isinstance(item, (str, bytes)) or not isinstance(item, Iterable):
                remedy = " For texts use Corpus.from_texts" if isinstance(item, str) else ""
                raise TypeError(f"{name}[{i}]={shown(item)} is {type(item).__name__}; expected a "
                                f"list of tokens.{remedy}")
            tokens = list(item)
            for j, token in enumerate(tokens):
                if not isinstance(token, str):
                    raise TypeError(f"{name}[{i}][{j}]={shown(token)} is {type(token).__name__}; "
                                    "expected a token (str)")
                if not token:
                    raise ValueError(f"{name}[{i}][{j}] is an empty token; expected a str with >= "
                                     "1 character. Drop it: [t for t in tokens if t]")
                if not token.isascii():
                    check_encodable(f"{name}[{i}][{j}]", token)
            n = i + 1
            yield tokens
        if n == 0:
            raise ValueError(f"{name} holds 0 documents; expected >= 1 (an exhausted generator?)")

    return checked()
