"""Rows of text as an aligned table for a terminal and as an HTML table for a notebook, without
script or style sheet.

All cells are escaped in HTML, because names of encoders and sets come from callers. Used by results
and by the leaderboard.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

__all__ = ["html_table", "text_table"]


def text_table(rows: Sequence[Sequence[str]], *, left: int) -> str:
    """Lines with aligned columns; the first ``left`` columns are flush left, numbers flush right.

    The first row is the header.
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(rows: Sequence[Sequence[str]], *, caption: str,
               bold: frozenset[tuple[int, int]] = frozenset()) -> str:
    """An HTML table; the first row is the header. bold: (row, column) of body cells to stress,
    counted from 0.
    """
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in rows[0])
    body = []
    for r, row in enumerate(rows[1:]):
        cells = [
            f"<b>{html.escape(cell)}</b>" if (r, k) in bold else html.escape(cell)
            for k, cell in enumerate(row)
        ]
        body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )
