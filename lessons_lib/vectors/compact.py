"""Vectors in half the space, to be handed on with a project: one safetensors file of float16
numbers and words, and a card in JSON beside it.

float16 keeps three digits, which no cosine of this course can tell from the original. The card says
how the vectors were made and holds the checksum of the file, so that one flipped bit is noticed.
The course's own vectors are kept so; used from lesson ``04_word2vec`` on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core import DamagedFile, atomic_open, existing_path, read_json, sha256, shown, write_json
from ..core.files import check_same
from .word_vectors import WordVectors

__all__ = ["card_path", "read_card", "read_compact", "write_compact"]

FORMAT = 1
LARGEST = float(np.finfo(np.float16).max)


def card_path(path: str | os.PathLike) -> Path:
    """Where the card of a file of vectors lies: beside it, ending in ``.json``."""
    return Path(path).with_suffix(".json")


def write_compact(vectors: WordVectors, path: str | os.PathLike,
                  card: Mapping[str, Any] | None = None) -> None:
    """Write words and float16 numbers, then the card.

    Parameters
    ----------
    vectors : WordVectors
    path : str or path, ending in ``.safetensors``
    card : mapping for JSON, optional
        How they were made; name, sizes and checksum are added.

    Raises
    ------
    ValueError
        Another ending, a word with a line end, a number beyond float16's 65 504.
    OSError
    """
    from safetensors.numpy import save

    path = Path(path)
    if path.suffix != ".safetensors":
        raise ValueError(f"path={shown(str(path))} ends in {path.suffix!r}; expected .safetensors: "
                         "readers tell the format by it")
    broken = next((token for token in vectors.tokens if "\n" in token), None)
    largest = float(np.abs(vectors.matrix).max(initial=0.0))
    if broken is not None or largest > LARGEST:
        what = (f"the word {shown(broken)} has a line end"
                if broken is not None
                else f"matrix reaches {largest:g}, float16 ends at {LARGEST:g}")
        raise ValueError(f"vectors cannot be written in this format: {what}. "
                         "WordVectors.save(path) keeps any words and numbers")
    words = np.frombuffer("".join(f"{token}\n" for token in vectors.tokens).encode(),
                          dtype=np.uint8)
    with atomic_open(path, "wb") as file:
        file.write(save({"matrix": vectors.matrix.astype(np.float16), "tokens": words}))
    about = {
        "format": FORMAT, "name": vectors.name, "words": len(vectors), "dim": vectors.dim,
        "dtype": "float16", "bytes": path.stat().st_size, "sha256": sha256(path)
    }
    write_json(card_path(path), dict(card or {}) | about)


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
    if card["format"] > FORMAT:
        raise ValueError(f"{path} has format {card['format']}, this version reads up to {FORMAT}; "
                         "upgrade the course")
    return card


def read_compact(path: str | os.PathLike, *, card: str | os.PathLike | None = None) -> WordVectors:
    """Read what `write_compact` wrote; the numbers become float32.

    Parameters
    ----------
    path : str or path
        Of the safetensors file.
    card : str or path, optional
        Where the card does not lie beside.

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
    check_same(file, about["bytes"], about["sha256"], remedy="Get it again")
    return _checked(file, about)


def _checked(file: Path, about: dict[str, Any]) -> WordVectors:
    """The vectors of a file that is the one its card describes."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(file)
        matrix, words = arrays["matrix"], arrays["tokens"].astype(np.uint8, casting="no")
        tokens = words.tobytes().decode().split("\n")[:-1]
        if matrix.shape != (about["words"], about["dim"]) or matrix.dtype != np.float16:
            raise ValueError(f"matrix has shape {matrix.shape} of {matrix.dtype}, the card says "
                             f"({about['words']}, {about['dim']}) of float16")
        return WordVectors(tokens, matrix, name=about["name"])
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{file} does not hold the vectors of its card: {error}. Get it "
                          "again") from error
