"""The map of lessons in the README, written between two markers from the lessons' front matter.

What stands outside the markers is never touched. Used by ``lessons build``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..core import DamagedFile, write_text
from ..lesson.course import LessonCard
from .pair import lesson_table

__all__ = ["BEGIN", "END", "lesson_map", "mapped_readme", "write_map"]

BEGIN, END = "<!-- lessons:begin -->", "<!-- lessons:end -->"


def lesson_map(cards: Sequence[LessonCard]) -> str:
    """The table of lessons with links that hold from the project's root.

    Parameters
    ----------
    cards : sequence of LessonCard

    Returns
    -------
    str
        Markdown.
    """
    return lesson_table(cards, prefix="notebooks/")


def mapped_readme(readme: Path, cards: Sequence[LessonCard]) -> str:
    """The README's text with the present map.

    Raises DamagedFile unless each marker stands there once, in order.
    """
    text = readme.read_text("utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise DamagedFile(f"{readme.name} needs one line {BEGIN} and, below it, one line {END}; "
                          "the map of lessons goes between them")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    return f"{before}{BEGIN}\n{lesson_map(cards)}\n{after}"


def write_map(readme: Path, cards: Sequence[LessonCard]) -> bool:
    """Bring the README's map up to date, atomically.

    Parameters
    ----------
    readme : Path
    cards : sequence of LessonCard

    Returns
    -------
    bool
        Whether anything changed.

    Raises
    ------
    DamagedFile
        A marker is missing, or stands there twice.
    """
    new = mapped_readme(readme, cards)
    changed = new != readme.read_text("utf-8")
    if changed:
        write_text(readme, new)
    return changed
