"""Run a lesson top to bottom in a clean kernel: this interpreter, two threads, no network for models, an IPython folder of its own.

Each run reports seconds and peak memory, and tells a progress callback which cell comes next and how many seconds are left, judged from
the last run. Used by ``lessons run`` and ``lessons build``.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core import PROJECT, cache_folder, read_json, write_json
from ..lesson.course import Course, LessonCard, chosen_scale
from ..lesson.threads import thread_environment
from .bibliography import read_bibliography
from .pair import notebook_of

__all__ = ["PeakMemory", "Progress", "RunResult", "kernel_environment", "run_lesson", "run_lessons"]

CELL_TIMEOUT = 300.0
MEMORY_EVERY_SECONDS = 0.1
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
QUIET = {"TQDM_DISABLE": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}


@dataclass(frozen=True)
class Progress:
    """Where a run is: lesson id, its place among ``n_lessons``, cell ``cell`` (from 1) of ``n_cells`` code cells, and the seconds left
    for all lessons together, judged from the last run (None when nothing is known)."""

    lesson: str
    number: int
    n_lessons: int
    cell: int
    n_cells: int
    seconds_left: float | None


@dataclass(frozen=True)
class RunResult:
    """One run: ``seconds`` of the cells, ``peak_mb`` of the kernel (10^6 bytes), ``failed_cell`` (from 1) and ``error`` when not ``ok``."""

    lesson: str
    scale: str
    seconds: float
    peak_mb: float
    n_cells: int
    failed_cell: int | None = None
    error: str | None = None
    cell_seconds: tuple[float, ...] = ()
    notebook: Any = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether every cell ran without an error."""
        return self.error is None


# ------------------------------------------------------------------------------------------------ the kernel


