"""Reads what publishers pack into zip and tar files, without unpacking anything onto the disk.

The list of members is checked by our own rules before the first byte of any of them is read: no
path that leads out, no link, no device, no two names that a careless file system would take for
one, no bomb. Used by `readers` only.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    zipfile.BadZipFile, zipfile.LargeZipFile, tarfile.TarError, EOFError, zlib.error,
    lzma.LZMAError, RuntimeError, ValueError,
)  # RuntimeError: encrypted, or an unknown method; ValueError: names and numbers that are none
IGNORED = ("__MACOSX/", "PaxHeader/")


def _check(path: Path, members: Iterable[tuple[str, int, bool, bool]]) -> None:
    """Refuse the first member that breaks a rule, each given as name, size, whether it is a folder
    and whether it is a plain file. Raises DamagedFile."""
    packed, total, seen = path.stat().st_size, 0, {}
    limit = min(MAX_BYTES, max(FREE_BYTES, MAX_RATIO * packed))
    for number, (name, size, folder, plain) in enumerate(members, start=1):
        total += size
        key = name.removeprefix("./").rstrip("/").casefold()
        twin = name if folder else seen.setdefault(key, name)
        outside = name.startswith("/") or ".." in name.split("/")
        if outside or re.match(r"[A-Za-z]:", name) or "\\" in name or "\0" in name:
            why = "its path leads out of the archive, or would on some system"
        elif not (folder or plain):
            why = "it is a link or a device; only files and folders are read"
        elif twin != name:
            why = f"its name equals {twin!r} but for case"
        elif total > limit:
            sizes = f"{total:,} bytes would come out of {packed:,}; at most {limit:,} are read"
            why = f"up to it, {sizes}"
        elif number > MAX_MEMBERS:
            why = f"there are more than {MAX_MEMBERS:,} members"
        else:
            continue
        member = f"member {name[:100]!r} is refused"
        raise DamagedFile(f"{path}: {member}: {why}. Nothing of it was read")


def _zip_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        listed = []
        for info in members:
            kind = stat.S_IFMT(info.external_attr >> 16)
            plain = kind in (0, stat.S_IFREG) and not info.is_dir()
            # the stored name, as zipfile turns backslashes into slashes on Windows
            listed.append((info.orig_filename, info.file_size, info.is_dir(), plain))
        _check(path, listed)
        for info in members:
            if not info.is_dir() and wanted(info.filename):
                yield info.filename, archive.read(info)


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


def _tar_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with open(path, "rb") as stream:
        start = stream.read(6)
    opener = next((opener for magic, opener in PACKED.items() if start.startswith(magic)), open)
    with (opener(path, "rb") as stream,
          tarfile.open(fileobj=(headers := _Headers(stream)), mode="r:") as archive):
        _check(path, ((i.name, i.size * i.isreg(), i.isdir(), i.isreg()) for i in archive))
        headers.most = MAX_BYTES
        for info in archive:
            if info.isreg() and wanted(name := info.name.removeprefix("./")):
                yield name, archive.extractfile(info).read()


def iterate_members(
    path: Path, wanted: Callable[[str], bool] = lambda name: True
) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of the ``wanted`` files in a zip or tar file, in their order in it. Its
    kind is told by its content. All members are checked first, whether wanted or not. Raises
    DamagedFile: no archive, a cut or changed one, or a member that breaks a rule."""
    try:
        read = _zip_members if zipfile.is_zipfile(path) else _tar_members
        yield from read(path, lambda name: wanted(name) and not name.startswith(IGNORED))
    except DamagedFile:
        raise
    except (*BROKEN, OSError) as error:
        # EINVAL: told to seek to before the beginning; what has another number is the disk's
        if getattr(error, "errno", None) not in (None, errno.EINVAL):
            raise
        raise DamagedFile(f"{path} is cut, damaged or no archive: {type(error).__name__} {error} "
                          f"({path.stat().st_size:,} bytes)") from error


def read_members(path: Path, endings: Sequence[str]) -> dict[str, bytes]:
    """The bytes of some members, in one pass; each is named by the end of its path. Raises
    DamagedFile as `iterate_members`, and where not exactly one member has such an end."""
    by_ending: dict[str, list[bytes]] = {ending: [] for ending in endings}

    def ends(name: str) -> list[str]:
        return [ending for ending in endings if name == ending or name.endswith("/" + ending)]

    for name, data in iterate_members(path, lambda name: bool(ends(name))):
        for ending in ends(name):
            by_ending[ending].append(data)
    for ending, members in by_ending.items():
        if len(members) != 1:
            there = ", ".join(name for name, _ in islice(iterate_members(path), 5)) or "nothing"
            problem = f"{len(members)} members {ending!r}; expected 1"
            raise DamagedFile(f"{path} has {problem}. It begins with: {there}")
    return {ending: members[0] for ending, members in by_ending.items()}
