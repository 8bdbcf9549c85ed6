"""Vectors as lines of text: a word, then its numbers. With a first line "rows columns" it is
word2vec's and fastText's format, without it GloVe's.

Words are told from numbers by counting from the right, so a word may hold spaces. Lines are read in
blocks; the matrix is made once, at its final size. Used in lessons ``04_word2vec`` and
``05_glove_and_fasttext``.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..core import DamagedFile, atomic_open, check_int, shown
from .incoming import (check_promise, check_room, distinct, header_of, not_decoded,
                       regular_file)
from .word_vectors import WordVectors

__all__ = ["check_writable", "read_text", "write_text"]

LONGEST_LINE = 1 << 24                           # bytes
BLOCK = 1 << 20                                  # bytes of lines parsed together
LOOK_AT = 1000                                   # lines from which the number of columns is seen
_MARK = b"\xef\xbb\xbf"
_NUMERIC = b"0123456789+-.eE "
_ENDS = b" \r\n"


class _Layout(NamedTuple):
    """Where the rows begin in a file, how many they are, and their width."""

    file: Path
    offset: int
    first_line: int
    rows: int
    columns: int


def read_text(path: str | os.PathLike, *, header: bool | None = None, first: int | None = None,
              encoding: str = "utf-8") -> WordVectors:
    """Read word2vec, fastText (``.vec``) or GloVe text.

    Parameters
    ----------
    path : str or path
    header : bool, optional
        Whether the first line holds rows and columns; None: seen from the lines.
    first : int >= 1, optional
        Read only that many words.
    encoding : str, default "utf-8"

    Returns
    -------
    WordVectors

    Raises
    ------
    FileNotFoundError
    DamagedFile
        Cut, also inside the last line; a promise that the file does not hold; a line with too few
        values, NaN or infinity; no file of vectors.
    ValueError
        A pickle, a compressed file, a byte that is not in the encoding, a first line that may be a
        header or not.

    Warns
    -----
    DataWarning
        A repeated word, which keeps its first row.

    Notes
    -----
    Any word is a word: ``nan``, ``"``, ``#``. Windows line ends and a byte order mark are removed.
    A
    GloVe file that was cut exactly at a line end cannot be told from a shorter one.
    """
    limit = None if first is None else check_int("first", first)
    _check_encoding(encoding)
    layout = _layout(regular_file(path), header)
    n = layout.rows if limit is None else min(limit, layout.rows)
    check_room(layout.file, n, layout.columns)
    matrix, tokens = np.empty((n, layout.columns), dtype=np.float32), []
    with open(layout.file, "rb") as file:
        file.seek(layout.offset)
        while len(tokens) < n:
            offset, lines = file.tell(), file.readlines(BLOCK)[: n - len(tokens)]
            line = layout.first_line + len(tokens)
            words = _parsed(layout.file, line, lines, matrix[len(tokens):len(tokens) + len(lines)])
            tokens += _decoded(layout.file, line, offset, words, lines, encoding)
    lines_of = range(layout.first_line, layout.first_line + n)
    return WordVectors(*distinct(layout.file, tokens, matrix, lines_of, place="line"),
                       name=layout.file.stem)


def _check_encoding(encoding: str) -> None:
    try:
        plain = "0 \n".encode(encoding) == b"0 \n"
    except (LookupError, TypeError, ValueError):
        plain = False
    if not plain:
        raise ValueError(f"encoding={shown(encoding)} is unknown or not built on ASCII; expected a "
                         "name such as 'utf-8' or 'latin-1'")


# ------------------------------------------------------------------------------ the layout


def _layout(path: Path, header: bool | None) -> _Layout:
    n_lines = _count_lines(path)
    with open(path, "rb") as file:
        begin = len(_MARK) if file.read(len(_MARK)) == _MARK else 0
        file.seek(begin)
        lines = [line.rstrip(_ENDS) for line in file.readlines(BLOCK)[:LOOK_AT]]
        file.seek(begin)
        promise = _promise(path, lines, header)
        if promise is None:
            columns = min(line.count(b" ") for line in lines)
            if columns < 1:
                line = next(i for i, line in enumerate(lines, start=1) if b" " not in line)
                raise DamagedFile(f"{path}, line {line}: {shown(lines[line - 1])} has no number; "
                                  "expected a word and its numbers, separated by spaces")
            check_promise(path, n_lines, columns, row_bytes=2 * columns + 1)
            return _Layout(path, begin, 1, n_lines, columns)
        file.readline()
        rows, columns = promise
        check_promise(path, rows, columns, row_bytes=2 * columns + 2)
        if rows != n_lines - 1:
            raise DamagedFile(f"{path} was cut or extended: its first line promises {rows:,} rows, "
                              f"{n_lines - 1:,} lines found in "
                              f"{path.stat().st_size:,} bytes. Get it again")
        return _Layout(path, file.tell(), 2, rows, columns)


def _count_lines(path: Path) -> int:
    """Lines of a file, each of which has to end: a last line without an end may have lost digits,
    and nobody would see it."""
    n, open_bytes = 0, 0  # lines that ended, and bytes since the last end
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            ends = block.count(b"\n")
            n += ends
            open_bytes = len(block) - (block.rfind(b"\n") + 1) + (0 if ends else open_bytes)
            if open_bytes > LONGEST_LINE:
                raise DamagedFile(f"{path} has a line of more than {LONGEST_LINE:,} bytes after "
                                  f"line {n}; expected one word and its numbers per line")
    if open_bytes:
        raise DamagedFile(f"{path} was cut: line {n + 1} has no end, {path.stat().st_size:,} bytes "
                          "found. Get it again; if it is whole, add a line end")
    return n


def _promise(path: Path, lines: list[bytes], header: bool | None) -> tuple[int, int] | None:
    """Rows and columns from the first line, or None when it is a row itself."""
    result = header_of(lines[0])
    if header is not None:
        if header and result is None:
            raise DamagedFile(f"{path}, line 1: {shown(lines[0])} is no header; expected rows and "
                              "columns. Without a header: header=False")
        return result if header else None
    if result is None or len(lines) == 1 or any(line.count(b" ") > 1 for line in lines[1:]):
        return result
    if result[1] == 1:
        raise ValueError(f"{path}, line 1: {shown(lines[0])} may be a header or the word "
                         f"{shown(lines[0].split()[0])} with one number; "
                         "say which: header=True or header=False")
    return None


# ------------------------------------------------------------------------------ the rows


def _parsed(path: Path, line: int, lines: list[bytes], out: np.ndarray) -> list[bytes]:
    """Write the numbers of lines into ``out`` and return their words; the plain case at once, any
    other line by line."""
    lines = [text.rstrip(_ENDS) for text in lines]
    parts = [text.partition(b" ") for text in lines]
    values = None
    if all(word and numbers.count(b" ") == out.shape[1] - 1 for word, _, numbers in parts):
        values = _numbers(b" ".join([numbers for _, _, numbers in parts]), out.size)
    if values is not None:
        out[:] = values.reshape(out.shape)
        return [word for word, _, _ in parts]
    return [_parsed_line(path, line + i, text, out[i]) for i, text in enumerate(lines)]


def _numbers(text: bytes, n: int) -> np.ndarray | None:
    """The n finite numbers of a text, or None when it holds anything else."""
    if text.translate(None, _NUMERIC):
        return None
    with warnings.catch_warnings():
        # how NumPy says that it stopped before the end
        warnings.simplefilter("error", DeprecationWarning)
        try:
            values = np.fromstring(text, dtype=np.float32, sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    return values if len(values) == n and np.isfinite(values).all() else None


def _parsed_line(path: Path, line: int, text: bytes, out: np.ndarray) -> bytes:
    word, *numbers = text.rsplit(b" ", len(out))
    if len(numbers) < len(out) or not word:
        result = "no word" if len(numbers) == len(out) else f"{len(numbers)} numbers"
        raise DamagedFile(f"{path}, line {line}: {shown(text)} has {result}; expected a word and "
                          f"{len(out)} numbers, separated by spaces")
    for i, number in enumerate(numbers):
        value = _numbers(number, 1)
        if value is None:
            raise DamagedFile(f"{path}, line {line}, number {i + 1}: {shown(number)}; expected a "
                              "finite number within float32")
        out[i] = value[0]
    return word


def _decoded(path: Path, line: int, offset: int, words: list[bytes], lines: list[bytes],
             encoding: str) -> list[str]:
    if not words:
        return []
    try:
        return b"\n".join(words).decode(encoding).split("\n")
    except UnicodeDecodeError:
        for i, (word, text) in enumerate(zip(words, lines, strict=True)):
            try:
                word.decode(encoding)
            except UnicodeDecodeError as error:
                raise not_decoded(path, f"line {line + i}", offset, error) from None
            offset += len(text)
        raise


# ------------------------------------------------------------------------------ writing


def check_writable(vectors: WordVectors) -> None:
    """Raise ValueError for a word that the files of word2vec and GloVe cannot hold: one with a
    space, tab or line end."""
    for i, token in enumerate(vectors.tokens):
        if not token.isalnum() and any(mark in token for mark in " \t\n\r"):
            raise ValueError(f"tokens[{i}]={shown(token)} has white space, which this format "
                             "cannot hold; replace it, or keep all in "
                             "WordVectors.save(path)")


def write_text(vectors: WordVectors, path: str | os.PathLike, *, header: bool = True) -> None:
    """Write word2vec or GloVe text; the numbers read back are the same float32, bit for bit.

    Parameters
    ----------
    vectors : WordVectors
    path : str or path
    header : bool, default True
        False: GloVe's format.

    Raises
    ------
    ValueError
        A word with white space.
    OSError
        The file cannot be written; an older one then stays.
    """
    check_writable(vectors)
    if not header and vectors.tokens and vectors.tokens[0].startswith("\ufeff"):
        raise ValueError(f"tokens[0]={shown(vectors.tokens[0])} begins with a byte order mark, "
                         "which readers remove at the start of a file; "
                         "write it with a header, or remove the mark")
    numbers = " %.9g" * vectors.dim + "\n"  # 9 digits tell any two float32 apart
    with atomic_open(path, "w") as file:
        if header:
            file.write(f"{len(vectors)} {vectors.dim}\n")
        for token, row in zip(vectors.tokens, vectors.matrix, strict=True):
            file.write(token + numbers % tuple(row.tolist()))
