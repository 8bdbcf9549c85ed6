"""What makes a counting method an `Encoder`: dense float32 vectors from its sparse matrix, and
files that keep its vocabulary.

A dense matrix of counts is mostly zeros and may not fit into memory; then the error says so before
anything is read. Used by every estimator of ``counts``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..core import DamagedFile, check_int, load_model, save_model, track
from ..text.string_table import Strings
from .settings import check_bag_settings

__all__ = ["dense_vectors", "load_counts", "loaded_array", "loaded_bag", "save_counts"]


def dense_vectors(transform: Callable[[Sequence[str]], sparse.csr_matrix], texts: Iterable[str], *,
                  dim: int, batch_size: int, progress: bool) -> np.ndarray:
    """Transform texts and fill a dense matrix, ``batch_size`` rows at a time. Returns (n, dim)
    float32.

    Raises MemoryError with the bytes needed and free when the result cannot fit, ValueError for a
    batch size below 1.
    """
    import psutil

    check_int("batch_size", batch_size)
    rows = transform(texts)
    needed, free = rows.shape[0] * dim * 4, psutil.virtual_memory().available
    if needed > free:
        raise MemoryError(f"{rows.shape[0]:,} dense vectors of {dim:,} numbers need {needed:,} "
                          f"bytes, {free:,} are free. Use transform (sparse), "
                          "encode fewer texts at once, or lower max_features")
    vectors = np.zeros((rows.shape[0], dim), dtype=np.float32)
    batches = range(0, rows.shape[0], batch_size)
    for first in track(batches, total=len(batches), label="encode", show=progress):
        part = rows[first : first + batch_size]
        row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        vectors[first + row, part.indices] = part.data
    return vectors


def loaded_array(path: str | os.PathLike, arrays: Mapping[str, np.ndarray], name: str, *,
                 shape: tuple[int, ...], kind: str = "f") -> np.ndarray:
    """An array of a loaded model.

    ``kind``: "f" for finite floats, "i" for whole numbers. Raises DamagedFile with file and array.
    """
    if name not in arrays:
        raise DamagedFile(f"{path} lacks the array {name!r}. Save the model again")
    array = arrays[name]
    if array.shape != shape or array.dtype.kind != kind:
        raise DamagedFile(f"{path}: array {name!r} has shape {array.shape} and dtype "
                          f"{array.dtype}; expected {shape} of "
                          f"{'floats' if kind == 'f' else 'whole numbers'}. Save the model again")
    if kind == "f" and not np.isfinite(array).all():
        raise DamagedFile(f"{path}: array {name!r} holds NaN or infinity. Save the model again")
    return array


def loaded_bag(path: str | os.PathLike, estimator: Any, vocabulary: dict[str, int]) -> Any:
    """The fitted bag of words inside a loaded method.

    Raises DamagedFile for settings that the method refuses.
    """
    try:
        bag = estimator._bag()
    except (TypeError, ValueError) as error:
        raise DamagedFile(f"{path} holds a setting that is not allowed: {error}. Save the model "
                          "again") from error
    bag._learned(vocabulary)
    return bag


def _plain(value: Any) -> Any:
    """A setting as JSON has it: sets sorted, other collections as lists."""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, (tuple, list)) or hasattr(value, "__array__"):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def save_counts(path: str | os.PathLike, estimator: Any, vocabulary: Mapping[str, int],
                arrays: Mapping[str, np.ndarray], extra: Mapping[str, Any] | None = None) -> None:
    """Save a fitted counting method: settings as JSON, the tokens in column order as UTF-8 bytes,
    learned numbers beside them.
    """
    params = estimator._fitted_settings
    settings = {name: _plain(value) for name, value in params.items() if name != "vocabulary"}
    strings = Strings.of(sorted(vocabulary, key=vocabulary.__getitem__))
    packed = {"token_bytes": strings.arena, "token_offsets": strings.offsets}
    fixed = params["vocabulary"] is not None
    save_model(path,
               type(estimator).__name__, settings=settings, arrays=packed | dict(arrays),
               extra={"vocabulary_given": fixed} | dict(extra or {}))


def load_counts(path: str | os.PathLike,
                kind: type) -> tuple[Any, dict[str, int], dict[str, np.ndarray], dict[str, Any]]:
    """Read what `save_counts` wrote. Returns an estimator with its settings, the vocabulary, the
    learned arrays, extra.

    Raises as `core.load_model`; DamagedFile also for settings or tokens that this version cannot
    use.
    """
    settings, arrays, extra = load_model(path, kind.__name__)
    try:
        strings = Strings.checked(arrays.pop("token_bytes"), arrays.pop("token_offsets"),
                                  name="token_offsets")
        vocabulary = {token: column for column, token in enumerate(strings.to_list())}
        if len(vocabulary) < len(strings):
            raise ValueError("token_bytes holds a token twice")
        if "ngram_range" in settings:
            settings["ngram_range"] = tuple(settings["ngram_range"])
        estimator = kind(**settings,
                         vocabulary=dict(vocabulary) if extra["vocabulary_given"] else None)
        check_bag_settings({"ngram_range": (1, 1), "analyzer": "word", "binary": False}
                           | estimator.get_params())
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise DamagedFile(f"{path} is a {kind.__name__} that this version cannot read ({error}). "
                          "Save the model again") from error
    return estimator, vocabulary, arrays, extra
