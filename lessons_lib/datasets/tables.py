"""Reads text tables that others wrote: decompressed within a bound, decoded as UTF-8, every row checked, every complaint with its line.

Fields are split at tabs and lines at ``\\n`` only, without quoting: a stray quote, the word "null" and a Unicode line separator are text like
any other. Windows line ends and a byte order mark are removed. Used by every loader of this room.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..core import DamagedFile, check_choice, existing_path, shown

__all__ = ["Table", "iterate_lines", "read_table", "read_text"]

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
MAX_BYTES = 1 << 30
BOM = "\ufeff"


def _open(file: Path) -> BinaryIO:
    return OPENERS.get(file.suffix, open)(file, "rb")


def _damaged(file: Path, error: Exception) -> DamagedFile:
    return DamagedFile(f"{file} is cut or damaged: {error} ({file.stat().st_size:,} bytes). Get it again, or check it: lessons data verify")


def _regular(path: str | os.PathLike) -> Path:
    file = existing_path(path)
    if not file.is_file():
        raise DamagedFile(f"{file} is a folder or a device; expected a file")
    return file


def _not_utf8(file: Path, line: int, offset: int, error: UnicodeDecodeError, encoding: str) -> ValueError:
    return ValueError(f"{file}, line {line}, byte {offset}: {error.object[error.start]:#04x} is not {encoding}. "
                      "Say what it is: encoding='latin-1', for example")


def read_text(path: str | os.PathLike, *, encoding: str = "utf-8", max_bytes: int = MAX_BYTES) -> str:
    """The whole text of a plain, ``.gz``, ``.bz2`` or ``.xz`` file.

    Parameters: path; encoding; max_bytes, the most that may come out of it. Raises FileNotFoundError, DamagedFile (cut, changed, or larger
    than ``max_bytes``), ValueError (not in ``encoding``: path, line, byte).
    """
    file = _regular(path)
    try:
        with _open(file) as stream:
            data = stream.read(max_bytes + 1)
    except BROKEN as error:
        raise _damaged(file, error) from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(file, error) from error               # bz2 reports damage as an OSError without a number
    if len(data) > max_bytes:
        raise DamagedFile(f"{file} holds more than {max_bytes:,} bytes of text; expected less")
    try:
        return data.decode(encoding).removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise _not_utf8(file, data.count(b"\n", 0, error.start) + 1, error.start, error, encoding) from None


def iterate_lines(path: str | os.PathLike, *, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a plain or compressed file without their ends, one at a time. Raises as `read_text` does."""
    file = _regular(path)
    offset = 0
    try:
        with _open(file) as stream:
            for number, raw in enumerate(stream, start=1):
                try:
                    line = raw.decode(encoding)
                except UnicodeDecodeError as error:
                    raise _not_utf8(file, number, offset + error.start, error, encoding) from None
                offset += len(raw)
                yield (line.removeprefix(BOM) if number == 1 else line).rstrip("\r\n")
    except BROKEN as error:
        raise _damaged(file, error) from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(file, error) from error


@dataclass(frozen=True)
class Table:
    """Named columns of text. Row ``i`` stood in line ``first_line + i`` of ``file``, before any row was left out."""

    file: Path
    columns: dict[str, list[str]]
    lines: range | list[int]

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, name: str) -> list[str]:
        return self.columns[name]

    def numbers(self, name: str) -> np.ndarray:
        """A column as float64. Raises ValueError with file, line and column for anything that is no finite number."""
        try:
            values = np.array([float(text) for text in self.columns[name]], dtype=np.float64)
            bad = np.flatnonzero(~np.isfinite(values))
            i = int(bad[0]) if len(bad) else -1
        except ValueError:
            i = next(i for i, text in enumerate(self.columns[name]) if not _is_number(text))
        if i >= 0:
            raise ValueError(f"{self.file}, line {self.lines[i]}: {name}={shown(self.columns[name][i])}; expected a finite number")
        return values

    def where(self, name: str, value: str) -> Table:
        """The rows whose column holds ``value``. Raises ValueError with the values there are for one that does not occur."""
        check_choice(name, value, sorted(set(self.columns[name])))
        return self._keep([i for i, found in enumerate(self.columns[name]) if found == value])

    def _keep(self, rows: list[int]) -> Table:
        return Table(self.file, {name: [column[i] for i in rows] for name, column in self.columns.items()}, [self.lines[i] for i in rows])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_table(path: str | os.PathLike, required: Sequence[str]) -> Table:
    """Read a tab-separated table with a header line; columns beyond the required ones are kept too.

    Raises FileNotFoundError, DamagedFile, and ValueError for a missing or repeated column or a row with another number of fields, naming
    file, line, and the columns found and needed.
    """
    file = _regular(path)
    text = read_text(file)
    lines = (text.replace("\r\n", "\n") if "\r\n" in text else text).split("\n")
    if not lines[-1]:
        lines.pop()
    header = lines[0].split("\t") if lines else []
    missing = [name for name in required if name not in header]
    if missing or len(set(header)) < len(header):
        what = f"column {missing[0]!r} is missing" if missing else "a column name stands twice"
        raise ValueError(f"{file}, line 1: {what}. Found {shown(header, 120)}; needed {list(required)}. Is it tab-separated?")
    width = len(header)
    uneven = next((i for i, line in enumerate(lines) if line.count("\t") != width - 1), None)
    if uneven is not None:
        found = lines[uneven].split("\t")
        raise ValueError(f"{file}, line {uneven + 1}: {len(found)} fields, {shown(found)}; expected {width}: {', '.join(header)}")
    fields = "\t".join(lines).split("\t")                     # row after row; every width-th one belongs to the same column
    return Table(file, {name: fields[width + k :: width] for k, name in enumerate(header)}, range(2, len(lines) + 1))
