"""One thing that is wrong with a lesson, as every check of `publish` reports it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Problem"]


@dataclass(frozen=True)
class Problem:
    """One thing to mend. As ``str``: one line.

    Parameters
    ----------
    lesson : str
        Id, or a file of the course.
    rule, message : str
        What is broken, and what to do.
    cell : int or None
        From 1 among all cells; None for the whole file.
    """

    lesson: str
    rule: str
    message: str
    cell: int | None = None

    def __str__(self) -> str:
        return (f"{self.lesson}{f', cell {self.cell}' if self.cell else ''}: {self.message} "
                f"[{self.rule}]")
