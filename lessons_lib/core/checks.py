"""Argument checks: one function per kind of argument, each with a message that names argument,
value, range and remedy.

A check runs in the public function, before any work is begun. ``shown`` cuts a value to 60
characters, so that a wrong argument of a gigabyte still gives a readable line. Used by every room.
"""

from __future__ import annotations

import difflib
import itertools
import math
import numbers
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any

import numpy as np

from .errors import DataWarning

__all__ = [
    "check_array", "check_choice", "check_float", "check_int", "check_seed", "checked_batches",
    "checked_texts", "checked_token_lists", "nearest_name", "shown", "unknown_keyword", "warn_data"
]

MAX_TOKEN_CHARS = 100_000


def shown(value: object, limit: int = 60) -> str:
    """``repr`` of a value, cut to ``limit`` characters."""
    if isinstance(value, (str, bytes)) and len(value) > limit:
        value = value[:limit]
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def nearest_name(name: object, allowed: Iterable[str]) -> str | None:
    """The allowed name that looks most like ``name``, or None when none comes near."""
    close = difflib.get_close_matches(str(name), list(allowed), n=1, cutoff=0.5)
    return close[0] if close else None


def check_int(name: str, value: object, *, low: int = 1, high: int | None = None) -> int:
    """Return ``value`` as an int in [low, high].

    Raises TypeError for anything but an integer (``True`` and ``2.0`` included), ValueError outside
    the range.
    """
    allowed = f"int >= {low}" if high is None else f"int in [{low}, {high}]"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected {allowed}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name}={shown(value)} is out of range; expected {allowed}")
    return int(value)


def check_seed(value: object) -> int:
    """Return a seed: an int >= 0.

    Raises TypeError or ValueError; ``None`` is refused, so that every run can be repeated.
    """
    return check_int("seed", value, low=0)


def check_float(name: str, value: object, *, low: float = -math.inf, high: float = math.inf,
                open_low: bool = False) -> float:
    """Return ``value`` as a finite float in [low, high], or in (low, high] with ``open_low``.

    Raises TypeError or ValueError.
    """
    allowed = ("a finite number"
               if low == -math.inf
               else f"a finite number {'>' if open_low else '>='} {low:g}")
    if high != math.inf:
        allowed += f" and <= {high:g}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected {allowed}")
    try:
        number = float(value)
    except OverflowError:                        # an int or a fraction beyond the range of floats
        number = math.inf
    if not math.isfinite(number) or number < low or number > high or (open_low and number == low):
        raise ValueError(f"{name}={shown(value)} is out of range; expected {allowed}")
    return number


def check_choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of the allowed names.

    Raises ValueError with the nearest name and all of them.
    """
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    near = nearest_name(value, names)
    guess = f" Did you mean {near!r}?" if near else ""
    raise ValueError(f"{name}={shown(value)} is unknown.{guess} Allowed: "
                     f"{', '.join(map(repr, names))}")


def unknown_keyword(owner: str, given: str, allowed: Iterable[str]) -> TypeError:
    """The error for a keyword that ``owner`` does not have, with the nearest one that it has."""
    names = list(allowed)
    synonyms = {
        "size": "dim", "vector_size": "dim", "n_components": "dim", "random_state": "seed",
        "lr": "learning_rate", "alpha": "a", "iter": "epochs", "n_epochs": "epochs",
        "workers": "threads", "n_jobs": "threads"
    }
    near = synonyms.get(given) if synonyms.get(given) in names else nearest_name(given, names)
    guess = f"; did you mean {near!r}?" if near else ""
    return TypeError(f"{owner} has no argument {given!r}{guess} Arguments: "
                     f"{', '.join(names) or 'none'}")


def warn_data(message: str, *, stacklevel: int = 3) -> None:
    """Emit one DataWarning."""
    warnings.warn(message, DataWarning, stacklevel=stacklevel + 1)


# ------------------------------------------------------------------------------ arrays


def check_array(name: str, value: object, *, ndim: int = 2, columns: int | None = None,
                min_rows: int = 0) -> np.ndarray:
    """Return a finite float array with ``ndim`` axes; the input is never written.

    Integers and booleans become float64, other float types are kept. Raises TypeError for objects,
    strings and complex numbers, ValueError for a wrong number of axes, columns or rows, and for NaN
    or infinity (first row and number of bad rows).
    """
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}; expected real numbers. Convert it: "
                        f"np.asarray({name}, dtype=float)")
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    if array.ndim != ndim:
        remedy = f" For one row pass {name}[None]." if array.ndim == ndim - 1 else ""
        raise ValueError(f"{name} has shape {array.shape}; expected {ndim} axes.{remedy}")
    if columns is not None and array.shape[-1] != columns:
        raise ValueError(f"{name} has shape {array.shape}; expected {columns} columns")
    if len(array) < min_rows:
        raise ValueError(f"{name} has {len(array)} rows; expected >= {min_rows}")
    finite = np.isfinite(array)
    if not finite.all():
        bad = np.flatnonzero(~finite.reshape(len(array), -1).all(axis=1))
        raise ValueError(f"{name}[{bad[0]}] holds NaN or infinity ({len(bad)} of {len(array)} rows "
                         "do); expected finite numbers. "
                         f"Keep the others: {name}[np.isfinite({name}).all(axis=-1)]")
    return array


# ------------------------------------------------------------------------------ texts and tokens


def _check_container(name: str, documents: object, of_what: str) -> None:
    if isinstance(documents, (str, bytes)):
        kind = "one str" if isinstance(documents, str) else "one bytes object"
        raise TypeError(f"{name}={shown(documents)} is {kind}; expected a sequence of {of_what}. "
                        "Pass a list: [text]")
    if isinstance(documents, Mapping) or (isinstance(documents, Set)
                                          and not isinstance(documents, Mapping)):
        what = "dict" if isinstance(documents,
                                    Mapping) else f"{type(documents).__name__}, which has no order"
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


def _check_encodable(here: str, text: str) -> None:
    """Refuse a lone surrogate: no file and no other program can hold it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        raise ValueError(f"{here} has a lone surrogate {code} at character {error.start}, which is "
                         "not text; "
                         f'replace it: text.encode("utf-8", errors="replace").decode()') from None


