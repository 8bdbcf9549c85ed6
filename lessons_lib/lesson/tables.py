"""A small table for notebooks, plain text and screen readers; every cell is escaped.

Numbers stand right, words left. Used by ``lesson.table`` and the leaderboard cell.
"""

from __future__ import annotations

import html
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core import shown

__all__ = ["Table"]


def _text(value: Any) -> str:
    """A cell as text: whole numbers with thousands, others with 4 digits, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, numbers.Number):
        return str(value)
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

    def _is_numeric(self, column: int) -> bool:
        values = [row[column] for row in self.rows if row[column] is not None]
        return bool(values) and all(
            isinstance(v, numbers.Number) and not isinstance(v, bool) for v in values)

    def to_html(self) -> str:
        """The table as escaped HTML with a caption and column heads."""
        side = ["right" if self._is_numeric(j) else "left" for j in range(len(self.columns))]

        def cells(kind: str, values: Iterable[Any]) -> str:
            texts = [f'<{kind} style="text-align:{s}">{html.escape(_text(v))}</{kind[:2]}>'
                     for v, s in zip(values, side, strict=True)]
            return f"<tr>{''.join(texts)}</tr>"

        heads = cells('th scope="col"', self.columns)
        body = "\n".join(cells("td", row) for row in self.rows)
        caption = f"<caption>{html.escape(self.caption)}</caption>\n" if self.caption else ""
        return f"<table>\n{caption}<thead>{heads}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"

    def to_text(self) -> str:
        """The table as aligned plain text."""
        cells = [self.columns, *([" ".join(_text(v).split()) for v in row] for row in self.rows)]
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
