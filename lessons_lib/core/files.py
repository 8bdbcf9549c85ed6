"""Files that are whole or absent: written beside their place, synced, then renamed.

A reader sees the old content or the new, never a half. Sets of files that are overwritten (a model,
a corpus) are `core.store`'s. Temporary names begin with ``.tmp-`` and hold the writer's process id,
so that the next writer removes what a killed one left.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import uuid
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil

from .errors import DamagedFile

__all__ = [
    "atomic_folder", "atomic_open", "check_file", "checked_path", "existing_path", "file_sums",
    "fingerprint", "process_lives", "read_json", "sha256", "write_json", "write_text", "writing"
]

BLOCK = 1 << 20                                  # bytes read at a time; they stay in the cache
LONGEST_NAME = 255                               # bytes, of every file system in use
HINTS = {errno.EEXIST: "A file lies where a folder has to be", errno.EISDIR: "It is a folder",
         errno.ENOTDIR: "A file lies where a folder has to be",
         errno.EBUSY: "It is a folder in use", errno.ENOTEMPTY: "It is a folder with files",
         errno.ENOENT: "No folder can be made there", errno.EROFS: "Nobody may write there",
         errno.EACCES: "You may not write there", errno.EPERM: "You may not write there"}


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
    with open(existing_path(path), "rb") as file:
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


def checked_path(path: str | os.PathLike, name: str = "path") -> Path:
    """A path that can be one, with ``~`` written out.

    Parameters
    ----------
    path : str or path
    name : str, default "path"
        Of the argument, for the message.

    Returns
    -------
    path

    Raises
    ------
    TypeError
        Something else; bytes.
    ValueError
        Empty; a NUL, half a surrogate pair, a name longer than file systems have, the home of a
        user that there is not.
    """
    from .checks import shown

    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"{name}={shown(path)} is {type(path).__name__}; expected a str or a path")
    try:
        data = text.encode() if os.name == "nt" else os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ValueError(f"{name}={shown(text)} holds half a surrogate pair at character "
                         f"{error.start}; expected text that a file system can hold. Choose "
                         "another name") from None
    longest = max(map(len, data.split(b"/")))
    for wrong, why in ((not text, "is empty; expected the name of a file or folder"),
                       ("\0" in text, "holds a NUL character; expected text without"),
                       (longest > LONGEST_NAME, f"holds a name of {longest} bytes; expected at "
                                                f"most {LONGEST_NAME}, as file systems do")):
        if wrong:
            raise ValueError(f"{name}={shown(text)} {why}. Choose another name")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"{name}={shown(text)} begins with the home folder of a user that there "
                         "is not; expected ~/… or a path from the root on") from None


def existing_path(path: str | os.PathLike, *, name: str = "path") -> Path:
    """The absolute path.

    Parameters
    ----------
    path : str or path
    name : str, default "path"
        Of the argument, for the message.

    Returns
    -------
    path

    Raises
    ------
    TypeError, ValueError
        As `checked_path`.
    FileNotFoundError
        Names the nearest existing one.
    """
    from .checks import nearest_name

    plain = checked_path(path, name)
    try:
        absolute = plain.resolve()
        if absolute.exists():
            return absolute
        parent = absolute.parent
        while not parent.exists():
            parent = parent.parent
    except (RuntimeError, OSError) as error:
        raise FileNotFoundError(f"{name}={str(path)[:200]!r} leads nowhere: {error}. Expected a "
                                "path that can be followed") from error
    try:
        beside = [p.name for p in parent.iterdir()] if parent == absolute.parent else []
    except OSError:                              # it may be passed through, but not read
        beside = []
    near = nearest_name(absolute.name, beside)
    hint = f"nearest name: {parent / near}" if near else f"the folder that exists: {parent}"
    said = "" if name == "path" else f"{name}={str(path)!r}: "
    raise FileNotFoundError(f"{said}{absolute} does not exist; {hint}")


def file_sums(file: Path) -> dict[str, Any]:
    """What a card notes of a file: bytes, sha256, and the crc32 that `check_file` compares.

    A file of safetensors has a crc32 of its header and one of each array, beside dtype and shape,
    so that an array under another's name is told from its own. The sha256 is for other programs: a
    crc32 is as sure against accidents, at several times the speed.
    """
    whole = hashlib.sha256()
    with open(file, "rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        if file.suffix != ".safetensors":
            return {"bytes": size, "crc32": _crc32(opened, size, whole),
                    "sha256": whole.hexdigest()}
        data, places = _header(opened, size)
        whole.update(data)
        arrays = {name: {"dtype": place["dtype"], "shape": place["shape"],
                         "crc32": _crc32(opened, end - begin, whole)}
                  for name, place, begin, end in places}
    return {"bytes": size, "header": zlib.crc32(data), "arrays": arrays,
            "sha256": whole.hexdigest()}


def check_file(file: Path, noted: Mapping[str, Any], *, remedy: str, verify: bool = True) -> None:
    """Raise DamagedFile for a file that is not the one that `file_sums` noted, in one pass over it.

    What was noted before there was a crc32 is compared by its sha256; without verify only the
    number of bytes is.
    """
    there = file.stat().st_size if file.is_file() else 0
    if there != noted["bytes"]:
        raise DamagedFile(f"{file} was cut or extended: {there:,} bytes found, "
                          f"{noted['bytes']:,} expected. {remedy}")
    if not verify:
        return
    if "arrays" in noted:
        wrong = _other_arrays(file, noted)
    elif "crc32" in noted:
        with open(file, "rb") as opened:
            digest = _crc32(opened, there)
        wrong = "" if digest == noted["crc32"] else (f"checksum {digest:08x}, expected "
                                                    f"{noted['crc32']:08x}")
    else:
        digest = sha256(file)
        wrong = "" if digest == noted["sha256"] else (f"checksum {digest[:12]}…, expected "
                                                     f"{noted['sha256'][:12]}…")
    if wrong:
        raise DamagedFile(f"{file} was changed or damaged: {wrong}. {remedy}")


def _crc32(opened: IO[bytes], size: int, whole: Any = None) -> int:
    """The crc32 of the next bytes of a file, which ``whole``, a digest, gets too."""
    result, block = 0, memoryview(bytearray(min(size, BLOCK)))
    while size and (n := opened.readinto(block[:size])):
        result, size = zlib.crc32(block[:n], result), size - n
        if whole is not None:
            whole.update(block[:n])
    return result


def _header(opened: IO[bytes], size: int) -> tuple[bytes, list[tuple[str, dict, int, int]]]:
    """The bytes before the arrays of safetensors; name, entry, begin and end of each in the order
    of the file. Raises ValueError unless they fill it."""
    data = opened.read(8)
    n = int.from_bytes(data, "little")
    if len(data) < 8 or n > size - 8:
        raise ValueError("its header is longer than the file")
    data += opened.read(n)
    entries = {name: entry for name, entry in json.loads(data[8:]).items()
               if name != "__metadata__"}
    places = sorted(((name, entry, *entry["data_offsets"]) for name, entry in entries.items()),
                    key=lambda place: place[2:])
    at = 0
    for name, _, begin, end in places:
        if begin != at or end < begin:
            raise ValueError(f"array {name!r} does not begin where the one before it ends")
        at = end
    if 8 + n + at != size:
        raise ValueError("its arrays do not fill it")
    return data, places


def _other_arrays(file: Path, noted: Mapping[str, Any]) -> str:
    """Which arrays of a file of safetensors are not those that were noted, in words."""
    arrays = noted["arrays"]
    with open(file, "rb") as opened:
        try:
            data, places = _header(opened, noted["bytes"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            return f"it has no sound header ({error})"
        own = {crc["crc32"]: name for name, crc in arrays.items()}
        said = [f"array {name!r} is missing" for name in arrays.keys() - {p[0] for p in places}]
        for name, entry, begin, end in places:
            crc = _crc32(opened, end - begin)
            known = arrays.get(name)
            if known is None:
                said.append(f"array {name!r} was not saved")
            elif (kind := [entry.get("dtype"), entry.get("shape")]) != [known["dtype"],
                                                                        known["shape"]]:
                said.append(f"array {name!r} is {kind[0]} {kind[1]}, was {known['dtype']} "
                            f"{known['shape']}")
            elif crc != known["crc32"]:
                whose = f"the numbers of {own[crc]!r}" if crc in own else "other numbers"
                said.append(f"array {name!r} has {whose}: checksum {crc:08x}, expected "
                            f"{known['crc32']:08x}")
    if not said and zlib.crc32(data) != noted["header"]:
        said.append("its header has another checksum")
    more = f"; {len(said) - 3} more" if len(said) > 3 else ""
    return "; ".join(said[:3]) + more


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


def _explained(error: OSError, path: Path, state: str = "Nothing was changed") -> OSError:
    free = "?"
    with contextlib.suppress(OSError):
        existing = next(folder for folder in (path.parent, *path.parents) if folder.exists())
        free = f"{shutil.disk_usage(existing).free:,}"
    hint = f"{HINTS[error.errno]}: choose another place. " if error.errno in HINTS else ""
    return type(error)(error.errno, f"cannot write {path}: {error.strerror}; {free} bytes are "
                                    f"free there. {state}. {hint}"
                       "LESSONS_OUTPUT and LESSONS_CACHE move the folders")


@contextlib.contextmanager
def writing(path: Path, *, state: str = "Nothing was changed") -> Iterator[None]:
    """Say of an error of the disk inside which place it was about, why, and what is there now."""
    try:
        yield
    except OSError as error:
        if error.errno is None or str(error.strerror).startswith("cannot write"):    # ours says it
            raise
        raise _explained(error, path, state) from error


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
    TypeError, ValueError
        As `checked_path`.
    """
    target = checked_path(path)
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
            with contextlib.suppress(OSError):   # nothing can be removed where nothing is written
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
    TypeError, ValueError, OSError
        As `checked_path`; the place cannot be written.
    """
    target = checked_path(path)
    with writing(target):
        if target.exists():
            raise FileExistsError(f"{target} exists already; remove it first, or choose another "
                                  "name")
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
