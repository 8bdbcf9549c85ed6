"""``lessons cards`` and ``lessons progress``: for who reads the course."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..core import output_folder
from .options import argument, unset
from .show import show_table

__all__ = ["cards", "progress"]


def cards(
    ids: Annotated[list[str] | None, argument("lessons, such as one_hot; default: all")] = None,
    out: Annotated[Path | None, unset("the deck, ending in .apkg; default: embeddings.apkg in your "
                                      "output folder")] = None,
) -> None:
    """Write an Anki deck: the terms of the lessons, their predictions and their ten questions.

    Imported again, a later deck brings changed answers to the cards that you have.
    """
    from ..lesson.course import Course
    from ..publish.cards import write_deck

    course = Course()
    lessons = [course.card(name) for name in ids] if ids else course.cards()
    out = out or output_folder() / "embeddings.apkg"
    counts = write_deck(list({lesson.id: lesson for lesson in lessons}.values()), out)
    show_table("Cards", ["lesson", "cards"], list(map(list, counts.items())), right=("cards",))
    print(f"{out}: {sum(counts.values())} cards. In Anki: File, Import")


def progress(
    notebooks: Annotated[list[Path] | None, argument("notebooks, or folders of them; default: "
                                                     "your copies of the lessons")] = None,
) -> None:
    """Say which checks have passed in your saved notebooks.

    They are read on this machine, nothing is run, and nothing is sent.
    """
    from ..classroom.progress import notebooks_in
    from ..classroom.progress import progress as read
    from ..lesson import copies
    from ..lesson.course import Course

    if not notebooks and copies.WORK.is_dir():       # with assignments, without what lies beside
        notebooks = [path for path in sorted(copies.WORK.rglob("*.ipynb"))
                     if copies.COURSE_FOLDER not in path.parts]
    done, left_out = read(notebooks_in(notebooks or [Course().notebooks]))
    if not done and not left_out:
        raise ValueError("none of these notebooks is a lesson with exercises, or an assignment")
    rows = [[one.lesson, f"{len(one.passed)} of {len(one.passed + one.tried + one.left)}",
             ", ".join(one.tried), ", ".join(one.left)] for one in done]
    show_table("Checks", ["lesson", "passed", "not yet correct", "not attempted"], rows)
    for path, reason in left_out.items():
        print(f"left out: {path} {reason}")
