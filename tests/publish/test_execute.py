"""Execution in a clean kernel: seconds, memory, the failing cell, what is left to do."""

from __future__ import annotations

import os
import signal
import sys
import threading

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lessons_lib.core import cache_folder, read_json
from lessons_lib.lesson.threads import THREADS
from lessons_lib.publish import Progress, run_lesson, run_lessons

pytestmark = pytest.mark.slow


def notebook(*sources: str) -> object:
    return new_notebook(cells=[new_markdown_cell("Text"), *map(new_code_cell, sources)])


def kernels() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True)
            if "ipykernel_launcher" in " ".join(child.cmdline())]


def test_a_notebook_runs_in_this_python_offline_with_two_threads_at_its_scale(course, monkeypatch):
    monkeypatch.delenv("LESSONS_THREADS", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(course.root / "users"))
    run = run_lesson(notebook("import sys, os\nsys.executable",
                              "print(os.environ['HF_HUB_OFFLINE'], os.environ['OMP_NUM_THREADS'], "
                              "os.environ['LESSONS_SCALE'])",
                              "block = bytearray(80_000_000)\nimport time; time.sleep(0.3)"),
                     "tiny", scale="smoke", cwd=course.notebooks)
    cells = run.notebook.cells
    assert run.ok and run.n_cells == 3 and len(run.cell_seconds) == 3 and run.seconds >= 0.3
    assert cells[1].outputs[0].data["text/plain"] == repr(sys.executable)
    assert cells[2].outputs[0].text == f"1 {THREADS} smoke\n"
    assert run.peak_mb > 100 and not (course.root / "users").exists()


def test_a_cell_that_fails_dies_or_takes_too_long_ends_the_run_and_leaves_no_kernel(course):
    for cell, words in (("x / 0", "ZeroDivisionError: division by zero"),
                        ("import os; os._exit(3)", "DeadKernel"),
                        ("import time; time.sleep(60)", "CellTimeoutError")):
        run = run_lesson(notebook("x = 1", cell, "never = True"), "tiny", cwd=course.notebooks,
                         timeout=5.0)
        assert not run.ok and run.failed_cell == 2 and run.error.startswith(words)
        assert run.notebook.cells[3].execution_count is None and not kernels()


@pytest.mark.skipif(os.name != "posix",
                    reason="Windows has no signal that one process can send itself like Ctrl-C")
def test_ctrl_c_comes_out_and_leaves_no_kernel_behind(course):
    def interrupt(cell: int) -> None:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    before = {p.pid for p in psutil.Process().children(recursive=True)}
    with pytest.raises(KeyboardInterrupt):
        run_lesson(notebook("import time; time.sleep(60)"), "tiny", cwd=course.notebooks,
                   tell=interrupt)
    assert {p.pid for p in psutil.Process().children(recursive=True)} <= before


def test_lessons_run_in_order_with_progress_and_their_times_are_remembered(course):
    seen: list[Progress] = []
    runs = list(run_lessons(["counting", "start_here"], scale="smoke", course=course,
                            on_cell=seen.append))
    assert [run.lesson for run in runs] == ["start_here",
                                            "counting"] and all(run.ok for run in runs)
    assert [(p.lesson, p.number, p.cell, p.n_cells)
            for p in seen] == [("start_here", 1, 1, 1), ("counting", 2, 1, 3),
                               ("counting", 2, 2, 3), ("counting", 2, 3, 3)]
    # nothing is known yet: the minutes of the front matter
    assert seen[0].seconds_left == 120.0
    known = read_json(cache_folder() / "run_times.json")
    assert known["counting/smoke"] == list(runs[1].cell_seconds)
    again: list[Progress] = []
    list(run_lessons(["counting"], scale="smoke", course=course, on_cell=again.append))
    assert again[0].seconds_left == pytest.approx(sum(runs[1].cell_seconds)) and again[
        -1].seconds_left < again[0].seconds_left


def test_P27_an_unknown_lesson_or_scale_is_refused_before_a_kernel_starts(course):
    with pytest.raises(ValueError, match="Did you mean 'counting'"):
        run_lessons(["countin"], course=course)
    with pytest.raises(ValueError, match="Did you mean 'paper'"):
        run_lessons(scale="papers", course=course)
