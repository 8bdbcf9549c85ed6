"""Rules for the text of a lesson: its length, headings, links, citations, terms, and words that
make a reader feel slow.

Code, formulas and quoted data are taken out before words are judged. Each rule yields one `Problem`
per finding. Used by ``lessons build``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..core import nearest_name
from ..lesson.course import LessonCard
from .bibliography import Entry
from .pair import generated_tag
from .problem import Problem

__all__ = ["ALT", "IMG", "headings", "n_words", "plain_words", "prose_problems"]

MAX_WORDS = 5000
LAST_HEADINGS = ("told in one table", "ten questions", "exercises")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1[`~]*\s*?$", re.DOTALL | re.MULTILINE)
NO_PROSE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\$\$.+?\$\$|\$[^$\n]+\$|<!--.*?-->", re.DOTALL)
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$", re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^()\s>]+)>?[^()]*\)")
CITATION = re.compile(r"\[([a-z]+\d{4}[a-z]+)(?:,[^\]]*)?\](?!\()")
FORBIDDEN = re.compile(r"\b(simply|obviously|just)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_][\w'’-]*")
IMG = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
ALT = re.compile(r"\balt\s*=\s*[\"'][^\"']+")


def _without_code(text: str) -> str:
    return NO_PROSE.sub(" ", FENCE.sub(" ", text))


def plain_words(text: str) -> str:
    """A text without code, formulas, comments and the targets of links."""
    return _without_code(LINK.sub(r"\2", text))


def n_words(text: str) -> int:
    """How many words a text has."""
    return len(WORD.findall(plain_words(text)))


def _text_cells(notebook: Any, *, written: bool = False) -> Iterator[tuple[int, Any]]:
    """Text cells with their places from 1; ``written``: by a person alone."""
    return ((i, cell) for i, cell in enumerate(notebook.cells, start=1)
            if cell.cell_type == "markdown" and not (written and generated_tag(cell)))


def headings(notebook: Any) -> Iterator[tuple[int, Any, int, str]]:
    """Every heading of a notebook: place of its cell (from 1), the cell, level, text."""
    for i, cell in _text_cells(notebook):
        for match in HEADING.finditer(FENCE.sub(" ", cell.source)):
            yield i, cell, len(match[1]), match[2]


# Each rule yields (rule, message, place of the cell or None).
Findings = Iterator[tuple[str, str, int | None]]


def _word_findings(notebook: Any) -> Findings:
    total = 0
    for i, cell in _text_cells(notebook, written=True):
        text = plain_words(cell.source)
        total += n_words(cell.source)
        for match in FORBIDDEN.finditer(text):
            yield "plain words", (f"“{match[0]}” tells the reader that this should be easy; leave "
                                  "it out"), i
    if total > MAX_WORDS:
        yield "length", f"{total:,} words of text; at most {MAX_WORDS:,}", None


def _heading_findings(card: LessonCard, notebook: Any) -> Findings:
    before, seen = 1, set()
    for i, cell, level, text in headings(notebook):
        if level == 1 and generated_tag(cell) is None:
            yield "headings", (f"heading “{text}” has level 1, which is the lesson's title; use "
                               "##"), i
        if level > before + 1:
            yield "headings", f"heading “{text}” jumps from level {before} to {level}", i
        if text.lower() in seen:
            yield "headings", f"heading “{text}” stands twice; links to it are ambiguous", i
        seen.add(text.lower())
        before = level
    missing = [name.capitalize() for name in LAST_HEADINGS if name not in seen]
    if card.number > 0 and missing:
        yield "headings", " and ".join(f"no heading {name!r}" for name in missing), None


def _anchors(path: Path) -> set[str]:
    """The anchors of a lesson's headings in every form of JupyterLab and GitHub, in lower case."""
    source = path.with_suffix(".md")
    if source.is_file():
        text = source.read_text("utf-8")
    else:                                        # a notebook without a text: the glossary
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    names = [match[2] for match in HEADING.finditer(FENCE.sub(" ", text))]
    return {form.lower().replace(" ", "-") for name in names
            for form in (name, re.sub(r"[^\w\s-]", "", name))}


def _link_problem(target: str, folder: Path, own: Path) -> str | None:
    if target.startswith(("https://", "mailto:")):
        # whether a page still answers is asked weekly, not in a build, which works offline
        return None
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return f"link {target} uses {target.split(':')[0]}; use https"
    path, _, anchor = target.partition("#")
    file = folder / unquote(path) if path else own
    if not file.exists() and not (file.suffix == ".ipynb" and file.with_suffix(".md").exists()):
        names = [p.name for p in file.parent.iterdir()] if file.parent.is_dir() else []
        near = nearest_name(file.name, names)
        return f"link {target} leads nowhere" + (f"; did you mean {near}?" if near else "")
    if anchor and file.suffix in (".md",
                                  ".ipynb") and unquote(anchor).lower() not in _anchors(file):
        return f"link {target}: no such heading in {file.name}"
    return None


def _link_findings(card: LessonCard, notebook: Any, folder: Path) -> Findings:
    for i, cell in _text_cells(notebook):
        text = _without_code(cell.source)
        for is_image, words, target in LINK.findall(text):
            if is_image and not words.strip():
                yield "alt text", f"picture {target[:60]} has no alt text", i
            if is_image and re.match(r"[a-z]+:", target):
                yield "links", (f"picture {target[:60]} is not a file of the course; put it under "
                                "figures/"), i
            elif problem := _link_problem(target, folder, card.path):
                yield "links", problem, i
        for _ in (tag for tag in IMG.findall(text) if not ALT.search(tag)):
            yield "alt text", "an <img> has no alt text", i


def _citation_findings(card: LessonCard, notebook: Any, papers: Mapping[str, Entry]) -> Findings:
    for i, cell in _text_cells(notebook):
        for key in CITATION.findall(_without_code(cell.source)):
            if key not in papers:
                near = nearest_name(key, papers)
                near = f"; did you mean {near!r}?" if near else ""
                yield "citations", f"{key!r} is not in references.bib{near}", i
            elif key not in card.papers:
                yield "citations", (f"{key!r} is cited but not listed under `papers` in the front "
                                    "matter"), i


def prose_problems(card: LessonCard, notebook: Any, papers: Mapping[str, Entry], *,
                   folder: Path) -> list[Problem]:
    """What the rules find in the text cells of a lesson; relative links start in ``folder``."""
    texts = " ".join(" ".join(cell.source.split())
                     for _, cell in _text_cells(notebook, written=True)).lower()
    undefined = [("glossary", f"the term {term!r} of the front matter is never defined: write "
                  f"**{term}** where it first appears", None)
                 for term in card.terms if f"**{str(term).lower()}" not in texts]
    return [Problem(card.id, *finding)
            for finding in (*_word_findings(notebook), *_heading_findings(card, notebook),
                            *_link_findings(card, notebook, folder),
                            *_citation_findings(card, notebook, papers), *undefined)]
