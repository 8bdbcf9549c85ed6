"""Is what is committed what the texts say? One list of problems for a lesson, and one for the
course.

A lesson is checked as text (front matter, prose, code) and as notebook (the same cells, outputs
that hold everywhere). Nothing is executed and nothing is written. Used by ``lessons build
--check``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core import DamagedFile
from ..lesson.course import Course, LessonCard
from .bibliography import Entry
from .code_cells import code_problems
from .frontmatter import validate
from .glossary import GLOSSARY, glossary_page
from .limits import limit_problems
from .outputs import MAX_NOTEBOOK_BYTES, output_problems
from .pair import notebook_of, refreshed_text
from .problem import Problem
from .prose import prose_problems
from .readme_map import mapped_readme

__all__ = ["Problem", "check_course", "check_lesson", "read_notebook"]


def read_notebook(path: Path) -> Any:
    """Read a notebook of format 4. Raises DamagedFile for anything else."""
    import nbformat

    try:
        notebook = nbformat.reads(path.read_text("utf-8"), as_version=4)
        nbformat.validate(notebook)
    except Exception as error:                   # nbformat raises several unrelated types
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DamagedFile(f"{path.name} is no valid notebook: {first[:120]}. Remove it and run "
                          "`lessons build`") from None
    return notebook


def _pair_problems(card: LessonCard, expected: Any, stored: Any) -> list[Problem]:
    """Where the cells of the notebook are not those of the text."""
    problems = []
    if stored.metadata.get("lesson") != expected.metadata.get("lesson"):
        problems.append(Problem(card.id, "pair", "the notebook's front matter differs from the "
                                                 "text's; run `lessons build`"))
    for i, (mine, wanted) in enumerate(zip(stored.cells, expected.cells, strict=False), start=1):
        here, there = ((cell.cell_type, cell.source, cell.metadata.get("tags", []),
                        cell.metadata.get("slide"), cell.metadata.get("jupyter"))
                       for cell in (mine, wanted))
        if here != there:
            return [*problems, Problem(card.id, "pair", "the notebook differs from its text from "
                                                        "this cell on; run `lessons build`", i)]
    if len(stored.cells) != len(expected.cells):
        message = (f"the notebook has {len(stored.cells)} cells, its text {len(expected.cells)}; "
                   "run `lessons build`")
        problems.append(Problem(card.id, "pair", message))
    return problems


def text_problems(card: LessonCard, cards: Sequence[LessonCard], papers: Mapping[str, Entry],
                  notebook: Any) -> list[Problem]:
    """What is wrong with the text of a lesson: front matter, prose, code."""
    front = [Problem(card.id, "front matter", message) for message in validate(card, cards, papers)]
    return front + prose_problems(card, notebook, papers,
                                  folder=card.path.parent) + code_problems(card, notebook)


def _stored(card: LessonCard) -> Any:
    """The committed notebook, or None where it cannot be read: the check names that."""
    try:
        return read_notebook(card.notebook)
    except (OSError, DamagedFile):
        return None


def check_lesson(card: LessonCard, cards: Sequence[LessonCard],
                 papers: Mapping[str, Entry]) -> list[Problem]:
    """Everything that is wrong with one lesson, text and committed notebook.

    Parameters
    ----------
    card : LessonCard
    cards : sequence of LessonCard
        All lessons.
    papers : mapping of str to Entry
        The bibliography.

    Returns
    -------
    list of Problem
        In the order text, pair, outputs.
    """
    expected = notebook_of(card, cards, papers)
    problems = text_problems(card, cards, papers, expected)
    problems += limit_problems(card, expected, _stored(card))
    if refreshed_text(card, expected) != card.path.read_text("utf-8"):
        problems.append(Problem(card.id, "pair", f"the generated cells of {card.path.name} are out "
                                                 "of date; run `lessons build`"))
    if not card.notebook.exists():
        return [*problems, Problem(card.id, "pair", f"{card.notebook.name} does not exist; run "
                                                    "`lessons build`")]
    if (size := card.notebook.stat().st_size) > MAX_NOTEBOOK_BYTES:
        problems.append(Problem(card.id, "size", f"{card.notebook.name} has {size / 1000:.0f} kB; "
                                                 f"at most {MAX_NOTEBOOK_BYTES / 1000:.0f}"))
    try:
        stored = read_notebook(card.notebook)
    except DamagedFile as error:
        return [*problems, Problem(card.id, "pair", str(error))]
    return problems + _pair_problems(card, expected, stored) + output_problems(card, stored)


def check_course(course: Course) -> list[Problem]:
    """Find numbers used twice, and a README map or glossary that is missing or out of date.

    Parameters
    ----------
    course : Course

    Returns
    -------
    list of Problem
    """
    cards, problems = course.cards(), []
    numbers = [card.number for card in cards]
    for card in cards:
        if numbers.count(card.number) > 1:
            problems.append(Problem(card.id, "course", f"number {card.number:02d} is used "
                                                       f"{numbers.count(card.number)} times"))
    glossary = course.notebooks / GLOSSARY
    if not glossary.exists() or glossary.read_text("utf-8") != glossary_page(cards):
        problems.append(Problem(GLOSSARY, "glossary", "it is missing or out of date; run `lessons "
                                                      "build`"))
    readme = course.root / "README.md"
    try:
        if not readme.exists() or mapped_readme(readme, cards) != readme.read_text("utf-8"):
            problems.append(Problem("README.md", "map", "the map of lessons is missing or out of "
                                                        "date; run `lessons build`"))
    except DamagedFile as error:
        problems.append(Problem("README.md", "map", str(error)))
    return problems
