"""Saved models and other sets of files: a card in JSON, and data files that it names with their
sha256; nothing in it can run code.

Data files get a new name at each save; the card is renamed into place last and is the moment at
which the new version counts. A process killed before leaves the old version whole, one killed after
leaves the new one. The card carries its own checksum, so that one flipped bit anywhere is noticed.
Used by every estimator's ``save`` and ``load`` and by `text.Corpus`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import DamagedFile
from .files import (atomic_open, check_same, existing_path, process_lives, read_json, sha256,
                    write_json)

__all__ = ["load_files", "load_model", "save_files", "save_model"]

FORMAT = 1
CARD = "model.json"


def _checksum(card: dict[str, Any]) -> str:
    plain = {key: value for key, value in card.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True,
                                     ensure_ascii=False).encode()).hexdigest()


def save_files(path: str | os.PathLike, kind: str,
               writers: Mapping[str, Callable[[IO[bytes]], object]],
               content: dict[str, Any]) -> None:
    """Write a folder of files that change together.

    Parameters
    ----------
    path : str or path
    kind : str
        What the folder holds.
    writers : mapping from file name to function
        Writes into the open file it is given; such as ``"tensors.safetensors"``.
    content : dict for JSON
        Kept in the card.

    Raises
    ------
    OSError
        The folder cannot be written; an older version there stays whole.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file; a saved {kind} is a folder. Choose another "
                              "name, or remove the file")
    files: dict[str, dict[str, Any]] = {}
    try:
        for name, write in writers.items():
            files[name] = _write_one(folder, name, write)
        card = json.loads(json.dumps({"format": FORMAT, "kind": kind, "files": files} | content))
        write_json(folder / CARD, card | {"checksum": _checksum(card)})
    except BaseException:
        former = _named_by_card(folder)
        for entry in files.values():             # data without a card would lie there for ever
            if entry["file"] not in former:
                (folder / entry["file"]).unlink(missing_ok=True)
        raise
    _remove_former(folder, {entry["file"] for entry in files.values()})


def _write_one(folder: Path, name: str, write: Callable[[IO[bytes]], object]) -> dict[str, Any]:
    stem, suffix = name.rsplit(".", 1)
    draft = folder / f"{stem}-draft-{os.getpid()}.{suffix}"
    with atomic_open(draft, "wb") as file:
        write(file)
    digest = sha256(draft)
    final = draft.with_name(f"{stem}-{digest[:12]}-{os.getpid()}.{suffix}")
    os.replace(draft, final)
    return {"file": final.name, "sha256": digest, "bytes": final.stat().st_size}


def _named_by_card(folder: Path) -> set[str]:
    """Data files that the card in the folder names; none when there is no readable card."""
    try:
        return {entry["file"] for entry in read_json(folder / CARD)["files"].values()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return set()


def _remove_former(folder: Path, current: set[str]) -> None:
    """Remove the data files of former versions, and those of writers that died; another living
    writer's stay."""
    for file in folder.iterdir():
        ours = re.fullmatch(r"[\w.]+-(?:[0-9a-f]{12}|draft)-(\d+)\.\w+", file.name)
        if ours and file.name not in current and (int(ours[1]) == os.getpid()
                                                  or not process_lives(int(ours[1]))):
            file.unlink(missing_ok=True)


def load_files(path: str | os.PathLike, kind: str) -> tuple[dict[str, Any], dict[str, Path]]:
    """Read the card of a folder and check every file it names.

    Parameters
    ----------
    path : str or path
    kind : str
        As in `save_files`.

    Returns
    -------
    card, files : dict, dict from plain name to path

    Raises
    ------
    FileNotFoundError
    DamagedFile
        A file missing, cut or changed; another kind, and both are named.
    ValueError
        A newer format.
    """
    folder = existing_path(path)
    if not (folder / CARD).is_file():
        raise DamagedFile(f"{folder} is not a saved {kind}: {CARD} is missing. Save it again with "
                          "save(path)")
    card = read_json(folder / CARD)
    if not isinstance(card, dict) or card.get("checksum") != _checksum(card):
        raise DamagedFile(f"{folder / CARD} was changed or damaged: its checksum does not match. "
                          "Save it again")
    if card["format"] > FORMAT:
        raise ValueError(f"{folder} has format {card['format']}, this version reads up to "
                         f"{FORMAT}; upgrade the course")
    if card["kind"] != kind:
        raise DamagedFile(f"{folder} holds a {card['kind']}, not a {kind}; load it with "
                          f"{card['kind']}.load")
    return card, {name: _checked_file(folder, entry) for name, entry in card["files"].items()}


def _checked_file(folder: Path, entry: dict[str, Any]) -> Path:
    file = folder / entry["file"]
    if not file.is_file():
        raise DamagedFile(f"{folder} is incomplete: {entry['file']} is missing. Save it again")
    check_same(file, entry["bytes"], entry["sha256"], remedy="Save it again")
    return file


def save_model(path: str | os.PathLike, kind: str, *, settings: dict[str, Any],
               arrays: dict[str, np.ndarray], extra: dict[str, Any] | None = None) -> None:
    """Write a model folder: settings as JSON, learned numbers as safetensors.

    Parameters
    ----------
    path : str or path
    kind : str
        The class name.
    settings : dict for JSON
        What ``__init__`` got.
    arrays : dict of arrays of any shape
    extra : dict for JSON, optional
        Such as a vocabulary.

    Raises
    ------
    OSError
        The folder cannot be written; an older model there stays whole.
    """
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    save_files(path, kind, {"tensors.safetensors": lambda file: file.write(save(tensors))},
               {"settings": settings, "extra": extra or {}})


def load_model(path: str | os.PathLike,
               kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """Read a model folder.

    Parameters
    ----------
    path : str or path
    kind : str
        The class name.

    Returns
    -------
    settings, arrays, extra : dict, dict, dict

    Raises
    ------
    FileNotFoundError, DamagedFile, ValueError
        As `load_files`.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    card, files = load_files(path, kind)
    try:
        return card["settings"], load_file(files["tensors.safetensors"]), card["extra"]
    except (SafetensorError, KeyError) as error:
        raise DamagedFile(f"{path} does not hold the tensors of a {kind}: {error}. Save it "
                          "again") from error
