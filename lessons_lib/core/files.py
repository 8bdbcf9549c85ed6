"""Files that are whole or absent: written beside their place, synced, then renamed.

A reader sees the old content or the new, never a half. Sets of files that are overwritten (a model,
a corpus) are `core.store`'s. Temporary names begin with ``.tmp-`` and hold the writer's process id,
so that the next writer removes what a killed one left.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil

from .errors import DamagedFile

__all__ = [
    "atomic_folder", "atomic_open", "check_same", "existing_path", "fingerprint", "process_lives",
    "read_json", "sha256", "write_json", "write_text"
]


def sha256(path: Path, *, block: int = 1 << 20) -> str:
    """Hex digest of a file's bytes.

    Parameters
    ----------
    path : path
    block : int, default 1 MiB
        Bytes read at a time.

    Returns
    -------
    str
    """
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(block):
            digest.update(chunk)
    return digest.hexdigest()


def fingerprint(offsets: np.ndarray, *numbers: np.ndarray) -> str:
    """The sha256 of documents in order, by which a method that goes on knows its data again.

    Parameters
    ----------
    offsets : int array
        Where documents begin and end.
    *numbers : int32 arrays along them

    Returns
    -------
    str
    """
    digest = hashlib.sha256()
    for array, kind in ((offsets, np.int64), *((array, np.int32) for array in numbers)):
        digest.update(np.ascontiguousarray(array, dtype=kind).data)
    return digest.hexdigest()


def existing_path(path: str | os.PathLike) -> Path:
    """The absolute path.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    path

    Raises
    ------
    FileNotFoundError
        Names the nearest existing one.
    """
    from .checks import nearest_name

    absolute = Path(path).expanduser().resolve()
    if absolute.exists():
        return absolute
    parent = absolute.parent
    while not parent.exists():
        parent = parent.parent
    beside = [p.name for p in parent.iterdir()] if parent == absolute.parent else []
    near = nearest_name(absolute.name, beside)
    hint = f"nearest name: {parent / near}" if near else f"the folder that exists: {parent}"
    raise FileNotFoundError(f"{absolute} does not exist; {hint}")


def check_same(file: Path, size: int, digest: str, *, remedy: str) -> None:
    """Raise DamagedFile for a file of another size or sha256 than was noted of it."""
    there = file.stat().st_size if file.is_file() else 0
    if there != size:
        raise DamagedFile(f"{file} was cut or extended: {there:,} bytes found, {size:,} expected. "
                          f"{remedy}")
    if (result := sha256(file)) != digest:
        raise DamagedFile(f"{file} was changed or damaged: checksum {result[:12]}…, expected "
                          f"{digest[:12]}…. {remedy}")


def process_lives(pid: int) -> bool:
    """Whether a process with this id runs on this machine."""
    return psutil.pid_exists(pid)


def _sweep(folder: Path) -> None:
    """Remove temporary entries of processes that are gone."""
    for entry in folder.glob(".tmp-*"):
        pid = entry.name.split("-")[1]
        if not (pid.isdigit() and process_lives(int(pid))):
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path.parent)
    return path.parent / f".tmp-{os.getpid()}-{uuid.uuid4().hex[:8]}-{path.name[:80]}"


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # Windows cannot open a folder; its rename is journaled
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _explained(error: OSError, path: Path) -> OSError:
    existing = next(folder for folder in (path.parent, *path.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    return type(error)(error.errno, f"cannot write {path}: {error.strerror}; {free:,} bytes are "
                                    "free there. Nothing was changed. "
                       "LESSONS_OUTPUT and LESSONS_CACHE move the folders")


@contextlib.contextmanager
def atomic_open(path: str | os.PathLike, mode: str = "w", **options: Any) -> Iterator[IO]:
    """Open a file for writing that appears only when the block ends without an error.

    Parameters
    ----------
    path : str or path
    mode : "w" (UTF-8, ``\\n`` line ends) or "wb"
    **options
        Of ``open``.

    Returns
    -------
    context of a file

    Raises
    ------
    OSError
        With path, free bytes and the variable that moves the folder; an older file stays.
    """
    target = Path(path)
    if mode == "w":
        options = {"encoding": "utf-8", "newline": "\n"} | options
    temporary = None
    try:
        temporary = _temporary(target)
        with open(temporary, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        ours = isinstance(error, OSError) and error.errno is not None and (
            temporary is None or error.filename in (None, str(temporary)))
        if ours:
            raise _explained(error, target) from error
        raise


@contextlib.contextmanager
def atomic_folder(path: str | os.PathLike) -> Iterator[Path]:
    """An empty folder to fill; it appears by one rename when the block ends without an error.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    context of the folder to write into

    Raises
    ------
    FileExistsError
        ``path`` exists: a folder cannot be replaced in one step on every system.
    """
    target = Path(path)
    if target.exists():
        raise FileExistsError(f"{target} exists already; remove it first, or choose another name")
    temporary = _temporary(target)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                with open(file, "rb+") as handle:
                    os.fsync(handle.fileno())
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write UTF-8 text atomically, with ``\\n`` line ends on every system.

    Parameters
    ----------
    path : str or path
    text : str
    """
    with atomic_open(path) as file:
        file.write(text)


def write_json(path: str | os.PathLike, value: Any) -> None:
    """Write JSON atomically: sorted keys, indented, no NaN.

    Parameters
    ----------
    path : str or path
    value : object for JSON
    """
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: str | os.PathLike, *, max_bytes: int = 50_000_000) -> Any:
    """Read JSON.

    Parameters
    ----------
    path : str or path
    max_bytes : int, default 50,000,000

    Returns
    -------
    object

    Raises
    ------
    FileNotFoundError, DamagedFile
        With path and position.
    """
    file = existing_path(path)
    if not file.is_file() or file.stat().st_size > max_bytes:
        raise DamagedFile(f"{file} is no JSON file of at most {max_bytes:,} bytes")
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{file} is not valid JSON: {error}. Remove it, or get it "
                          "again") from error
