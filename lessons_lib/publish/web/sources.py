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
from urllib.parse import unquote

from ... import ROOMS
from ...core import DataMissing, write_text
from ...evaluation import Leaderboard, LeaderboardRow
from ...evaluation.leaderboard import score_label
from ...lesson.course import Course, LessonCard
from ...lesson.try_it import HOW_TO_START
from ..check import read_notebook
from ..folds import is_optional, tags_of
from ..glossary import GLOSSARY
from ..pair import lesson_table
from .assets import THEME, copy_scripts
from .boxes import BOXES, box_html, box_script
from .concepts import concept_page
from .outputs import Pictures, is_picture
from .reference import write_reference
from .too_small import too_small_page

__all__ = ["SENTENCE_PAGE", "model_folder", "still_notebook", "write_sources"]

ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
LESSON_LINK = re.compile(r"\]\((\d\d_\w+|glossary)\.(?:md|ipynb)(#[^)\s]*)?\)")
INNER_LINK = re.compile(r"\]\((#[^)\s]*)\)")
SHOW_ANSWER = {"code_prompt_show": "Show the answer", "code_prompt_hide": "Hide the answer"}
PICTURES = "pictures"
SENTENCE_PAGE = "sentence.html"                  # see `sentence_page`
PLAY = f"""<p><strong>In a minute:</strong> type two sentences. An encoder that this course trained
turns each into a vector inside the page, shows every step, and says how alike they are. Nothing is
installed, and nothing that you type leaves the page.</p>
<p><a class="button" href="{SENTENCE_PAGE}">Type a sentence, see it become a vector</a></p>
"""
START = """```{{raw}} html
<div class="start">
{play}<p><a class="button" href="notebooks/{first}.html">Start with the first lesson</a></p>
</div>
```"""
BOARD = """# The leaderboard

Spearman correlation × 100 with the grades of sentence pairs, and its 95 % interval where it was \
drawn. Each row is made by the lesson beside it; the
lessons measure them again on your machine. *course-sts* are pairs written for this course, *stsb* \
is the test part of STS-B. On *course-questions*, written for it, too, the figure is nDCG@10 × \
100 of the passages found.

"""


def _anchor(link: str) -> str:
    """``#2.-Why-cosine-fails`` of JupyterLab as the site writes it: ``#2-why-cosine-fails``."""
    return re.sub(r"[^\w#-]", "", unquote(link).lower())


def still_notebook(notebook: Any, pictures: Pictures, box: str = "") -> Any:
    """Change a notebook, and return it: its pictures become files with alt texts, interactive
    figures beside their still ones, its links lead to pages of the site, what is folded in
    JupyterLab is folded there, and where its own text boxes stood stands a ``box`` of the site.
    """
    for cell in notebook.cells:
        if is_optional(cell):
            cell.metadata["tags"] = [*cell.metadata["tags"], "hide-cell"]
        if "hide-output" in tags_of(cell):
            cell.metadata["mystnb"] = SHOW_ANSWER
        # a link may name the text or the notebook, and write the heading as JupyterLab or GitHub
        # does
        if cell.cell_type == "markdown":
            cell.source = LESSON_LINK.sub(
                lambda link: f"]({link[1]}.ipynb{_anchor(link[2] or '')})", cell.source)
            cell.source = INNER_LINK.sub(lambda link: f"]({_anchor(link[1])})", cell.source)
        for output in cell.get("outputs", []):
            if is_picture(output):
                output["data"], output["metadata"] = {"text/html": pictures.html(output)}, {}
            elif box and output.get("data", {}).get("text/plain", "") == HOW_TO_START:
                output["data"] = {"text/html": box}
    return notebook


def _board_page(rows: Sequence[LeaderboardRow], cards: Sequence[LessonCard]) -> str:
    known = {card.id: card for card in cards}
    sets = list(dict.fromkeys(name for row in rows for name in row.scores))
    heads = [score_label(rows, name) for name in sets]
    lines = [f"| lesson | encoder | dim | {' | '.join(heads)} |",
             f"|---|---|--:|{'--:|' * len(sets)}"]
    for row in rows:
        card, cells = known.get(row.lesson), []
        for name in sets:
            score, figures = row.score(name), row.scores.get(name, {})
            span = figures.get("interval") or figures.get("ndcg_interval")
            interval = f" ({100 * span[0]:.0f}\u00a0to\u00a0{100 * span[1]:.0f})" if span else ""
            cells.append("–" if score is None else f"{100 * score:.1f}{interval}")
        link = (f"[{card.number:02d} · {card.title}](notebooks/{card.stem}.ipynb)" if card
                else row.lesson)
        lines.append(f"| {link} | {row.encoder.replace('|', '/')} | {row.dim} | "
                     f"{' | '.join(cells)} |")
    return BOARD + "\n".join(lines) + "\n"


def _toctree(caption: str, pages: Sequence[str]) -> str:
    return "\n".join(("```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"))


def model_folder(course: Course) -> Path | None:
    """Where a course has its LessonBERT; None where it has none, and its site no such page."""
    folder = course.root / "data" / "models" / "lesson-bert"
    return folder if folder.is_dir() else None


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
    for name in ("course.css", "figures.js", "search.js", "boxes.js"):
        shutil.copy(THEME / name, root / "_static")
    pictures = Pictures(root / "_static" / PICTURES, f"../_static/{PICTURES}/")
    for card in cards:
        if not card.notebook.is_file():
            raise DataMissing(f"{card.notebook.name} does not exist: run lessons build {card.id} "
                              "first")
        box = box_html(*BOXES[card.id]) if card.id in BOXES else ""
        write_text(root / "notebooks" / card.notebook.name,
                   nbformat.writes(still_notebook(read_notebook(card.notebook), pictures, box)))
        if box and (method := BOXES[card.id][0]) != "overlap":   # which needs no table
            write_text(root / "_static" / f"box-{method}.js", box_script(method))
    glossary = course.notebooks / GLOSSARY
    if not glossary.is_file():
        raise DataMissing(f"{GLOSSARY} does not exist: run lessons build first")
    write_text(root / "notebooks" / GLOSSARY,
               nbformat.writes(still_notebook(read_notebook(glossary), pictures)))
    write_text(root / "concepts.md", concept_page(cards))
    write_text(root / "too-small.md", too_small_page())
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
    paragraphs = re.split(r"^## ", opening, maxsplit=1, flags=re.MULTILINE)[0].strip().split("\n\n")
    paragraphs.insert(1, START.format(play=PLAY if model_folder(course) else "",
                                      first=cards[0].stem))      # right below the title
    parts = [*paragraphs,
             f"## The lessons\n\n{lesson_table(cards, prefix='notebooks/')}",
             _toctree("Lessons", [*(f"notebooks/{card.stem}" for card in cards),
                                  "notebooks/glossary", "concepts", "too-small"]),
             _toctree("Measured", measured),
             _toctree("Library", [f"reference/{room}" for room in reference])]
    write_text(root / "index.md", "\n\n".join(parts) + "\n")
