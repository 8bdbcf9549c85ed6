"""Rules for what a committed notebook holds: every cell run in order, no error, nothing that names
this machine or this minute, all pictures described, nothing that runs when the page opens. Used by
``lessons build``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ..core import PROJECT
from ..lesson.course import LessonCard
from .clean import WIDGET
from .problem import Problem
from .prose import ALT, IMG

__all__ = ["MAX_NOTEBOOK_BYTES", "output_problems", "text_findings"]

MAX_NOTEBOOK_BYTES, MAX_PICTURE_BYTES = 1_000_000, 100_000
PLOTLY = "application/vnd.plotly.v1+json"
UNIX_PATH = re.compile(r"(?<![\w.:/<>)\]~*-])/[A-Za-z_][\w.-]*/[\w.-]+")
WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:\\[\w.-]+\\")
TIME_STAMP = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d[T ]\d\d:\d\d|\b\d\d:\d\d:\d\d\b|"
                        r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{8,16}\b")
RAW_DICT = re.compile(r"\{['\"][^'\"]*['\"]: ")
PROGRESS_BAR = re.compile(r"\d+%\|.*\|")


def text_findings(text: str) -> Iterator[tuple[str, str]]:
    """(rule, message) for each kind of thing in a text that belongs to one machine or minute."""
    own = (folder for folder in (str(PROJECT), str(Path.home()))
           if len(folder) > 1 and folder + "/" in text)
    others = (m[0] for m in (UNIX_PATH.search(text), WINDOWS_PATH.search(text)) if m)
    if path := next(chain(own, others), None):
        yield "path", (f"holds the absolute path {path[:60]}; show names, or paths inside the "
                       "project")
    for rule, pattern, what in (("timestamp", TIME_STAMP, "the time"),
                                ("address", ADDRESS, "the memory address"),
                                ("progress bar", PROGRESS_BAR, "the progress bar")):
        if match := pattern.search(text):
            yield rule, f"holds {what} {match[0][:40]}, which differs from run to run"


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(value)
    return value if isinstance(value, str) else json.dumps(value)


def _data_problems(output: Any) -> Iterator[tuple[str, str]]:
    data, metadata = output.get("data", {}), output.get("metadata", {})
    pictures = [kind for kind in data if kind.startswith("image/") or kind == PLOTLY]
    for kind in pictures:
        if not str(metadata.get(kind, {}).get("alt", "")).strip():
            yield "alt text", (f"a picture ({kind}) has no alt text; show figures with "
                               "lesson.show(fig, id=, alt=)")
        size = len(_joined(data[kind])) * (3 / 4 if kind == "image/png" else 1)
        if size > MAX_PICTURE_BYTES:
            yield "size", (f"a picture ({kind}) has {size / 1000:.0f} kB; at most "
                           f"{MAX_PICTURE_BYTES / 1000:.0f}. Draw fewer marks")
    if PLOTLY in data and not any(kind.startswith("image/") for kind in data):
        yield "static", "an interactive figure has no static picture; pass static= to lesson.show"
    if WIDGET in data:
        yield "widget", "holds a widget, which is empty without a kernel; use lesson.explore"
    markup = _joined(data.get("text/html", ""))
    if re.search(r"<\s*(script|iframe|object|embed)\b|\son\w+\s*=|javascript:", markup,
                 re.IGNORECASE) or "application/javascript" in data:
        yield "script", "holds a script; stored outputs must be complete without one"
    if any(not ALT.search(tag) for tag in IMG.findall(markup)):
        yield "alt text", "an <img> in an HTML output has no alt text"
    for kind, value in data.items():
        if kind.startswith("text/"):
            yield from text_findings(_joined(value))


def _cell_findings(cell: Any, number: int) -> Iterator[tuple[str, str]]:
    if cell.execution_count is None:
        yield "unexecuted", "was not executed; run `lessons build`"
    elif cell.execution_count != number:
        yield "unexecuted", (f"has execution count {cell.execution_count}, expected {number}: not "
                             "run top to bottom")
    if "execution" in cell.metadata:
        yield "timestamp", "holds the time of its execution; run `lessons build`"
    yield from text_findings(cell.source)
    for output in cell.outputs:
        if output.output_type == "error":
            yield "error", (f"ended with {output.get('ename', 'an error')}: "
                            f"{str(output.get('evalue', ''))[:80]}")
        elif output.output_type == "stream":
            if output.name == "stderr":
                yield "stderr", "wrote to standard error"
            if match := RAW_DICT.search(_joined(output.text)):
                yield "table", (f"prints a dict as it is, {match[0]}…}}; show a table with "
                                "lesson.table, or say it in words")
            yield from text_findings(_joined(output.text))
        else:
            yield from _data_problems(output)


def output_problems(card: LessonCard, notebook: Any) -> list[Problem]:
    """Everything the rules find in the outputs of an executed notebook."""
    problems, number = [], 0
    for i, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code" and cell.source.strip():
            number += 1
            problems += [Problem(card.id, rule, message, i)
                         for rule, message in dict.fromkeys(_cell_findings(cell, number))]
    if notebook.metadata.get("widgets"):
        problems.append(Problem(card.id, "widget",
                                "holds the state of widgets; run `lessons build`"))
    return problems
