"""Vectors in word2vec's binary format: a line "rows columns", then for each word its bytes, a space
and its float32 numbers, little-endian.

The format has no checksum: a flipped bit in a number cannot be noticed, a file that is cut or
promises too much can. Files by the original program end each row with a line end, gensim's do not;
both are read. Used in lesson ``04_word2vec``.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np

from ..core import DamagedFile, atomic_open, check_int, shown
from .incoming import (check_promise, check_room, distinct, header_of, not_decoded,
                       regular_file)
from .text_format import check_writable
from .word_vectors import WordVectors

__all__ = ["read_binary", "write_binary"]

LONGEST_WORD = 100_000                           # bytes
CHECK_AT_ONCE = 1 << 16                          # rows


def read_binary(path: str | os.PathLike, *, first: int | None = None,
                encoding: str = "utf-8") -> WordVectors:
    """Read word2vec's binary format.

    Parameters
    ----------
    path : str or path
    first : int >= 1, optional
        Read only that many words.
    encoding : str, default "utf-8"
        Of the words.

    Returns
    -------
    WordVectors

    Raises
    ------
    FileNotFoundError
    DamagedFile
        Cut, extended, a promise that the file does not hold, NaN or infinity, no file of vectors.
    ValueError
        A pickle, a compressed file, a byte that is not in the encoding.

    Warns
    -----
    DataWarning
        A repeated word, which keeps its first row.
    """
    limit = None if first is None else check_int("first", first)
    file = regular_file(path)
    with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0,
                                               access=mmap.ACCESS_READ) as content:
        begin = content.find(b"\n", 0, 100) + 1
        promise = header_of(content[:begin])
        if promise is None:
            raise DamagedFile(f"{file} begins with {shown(content[:20])}; expected a line of rows "
                              "and columns. Is it text? Use read_text")
        rows, columns = promise
        check_promise(file, rows, columns, row_bytes=4 * columns + 2)
        n = rows if limit is None else min(limit, rows)
        check_room(file, n, columns)
        matrix, tokens = np.empty((n, columns), dtype=np.float32), []
        end = _read_rows(file, content, begin, tokens, matrix, encoding)
        if n == rows and content[end : end + 2] not in (b"", b"\n"):
            raise DamagedFile(f"{file} was extended or damaged: {rows:,} rows end at byte {end:,}, "
                              f"{len(content):,} bytes found. Get it again")
    _check_finite(file, tokens, matrix)
    return WordVectors(*distinct(file, tokens, matrix, range(1, n + 1), place="row"),
                       name=file.stem)


def _read_rows(file: Path, content: mmap.mmap, at: int, tokens: list[str], matrix: np.ndarray,
               encoding: str) -> int:
    """Read the words and numbers of all rows of ``matrix``, beginning at a byte.

    Returns the byte behind the last.
    """
    n, columns = matrix.shape
    for i in range(n):
        space = content.find(b" ", at, at + LONGEST_WORD)
        after = space + 1 + 4 * columns
        if space < 0 or after > len(content):
            rest = 1 + 4 * columns + (n - i - 1) * (4 * columns + 2)
            needed = (at + 1 if space < 0 else space) + rest
            raise DamagedFile(f"{file} was cut or damaged in row {i + 1} of {n:,}: >= {needed:,} "
                              f"bytes expected, {len(content):,} bytes found. Get it again")
        word = content[at:space].lstrip(b"\n")
        if not word:
            raise DamagedFile(f"{file}, row {i + 1}, byte {at:,}: no word; expected a word and "
                              f"{columns} numbers. Get it again")
        try:
            tokens.append(word.decode(encoding))
        except UnicodeDecodeError as error:
            raise not_decoded(file, f"row {i + 1}", space - len(word), error) from None
        matrix[i] = np.frombuffer(content, "<f4", columns, space + 1)
        at = after
    return at


def _check_finite(file: Path, tokens: list[str], matrix: np.ndarray) -> None:
    for begin in range(0, len(matrix), CHECK_AT_ONCE):
        finite = np.isfinite(matrix[begin : begin + CHECK_AT_ONCE]).all(axis=1)
        if not finite.all():
            row = begin + int(finite.argmin())
            raise DamagedFile(f"{file}, row {row + 1}, {shown(tokens[row])}: NaN or infinity; "
                              "expected finite numbers. Get it again")


def write_binary(vectors: WordVectors, path: str | os.PathLike) -> None:
    """Write word2vec's binary format, with a line end after each row as the original program does.

    Parameters
    ----------
    vectors : WordVectors
    path : str or path

    Raises
    ------
    ValueError
        A word with white space.
    OSError
        The file cannot be written; an older one then stays.
    """
    check_writable(vectors)
    with atomic_open(path, "wb") as file:
        file.write(f"{len(vectors)} {vectors.dim}\n".encode())
        for token, row in zip(vectors.tokens, vectors.matrix, strict=True):
            file.write(token.encode() + b" " + row.astype("<f4").tobytes() + b"\n")
