"""Rows of text as an aligned table for a terminal and as an HTML table for a notebook.

All cells are escaped in HTML, because names of encoders and sets come from callers. Used by results
and by the leaderboard.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

__all__ = ["html_table", "spanned", "text_table"]


def spanned(interval: tuple[float, float] | None) -> str:
    """The cell of an interval of correlations, x 100."""
    return "–" if interval is None else f"{100 * interval[0]:.1f} … {100 * interval[1]:.1f}"


def text_table(rows: Sequence[Sequence[str]], *, left: int) -> str:
    """Lines with aligned columns, the first ``left`` of them flush left; row 0 is the header."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) if k < left else cell.rjust(width)
                               for k, (cell, width) in enumerate(zip(row, widths, strict=True))
                               ).rstrip() for row in rows)


def html_table(rows: Sequence[Sequence[str]], *, caption: str,
               bold: frozenset[tuple[int, int]] = frozenset()) -> str:
    """An HTML table; row 0 is the header. bold: (row, column) of body cells to stress, from 0."""
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in rows[0])
    body = []
    for r, row in enumerate(rows[1:]):
        cells = [f"<b>{html.escape(cell)}</b>" if (r, k) in bold else html.escape(cell)
                 for k, cell in enumerate(row)]
        body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return (f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table>")
