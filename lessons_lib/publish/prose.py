"""Rules for the text of a lesson: its length, headings, links, citations, terms, and words that
make a reader feel slow.

Code, formulas and quoted data are taken out before words are judged. Each rule yields one `Problem`
per finding. Used by ``lessons build``.
"""

from __future__ import annotations

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

__all__ = ["headings", "prose_problems"]

MAX_WORDS = 5000
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1[`~]*\s*?$", re.DOTALL | re.MULTILINE)
NO_PROSE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\$\$.+?\$\$|\$[^$\n]+\$|<!--.*?-->", re.DOTALL)
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$", re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^()\s>]+)>?[^()]*\)")
CITATION = re.compile(r"\[([a-z]+\d{4}[a-z]+)(?:,[^\]]*)?\](?!\()")
FORBIDDEN = re.compile(r"\b(simply|obviously|just)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_][\w'’-]*")


def _without_code(text: str) -> str:
    return NO_PROSE.sub(" ", FENCE.sub(" ", text))


def _text_cells(notebook: Any) -> Iterator[tuple[int, Any]]:
    return ((i, cell)
            for i, cell in enumerate(notebook.cells, start=1) if cell.cell_type == "markdown")


def _word_problems(card: LessonCard, notebook: Any) -> Iterator[Problem]:
    n_words = 0
    for i, cell in _text_cells(notebook):
        if generated_tag(cell) is None:
            text = _without_code(LINK.sub(r"\2", cell.source))
            n_words += len(WORD.findall(text))
            for found in FORBIDDEN.finditer(text):
                yield Problem(card.id, "plain words", f"“{found[0]}” tells the reader that this "
                                                      "should be easy; leave it out", i)
    if n_words > MAX_WORDS:
        yield Problem(card.id, "length", f"{n_words:,} words of text; at most {MAX_WORDS:,}")


def headings(notebook: Any) -> Iterator[tuple[int, Any, int, str]]:
    """Every heading of a notebook: place of its cell (from 1), the cell, level, text."""
    for i, cell in _text_cells(notebook):
        for found in HEADING.finditer(FENCE.sub(" ", cell.source)):
            yield i, cell, len(found[1]), found[2]


def _heading_problems(card: LessonCard, notebook: Any) -> Iterator[Problem]:
    before, seen = 1, set()
    for i, cell, level, text in headings(notebook):
        if level == 1 and generated_tag(cell) is None:
            yield Problem(card.id, "headings", f"heading “{text}” has level 1, which is the "
                                               "lesson's title; use ##", i)
        if level > before + 1:
            yield Problem(card.id, "headings", f"heading “{text}” jumps from level {before} to "
                                               f"{level}", i)
        if text.lower() in seen:
            yield Problem(card.id, "headings", f"heading “{text}” stands twice; links to it are "
                                               "ambiguous", i)
        seen.add(text.lower())
        before = level
    missing = [name for name in ("exercises", "summary") if name not in seen]
    if card.number > 0 and missing:
        yield Problem(
            card.id, "headings", "no heading "
            f"{' and no heading '.join(repr(m.capitalize()) for m in missing)}")


def _anchors(path: Path) -> set[str]:
    """Every form in which JupyterLab and GitHub write the anchors of a lesson's headings, in lower
    case.
    """
    text = path.with_suffix(".md").read_text(
        encoding="utf-8") if path.with_suffix(".md").is_file() else path.read_text(encoding="utf-8")
    names = [found[2] for found in HEADING.finditer(FENCE.sub(" ", text))]
    return {form.lower().replace(" ", "-") for name in names
            for form in (name, re.sub(r"[^\w\s-]", "", name))}


def _link_problem(target: str, folder: Path, own: Path) -> str | None:
    if target.startswith("https://") or target.startswith("mailto:"):
        # whether a page still answers is asked weekly, not in a build, which works offline
        return None
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return f"link {target} uses {target.split(':')[0]}; use https"
    path, _, anchor = target.partition("#")
    file = folder / unquote(path) if path else own
    if not file.exists() and not (file.suffix == ".ipynb" and file.with_suffix(".md").exists()):
        near = nearest_name(
            file.name, [p.name for p in file.parent.iterdir()]) if file.parent.is_dir() else None
        return f"link {target} leads nowhere" + (f"; did you mean {near}?" if near else "")
    if anchor and file.suffix in (".md",
                                  ".ipynb") and unquote(anchor).lower() not in _anchors(file):
        return f"link {target}: no such heading in {file.name}"
    return None


def _link_problems(card: LessonCard, notebook: Any, folder: Path) -> Iterator[Problem]:
    for i, cell in _text_cells(notebook):
        for is_image, words, target in LINK.findall(_without_code(cell.source)):
            problem = _link_problem(target, folder, card.path)
            if is_image and not words.strip():
                yield Problem(card.id, "alt text", f"picture {target[:60]} has no alt text", i)
            if is_image and re.match(r"[a-z]+:", target):
                yield Problem(card.id, "links", f"picture {target[:60]} is not a file of the "
                                                "course; put it under figures/", i)
            elif problem:
                yield Problem(card.id, "links", problem, i)
        for tag in re.findall(r"<img\b[^>]*>", _without_code(cell.source), re.IGNORECASE):
            if not re.search(r"\balt\s*=\s*[\"'][^\"']+", tag):
                yield Problem(card.id, "alt text", "an <img> has no alt text", i)


def _citation_problems(card: LessonCard, notebook: Any,
                       papers: Mapping[str, Entry]) -> Iterator[Problem]:
    for i, cell in _text_cells(notebook):
        for key in CITATION.findall(_without_code(cell.source)):
            if key not in papers:
                near = nearest_name(key, papers)
                yield Problem(card.id, "citations", f"{key!r} is not in references.bib"
                              + (f"; did you mean {near!r}?" if near else ""), i)
            elif key not in card.papers:
                yield Problem(card.id, "citations", f"{key!r} is cited but not listed under "
                                                    "`papers` in the front matter", i)


def _term_problems(card: LessonCard, notebook: Any) -> Iterator[Problem]:
    texts = " ".join(" ".join(cell.source.split())
                     for _, cell in _text_cells(notebook) if generated_tag(cell) is None).lower()
    for term in card.terms:
        if f"**{str(term).lower()}" not in texts:
            yield Problem(card.id, "glossary", f"the term {term!r} of the front matter is never "
                                               f"defined: write **{term}** where it first appears")


def prose_problems(card: LessonCard, notebook: Any, papers: Mapping[str, Entry], *,
                   folder: Path) -> list[Problem]:
    """Everything the rules find in the text cells of a lesson.

    Parameters: card; notebook, the lesson's cells; papers, the bibliography; folder, from which
    relative links start.
    """
    return [*_word_problems(card, notebook), *_heading_problems(card, notebook),
            *_link_problems(card, notebook, folder), *_citation_problems(card, notebook, papers),
            *_term_problems(card, notebook)]
