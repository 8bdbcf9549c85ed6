"""Make an assignment: notebooks for students, a solved copy for the teacher, and the seed of the
inputs that nobody sees.

The students' notebooks hold the text and the stubs of a lesson's exercises, and checks on the
lesson's own examples. The folder ``grading`` stays with the teacher: its seed makes the hidden
inputs, so that grading can be repeated. Used by ``lessons assign``.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core import atomic_folder, check_seed, checked_path, write_json, write_text
from ..exercises import for_lesson
from ..lesson.course import Course, LessonCard
from .assignment import FORMAT, Assignment
from .solved import solved_cell
from .tasks import notebook_of, open_questions, student_notebook, tasks_of

__all__ = ["assign", "solved_notebook"]

IGNORED = """\
# Seed, solutions and names of students do not belong into a repository that others read;
# what students get may.
/*
!/student/
"""
TEACHER = """\
# {title}

| folder | what it holds | for whom |
|---|---|---|
| `student/` | notebooks to hand out: no solutions, no hidden inputs | students |
| `submissions/` | what comes back: `NAME.ipynb`, or a folder `NAME/` with one notebook for each \
lesson | put it there |
| `grading/` | the seed of the hidden inputs, and solved notebooks | you alone |
| `otter/` | the same for otter-grader, a student version and an autograder for each lesson; only \
where it is installed | whoever uses it |

Grade with `lessons grade {folder}`. It writes `grades.csv` (a row for each student) and
`details.csv` (a row for each student and exercise), and `feedback/NAME.html`, a page for each
student to hand back. A file `students.txt` beside this one, a name in each line, adds those who
handed in nothing. Points that you write into the rows of the open questions of `details.csv` are
counted by the next `lessons grade`, which writes the pages anew. `.gitignore` keeps all but
`student/` out of a repository.

The course is open: its solutions, and what its guides say to the open questions, can be found by
who looks for them. What is yours alone are the inputs of the grading.
"""


def solved_notebook(card: LessonCard, assignment_id: str = "") -> Any:
    """The same notebook with every answer filled in from the tested solutions."""
    tasks, exercises = tasks_of(card), for_lesson(card.id)
    return notebook_of(card, tasks, {task.name: solved_cell(task, exercises[task.name])
                                   for task in tasks}, assignment_id)


def assign(ids: Sequence[str], out: str | os.PathLike, *, seed: int | None = None,
           course: Course | None = None) -> Assignment:
    """Write an assignment of one or several lessons into a new folder.

    Parameters
    ----------
    ids : sequence of str
        Lessons with exercises.
    out : path
        A folder that does not exist or is empty.
    seed : int, optional
        Of the hidden inputs; drawn by the system's secret generator where it is left out.
    course : Course, optional

    Returns
    -------
    Assignment

    Raises
    ------
    ValueError
        For no or unknown lessons.
    FileExistsError
        For a folder that holds something or that you are in; nothing is written then.
    """
    import nbformat

    course, folder = course or Course(), checked_path(out, "out").resolve()
    if not ids:
        raise ValueError("ids holds 0 lessons; expected >= 1, such as one_hot")
    cards = sorted({course.card(i).id: course.card(i) for i in ids}.values(),
                   key=lambda card: card.number)
    if folder == Path.cwd():                     # it would have to be replaced under your feet
        raise FileExistsError(f"out={str(out)!r} is the folder you are in; name a new one, such as "
                              f"{folder.name}-1")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"out={str(out)!r} holds something already; name a new folder: an "
                              "assignment never overwrites another")
    seed = check_seed(secrets.randbelow(2**31) if seed is None else seed)
    name = secrets.token_hex(4)
    lessons = {card.id: {"stem": card.stem, "title": card.title,
                         "exercises": {task.name: task.variable for task in tasks_of(card)},
                         "open": len(open_questions(card))} for card in cards}
    title = "Assignment: " + ", ".join(card.title for card in cards)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():
        folder.rmdir()
    with atomic_folder(folder) as inside:
        for part in ("student", "submissions", "grading"):
            (inside / part).mkdir()
        (inside / "grading").chmod(0o700)
        for card in cards:
            nbformat.write(student_notebook(card, name), inside / "student" / f"{card.stem}.ipynb")
            nbformat.write(solved_notebook(card, name),
                           inside / "grading" / f"{card.stem}_solved.ipynb")
        # Lists, because the keys of a JSON object are written in the order of the alphabet.
        entries = [{"id": lesson} | entry | {"exercises": list(entry["exercises"].items())}
                   for lesson, entry in lessons.items()]
        write_json(inside / "grading" / "assignment.json",
                   {"format": FORMAT, "id": name, "seed": seed, "lessons": entries})
        write_text(inside / ".gitignore", IGNORED)
        write_text(inside / "README.md", TEACHER.format(title=title, folder=folder.name))
    return Assignment(Path(out), name, seed, lessons)
