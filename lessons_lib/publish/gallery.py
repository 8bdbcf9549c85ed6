"""The gallery: one page with every figure and table of a paper that was measured again, made from
the records in a folder.

Nothing on it is written by hand: pictures, numbers and verdicts come from the records, reasons and
alt texts from the entries, links from the course. Written by ``lessons reproduce --gallery`` as the
README.md of ``figures/``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..core import DataMissing, write_text
from ..lesson.course import Course
from ..reproduce import Record, entries, headline
from ..reproduce.entry import CONTROL_TOO, FAILS, NO_CONTROL, Entry, called
from ..reproduce.recorded import read_record
from .bibliography import read_bibliography

__all__ = ["gallery", "write_gallery"]

INTRODUCTION = """# Figures and tables of papers, measured again

Made by `lessons reproduce --gallery` from the records in this folder; nothing on this page is \
written by hand. Corpora and models are smaller than
the papers', so directions count and levels do not. Printed and measured numbers are means over \
the places that both have, if no name says otherwise;
each record (`.json`) holds all of them, with settings, seed, machine and date. A claim that fails \
says why, as far as it is known.

The *control* of an encoder has its form and random numbers for weights; what is trained, it is \
trained in the same way; where there is no encoder, the record says what its control is. A claim \
**holds** where the control refutes it. One that holds *for the control too* may be true, but is \
no evidence for pre-training, or for what is said to be the cause.
"""


def gallery(folder: Path, course: Course | None = None) -> str:
    """The page about all records in a folder, in the order of the lessons, as Markdown.

    Lessons and papers of ``course`` (None: the one here) are linked. Raises DataMissing for a
    folder without a record, DamagedFile for a record that cannot be read.
    """
    course = course or Course()
    papers = {key: paper.short
              for key, paper in read_bibliography(course.notebooks / "references.bib").items()}
    cards = {card.id: card for card in course.cards()}
    order = {lesson: number for number, lesson in enumerate(cards)}
    shown = sorted(((entry, read_record(file)) for entry in entries().values()
                    if (file := folder / f"{entry.id}.json").is_file()),
                   key=lambda pair: order.get(pair[0].lesson, len(order)))
    if not shown:
        raise DataMissing(f"{folder} holds no record of an entry: run lessons reproduce --all "
                          "first, or name another folder by --out")
    rows = [f"| [{entry.id}](#{entry.id}) | {_cell(papers.get(entry.paper, entry.paper))}, "
            f"{_cell(entry.item)} | {record.scale} | {record.verdict} |" for entry, record in shown]
    parts = [INTRODUCTION, f"{_summary([record for _, record in shown])}\n",
             "| id | paper | scale | claims |", "|---|---|---|---|", *rows, ""]
    for lesson in dict.fromkeys(entry.lesson for entry, _ in shown):
        head = lesson
        if card := cards.get(lesson):
            link = Path(os.path.relpath(card.notebook, folder)).as_posix()
            head = f"[{card.number:02d} · {card.title}]({link})"
        parts += [f"## {head}\n", *(_section(entry, record, papers.get(entry.paper, entry.paper))
                                    for entry, record in shown if entry.lesson == lesson)]
    return "\n".join(parts)


def write_gallery(folder: Path, course: Course | None = None) -> Path:
    """Write the page as README.md of a folder and give its path. Raises as `gallery`."""
    path = Path(folder) / "README.md"
    write_text(path, gallery(Path(folder), course))
    return path


def _summary(records: Sequence[Record]) -> str:
    """How many records and claims hold, hold for the control too, and fail."""
    clear = sum(not record.failed and not record.control_too for record in records)
    level = sum(not record.failed and bool(record.control_too) for record in records)
    verdicts = [verdict for record in records for verdict in record.verdicts.values()]
    too, failed, bare = (verdicts.count(name) for name in (CONTROL_TOO, FAILS, NO_CONTROL))
    return (f"All claims hold in {clear} of {len(records)}; in {level} more all hold, some of them "
            f"for the control too. Of {len(verdicts)} claims {len(verdicts) - too - failed} hold "
            f"({bare} of these are about a row without a control), {too} hold for the control too, "
            f"and {failed} fail.")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _section(entry: Entry, record: Record, paper: str) -> str:
    """One entry: heading, picture, printed beside measured, claims, reason, what differs."""
    printed, measured = headline(entry, record)
    alt = called(entry.alt, record.settings)
    claims = [f"- {f'**{word}**' if text in record.failed else word}: "
              f"{called(text, record.settings)}" for text, word in sorted(record.verdicts.items())]
    return "\n".join(filter(None, (
        f'<a id="{entry.id}"></a>\n', f"### {paper}, {entry.item}\n",
        f"![{alt}]({record.picture.name})\n" if record.picture else "",
        f"| | |\n|---|---|\n| printed | {_cell(printed) or '–'} |\n| measured, {record.scale} "
        f"scale | {_cell(measured) or '–'} |\n",
        *claims, f"\n*Why:* {entry.why}\n" if record.failed and entry.why else "",
        f"\n{entry.setup.strip()}\n",
        f"`lessons reproduce {entry.id}` · [all numbers]({entry.id}.json) · {record.date}\n")))
