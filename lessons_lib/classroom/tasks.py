"""The exercises of a lesson as tasks of an assignment: text, stub, and the name of the answer, read
from the lesson's own text.

The section *Exercises* of ``notebooks/NN_id.md`` is the one source: a code cell with
``lesson.check("name", answer)`` is a task, the paragraph before it that begins with the exercise's
name is its text, and a paragraph that begins with *Open question* is one for people to read. Used
by ``lessons assign``.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core import DamagedFile, check_choice
from ..exercises import for_lesson, unseen_judge, verdict
from ..lesson.course import LessonCard, split_front_matter

__all__ = ["OPEN_STUB", "Sheet", "Task", "imports_of", "judged", "notebook_of", "open_questions",
           "sheet", "student_notebook", "tasks_of"]

OPEN_STUB = "*Your answer: replace this line.*"
RULES = """\
# Exercises · {title}

Fill in the answers below and hand in this notebook. Keep the names of functions and variables.
Each `check` tries your answer on a few examples; functions are graded on these and on others
that you have not seen, and one that is right on some of those earns a part of its point.
`sheet.hint("name")` nudges.

Graded answers run without the network, without files, and without the course's library: use
Python, NumPy, and what you write yourself in this notebook. A cell may take {cell:g} seconds, an
answer {call:g} for each input. The texts are those of the lesson: where one speaks of formulas
or data, look there. An experiment is made in the lesson's notebook; write here what you guessed
and what you measured."""
OPEN = re.compile(r"^\*\*Open questions?\.\*\*\s*(.+?)(?=\n\n|\n## |\Z)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\([\w.#-]+\.ipynb[^)]*\)")
IMPORTS = {"np": "import numpy as np", "triton": "import triton",
           "tl": "import triton.language as tl", "torch": "import torch"}


@dataclass(frozen=True)
class Task:
    """One exercise of an assignment.

    Parameters
    ----------
    name : str
    variable : str
        Where the answer stands.
    text : str
        Markdown.
    stub : str
        The code to fill in.
    """

    name: str
    variable: str
    text: str
    stub: str

    @property
    def imports(self) -> list[str]:
        """Import lines that the stub needs."""
        used = _names(ast.parse(self.stub))
        return [line for name, line in IMPORTS.items() if name in used]


def _cells(card: LessonCard) -> list[Any]:
    """The cells from the heading *Exercises* to the next heading."""
    import jupytext

    header, body = split_front_matter(card.path.read_text("utf-8"))
    cells = jupytext.reads(f"---\n{header}---\n{body}", fmt="md:myst").cells
    result: list[Any] = []
    for cell in cells:
        text = cell.source if cell.cell_type == "markdown" else ""
        if not result:
            if (start := re.search(r"^## Exercises\s*$", text, re.MULTILINE)) is None:
                continue
            text = text[start.end() :]
        if heading := re.search(r"^## ", text, re.MULTILINE):
            result.append((cell.cell_type, text[: heading.start()]))
            return result
        result.append((cell.cell_type, text or cell.source))
    return result


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _bound(s: ast.FunctionDef | ast.Assign | ast.Import | ast.ImportFrom) -> set[str]:
    """The names that a statement makes."""
    if isinstance(s, ast.FunctionDef):
        return {s.name}
    if isinstance(s, ast.Assign):
        return _names(s)
    return {alias.asname or alias.name.split(".")[0] for alias in s.names}


def _task(card: LessonCard, before: str, source: str) -> Task | None:
    """The task of a code cell; None for a cell that checks nothing."""
    body = ast.parse(source).body
    optional = len(body) == 1 and isinstance(body[0], ast.If)
    if optional:                                 # a cell that runs where its tools are installed
        body = body[0].body
    calls = [s.value for s in body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]
    checks = [call.args for call in calls if ast.unparse(call.func) == "lesson.check"]
    known = for_lesson(card.id)
    if not checks:
        return None
    name, variable = ast.literal_eval(checks[0][0]), ast.unparse(checks[0][1])
    if optional and name not in known:
        return None
    if name not in known:
        raise ValueError(f"{card.path.name} checks {name!r}; exercises/{card.id}.py has "
                         f"{', '.join(known)}")
    start = before.rfind(f"**`{name}`")
    if start < 0:
        raise DamagedFile(f"{card.path.name}: no paragraph before the exercise {name!r} begins "
                          f"with **`{name}`")
    # Checks, assertions and what uses the lesson's data stay in the lesson.
    lines, parts, here = source.split("\n"), [], {*dir(builtins), *IMPORTS}
    for s in body:
        own = not isinstance(s, ast.Assign) or _names(s.value) <= here
        if own and isinstance(s, (ast.FunctionDef, ast.Assign, ast.Import, ast.ImportFrom)):
            here |= _bound(s)
            first = min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", []))])
            parts += lines[first - 1 : s.end_lineno]
    return Task(name, variable, LINK.sub(r"\1", before[start:].strip()),
                textwrap.dedent("\n".join(parts)))


def tasks_of(card: LessonCard) -> list[Task]:
    """The exercises of a lesson in the order of its text.

    Parameters
    ----------
    card : LessonCard

    Returns
    -------
    list of Task

    Raises
    ------
    DamagedFile
        For an exercise without a text.
    ValueError
        Where text and ``exercises/<id>.py`` name different exercises.
    """
    result, before = [], ""
    for kind, text in _cells(card):
        if kind == "markdown":
            before = text
        elif task := _task(card, before, text):
            result.append(task)
    return result


def open_questions(card: LessonCard) -> list[str]:
    """The open questions among a lesson's exercises.

    Parameters
    ----------
    card : LessonCard

    Returns
    -------
    list of str
        Markdown.
    """
    return [LINK.sub(r"\1", result.strip()) for kind, text in _cells(card) if kind == "markdown"
            for result in OPEN.findall(text)]


def imports_of(tasks: Sequence[Task]) -> list[str]:
    """The import lines that the stubs of several tasks need; NumPy always."""
    return list(dict.fromkeys(["import numpy as np",
                               *(line for task in tasks for line in task.imports)]))


def notebook_of(card: LessonCard, tasks: Sequence[Task], answers: Mapping[str, str],
                assignment_id: str) -> Any:
    """A notebook with the tasks; ``answers`` replaces stubs by name."""
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    from .runner import Limits

    limits = Limits()
    start = "\n".join([*imports_of(tasks), "import lessons_lib as ll",
                       f'sheet = ll.classroom.sheet("{card.id}")'])
    cells = [new_markdown_cell(RULES.format(title=f"{card.number:02d} · {card.title}",
                                            cell=limits.cell, call=limits.call)),
             new_code_cell(start)]
    for task in tasks:
        code = f'{answers.get(task.name, task.stub)}\nsheet.check("{task.name}", {task.variable})'
        cells += [new_markdown_cell(task.text),
                  new_code_cell(code, metadata={"exercise": task.name})]
    for number, question in enumerate(open_questions(card), start=1):
        cells += [new_markdown_cell(f"**Open question.** {question}"),
                  new_markdown_cell(OPEN_STUB, metadata={"open_question": number})]
    for number, cell in enumerate(cells):
        # the same notebook from the same lesson
        cell["id"] = f"{card.id.replace('_', '-')[:50]}-{number}"
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    assignment = {"lessons_assignment": {"id": assignment_id, "lesson": card.id}}
    return new_notebook(cells=cells, metadata=kernel | assignment)


def student_notebook(card: LessonCard, assignment_id: str = "") -> Any:
    """The notebook to hand out: the tasks of a lesson with their stubs."""
    return notebook_of(card, tasks_of(card), {}, assignment_id)


class Sheet:
    """The checks and hints of an assignment, made by `sheet`; what it does not have is solutions.

    Parameters
    ----------
    lesson_id : str
    """

    def __init__(self, lesson_id: str):
        self._exercises, self._given = for_lesson(lesson_id), {}

    def check(self, name: str, answer: Any) -> None:
        """Print what the judge says on the examples of the lesson; grading adds unseen inputs.

        Parameters
        ----------
        name : str
        answer : object
        """
        from IPython.display import display

        text = verdict(self._exercises[check_choice("name", name, self._exercises)], answer)
        display({"text/plain": f"{name}: {text}"}, raw=True)

    def hint(self, name: str) -> None:
        """Print the next hint.

        Parameters
        ----------
        name : str
        """
        from IPython.display import display

        hints = self._exercises[check_choice("name", name, self._exercises)].hints
        given = self._given[name] = min(self._given.get(name, 0) + 1, len(hints))
        display({"text/plain": f"{name}, hint {given} of {len(hints)}: "
                               f"{hints[given - 1]}"}, raw=True)


def sheet(lesson_id: str) -> Sheet:
    """The checks of one lesson for an assignment's notebook.

    Parameters
    ----------
    lesson_id : str

    Returns
    -------
    Sheet

    Raises
    ------
    ValueError
        For an unknown lesson (nearest id, all ids).
    """
    return Sheet(lesson_id)


def judged(lesson_id: str, name: str, answer: Any, *, seed: int | None = None) -> str:
    """What a judge says: for graders that run answer and judge in one process, as otter does.

    Parameters
    ----------
    lesson_id, name : str
        Lesson and exercise.
    answer : object
    seed : int, optional
        With it also on fresh inputs.

    Returns
    -------
    str
        ``correct``, or what is wrong.

    Raises
    ------
    ValueError
        For an unknown lesson or exercise.
    """
    exercises = for_lesson(lesson_id)
    exercise = exercises[check_choice("name", name, exercises)]
    return verdict(exercise if seed is None
                   else replace(exercise, judge=unseen_judge(exercise, seed), fresh=None), answer)
