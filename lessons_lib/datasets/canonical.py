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

from .registry import RegisteredFile
from .tables import Table

__all__ = ["RowSums", "row_sums", "row_sums_of"]

NUMBERS = {"score", "count", "value", "layer"}  # compared as numbers: 4.400 is 4.4


@dataclass(frozen=True)
class RowSums:
    """The number of rows, and 32 hex digits of the sha256 of them as they are, and folded."""

    rows: int
    exact: str
    folded: str

    def proof_of(self, file: RegisteredFile) -> str:
        """What these rows prove of a file: "exact", "folded", or "" for nothing, see `receipts`."""
        if self.exact == file.exact:
            return "exact"
        return "folded" if self.folded == file.folded else ""

    def differences(self, file: RegisteredFile) -> str:
        """Both checksums beside those of the manifest, where other rows came."""
        return (f"other rows: {self.rows:,} with checksums {self.exact[:12]}… and, folded, "
                f"{self.folded[:12]}…; expected {file.rows:,} with {file.exact[:12]}… or "
                f"{file.folded[:12]}…")


def _cells(column: str, text: str) -> tuple[str, str]:
    """A cell as it is summed exactly, and folded."""
    if column in NUMBERS:
        number = f"{round(float(text), 2) + 0.0:.2f}"
        return number, number
    exact = " ".join(unicodedata.normalize("NFC", text).split())
    plain = unicodedata.normalize("NFKC", text).casefold()
    return exact, "".join(letter for letter in plain if letter.isalnum())


def row_sums(rows: Iterable[Mapping[str, str]], columns: Sequence[str]) -> RowSums:
    """The checksums of rows, a text by column, over some columns in their order. exact: every cell
    in NFC with each run of white space (line ends too) as one space and none at either end; a
    number with two decimals, as copies round differently; cells joined by U+001F, rows by a line
    feed, in their order, in UTF-8. folded: the same from cells in NFKC, case folded, with letters
    and digits only; rows sorted by their own sha256. Raises KeyError (a row lacks a column),
    ValueError (a number column holds no number)."""
    exact, folded = hashlib.sha256(), []
    for row in rows:
        cells = [_cells(column, row[column]) for column in columns]
        exact.update(("\x1f".join(cell for cell, _ in cells) + "\n").encode("utf-8"))
        folded.append(hashlib.sha256("\x1f".join(cell for _, cell in cells).encode()).digest())
    digest = hashlib.sha256(b"".join(sorted(folded))).hexdigest()
    return RowSums(len(folded), exact.hexdigest()[:32], digest[:32])


def row_sums_of(table: Table, columns: Sequence[str]) -> RowSums:
    """The checksums of a table in the layout of this room. Raises as `row_sums`."""
    rows = zip(*(table[column] for column in columns), strict=True)
    return row_sums((dict(zip(columns, row, strict=True)) for row in rows), columns)
