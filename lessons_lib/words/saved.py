"""Word vectors from wherever they lie: a file in any format this library writes or reads, or the
folder of a saved method.

What a file is, is seen from its bytes, a folder from its card. Used by ``lessons evaluate``; lesson
``04_word2vec`` shows the formats one by one.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from ..core import DamagedFile, existing_path, read_json, shown
from ..vectors import WordVectors, read_binary, read_compact, read_text

__all__ = ["METHODS", "load_method", "load_vectors"]

# the kinds of saved folders, and their modules
METHODS = {"Word2Vec": "word2vec", "GloVe": "glove", "FastText": "fasttext"}
_NUMERIC = frozenset(b"0123456789+-.eE \r")


def load_method(path: str | os.PathLike, *, verify: bool = True) -> Any:
    """Read the folder of a saved `Word2Vec`, `GloVe` or `FastText`, whichever it is.

    Parameters
    ----------
    path : str or path
    verify : bool, default True
        Compare every number with the checksums it was saved with (about 0.5 s per GB).

    Returns
    -------
    Word2Vec, GloVe or FastText

    Raises
    ------
    FileNotFoundError
    DamagedFile
        No saved method, damaged, another kind.
    ValueError
        A newer format.
    """
    kind = _kind(existing_path(path))
    if kind not in METHODS:
        raise DamagedFile(f"{path} holds a {shown(kind)}; expected one of {', '.join(METHODS)}")
    method = getattr(importlib.import_module(f"{__package__}.{METHODS[kind]}"), kind)
    return method.load(path, verify=verify)


def load_vectors(path: str | os.PathLike, *, verify: bool = True) -> WordVectors:
    """Read word vectors: the folder of saved `WordVectors` or of a method that learned them, or a
    file.

    Parameters
    ----------
    path : str or path
        Files: safetensors with a card (`write_compact`), word2vec binary, or text of word2vec,
        fastText or GloVe.
    verify : bool, default True
        Compare every number with the checksums it was saved with; text and binary have none.

    Returns
    -------
    WordVectors

    Raises
    ------
    FileNotFoundError, DamagedFile, ValueError
        As their readers do.
    """
    place = existing_path(path)
    if place.is_dir():
        if _kind(place) == "WordVectors":
            return WordVectors.load(place, verify=verify)
        return load_method(place, verify=verify).vectors_
    if place.suffix == ".safetensors":
        return read_compact(place, verify=verify)
    return read_binary(place) if place.is_file() and _is_binary(place) else read_text(place)


def _kind(folder: Path) -> str:
    """What the card of a folder says it holds; "" where there is no card of a saved model."""
    if not (folder / "model.json").is_file():
        raise DamagedFile(f"{folder} holds no saved model: model.json is missing. Save it again "
                          "with save(path)")
    card = read_json(folder / "model.json")
    return str(card.get("kind", "")) if isinstance(card, dict) else ""


def _is_binary(file: Path) -> bool:
    """Whether a file goes on in word2vec's binary format after its line of rows and columns: the
    first word is followed by no digits."""
    with open(file, "rb") as opened:
        first = opened.readline(100).split()
        row = opened.read(100_000)
    if len(first) != 2 or not all(part.isdigit() for part in first):
        return False
    numbers = row[row.find(b" ") + 1 :][: min(40, 4 * int(first[1]))].split(b"\n")[0]
    return b" " in row and not (numbers and _NUMERIC.issuperset(numbers))
