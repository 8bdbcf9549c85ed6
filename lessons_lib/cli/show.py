"""Tables on the terminal, for every command."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["show_board", "show_table"]


def _console() -> Console:
    console = Console(soft_wrap=False)
    return console if console.is_terminal else Console(width=150)      # a log file has no width


def show_table(title: str, columns: list[str], rows: list[list[Any]], *,
               right: tuple[str, ...] = ()) -> None:
    """Print a table of cells, shown by str; the columns ``right`` are set to the right."""
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))  # Text: brackets in data are not markup
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
