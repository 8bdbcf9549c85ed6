"""Run several lessons, one after the other or side by side, each in a clean kernel and a thread.

Side by side the longest begin, so that the last two end together, and each lesson gets its share of
the cores as threads. The seconds of each good run are remembered: from them come the order, and the
time left that a progress callback is told. Used by ``lessons run`` and ``lessons build``.
"""

from __future__ import annotations

import heapq
import os
import queue
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core import available_cores, cache_folder, check_int, output_folder, read_json, write_json
from ..core import write_text
from ..lesson.course import Course, LessonCard, chosen_scale
from ..lesson.threads import THREADS, thread_environment
from .bibliography import read_bibliography
from .execute import CELL_TIMEOUT, RunResult, end_kernel, run_lesson
from .pair import notebook_of

__all__ = ["Progress", "default_jobs", "run_lessons"]

MAX_JOBS = 4                                     # beyond it, the longest lesson decides
LESSON_BYTES = 2_000_000_000                     # the largest lesson peaks a little below
LOOK_EVERY_SECONDS = 0.2
CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")      # psutil sees the machine around it


@dataclass(frozen=True)
class Progress:
    """Where a run is, told before every cell.

    Parameters
    ----------
    lesson : id of the lesson whose cell comes next.
    number : its place, from 1, in the order in which lessons begin.
    n_lessons : how many are to run.
    cell : the code cell that comes next, from 1.
    n_cells : code cells of this lesson.
    seconds_left : for all lessons together, judged from the last runs, or, where a lesson never ran
        here, from the minutes of its front matter.
    last_seconds : how long this lesson took last time; None where that is not known.
    running : ids of all lessons that run now.
    n_done : how many lessons have ended.
    """

    lesson: str
    number: int
    n_lessons: int
    cell: int
    n_cells: int
    seconds_left: float
    last_seconds: float | None = None
    running: tuple[str, ...] = ()
    n_done: int = 0


