"""Several lessons side by side: what overlaps, what is told, what a lesson that stops leaves."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import SimpleNamespace

import nbformat
import psutil
import pytest

from lessons_lib.core import cache_folder, output_folder, write_json
from lessons_lib.publish import Progress, default_jobs, run_lessons, side_by_side

TEXT = """---
lesson:
  id: {id}
  minutes: {{run: {minutes}}}
---

## The first part

```{{code-cell}} ipython3
{first}
```

### A closer look

```{{code-cell}} ipython3
{second}
```
"""


@pytest.fixture
def lessons(course):
    """Replaces the lessons of the tiny course: ``lessons(a="code", b=("code", "more"))``."""
    def write(**sources: str | tuple[str, str]):
        for path in course.notebooks.glob("0*.md"):
            path.unlink()
        for number, (name, source) in enumerate(sources.items()):
            first, second = source if isinstance(source, tuple) else ("pass", source)
            text = TEXT.format(id=name, first=first, second=second, minutes=number + 1)
            (course.notebooks / f"{number:02d}_{name}.md").write_text(text, "utf-8")
        return course

    return write


def kernels() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if child.status()
            != psutil.STATUS_ZOMBIE and "ipykernel_launcher" in " ".join(child.cmdline())]


MEET = """import pathlib, time
pathlib.Path("{me}").touch()
until = time.time() + 30
while not pathlib.Path("{other}").exists() and time.time() < until:
    time.sleep(0.05)
