"""Decks of slides: each lesson as a page that opens anywhere, offline, and as a notebook whose
cells can be run in front of a class.

Both show the slides of `deck`. The page runs on reveal.js (S opens the speaker's notes, Esc the
overview); the notebook carries the slide types that jupyterlab-slideshow reads (toolbar or command
palette: Start Deck).
"""

from __future__ import annotations

import copy
import html
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from ...core import DataMissing, write_text
from ...lesson.course import Course, LessonCard
from ..check import read_notebook
from .assets import THEME, check_installed, check_out, copy_scripts, keep
from .deck import Slide, deck
from .outputs import Pictures, is_picture, size_of
from .pages import page_problems

__all__ = ["build_slides", "live_notebook", "rendered", "renderer"]

INNER_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https://)[^)]*\)")
LIVE = "live"
# Letters of a live deck, for the last row of a room; jupyterlab-fonts reads it from the notebook.
LIVE_STYLE = {"styles": {":root": {"--jp-content-font-size1": "26px",
                                   "--jp-content-line-height": "1.4",
                                   "--jp-code-font-size": "24px"}}}
# Where a picture is largest: below its heading and sentence, or beside them.
BELOW, BESIDE = (1280, 575), (1010, 720)


def renderer() -> Any:
    """Markdown with formulas, which come out in the brackets that MathJax looks for."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(text: str, options: dict) -> str:
        left, right = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
        return f"{left}{html.escape(text.strip())}{right}"

    return MarkdownIt("commonmark",
                      {"html": False}).enable("table").use(dollarmath_plugin, renderer=formula)


def rendered(text: str, markdown: Any) -> str:
    """Markdown as HTML; links between files become plain words: a deck travels alone."""
    return markdown.render(INNER_LINK.sub(r"\1", text)).strip()


def _layout(output: Any) -> str:
    """The class of a slide with a picture: "beside" where it is larger beside the words."""
    width, height = size_of(output)
    below, beside = (min(w / width, h / height) for w, h in (BELOW, BESIDE))
    return "frame beside" if beside > below else "frame"


def _section(slide: Slide, first: bool, pictures: Pictures, markdown: Any) -> str:
    """One slide as a ``<section>``: what answers a question appears at the next key, and the
    question folds.
    """
    def block(kind: str, text: str) -> str:
        return f'<div class="{kind}">{rendered(text, markdown)}</div>' if text else ""

    level, output, layout = "h1" if first else "h2", slide.output, "frame"
    if output is None:
        kind = "body formula" if slide.body.startswith("$") else "body"
        content = f'<div class="{kind}">{rendered(slide.body, markdown)}</div>'
    elif is_picture(output):
        content, layout = pictures.html(output), _layout(output)
    elif output.output_type == "stream":
        content = f'<div class="output"><pre>{html.escape(output.text)}</pre></div>'
    else:
        content = f'<div class="output">{output.data["text/html"]}</div>'
    question = (f'<details class="question" open><summary>Your guess</summary>'
                f"{rendered(slide.question, markdown)}</details>") if slide.question else ""
    notes = "\n".join(rendered(note, markdown) for note in slide.notes)
    heading = f"<{level}>{markdown.renderInline(slide.heading)}</{level}>"
    return (f'<section><div class="{layout}">{heading}{question}'
            f'<div class="shown{" fragment" if question else ""}">'
            f'{block("sentence", slide.sentence)}{content}</div></div>'
            f'{f"<aside class=notes>{notes}</aside>" if notes else ""}</section>')


def live_notebook(card: LessonCard, notebook: Any) -> Any:
    """A copy of a lesson's notebook whose cells say which slide they are, for jupyterlab-slideshow.

    Every code cell of the lesson is there, in order, so that *Run All* works; those that are on no
    slide are hidden while the deck is shown, as is the lesson's text. Cells with a picture come
    without their code, which one click unfolds.
    """
    from nbformat.v4 import new_markdown_cell

    slides: dict[int, list[tuple[bool, Slide]]] = {}
    for place, slide in enumerate(deck(card, notebook)):
        slides.setdefault(slide.cell, []).append((place == 0, slide))
    live, cells = copy.deepcopy(notebook), []
    live.metadata["@deathbeds/jupyterlab-fonts"] = LIVE_STYLE
    for number, cell in enumerate(live.cells):
        cell.metadata["slideshow"] = {"slide_type": "skip"}
        for first, slide in slides.get(number, []):
            text = (f"{'#' if first else '##'} {slide.heading}", slide.question or slide.sentence,
                    slide.body)
            cells.append(new_markdown_cell("\n\n".join(filter(None, text)),
                                           metadata={"slideshow": {"slide_type": "slide"}}))
            if slide.output is not None:
                # A cell without a type belongs to the slide before it; jupyterlab-slideshow hides
                # the "-" that other tools write for that.
                cell.metadata["slideshow"] = {"slide_type": "fragment"} if slide.question else {}
                cell.metadata["jupyter"] = {"source_hidden": True}
        cells.append(cell)
        cells += [new_markdown_cell(slide.sentence,
                                    metadata={"slideshow": {"slide_type": "fragment"}})
                  for _, slide in slides.get(number, []) if slide.question and slide.sentence]
    for number, cell in enumerate(cells):
        cell["id"] = f"slide-{number}"
    live.cells = cells
    return live


def _write_deck(card: LessonCard, folder: Path, markdown: Any) -> int:
    import nbformat

    if not card.notebook.is_file():
        raise DataMissing(f"{card.notebook.name} does not exist: run lessons build {card.id} first")
    notebook, pictures = read_notebook(card.notebook), Pictures(folder / "pictures", "pictures/")
    slides = deck(card, notebook)
    sections = "\n".join(_section(slide, place == 0, pictures, markdown)
                         for place, slide in enumerate(slides))
    page = Template((THEME / "slides.html").read_text("utf-8")).substitute(
        title=html.escape(f"{card.number:02d} · {card.title}"), slides=sections)
    write_text(folder / f"{card.stem}.html", page)
    write_text(folder / LIVE / card.notebook.name, nbformat.writes(live_notebook(card, notebook)))
    return len(slides)


def build_slides(ids: Sequence[str] | None, out: Path, *,
                 course: Course | None = None) -> dict[str, int]:
    """Write a deck of each lesson (None: of all of the course here): ``NN_id.html``, and
    ``live/NN_id.ipynb`` to run, into a new or empty folder, or one that an earlier call made.

    Returns the number of slides by lesson. Raises BackendUnavailable without the extra set,
    ValueError for an unknown lesson or a folder with other files, DataMissing for a lesson that was
    never built, DamagedFile for marks that cannot be followed.
    """
    course = course or Course()
    cards = course.cards() if not ids else [course.card(name) for name in ids]
    check_installed()
    check_out(out, "slides")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made, markdown = Path(folder, "slides"), renderer()
        copy_scripts(made / "scripts", "plotly", "mathjax-svg", "reveal")
        for name in ("slides.css", "slides.js", "figures.js"):
            shutil.copy(THEME / name, made / "scripts")
        counts = {card.id: _write_deck(card, made, markdown) for card in cards}
        decks = "\n".join(f'<li><a href="{card.stem}.html">{card.number:02d} · '
                          f'{html.escape(card.title)}</a>: {html.escape(card.question)} '
                          f"({counts[card.id]} slides)</li>" for card in cards)
        contents = Template((THEME / "contents.html").read_text("utf-8"))
        write_text(made / "index.html", contents.substitute(decks=decks))
        if problems := page_problems(made):
            raise RuntimeError("the slides are not as they should be: " +
                               "; ".join(map(str, problems[:5])))
        keep(made, out, "slides")
    return counts
