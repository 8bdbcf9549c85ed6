"""What is checked of every file of vectors, whatever its format: what lies under the name, what its
header promises, which words come twice.

Files of vectors come from anywhere. A file is known by its first bytes, never by its name; what it
promises is held against its size before memory is taken. Used by the readers of lesson
``04_word2vec``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..core import DamagedFile, check_memory, existing_path, shown, warn_data
from ..core.first_bytes import check_arrived

__all__ = ["check_promise", "check_room", "distinct", "header_of", "not_decoded", "regular_file"]

MOST_COLUMNS = 1 << 20
_HEADER = re.compile(rb"(-?\d{1,30}) (-?\d{1,30}) *\r?\n?")
_PICKLE = re.compile(rb"\x80[\x02-\x05]|\((?:dp|lp)\d+\n|c[A-Za-z_][\w.]*\n[A-Za-z_]\w*\n")
_CODE = ("can run code when it is read, so it is not read. Convert it where you trust it: "
         "KeyedVectors.load(...).save_word2vec_format(path)")


def regular_file(path: str | os.PathLike) -> Path:
    """The absolute path of a file that may hold vectors.

    Raises FileNotFoundError with the nearest name, DamagedFile (a folder, pipe or device, an empty
    file, a web page, a Git LFS pointer), ValueError (a pickle in any wrapping; a compressed file).
    """
    file = existing_path(path)
    if not file.is_file():
        kind = "folder" if file.is_dir() else "pipe" if file.is_fifo() else "device or socket"
        raise DamagedFile(f"{file} is a {kind}; expected a file of word vectors")
    with open(file, "rb") as opened:
        start = opened.read(512)
    check_arrived(file, start, "word vectors")
    if _PICKLE.match(start):
        raise ValueError(f"{file} is a pickle, which {_CODE}")
    if start.startswith((b"PK\x03\x04", b"\x93NUMPY")):
        kind = "a zip archive (saved by torch?)" if start.startswith(b"PK") else "a NumPy file"
        raise ValueError(f"{file} is {kind}; it may hold a pickle, which {_CODE}")
    if re.match(rb"\x1f\x8b|\xfd7zXZ\x00|\x28\xb5\x2f\xfd|BZh\d1AY&SY", start):
        raise ValueError(f"{file} is compressed; unpack it first")
    return file


def header_of(line: bytes) -> tuple[int, int] | None:
    """Rows and columns of a first line such as ``b"400000 300\\n"``, else None."""
    result = _HEADER.fullmatch(line)
    return (int(result[1]), int(result[2])) if result else None


def check_promise(file: Path, rows: int, columns: int, *, row_bytes: int) -> None:
    """Refuse a header whose rows cannot lie in the file.

    Parameters: file; rows, columns, as promised; row_bytes, the fewest bytes that a row takes.
    Raises DamagedFile with promise and size.
    """
    size = file.stat().st_size
    if rows < 0 or not 1 <= columns <= MOST_COLUMNS:
        raise DamagedFile(f"{file} promises {rows:,} rows of {columns:,} numbers; expected >= 0 "
                          f"rows of 1 to {MOST_COLUMNS:,}. Get it again")
    if rows * row_bytes > size:
        raise DamagedFile(f"{file} was cut or damaged: {rows:,} rows of {columns:,} numbers take "
                          f">= {rows * row_bytes:,} bytes, {size:,} bytes found. Get it again")


def check_room(file: Path, rows: int, columns: int) -> None:
    """Raise MemoryError where the vectors that are to be read do not fit."""
    check_memory(f"{rows:,} vectors of {columns:,} numbers in {file}", 4 * rows * columns,
                 f"Read fewer: first={max(1, rows // 10)}")


def not_decoded(file: Path, place: str, offset: int, error: UnicodeDecodeError) -> ValueError:
    """The error for a word that is not in the encoding named.

    Parameters: place, such as "line 3"; offset, of the word's first byte.
    """
    return ValueError(f"{file}, {place}, byte {offset + error.start}: "
                      f"{error.object[error.start : error.end].hex(' ')} is not {error.encoding} "
                      f"({error.reason}); name the file's encoding, such as encoding='latin-1'")


def distinct(file: Path, tokens: list[str], matrix: np.ndarray, places: Sequence[int], *,
             place: str) -> tuple[list[str], np.ndarray]:
    """Words and rows without what comes again; the first row of a word is kept, and one DataWarning
    says so.

    Parameters: file; tokens; matrix; places, the number of each token's line or row in the file;
    place, "line" or "row".
    """
    row_of: dict[str, int] = {}
    again = [(row_of[token], i) for i, token in enumerate(tokens)
             if row_of.setdefault(token, i) != i]
    if not again:
        return tokens, matrix
    former, latter = again[0]
    more = f" and {len(again) - 1:,} more words come twice" if len(again) > 1 else ""
    warn_data(f"{file} holds {shown(tokens[latter])} in {place}s {places[former]} and "
              f"{places[latter]}{more}; the first is kept", stacklevel=4)
    kept = np.array(list(row_of.values()), dtype=np.int64)
    return list(row_of), matrix[kept]
