"""Run a lesson top to bottom in a clean kernel: this interpreter, fixed threads, no network for
models, an IPython folder of its own.

A run reports seconds and peak memory, and, when a cell fails, all that helps to mend it. Used by
``lessons run`` and ``lessons build``.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core import PROJECT, ProgramFailed
from ..lesson.course import Course, chosen_scale
from ..lesson.threads import thread_environment
from .failure import Failure, death_of, last_lines, section_of, what_to_do

__all__ = ["CELL_TIMEOUT", "PeakMemory", "RunResult", "end_kernel", "kernel_environment",
           "run_lesson"]

CELL_TIMEOUT = 300.0
MEMORY_EVERY_SECONDS = 0.1
VALUES_SECONDS = 10.0
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
           "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
QUIET = {"TQDM_DISABLE": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1",
         "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
ASK_VALUES = "from lessons_lib.lesson.failure import show_values\nshow_values()"


@dataclass(frozen=True)
class RunResult:
    """One run of a lesson.

    Parameters
    ----------
    lesson, scale : what was run.
    seconds : sum over the cells.
    peak_mb : peak memory of the kernel and its children, in 10^6 bytes.
    n_cells : number of code cells.
    failed_cell : number of the code cell that failed, from 1; None when all went well, and when the
        kernel did not start.
    error : class and message in one line; None when all went well.
    cell_seconds : of each cell that went well.
    notebook : with its outputs.
    failure : all that is known about what went wrong.
    """

    lesson: str
    scale: str
    seconds: float
    peak_mb: float
    n_cells: int
    failed_cell: int | None = None
    error: str | None = None
    cell_seconds: tuple[float, ...] = ()
    notebook: Any = field(default=None, repr=False, compare=False)
    failure: Failure | None = field(default=None, compare=False)

    @property
    def ok(self) -> bool:
        """Whether every cell ran without an error."""
        return self.error is None


def kernel_environment(scale: str, folder: Path, *,
                       extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a lesson's kernel: the user's, with scale, threads and offline switches.

    Parameters
    ----------
    scale : of the lesson.
    folder : IPython's, for this kernel alone.
    extra : further variables, which win.
    """
    path = os.pathsep.join([str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])])
    own = {"LESSONS_SCALE": scale, "IPYTHONDIR": str(folder), "PYTHONPATH": path}
    return dict(os.environ) | thread_environment() | OFFLINE | QUIET | own | dict(extra or {})


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
                family = (process, *process.children(recursive=True))
                self.peak = max(self.peak, sum(p.memory_info().rss for p in family))
            except psutil.Error:
                pass                # a child ended between the listing and the question
            if self._stop.wait(MEMORY_EVERY_SECONDS):
                return

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def end_kernel(pid: int) -> None:
    """End a kernel and all that it started, at once."""
    import psutil

    try:
        kernel = psutil.Process(pid)
        family = [*kernel.children(recursive=True), kernel]
    except psutil.NoSuchProcess:
        return
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()


