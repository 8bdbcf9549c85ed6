"""The concept map: a page on which each lesson is a box with its terms, below the lessons it needs.

Drawn from the front matter. A box leads to its lesson and a term to the glossary; the drawing is
part of the page, so that its links work and its colours follow the theme.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from statistics import fmean

from ...lesson.course import LessonCard

__all__ = ["concept_page"]

WIDTH, GAP, LINE, LETTERS = 470, 60, 21, 52          # pixels; letters of a line of terms
OPENING = """# Concept map

Each box is a lesson with the terms that it explains. A line comes from above, from a lesson that it
needs. A term leads to the [glossary](notebooks/glossary.ipynb), a title to its lesson.

"""


def _first_needs(cards: Sequence[LessonCard]) -> dict[str, list[str]]:
    """The lessons that each needs, without those that another of them needs already."""
    given = {card.id: card for card in cards}
    behind: dict[str, set[str]] = {}
    for card in sorted(cards, key=lambda card: card.number):
        direct = [name for name in card.needs if name in given]
        behind[card.id] = {*direct, *(far for name in direct for far in behind.get(name, ()))}
    return {card.id: [name for name in card.needs if name in given
                      and not any(name in behind.get(other, ()) for other in card.needs)]
            for card in cards}


def _floors(needs: dict[str, list[str]]) -> dict[str, int]:
    """For each lesson how many lie above it, on the longest way; ids come in the order of lessons,
    which no lesson breaks."""
    floors: dict[str, int] = {}
    for name, before in needs.items():
        floors[name] = 1 + max((floors[other] for other in before if other in floors), default=-1)
    return floors


def _term_lines(card: LessonCard) -> list[list[str]]:
    """The terms of a lesson in lines that fit into a box."""
    lines: list[list[str]] = []
    for term in map(str, card.terms):
        if lines and len(", ".join([*lines[-1], term])) < LETTERS:
            lines[-1].append(term)
        else:
            lines.append([term])
    return lines


def _place(term: str) -> str:
    """The id that Sphinx gives to a heading."""
    return re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")


def _box(card: LessonCard, x: float, y: float, lines: list[list[str]]) -> str:
    title = (f'<a href="notebooks/{card.stem}.html"><text x="{x + 12}" y="{y + 25}" class="title">'
             f"{card.number:02d} · {escape(card.title)}</text></a>")
    terms = []
    for i, line in enumerate(lines):
        links = ", ".join(f'<a href="notebooks/glossary.html#{_place(term)}">{escape(term)}</a>'
                          for term in line)
        terms.append(f'<text x="{x + 12}" y="{y + 49 + i * LINE}">{links}</text>')
    frame = (f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{_height(lines)}" rx="8"/>')
    return "\n".join([f"<g>{frame}", title, *terms, "</g>"])


def _height(lines: Sequence[object]) -> int:
    return 40 + LINE * len(lines)


def concept_page(cards: Sequence[LessonCard]) -> str:
    """The page as Markdown with the drawing in it.

    Parameters
    ----------
    cards : sequence of LessonCard
        In any order.

    Returns
    -------
    str
    """
    cards = sorted(cards, key=lambda card: card.number)
    needs = _first_needs(cards)
    floors = _floors(needs)
    lines = {card.id: _term_lines(card) for card in cards}
    places: dict[str, tuple[float, float]] = {}
    y, widest = 10.0, max((list(floors.values()).count(floor) for floor in floors.values()),
                          default=1)
    whole = widest * (WIDTH + GAP) - GAP
    for floor in sorted(set(floors.values())):
        row = sorted((card.id for card in cards if floors[card.id] == floor),
                     key=lambda name: fmean([places[a][0] for a in needs[name]] or [0.0]))
        left = (whole - len(row) * (WIDTH + GAP) + GAP) / 2
        places |= {name: (10 + left + i * (WIDTH + GAP), y) for i, name in enumerate(row)}
        y += max(_height(lines[name]) for name in row) + GAP
    ways = [f'<path d="M{places[a][0] + WIDTH / 2} {places[a][1] + _height(lines[a])} '
            f'L{places[b][0] + WIDTH / 2} {places[b][1]}"/>' for b in needs for a in needs[b]]
    boxes = [_box(card, *places[card.id], lines[card.id]) for card in cards]
    head = (f'<svg class="concepts" viewBox="0 0 {whole + 20:g} {y - GAP + 10:g}" role="group" '
            'aria-label="Lessons as boxes with their terms, each below the lessons it needs">')
    return OPENING + "\n".join(["```{raw} html", head, *ways, *boxes, "</svg>", "```"]) + "\n"
