"""Build the notebooks from their texts, or say what is not as it should be.

For each lesson: refresh the generated cells of the text, run the cells in a clean kernel, clean the
outputs, write notebook and figures. A lesson that fails to run keeps its former notebook.
Everything is written whole or not at all. Used by ``lessons build``.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import DamagedFile, atomic_open, read_json, write_json, write_text
from ..lesson.board import BOARD_VARIABLE
from ..lesson.course import Course, LessonCard, chosen_scale
from ..lesson.explore import BUILD_VARIABLE
from ..lesson.figures import FIGURES_VARIABLE
from .bibliography import Entry, read_bibliography
from .check import check_course, check_lesson, read_notebook
from .clean import clean
from .execute import CELL_TIMEOUT, RunResult
from .frontmatter import validate
from .pair import notebook_of, refreshed_text
from .problem import Problem
from .readme_map import BEGIN, write_map
from .side_by_side import Progress, run_lessons

__all__ = ["BuildResult", "build"]


@dataclass(frozen=True)
class BuildResult:
    """One lesson (or ``course`` for what concerns all): its run (None when only checked) and the
    problems that are left.
    """

    lesson: str
    run: RunResult | None
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Ran without an error, where it ran, and nothing is left to mend."""
        return not self.problems and (self.run is None or self.run.ok)


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def _written(notebook: Any, path: Path) -> None:
    import nbformat

    _write_if_changed(path, nbformat.writes(notebook, version=4).rstrip("\n") + "\n")


def _with_outputs_of(stored: Any, fresh: Any) -> bool:
    """Give a fresh notebook the outputs of a stored one with the same code cells in the same order.

    Returns whether they are the same.
    """
    old, new = ([cell for cell in nb.cells if cell.cell_type == "code"] for nb in (stored, fresh))
    if [cell.source for cell in old] != [cell.source for cell in new]:
        return False
    for was, now in zip(old, new, strict=True):
        now.outputs, now.execution_count = was.outputs, was.execution_count
    return True


def _refresh(card: LessonCard, cards: Sequence[LessonCard], papers: Mapping[str, Entry],
             root: Path) -> None:
    """Bring generated cells and prose of text and notebook up to date; a notebook whose code
    changed waits for its run.
    """
    fresh = notebook_of(card, cards, papers)
    _write_if_changed(card.path, refreshed_text(card, fresh))
    if card.notebook.exists():
        try:
            stored = read_notebook(card.notebook)
        except DamagedFile:
            return                               # the run writes it anew; the check names it
        if _with_outputs_of(stored, fresh):
            _written(clean(fresh, root=root), card.notebook)


def _keep_figures(folder: Path, figures: Path) -> None:
    """Move what a run drew into the course's figures, file by file, each whole."""
    for file in sorted(folder.glob("*.*")):
        content = file.read_bytes()
        target = figures / file.name
        if not target.exists() or target.read_bytes() != content:
            with atomic_open(target, "wb") as out:
                out.write(content)
        file.unlink()


def _without_seconds(row: Mapping[str, Any]) -> dict[str, Any]:
    scores = {name: {k: v for k, v in figures.items() if k != "seconds"}
              for name, figures in row["scores"].items()}
    return {k: v for k, v in row.items() if k not in ("seconds", "versions")} | {"scores": scores}


def _keep_board(drawn: Path, target: Path, order: Sequence[str], *,
                lesson: str | None = None) -> None:
    """Commit the rows that the build measured, in the order of the lessons; rows that differ in
    their times alone keep the former line.

    Parameters: lesson, whose rows were measured, None: all. Those of others stay as they are by
    now: another build may have written them meanwhile.
    """
    if not drawn.exists():
        return
    new, old = read_json(drawn), read_json(target) if target.exists() else {"rows": []}
    if lesson is not None and old["rows"]:
        new["rows"] = [row for row in old["rows"] if row["lesson"] != lesson
                       ] + [row for row in new["rows"] if row["lesson"] == lesson]
    former = {(row["encoder"], row["lesson"]): row for row in old["rows"]}
    for i, row in enumerate(new["rows"]):
        before = former.get((row["encoder"], row["lesson"]))
        if before and _without_seconds(before) == _without_seconds(row):
            new["rows"][i] = before
    place = {lesson: i for i, lesson in enumerate(order)}
    new["rows"].sort(key=lambda row: place.get(row["lesson"], len(place)))
    if new != old:
        write_json(target, new)


def _run_and_write(course: Course, ids: Sequence[str], scale: str, timeout: float,
                   on_cell: Callable[[Progress], None] | None) -> list[RunResult]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        own = {name: Path(folder) / name for name in ("figures", "output", "leaderboard.json")}
        own["figures"].mkdir()
        board = course.root / "data" / "leaderboard.json"
        if board.exists():
            shutil.copyfile(board, own["leaderboard.json"])
        extra = {BUILD_VARIABLE: "1", FIGURES_VARIABLE: str(own["figures"]),
                 "LESSONS_OUTPUT": str(own["output"]), BOARD_VARIABLE: str(own["leaderboard.json"])}
        results = []
        for result in run_lessons(ids, scale=scale, course=course, timeout=timeout, on_cell=on_cell,
                                  extra=extra):
            if result.ok:
                _written(clean(result.notebook, root=course.root),
                         course.card(result.lesson).notebook)
                _keep_figures(own["figures"], course.root / "figures")
                _keep_board(own["leaderboard.json"], board, course.ids(), lesson=result.lesson)
            results.append(result)
    return results


def _course_result(course: Course) -> BuildResult:
    return BuildResult("course", None, tuple(check_course(course)))


def build(ids: Sequence[str] | None = None, *, check: bool = False, scale: str = "laptop",
          course: Course | None = None, timeout: float = CELL_TIMEOUT,
          on_cell: Callable[[Progress], None] | None = None) -> list[BuildResult]:
    """Build lessons, or check them.

    Parameters: ids (default: all lessons); check, True executes and writes nothing; scale of the
    run; course, the folder (default: this project); timeout, seconds per cell; on_cell, called with
    a `Progress` before every cell. Returns one `BuildResult` per lesson and a last one, ``course``,
    for the README map and the glossary. A lesson whose front matter is wrong is not run; one whose
    run fails keeps its former notebook. Raises ValueError for an unknown id or scale.
    """
    course, scale = course or Course(), chosen_scale(scale)
    cards, papers = course.cards(), read_bibliography(course.notebooks / "references.bib")
    wanted = cards if ids is None else [course.card(i) for i in ids]
    runs: dict[str, RunResult] = {}
    if not check:
        # a new lesson changes its neighbours' links and the map in every lesson that shows it
        for card in cards:
            _refresh(card, cards, papers, course.root)
        sound = [card.id for card in wanted if not validate(card, cards, papers)]
        runs = {run.lesson: run for run in _run_and_write(course, sound, scale, timeout, on_cell)}
        readme = course.root / "README.md"
        if readme.exists() and BEGIN in readme.read_text(encoding="utf-8"):
            write_map(readme, cards)
    results = [BuildResult(card.id, runs.get(card.id), tuple(check_lesson(card, cards, papers)))
               for card in wanted]
    return [*results, _course_result(course)]
