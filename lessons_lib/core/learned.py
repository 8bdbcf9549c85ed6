"""What a method learns, declared once: the name, the axes and the kind of each array.

From the declarations come the error before `fit`, the files of `save`, the checks of `load`, and
the table of attributes in the docstring. Used by every `Estimator` that is saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .errors import NotFittedError
import itertools

__all__ = ["Array", "Learned", "Strings", "checked_array", "packed_strings", "unpacked_strings"]

Arrays = Mapping[str, np.ndarray]


class Learned:
    """An attribute that `fit` sets. Without ``file`` it is documented only, and not in files.

    Parameters: kind, in words; doc, a line of meaning; file, its name in a saved model.
    """

    def __init__(self, kind: str = "", doc: str = "", *, file: str | None = None) -> None:
        self.kind, self.doc, self.file = kind, doc, file
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        raise NotFittedError(f"this {owner.__name__} is not fitted yet, so it has no {self.name}; "
                             "call fit first")

    def pack(self, value: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """What is written for a value: arrays, and things that JSON holds."""
        raise NotImplementedError

    def unpack(self, arrays: Arrays, extra: Mapping[str, Any], sizes: dict[str, int]) -> Any:
        """The value from what `pack` gave; ``sizes`` are those of the axes so far, by name.

        Raises KeyError, TypeError or ValueError for what cannot be used.
        """
        raise NotImplementedError


class Array(Learned):
    """An array whose axes have names or lengths; equal names have equal lengths in one model.

    Parameters: axes, numbers or names, such as "dim" (a parameter: as many as it says) and
    "dim + 1"; dtype, such as "float32", or "f" for any floats, "i" for any whole numbers; doc;
    file; finite, whether NaN and infinity are refused; optional, whether it may be None or
    missing, and is then not written.
    """

    def __init__(self, *axes: str | int, dtype: str = "float32", doc: str = "",
                 file: str | None = None, finite: bool = True, optional: bool = False) -> None:
        names = ", ".join(map(str, axes)) + "," * (len(axes) == 1)
        super().__init__(f"({names}) {dtype}" + " or None" * optional, doc, file=file)
        self.axes, self.dtype, self.finite, self.optional = axes, dtype, finite, optional

    def pack(self, value: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The array under its name."""
        return ({} if value is None and self.optional else {self.file: np.asarray(value)}), {}

    def unpack(self, arrays: Arrays, extra: Mapping[str, Any],
               sizes: dict[str, int]) -> np.ndarray | None:
        """The array, after a look at shape, type and values."""
        if self.optional and self.file not in arrays:
            return None
        return checked_array(arrays, self.file, *self.axes, dtype=self.dtype, finite=self.finite,
                             sizes=sizes)


class Strings(Learned):
    """A list of strings; as many as the other arrays have along an axis of this name.

    Parameters: axis; prefix, of its two arrays in a file: ``token`` for ``token_bytes``; optional,
    whether None is allowed, which is not written.
    """

    def __init__(self, axis: str = "tokens", *, prefix: str = "token", doc: str = "",
                 optional: bool = False) -> None:
        super().__init__("list of str" + " or None" * optional, doc, file=prefix)
        self.axis, self.optional = axis, optional

    def pack(self, value: Sequence[str] | None) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Bytes and offsets."""
        return {} if value is None and self.optional else packed_strings(value, self.file), {}

    def unpack(self, arrays: Arrays, extra: Mapping[str, Any],
               sizes: dict[str, int]) -> list[str] | None:
        """The strings."""
        if self.optional and f"{self.file}_bytes" not in arrays:
            return None
        strings = unpacked_strings(arrays, self.file)
        if sizes.setdefault(self.axis, len(strings)) != len(strings):
            raise ValueError(f"{self.file}_offsets cut {len(strings)} strings; expected "
                             f"{sizes[self.axis]}")
        return strings


def checked_array(arrays: Arrays, name: str, *axes: str | int, dtype: str = "f",
                  finite: bool = True, sizes: dict[str, int] | None = None) -> np.ndarray:
    """An array of a loaded file, when its shape, type and values are as they should be.

    Parameters as those of `Array`; sizes, lengths of named axes, where new ones are noted. Raises
    ValueError that says what was found and what was expected.
    """
    if name not in arrays:
        raise ValueError(f"the array {name!r} is missing")
    array, sizes = arrays[name], {} if sizes is None else sizes
    expected = []
    for i, axis in enumerate(axes):
        base, _, more = axis.partition(" + ") if isinstance(axis, str) else (axis, "", "")
        if isinstance(base, str) and i < array.ndim:
            sizes.setdefault(base, array.shape[i] - int(more or 0))
        expected.append(sizes.get(base, base) + int(more or 0) if i < array.ndim else axis)
    expected = tuple(expected)
    kind_fits = array.dtype.kind == dtype if dtype in ("f", "i") else array.dtype == np.dtype(dtype)
    if array.shape != expected or not kind_fits:
        raise ValueError(f"array {name!r} has shape {array.shape} and dtype {array.dtype}; "
                         f"expected {expected} of {dtype}")
    if finite and array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"array {name!r} holds NaN or infinity")
    return array


def packed_strings(strings: Sequence[str], name: str = "token") -> dict[str, np.ndarray]:
    """Strings as two arrays of a file: ``name_bytes``, UTF-8, and ``name_offsets`` into them."""
    encoded = [string.encode() for string in strings]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in encoded], dtype=np.int64)])
    return {f"{name}_bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
            f"{name}_offsets": offsets.astype(np.int64)}


def unpacked_strings(arrays: Arrays, name: str = "token") -> list[str]:
    """The strings that `packed_strings` laid out. Raises ValueError for what it did not write."""
    for part in ("bytes", "offsets"):
        if f"{name}_{part}" not in arrays:
            raise ValueError(f"the array '{name}_{part}' is missing")
    data, offsets = arrays[f"{name}_bytes"], arrays[f"{name}_offsets"]
    sound = data.ndim == offsets.ndim == 1 and data.dtype == np.uint8 and offsets.dtype == np.int64
    if not sound or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data) \
            or (np.diff(offsets) < 0).any():
        raise ValueError(f"{name}_offsets do not cut {name}_bytes into strings")
    whole, bounds = data.tobytes(), offsets.tolist()
    try:
        return [whole[a:b].decode() for a, b in itertools.pairwise(bounds)]
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}_bytes are no UTF-8: {error}") from None
