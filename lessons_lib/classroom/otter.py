"""The same assignment for otter-grader, for those who grade with it or with Gradescope: a student
version and an autograder for each lesson.

otter-grader is an extra set, ``classroom`` in pyproject.toml, with a lock of its own. It runs a
submission and its tests in one process, which a hostile submission can get around; ``lessons
grade`` does not. Used by ``lessons assign``.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from ..core import PROJECT, BackendUnavailable, ProgramFailed
from ..exercises import for_lesson
from ..lesson.course import Course, LessonCard
from ..locking import install_line
from .assignment import Assignment
from .solved import solved_cell
from .tasks import Task, imports_of, open_questions, tasks_of

__all__ = ["master_notebook", "otter_missing", "write_otter"]

MAJOR = "7"
CONFIG = """\
# ASSIGNMENT CONFIG
name: {name}
init_cell: true
check_all_cell: true
solutions_pdf: false
export_cell:
  pdf: false
  run_tests: false
generate:
  show_stdout: false
"""
TIMEOUT = 600


def otter_missing() -> str | None:
    """Why there can be no otter-grader version here, and what to do.

    Returns
    -------
    str or None
        None where otter-grader is installed.
    """
    if importlib.util.find_spec("otter") is None:
        return f"otter-grader is not installed: {install_line('classroom')}"
    have = metadata.version("otter-grader")
    if have.split(".")[0] == MAJOR:
        return None
    return f"otter-grader is {have}, the course needs {MAJOR}.x"


def _question(task: Task, solved: str, lesson: str, seed: int) -> list[Any]:
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

    judged = f'll.classroom.judged("{lesson}", "{task.name}", {task.variable}'
    # Otter cuts the lines of the solution out of the student version, and takes the quotes off the
    # stub.
    both = (f'# BEGIN SOLUTION NO PROMPT\n{solved}\n# END SOLUTION\n""" # BEGIN '
            f'PROMPT\n{task.stub}\n""" # END PROMPT')
    public = f'assert {judged}) == "correct"'
    hidden = f'# HIDDEN\nassert {judged}, seed={seed}) == "correct"'
    return [new_raw_cell(f"# BEGIN QUESTION\nname: {task.name}\npoints: 1\nall_or_nothing: true"),
            new_markdown_cell(task.text), new_raw_cell("# BEGIN SOLUTION"), new_code_cell(both),
            new_raw_cell("# END SOLUTION"), new_raw_cell("# BEGIN TESTS"), new_code_cell(public),
            new_code_cell(hidden), new_raw_cell("# END TESTS"), new_raw_cell("# END QUESTION")]


def master_notebook(card: LessonCard, seed: int) -> Any:
    """One lesson's exercises for ``otter assign``, with solutions, public and hidden tests."""
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

    tasks, exercises = tasks_of(card), for_lesson(card.id)
    cells = [new_raw_cell(CONFIG.format(name=card.stem)),
             new_markdown_cell(f"# Exercises · {card.number:02d} · {card.title}"),
             new_code_cell("\n".join([*imports_of(tasks), "import lessons_lib as ll"]))]
    for task in tasks:
        cells += _question(task, solved_cell(task, exercises[task.name]), card.id, seed)
    for number, text in enumerate(open_questions(card), start=1):
        cells += [new_raw_cell(f"# BEGIN QUESTION\nname: open_question_{number}\nmanual: true\n"
                               "points: 1"),
                  new_markdown_cell(f"**Open question.** {text}"),
                  new_raw_cell("# BEGIN SOLUTION"),
                  new_markdown_cell("*See the guide of the lesson:* `lessons guide`"),
                  new_raw_cell("# END SOLUTION"), new_raw_cell("# END QUESTION")]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
              "language_info": {"name": "python"}}
    return new_notebook(cells=cells, metadata=kernel)


def write_otter(assignment: Assignment, *, course: Course | None = None,
                run_tests: bool = True) -> list[Path]:
    """Write ``otter/<lesson>/`` with a student version and an autograder.

    Parameters
    ----------
    assignment : Assignment
    course : Course, optional
    run_tests : bool, default True
        Try the solutions on all tests: seconds for each lesson.

    Returns
    -------
    list of Path
        The folders.

    Raises
    ------
    BackendUnavailable
        Without otter-grader.
    ProgramFailed
        With otter's message, when it fails.
    """
    import nbformat

    if reason := otter_missing():
        raise BackendUnavailable(reason)
    course, written = course or Course(), []
    path = os.pathsep.join([str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])])
    own = {"PYTHONPATH": path, "TRITON_INTERPRET": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    for lesson, entry in assignment.lessons.items():
        target = assignment.folder / "otter" / entry["stem"]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            master = Path(folder, f"{entry['stem']}.ipynb")
            nbformat.write(master_notebook(course.card(lesson), assignment.seed), master)
            command = [sys.executable, "-m", "otter", "assign", str(master), str(target.resolve()),
                       "--no-pdfs"]
            done = subprocess.run(command + ([] if run_tests else ["--no-run-tests"]),
                                  capture_output=True, text=True, timeout=TIMEOUT, cwd=folder,
                                  env=os.environ | own | {"IPYTHONDIR": folder})
        if done.returncode != 0:
            raise ProgramFailed(f"otter assign failed for {entry['stem']}: "
                                f"{(done.stderr or done.stdout)[-1500:]}")
        written.append(target)
    return written
