"""Reads what publishers pack into zip and tar files, without unpacking anything onto the disk.

The list of members is checked by our own rules before the first byte of any of them is read: no
path that leads out, no link, no device, no two names that a careless file system would take for
one, no bomb. Used by `publishers` only.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from ..core import DamagedFile

__all__ = ["iterate_members", "read_members"]

MAX_MEMBERS = 200_000
MAX_RATIO = 100
FREE_BYTES = 10_000_000  # so much may come out of any archive, however small
MAX_BYTES = 1 << 33
MAX_HEADER = 1 << 20  # of one member of a tar file: its name and attributes
PACKED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    RuntimeError,
    ValueError,
)  # RuntimeError: encrypted, or an unknown method; ValueError: names and numbers that are none
IGNORED = ("__MACOSX/", "PaxHeader/")


class _Rules:
    """Counts members and bytes as they are listed, and refuses the first that breaks a rule."""

    def __init__(self, path: Path) -> None:
        self.path, self.seen, self.bytes, self.members = path, {}, 0, 0
        self.limit = min(MAX_BYTES, max(FREE_BYTES, MAX_RATIO * path.stat().st_size))

    def check(self, name: str, size: int, *, folder: bool, plain: bool) -> None:
        if (
            name.startswith("/")
            or re.match(r"[A-Za-z]:", name)
            or "\\" in name
            or "\0" in name
            or ".." in name.split("/")
        ):
            self._refuse(name, "its path leads out of the archive, or would on some system")
        if not (folder or plain):
            self._refuse(name, "it is a link or a device; only files and folders are read")
        key = name.removeprefix("./").rstrip("/").casefold()
        if not folder and self.seen.setdefault(key, name) != name:
            self._refuse(name, f"its name equals {self.seen[key]!r} but for case")
        self.bytes += size
        if self.bytes > self.limit:
            self._refuse(
                name,
                f"up to it, {self.bytes:,} bytes would come out of {self.path.stat().st_size:,}; "
                f"at most {self.limit:,} are read",
            )
        self.members += 1
        if self.members > MAX_MEMBERS:
            self._refuse(name, f"there are more than {MAX_MEMBERS:,} members")

    def _refuse(self, name: str, why: str) -> None:
        raise DamagedFile(
            f"{self.path}: member {name[:100]!r} is refused: {why}. Nothing of it was read"
        )


def _zip_members(path: Path, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    rules = _Rules(path)
    for info in archive.infolist():
        mode = info.external_attr >> 16
        folder = info.is_dir()
        plain = not mode or stat.S_ISREG(mode) or stat.S_IFMT(mode) == 0
        # the stored name, as zipfile turns backslashes into slashes on Windows
        rules.check(info.orig_filename, info.file_size, folder=folder, plain=plain and not folder)
    return [info for info in archive.infolist() if not info.is_dir()]


def _tar_members(path: Path, archive: tarfile.TarFile) -> list[tarfile.TarInfo]:
    rules, files = _Rules(path), []
    for info in archive:
        rules.check(
            info.name, info.size if info.isreg() else 0, folder=info.isdir(), plain=info.isreg()
        )
        if info.isreg():
            files.append(info)
    return files


class _Headers:
    """The stream of a tar file, which reads no more than a header needs while they are listed."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.most = stream, MAX_HEADER
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int) -> bytes:
        """As a file does. Raises TarError where a header claims to be longer than `MAX_HEADER`."""
        if size > self.most:
            raise tarfile.ReadError(f"a header of {size:,} bytes; at most {self.most:,} are read")
        return self.stream.read(size)


def _unpacked(path: Path) -> BinaryIO:
    """The bytes of a file, decompressed where it begins as a compressed one does."""
    with open(path, "rb") as stream:
        start = stream.read(6)
    opener = next((opener for magic, opener in PACKED.items() if start.startswith(magic)), open)
    return opener(path, "rb")


def _members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in _zip_members(path, archive):
                if wanted(info.filename) and not info.filename.startswith(IGNORED):
                    yield info.filename, archive.read(info)
        return
    with (
        _unpacked(path) as stream,
        tarfile.open(fileobj=(headers := _Headers(stream)), mode="r:") as archive,
    ):
        members = _tar_members(path, archive)
        headers.most = MAX_BYTES
        for info in members:
            name = info.name.removeprefix("./")
            if wanted(name) and not name.startswith(IGNORED):
                yield name, archive.extractfile(info).read()


def iterate_members(
    path: Path, wanted: Callable[[str], bool] = lambda name: True
) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of the files in a zip or tar file, in the order in which they lie there.

    Parameters
    ----------
    path : the archive; its kind is told by its content
    wanted : which names to read; all members are checked first, whether wanted or not

    Raises
    ------
    DamagedFile : no archive, a cut or changed one, or a member that breaks a rule
    """
    try:
        yield from _members(path, wanted)
    except DamagedFile:
        raise
    except BROKEN as error:
        raise DamagedFile(
            f"{path} is cut, damaged or no archive: {type(error).__name__} {error} "
            f"({path.stat().st_size:,} bytes)"
        ) from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # EINVAL: told to seek to before the beginning
            raise
        raise DamagedFile(f"{path} is cut, damaged or no archive: {error}") from error


def read_members(path: Path, endings: Sequence[str]) -> dict[str, bytes]:
    """The bytes of some members, in one pass; each is named by the end of its path.

    Raises DamagedFile as `iterate_members`, and where not exactly one member has such an end.
    """
    found: dict[str, list[bytes]] = {ending: [] for ending in endings}

    def ends(name: str) -> list[str]:
        return [ending for ending in endings if name == ending or name.endswith("/" + ending)]

    for name, data in iterate_members(path, lambda name: bool(ends(name))):
        for ending in ends(name):
            found[ending].append(data)
    for ending, members in found.items():
        if len(members) != 1:
            there = ", ".join(name for name, _ in islice(iterate_members(path), 5))
            raise DamagedFile(
                f"{path} has {len(members)} members {ending!r}; expected 1. It begins with: "
                f"{there or 'nothing'}"
            )
    return {ending: members[0] for ending, members in found.items()}
