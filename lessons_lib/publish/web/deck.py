"""Which parts of a lesson are slides: chosen by a rule, corrected by marks.

The rule: the question opens the deck; each cell with a picture is a slide, with its section, the
finding of its alt text, and the last "Predict" as a question before it; a section without a picture
shows its first displayed formula; the summary and the formula to keep close. The output of a cell
tagged ``hide-output`` is a slide, too, and appears after its question, which a cell before it
asked. Other text goes to the speaker's notes; folded text and checks are left out. The mark is
``slide`` in the metadata of a cell: ``:slide: Rare words are longer.`` gives the sentence,
``:slide: false`` leaves the cell out, and on a cell that the rule passes over it makes a slide of
its picture, table, printed text or formula.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from ...core import DamagedFile
from ...lesson.course import LessonCard
from ..folds import is_optional, tags_of, without_details
from ..pair import generated_tag
from .outputs import alt_text, is_picture

__all__ = ["MAX_SLIDES", "Slide", "blocks", "deck"]

MAX_SLIDES = 20
LAST_SECTIONS = ("exercises", "papers", "ten questions")      # hold no slides
SUMMARIES = ("summary", "told in one table")
ASK = "What do you expect?"                                   # before an answer nobody asked for
BLOCK = re.compile(r"```.*?```|\$\$.*?\$\$|(?:(?!\n\s*\n|```|\$\$).)+", re.DOTALL)
HEADING = re.compile(r"#{2,6}\s+(.+)")
PREDICT = re.compile(r"\*\*Predict[^*]*\*\*")
ANSWER = re.compile(r"\*\*The answer")
LIST = re.compile(r"(?:\d+\.|[-*|])\s")                     # or a table
LAST_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z*`$])")


@dataclass(frozen=True)
class Slide:
    """One slide: ``heading`` and ``sentence`` (Markdown), what to look at (``output`` of the
    notebook, or ``body`` in Markdown), the ``question`` that is shown before it, ``notes`` for the
    speaker, and ``cell``, the place in the notebook (from 0).
    """

    heading: str
    cell: int
    sentence: str = ""
    output: Any = None
    body: str = ""
    question: str = ""
    notes: tuple[str, ...] = ()


def blocks(text: str) -> list[str]:
    """A text cell as headings, paragraphs, lists, displayed formulas and code blocks, in order."""
    return [block.strip() for block in BLOCK.findall(text) if block.strip()]


def _finding(alt: str) -> str:
    """What an alt text states after it has said what kind of picture it is."""
    for end in (r"(?<=\.)\s+", r":\s+"):
        first, *rest = re.split(end, alt, maxsplit=1)
        if rest and len(first.split()) > 2:
            return rest[0][0].upper() + rest[0][1:]
    return alt


def _shown(cell: Any, *, marked: bool) -> Any:
    """The last picture of a code cell; of a marked cell else the last table, else printed text."""
    pictures = [output for output in cell.outputs if is_picture(output)]
    tables = [output for output in cell.outputs if "text/html" in output.get("data", {})]
    printed = [output for output in cell.outputs if output.output_type == "stream"]
    shown = pictures or ((tables or printed) if marked else [])
    return shown[-1] if shown else None


def _said(cell: Any, pattern: re.Pattern) -> str:
    """What a code cell displays that begins so: the question of a prediction, or its answer."""
    texts = ("".join(output.get("data", {}).get("text/markdown", "")) for output in cell.outputs)
    return next((text for text in texts if pattern.match(text)), "")


@dataclass
class _Reader:
    """Goes through the cells; keeps the section, a formula and a question in waiting."""

    lesson: str
    slides: list[Slide]
    heading: str = ""
    section: int = 0  # number of slides when the section began
    formula: Slide | None = None
    question: str = ""  # of the text: for the next picture
    asked: str = ""  # by a code cell: for the next folded output, in this section or a later one
    before: str = ""  # the paragraph before a formula says what it is

    def open(self, heading: str) -> None:
        """Begin a section; a question that no picture answered becomes a note."""
        self.close()
        if self.question:
            self.note(self.question)
        self.heading, self.section = heading, len(self.slides)
        self.formula, self.question, self.before = None, "", ""

    def close(self) -> None:
        if self.formula is not None and len(self.slides) == self.section:
            self.slides.append(self.formula)

    def note(self, block: str) -> None:
        """A paragraph becomes a note of the slide before it."""
        self.slides[-1] = replace(self.slides[-1], notes=(*self.slides[-1].notes, block))

    def read_text(self, number: int, cell: Any) -> None:
        mark, formula = cell.metadata.get("slide"), None
        for block in blocks(without_details(cell.source)):
            if heading := HEADING.match(block):
                self.open(heading[1])
                block = block[heading.end() :].strip()
            if not block or self.heading.lower() in LAST_SECTIONS:
                continue
            if self.heading.lower() in SUMMARIES:
                self._read_summary(number, block)
            elif block.startswith("$$"):
                last = LAST_SENTENCE.split(" ".join(self.before.split()))[-1]
                formula = formula or Slide(self.heading, number, sentence=last, body=block)
            elif PREDICT.match(block):
                self.question = block
            else:
                self.before = block
                self.note(block)
        if mark and formula is None:
            raise DamagedFile(f"lesson {self.lesson}: cell {number + 1} is marked as a slide and "
                              "shows no displayed formula; mark a cell with an "
                              "output instead, or take the mark away")
        if mark:
            self.slides.append(replace(formula, sentence=mark if isinstance(mark, str)
                                       else formula.sentence))
        elif mark is None:
            self.formula = self.formula or formula

    def _read_summary(self, number: int, block: str) -> None:
        if block.startswith("**The formula to keep"):
            self.slides.append(Slide("The formula to keep", number,
                                     body=re.sub(r"^\*\*[^*]*\*\*:?\s*", "", block)))
        elif LIST.match(block) and not any(slide.heading == self.heading for slide in self.slides):
            self.slides.append(Slide(self.heading, number, body=block))

    def read_code(self, number: int, cell: Any) -> None:
        mark = cell.metadata.get("slide")
        if is_optional(cell) or mark is False:
            return
        folded = "hide-output" in tags_of(cell)
        output = _shown(cell, marked=bool(mark) or folded)
        if mark and output is None:
            raise DamagedFile(f"lesson {self.lesson}: cell {number + 1} is marked as a slide and "
                              "has no output to show; take the mark away")
        answer, asked = _said(cell, ANSWER) if folded else "", self.asked if folded else ""
        self.asked = _said(cell, PREDICT) or (self.asked if not folded else "")
        if not (output or answer) or self.heading.lower() in LAST_SECTIONS:
            return
        sentence = mark if isinstance(mark, str) else answer or _finding(alt_text(output))
        self.slides.append(Slide(self.heading, number, sentence=sentence, output=output,
                                 question=asked or self.question or (ASK if folded else "")))
        self.question = ""


def deck(card: LessonCard, notebook: Any) -> list[Slide]:
    """The slides of one lesson, from its executed notebook.

    Raises DamagedFile for a mark on a cell that shows nothing, and for more than 20 slides.
    """
    aims = "\n".join(f"- {text}" for text in card.you_will)
    reader = _Reader(card.id, [Slide(f"{card.number:02d} · {card.title}", 0,
                                     sentence=f"**{card.question}**", body=aims)])
    for number, cell in enumerate(notebook.cells):
        if generated_tag(cell) is None:
            (reader.read_text if cell.cell_type == "markdown" else reader.read_code)(number, cell)
    reader.close()
    if len(reader.slides) > MAX_SLIDES:
        raise DamagedFile(f"lesson {card.id} has {len(reader.slides)} slides, at most "
                          f"{MAX_SLIDES}; mark cells that need none with slide: false")
    return reader.slides
