"""Tables on the terminal, for every command."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["show_table"]


def _console() -> Console:
    console = Console(soft_wrap=False)
    return console if console.is_terminal else Console(width=150)      # a log file has no width


def show_table(title: str, columns: list[str], rows: list[list[Any]], *, right: tuple[str, ...] = ()) -> None:
    """Print a table. Parameters: title; columns, their names; rows of cells, printed with str; right, the columns that are set to the right."""
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))              # Text: brackets in data are not markup
    _console().print(table)
