"""Vectors in a half or a quarter of the space, to be handed on with a project: one safetensors file
of numbers and words, and a card in JSON beside it.

float16 keeps three digits, which no cosine of this course can tell from the original; 8 bits and a
scale for each row keep two, and cosines move in their third. The card says how the vectors were
made and holds the checksums of the file and its arrays, so that one flipped bit is noticed.
The course's own vectors are kept so; used from lesson ``04_word2vec`` on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core import (DamagedFile, atomic_open, checked_path, existing_path, read_json, shown,
                    write_json)
from ..core.eight_bits import quantized
from ..core.files import check_file, file_sums
from .word_vectors import WordVectors

__all__ = ["card_path", "read_card", "read_compact", "write_compact"]

FORMAT = {16: 1, 8: 2}                      # the format that brought numbers of so many bits
STORED = {1: np.float16, 2: np.int8}        # what a file of each format holds
LARGEST = float(np.finfo(np.float16).max)


def card_path(path: str | os.PathLike) -> Path:
    """Where the card of a file of vectors lies: beside it, ending in ``.json``."""
    return checked_path(path).with_suffix(".json")


def write_compact(vectors: WordVectors, path: str | os.PathLike,
                  card: Mapping[str, Any] | None = None, *, bits: int = 16) -> None:
    """Write words and small numbers, then the card.

    Parameters
    ----------
    vectors : WordVectors
    path : str or path, ending in ``.safetensors``
    card : mapping for JSON, optional
        How they were made; name, sizes and checksum are added.
    bits : 16 or 8, default 16
        Of a number: float16, or integers with a scale for each row.

    Raises
    ------
    ValueError
        Another ending, a word with a line end, other bits, a number beyond float16's 65 504.
    OSError
    """
    from safetensors.numpy import save

    path = checked_path(path)
    if bits not in FORMAT:
        raise ValueError(f"bits={shown(bits)}; expected 16 (float16) or 8 (integers and a scale "
                         "for each row)")
    if path.suffix != ".safetensors":
        raise ValueError(f"path={shown(str(path))} ends in {path.suffix!r}; expected .safetensors: "
                         "readers tell the format by it")
    broken = next((token for token in vectors.tokens if "\n" in token), None)
    largest = float(np.abs(vectors.matrix).max(initial=0.0))
    if broken is not None or (largest > LARGEST and bits == 16):
        what = (f"the word {shown(broken)} has a line end"
                if broken is not None
                else f"matrix reaches {largest:g}, float16 ends at {LARGEST:g}")
        raise ValueError(f"vectors cannot be written in this format: {what}. "
                         "WordVectors.save(path) keeps any words and numbers")
    words = np.frombuffer("".join(f"{token}\n" for token in vectors.tokens).encode(),
                          dtype=np.uint8)
    if bits == 8:
        matrix, scale = quantized(vectors.matrix)
        arrays = {"matrix": matrix, "scale": scale, "tokens": words}
    else:
        arrays = {"matrix": vectors.matrix.astype(np.float16), "tokens": words}
    with atomic_open(path, "wb") as file:
        file.write(save(arrays))
    about = {
        "format": FORMAT[bits], "name": vectors.name, "words": len(vectors), "dim": vectors.dim,
        "dtype": str(arrays["matrix"].dtype)
    }
    write_json(card_path(path), dict(card or {}) | about | file_sums(path))


def read_card(path: str | os.PathLike) -> dict[str, Any]:
    """The card of vectors that `write_compact` wrote.

    Parameters
    ----------
    path : str or path
        Of the card.

    Returns
    -------
    dict

    Raises
    ------
    FileNotFoundError, DamagedFile
    ValueError
        A newer format.
    """
    card = read_json(path)
    kinds = {"format": int, "name": str, "words": int, "dim": int, "bytes": int, "sha256": str}
    if not isinstance(card, dict) or not all(
            isinstance(card.get(name), kind) for name, kind in kinds.items()):
        raise DamagedFile(f"{path} is no card of word vectors; expected JSON with "
                          f"{', '.join(kinds)}. Get it again")
    if card["format"] > max(STORED):
        raise ValueError(f"{path} has format {card['format']}, this version reads up to "
                         f"{max(STORED)}; upgrade the course")
    return card


def read_compact(path: str | os.PathLike, *, card: str | os.PathLike | None = None,
                 verify: bool = True) -> WordVectors:
    """Read what `write_compact` wrote; the numbers become float32.

    Parameters
    ----------
    path : str or path
        Of the safetensors file.
    card : str or path, optional
        Where the card does not lie beside.
    verify : bool, default True
        Compare every number with the checksums it was written with (about 0.5 s per GB).

    Returns
    -------
    WordVectors

    Raises
    ------
    FileNotFoundError
        Either file.
    DamagedFile
        Cut, changed, another file, no card.
    ValueError
        A newer format.
    """
    file = existing_path(path)
    about = read_card(card_path(file) if card is None else card)
    check_file(file, about, remedy="Get it again", verify=verify)
    return _checked(file, about)


def _checked(file: Path, about: dict[str, Any]) -> WordVectors:
    """The vectors of a file that is the one its card describes."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(file)
        matrix, words = arrays["matrix"], arrays["tokens"].astype(np.uint8, casting="no")
        tokens = words.tobytes().decode().split("\n")[:-1]
        kind = STORED[about["format"]]
        if matrix.shape != (about["words"], about["dim"]) or matrix.dtype != kind:
            raise ValueError(f"matrix has shape {matrix.shape} of {matrix.dtype}, the card says "
                             f"({about['words']}, {about['dim']}) of {kind.__name__}")
        if kind is np.int8:
            matrix = matrix * arrays["scale"].astype(np.float32, casting="no").reshape(-1, 1)
        return WordVectors(tokens, matrix, name=about["name"])
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{file} does not hold the vectors of its card: {error}. Get it "
                          "again") from error
