"""Saved models and other sets of files: a card in JSON, and data files that it names with their
checksums, of each array too; nothing in it can run code.

Data files get a new name at each save; the card is renamed into place last and is the moment at
which the new version counts. A process killed before leaves the old version whole, one killed after
leaves the new one. The card carries its own checksum, so that one flipped bit anywhere is noticed.
Used by every estimator's ``save`` and ``load`` and by `text.Corpus`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import DamagedFile
from .files import (atomic_open, check_file, checked_path, existing_path, file_sums, process_lives,
                    read_json, write_json, writing)
from .memory import check_memory

__all__ = ["load_files", "load_model", "save_files", "save_model"]

FORMAT = 1
CARD = "model.json"
WRITTEN = re.compile(r"[\w.]+-(?:[0-9a-f]{12}|draft)-(\d+)\.\w+")      # names of data files


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
    TypeError, ValueError
        ``path`` is none.
    """
    folder = checked_path(path)
    with writing(folder):
        is_file = folder.exists() and not folder.is_dir()
    if is_file:
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
                with contextlib.suppress(OSError):           # the disk turned read-only
                    (folder / entry["file"]).unlink(missing_ok=True)
        raise
    _remove_former(folder, {entry["file"] for entry in files.values()})


def _write_one(folder: Path, name: str, write: Callable[[IO[bytes]], object]) -> dict[str, Any]:
    stem, suffix = name.rsplit(".", 1)
    draft = folder / f"{stem}-draft-{os.getpid()}.{suffix}"
    with atomic_open(draft, "wb") as file:
        write(file)
    sums = file_sums(draft)
    final = draft.with_name(f"{stem}-{sums['sha256'][:12]}-{os.getpid()}.{suffix}")
    os.replace(draft, final)
    return {"file": final.name} | sums


def _named_by_card(folder: Path) -> set[str]:
    """Data files that the card names now; none when there is no readable card."""
    try:
        return {entry["file"] for entry in read_json(folder / CARD)["files"].values()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return set()


def _remove_former(folder: Path, current: set[str]) -> None:
    """Remove the data files of former versions, and those of writers that died; another living
    writer's stay, and what the card names: a writer may have put its own there meanwhile."""
    ended = []
    for file in folder.iterdir():
        ours = WRITTEN.fullmatch(file.name)
        if ours and file.name not in current and (int(ours[1]) == os.getpid()
                                                  or not process_lives(int(ours[1]))):
            ended.append(file)
    if ended:                                    # read now: who has ended writes no card any more
        named = _named_by_card(folder)
        for file in ended:
            if file.name not in named:
                with contextlib.suppress(OSError):   # read by another; the next save removes it
                    file.unlink()


def nothing_saved(folder: Path) -> bool:
    """Whether a folder is empty, or not there, or holds only what a first save that was killed left
    behind."""
    return not folder.exists() or (folder.is_dir() and all(
        file.name.startswith(".tmp-") or WRITTEN.fullmatch(file.name) for file in folder.iterdir()))


def load_files(path: str | os.PathLike, kind: str, *,
               verify: bool = True) -> tuple[dict[str, Any], dict[str, Path]]:
    """Read the card of a folder and check every file it names.

    Parameters
    ----------
    path : str or path
    kind : str
        As in `save_files`.
    verify : bool, default True
        Compare every byte with the checksums of the card (about 0.5 s per GB); False trusts that
        nobody changed the files, and looks at their sizes only.

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
    card = _checked_card(folder, kind, verify)
    while True:
        try:
            return card, {name: _checked_file(folder, entry, verify)
                          for name, entry in card["files"].items()}
        except (DamagedFile, FileNotFoundError):
            former, card = card, _checked_card(folder, kind, verify)
            if card == former:                   # else another process has saved meanwhile
                raise


def _checked_card(folder: Path, kind: str, verify: bool) -> dict[str, Any]:
    """The card, whole, of this kind and a format that is known."""
    card = read_json(folder / CARD)
    if not isinstance(card, dict) or (verify and card.get("checksum") != _checksum(card)):
        raise DamagedFile(f"{folder / CARD} was changed or damaged: its checksum does not match. "
                          "Save it again")
    version = card.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise ValueError(f"{folder} has format {version}, this version reads up to {FORMAT}; "
                         "upgrade the course")
    files = card.get("files")
    sound = isinstance(version, int) and isinstance(card.get("kind"), str) and isinstance(
        files, dict) and all(map(_is_entry, files.values()))
    if not sound:
        raise DamagedFile(f"{folder / CARD} is no card that a save wrote: format, kind and files "
                          "(each with file, sha256 and bytes) are expected. Save it again")
    if card["kind"] != kind:
        raise DamagedFile(f"{folder} holds a {card['kind']}, not a {kind}; load it with "
                          f"{card['kind']}.load")
    return card


def _is_entry(entry: Any) -> bool:
    """Whether a card's entry is of a file in its own folder."""
    return isinstance(entry, dict) and all(
        isinstance(entry.get(key), of) for key, of in (("file", str), ("sha256", str),
                                                       ("bytes", int))
    ) and re.fullmatch(r"[\w.-]+", entry["file"]) is not None and entry["file"] != ".."


def _checked_file(folder: Path, entry: dict[str, Any], verify: bool) -> Path:
    file = folder / entry["file"]
    if not file.is_file():
        raise DamagedFile(f"{folder} is incomplete: {entry['file']} is missing. Save it again")
    check_file(file, entry, remedy="Save it again", verify=verify)
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


def load_model(path: str | os.PathLike, kind: str, *, verify: bool = True
               ) -> tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]:
    """Read a model folder.

    Parameters
    ----------
    path : str or path
    kind : str
        The class name.
    verify : bool, default True
        As in `load_files`.

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

    while True:
        card, files = load_files(path, kind, verify=verify)
        try:
            check_memory(f"the arrays of the {kind} in {path}",
                         sum(file.stat().st_size for file in files.values()),
                         "Close what else is open")
            return card["settings"], load_file(files["tensors.safetensors"]), card["extra"]
        except FileNotFoundError:
            if _checked_card(existing_path(path), kind, verify) == card:
                raise                            # else another process has saved meanwhile
        except (SafetensorError, KeyError, TypeError) as error:   # no bfloat16 here
            raise DamagedFile(f"{path} does not hold the tensors of a {kind}: {error}. Save it "
                              "again") from error
