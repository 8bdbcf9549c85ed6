"""Argument checks: one for each kind of argument, whose message names value, range and remedy.

A check runs in the public function, before any work is begun. ``shown`` cuts a value to 60
characters, so that a wrong argument of a gigabyte still gives a readable line. Used by every room.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import numbers
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .errors import DataWarning

__all__ = ["MOST", "check_array", "check_choice", "check_float", "check_int", "check_kind",
           "check_most", "check_rate", "check_rounds", "check_seed", "check_threads",
           "nearest_name", "shown", "taken", "unknown_keyword", "warn_data"]

MOST = 1_000_000_000                             # of a whole number that somebody may mean
ORDINARY = 1000                                  # up to this a setting says no word about the data
LEAST_RATE = 1e-20                              # falling over 10^9 steps it is no float32 zero
MOST_THREADS = 1024                              # more than any machine has cores for


def shown(value: object, limit: int = 60) -> str:
    """``repr`` of a value, cut.

    Parameters
    ----------
    value : object
    limit : int, default 60
        Characters that are kept.

    Returns
    -------
    str
    """
    if isinstance(value, (str, bytes)) and len(value) > limit:
        value = value[:limit]
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def nearest_name(name: object, allowed: Iterable[str]) -> str | None:
    """The allowed name that looks most like another.

    Parameters
    ----------
    name : object
    allowed : iterable of str

    Returns
    -------
    str or None
        None where none comes near.
    """
    close = difflib.get_close_matches(str(name), list(allowed), n=1, cutoff=0.5)
    return close[0] if close else None


def check_int(name: str, value: object, *, low: int = 1, high: int | None = None) -> int:
    """Check for an integer in [low, high].

    Parameters
    ----------
    name, value : the argument
    low, high : int, default 1 and None (no limit)

    Returns
    -------
    int

    Raises
    ------
    TypeError
        Anything but an integer, ``True`` and ``2.0`` included.
    ValueError
        Outside the range.
    """
    allowed = f"int >= {low}" if high is None else f"int in [{low}, {high}]"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected {allowed}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name}={shown(value)} is out of range; expected {allowed}")
    return int(value)


def check_most(name: str, number: float, remedy: str = "") -> Any:
    """Refuse a number beyond `MOST`, which is a slip of the hand.

    Parameters
    ----------
    name : str
        The argument.
    number : int or float
    remedy : str, default ""
        What to write instead.

    Returns
    -------
    int or float
        The number.

    Raises
    ------
    ValueError
    """
    if number > MOST:
        more = f". {remedy}" if remedy else ""
        raise ValueError(f"{name}={shown(number)} is out of range; expected at most {MOST:,}{more}")
    return number


def check_rounds(name: str, value: object, *, low: int = 1) -> int:
    """Check how often something is to be done: a whole number in [low, `MOST`].

    Parameters
    ----------
    name, value : the argument
    low : int, default 1

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        Beyond `MOST` with how a run without end is written.
    """
    return check_most(name, check_int(name, value, low=low), "For a run that only Ctrl-C ends: "
                      f"{name}=10**9; what was learned by then is kept")


def check_threads(value: object) -> int:
    """Check for a number of threads, each of which takes memory.

    Parameters
    ----------
    value : int in [1, 1024]

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
    """
    return check_int("threads", value, high=MOST_THREADS)


def taken(name: str, value: int, possible: int, held: str, *, stacklevel: int = 3) -> int:
    """What is taken for a setting that says how far to go, and goes further than the data: what
    they hold, with one DataWarning.

    This is the rule for all such settings. What decides the shape of a result (``dim``, ``k``) is
    refused instead where the data cannot fill it, and what cuts work into parts (``batch_size``)
    may be as large as one likes.

    Parameters
    ----------
    name, value : the setting
    possible : int
        The most that changes anything.
    held : str
        What the data hold, in words: "the longest text has 7 words".
    stacklevel : int, default 3
        As in `warn_data`.

    Returns
    -------
    int
        ``value`` up to 1000, as defaults are, and up to ``possible``; else ``possible``.
    """
    if value <= max(possible, ORDINARY):
        return value
    warn_data(f"{name}={shown(value)} goes beyond the data: {held}; {possible:,} is taken",
              stacklevel=stacklevel + 1)
    return possible


def check_seed(value: object) -> int:
    """Check for a seed.

    Parameters
    ----------
    value : int >= 0

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        ``None`` too, so that every run can be repeated.
    """
    return check_int("seed", value, low=0)


def check_float(name: str, value: object, *, low: float = -math.inf, high: float = math.inf,
                open_low: bool = False) -> float:
    """Check for a finite number in [low, high].

    Parameters
    ----------
    name, value : the argument
    low, high : float, default -inf and inf
    open_low : bool, default False
        Whether ``low`` itself is refused.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
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


