"""``lessons run`` and ``lessons build``: execute lessons, and tell about those that stopped."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Annotated, Any

import typer
from rich.console import Console

from .options import argument, option, unset
from .show import show_board, show_table

__all__ = ["Watch", "build", "run"]

LessonIds = Annotated[list[str] | None, argument("Lessons, such as one_hot; default: all.")]
Scale = Annotated[str | None, option("smoke, laptop or paper")]
Jobs = Annotated[int | None, unset("lessons side by side; default: as many as cores and free "
                                   "memory allow, at most 4")]


class Watch:
    """Shows what is running: bars in a terminal, else a line when a lesson starts and ends.

    Parameters
    ----------
    console : where to; default: standard error.
    """

    def __init__(self, console: Console | None = None):
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._console = console or Console(stderr=True)
        self._bars = Progress(TextColumn("{task.description}"), BarColumn(20), TimeElapsedColumn(),
                              TextColumn("{task.fields[text]}"), console=self._console,
                              transient=True, refresh_per_second=2,
                              disable=not self._console.is_terminal)
        self._all = self._bars.add_task("starting", total=None, text="")
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Watch:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def on_cell(self, at: Any) -> None:
        """Take a `publish.Progress`."""
        before = "" if at.last_seconds is None else f"last time {_clock(at.last_seconds)}"
        if self._bars.disable:
            if at.cell == 1:
                place = f"{at.number} of {at.n_lessons}"
                self._say(f"{at.lesson}: started, {', '.join(filter(None, [place, before]))}")
            return
        for lesson in self._tasks.keys() - set(at.running):
            self._bars.remove_task(self._tasks.pop(lesson))
        if at.lesson not in self._tasks:
            self._tasks[at.lesson] = self._bars.add_task(at.lesson, text="")
        text = f"cell {at.cell} of {at.n_cells}{before and ', '}{before}"
        self._bars.update(self._tasks[at.lesson], total=at.n_cells, completed=at.cell - 1,
                          text=text)
        self._bars.update(self._all, total=at.n_lessons, completed=at.n_done,
                          description=f"{at.n_done} of {at.n_lessons} lessons",
                          text=f"about {_clock(at.seconds_left)} left")

    def ended(self, result: Any) -> None:
        """Take a `publish.RunResult`."""
        if self._bars.disable:
            end = "ok" if result.ok else f"stopped, {result.error}"
            self._say(f"{result.lesson}: {end}, after {_clock(result.seconds)}")
        elif result.lesson in self._tasks:
            self._bars.remove_task(self._tasks.pop(result.lesson))

    def _say(self, line: str) -> None:
        print(line, file=self._console.file, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def run(ids: LessonIds = None, scale: Scale = None, jobs: Jobs = None) -> None:
    """Execute lessons in clean kernels, side by side; print a table of results, the leaderboard so
    far, and what to do about a lesson that stopped."""
    from ..lesson.board import user_board
    from ..lesson.course import Course
    from ..publish import default_jobs, run_lessons

    watch, began, results = Watch(), time.monotonic(), []
    jobs = default_jobs() if jobs is None else jobs
    runs = run_lessons(ids or None, scale=scale, jobs=jobs, on_cell=watch.on_cell)
    with watch, closing(runs):
        for result in runs:
            watch.ended(result)
            results.append(result)
    order = Course().ids()
    results.sort(key=lambda result: order.index(result.lesson))
    rows = [[r.lesson, r.scale, f"{r.seconds:.1f}", f"{r.peak_mb:,.0f}", _outcome(r)]
            for r in results]
    show_table("Run", ["lesson", "scale", "seconds", "peak MB", "result"], rows,
               right=("seconds", "peak MB"))
    show_board(user_board())
    failed = [r for r in results if not r.ok]
    for result in failed:
        print(f"\n{result.failure}")
    together = f", {min(jobs, len(results))} side by side" if min(jobs, len(results)) > 1 else ""
    stopped = f"; {len(failed)} stopped" if failed else ""
    print(f"\n{len(results)} lesson{'' if len(results) == 1 else 's'} in "
          f"{_clock(time.monotonic() - began)}{together}{stopped}")
    if failed:
        raise typer.Exit(1)


def _outcome(result: Any) -> str:
    """"ok", or cell and error of a `publish.RunResult`."""
    place = "" if result.failed_cell is None else f"cell {result.failed_cell}: "
    return "ok" if result.ok else f"{place}{result.error}"


def build(
    ids: LessonIds = None,
    check: Annotated[bool,
                     option("execute and write nothing; say what is wrong", "--check")] = False,
    scale: Annotated[str, option("smoke, laptop or paper")] = "laptop",
) -> None:
    """Make the notebooks from their texts: execute, clean, link, renew the map in the README."""
    from ..publish import build as build_lessons

    with Watch() as watch:
        results = build_lessons(ids or None, check=check, scale=scale, on_cell=watch.on_cell)
    for result in results:
        run = result.run
        ran = f"{run.seconds:.1f} s, {run.peak_mb:,.0f} MB" if run else "checked"
        failed = "" if run is None or run.ok else _outcome(run)
        print(f"{'ok  ' if result.ok else 'FAIL'} {result.lesson} ({ran}) {failed}")
        for problem in result.problems:
            print(f"       {problem}")
    for result in results:
        if result.run and result.run.failure:
            print(f"\n{result.run.failure}")
    if not all(result.ok for result in results):
        raise typer.Exit(1)