def checked_texts(documents: Iterable[str], *, name: str = "documents", allow_empty: bool = False,
                  first: int = 0) -> Iterator[str]:
    """Yield each text in turn after checking it; bad items raise with their index.

    Parameters: documents, any iterable of str (list, generator, Series); name, the caller's
    argument; allow_empty, whether zero documents are allowed (``transform`` and ``encode``: yes,
    ``fit``: no); first, the index of the first one. The container is checked before the first item
    is drawn. Raises TypeError (container or item is not text), ValueError (no documents, a lone
    surrogate).
    """
    _check_container(name, documents, "str")

    def checked() -> Iterator[str]:
        n = 0
        for i, item in enumerate(_items(documents), start=first):
            if type(item) is not str:
                if not isinstance(item, str):
                    raise _wrong_text(name, i, item)
                item = str(item)
            if not item.isascii():
                _check_encodable(f"{name}[{i}]", item)
            n = i + 1
            yield item
        if n == 0 and not allow_empty:
            raise ValueError(f"{name} holds 0 documents; expected >= 1 (an exhausted generator?)")

    return checked()


def checked_batches(documents: Iterable[str], *, name: str = "documents", allow_empty: bool = False,
                    size: int = 256) -> Iterator[list[str]]:
    """Yield the texts in lists of ``size``, checked as `checked_texts` does, but many at a time:
    for what reads millions.

    Raises as `checked_texts`, with the index of the first bad text.
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
        while batch := list(itertools.islice(items, size)):
            yield batch if plain(batch) else list(checked_texts(batch, name=name, first=first))
            first += len(batch)
        if first == 0 and not allow_empty:
            raise ValueError(f"{name} holds 0 documents; expected >= 1 (an exhausted generator?)")

    return checked()


def checked_token_lists(documents: Iterable[Iterable[str]], *,
                        name: str = "documents") -> Iterator[list[str]]:
    """Yield each token list in turn after checking it; the counterpart of `checked_texts` for
    `Corpus.from_tokens`.

    Raises TypeError (container, a text where tokens are expected, a token that is no str),
    ValueError (no documents, an empty token).
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
                    _check_encodable(f"{name}[{i}][{j}]", token)
            n = i + 1
            yield tokens
        if n == 0:
            raise ValueError(f"{name} holds 0 documents; expected >= 1 (an exhausted generator?)")

    return checked()


def keyword_guard(init: Callable[..., None], owner: str) -> Callable[..., None]:
    """Wrap an ``__init__`` so that an unknown keyword is answered with the nearest known one."""
    import functools
    import inspect

    allowed = [p for p in inspect.signature(init).parameters if p != "self"]

    @functools.wraps(init)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> None:
        for given in kwargs:
            if given not in allowed:
                raise unknown_keyword(owner, given, allowed)
        init(self, *args, **kwargs)

    return guarded
