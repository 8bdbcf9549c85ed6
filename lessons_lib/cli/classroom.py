"""``lessons assign``, ``lessons grade``, ``lessons guide``: from clone to a graded class."""

from __future__ import annotations

import math
import sys
from contextlib import closing
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Annotated, Any

from ..core import BackendUnavailable
from .options import argument, option, unset
from .show import show_table
from .training import Stopped

__all__ = ["assign", "grade", "guide"]


def assign(
    ids: Annotated[list[str], argument("lessons, such as one_hot")],
    out: Annotated[Path, option("a new folder")],
    seed: Annotated[int | None, unset("of the hidden inputs; default: a secret one")] = None,
    otter: Annotated[bool, option("an otter-grader version too, where otter is installed")] = True,
) -> None:
    """Make an assignment of the exercises of lessons: notebooks for students, and what grading
    needs.
    """
    from ..classroom import assign as make
    from ..classroom import otter_missing, write_otter

    made = make(ids, out, seed=seed)
    rows = [[entry["stem"], len(entry["exercises"]), entry["open"]]
            for entry in made.lessons.values()]
    show_table(f"Assignment {made.id}", ["lesson", "exercises", "open questions"], rows,
               right=("exercises", "open questions"))
    print(f"hand out {out / 'student'}, collect into {out / 'submissions'}, then: lessons grade "
          f"{out}")
    if not otter:
        return
    if reason := otter_missing():
        print(f"no otter-grader version: {reason}")
        return
    try:
        for path in write_otter(made):
            print(f"otter-grader: {path}")
    except (RuntimeError, TimeoutExpired) as error:
        raise ValueError(f"{out} is whole but for its otter-grader version: {error}") from error


def grade(
    folder: Annotated[Path, argument("of the assignment")],
    jobs: Annotated[int | None, unset("submissions at once; default: one for each core")] = None,
    weak: Annotated[bool, option("also where the system cannot confine a submission: you trust "
                                 "your students", "--weak")] = False,
    memory: Annotated[int, option("MB for each submission")] = 2000,
    seconds: Annotated[float, option("for each submission in all")] = 300.0,
) -> None:
    """Grade what lies in FOLDER/submissions and write grades.csv, details.csv, and a page for each
    student to hand back, feedback/NAME.html.
    """
    from ..classroom import (Limits, missing_protections, read_assignment, write_feedback,
                             write_tables)
    from ..classroom import grade as run
    from ..classroom.tables import given_points, printable, totals, with_points
    from ..core import check_float, check_int

    limits = Limits(total=check_float("seconds", seconds, low=1.0),
                    memory=check_int("memory", memory, low=100) * 1_000_000)
    assignment = read_assignment(folder)
    given = given_points(assignment)
    if weak and (missing := missing_protections()):
        print(f"not confined here: {'; '.join(missing.values())}", file=sys.stderr)

    def tell(student: str, lesson: str, done: int, of: int) -> None:
        print(f"{done}/{of} {printable(student)}: {lesson}", file=sys.stderr, flush=True)

    def bound(notebooks: int, at_once: int, longest: float) -> None:
        print(f"{notebooks} {'notebook' if notebooks == 1 else 'notebooks'}, {at_once} at a time: "
              f"at most {_by_the_clock(longest)}, should all run into their {limits.total:g} s "
              "(--seconds)", file=sys.stderr, flush=True)

    rows: list[Any] = []
    try:
        with closing(run(assignment, limits=limits, weak=weak, jobs=jobs, on_done=tell,
                         on_start=bound)) as graded:
            for row in graded:
                rows.append(row)
        rows = with_points(rows, given)
        written = write_tables(assignment, rows)
        pages = write_feedback(assignment, rows)
    except (KeyboardInterrupt, OSError, BackendUnavailable) as error:
        if not rows:
            raise
        kept = write_tables(assignment, rows, folder / "stopped")[0]
        what = "stopped" if isinstance(error, KeyboardInterrupt) else f"stopped by {error}"
        raise Stopped(f"{what}; who was graded until then is in {kept}, and former tables stay as "
                      "they were. Again from the start: the same command") from None
    files = [row for row in rows if row.possible == 0]       # left out, or of which one was chosen
    if left := [row for row in files if not row.lesson]:
        print(f"{len(left)} {'file' if len(left) == 1 else 'files'} could not be used:")
        for row in left:
            print("  " + printable(" ".join(f"{row.exercise}: {row.remark}".split())))
    for row in files:
        if row.lesson:
            print(printable(" ".join(f"{row.student}, {row.lesson}: {row.remark}".split())))
    sums = [[printable(line[0]), f"{line[-2]:g}", f"{line[-1]:g}"]
            for line in totals(assignment, rows)[1]]
    show_table("Grades", ["student", "points", "of"], sums, right=("points", "of"))
    if unread := sum(row.points is None and bool(row.answer) for row in rows):
        waits = "answer waits" if unread == 1 else "answers wait"
        print(f"open questions: {unread} {waits} for your points in details.csv; the same command "
              "then counts them")
    for path in written:
        print(f"written: {path}")
    print(f"written: {folder / 'feedback'}, a page for each student to hand back: {len(pages)}")


def _by_the_clock(seconds: float) -> str:
    """Seconds, or minutes, or hours and minutes, rounded up."""
    minutes = math.ceil(seconds / 60)
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def guide(
    lesson: Annotated[str, argument("such as one_hot")],
) -> None:
    """Print the guide of a lesson for the person who teaches it."""
    from ..classroom import guide as read
    from ..lesson.course import Course

    text = read(lesson)
    card = Course().card(text.lesson)
    print(f"# Teaching {card.number:02d} · {card.title}\n\n**{card.question}** A class of about "
          f"{text.minutes} minutes.\n\n{text}")
