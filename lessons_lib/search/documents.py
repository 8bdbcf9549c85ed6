"""Texts of a folder, file by file; what cannot be read is named with its reason and left out.

Text and Markdown are read as UTF-8 (or UTF-16 or 32, where the file begins with its mark), PDF
where the package ``pypdf`` is installed. Taught in ``17_search``.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import stat
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..core import existing_path, shown

__all__ = ["Skipped", "TextFile", "files_of", "read_document"]

LARGEST = 64_000_000                             # bytes of a file that is read
SUFFIXES = (".txt", ".text", ".md", ".markdown", ".pdf")
# The longer first: UTF-32's begins with UTF-16's.
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32",
          codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
          codecs.BOM_UTF16_BE: "utf-16"}
WIDE = ("utf-16", "utf-32")                      # encodings whose letters hold NUL bytes


class TextFile(NamedTuple):
    """A file of the folder: its name within it, where it is, and by what it is known again."""

    name: str
    path: Path
    size: int
    modified: int                                # nanoseconds


class Skipped(NamedTuple):
    """What was not read, and why.

    Parameters
    ----------
    name : str
        A file within the folder, or several.
    reason : str
    """

    name: str
    reason: str


NO_FILE = "no file with a content: a named pipe, a socket or a device"


class NotRead(Exception):
    """Why a file cannot be read, in words."""


def files_of(folder: str | os.PathLike) -> tuple[list[TextFile], list[Skipped]]:
    """The files of a folder and those below it that may hold text, by name, and what is left out.

    Links are followed, and each file and folder counts once, so that links in circles end. Names
    that begin with a dot are left out without a word. Raises FileNotFoundError, NotADirectoryError,
    and ValueError for a path that is not UTF-8.
    """
    root = existing_path(folder)
    if not root.is_dir():
        raise NotADirectoryError(f"{root} is a file; expected a folder of texts")
    if not _is_text(str(root)):
        raise ValueError(f"folder={shown(str(root))} is not UTF-8, and an index could not hold its "
                         "name; rename the folder, or the one above it that is not")
    files, skipped, others = [], [], Counter()
    for path, about in _walk(root, skipped):
        name = path.relative_to(root).as_posix()
        if path.suffix.lower() not in SUFFIXES:
            others[path.suffix.lower() or "no suffix"] += 1
        elif about.st_size > LARGEST:
            skipped.append(Skipped(name, f"{about.st_size:,} bytes; files of up to {LARGEST:,} are "
                                         "read. Cut it into several"))
        else:
            files.append(TextFile(name, path, about.st_size, about.st_mtime_ns))
    if others:
        kinds = ", ".join(f"{suffix}: {n}" for suffix, n in sorted(others.items()))
        skipped.append(Skipped(f"{sum(others.values()):,} other files",
                               f"only {', '.join(SUFFIXES)} are read ({kinds})"))
    return sorted(files), skipped


def _walk(root: Path, skipped: list[Skipped]) -> Iterator[tuple[Path, os.stat_result]]:
    """Regular files with what the system knows of them; each once, whatever links lead to it, and
    by its own name rather than by a link's.
    """
    there, links, seen = [root], deque(), set()
    while there or links:
        entry = there.pop() if there else links.popleft()
        name = entry.relative_to(root).as_posix()
        known_as = name.encode("utf-8", "backslashreplace").decode()
        try:
            about = entry.stat()
            identity = about.st_dev, about.st_ino
            if identity in seen:
                continue
            seen.add(identity)
            if stat.S_ISDIR(about.st_mode):
                # in order: of two names of one file always the same counts
                for child in sorted(entry.iterdir(), key=lambda path: path.name, reverse=True):
                    if not child.name.startswith("."):
                        (links if child.is_symlink() else there).append(child)
            elif not stat.S_ISREG(about.st_mode):
                skipped.append(Skipped(known_as, NO_FILE))
            elif not _is_text(name):
                skipped.append(Skipped(known_as, "its name is not UTF-8; rename it"))
            else:
                yield entry, about
        except OSError as error:                 # no permission; a link to nothing, or to itself
            lost = isinstance(error, FileNotFoundError) and entry.is_symlink()
            skipped.append(Skipped(known_as, "a link to what is not there" if lost else
                                   error.strerror or type(error).__name__))


def _is_text(name: str) -> bool:
    """Whether a name can be written as UTF-8."""
    return name == _sound(name)


def _sound(text: str) -> str:
    """A text with ``?`` for lone surrogates, which no file holds."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_document(file: TextFile, *, encoding: str = "utf-8") -> tuple[str, str, str]:
    """The text of a file, the sha256 of its bytes, and ``encoding`` where it was needed, else "".

    Raises NotRead with the reason.
    """
    try:
        data = _bytes_of(file.path)
    except OSError as error:
        raise NotRead(error.strerror or str(error)) from error
    digest = hashlib.sha256(data).hexdigest()
    if file.path.suffix.lower() == ".pdf":
        return _pdf_text(data), digest, ""
    text, by = _decoded(data, encoding)
    return text, digest, by


def _bytes_of(path: Path) -> bytes:
    """What stands in a file, which may be another one than a moment ago: grown, or a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRead(NO_FILE)
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise NotRead(f"it has grown beyond {LARGEST:,} bytes. Cut it into several")
    return data


def _decoded(data: bytes, encoding: str) -> tuple[str, str]:
    """Text, and the encoding where it is neither UTF-8 nor told by a mark. Raises NotRead."""
    mark = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    given = codecs.lookup(encoding).name
    holes = mark is None and b"\0" in data[:8192]
    if holes and not given.startswith(WIDE):
        raise NotRead("binary: it holds NUL bytes. If it is UTF-16 without its mark, say so: "
                      "encoding='utf-16-le', --encoding utf-16-le")
    if not holes:
        try:
            return _sound(data.decode(mark or "utf-8")), ""
        except UnicodeDecodeError as error:
            if mark is not None or given == "utf-8":
                raise NotRead(f"not {mark or 'UTF-8'} (byte {data[error.start]:#04x} at "
                              f"{error.start:,}); if you know its encoding, say it: "
                              "encoding='cp1252', --encoding cp1252") from None
    try:
        text = data.decode(encoding)
    except UnicodeError:                         # codecs raise its subclasses, and itself
        raise NotRead(f"neither UTF-8 nor {encoding}") from None
    if holes and "\0" in text[:8192]:
        raise NotRead(f"binary: it holds NUL, also as {encoding}")
    return _sound(text), encoding


def _pdf_text(data: bytes) -> str:
    """Page after page, by pypdf, which reads files from anywhere and may fail in any way."""
    try:
        import pypdf
    except ImportError as error:
        raise NotRead("PDF needs the package pypdf: pip install pypdf") from error
    try:
        text = "\n\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)
    except Exception as error:
        raise NotRead(f"no PDF that pypdf can read ({type(error).__name__})") from error
    if not text.strip():
        raise NotRead("a PDF without text, perhaps of scanned pages")
    return _sound(text)
