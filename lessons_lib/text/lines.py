"""Text files read a line at a time, with an error that says where a byte is no text.

Used by `Corpus.from_file`, where each line is a document.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from pathlib import Path

from ..core import existing_path

__all__ = ["line_batches"]

_CHARACTERS_AT_ONCE = 1 << 20


def line_batches(path: str | os.PathLike, *, encoding: str = "utf-8") -> Iterator[list[str]]:
    """Yield the lines of a file in lists, without line ends (Windows or Unix) and without a byte
    order mark; only "\\n" ends a line, in every encoding.

    Raises, before the first list, FileNotFoundError (with the nearest name), ValueError (a folder,
    pipe or device; an unknown encoding), and ValueError for a byte that is not in the encoding:
    path, line, and for UTF-8 the byte offset.
    """
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)                      # rot13 is found, too, and is no encoding of text
    except (LookupError, TypeError, ValueError):
        raise ValueError(f"encoding={encoding!r} is unknown; expected a name such as 'utf-8' or "
                         "'latin-1'") from None
    file = existing_path(path)
    if not file.is_file():
        kind = "folder" if file.is_dir() else "pipe" if file.is_fifo() else "device or socket"
        raise ValueError(f"{file} is a {kind}; expected a text file with one document per line")
    return _lines(file, "utf-8-sig" if name == "utf-8" else encoding, name.startswith("utf-8"))


def _lines(path: Path, encoding: str, is_utf8: bool) -> Iterator[list[str]]:
    n_lines = 0
    with open(path, encoding=encoding, newline="\n") as file:
        while True:
            try:
                lines = file.readlines(_CHARACTERS_AT_ONCE)
            except UnicodeError as error:
                if is_utf8:
                    raise _not_utf8(path) from None
                raise ValueError(f"{path} is not {encoding} (after line {n_lines}: {error}); name "
                                 "the file's encoding: encoding=") from None
            if not lines:
                return
            yield [line.removesuffix("\n").removesuffix("\r") for line in lines]
            n_lines += len(lines)


def _not_utf8(path: Path) -> ValueError:
    """The error for the first line that is not UTF-8."""
    offset = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                bad = line[error.start : error.end].hex(" ")
                return ValueError(f"{path}, line {number}, byte {offset + error.start}: {bad} is "
                                  f"not UTF-8 ({error.reason}); name the file's encoding, such as "
                                  "encoding='latin-1'")
            offset += len(line)
    return ValueError(f"{path} changed while it was read, and was not UTF-8 for a moment")
