"""A small table for notebooks, plain text and screen readers; every cell is escaped.

Numbers stand right, words left. A lesson's own table (`small_table`) has few rows and columns, one
precision in each column, and standard names of encoders. Used by ``lesson.table`` and the
leaderboard cell.
"""

from __future__ import annotations

import html
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core import shown
from ..plots import standard_encoder

__all__ = ["MAX_COLUMNS", "MAX_ROWS", "Table", "small_table"]

MAX_ROWS, MAX_COLUMNS = 6, 5


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number) and not isinstance(value, bool)


def _text(value: Any, form: str | None = None) -> str:
    """A cell as text: whole numbers with thousands, others with 4 digits, None as a dash."""
    if value is None:
        return "–"
    if not _is_number(value):
        return str(value)
    if form is not None:
        return format(float(value), form)
    return f"{int(value):,}" if isinstance(value, numbers.Integral) else f"{float(value):,.4g}"


class Table:
    """A table for notebooks, of rows that are sequences of cells or dicts by column.

    Raises ValueError for a row of another length than the columns, TypeError for a text as row.
    """

    def __init__(self, rows: Iterable[Sequence | Mapping], columns: Sequence[str],
                 caption: str = ""):
        self.columns, self.caption = [str(c) for c in columns], caption
        self.rows: list[list[Any]] = []
        for i, row in enumerate(rows):
            if isinstance(row, (str, bytes)):
                raise TypeError(f"rows[{i}]={shown(row)} is a {type(row).__name__}; expected a "
                                f"sequence of {len(self.columns)} cells or a dict")
            cells = [row.get(c) for c in columns] if isinstance(row, Mapping) else list(row)
            if len(cells) != len(self.columns):
                raise ValueError(f"rows[{i}] has {len(cells)} cells; expected {len(self.columns)}: "
                                 f"{', '.join(self.columns)}")
            self.rows.append(cells)
        self.forms: list[str | None] = [None] * len(self.columns)

    def _is_numeric(self, column: int) -> bool:
        values = [row[column] for row in self.rows if row[column] is not None]
        return bool(values) and all(map(_is_number, values))

    def _texts(self, row: Sequence[Any]) -> list[str]:
        return [_text(value, form) for value, form in zip(row, self.forms, strict=True)]

    def to_html(self) -> str:
        """The table as escaped HTML with a caption and column heads."""
        side = ["right" if self._is_numeric(j) else "left" for j in range(len(self.columns))]

        def cells(kind: str, values: Iterable[str]) -> str:
            texts = [f'<{kind} style="text-align:{s}">{html.escape(v)}</{kind[:2]}>'
                     for v, s in zip(values, side, strict=True)]
            return f"<tr>{''.join(texts)}</tr>"

        heads = cells('th scope="col"', self.columns)
        body = "\n".join(cells("td", self._texts(row)) for row in self.rows)
        caption = f"<caption>{html.escape(self.caption)}</caption>\n" if self.caption else ""
        return f"<table>\n{caption}<thead>{heads}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"

    def to_text(self) -> str:
        """The table as aligned plain text."""
        cells = [self.columns, *([" ".join(text.split()) for text in self._texts(row)]
                                 for row in self.rows)]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        right = [self._is_numeric(j) for j in range(len(self.columns))]
        lines = ["  ".join(c.rjust(w) if r else c.ljust(w)
                           for c, w, r in zip(row, widths, right, strict=True)).rstrip()
                 for row in cells]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join(([self.caption] if self.caption else []) + lines)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": self.to_text()}

    def __repr__(self) -> str:
        return self.to_text()


def _form(values: Iterable[Any]) -> str | None:
    """How a column of numbers is written: as exactly as its largest deserves; None for others."""
    sizes = [abs(float(value)) for value in values if _is_number(value)]
    if all(size == int(size) for size in sizes if size < math.inf):
        return None
    largest = max(sizes)
    if largest >= 0.1:
        # z: what rounds to nothing has no sign
        return "z,.0f" if largest >= 1000 else "z.1f" if largest >= 10 else "z.2f"
    return ".2g"


def small_table(rows: Iterable[Sequence | Mapping], columns: Sequence[str],
                caption: str = "") -> Table:
    """The table of a lesson, refused beyond its limits.

    A column called "encoder" holds standard names (`plots.standard_encoder`).
    """
    table = Table(rows, columns, caption)
    for what, things, most in (("rows", table.rows, MAX_ROWS),
                               ("columns", table.columns, MAX_COLUMNS)):
        if len(things) > most:
            raise ValueError(f"the table has {len(things)} {what}; at most {most}. Keep those that "
                             "the next paragraph talks about, draw the others, or make two tables")
    if "encoder" in table.columns:
        place = table.columns.index("encoder")
        for row in table.rows:
            standard_encoder(row[place])
    table.forms = [_form(row[j] for row in table.rows) for j in range(len(table.columns))]
    return table