@contextmanager
def _open_kernel(notebook: Any, *, scale: str, cwd: Path, timeout: float,
                 extra: Mapping[str, str] | None, started: Callable[[int], None]) -> Iterator[Any]:
    """Yield an nbclient with a kernel that listens; its process is ``client.process``."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # No kernel folders: a kernel called "python3" that the user installed may belong to another
        # Python.
        manager = AsyncKernelManager(kernel_name="python3",
                                     kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
        client = NotebookClient(notebook, km=manager, timeout=timeout, kernel_name="python3",
                                resources={"metadata": {"path": str(cwd)}},
                                store_widget_state=False)
        client.start_new_kernel(env=kernel_environment(scale, Path(folder), extra=extra),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client.process = manager.provisioner.process
        try:
            started(client.process.pid)
            try:
                client.start_new_kernel_client()
            except RuntimeError as error:
                raise ProgramFailed(f"the kernel did not start: {error}") from None
            # nbclient ends only kernels whose manager it made itself, unless it is told to.
            with client.setup_kernel(cleanup_kc=True):
                yield client
        except BaseException:                    # Ctrl-C: nbclient would leave the kernel running
            end_kernel(client.process.pid)
            client.process.wait(5)
            raise


def _run_cell(client: Any, cell: Any, position: int) -> tuple[str, tuple[str, ...]] | None:
    """Execute a cell. Returns None, or the error as class and message, and lines that show it."""
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    try:
        client.execute_cell(cell, position)
    except CellExecutionError as error:
        said = [output for output in cell.outputs if output.output_type == "error"]
        text = f"{error.ename}: {error.evalue}" if error.evalue else error.ename
        return text, last_lines(said[-1].traceback if said else [text])
    except CellTimeoutError:
        text = f"the cell took longer than {client.timeout:g} s"
        return f"CellTimeoutError: {text}", (text,)
    except DeadKernelError:
        text = death_of(client.process.poll())
        return f"DeadKernelError: {text}", (text,)
    return None


def _values(client: Any) -> tuple[str, ...]:
    """Ask the kernel for the values of the assertion that failed; what it said within 10 s."""
    from nbformat.v4 import new_code_cell

    ask = new_code_cell(ASK_VALUES)
    client.nb.cells.append(ask)                  # nbclient executes what stands in its notebook
    client.timeout = VALUES_SECONDS
    try:
        _run_cell(client, ask, len(client.nb.cells) - 1)
    finally:
        client.nb.cells.pop()
    texts = (output.text for output in ask.outputs if output.output_type == "stream")
    return tuple("".join(texts).splitlines())


def run_lesson(notebook: Any, lesson_id: str, *, scale: str | None = None, cwd: Path | None = None,
               timeout: float = CELL_TIMEOUT, tell: Callable[[int], None] = lambda cell: None,
               started: Callable[[int], None] = lambda pid: None,
               extra: Mapping[str, str] | None = None) -> RunResult:
    """Execute a notebook in a clean kernel; its cells get their outputs.

    Parameters
    ----------
    notebook : from `notebook_of`.
    lesson_id : its id.
    scale : default: ``LESSONS_SCALE``, else laptop.
    cwd : the kernel's folder; default: the course's notebooks.
    timeout : seconds per cell.
    tell : called with the number of each code cell before it runs.
    started : called with the id of the kernel's process as soon as it has one.
    extra : further variables for the kernel.

    Returns
    -------
    A `RunResult`; a failing cell ends the run and is reported, not raised.
    """
    scale = chosen_scale(scale)
    cells = [(i, cell) for i, cell in enumerate(notebook.cells)
             if cell.cell_type == "code" and cell.source.strip()]
    seconds: list[float] = []
    trouble, values, position, peak = None, (), None, 0
    try:
        with _open_kernel(notebook, scale=scale, cwd=cwd or Course().notebooks, timeout=timeout,
                          extra=extra, started=started) as client, \
                PeakMemory(client.process.pid) as memory:
            for number, (position, cell) in enumerate(cells, start=1):
                tell(number)
                start = time.perf_counter()
                trouble = _run_cell(client, cell, position)
                if trouble is not None:
                    break
                seconds.append(time.perf_counter() - start)
            if trouble is not None and trouble[0].startswith("AssertionError"):
                values = _values(client)
            if trouble is not None:
                client.shutdown_kernel = "immediate"     # it may still compute
        peak = memory.peak
    except ProgramFailed as error:
        trouble = f"{type(error).__name__}: {error}", (str(error),)
    result = RunResult(lesson_id, scale, round(sum(seconds), 3), round(peak / 1e6, 1), len(cells),
                       cell_seconds=tuple(round(s, 3) for s in seconds), notebook=notebook)
    if trouble is None:
        return result
    error, lines = trouble
    number = None if position is None else len(seconds) + 1
    failure = Failure(lesson_id, "" if position is None else section_of(notebook, position), number,
                      len(cells), lines, values, what_to_do(error, lesson=lesson_id, scale=scale))
    return replace(result, failed_cell=number, error=error.splitlines()[0][:300], failure=failure)
