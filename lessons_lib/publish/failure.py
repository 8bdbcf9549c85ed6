"""What a reader needs to know about a lesson that stopped: where, why, and the one thing to do.

A `Failure` is made while the kernel still lives (`failure_of`), so that the values of an assertion
can be asked for, and printed by ``lessons run`` and ``lessons build`` below their results.
"""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .prose import headings

__all__ = ["Failure", "death_of", "last_lines", "section_of", "what_to_do"]

ANSI = re.compile(r"\x1b\[[0-9;]*m")
NO_NEWS = re.compile(r"-{20,}|\w+ +Traceback \(most recent call last\)")
MAX_LINES, MAX_CHARACTERS = 8, 120
MEMORY = ("MemoryError", "OutOfMemoryError", "SIGKILL")


@dataclass(frozen=True)
class Failure:
    """Why a lesson stopped. As ``str``: a block of lines for the terminal.

    Parameters
    ----------
    lesson : its id.
    section : the heading above the cell, "" where there is none.
    cell : number among the code cells, from 1, as JupyterLab writes it: ``[11]``; None when no cell
        was run.
    n_cells : number of code cells.
    error : last lines of the traceback, or what happened in words.
    values : ``expression = value`` for the assertion that failed.
    to_do : the one thing to do.
    notebook : the notebook with the outputs so far; None where it could not be kept.
    """

    lesson: str
    section: str
    cell: int | None
    n_cells: int
    error: tuple[str, ...]
    values: tuple[str, ...] = ()
    to_do: str = ""
    notebook: Path | None = None

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"[{self.cell}] of {self.n_cells} code cells"
        rows: dict[str, Sequence[str]] = {
            "section": [self.section], "cell": [cell], "error": self.error, "values": self.values,
            "to do": [self.to_do],
            "notebook": [f"python -m lessons_lib lab {shlex.quote(_short(self.notebook))}"
                         if self.notebook else ""]}
        lines = [f"{self.lesson} stopped"]
        for head, texts in rows.items():
            for i, text in enumerate(filter(None, texts)):
                lines.append(f"  {'' if i else head:<9} {text}")
        return "\n".join(lines)


def _short(path: Path) -> str:
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


def section_of(notebook: Any, position: int) -> str:
    """Text of the nearest heading above the cell at an index; "" where there is none."""
    above = [text for place, _, _, text in headings(notebook) if place <= position]
    return above[-1] if above else ""


def last_lines(traceback: Sequence[str]) -> tuple[str, ...]:
    """The end of an IPython traceback, without colour.

    Parameters
    ----------
    traceback : parts of the traceback, as a kernel sends them.

    Returns
    -------
    At most 8 lines of at most 120 characters. Where the error came from below the cell, the line of
    the cell that led there stands in front.
    """
    lines = [line.rstrip() for line in ANSI.sub("", "\n".join(traceback)).splitlines()]
    lines = [line[:MAX_CHARACTERS] for line in lines if line and not NO_NEWS.fullmatch(line)]
    tail = lines[-MAX_LINES:]
    marked = next((line for line in lines if line.startswith("-")), None)
    return (*([marked, "…"] if marked and marked not in tail else []), *tail)


def death_of(code: int | None) -> str:
    """How a kernel ended that nobody ended, in words.

    Parameters
    ----------
    code : its return code, on POSIX minus the number of the signal.
    """
    if code is None or code >= 0:
        return f"the kernel ended by itself{'' if code is None else f' with status {code}'}"
    name = signal.Signals(-code).name
    if name == "SIGKILL":
        return "the system ended the kernel (SIGKILL), as it does when memory runs out"
    return f"the kernel crashed ({name}) in compiled code"


def what_to_do(error: str, *, lesson: str, scale: str) -> str:
    """The one thing to do after an error.

    Parameters
    ----------
    error : its class, a colon and its message.
    lesson, scale : of the run.
    """
    kind, _, message = error.partition(":")
    again = f"python -m lessons_lib run {lesson}{f' --scale {scale}' if scale != 'laptop' else ''}"
    if command := re.search(r"\blessons (data get [\w.-]+)", message):
        return f"Get what is missing: python -m lessons_lib {command[1]}"
    if kind in ("ImportError", "ModuleNotFoundError", "BackendUnavailable"):
        return "See what this machine lacks and how to get it: python -m lessons_lib doctor"
    if kind in MEMORY or any(name in message for name in MEMORY):
        return f"Close other programs, then run it alone: {again} --jobs 1"
    if kind == "CellTimeoutError":
        smaller = "" if scale == "smoke" else (f", or with less to compute: python -m lessons_lib "
                                               f"run {lesson} --scale smoke")
        return f"Run it alone, when the machine is quiet: {again}{smaller}"
    if re.search("LESSONS_OUTPUT|LESSONS_CACHE|No space left", message):
        return "Make room, or name other folders: LESSONS_OUTPUT and LESSONS_CACHE move them"
    return (f"Run it once more, alone: {again}. If it stops again and you did not change its text "
            "(git diff notebooks), please report it with the notebook below")