assert pathlib.Path("{other}").exists(), "the other lesson does not run"
import os; print(os.environ["OMP_NUM_THREADS"], os.environ.get("LESSONS_THREADS"))"""


@pytest.mark.slow
def test_two_lessons_run_at_one_time_with_half_the_cores_each(lessons, monkeypatch):
    monkeypatch.delenv("LESSONS_THREADS", raising=False)
    monkeypatch.setattr(side_by_side, "available_cores", lambda: 2)
    course = lessons(left=MEET.format(me="l", other="r"), right=MEET.format(me="r", other="l"))
    seen: list[Progress] = []
    runs = {run.lesson: run
            for run in run_lessons(course=course, scale="smoke", jobs=2, on_cell=seen.append)}
    assert set(runs) == {"left", "right"} and all(run.ok for run in runs.values()), runs
    assert runs["left"].notebook.cells[-2].outputs[0].text == "1 1\n"
    assert {(p.lesson, p.number) for p in seen} == {("right", 1), ("left", 2)}  # longest first
    assert all(p.last_seconds is None and p.seconds_left > 0 for p in seen)


@pytest.mark.slow
def test_a_lesson_that_stops_tells_where_why_and_what_to_do_and_the_others_go_on(lessons):
    course = lessons(
        counts=("scores = {'one': 0.5}\nlimit = 0.7",
                "assert limit > 0 and scores['one'] > limit, 'one is 0.5'"), good="print(1)")
    first, second = run_lessons(course=course, scale="smoke")
    assert not first.ok and second.ok and second.failure is None
    failure = first.failure
    assert (failure.section, failure.cell, failure.n_cells) == ("A closer look", 2, 2)
    assert first.failed_cell == 2 and first.error == "AssertionError: one is 0.5"
    assert failure.error[-1] == first.error and any(line.startswith("----> 1 assert")
                                                    for line in failure.error)
    assert failure.values == ("not true: scores['one'] > limit", "scores['one'] = 0.5",
                              "limit = 0.7", "scores = {'one': 0.5}")
    assert "python -m lessons_lib run counts --scale smoke" in failure.to_do
    kept = output_folder() / "failed" / "00_counts.ipynb"
    assert failure.notebook == kept
    cells = [cell for cell in nbformat.read(kept, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count
            for cell in cells] == [1, 2] and cells[1].outputs[0].ename == "AssertionError"
    block = str(failure)
    assert ("counts stopped" in block and "A closer look" in block and "00_counts.ipynb" in block
            and "\x1b" not in block)
    assert next(run_lessons(course=lessons(counts="pass"), scale="smoke")).ok and not kept.exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_kernel_that_is_killed_is_told_in_words_and_the_next_lesson_runs(lessons):
    course = lessons(dies="import os, signal; os.kill(os.getpid(), signal.SIGKILL)", good="pass")
    dead, good = sorted(run_lessons(course=course, scale="smoke", jobs=2),
                        key=lambda run: run.lesson)
    assert good.ok and "memory" in dead.error and dead.failure.section == "A closer look"
    assert "--jobs 1" in dead.failure.to_do and dead.failure.notebook.exists()


def test_a_kernel_that_does_not_start_is_a_failure_of_its_lesson(lessons, monkeypatch):
    from nbclient import NotebookClient

    def refuse(self: NotebookClient) -> None:
        raise RuntimeError("Kernel died before replying to kernel_info")

    monkeypatch.setattr(NotebookClient, "start_new_kernel_client", refuse)
    run = next(run_lessons(course=lessons(first="pass"), scale="smoke"))
    assert not run.ok and run.failed_cell is None and "did not start" in run.error and not kernels()
    assert "did not start" in str(run.failure)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_all_kernels_at_once(lessons):
    course = lessons(left="import time; time.sleep(60)", right="import time; time.sleep(60)")
    pressed: list[float] = []

    def press(at: Progress) -> None:
        if at.cell == 2 and len(kernels()) == 2 and not pressed:
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        list(run_lessons(course=course, scale="smoke", jobs=2, on_cell=press))
    assert not kernels() and time.monotonic() - pressed[0] < 5
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("lesson ")]


@pytest.mark.slow
def test_the_next_lesson_waits_until_it_is_asked_for_and_a_closed_iterator_leaves_nothing(lessons):
    course = lessons(first="pass", second="import time; time.sleep(60)",
                     third="import time; time.sleep(60)")
    runs = run_lessons(course=course, scale="smoke")
    # A build writes what the first drew before the second draws.
    assert next(runs).lesson == "first" and not kernels()
    runs.close()
    began: list[Progress] = []
    side = run_lessons(course=course, scale="smoke", jobs=3, on_cell=began.append)
    assert next(side).lesson == "first"
    side.close()
    assert not kernels()


@pytest.mark.parametrize("jobs", [0, -1])
def test_no_lessons_at_a_time_are_refused(course, jobs):
    with pytest.raises(ValueError, match="jobs"):
        run_lessons(course=course, jobs=jobs)


@pytest.mark.parametrize(("cores", "gigabytes", "jobs"),
                         [(1, 8, 1), (2, 8, 2), (2, 3, 1), (3, 8, 2), (4, 8, 2), (8, 12, 4),
                          (8, 5, 2), (64, 500, 4), (8, 0.5, 1)])
def test_as_many_lessons_run_side_by_side_as_cores_and_memory_allow(monkeypatch, tmp_path, cores,
                                                                    gigabytes, jobs):
    monkeypatch.setattr(side_by_side, "available_cores", lambda: cores)
    monkeypatch.setattr(psutil, "virtual_memory",
                        lambda: SimpleNamespace(available=int(gigabytes * 1e9)))
    monkeypatch.setattr(side_by_side, "CONTAINER_LIMIT", tmp_path / "memory.max")
    assert default_jobs() == jobs
    side_by_side.CONTAINER_LIMIT.write_text("max\n")
    assert default_jobs() == jobs
    side_by_side.CONTAINER_LIMIT.write_text("3000000000\n")
    assert default_jobs() == 1


def test_the_user_s_number_of_threads_is_kept_and_else_cores_are_shared(monkeypatch):
    monkeypatch.setenv("LESSONS_THREADS", "3")
    assert side_by_side._threads(2) == {}
    monkeypatch.delenv("LESSONS_THREADS")
    for cores, jobs, threads in [(2, 2, "1"), (8, 2, "2"), (8, 4, "2"), (2, 4, "1")]:
        monkeypatch.setattr(side_by_side, "available_cores", lambda cores=cores: cores)
        assert side_by_side._threads(jobs)["LESSONS_THREADS"] == threads
    assert side_by_side._threads(1) == {}  # two, as always


def test_the_time_left_counts_lessons_that_wait_for_a_place(lessons):
    cards = lessons(a="pass", b="pass", c="pass").cards()
    write_json(cache_folder() / "run_times.json",
               {"a/smoke": [10.0, 20.0], "b/smoke": [4.0, 1.0], "c/smoke": [7.0], "d/smoke": "?"})
    times = side_by_side._Times("smoke")
    job = SimpleNamespace(card=cards[0], cell=2, n_cells=2)
    assert side_by_side._seconds_left([job], cards[1:], 1, times) == 32.0
    assert side_by_side._seconds_left([job], cards[1:], 2, times) == 20.0
    assert side_by_side._seconds_left([], cards[1:], 2, side_by_side._Times("laptop")) == 180.0
