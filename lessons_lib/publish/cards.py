"""Cards to remember a course by: its terms, its predictions and the ten questions of its lessons,
as an Anki deck.

A card is known by its lesson, its kind and its question, so that a second deck brings changed
answers to the cards that a reader has, with what Anki knows of them. Used by ``lessons cards``.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import BackendUnavailable
from ..core.files import atomic_open
from ..lesson.course import LessonCard, split_front_matter
from ..lesson.predict import LETTERS
from ..locking import install_line
from .check import read_notebook
from .folds import DETAILS
from .web.slides import rendered, renderer

__all__ = ["Card", "cards_of", "write_deck"]

QUESTIONS = re.compile(r"^## Ten questions\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ANSWER = re.compile(r"\*\*The answer: ([a-f])\. ")
COURSE, STYLE = "Embeddings, measured", """\
.card { font: 20px/1.4 sans-serif; max-width: 36em; margin: 1em auto; text-align: left; }
.source { font-size: 14px; opacity: .7; }"""


@dataclass(frozen=True)
class Card:
    """One card.

    Parameters
    ----------
    lesson : str
        Id of the lesson.
    kind : {"term", "prediction", "question"}
    front, back : str
        Markdown.
    """

    lesson: str
    kind: str
    front: str
    back: str

    @property
    def key(self) -> str:
        """What the card is known by: not its answer, nor the choices of a prediction."""
        return f"{self.lesson}\n{self.kind}\n{self.front.partition(chr(10))[0]}"


def cards_of(card: LessonCard) -> list[Card]:
    """The cards of a lesson, in its order.

    Parameters
    ----------
    card : LessonCard

    Returns
    -------
    list of Card
        A prediction without a known answer makes none; of equal questions the first.

    Raises
    ------
    ValueError
        Its notebook is damaged.
    """
    _, text = split_front_matter(card.path.read_text("utf-8"))
    asked = "".join(QUESTIONS.findall(text))
    made = [*(Card(card.id, "term", str(term), str(said)) for term, said in card.terms.items()),
            *(Card(card.id, "prediction", front, back) for front, back in _predictions(card)),
            *(Card(card.id, "question", re.sub(r"^\d+\.\s*", "", " ".join(question.split())),
                   answer.strip()) for question, answer in DETAILS.findall(asked))]
    return list({one.key: one for one in reversed(made)}.values())[::-1]


def _predictions(card: LessonCard) -> Iterator[tuple[str, str]]:
    """Question with choices, and answer: a literal of the code, or what the cell showed."""
    asked: dict[str, tuple[str, list[str]]] = {}
    notebook = read_notebook(card.notebook) if card.notebook.is_file() else None
    for cell in notebook.cells if notebook else []:
        if cell.cell_type != "code":
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:                       # the reader's own code
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(
                        func=ast.Attribute(attr="predict"), args=[question, choices, *_])):
                    try:
                        asked[name] = (ast.literal_eval(question), ast.literal_eval(choices))
                    except ValueError:            # a text that the lesson computes
                        asked.pop(name, None)
                case ast.Call(func=ast.Attribute(attr="answer", value=ast.Name(id=name)),
                              args=[answer]) if name in asked:
                    question, choices = asked.pop(name)
                    place = _place(answer, choices, cell)
                    if place is not None:
                        listed = [f"- {LETTERS[i]}. {c}" for i, c in enumerate(choices)]
                        yield ("\n".join([f"{question}\n", *listed]),
                               f"{LETTERS[place]}. {choices[place]}")


def _place(answer: ast.expr, choices: list[str], cell: Any) -> int | None:
    """Which choice is right, or None where neither the code nor its output says so."""
    match answer:
        case ast.Constant(value=str(text)) if text in choices:
            return choices.index(text)
        case ast.Constant(value=int(place)) if place < len(choices):
            return place
    shown = " ".join("".join(output.get("data", {}).get("text/markdown", ""))
                     for output in cell.outputs)
    letter = ANSWER.search(shown)
    place = LETTERS.index(letter[1]) if letter else len(choices)
    return place if place < len(choices) else None


def _number(name: str) -> int:
    """A number of 31 bits for Anki, the same at every run."""
    return (1 << 30) | int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") >> 2


def write_deck(lessons: Sequence[LessonCard], out: Path) -> dict[str, int]:
    """Write the cards of lessons as an Anki package, a deck for each lesson.

    Parameters
    ----------
    lessons : sequence of LessonCard
    out : path
        Ending in ``.apkg``.

    Returns
    -------
    dict of str to int
        Lesson id to number of cards; lessons without cards are left out.

    Raises
    ------
    BackendUnavailable
        genanki is not installed.
    ValueError
        Another ending; no cards at all; a damaged notebook.
    OSError
        The file cannot be written; an older one then stays.
    """
    try:
        import genanki
    except ImportError as error:
        raise BackendUnavailable("cards need the package genanki, which is not installed "
                                 f"({error}): {install_line('cards')}") from error
    if out.suffix != ".apkg":
        raise ValueError(f"out={str(out)!r} should end in .apkg, by which Anki knows its decks")
    model = genanki.Model(
        _number(COURSE), COURSE, fields=[{"name": name} for name in ("Front", "Back", "Source")],
        templates=[{"name": "Card", "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>"
                    '{{Back}}<p class="source">{{Source}}</p>'}], css=STYLE)
    markdown, decks, counts, newest = renderer(), [], {}, 0.0
    for lesson in lessons:
        title = f"{lesson.number:02d} · {lesson.title}"
        deck = genanki.Deck(_number(f"{COURSE}\n{lesson.id}"), f"{COURSE}::{title}")
        for card in cards_of(lesson):
            front = f"**{card.front}**" if card.kind == "term" else card.front
            fields = [*(rendered(text, markdown) for text in (front, card.back)), title]
            deck.add_note(genanki.Note(model, fields, guid=genanki.guid_for(COURSE, card.key),
                                       tags=[lesson.id, card.kind]))
        if deck.notes:
            decks.append(deck)
            counts[lesson.id] = len(deck.notes)
            # Anki takes a changed answer only from a newer note
            newest = max(newest, *(path.stat().st_mtime for path in (lesson.path, lesson.notebook)
                                   if path.is_file()))
    if not decks:
        raise ValueError("these lessons have no terms, predictions or questions: no cards to write")
    with atomic_open(out, "wb") as file:
        genanki.Package(decks).write_to_file(file, timestamp=newest)
    return counts
