"""Checksums of what a set says, whatever file it came in: so any mirror will do, and what comes
is proved.

Two sums over the rows, for the columns that a loader needs. ``exact`` proves the very rows that
the course was measured on, in their order. ``folded`` proves the same rows in another order,
casing, spacing or punctuation, as another copy of a set often has them. Both stand in
``data/manifest.toml``; ``lessons data verify --rows`` computes them again.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .tables import read_table

__all__ = ["RowSums", "row_sums", "row_sums_of_file"]

NUMBERS = {"score", "count", "value", "layer"}  # compared as numbers: 4.400 is 4.4


@dataclass(frozen=True)
class RowSums:
    """The number of rows, and 32 hex digits of the sha256 of them as they are, and folded."""

    rows: int
    exact: str
    folded: str


def _exact_cell(column: str, text: str) -> str:
    if column in NUMBERS:
        return f"{round(float(text), 2) + 0.0:.2f}"
    return " ".join(unicodedata.normalize("NFC", text).split())


def _folded_cell(column: str, text: str) -> str:
    if column in NUMBERS:
        return f"{round(float(text), 2) + 0.0:.2f}"
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def row_sums(rows: Iterable[Mapping[str, str]], columns: Sequence[str]) -> RowSums:
    """The checksums of rows.

    Parameters
    ----------
    rows : the rows, a text by column
    columns : the columns that count, in the order in which they count

    Raises
    ------
    KeyError : a row lacks a column
    ValueError : a number column holds no number

    Notes
    -----
    exact : every cell in NFC with each run of white space (line ends too) as one space and none
    at either end; a number with two decimals, as copies round differently; cells joined by
    U+001F, rows by a line feed, in their order, in UTF-8.
    folded : the same from cells in NFKC, case folded, with letters and digits only; rows sorted.
    """
    exact, folded = hashlib.sha256(), []
    for row in rows:
        cells = [(column, row[column]) for column in columns]
        exact.update(("\x1f".join(_exact_cell(*cell) for cell in cells) + "\n").encode("utf-8"))
        line = "\x1f".join(_folded_cell(*cell) for cell in cells)
        folded.append(hashlib.sha256(line.encode("utf-8")).digest())
    digest = hashlib.sha256(b"".join(sorted(folded))).hexdigest()
    return RowSums(len(folded), exact.hexdigest()[:32], digest[:32])


def row_sums_of_file(path: Path, columns: Sequence[str]) -> RowSums:
    """The checksums of a table in the layout of this room. Raises as `read_table`."""
    table = read_table(path, columns)
    values = [table[column] for column in columns]
    return row_sums(
        (dict(zip(columns, cells, strict=True)) for cells in zip(*values, strict=True)), columns
    )
