"""Files of this room's methods: one folder holds the settings, the word vectors they were fitted
on, and what was learned from texts.

The word vectors travel along, so that a loaded method needs nothing else; nothing in the folder can
run code. Used by every method of ``sentences``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import DamagedFile, load_model, save_model, shown
from ..text import Tokenizer
from ..text.string_table import Strings
from ..vectors import WordVectors
from .averaging import Averaging
from .frequencies import Frequencies

__all__ = ["load_sentences", "loaded_numbers", "plain_tokenizer", "save_sentences"]


def plain_tokenizer(tokenizer: Any) -> dict[str, Any] | None:
    """The settings of a `text.Tokenizer` as JSON, None for none.

    Raises TypeError for a tokenizer that is a function of the caller's.
    """
    if tokenizer is not None and type(tokenizer) is not Tokenizer:
        raise TypeError(f"tokenizer={shown(tokenizer)} is a {type(tokenizer).__name__}, which "
                        "cannot be saved; use a text.Tokenizer with a pattern")
    return None if tokenizer is None else tokenizer.get_params()


def save_sentences(path: str | os.PathLike, method: Any, averaging: Averaging,
                   arrays: Mapping[str, np.ndarray], *, settings: Mapping[str, Any],
                   frequencies: Frequencies | None = None) -> None:
    """Save a method of this room: the settings it was fitted with, its word vectors, frequencies
    that were given to it, and further arrays.

    Raises TypeError for a tokenizer that is a function of the caller's, OSError when the folder
    cannot be written.
    """
    tokenizer = plain_tokenizer(settings["tokenizer"])
    # words that were added after the fit stay out
    vectors, tokens = averaging.vectors, averaging.index.tokens
    strings = Strings.of(tokens)
    packed = {
        "matrix": vectors.matrix[:len(tokens)], "token_bytes": strings.arena,
        "token_offsets": strings.offsets
    }
    if frequencies is not None:
        words = Strings.of(frequencies.words)
        packed |= {
            "counted_bytes": words.arena, "counted_offsets": words.offsets,
            "counts": frequencies.counts
        }
    plain = ({
        name: value
        for name, value in settings.items()
        if name not in ("vectors", "tokenizer", "counts")
    })
    extra = {"tokenizer": tokenizer, "vectors": vectors.name, "name": method.name}
    save_model(path,
               type(method).__name__, settings=plain, arrays=packed | dict(arrays), extra=extra)


def load_sentences(path: str | os.PathLike, kind: type) -> tuple[Any, dict[str, np.ndarray]]:
    """Read what `save_sentences` wrote.

    Returns the method with its settings and word vectors, and further arrays. Raises as
    `core.load_model`.
    """
    settings, arrays, extra = load_model(path, kind.__name__)
    try:
        strings = Strings.checked(arrays.pop("token_bytes"), arrays.pop("token_offsets"),
                                  name="token_offsets")
        vectors = WordVectors(strings.to_list(), arrays.pop("matrix"), name=extra["vectors"])
        tokenizer = None if extra["tokenizer"] is None else Tokenizer(**extra["tokenizer"])
        if "counts" in arrays:
            words = Strings.checked(arrays.pop("counted_bytes"), arrays.pop("counted_offsets"),
                                    name="counted_offsets")
            settings["counts"] = dict(
                zip(words.to_list(),
                    arrays.pop("counts").tolist(), strict=True))
        method = kind(vectors, tokenizer=tokenizer, **settings)
        method.name = extra["name"]
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{path} is a {kind.__name__} that this version cannot read ({error}). "
                          "Save it again") from error
    return method, arrays


def loaded_numbers(path: str | os.PathLike, arrays: Mapping[str, np.ndarray], name: str, *,
                   shape: tuple[int | None, ...]) -> np.ndarray:
    """An array of finite floats of a loaded method; None in ``shape`` is any size.

    Raises DamagedFile with the folder and the array.
    """
    array = arrays.get(name)
    if array is None:
        raise DamagedFile(f"{path} lacks the array {name!r}. Save the model again")
    fits = (array.ndim == len(shape)
            and all(want in (None, size) for want, size in zip(shape, array.shape, strict=False)))
    if not fits or array.dtype.kind != "f" or not np.isfinite(array).all():
        raise DamagedFile(f"{path}: the array {name!r} has shape {array.shape} and dtype "
                          f"{array.dtype}, or holds NaN or infinity; expected "
                          f"{shape} of finite floats. Save the model again")
    return array
