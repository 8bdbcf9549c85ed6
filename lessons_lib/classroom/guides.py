"""A guide for the person who teaches a lesson: aims, minutes, where students stumble, questions to
ask, and what to say to the open question.

One Markdown file for each lesson, ``classroom/guides/<lesson id>.md``, with the headings of
`SECTIONS`. Its minutes are those of a class, reading and running together. Used by ``lessons
guide``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core import DamagedFile, DataMissing

__all__ = ["SECTIONS", "Guide", "guide", "guide_ids"]

SECTIONS = ("Aims", "Minutes", "Where students stumble", "Questions to ask", "The open question")
FOLDER = Path(__file__).parent / "guides"


@dataclass(frozen=True)
class Guide:
    """The guide of one lesson.

    Parameters
    ----------
    lesson : str
    sections : mapping of str to str
        Heading -> Markdown, in the order of `SECTIONS`.
    """

    lesson: str
    sections: Mapping[str, str]

    @property
    def minutes(self) -> int:
        """Length of the class: the sum of the table of minutes."""
        return sum(int(number) for number in re.findall(r"^\| *(\d+) *\|", self.sections["Minutes"],
                                                        re.MULTILINE))

    def __str__(self) -> str:
        return "\n\n".join(f"## {head}\n\n{text}" for head, text in self.sections.items())


def guide_ids() -> list[str]:
    """Ids of the lessons that have a guide.

    Returns
    -------
    list of str
    """
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def guide(lesson_id: str) -> Guide:
    """The guide of one lesson.

    Parameters
    ----------
    lesson_id : str
        As for `Course.card`.

    Returns
    -------
    Guide

    Raises
    ------
    ValueError
        For an unknown lesson (nearest id, all ids).
    DataMissing
        For a lesson without a guide.
    DamagedFile
        For a guide that lacks a section.
    """
    from ..lesson.course import Course

    plain, known = Course().plain_id(lesson_id), guide_ids()
    if plain not in known:
        raise DataMissing(f"lesson {plain!r} has no guide yet; there are guides for "
                          f"{', '.join(known)}")
    text = (FOLDER / f"{plain}.md").read_text("utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    texts = {head.strip(): body.strip() for head, body in zip(parts[1::2], parts[2::2],
                                                              strict=True)}
    if tuple(texts) != SECTIONS or not all(texts.values()):
        raise DamagedFile(f"guides/{plain}.md has the sections {', '.join(texts)}; expected "
                          f"{', '.join(SECTIONS)}, each with a text")
    return Guide(plain, texts)
