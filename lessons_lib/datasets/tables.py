"""Reads text tables that others wrote: decompressed within a bound, decoded as UTF-8, every row
checked, every complaint with its line.

Fields are split at tabs and lines at ``\\n`` only, without quoting: a stray quote, the word "null"
and a Unicode line separator are text like any other. Windows line ends and a byte order mark are
removed. Used by every loader of this room.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import math
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..core import DamagedFile, check_choice, existing_path, shown

__all__ = ["OPENERS", "Table", "iterate_lines", "read_table", "read_text", "text_in", "whole"]

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
MAX_BYTES = 1 << 30
BOM = "\ufeff"


@contextlib.contextmanager
def whole(what: object, *more: type[Exception], remedy: str = "") -> Iterator[None]:
    """Turn what a cut or changed stream raises, and errors of the classes ``more``, into a
    DamagedFile about ``what``. The disk's own errors pass."""
    try:
        yield
    except DamagedFile:
        raise
    except (*BROKEN, *more, OSError) as error:
        if getattr(error, "errno", None) is not None:  # bz2 reports damage without one
            raise
        text = f"{what} is cut or damaged: {type(error).__name__} {error}{remedy}"
        raise DamagedFile(text) from error


@contextlib.contextmanager
def _opened(path: str | os.PathLike) -> Iterator[tuple[Path, BinaryIO]]:
    file = existing_path(path)
    if not file.is_file():
        raise DamagedFile(f"{file} is a folder or a device; expected a file")
    what = f"{file} ({file.stat().st_size:,} bytes)"
    with (whole(what, remedy=". Get it again, or check it: lessons data verify"),
          OPENERS.get(file.suffix, open)(file, "rb") as stream):
        yield file, stream


def _decoded(data: bytes, encoding: str, what: object, line: int = 1, offset: int = 0) -> str:
    """The text of bytes that begin in this line at this offset."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        at = error.start
        line += data.count(b"\n", 0, at)
        raise ValueError(
            f"{what}, line {line}, byte {offset + at}: {data[at]:#04x} is not {encoding}. "
            "Say what it is: encoding='latin-1', for example") from None


def text_in(stream: BinaryIO, what: object, *, encoding: str = "utf-8",
            max_bytes: int = MAX_BYTES) -> str:
    """All the text of a stream, called ``what`` in errors: DamagedFile (more than ``max_bytes``),
    ValueError (not in ``encoding``: line and byte)."""
    data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise DamagedFile(f"{what} holds more than {max_bytes:,} bytes of text; expected less")
    return _decoded(data, encoding, what).removeprefix(BOM)


def read_text(path: str | os.PathLike, *, encoding: str = "utf-8",
              max_bytes: int = MAX_BYTES) -> str:
    """The whole text of a plain, ``.gz``, ``.bz2`` or ``.xz`` file. Raises FileNotFoundError,
    DamagedFile (cut or changed) and what `text_in` raises."""
    with _opened(path) as (file, stream):
        return text_in(stream, file, encoding=encoding, max_bytes=max_bytes)


def iterate_lines(path: str | os.PathLike, *, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a plain or compressed file without their ends, one at a time. Raises as
    `read_text` does."""
    offset = 0
    with _opened(path) as (file, stream):
        for number, raw in enumerate(stream, start=1):
            line = _decoded(raw, encoding, file, number, offset)
            offset += len(raw)
            yield (line.removeprefix(BOM) if number == 1 else line).rstrip("\r\n")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass(frozen=True)
class Table:
    """Named columns of text. Row ``i`` stood in line ``lines[i]`` of ``file``."""

    file: Path
    columns: dict[str, list[str]]
    lines: range | list[int]

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, name: str) -> list[str]:
        return self.columns[name]

    def numbers(self, name: str) -> np.ndarray:
        """A column as float64. Raises ValueError (file, line, column) for what is not finite."""
        values = np.array([_number(text) for text in self.columns[name]], dtype=np.float64)
        if (bad := np.flatnonzero(~np.isfinite(values))).size:
            raise ValueError(f"{self.file}, line {self.lines[bad[0]]}: {name}="
                             f"{shown(self.columns[name][bad[0]])}; expected a finite number")
        return values

    def where(self, name: str, value: str) -> Table:
        """The rows whose column holds ``value``. Raises ValueError with the values that occur."""
        check_choice(name, value, sorted(set(self.columns[name])))
        rows = [i for i, cell in enumerate(self.columns[name]) if cell == value]
        columns = {key: [cells[i] for i in rows] for key, cells in self.columns.items()}
        return Table(self.file, columns, [self.lines[i] for i in rows])


def read_table(path: str | os.PathLike, required: Sequence[str]) -> Table:
    """Read a tab-separated table with a header line; other columns than the required are kept too.
    Raises FileNotFoundError, DamagedFile, and ValueError for a missing or repeated column or a row
    with another number of fields, naming file, line, and the columns found and needed."""
    file = existing_path(path)
    text = read_text(file)
    lines = (text.replace("\r\n", "\n") if "\r\n" in text else text).split("\n")
    if not lines[-1]:
        lines.pop()
    header = lines[0].split("\t") if lines else []
    missing = [name for name in required if name not in header]
    if missing or len(set(header)) < len(header):
        what = f"column {missing[0]!r} is missing" if missing else "a column name stands twice"
        raise ValueError(
            f"{file}, line 1: {what}. Found {shown(header, 120)}; needed {list(required)}. "
            "Is it tab-separated?")
    width = len(header)
    uneven = next((i for i, line in enumerate(lines) if line.count("\t") != width - 1), None)
    if uneven is not None:
        cells = lines[uneven].split("\t")
        raise ValueError(
            f"{file}, line {uneven + 1}: {len(cells)} fields, {shown(cells)}; expected {width}: "
            f"{', '.join(header)}")
    fields = "\t".join(lines).split("\t")  # row after row; each width-th one is of the same column
    columns = {name: fields[width + k :: width] for k, name in enumerate(header)}
    return Table(file, columns, range(2, len(lines) + 1))
