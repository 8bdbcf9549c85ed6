"""Make an assignment: notebooks for students, a solved copy for the teacher, and the seed of the
inputs that nobody sees.

The students' notebooks hold the text and the stubs of a lesson's exercises, and checks on the
lesson's own examples. The folder ``grading`` stays with the teacher: its seed makes the hidden
inputs, so that grading can be repeated. Used by ``lessons assign``.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import (DamagedFile, atomic_folder, check_seed, existing_path, read_json, write_json,
                    write_text)
from ..exercises import for_lesson, stems
from ..lesson.course import Course, LessonCard
from .solved import solved_cell
from .tasks import Task, imports_of, open_questions, tasks_of

__all__ = ["Assignment", "assign", "read_assignment", "solved_notebook", "student_notebook"]

FORMAT = 1
OPEN_STUB = "*Your answer: replace this line.*"
IGNORED = """\
# Seed, solutions and names of students do not belong into a repository that others read; what students get may.
/*
!/student/
"""
RULES = """\
# Exercises · {title}

Fill in the answers below and hand in this notebook. Keep the names of functions and variables. Each `check` tries your answer on a few examples;
functions are graded on these and on others that you have not seen. `sheet.hint("name")` nudges.

Graded answers run without the network, without files, and without the course's library: use Python, NumPy, and what you write yourself in this
notebook. A cell may take {cell:g} seconds, an answer {call:g} for each input. The texts are those of the lesson: where one speaks of formulas or
data, look there."""
TEACHER = """\
# {title}

| folder | what it holds | for whom |
|---|---|---|
| `student/` | notebooks to hand out: no solutions, no hidden inputs | students |
| `submissions/` | what comes back: `NAME.ipynb`, or a folder `NAME/` with one notebook for each lesson | put it there |
| `grading/` | the seed of the hidden inputs, and solved notebooks | you alone |
| `otter/` | the same for otter-grader, a student version and an autograder for each lesson; only where it is installed | whoever uses it |

Grade with `lessons grade {folder}`. It writes `grades.csv` (a row for each student) and `details.csv` (a row for each student and exercise).
A file `students.txt` beside this one, a name in each line, adds those who handed in nothing. Points that you write into the rows of the open
questions of `details.csv` are counted by the next `lessons grade`. `.gitignore` keeps all but `student/` out of a repository.

The course is open: its solutions, and what its guides say to the open questions, can be found by who looks for them. What is yours alone are the
inputs of the grading.
"""


@dataclass(frozen=True)
class Assignment:
    """What ``grading/assignment.json`` holds.

    Parameters
    ----------
    folder : Path
    id : str
    seed : int
        Makes the hidden inputs.
    lessons : mapping of str to mapping
        Lesson id -> ``stem``, ``title``, ``exercises`` (name -> variable of the answer) and ``open``
        (number of open questions).
    """

    folder: Path
    id: str
    seed: int
    lessons: Mapping[str, Mapping[str, Any]]

    @property
    def exercises(self) -> list[tuple[str, str]]:
        """All (lesson id, exercise) in order."""
        return [(lesson, name) for lesson, entry in self.lessons.items()
                for name in entry["exercises"]]


# ------------------------------------------------------------------------------ notebooks


def _notebook(card: LessonCard, tasks: Sequence[Task], answers: Mapping[str, str],
              assignment_id: str) -> Any:
    """A notebook with the tasks; ``answers`` replaces stubs by name."""
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    from .runner import Limits

    limits = Limits()
    start = "\n".join(
        imports_of(tasks)) + f'\nimport lessons_lib as ll\nsheet = ll.classroom.sheet("{card.id}")'
    cells = [new_markdown_cell(RULES.format(title=f"{card.number:02d} · {card.title}",
                                            cell=limits.cell, call=limits.call)),
             new_code_cell(start)]
    for task in tasks:
        code = f'{answers.get(task.name, task.stub)}\nsheet.check("{task.name}", {task.variable})'
        cells += [new_markdown_cell(task.text), new_code_cell(code,
                                                              metadata={"exercise": task.name})]
    for number, question in enumerate(open_questions(card), start=1):
        cells += [new_markdown_cell(f"**Open question.** {question}"),
                  new_markdown_cell(OPEN_STUB, metadata={"open_question": number})]
    for number, cell in enumerate(cells):
        # the same notebook from the same lesson
        cell["id"] = f"{card.id.replace('_', '-')[:50]}-{number}"
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return new_notebook(cells=cells, metadata=kernel | {"lessons_assignment": {"id": assignment_id,
                                                                               "lesson": card.id}})


def student_notebook(card: LessonCard, assignment_id: str = "") -> Any:
    """The notebook to hand out: the tasks of a lesson with their stubs."""
    return _notebook(card, tasks_of(card), {}, assignment_id)


def solved_notebook(card: LessonCard, assignment_id: str = "") -> Any:
    """The same notebook with every answer filled in from the tested solutions."""
    tasks, exercises = tasks_of(card), for_lesson(card.id)
    return _notebook(card, tasks, {task.name: solved_cell(task, exercises[task.name])
                                   for task in tasks}, assignment_id)


# ------------------------------------------------------------------------------ the folder


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

    course, folder = course or Course(), Path(out).expanduser().resolve()
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
    seed, name = check_seed(secrets.randbelow(2**31) if seed is None else seed), secrets.token_hex(
        4)
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


def _entry(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A lesson of an assignment as it was written.

    Raises KeyError, TypeError or ValueError where something is missing or of another kind.
    """
    pairs = [(name, variable) for name, variable in entry["exercises"]]
    texts, number = [entry["id"], entry["stem"], entry["title"],
                     *(text for pair in pairs for text in pair)], entry["open"]
    if not all(isinstance(text, str) for text in texts) or not pairs or isinstance(
            number, bool) or not isinstance(number, int):
        raise TypeError("texts, pairs of texts and a number")
    return entry["id"], {"stem": entry["stem"], "title": entry["title"], "exercises": dict(pairs),
                         "open": number}


def read_assignment(folder: str | os.PathLike) -> Assignment:
    """The assignment in a folder that `assign` wrote.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Assignment

    Raises
    ------
    FileNotFoundError, DamagedFile
        Where there is none, or it was changed.
    ValueError
        For a newer format, and for exercises that the course here does not have.
    """
    file = existing_path(Path(folder) / "grading" / "assignment.json")
    found = read_json(file)
    if not isinstance(found, dict) or not {"format", "id", "seed", "lessons"} <= set(found):
        raise DamagedFile(f"{file} is no assignment; make one: lessons assign one_hot --out FOLDER")
    if found["format"] != FORMAT:
        raise ValueError(f"{file} has format {found['format']!r}, this library reads {FORMAT}; "
                         "upgrade it")
    try:
        seed, lessons = check_seed(found["seed"]), dict(map(_entry, found["lessons"]))
        if not lessons:
            raise ValueError("0 lessons")
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{file} was changed and is no assignment any more "
                          f"({type(error).__name__}: {error}); take it from your backup, or copy "
                          "submissions/ into a new assignment, whose hidden inputs are "
                          "others") from None
    made = Assignment(Path(folder), str(found["id"]), seed, lessons)
    strange = [
        f"{lesson}.{name}" for lesson, name in made.exercises
        if lesson not in stems() or name not in for_lesson(lesson)
    ]
    if strange:
        raise ValueError(f"{file} has the exercise {strange[0]}, which the course here has not: "
                         "grade with the version that made the assignment, and "
                         "with the same extras")
    return made
