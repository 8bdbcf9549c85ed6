"""Grade what students handed in: each notebook in a confined process, each answer by the judges of
the course on inputs it has not seen.

A submission that crashes, loops, lies, deletes or is no notebook costs only itself, and where it
can be told apart only the exercise in question. The process of a submission gets inputs and gives
values; comparing is done here. Used by ``lessons grade``.
"""

from __future__ import annotations

import json
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core import BackendUnavailable, available_cores, check_int, existing_path
from ..exercises import Exercise, for_lesson, verdict
from ..exercises.base import NOT_ATTEMPTED
from ..lesson.course import Course
from .assignment import Assignment, names_in
from .partial import CORRECT, Tried
from .runner import Ended, Limits, Submission, check_protections, remove_left_folders
from .tasks import OPEN_STUB, student_notebook

__all__ = ["Graded", "grade", "grade_notebook", "longest_grading", "submissions_of"]

MAX_NOTEBOOK_BYTES = 20_000_000
MAX_CELLS = 2000
PACKED = (".zip", ".gz", ".tar", ".7z", ".rar")
MAX_REMARK_CHARS = 1000
NOTHING = "nothing handed in"
NOT_ANSWERED = "not answered"
HAND_IN = "hand-in"
OPEN = "open question "
GRACE_SECONDS = 10.0                             # beside its limit: to begin, compare, tidy up


@dataclass(frozen=True)
class Graded:
    """One exercise of one student.

    Parameters
    ----------
    student, lesson, exercise : str
        ``exercise`` is ``hand-in`` in a row that tells which of several files was graded;
        ``lesson`` is empty in a row about a file that cannot be used. Both have 0 possible points.
    points : float or None
        None for an open question, until a person gives some.
    possible : float
    remark : str
        ``correct``, or what is wrong.
    answer : str, default ""
        To an open question, for a person to read.
    told : str, default ""
        What the student reads: as the remark, without the inputs that stay unseen.
    """

    student: str
    lesson: str
    exercise: str
    points: float | None
    possible: float
    remark: str
    answer: str = ""
    told: str = ""