def kernel_environment(scale: str, folder: Path, *, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a lesson's kernel: the user's, with scale, threads, offline switches and a private IPython folder."""
    path = os.pathsep.join([str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return (dict(os.environ) | thread_environment() | OFFLINE | QUIET | {"LESSONS_SCALE": scale, "IPYTHONDIR": str(folder), "PYTHONPATH": path}
            | dict(extra or {}))


class PeakMemory:
    """Watches the memory of a process and its children from a thread of its own."""

    def __init__(self, pid: int):
        self.peak, self._stop = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(pid,), daemon=True)

    def _watch(self, pid: int) -> None:
        import psutil

        while True:
            try:
                process = psutil.Process(pid)
                self.peak = max(self.peak, sum(p.memory_info().rss for p in (process, *process.children(recursive=True))))
            except psutil.Error:
                pass                             # a child ended between the listing and the question
            if self._stop.wait(MEMORY_EVERY_SECONDS):
                return

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def _open_kernel(notebook: Any, *, scale: str, cwd: Path, timeout: float, extra: Mapping[str, str] | None) -> Iterator[Any]:
    import psutil
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # No kernel folders: a kernel called "python3" that the user installed may belong to another Python.
        manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
        client = NotebookClient(notebook, km=manager, timeout=timeout, kernel_name="python3", resources={"metadata": {"path": str(cwd)}},
                                store_widget_state=False)
        environment = kernel_environment(scale, Path(folder), extra=extra)
        # nbclient ends only kernels whose manager it made itself, unless it is told to.
        with client.setup_kernel(env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cleanup_kc=True):
            process = psutil.Process(client.km.provisioner.process.pid)
            try:
                yield client
            except BaseException:                # Ctrl-C: nbclient leaves the kernel to the end of this process
                process.kill()
                process.wait(5)
                raise


# ------------------------------------------------------------------------------------------------ one notebook


def _error_text(error: Exception) -> str:
    name, value = getattr(error, "ename", None), getattr(error, "evalue", None)
    if name:
        return f"{name}: {value}".splitlines()[0][:300]
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first}"[:300]


def _run_cells(client: Any, cells: Sequence[tuple[int, Any]], tell: Callable[[int], None]) -> tuple[list[float], int | None, str | None]:
    """Execute code cells in turn. Returns seconds per cell, and number and error of the first that failed."""
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    seconds: list[float] = []
    for number, (position, cell) in enumerate(cells, start=1):
        tell(number)
        start = time.perf_counter()
        try:
            client.execute_cell(cell, position)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            return seconds, number, _error_text(error)
        seconds.append(time.perf_counter() - start)
    return seconds, None, None


def run_lesson(notebook: Any, lesson_id: str, *, scale: str | None = None, cwd: Path | None = None, timeout: float = CELL_TIMEOUT,
               tell: Callable[[int], None] = lambda cell: None, extra: Mapping[str, str] | None = None) -> RunResult:
    """Execute a notebook in a clean kernel; its cells get their outputs.

    Parameters: notebook, from `notebook_of`; lesson_id; scale (default: LESSONS_SCALE, else laptop); cwd, the kernel's folder (default:
    the course's notebooks); timeout, seconds per cell; tell, called with the number of each code cell before it runs; extra, further
    variables for the kernel. Returns a `RunResult`; a failing cell ends the run and is reported, not raised.
    """
    scale = chosen_scale(scale)
    cells = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code" and cell.source.strip()]
    with _open_kernel(notebook, scale=scale, cwd=cwd or Course().notebooks, timeout=timeout, extra=extra) as client, \
            PeakMemory(client.km.provisioner.process.pid) as memory:
        seconds, failed, error = _run_cells(client, cells, tell)
    return RunResult(lesson_id, scale, round(sum(seconds), 3), round(memory.peak / 1e6, 1), len(cells), failed, error,
                     tuple(round(s, 3) for s in seconds), notebook)


# ------------------------------------------------------------------------------------------------ several notebooks


def _times_file() -> Path:
    return cache_folder() / "run_times.json"


def _known_times() -> dict[str, list[float]]:
    """Seconds per cell of the last good run, by ``lesson/scale``; a damaged file counts as no knowledge."""
    try:
        times = read_json(_times_file())
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in times.items() if isinstance(v, list)} if isinstance(times, dict) else {}


def _remember(result: RunResult) -> None:
    times = _known_times() | {f"{result.lesson}/{result.scale}": list(result.cell_seconds)}
    try:
        write_json(_times_file(), times)
    except OSError:
        return                                   # the estimate is a convenience; a full disk must not fail the run


def _seconds_left(card: LessonCard, cell: int, later: Sequence[LessonCard], scale: str) -> float | None:
    """Seconds from the start of ``cell`` (from 1) of this lesson to the end of the last, where the last runs tell."""
    times = _known_times()
    known = times.get(f"{card.id}/{scale}")
    rest = [times[f"{c.id}/{scale}"] if f"{c.id}/{scale}" in times else [60.0 * float(c.minutes.get("run", 1))] for c in later]
    if known is None:
        return None if cell > 1 else 60.0 * float(card.minutes.get("run", 1)) + sum(map(sum, rest))
    return sum(known[cell - 1 :]) + sum(map(sum, rest))


def run_lessons(ids: Sequence[str] | None = None, *, scale: str | None = None, course: Course | None = None, timeout: float = CELL_TIMEOUT,
                on_cell: Callable[[Progress], None] | None = None, extra: Mapping[str, str] | None = None) -> Iterator[RunResult]:
    """Run lessons in the order of the course, each in a clean kernel; yields one `RunResult` as each ends.

    Parameters: ids (default: all); scale; course, whose texts are run; timeout, seconds per cell; on_cell, called with a `Progress`
    before every cell; extra, further variables for the kernels. Nothing is written but the run times that feed the estimate.
    Raises ValueError for an unknown id or scale, before the first kernel starts.
    """
    course, scale = course or Course(), chosen_scale(scale)
    cards, papers = course.cards(), read_bibliography(course.notebooks / "references.bib")
    wanted = cards if ids is None else sorted({course.card(i).id: course.card(i) for i in ids}.values(), key=lambda c: c.number)
    return _run_each(wanted, cards, papers, dict(scale=scale, cwd=course.notebooks, timeout=timeout, extra=extra), on_cell)


def _run_each(wanted: Sequence[LessonCard], cards: Sequence[LessonCard], papers: Mapping[str, Any], options: dict[str, Any],
              on_cell: Callable[[Progress], None] | None) -> Iterator[RunResult]:
    for place, card in enumerate(wanted):
        notebook = notebook_of(card, cards, papers)
        n_cells = sum(cell.cell_type == "code" and bool(cell.source.strip()) for cell in notebook.cells)

        def tell(cell: int, card: LessonCard = card, place: int = place, n_cells: int = n_cells) -> None:
            if on_cell is not None:
                left = _seconds_left(card, cell, wanted[place + 1 :], options["scale"])
                on_cell(Progress(card.id, place + 1, len(wanted), cell, n_cells, left))

        result = run_lesson(notebook, card.id, tell=tell, **options)
        if result.ok:
            _remember(result)
        yield result
