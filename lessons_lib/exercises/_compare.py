"""Is an answer the expected one, and if not, where is the first difference?

Numbers are compared with a tolerance, containers item by item; lists, tuples and arrays are
interchangeable, a set is not a list. Sparse matrices and tensors are compared as arrays. Used by
the judges of every lesson.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from ..core import shown

__all__ = ["difference", "size_of", "written"]


def _plain(value: Any) -> Any:
    """Sparse matrices, tensors and series as arrays; everything else unchanged."""
    for method in ("toarray", "detach", "to_numpy"):
        if not isinstance(value, type) and callable(getattr(value, method, None)):
            value = getattr(value, method)()
    return value.numpy() if type(value).__module__ == "torch" and hasattr(value, "numpy") else value


def written(value: Any, limit: int = 60) -> str:
    """One line that shows a value: arrays without type, floats with 6 digits, cut at ``limit``."""
    value = _plain(value)
    if isinstance(value, np.ndarray):
        value = np.array2string(value, precision=4, separator=", ", threshold=20).replace("\n", "")
    elif isinstance(value, (bool, np.bool_)):
        value = str(bool(value))
    elif isinstance(value, numbers.Integral):
        value = str(int(value))
    elif isinstance(value, numbers.Real):
        value = f"{float(value):.6g}"
    else:
        return " ".join(shown(value, limit).split())
    return value if len(value) <= limit else value[: limit - 1] + "…"


def size_of(value: Any) -> int:
    """How much a reader has to look at: leaves of containers and arrays, characters of a text."""
    value = _plain(value)
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, str):
        return 1 + len(value)
    if isinstance(value, Mapping):
        return 1 + sum(size_of(k) + size_of(v) for k, v in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return 1 + sum(map(size_of, value))
    return 1


def _as_numbers(value: Any) -> np.ndarray | None:
    if isinstance(value, (str, bytes, Mapping, Set)) or value is None:
        return None
    try:
        array = np.asarray(value)
    except ValueError:                          # rows of unequal length
        return None
    return array if array.dtype.kind in "fiubc" else None


def _numeric_difference(got: Any, expected: np.ndarray, rtol: float, atol: float) -> str | None:
    array = _as_numbers(got)
    if array is None:
        return f"expected {written(expected)}, yours is {written(got)}"
    if array.shape != expected.shape:
        return f"expected shape {expected.shape}, yours has shape {array.shape}: {written(array)}"
    close = np.isclose(array, expected, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return None
    where = tuple(int(i) for i in np.argwhere(~close)[0])
    if not where:
        return f"expected {written(expected[()])}, yours is {written(array[()])}"
    whole = f" (expected {written(expected)})" if expected.size <= 6 else ""
    return (f"expected {written(expected[where])} at {list(where)}, yours is "
            f"{written(array[where])}{whole}")


def _mapping_difference(got: Any, expected: Mapping, rtol: float, atol: float) -> str | None:
    if not isinstance(got, Mapping):
        return f"expected a dict, yours is {type(got).__name__}: {written(got)}"
    missing = [key for key in expected if key not in got]
    extra = [key for key in got if key not in expected]
    if missing or extra:
        return (f"expected the key {written(missing[0])}, yours lacks it" if missing
                else f"the key {written(extra[0])} should not be there")
    for key, value in expected.items():
        if text := difference(got[key], value, rtol=rtol, atol=atol):
            return f"at key {written(key)}: {text}"
    return None


def _set_difference(got: Any, expected: Set) -> str | None:
    if not isinstance(got, Set):
        return f"expected a set, yours is {type(got).__name__}: {written(got)}"
    missing, extra = expected - got, got - expected
    if missing:
        return f"expected {written(min(missing, key=repr))} in the set, yours lacks it"
    return f"{written(min(extra, key=repr))} should not be in the set" if extra else None


def _sequence_difference(got: Any, expected: Any, rtol: float, atol: float) -> str | None:
    if isinstance(got, (str, bytes, Mapping, Set)) or not (hasattr(got, "__len__")
                                                           and hasattr(got, "__getitem__")):
        return f"expected {written(expected)}, yours is {type(got).__name__}: {written(got)}"
    if len(got) != len(expected):
        return f"expected {len(expected)} items, yours has {len(got)}: {written(got)}"
    for i, (mine, wanted) in enumerate(zip(got, expected, strict=True)):
        if text := difference(mine, wanted, rtol=rtol, atol=atol):
            return f"at [{i}]: {text}"
    return None


def difference(got: Any, expected: Any, *, rtol: float = 1e-6, atol: float = 1e-8) -> str | None:
    """None when ``got`` is ``expected``, else half a sentence: what was expected where, what came.

    Both are numbers, texts, arrays, sparse matrices, tensors, or dicts, sets, lists of them; the
    tolerances are those of numpy's ``isclose``. NaN equals only NaN.
    """
    got, expected = _plain(got), _plain(expected)
    if got is None and expected is not None:
        return f"expected {written(expected)}, yours is None (is a `return` missing?)"
    if isinstance(expected, (numbers.Number, np.bool_)) or (
            isinstance(expected, np.ndarray) and expected.dtype.kind in "fiubc"):
        return _numeric_difference(got, np.asarray(expected), rtol, atol)
    if isinstance(expected, Mapping):
        return _mapping_difference(got, expected, rtol, atol)
    if isinstance(expected, Set):
        return _set_difference(got, expected)
    if isinstance(expected, (list, tuple, np.ndarray)):
        numeric = _as_numbers(expected) if len(expected) else None
        if numeric is not None:
            return _numeric_difference(got, numeric, rtol, atol)
        return _sequence_difference(got, expected, rtol, atol)
    equal = got == expected
    if isinstance(equal, (bool, np.bool_)) and equal:
        return None
    return f"expected {written(expected)}, yours is {written(got)}"
