"""What Sphinx reads: the notebooks with pictures that need no kernel, the gallery, the leaderboard,
the reference, and a first page.

The tree keeps the folders of the course, so that links between lessons, gallery and pictures hold
as they stand. Nothing of it is written by hand.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import ROOMS
from ...core import DataMissing, write_text
from ...evaluation import Leaderboard, LeaderboardRow
from ...lesson.course import Course, LessonCard
from ..check import read_notebook
from ..pair import lesson_table
from .assets import THEME, copy_scripts
from .outputs import Pictures, is_picture
from .reference import write_reference

__all__ = ["still_notebook", "write_sources"]

ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
LESSON_LINK = re.compile(r"\]\((\d\d_\w+)\.(?:md|ipynb)(#[^)\s]*)?\)")
PICTURES = "pictures"
BOARD = """# The leaderboard

Spearman correlation × 100 with the grades of sentence pairs, and its 95 % interval where it was \
drawn. Each row is made by the lesson beside it; the
lessons measure them again on your machine. *course-sts* are pairs written for this course, *stsb* \
is the test part of STS-B.

"""


def still_notebook(notebook: Any, pictures: Pictures) -> Any:
    """Change a notebook, and return it: its pictures become files with alt texts, interactive
    figures beside their still ones, and its links lead to pages of the site.
    """
    for cell in notebook.cells:
        # a link may name the text or the notebook, and write the heading as JupyterLab or GitHub
        # does
        if cell.cell_type == "markdown":
            cell.source = LESSON_LINK.sub(
                lambda link: f"]({link[1]}.ipynb{(link[2] or '').lower()})", cell.source)
        for output in cell.get("outputs", []):
            if is_picture(output):
                output["data"], output["metadata"] = {"text/html": pictures.html(output)}, {}
    return notebook


def _board_page(rows: Sequence[LeaderboardRow], cards: Sequence[LessonCard]) -> str:
    known = {card.id: card for card in cards}
    sets = list(dict.fromkeys(name for row in rows for name in row.scores))
    lines = [f"| lesson | encoder | dim | {' | '.join(sets)} |",
             f"|---|---|--:|{'--:|' * len(sets)}"]
    for row in rows:
        card, cells = known.get(row.lesson), []
        for name in sets:
            score = row.scores.get(name)
            span = score and score.get("interval")
            interval = f" ({100 * span[0]:.0f}\u00a0to\u00a0{100 * span[1]:.0f})" if span else ""
            cells.append(f"{100 * score['spearman']:.1f}{interval}" if score else "–")
        link = (f"[{card.number:02d} · {card.title}](notebooks/{card.stem}.ipynb)" if card
                else row.lesson)
        lines.append(f"| {link} | {row.encoder.replace('|', '/')} | {row.dim} | "
                     f"{' | '.join(cells)} |")
    return BOARD + "\n".join(lines) + "\n"


def _toctree(caption: str, pages: Sequence[str]) -> str:
    return "\n".join(("```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"))


def write_sources(root: Path, course: Course, rows: Sequence[LeaderboardRow] | None = None,
                  rooms: Sequence[str] = ROOMS) -> None:
    """Write the whole tree that Sphinx reads into a new folder, with rows of the leaderboard (None:
    those committed) and the reference of some rooms.

    Raises DataMissing for a lesson without a notebook, DamagedFile for one that cannot be read.
    """
    import nbformat

    cards = course.cards()
    rows = Leaderboard.reference().rows() if rows is None else rows
    copy_scripts(root / "_static", "plotly", "mathjax")
    for name in ("course.css", "figures.js"):
        shutil.copy(THEME / name, root / "_static")
    pictures = Pictures(root / "_static" / PICTURES, f"../_static/{PICTURES}/")
    for card in cards:
        if not card.notebook.is_file():
            raise DataMissing(f"{card.notebook.name} does not exist: run lessons build {card.id} "
                              "first")
        write_text(root / "notebooks" / card.notebook.name,
                   nbformat.writes(still_notebook(read_notebook(card.notebook), pictures)))
    measured, gallery = ["leaderboard"], course.root / "figures" / "README.md"
    if gallery.is_file():
        shutil.copytree(gallery.parent, root / "figures")
        page = ANCHOR.sub(r"(\1)=", gallery.read_text("utf-8"))
        write_text(root / "figures" / "README.md", page)
        measured.append("figures/README")
    write_text(root / "leaderboard.md", _board_page(rows, cards))
    reference = write_reference(root / "reference", rooms)
    readme = course.root / "README.md"
    opening = readme.read_text("utf-8") if readme.is_file() else "# Course"
    parts = [re.split(r"^## ", opening, maxsplit=1, flags=re.MULTILINE)[0].strip(),
             f"## The lessons\n\n{lesson_table(cards, prefix='notebooks/')}",
             _toctree("Lessons", [f"notebooks/{card.stem}" for card in cards]),
             _toctree("Measured", measured),
             _toctree("Library", [f"reference/{room}" for room in reference])]
    write_text(root / "index.md", "\n\n".join(parts) + "\n")
