"""Grades as tables that a spreadsheet or a learning platform reads: one row for each student, and one for each student and exercise.

Whatever a student wrote into a name or an answer stays text: a cell that a spreadsheet would take for a formula gets an apostrophe in front.
Used by ``lessons grade``.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..core import atomic_open
from .assign import Assignment
from .grading import Graded

__all__ = ["cell_text", "printable", "write_tables"]

FORMULA = re.compile(r"^[\s\x00-\x1f\x7f\u200b\ufeff]*[=+\-@|%\uff1d\uff0b\uff0d\uff20]")
INSIDE = re.compile(r"([\n\t;][\s\u200b\ufeff\"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
MAX_CHARS = 5000


def printable(text: str) -> str:
    """A text that any terminal and any file takes: without control characters and turned directions, what is no UTF-8 in a file's name escaped."""
    return CONTROL.sub(" ", text.encode("utf-8", "backslashreplace").decode("utf-8"))


def cell_text(value: object) -> str:
    """A value as the text of a cell: numbers as they are, other text without control characters, with ``'`` before what looks like a formula, also
    where a spreadsheet that separates cells by semicolons would begin one."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{value:g}"
    text = str(value)
    escaped = printable(text[:MAX_CHARS])
    start = FORMULA.match(escaped)
    begun = start.end() if start else 0
    escaped = escaped[:begun] + INSIDE.sub(r"\1'", escaped[begun:])
    return f"'{escaped}" if start or FORMULA.match(text) or text[:1] in ("\t", "\r", "\n") else escaped


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    # The mark in front tells spreadsheets that this is UTF-8; readers of CSV skip it.
    with atomic_open(path, encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([cell_text(value) for value in head])
        writer.writerows([cell_text(value) for value in row] for row in rows)
    return path


def write_tables(assignment: Assignment, rows: Iterable[Graded], folder: str | os.PathLike | None = None) -> list[Path]:
    """Write ``grades.csv`` and ``details.csv`` into a folder (default: the assignment's) and return their paths.

    ``grades.csv``: student, a column ``lesson.exercise`` for each exercise, total, possible, percent. ``details.csv``: student, lesson, exercise,
    points, possible, remark, answer; open questions have no points until a person gives them.
    """
    rows, target = list(rows), Path(folder or assignment.folder)
    columns = assignment.exercises
    students = list(dict.fromkeys(row.student for row in rows))
    points = {(row.student, row.lesson, row.exercise): row.points for row in rows}
    wide = []
    for student in students:
        own = [points.get((student, lesson, name)) or 0.0 for lesson, name in columns]
        wide.append([student, *own, sum(own), len(columns), round(100 * sum(own) / len(columns), 1)])
    head = ["student", *(f"{assignment.lessons[lesson]['stem']}.{name}" for lesson, name in columns), "total", "possible", "percent"]
    long = [[row.student, row.lesson, row.exercise, row.points, row.possible, row.remark, row.answer] for row in rows]
    return [_write(target / "grades.csv", head, wide),
            _write(target / "details.csv", ["student", "lesson", "exercise", "points", "possible", "remark", "answer"], long)]
