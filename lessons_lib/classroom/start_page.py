"""The page that a reader finds at each start: all lessons, what was done, where to go on.

A text in the folder of the reader's copies, which JupyterLab shows as a page: it needs no network,
takes the theme, and its links are reached by the keyboard. Made anew by ``lessons lab``.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..core import write_text
from ..lesson.copies import COURSE_FOLDER
from ..lesson.course import Course, LessonCard
from .grading import source_of
from .progress import Progress, progress

__all__ = ["PAGE", "write_start_page"]

PAGE = "course.md"
MARK = "<!-- Made anew by `lessons lab` at each start. -->\n"
PLAY = "Try it first: which sentences are alike?"        # a heading of the first lesson


def write_start_page(course: Course, work: Path) -> Path | None:
    """Write the page.

    Parameters
    ----------
    course : Course
    work : path
        The reader's folder, with copies of the lessons (`lesson.copies.renew_copies`).

    Returns
    -------
    path or None
        None where a file of the reader's own has its name; that one stays.
    """
    page = work / PAGE
    if page.exists() and not page.read_text("utf-8", "replace").startswith(MARK):
        return None
    cards = course.cards()
    copies = {card.id: work / card.notebook.name for card in cards}
    done, _ = progress(path for path in copies.values() if path.is_file())
    checks = {one.lesson: one for one in done}
    begun = [card for card in cards if _begun(copies[card.id], work / COURSE_FOLDER)]
    here = max(begun, default=None, key=lambda card: (
        copies[card.id].stat().st_mtime, card.number))
    write_text(page, MARK + _text(cards, checks, {card.id for card in begun}, here))
    return page


def _begun(copy: Path, bases: Path) -> bool:
    """Whether a reader ran or wrote something: cells are others than those that were copied."""
    try:
        cells = [[(source_of(cell), cell.get("outputs")) for cell in json.loads(
            path.read_text("utf-8"))["cells"]] for path in (copy, bases / copy.name)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False                             # no copy yet, or none that can be read
    return cells[0] != cells[1]


def _link(card: LessonCard, heading: str = "", text: str = "") -> str:
    place = card.notebook.name + (f"#{heading.replace(' ', '-')}" if heading else "")
    return f"[{text or f'{card.number:02d} · {card.title}'}]({place})"


def _passed(one: Progress | None) -> str:
    """How many checks of a lesson have passed, in words."""
    if one is None:
        return ""
    n = len(one.passed + one.tried + one.left)
    return f"{'✓ all ' if len(one.passed) == n else f'{len(one.passed)} of '}{n}"


def _text(cards: list[LessonCard], checks: dict[str, Progress], begun: set[str],
          here: LessonCard | None) -> str:
    """The page in Markdown."""
    play = _link(cards[0], PLAY, "Type some sentences, and see which are alike")
    lines = ["# Embeddings, measured", ""]
    if here is None:
        lines += [f"**Begin here: {play}.** It takes a minute. Then read on below it.", ""]
    else:
        said = _passed(checks.get(here.id))
        lines += [f"**Go on with {_link(here)}**" + (f" (checks passed: {said})." if said else "."),
                  "", f"Or play: {play}.", ""]
    lines += ["| lesson | the question it answers | minutes | yours | checks passed |",
              "|---|---|---|---|---|"]
    for card in cards:
        yours = "you are here" if card == here else "begun" if card.id in begun else ""
        minutes = f"{sum(card.minutes.values()):g}"
        lines.append(f"| {_link(card)} | {card.question} | {minutes} | {yours} | "
                     f"{_passed(checks.get(card.id))} |")
    passed = sum(len(one.passed) for one in checks.values())
    total = sum(len(one.passed + one.tried + one.left) for one in checks.values())
    lines += ["", f"{passed} of {total} checks passed, as your notebooks were last saved. The "
              "words of the course are in the [glossary](glossary.ipynb).", "",
              "By keyboard: Tab goes to the next link, Enter opens it. In a notebook Shift + Enter "
              "runs a cell. This page is made anew at each start; write your notes elsewhere."]
    return "\n".join(lines) + "\n"
