"""A page for each student, ready to be handed back: what was asked, what is right, and what to look
at.

The pages open in any browser by a double click. All that a student wrote stays text in them, and
their names lead nowhere else than into the folder. Used by ``lessons grade``.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ..core import write_text
from ..exercises import for_lesson
from ..lesson.course import Course
from .assignment import Assignment
from .grading import HAND_IN, OPEN, Graded
from .partial import CORRECT
from .tables import printable, totals
from .tasks import open_questions

__all__ = ["write_feedback"]

MAX_NAME_BYTES = 120                             # file systems take 255, also while it is written
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)      # Windows
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 44em; margin: 2em auto; padding: 0 1em;
       overflow-wrap: anywhere }}
h3 {{ margin: 1.5em 0 0 }}
p, ul, blockquote {{ margin: .4em 0 }}
blockquote {{ border-left: 3px solid gray; padding-left: .8em; white-space: pre-wrap }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def _text(text: str) -> str:
    return escape(printable(text))


def _sentence(text: str) -> str:
    """As a paragraph: a capital in front, a stop at the end."""
    text = text.strip()
    return f"<p>{_text(text[:1].upper() + text[1:])}{'' if text[-1:] in '.?!' else '.'}</p>"


def _of(points: float, possible: float) -> str:
    return f"{points:g} of {possible:g} {'point' if possible == 1 else 'points'}"


def _exercise(row: Graded) -> list[str]:
    exercise = for_lesson(row.lesson)[row.exercise]
    parts = [f"<h3>{_text(row.exercise)}: {_of(row.points or 0.0, row.possible)}</h3>",
             _sentence(exercise.question), _sentence(row.told or row.remark)]
    if row.remark != CORRECT:
        hints = "".join(f"<li>{_text(hint)}</li>" for hint in exercise.hints)
        parts.append(f"<p>Hints:</p>\n<ul>{hints}</ul>")
    return parts


def _question(row: Graded, asked: Sequence[str]) -> list[str]:
    number = row.exercise.removeprefix(OPEN)
    points = "" if row.points is None else f": {_of(row.points, row.possible)}"
    parts = [f"<h3>{_text(row.exercise.capitalize())}{points}</h3>"]
    if number.isdecimal() and 1 <= int(number) <= len(asked):
        question = asked[int(number) - 1]
        parts.append(_sentence(re.sub(r"^\*\*Open questions?\.\*\*\s*", "", question)))
    if row.answer:
        parts.append(f"<blockquote>{_text(row.answer)}</blockquote>")
    return [*parts, _sentence(row.remark)]


def _page(assignment: Assignment, rows: Sequence[Graded], total: float, possible: float) -> str:
    body = [f"<p><strong>{_of(total, possible)}</strong></p>"]
    body += [_sentence(f"your file {row.exercise} {row.remark}") for row in rows if not row.lesson]
    for lesson, entry in assignment.lessons.items():
        own = [row for row in rows if row.lesson == lesson]
        asked = open_questions(Course().card(lesson))
        body.append(f"<h2>{_text(entry['title'])}</h2>")
        body += [_sentence(row.remark) for row in own if row.exercise == HAND_IN]
        for row in own:
            if row.exercise.startswith(OPEN):
                body += _question(row, asked)
            elif row.exercise != HAND_IN:
                body += _exercise(row)
    title = ", ".join(entry["title"] for entry in assignment.lessons.values())
    return PAGE.format(title=_text(f"{rows[0].student}: {title}"), body="\n".join(body))


def _stem(student: str, taken: set[str]) -> str:
    """A name for a student's file that all systems take and no other student has."""
    letters = re.sub(r"[^\w .,'()+@-]", "_", unicodedata.normalize("NFC", printable(student)))
    short = letters.strip(" .-").encode()[:MAX_NAME_BYTES].decode(errors="ignore")
    stem = short.rstrip(" .") or "_"
    stem = f"_{stem}" if DEVICES.match(stem) else stem
    free, number = stem, 1
    while free.casefold() in taken:
        number += 1
        free = f"{stem} ({number})"
    taken.add(free.casefold())
    return free


def write_feedback(assignment: Assignment, rows: Iterable[Graded],
                   folder: str | os.PathLike | None = None) -> list[Path]:
    """Write a page for each student.

    Parameters
    ----------
    assignment : Assignment
    rows : iterable of Graded
        Of `grade`, with the points of the open questions that a person gave.
    folder : path, optional
        ``feedback`` in the assignment's where it is left out. Pages of a former grading are
        replaced.

    Returns
    -------
    list of Path
        ``NAME.html``; signs that a system does not take in a file's name are ``_``.
    """
    rows, taken = list(rows), set()
    target = Path(folder or assignment.folder / "feedback")
    target.mkdir(exist_ok=True)
    written = []
    for student, *_, total, possible in totals(assignment, rows)[1]:
        own = [row for row in rows if row.student == student]
        written.append(target / f"{_stem(student, taken)}.html")
        write_text(written[-1], _page(assignment, own, total, possible))
    return written
