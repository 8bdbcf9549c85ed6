"""``lessons run``: its table, what stopped and what to do, and a bar that tells what is running."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from lessons_lib import cli
from lessons_lib.cli.running import Watch
from lessons_lib.core import PROJECT
from lessons_lib.lesson import Course
from lessons_lib.publish import Progress, RunResult

LESSON = """---
lesson:
  id: {id}
  minutes: {{run: {minutes}}}
---

## Numbers

```{{code-cell}} ipython3
{code}
```
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Two lessons instead of the course's: the second ends well, the first does not."""
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    (notebooks / "references.bib").write_text("", "utf-8")
    for number, (name, code) in enumerate(
            {"adds": "margin = 0.03\nassert margin > 0.05, 'the margin is 0.03, expected > 0.05'",
             "counts": "import time; time.sleep(0.2)"}.items()):
        text = LESSON.format(id=name, code=code, minutes=number + 1)
        (notebooks / f"{number:02d}_{name}.md").write_text(text, "utf-8")
    monkeypatch.setattr(Course.__init__, "__defaults__", (tmp_path,))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LESSONS_OUTPUT", str(tmp_path / ".output"))
    return Course()


@pytest.mark.slow
def test_a_lesson_that_stops_is_told_below_the_table_and_the_exit_status_is_1(
        course, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["lessons", "run", "--scale", "smoke", "--jobs", "2"])
    assert cli.main() == 1
    out, err = capsys.readouterr()
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert "adds" in rows[0] and "cell 1: AssertionError: the margin is 0.03" in rows[0]
    assert "counts" in rows[1] and "ok" in rows[1]
    block = out[out.index("adds stopped"):]
    for words in ("section   Numbers", "cell      [1] of 1 code cells",
                  "AssertionError: the margin is 0.03, expected > 0.05", "values    margin = 0.03",
                  "python -m lessons_lib run adds --scale smoke",
                  "notebook  python -m lessons_lib lab .output/failed/00_adds.ipynb"):
        assert words in block, out
    assert (course.root / ".output/failed/00_adds.ipynb").is_file()
    assert out.splitlines()[-1].startswith("2 lessons in ") and out.endswith(
        "2 side by side; 1 stopped\n")
    assert "counts: started, 1 of 2" in err and "adds: stopped, AssertionError: the margin" in err


def progress(lesson: str, cell: int, **more: object) -> Progress:
    return Progress(**{"lesson": lesson, "number": 1, "n_lessons": 3, "cell": cell, "n_cells": 4,
                       "seconds_left": 75.0, "last_seconds": 12.3, "running": ("adds", "counts"),
                       "n_done": 1} | more)


def test_a_terminal_shows_what_is_running_its_cell_its_last_time_and_what_is_left():
    screen = io.StringIO()
    watch = Watch(Console(file=screen, force_terminal=True, width=120))
    with watch:
        watch.on_cell(progress("adds", 2))
        watch.on_cell(progress("counts", 1, last_seconds=None))
        watch._bars.refresh()
        both = screen.getvalue()
        watch.ended(RunResult("adds", "smoke", 1.0, 100.0, 4))
        screen.truncate(0)
        watch._bars.refresh()
        one = screen.getvalue()
    assert ("cell 2 of 4, last time 12 s" in both and "counts" in both and "1 of 3 lessons" in both
            and "about 1 min 15 s left" in both)
    assert "0:00:00" in both and "adds" not in one and "counts" in one


def test_a_log_file_gets_a_line_at_the_start_and_one_at_the_end():
    log = io.StringIO()
    with Watch(Console(file=log)) as watch:
        for cell in (1, 2, 3):
            watch.on_cell(progress("adds", cell))
        watch.ended(RunResult("adds", "smoke", 61.0, 100.0, 4))
    assert log.getvalue().splitlines() == ["adds: started, 1 of 3, last time 12 s",
                                           "adds: ok, after 1 min 01 s"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_with_130_and_leaves_no_process(course):
    """In a process of its own, as a shell starts it."""
    for path in course.notebooks.glob("0*.md"):
        text = path.read_text("utf-8").replace("ipython3\n",
                                               "ipython3\nimport time; time.sleep(60)\n")
        path.write_text(text, "utf-8")
    code = ("import sys; from pathlib import Path; from lessons_lib import cli; "
            "from lessons_lib.lesson import Course; "
            "Course.__init__.__defaults__ = (Path(sys.argv.pop(1)),); sys.exit(cli.main())")
    run = subprocess.Popen([sys.executable, "-c", code, str(course.root), "run", "--jobs", "2"],
                           cwd=PROJECT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                           text=True, start_new_session=True)
    try:
        lines = [run.stderr.readline(), run.stderr.readline()]
        assert all("started" in line for line in lines), lines
        time.sleep(0.5)
        family = psutil.Process(run.pid).children(recursive=True)
        assert len(family) >= 2
        os.kill(run.pid, signal.SIGINT)
        assert run.wait(20) == 130
        _, alive = psutil.wait_procs(family, timeout=5)
        assert not alive
    finally:
        for process in ((run, *psutil.Process(run.pid).children(recursive=True))
                        if run.poll() is None else ()):
            process.kill()
        run.stderr.close()


def test_the_path_of_a_kept_notebook_elsewhere_is_absolute(tmp_path):
    from lessons_lib.publish import Failure

    assert str(Failure("a", "", 1, 2, ("words",),
                       notebook=tmp_path / "a.ipynb")).endswith(str(Path(tmp_path / "a.ipynb")))
