"""What a reader has done: which checks passed in the notebooks on this machine, by what the cells
showed when they were saved. Nothing is run, nothing is sent. Used by ``lessons progress``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import DataMissing, existing_path
from ..exercises import for_lesson, stems
from ..exercises.base import NOT_ATTEMPTED
from .grading import read_notebook, source_of

__all__ = ["Progress", "notebooks_in", "progress"]

CHECK = re.compile(r"\.check\(\s*[\"'](\w+)[\"']")
UNTOUCHED = (NOT_ATTEMPTED, "the fault is still there")


@dataclass(frozen=True)
class Progress:
    """The exercises of one lesson, by what their last check said.

    Parameters
    ----------
    lesson : str
    passed, tried, left : tuple of str
        Names, in the order of the lesson: correct, not yet correct, not attempted.
    """

    lesson: str
    passed: tuple[str, ...]
    tried: tuple[str, ...]
    left: tuple[str, ...]


def notebooks_in(places: Iterable[Path]) -> list[Path]:
    """The notebooks among files and in folders, without the copies that Jupyter keeps.

    Parameters
    ----------
    places : iterable of path

    Returns
    -------
    list of path

    Raises
    ------
    FileNotFoundError
        A place that is not there.
    DataMissing
        No notebook.
    """
    places = [existing_path(place) for place in places]
    files = [file for place in places
             for file in (sorted(place.rglob("*.ipynb")) if place.is_dir() else [place])
             if ".ipynb_checkpoints" not in file.parts]
    if not files:
        raise DataMissing(f"no notebook (.ipynb) in {', '.join(map(str, places))}")
    return list(dict.fromkeys(files))


def progress(notebooks: Iterable[Path]) -> tuple[list[Progress], dict[Path, str]]:
    """Read what the checks said in saved notebooks.

    Parameters
    ----------
    notebooks : iterable of path
        Lessons, copies of them, assignments; several of one lesson count together, and an exercise
        that passed in one of them has passed.

    Returns
    -------
    list of Progress, dict of path to str
        One for each lesson that has exercises, in the order of the notebooks; and why a file cannot
        be read. Other notebooks are passed over.
    """
    said: dict[str, dict[str, set[str]]] = {}
    left_out: dict[Path, str] = {}
    for path in notebooks:
        try:
            notebook = read_notebook(path)
        except ValueError as error:
            left_out[path] = str(error)
            continue
        lesson = _lesson_of(notebook)
        if lesson not in stems():
            continue
        verdicts = said.setdefault(lesson, {name: set() for name in for_lesson(lesson)})
        last = dict(_checked(notebook))
        for name in last.keys() & verdicts.keys():
            verdicts[name].add("passed" if last[name].split(".")[0] == "correct" else
                               "left" if last[name].startswith(UNTOUCHED) else "tried")
    result = []
    for lesson, verdicts in said.items():
        best = {name: next((s for s in ("passed", "tried") if s in seen), "left")
                for name, seen in verdicts.items()}
        result.append(Progress(lesson, *(tuple(name for name in best if best[name] == state)
                                         for state in ("passed", "tried", "left"))))
    return result, left_out


def _lesson_of(notebook: Mapping[str, Any]) -> str | None:
    """The id in the mark of a lesson or an assignment, which copies keep."""
    metadata = notebook.get("metadata")
    for key, name in (("lesson", "id"), ("lessons_assignment", "lesson")):
        mark = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(mark, dict) and isinstance(mark.get(name), str):
            return mark[name]
    return None


def _checked(notebook: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Exercise and verdict, as the cells that check them show."""
    for cell in notebook["cells"]:
        asked = set(CHECK.findall(source_of(cell)))
        outputs = cell.get("outputs")
        for output in outputs if asked and isinstance(outputs, list) else []:
            data = output.get("data") if isinstance(output, dict) else None
            text = (data.get("text/plain") if isinstance(data, dict)
                    else output.get("text") if isinstance(output, dict) else None)
            lines = "".join(map(str, text)) if isinstance(text, (str, list)) else ""
            for line in lines.splitlines():
                name, _, verdict = line.partition(": ")
                if name in asked and verdict and not verdict.startswith("no more hints"):
                    yield name, verdict
