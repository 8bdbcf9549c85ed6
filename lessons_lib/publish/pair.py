"""One lesson, two files: MyST text that people edit, and a notebook that the build writes. Both
hold the same cells.

The text is the source. The build fills three kinds of cells from front matter, marked by a tag:
``opening`` (title, question, table), ``closing`` (papers, previous and next lesson), and, where a
lesson asks for it, ``map`` (all lessons). They are written back into the text, so that either file
can be read and synchronised alone. Used by ``lessons build``.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core import DamagedFile
from ..lesson.course import LessonCard, split_front_matter
from .bibliography import Entry
from .folds import fold, unfold
from .glossary import GLOSSARY

__all__ = ["GENERATED", "generated_cells", "generated_tag", "lesson_table", "notebook_of",
           "refreshed_text"]

GENERATED = ("opening", "closing", "map")
FORMAT = "md:myst"
# The filter keeps the lesson's front matter when JupyterLab saves the pair, and leaves out version
# numbers, which change with every upgrade.
HEADER = """\
jupytext:
  formats: ipynb,md:myst
  notebook_metadata_filter: lesson,-jupytext.text_representation.format_version,\
-jupytext.text_representation.jupytext_version
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
"""


def _label(card: LessonCard) -> str:
    return f"{card.number:02d} · {card.title}"


def _link(card: LessonCard) -> str:
    return f"[{_label(card)}]({card.stem}.ipynb)"


def _cell_text(text: str) -> str:
    """Text that cannot break out of a table cell."""
    return " ".join(text.split()).replace("|", "\\|")


def _shortly(names: Iterable[str]) -> str:
    """Each name once, with the number of papers that bear it."""
    return " · ".join(name if n == 1 else f"{name} ({n} papers)"
                      for name, n in Counter(names).items())


def _opening(card: LessonCard, cards: Mapping[str, LessonCard], papers: Mapping[str, Entry]) -> str:
    needs = ", ".join(_link(cards[need]) for need in card.needs if need in cards)
    read, run = (f"{(n := card.minutes.get(kind, 0)):g} minute{'' if n == 1 else 's'}"
                 for kind in ("read", "run"))
    rows = {"You will": " · ".join(card.you_will), "You need": needs or "some Python and NumPy",
            "Time": f"{read} to read, {run} to run",
            "Papers": _shortly(papers[p].short for p in card.papers if p in papers) or "none",
            "Library": " · ".join(f"`lessons_lib.{name}`" for name in card.uses),
            "Terms": f"[Glossary]({GLOSSARY})"}
    table = "\n".join(f"| **{head}** | {_cell_text(text)} |" for head, text in rows.items())
    return f"# {_label(card)}\n\n**{card.question}**\n\n| | |\n|---|---|\n{table}"


def _closing(card: LessonCard, cards: Mapping[str, LessonCard], papers: Mapping[str, Entry]) -> str:
    order = sorted(cards.values(), key=lambda c: c.number)
    place = [c.id for c in order].index(card.id)
    links = [f"Previous: {_link(order[place - 1])}"] if place > 0 else []
    links += [f"Next: {_link(after)}" for after in order[place + 1 : place + 2]]
    # The key stands in front, because the text cites by key: [zipf1949human].
    listed = [f"- `[{key}]` {papers[key].markdown}" for key in card.papers if key in papers]
    parts = ["### Papers\n\n" + "\n".join(listed)] if listed else []
    return "\n\n".join([*parts, *filter(None, [" · ".join(links)])]) or "End of the course so far."


def lesson_table(cards: Sequence[LessonCard], *, prefix: str = "") -> str:
    """The map of lessons as a Markdown table; ``prefix`` stands before the file names."""
    known = {card.id: card for card in cards}
    lines = ["| lesson | question it answers | read / run | needs |", "|---|---|---|---|"]
    for card in sorted(cards, key=lambda c: c.number):
        needs = ", ".join(f"{known[need].number:02d}"
                          for need in card.needs if need in known) or "–"
        minutes = f"{card.minutes.get('read', 0):g} / {card.minutes.get('run', 0):g} min"
        lines.append(f"| [{_cell_text(_label(card))}]({prefix}{card.stem}.ipynb) | "
                     f"{_cell_text(card.question)} | {minutes} | {needs} |")
    return "\n".join(lines)


def generated_cells(card: LessonCard, cards: Sequence[LessonCard],
                    papers: Mapping[str, Entry]) -> dict[str, str]:
    """The text of every cell that the build fills, by tag."""
    known = {c.id: c for c in cards}
    return {"opening": _opening(card, known, papers), "closing": _closing(card, known, papers),
            "map": lesson_table(cards)}


def generated_tag(cell: Any) -> str | None:
    """Which kind of generated cell this is, or None for a cell that a person wrote."""
    return next((tag for tag in cell.metadata.get("tags", []) if tag in GENERATED), None)


def _with_header(header: str, body: str) -> str:
    """A text with our header and the author's lines from ``lesson:`` to the next top-level key,
    word for word; comments above that block are not kept.
    """
    block = re.search(r"^lesson:.*?(?=^\S|\Z)", header, re.DOTALL | re.MULTILINE)[0].rstrip("\n")
    return f"---\n{HEADER}{block}\n---\n{body}"


def notebook_of(card: LessonCard, cards: Sequence[LessonCard], papers: Mapping[str, Entry]) -> Any:
    """The lesson as an unexecuted notebook, with the generated cells as they should be.

    Parameters
    ----------
    card : LessonCard
    cards : sequence of LessonCard
        All lessons.
    papers : mapping of str to Entry
        The bibliography.

    Returns
    -------
    NotebookNode

    Raises
    ------
    DamagedFile
        The text holds no cell.
    """
    import jupytext
    from nbformat.v4 import new_markdown_cell

    notebook = jupytext.reads(_with_header(*split_front_matter(card.path.read_text("utf-8"))),
                              fmt=FORMAT)
    texts = generated_cells(card, cards, papers)
    body = [cell for cell in notebook.cells if generated_tag(cell) not in ("opening", "closing")]
    if not body:
        raise DamagedFile(f"{card.path.name} holds no cell below its front matter")
    for cell in body:
        if tag := generated_tag(cell):
            cell.source = texts[tag]
    opening, closing = (new_markdown_cell(texts[tag], metadata={"tags": [tag]})
                        for tag in ("opening", "closing"))
    notebook.cells = [opening, *body, closing]
    unfold(notebook)
    fold(notebook)
    return notebook


def refreshed_text(card: LessonCard, notebook: Any) -> str:
    """The lesson's text with generated cells and header as they should be.

    Parameters
    ----------
    card : LessonCard
        Its front matter stays word for word.
    notebook : NotebookNode
        From `notebook_of`.

    Returns
    -------
    str
    """
    import jupytext

    notebook = copy.deepcopy(notebook)
    unfold(notebook)
    header, _ = split_front_matter(card.path.read_text("utf-8"))
    _, body = split_front_matter(jupytext.writes(notebook, fmt=FORMAT))
    return _with_header(header, body)
