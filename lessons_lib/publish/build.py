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
from .glossary import GLOSSARY, glossary_page
from .pair import notebook_of, refreshed_text
from .problem import Problem
from .readme_map import BEGIN, write_map
from .side_by_side import Progress, run_lessons

__all__ = ["BuildResult", "build"]


@dataclass(frozen=True)
class BuildResult:
    """What came of one lesson.

    Parameters
    ----------
    lesson : str
        Its id, or ``course`` for what concerns all.
    run : RunResult or None
        None when only checked.
    problems : tuple of Problem
        Those that are left.
    """

    lesson: str
    run: RunResult | None
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Ran without an error, where it ran, and nothing is left to mend."""
        return not self.problems and (self.run is None or self.run.ok)


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:
        write_text(path, text)


def _written(notebook: Any, path: Path) -> None:
    import nbformat

    _write_if_changed(path, nbformat.writes(notebook, version=4).rstrip("\n") + "\n")


def _refresh(card: LessonCard, cards: Sequence[LessonCard], papers: Mapping[str, Entry],
             root: Path) -> None:
    """Bring generated cells and prose up to date; changed code waits for its run."""
    fresh = notebook_of(card, cards, papers)
    _write_if_changed(card.path, refreshed_text(card, fresh))
    if card.notebook.exists():
        try:
            stored = read_notebook(card.notebook)
        except DamagedFile:
            return                               # the run writes it anew; the check names it
        old, new = ([cell for cell in nb.cells if cell.cell_type == "code"]
                    for nb in (stored, fresh))
        if [cell.source for cell in old] == [cell.source for cell in new]:
            for was, now in zip(old, new, strict=True):
                now.outputs, now.execution_count = was.outputs, was.execution_count
            _written(clean(fresh, root=root), card.notebook)


def _without_seconds(value: Any) -> Any:
    """A row of the board without what differs from run to run."""
    if not isinstance(value, dict):
        return value
    return {k: _without_seconds(v) for k, v in value.items() if k not in ("seconds", "versions")}


def _keep_board(drawn: Path, target: Path, order: Sequence[str], *,
                lesson: str | None = None) -> None:
    """Commit the rows that a build measured, in the order of the lessons; rows that differ in their
    times alone keep the former line. Only those of ``lesson`` were measured (None: all): another
    build may have written the others meanwhile.
    """
    if not drawn.exists():
        return
    new, old = read_json(drawn), read_json(target) if target.exists() else {"rows": []}
    if lesson is not None and old["rows"]:
        new["rows"] = [*(row for row in old["rows"] if row["lesson"] != lesson),
                       *(row for row in new["rows"] if row["lesson"] == lesson)]
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
                for file in sorted(own["figures"].glob("*.*")):
                    target = course.root / "figures" / file.name
                    if not target.exists() or target.read_bytes() != file.read_bytes():
                        with atomic_open(target, "wb") as out:
                            out.write(file.read_bytes())
                    file.unlink()
                _keep_board(own["leaderboard.json"], board, course.ids(), lesson=result.lesson)
            results.append(result)
    return results


def build(ids: Sequence[str] | None = None, *, check: bool = False, scale: str = "laptop",
          course: Course | None = None, timeout: float = CELL_TIMEOUT,
          on_cell: Callable[[Progress], None] | None = None) -> list[BuildResult]:
    """Build lessons, or check them.

    A lesson whose front matter is wrong is not run; one whose run fails keeps its former notebook.

    Parameters
    ----------
    ids : sequence of str, default all lessons
    check : bool, default False
        True executes and writes nothing.
    scale : str, default "laptop"
    course : Course, default this project's
    timeout : float, default 300
        Seconds per cell.
    on_cell : callable, optional
        Called with a `Progress` before every cell.

    Returns
    -------
    list of BuildResult
        One for each lesson, and ``course`` for the README map and the glossary.

    Raises
    ------
    ValueError
        An unknown id or scale.
    """
    course, scale = course or Course(), chosen_scale(scale)
    cards, papers = course.cards(), read_bibliography(course.notebooks / "references.bib")
    wanted = cards if ids is None else [course.card(i) for i in ids]
    runs: dict[str, RunResult] = {}
    if not check:
        # a new lesson changes its neighbours' links and the map in every lesson that shows it
        for card in cards:
            _refresh(card, cards, papers, course.root)
        _write_if_changed(course.notebooks / GLOSSARY, glossary_page(cards))
        sound = [card.id for card in wanted if not validate(card, cards, papers)]
        runs = {run.lesson: run for run in _run_and_write(course, sound, scale, timeout, on_cell)}
        readme = course.root / "README.md"
        if readme.exists() and BEGIN in readme.read_text("utf-8"):
            write_map(readme, cards)
    results = [BuildResult(card.id, runs.get(card.id), tuple(check_lesson(card, cards, papers)))
               for card in wanted]
    return [*results, BuildResult("course", None, tuple(check_course(course)))]