def source_of(cell: Mapping[str, Any]) -> str:
    """The text of a cell; "" where a damaged notebook has none."""
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook as JSON with a list of cells.

    Raises ValueError saying why it is none; devices, links and huge files are not opened.
    """
    no_link, no_wait = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK"))
    try:
        about = os.lstat(path)
        if stat.S_ISREG(about.st_mode):          # and what is opened then is looked at again
            with open(path, "rb", opener=lambda name, flags: os.open(
                    name, flags | no_link | no_wait)) as file:
                about, content = os.fstat(file.fileno()), file.read(MAX_NOTEBOOK_BYTES + 1)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("is no file of its own but a link, a folder or a device")
        if len(content) > MAX_NOTEBOOK_BYTES:
            raise ValueError(f"has {about.st_size / 1e6:,.0f} MB; at most "
                             f"{MAX_NOTEBOOK_BYTES / 1e6:,.0f}. Clear its outputs")
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror})") from None
    try:
        notebook = json.loads(content)
    except (RecursionError, ValueError) as error:  # a number of 5000 digits is a plain ValueError
        raise ValueError(f"cannot be read: it is no JSON ({type(error).__name__})") from None
    parts = notebook if isinstance(notebook, dict) else {}
    cells = parts.get("cells")
    if cells is None and isinstance(parts.get("worksheets"), list):
        raise ValueError("is a notebook of format 3; open and save it in Jupyter, which makes it "
                         "format 4")
    if (not isinstance(cells, list) or len(cells) > MAX_CELLS
            or not all(isinstance(cell, dict) for cell in cells)):
        raise ValueError(f"is no notebook: it has no list of at most {MAX_CELLS} cells")
    return notebook


def _lesson_of(assignment: Assignment, path: Path,
               notebook: Mapping[str, Any] | None) -> str | None:
    """The lesson that a file is for: by its mark, else by its name, else the only one."""
    metadata = notebook.get("metadata") if notebook else None
    mark = metadata.get("lessons_assignment") if isinstance(metadata, dict) else None
    if isinstance(mark, dict) and isinstance(mark.get("lesson"), str):
        return mark["lesson"] if mark["lesson"] in assignment.lessons else None
    named = [lesson for lesson, entry in assignment.lessons.items() if entry["stem"] in path.stem
             or lesson in path.stem]
    if named:
        return max(named, key=len)
    return next(iter(assignment.lessons)) if len(assignment.lessons) == 1 else None


def submissions_of(assignment: Assignment) -> dict[str, list[Path]]:
    """Student -> files.

    A folder is a student; a file beside it is a student named like the file, less the lesson's name
    at its end.
    """
    files: dict[str, list[Path]] = {}
    for path in sorted(existing_path(assignment.folder / "submissions").iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            inside = [file for file in sorted(path.rglob("*")) if not file.is_dir()
                      and not file.name.startswith(".") and ".ipynb_checkpoints" not in file.parts]
            files.setdefault(path.name, []).extend(inside)
            continue
        name = path.stem if path.suffix in (".ipynb", ".zip", ".py", ".txt", ".pdf") else path.name
        for entry in assignment.lessons.values():
            name = name.removesuffix(entry["stem"]).rstrip("_- ") or path.stem
        files.setdefault(name, []).append(path)
    return files


def _answers(cell: Mapping[str, Any], exercise: str, variable: str) -> bool:
    """Whether a code cell answers an exercise: by its mark, or because it makes the variable."""
    metadata = cell.get("metadata")
    marked = metadata.get("exercise") == exercise if isinstance(metadata, dict) else False
    return marked or re.search(rf"^[ \t]*(def[ \t]+{variable}\b|{variable}[ \t]*(:[^=\n]*)?=(?!=))",
                               source_of(cell), re.MULTILINE) is not None


class _Run:
    """A submission, begun again without the cells that ended it as long as there is time."""

    def __init__(self, cells: Sequence[Mapping[str, Any]], limits: Limits,
                 options: Mapping[str, Any]):
        self.cells, self.limits, self.options = list(cells), limits, options
        self.stop, self.until = options["stop"], time.monotonic() + limits.total
        self.process, self.errors, self.fatal = None, {}, set()

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.__exit__()
        self.process = None

    def _started(self) -> Submission:
        """A process in which all cells ran that can be run. Raises Ended when no time is left."""
        while True:
            if time.monotonic() > self.until or self.stop.is_set():
                raise Ended("stopped with the grader" if self.stop.is_set()
                            else f"took more than {self.limits.total:g} s in all")
            self.process = Submission(self.limits, until=self.until, **self.options).__enter__()
            for number, cell in enumerate(self.cells):
                if number in self.fatal:
                    continue
                try:
                    error = self.process.run_cell(source_of(cell))
                except Ended as ended:
                    self.errors[number] = str(ended)
                    self.fatal.add(number)                   # not again
                    self.__exit__()
                    break
                if error:
                    self.errors[number] = error
            else:
                return self.process

    def living(self) -> Submission:
        """The process, begun again where the last answer ended it."""
        if self.process is not None and self.process.ended:
            self.__exit__()
        return self.process or self._started()

    def stopped(self, exercise: str, variable: str) -> str | None:
        """The error of the last cell that was to answer an exercise, None where it ran."""
        own = [number for number, cell in enumerate(self.cells)
               if _answers(cell, exercise, variable)]
        return self.errors.get(own[-1]) if own else None


def _remarks(run: _Run, exercise: Exercise, variable: str, judge: Any) -> list[str]:
    """What a judge says of one answer of a running submission, for each of its cases, the smallest
    first. After a wrong one that took as long as a call may, and after the end of the process, the
    others are wrong, too.
    """
    try:
        answer = run.living().answer(variable)
    except (BackendUnavailable, OSError):
        raise                                    # that is the system's fault, and costs no points
    except Exception as error:
        return [f"the answer cannot be read: {error}"]
    remarks = []
    for one in [judge.on([case]) for case in judge.cases] if hasattr(judge, "on") else [judge]:
        start = time.monotonic()
        remark = verdict(replace(exercise, judge=one, fresh=None), answer)
        reason = run.stopped(exercise.name, variable) if remark == NOT_ATTEMPTED else None
        if reason and not reason.startswith("NotImplementedError"):
            remark = f"the cell stopped: {reason}"
        # The errors' classes are those of the line to the submission; the text names its own.
        remarks.append(re.sub(r"^(your code stopped[^:]*?) with (RuntimeError|Ended): ", r"\1: ",
                              remark)[:MAX_REMARK_CHARS])
        if remark != CORRECT and (not callable(answer) or run.process.ended
                                  or time.monotonic() - start > run.limits.call):
            break
    return remarks


def _graded(run: _Run, exercises: Mapping[str, Exercise], variables: Mapping[str, str],
            seed: int) -> Iterator[tuple[str, float, str, str]]:
    """Name, points, remark and what the student is told of each exercise.

    All examples come before all inputs that stay unseen: nothing that an answer could have noted of
    these stands in what is told of those.
    """
    shown = {name: _remarks(run, exercises[name], variable, exercises[name].judge)
             for name, variable in variables.items()}
    for name, variable in variables.items():
        exercise, remarks = exercises[name], shown[name]
        if exercise.fresh is None or (remarks[0] != CORRECT and (
                len(remarks) == 1 or remarks[0] == NOT_ATTEMPTED)):
            yield name, float(remarks[0] == CORRECT), remarks[0], remarks[0]
            continue
        hidden = exercise.judge.on(exercise.fresh(seed))
        tried = Tried(exercise, hidden, remarks, _remarks(run, exercise, variable, hidden)
                      if CORRECT in remarks else [])
        yield name, tried.points, tried.remark[:MAX_REMARK_CHARS], tried.told


def _open_answers(notebook: Mapping[str, Any]) -> dict[int, str]:
    """The texts below the open questions, by number."""
    answers, number = {}, None
    for cell in notebook["cells"]:
        metadata, source = cell.get("metadata"), source_of(cell)
        mark = metadata.get("open_question") if isinstance(metadata, dict) else None
        if isinstance(mark, int) and not isinstance(mark, bool):
            number = mark
        elif cell.get("cell_type") != "markdown" or source.startswith("**Open question.**"):
            number = None
        if number is not None:                   # also cells that were added below
            answers[number] = (answers.get(number, "") + "\n" +
                             source.replace(OPEN_STUB, "")).strip()[:5000]
    return answers


def _rows(assignment: Assignment, student: str, lesson: str, remark: str,
          points: float = 0.0) -> list[Graded]:
    """One row for each exercise of a lesson, all with the same remark."""
    return [Graded(student, lesson, name, points, 1.0, remark)
            for name in assignment.lessons[lesson]["exercises"]]


def grade_notebook(assignment: Assignment, student: str, lesson: str, path: Path, *,
                   limits: Limits | None = None, weak: bool = False,
                   stop: threading.Event | None = None) -> list[Graded]:
    """Grade one file of one student.

    Parameters
    ----------
    assignment : Assignment
    student : str
    lesson : str
        An id of the assignment.
    path : Path
    limits : Limits, optional
    weak : bool, default False
        As `grade`.
    stop : threading.Event, optional
        Ends the submission when it is set.

    Returns
    -------
    list of Graded
        One for each exercise and open question, whatever the file does.

    Raises
    ------
    OSError, BackendUnavailable
        Where the system cannot start or confine a submission.
    """
    try:
        notebook = read_notebook(path)
    except ValueError as error:
        return _rows(assignment, student, lesson, f"{path.name} {error}")
    cells = [cell for cell in notebook["cells"] if cell.get("cell_type") == "code"]
    exercises, rows = for_lesson(lesson), []
    with _Run(cells, limits or Limits(), {"hidden": [assignment.folder], "weak": weak,
                                          "stop": stop or threading.Event()}) as run:
        for name, points, remark, told in _graded(
                run, exercises, assignment.lessons[lesson]["exercises"], assignment.seed):
            rows.append(Graded(student, lesson, name, points, 1.0, remark, told=told))
    answers = _open_answers(notebook)
    for number in range(1, assignment.lessons[lesson]["open"] + 1):
        answer = answers.get(number, "")
        rows.append(Graded(student, lesson, f"{OPEN}{number}", None, 1.0,
                           "to be read by a person" if answer else NOT_ANSWERED, answer))
    return rows


def _attempts(assignment: Assignment, lesson: str, path: Path) -> int:
    """How many exercises and open questions hold something else than what was handed out."""
    entry, notebook = assignment.lessons[lesson], read_notebook(path)
    try:
        out = read_notebook(assignment.folder / "student" / f"{entry['stem']}.ipynb")
    except ValueError:
        out = student_notebook(Course().card(lesson))
    # other editors space otherwise
    blank = {" ".join(source_of(cell).split()) for cell in out["cells"]}
    own = [cell for cell in notebook["cells"] if cell.get("cell_type") == "code"
           and " ".join(source_of(cell).split()) not in blank]
    tried = [name for name, variable in entry["exercises"].items()
             if any(_answers(cell, name, variable) for cell in own)]
    return len(tried) + sum(bool(answer) for answer in _open_answers(notebook).values())


def _chosen(assignment: Assignment, student: str, lesson: str,
            paths: Sequence[Path]) -> tuple[Path, list[Graded]]:
    """The notebook with the most attempts, the newest, the last by name; and a row about it."""
    if len(paths) == 1:
        return paths[0], []
    best = max(paths, key=lambda path: (_attempts(assignment, lesson, path),
                                        path.stat().st_mtime_ns, path.name))
    left = " and ".join(_shown(assignment, path) for path in paths if path != best)
    often = "twice" if len(paths) == 2 else f"{len(paths)} times"
    return best, [Graded(student, lesson, HAND_IN, None, 0.0,
                         f"handed in {often}: graded {_shown(assignment, best)}, left {left}")]


def _shown(assignment: Assignment, path: Path) -> str:
    return path.relative_to(existing_path(assignment.folder / "submissions")).as_posix()


def _jobs(assignment: Assignment) -> tuple[list[tuple[str, str, Path]], list[Graded]]:
    """Files to grade as (student, lesson, path), and rows for what cannot be graded."""
    jobs, rows, files = [], [], submissions_of(assignment)
    roster = assignment.folder / "students.txt"
    names = names_in(roster) if roster.is_file() else []
    for student in dict.fromkeys([*files, *names]):
        good: dict[str, list[Path]] = {}
        wrong: dict[str | None, str] = {}
        for path in files.get(student, []):
            try:
                if path.suffix.lower() != ".ipynb":
                    raise ValueError("is no notebook (.ipynb)" +
                                     ("; unpack it" if path.suffix.lower() in PACKED else ""))
                lesson = _lesson_of(assignment, path, read_notebook(path))
                if lesson is None:
                    raise ValueError("is a notebook for no lesson of this assignment")
                good.setdefault(lesson, []).append(path)
            except ValueError as error:
                wrong[_lesson_of(assignment, path, None)] = f"{path.name} {error}"
                rows.append(Graded(student, "", _shown(assignment, path), None, 0.0, str(error)))
        for lesson in assignment.lessons:
            if lesson in good:
                path, said = _chosen(assignment, student, lesson, good[lesson])
                jobs.append((student, lesson, path))
                rows += said
            else:
                rows += _rows(assignment, student, lesson, wrong.get(lesson, NOTHING))
    return jobs, rows


def longest_grading(notebooks: int, *, limits: Limits | None = None,
                    jobs: int | None = None) -> float:
    """The longest that a grading takes: where every notebook runs into its limit of time.

    Parameters
    ----------
    notebooks : int
        One for each student and lesson.
    limits, jobs
        As of `grade`.

    Returns
    -------
    float
        Seconds by the clock.

    Notes
    -----
    ceil(notebooks / jobs) * (limits.total + 10): each is ended at its total, whatever it does, and
    the next begins where one ends. The 10 s are for beginning, comparing and tidying up.
    """
    n, at_once = (check_int("notebooks", notebooks, low=0),
                  available_cores() if jobs is None else check_int("jobs", jobs))
    return -(-n // at_once) * ((limits or Limits()).total + GRACE_SECONDS)


def grade(assignment: Assignment, *, limits: Limits | None = None, weak: bool = False,
          jobs: int | None = None,
          on_done: Callable[[str, str, int, int], None] | None = None,
          on_start: Callable[[int, int, float], None] | None = None) -> Iterator[Graded]:
    """Grade all submissions of an assignment; closing it, or Ctrl-C, ends those that run.

    Parameters
    ----------
    assignment : Assignment
        From `read_assignment`.
    limits : Limits, optional
        Of each submission.
    weak : bool, default False
        Run them also where the system cannot confine them.
    jobs : int, optional
        How many at once; one for each core where it is left out.
    on_done : callable, optional
        Called with student, lesson, how many notebooks are done and how many there are.
    on_start : callable, optional
        Called before the first one runs, with how many notebooks there are, how many run at once,
        and the seconds that all take at most, as `longest_grading` says.

    Yields
    ------
    Graded
        One for each student and exercise, students by name, as soon as all of theirs is graded.

    Returns
    -------
    iterator of Graded

    Raises
    ------
    BackendUnavailable
        Where submissions cannot be confined, before the first one runs.
    ValueError
        Where there are none.
    """
    check_protections(weak)
    remove_left_folders()
    todo, rows = _jobs(assignment)
    if not todo and not rows:
        raise ValueError(f"{assignment.folder / 'submissions'} holds 0 submissions; put NAME.ipynb "
                         "there, or a folder NAME with notebooks. Tables of a former grading stay "
                         "as they are")
    n_jobs = available_cores() if jobs is None else check_int("jobs", jobs)
    order = {lesson: i for i, lesson in enumerate(assignment.lessons)}
    if on_start is not None:
        on_start(len(todo), min(n_jobs, max(1, len(todo))),
                 longest_grading(len(todo), limits=limits, jobs=n_jobs))
    stop, done = threading.Event(), 0
    students = sorted({job[0] for job in todo} | {row.student for row in rows},
                      key=lambda name: (name.casefold(), name))
    with ThreadPoolExecutor(max_workers=n_jobs) as pool:
        try:
            pending = {student: [(job[1], pool.submit(grade_notebook, assignment, *job,
                                                      limits=limits, weak=weak, stop=stop))
                                 for job in todo if job[0] == student] for student in students}
            for student in students:
                own = [row for row in rows if row.student == student]
                for lesson, result in pending.pop(student):
                    own += result.result()
                    done += 1
                    if on_done is not None:
                        on_done(student, lesson, done, len(todo))
                yield from sorted(own, key=lambda row: order.get(row.lesson, len(order)))
        finally:                                 # nothing is left to stop where all went well
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