def check_rate(name: str, value: object) -> float:
    """Check for a learning rate of loops that work in float32, where a smaller one would be 0.

    Parameters
    ----------
    name, value : the argument

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
    """
    rate = check_float(name, value, low=0.0, open_low=True)
    if not LEAST_RATE <= rate <= 1 / LEAST_RATE:
        raise ValueError(f"{name}={shown(value)} is out of range; expected a number > 0 that "
                         f"float32 arithmetic can use, from {LEAST_RATE:g} to {1 / LEAST_RATE:g}")
    return rate


def check_choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """Check for one of some names.

    Parameters
    ----------
    name, value : the argument
    allowed : iterable of str

    Returns
    -------
    str

    Raises
    ------
    ValueError
        With the nearest name and all of them.
    """
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    near = nearest_name(value, names)
    guess = f" Did you mean {near!r}?" if near else ""
    raise ValueError(f"{name}={shown(value)} is unknown.{guess} Allowed: "
                     f"{', '.join(map(repr, names))}")


def check_kind(name: str, value: Any, kind: type | tuple[type, ...], expected: str) -> Any:
    """The value, if it is of a kind.

    Parameters
    ----------
    name : str
        The argument.
    value : object
    kind : type or tuple of type
    expected : str
        The kind in words, and what gets one.

    Returns
    -------
    object
        The value.

    Raises
    ------
    TypeError
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name}={shown(value)} is {type(value).__name__}; expected {expected}")
    return value


def unknown_keyword(owner: str, given: str, allowed: Iterable[str]) -> TypeError:
    """The error for a keyword that there is not, with the nearest one that there is.

    Parameters
    ----------
    owner, given : str
        The class or function, and the keyword.
    allowed : iterable of str

    Returns
    -------
    TypeError
    """
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
    """Emit one DataWarning.

    Parameters
    ----------
    message : str
    stacklevel : int, default 3
        Frames up to the caller who is told.
    """
    warnings.warn(message, DataWarning, stacklevel=stacklevel + 1)


# ------------------------------------------------------------------------------ arrays


def check_array(name: str, value: object, *, ndim: int = 2, columns: int | None = None,
                min_rows: int = 0) -> np.ndarray:
    """Check for a finite float array; the input is never written.

    Parameters
    ----------
    name, value : the argument
    ndim : int, default 2
    columns : int, optional
    min_rows : int, default 0

    Returns
    -------
    array of floats
        Integers and booleans as float64, other floats as they are.

    Raises
    ------
    TypeError
        Objects, strings, complex numbers.
    ValueError
        Other axes, columns or rows; NaN or infinity, with the first row and how many.
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


def keyword_guard(init: Callable[..., None], owner: str) -> Callable[..., None]:
    """Wrap an ``__init__`` so that an unknown keyword is answered with the nearest known one."""
    allowed = [p for p in inspect.signature(init).parameters if p != "self"]

    @functools.wraps(init)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> None:
        for given in kwargs:
            if given not in allowed:
                raise unknown_keyword(owner, given, allowed)
        init(self, *args, **kwargs)

    return guarded
