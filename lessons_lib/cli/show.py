"""Tables on the terminal, for every command."""

from __future__ import annotations

import re
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["plain", "show_board", "show_table"]

# Characters that steer a terminal or turn the direction of what follows, but no line end.
_STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def plain(text: str, *, line: bool = True) -> str:
    """A text from elsewhere, such as the name of a file, with what would steer a terminal written
    out; where it should be one ``line``, line ends, too.
    """
    text = _STEERING.sub(lambda match: ascii(match[0])[1:-1], text)
    return text.replace("\n", "\\n") if line else text


def _console() -> Console:
    console = Console(soft_wrap=False)
    return console if console.is_terminal else Console(width=150)      # a log file has no width


def show_table(title: str, columns: list[str], rows: list[list[Any]], *,
               right: tuple[str, ...] = ()) -> None:
    """Print a table of cells, shown by str; the columns ``right`` are set to the right."""
    from rich.text import Text

    # Text: brackets in data are not markup
    table = Table(title=Text(plain(title)), title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(str(cell), line=False)) for cell in row))
    _console().print(table)


def show_board(board: Any) -> None:
    """Print a leaderboard, its rows in the order of the lessons.

    Parameters
    ----------
    board : an `evaluation.Leaderboard`.
    """
    from ..lesson.course import Course

    print("Leaderboard: Spearman correlation x 100")
    if board.rows():
        print(board.to_text(lessons=Course().ids()))
    else:
        print("No rows yet: each lesson adds its own; the course's are at `lessons leaderboard "
              "--reference`")
