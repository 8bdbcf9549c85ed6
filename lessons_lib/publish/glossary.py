"""The glossary: a notebook without code that explains the terms of all lessons, by letter, with a
list of each lesson's terms at its end.

It is written from the front matter of the lessons and nobody edits it. A notebook, because
JupyterLab, GitHub and the site show one as a page whose headings can be linked to. Used by
``lessons build``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from urllib.parse import quote

from ..lesson.course import LessonCard

__all__ = ["GLOSSARY", "glossary_page"]

GLOSSARY = "glossary.ipynb"
OPENING = ("# Glossary\n\nThe terms of the course. Each is explained again, with an example, in "
           "the lesson whose number stands behind it. At the end: [the terms of each lesson]"
           "(#By-lesson), in the order in which it needs them.\n\n")


def _markdown_cell(text: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _terms_of(card: LessonCard, names: dict[str, str]) -> str:
    """A lesson and its terms, each a link to its heading as JupyterLab names it."""
    shown = [names[str(term).lower()] for term in card.terms]
    links = " · ".join(f"[{name}](#{quote(name.replace(' ', '-'), safe=',')})" for name in shown)
    return f"[{card.number:02d} · {card.title}]({card.stem}.ipynb): {links}"


def glossary_page(cards: Sequence[LessonCard]) -> str:
    """The glossary as the text of a notebook: a heading for each letter and each term.

    A term that two lessons define stands there once, with both meanings.
    """
    meanings: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for card in sorted(cards, key=lambda card: card.number):
        for term, text in card.terms.items():
            key = str(term).lower()
            meaning = " ".join(str(text).split())
            meanings.setdefault(key, []).append(
                f"{meaning} ([{card.number:02d}]({card.stem}.ipynb))")
            names.setdefault(key, str(term))
    letters = [(letter.upper(), list(keys))
               for letter, keys in groupby(sorted(meanings), key=lambda key: key[0])]
    links = " · ".join(f"[{letter}](#{letter})" for letter, _ in letters)
    cells = [_markdown_cell(OPENING + links)]
    for letter, keys in letters:
        terms = [f"### {names[key]}\n\n" + "\n\n".join(meanings[key]) for key in keys]
        cells.append(_markdown_cell("\n\n".join([f"## {letter}", *terms])))
    lessons = [_terms_of(card, names) for card in sorted(cards, key=lambda card: card.number)
               if card.terms]
    if lessons:
        cells.append(_markdown_cell("\n\n".join(["## By lesson", *lessons])))
    page = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4,
            "nbformat_minor": 4}
    return json.dumps(page, indent=1, ensure_ascii=False) + "\n"
