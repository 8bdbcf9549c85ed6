"""Grades as tables that a spreadsheet or a learning platform reads: one row for each student, and
one for each student and exercise.

Whatever a student wrote into a name or an answer stays text: a cell that a spreadsheet would take
for a formula gets an apostrophe in front. Used by ``lessons grade``.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core import atomic_open
from .assignment import Assignment
from .grading import OPEN, Graded

__all__ = ["Given", "cell_text", "given_points", "printable", "totals", "with_points",
           "write_tables"]

DETAILS = ("student", "lesson", "exercise", "points", "possible", "remark", "answer")

FORMULA = re.compile(r"^[\s\x00-\x1f\x7f\u200b\ufeff]*[=+\-@|%\uff1d\uff0b\uff0d\uff20]")
INSIDE = re.compile(r"([\n\t;][\s\u200b\ufeff\"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
MAX_CHARS = 5000


def printable(text: str) -> str:
    """A text that any terminal and any file takes: without control characters and turned
    directions, what is no UTF-8 in a file's name escaped.
    """
    return CONTROL.sub(" ", text.encode("utf-8", "backslashreplace").decode("utf-8"))


def cell_text(value: object) -> str:
    """A value as the text of a cell: numbers as they are, other text without control characters,
    with ``'`` before what looks like a formula, also where a spreadsheet that separates cells by
    semicolons would begin one.
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{value:g}"
    text = str(value)
    escaped = printable(text[:MAX_CHARS])
    start = FORMULA.match(escaped)
    begun = start.end() if start else 0
    escaped = escaped[:begun] + INSIDE.sub(r"\1'", escaped[begun:])
    risky = start or FORMULA.match(text) or text[:1] in ("\t", "\r", "\n")
    return f"'{escaped}" if risky else escaped


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    # The mark in front tells spreadsheets that this is UTF-8; readers of CSV skip it.
    with atomic_open(path, encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([cell_text(value) for value in head])
        writer.writerows([cell_text(value) for value in row] for row in rows)
    return path


@dataclass(frozen=True)
class Given:
    """What a person wrote into a row of ``details.csv``, and for which answer."""

    points: float
    possible: float
    answer: str


def _number(file: Path, line: int, name: str, text: str) -> float:
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueError(f"{file}, line {line}: {name} is {text!r}; expected a number >= 0, such "
                         "as 1 or 0.5")
    return value


def given_points(assignment: Assignment) -> dict[tuple[str, str, str], Given]:
    """Points of open questions in the ``details.csv`` of an assignment, by the cells of student,
    lesson and question; none where there is no file.

    Raises ValueError, with the line, for what is no table of this kind and for points that are no
    number or more than is possible.
    """
    file, result = assignment.folder / "details.csv", {}
    if not file.is_file():
        return result
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not UTF-8; save it as CSV UTF-8, so that the points in it are "
                         "kept") from None
    # spreadsheets of some countries write semicolons
    separator = max(",;\t", key=text.partition("\n")[0].count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
    if not set(DETAILS) <= set(rows.fieldnames or ()):
        raise ValueError(f"{file} has not the columns {', '.join(DETAILS)}, so points in it cannot "
                         "be kept; mend it, or move it away")
    for row in rows:
        if row["exercise"] and row["exercise"].startswith(OPEN) and (row["points"] or "").strip():
            points, possible = (_number(file, rows.line_num, name, row[name] or "")
                                for name in ("points", "possible"))
            if points > possible:
                raise ValueError(f"{file}, line {rows.line_num}: points is {points:g}, possible "
                                 f"{possible:g}; expected points <= possible")
            key = row["student"], row["lesson"], row["exercise"]
            result[key] = Given(points, possible, row["answer"] or "")
    return result


def with_points(rows: Iterable[Graded],
                given: Mapping[tuple[str, str, str], Given]) -> list[Graded]:
    """Rows with the points that a person gave; at the end those for what is not handed in now."""
    result, left = [], dict(given)
    for row in rows:
        key = (cell_text(row.student), row.lesson, row.exercise)
        if row.exercise.startswith(OPEN) and (one := left.pop(key, None)) is not None:
            same = " ".join(cell_text(row.answer).split()) == " ".join(one.answer.split())
            remark = "read by a person" + ("" if same else "; the answer changed since")
            row = replace(row, points=one.points, possible=one.possible, remark=remark)
        result.append(row)
    gone = "read by a person; nothing handed in for it now"
    return result + [Graded(key[0].removeprefix("'"), *key[1:], one.points, one.possible, gone,
                           one.answer) for key, one in left.items()]


def totals(assignment: Assignment,
           rows: Sequence[Graded]) -> tuple[list[tuple[str, str]], list[list[Any]]]:
    """Columns (lesson, exercise), and for each student name, points by column, sum, possible. An
    open question counts, for everybody, as soon as a person gave points to one answer; who has none
    then has 0 of it.
    """
    columns, worth = [], {pair: 1.0 for pair in assignment.exercises}
    for row in rows:
        if row.exercise.startswith(OPEN) and row.points is not None:
            pair = row.lesson, row.exercise
            worth[pair] = max(row.possible, worth.get(pair, 0.0))
    for lesson in assignment.lessons:
        columns += [pair for pair in assignment.exercises if pair[0] == lesson]
        asked = [pair for pair in worth if pair[0] == lesson and pair[1].startswith(OPEN)]
        columns += sorted(asked, key=lambda pair: (len(pair[1]), pair[1]))
    points = {(row.student, row.lesson, row.exercise): row.points for row in rows}
    table = []
    for student in dict.fromkeys(row.student for row in rows):
        own = [points.get((student, *pair)) or 0.0 for pair in columns]
        table.append([student, *own, sum(own), sum(worth[pair] for pair in columns)])
    return columns, table


def write_tables(assignment: Assignment, rows: Iterable[Graded],
                 folder: str | os.PathLike | None = None) -> list[Path]:
    """Write ``grades.csv`` and ``details.csv``.

    Parameters
    ----------
    assignment : Assignment
    rows : iterable of Graded
    folder : path, optional
        The assignment's where it is left out.

    Returns
    -------
    list of Path

    Notes
    -----
    ``grades.csv``: student, a column ``lesson.exercise`` for each exercise and each open question
    with points, total, possible, percent. ``details.csv``: student, lesson, exercise, points,
    possible, remark, answer; open questions have no points until a person gives them.
    """
    rows, target = list(rows), Path(folder or assignment.folder)
    columns, table = totals(assignment, rows)
    wide = [[*line, round(100 * line[-2] / line[-1], 1)] for line in table]
    head = ["student", *(f"{assignment.lessons[lesson]['stem']}.{name}"
                         for lesson, name in columns), "total", "possible", "percent"]
    long = [[row.student, row.lesson, row.exercise, row.points, row.possible, row.remark,
             row.answer] for row in rows]
    return [_write(target / "grades.csv", head, wide),
            _write(target / "details.csv", DETAILS, long)]
