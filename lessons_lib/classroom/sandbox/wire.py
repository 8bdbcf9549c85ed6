"""Plain data between grader and graded: numbers, texts, arrays and containers as JSON, and nothing
that could run.

A message is its length (4 bytes) and JSON. What arrives is rebuilt as builtin types and arrays
only, so no object of a submission, with its own ``==`` or ``__float__``, ever meets the judge.
Functions stay where they are and are named. Used by ``lessons grade``.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
from typing import Any, BinaryIO

__all__ = ["MAX_BYTES", "Other", "WireError", "pack", "receive", "send", "unpack"]

MAX_BYTES = 32_000_000
MAX_VALUES = 1_000_000                           # in one message: containers and what they hold
MAX_COLLISIONS = 100
MAX_DEPTH = 60
MAX_BITS = 8192
HEADER = struct.Struct("<I")


class WireError(ValueError):
    """A message that is too large, too deep, or no message."""


class Other:
    """Something that is not plain data: only the name of its type and a short text came along."""

    def __init__(self, kind: str, text: str):
        self.kind, self.text = str(kind)[:80], str(text)[:200]

    def __repr__(self) -> str:
        return self.text


def _arrays(value: Any) -> Any:
    """Tensors, sparse matrices, columns and scalars as arrays; anything else unchanged."""
    if isinstance(value, type):
        return value
    for method in ("toarray", "detach", "to_numpy"):
        if callable(getattr(value, method, None)):
            value = getattr(value, method)()
    return value.numpy() if type(value).__module__ == "torch" and hasattr(value, "numpy") else value


def _pack_array(value: Any) -> Any:
    if value.dtype.kind in "OUS":
        return pack(value.tolist())
    if value.dtype.kind not in "biufc":
        return {"t": "other", "kind": f"array of {value.dtype}", "text": repr(value)[:200]}
    return {"t": "array", "dtype": value.dtype.str, "shape": list(value.shape),
            "v": base64.b64encode(value.tobytes()).decode()}


def pack(value: Any, name_function: Any = None, depth: int = 0) -> Any:
    """A value as what JSON can hold. ``name_function`` gives functions an id; without it they are
    only named.

    Raises WireError where containers are nested more than 60 deep.
    """
    if depth > MAX_DEPTH:
        raise WireError(f"nested more than {MAX_DEPTH} deep")
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is int and abs(value) >= 1 << 53:
        if value.bit_length() > MAX_BITS:
            raise WireError(f"an integer of {value.bit_length()} bits; at most {MAX_BITS}")
        return {"t": "int", "v": hex(value)}
    if kind in (int, float):
        return value
    if isinstance(value, str):
        return str(value)
    numpy = sys.modules.get("numpy")
    value = _arrays(value)
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return _pack_array(numpy.asarray(value))

    def inner(items: Any) -> list:
        return [pack(item, name_function, depth + 1) for item in items]

    if isinstance(value, (list, range)):
        return inner(value)
    if isinstance(value, tuple):
        return {"t": "tuple", "v": inner(value)}
    if isinstance(value, (set, frozenset)):
        return {"t": "set", "v": inner(value)}
    if isinstance(value, dict):
        return {"t": "dict", "v": [inner(item) for item in value.items()]}
    if callable(value):
        return {"t": "function", "id": name_function(value) if name_function else -1,
                "name": str(getattr(value, "__name__", ""))[:80], "text": repr(value)[:200]}
    return {"t": "other", "kind": kind.__name__, "text": repr(value)[:200]}


def _distinct(keys: list) -> list:
    """The keys of a set or dict. Raises WireError for many that share a hash: a table of them takes
    quadratic time, that of the grader.
    """
    if len(keys) - len({hash(key) for key in keys}) > MAX_COLLISIONS:
        raise WireError(f"a set or dict of {len(keys):,} keys with one hash")
    return keys


def _unpack_array(data: dict) -> Any:
    import numpy

    dtype = numpy.dtype(str(data["dtype"])[:20])
    shape = tuple(int(n) for n in data["shape"])
    if (dtype.kind not in "biufc" or dtype.itemsize > 32 or len(shape) > 8
            or any(n < 0 for n in shape)):
        raise WireError("no array of numbers")
    content = base64.b64decode(data["v"], validate=True)
    array = numpy.frombuffer(content, dtype=dtype).reshape(shape).copy()
    return array if shape else array[()]


def unpack(data: Any, function: Any = None, depth: int = 0) -> Any:
    """What `pack` wrote, as builtin types and arrays. ``function`` makes something of (id, name,
    text); without it a function is an `Other`.

    Raises WireError for anything that `pack` does not write.
    """
    if depth > MAX_DEPTH:
        raise WireError(f"nested more than {MAX_DEPTH} deep")
    if data is None or isinstance(data, (bool, int, float, str)):
        return data

    def inner(items: Any) -> list:
        return [unpack(item, function, depth + 1) for item in items]

    if isinstance(data, list):
        return inner(data)
    try:
        tag = data["t"]
        if tag == "tuple":
            return tuple(inner(data["v"]))
        if tag == "set":
            return set(_distinct(inner(data["v"])))
        if tag == "dict":
            pairs = [(key, value) for key, value in map(inner, data["v"])]
            _distinct([key for key, _ in pairs])
            return dict(pairs)
        if tag == "array":
            return _unpack_array(data)
        if tag == "int" and len(data["v"]) <= MAX_BITS // 4 + 3:
            return int(data["v"], 16)
        if tag == "function" and function is not None:
            return function(int(data["id"]), str(data["name"]), str(data["text"]))
        if tag in ("other", "function"):
            return Other(data.get("kind", "function"), data["text"])
    except WireError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise WireError(f"not plain data: {type(error).__name__}") from None
    raise WireError(f"not plain data: {tag!r}")


def _check_values(body: bytes) -> None:
    """Refuse what would grow: a list takes 3 bytes in a message and 100 in memory."""
    if (values := sum(map(body.count, b"[{,"))) > MAX_VALUES:
        raise WireError(f"{values:,} values; at most {MAX_VALUES:,}")


def send(stream: BinaryIO, message: dict) -> None:
    """Write one message. Raises WireError above 32 MB, or a million values."""
    body = json.dumps(message).encode()
    if len(body) > MAX_BYTES:
        raise WireError(f"{len(body):,} bytes; at most {MAX_BYTES:,}")
    _check_values(body)
    stream.write(HEADER.pack(len(body)) + body)
    stream.flush()


def receive(stream: BinaryIO) -> dict | None:
    """The next message; None at the end of the stream.

    Raises WireError for what is no message, or is too long.
    """
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    if length > MAX_BYTES:
        raise WireError(f"a message of {length:,} bytes; at most {MAX_BYTES:,}")
    body = stream.read(length)
    if len(body) < length:
        return None
    _check_values(body)
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise WireError("no message") from None
    if not isinstance(message, dict):
        raise WireError("no message")
    return message
