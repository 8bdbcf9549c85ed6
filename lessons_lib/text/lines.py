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

_BYTES_AT_ONCE = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def line_batches(path: str | os.PathLike, *, encoding: str = "utf-8") -> Iterator[list[str]]:
    """Yield the lines of a file in lists, without line ends (Windows or Unix) and without a byte order mark.

    Parameters: path; encoding, a name that Python knows. The path is checked at the first list. Raises FileNotFoundError (with the nearest name),
    ValueError (a folder, pipe or device; an unknown encoding; a byte that is not in it: path, line, and for UTF-8 the byte offset).
    Only "\\n" ends a line, in every encoding.
    """
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)                      # a codec such as rot13 is found, and is no encoding of text
    except (LookupError, TypeError, ValueError):
        raise ValueError(f"encoding={encoding!r} is unknown; expected a name such as 'utf-8' or 'latin-1'") from None
    file = existing_path(path)
    if not file.is_file():
        kind = "folder" if file.is_dir() else "pipe" if file.is_fifo() else "device or socket"
        raise ValueError(f"{file} is a {kind}; expected a text file with one document per line")
    return _utf8_lines(file) if name in ("utf-8", "utf-8-sig") else _other_lines(file, encoding)


def _utf8_lines(path: Path) -> Iterator[list[str]]:
    n_lines, offset = 0, 0
    with open(path, "rb") as file:
        while lines := file.readlines(_BYTES_AT_ONCE):
            if offset == 0 and lines[0].startswith(_BYTE_ORDER_MARK):
                lines[0], offset = lines[0].removeprefix(_BYTE_ORDER_MARK), len(_BYTE_ORDER_MARK)
            try:
                texts = [line.decode().removesuffix("\n").removesuffix("\r") for line in lines]
            except UnicodeDecodeError:
                raise _not_utf8(path, lines, n_lines, offset) from None
            yield texts
            n_lines, offset = n_lines + len(lines), file.tell()


def _not_utf8(path: Path, lines: list[bytes], n_lines: int, offset: int) -> ValueError:
    for number, line in enumerate(lines, start=n_lines + 1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return ValueError(f"{path}, line {number}, byte {offset + error.start}: {line[error.start : error.end].hex(' ')} is not UTF-8 "
                              f"({error.reason}); name the file's encoding, such as encoding='latin-1'")
        offset += len(line)
    raise AssertionError("every line is UTF-8")


def _other_lines(path: Path, encoding: str) -> Iterator[list[str]]:
    n_lines = 0
    with open(path, encoding=encoding, newline="\n") as file:
        while True:
            try:
                lines = file.readlines(_BYTES_AT_ONCE)
            except UnicodeError as error:
                raise ValueError(f"{path} is not {encoding} (after line {n_lines}: {error}); name the file's encoding: encoding=") from None
            if not lines:
                return
            yield [line.removesuffix("\n").removesuffix("\r") for line in lines]
            n_lines += len(lines)