def default_jobs() -> int:
    """How many lessons to run side by side: as many as cores and free memory allow, at most 4.

    Two on two cores, with one thread each; from four cores on, each lesson keeps its two threads.
    Each is given 2 GB.

    Returns
    -------
    int
    """
    import psutil

    cores, free = available_cores(), psutil.virtual_memory().available
    with suppress(OSError, ValueError):          # "max", or not Linux: there is no limit to read
        free = min(free, int(CONTAINER_LIMIT.read_text("utf-8")))
    return max(1, min(MAX_JOBS, max(cores // THREADS, min(cores, 2)), free // LESSON_BYTES))


def _threads(jobs: int) -> dict[str, str]:
    """Variables that share the cores among lessons side by side, where the user did not decide."""
    if jobs == 1 or os.environ.get("LESSONS_THREADS"):
        return {}
    threads = max(1, min(THREADS, available_cores() // jobs))
    return thread_environment(threads) | {"LESSONS_THREADS": str(threads)}


class _Times:
    """Seconds per cell of the last good run of each lesson, in a file."""

    def __init__(self, scale: str):
        self.scale, self.file = scale, cache_folder() / "run_times.json"
        self._known = self._read()               # before every cell somebody asks

    def _read(self) -> dict[str, list[float]]:
        try:
            times = read_json(self.file)
        except (OSError, ValueError):
            return {}                            # a damaged file counts as no knowledge
        listed = times.items() if isinstance(times, dict) else ()
        return {k: v for k, v in listed if isinstance(v, list) and v
                and all(isinstance(s, (int, float)) for s in v)}

    def last(self, card: LessonCard) -> list[float] | None:
        return self._known.get(f"{card.id}/{self.scale}")

    def left(self, card: LessonCard, cell: int = 1, n_cells: int = 1) -> float:
        """Seconds from the start of a cell (from 1) to the end of the lesson."""
        known = self.last(card)
        if known is None:
            return 60.0 * float(card.minutes.get("run", 1)) * (n_cells - cell + 1) / n_cells
        return float(sum(known[cell - 1 :]))

    def remember(self, result: RunResult) -> None:
        times = self._read() | {f"{result.lesson}/{result.scale}": list(result.cell_seconds)}
        with suppress(OSError):                  # a full disk must not fail the run
            write_json(self.file, times)


class _Job:
    """One lesson in a thread, which puts ``(job, cell)`` before each cell, then ``(job, None)``."""

    def __init__(self, card: LessonCard, number: int, notebook: Any, events: queue.SimpleQueue,
                 options: Mapping[str, Any]):
        self.card, self.number, self.notebook = card, number, notebook
        self.n_cells = sum(cell.cell_type == "code" and bool(cell.source.strip())
                           for cell in notebook.cells)
        self.cell = 1
        self.result: RunResult | None = None
        self.error: BaseException | None = None
        self._events, self._options = events, options
        self._kernel: int | None = None
        self._stopped = False
        self.thread = threading.Thread(target=self._run, name=f"lesson {card.id}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        from jupyter_core.utils import ensure_event_loop

        try:
            self.result = run_lesson(self.notebook, self.card.id, tell=self._tell,
                                     started=self._has_kernel, **self._options)
        except BaseException as error:           # raised again where the results are taken
            self.error = error
        finally:
            ensure_event_loop().close()          # nbclient opened one for this thread
            self._events.put((self, None))

    def _tell(self, cell: int) -> None:
        self._events.put((self, cell))

    def _has_kernel(self, pid: int) -> None:
        self._kernel = pid
        if self._stopped:
            end_kernel(pid)

    def stop(self) -> None:
        """End the kernel, or let it be ended as soon as there is one; the thread then ends."""
        self._stopped = True
        if self._kernel is not None and self.thread.is_alive():
            end_kernel(self._kernel)


def run_lessons(ids: Sequence[str] | None = None, *, scale: str | None = None,
                course: Course | None = None, timeout: float = CELL_TIMEOUT, jobs: int = 1,
                on_cell: Callable[[Progress], None] | None = None,
                extra: Mapping[str, str] | None = None) -> Generator[RunResult, None, None]:
    """Run lessons, each in a clean kernel; yields a `RunResult` as each ends.

    Parameters
    ----------
    ids : default: all.
    scale : default: ``LESSONS_SCALE``, else laptop.
    course : whose texts are run.
    timeout : seconds per cell.
    jobs : how many run side by side. 1 runs them in the order of the course and begins the next
        when its result is asked for; more begin with the longest, and give each lesson its share of
        the cores as threads, unless ``LESSONS_THREADS`` is set.
    on_cell : called with a `Progress` before every cell, while a result is awaited.
    extra : further variables for the kernels.

    Yields
    ------
    RunResult
        One that failed names a notebook with its outputs so far, which is kept in the folder
        ``failed`` of the output folder until that lesson ends well. Nothing else is written but the
        run times that feed the estimate. When the iterator is closed, or Ctrl-C arrives, all
        kernels are ended.

    Raises
    ------
    ValueError, TypeError
        An unknown id or scale, or ``jobs`` below 1, before the first kernel starts.
    """
    course, scale = course or Course(), chosen_scale(scale)
    cards, papers = course.cards(), read_bibliography(course.notebooks / "references.bib")
    wanted = cards if ids is None else sorted({course.card(i).id: course.card(i) for i in ids}
                                              .values(), key=lambda c: c.number)
    jobs = min(check_int("jobs", jobs), max(1, len(wanted)))
    options = {"scale": scale, "cwd": course.notebooks, "timeout": timeout,
               "extra": _threads(jobs) | dict(extra or {})}
    times = _Times(scale)
    if jobs > 1:
        wanted = sorted(wanted, key=times.left, reverse=True)
    return _run_each(wanted, lambda card: notebook_of(card, cards, papers), options, jobs, times,
                     on_cell or (lambda progress: None))


def _run_each(wanted: Sequence[LessonCard], read: Callable[[LessonCard], Any],
              options: Mapping[str, Any], jobs: int, times: _Times,
              on_cell: Callable[[Progress], None]) -> Generator[RunResult, None, None]:
    events: queue.SimpleQueue = queue.SimpleQueue()
    running: list[_Job] = []
    waiting = list(wanted)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                card = waiting.pop(0)
                number = len(wanted) - len(waiting)
                running.append(_Job(card, number, read(card), events, options))
            try:
                # With a limit, because Windows does not wake a thread that waits without one for
                # Ctrl-C.
                job, cell = events.get(timeout=LOOK_EVERY_SECONDS)
            except queue.Empty:
                continue
            if cell is not None:
                job.cell = cell
                on_cell(Progress(job.card.id, job.number, len(wanted), cell, job.n_cells,
                                 _seconds_left(running, waiting, jobs, times),
                                 sum(times.last(job.card) or ()) or None,
                                 tuple(j.card.id for j in running),
                                 len(wanted) - len(waiting) - len(running)))
                continue
            running.remove(job)
            job.thread.join()
            if job.error is not None:
                raise job.error
            if job.result.ok:
                times.remember(job.result)
            yield _with_kept_notebook(job.result, job.card)
    finally:
        for job in running:
            job.stop()
        for job in running:
            job.thread.join()


def _seconds_left(running: Sequence[_Job], waiting: Sequence[LessonCard], jobs: int,
                  times: _Times) -> float:
    """Seconds until all have ended, when each that waits begins as soon as another has ended."""
    ends = [times.left(job.card, job.cell, job.n_cells) for job in running]
    ends += [0.0] * (jobs - len(ends))
    heapq.heapify(ends)
    for card in waiting:
        heapq.heapreplace(ends, ends[0] + times.left(card))
    return max(ends)


def _with_kept_notebook(result: RunResult, card: LessonCard) -> RunResult:
    """Keep the notebook of a run that failed; remove the one of an earlier run otherwise."""
    import nbformat

    path: Path = output_folder() / "failed" / card.notebook.name
    try:
        if result.failure is None:
            path.unlink(missing_ok=True)
            return result
        write_text(path, nbformat.writes(result.notebook, version=4).rstrip("\n") + "\n")
    except OSError:                              # a full disk must not hide why the lesson stopped
        return result
    return replace(result, failure=replace(result.failure, notebook=path))
