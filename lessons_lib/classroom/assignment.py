"""What the teacher keeps of an assignment: lessons, seed of the hidden inputs, names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import DamagedFile, check_seed, checked_path, existing_path, read_json
from ..exercises import for_lesson, stems

__all__ = ["FORMAT", "Assignment", "names_in", "read_assignment"]

FORMAT = 1


@dataclass(frozen=True)
class Assignment:
    """What ``grading/assignment.json`` holds.

    Parameters
    ----------
    folder : Path
    id : str
    seed : int
        Makes the hidden inputs.
    lessons : mapping of str to mapping
        Lesson id -> ``stem``, ``title``, ``exercises`` (name -> variable of the answer) and
        ``open`` (number of open questions).
    """

    folder: Path
    id: str
    seed: int
    lessons: Mapping[str, Mapping[str, Any]]

    @property
    def exercises(self) -> list[tuple[str, str]]:
        """All (lesson id, exercise) in order."""
        return [(lesson, name) for lesson, entry in self.lessons.items()
                for name in entry["exercises"]]


def names_in(path: Path) -> list[str]:
    """Lines of a text file that hold something. Raises ValueError where it is not UTF-8."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        wrong = content[error.start : error.end].hex(" ")
        raise ValueError(f"{path}, line {line}, byte {error.start}: {wrong} is not UTF-8 "
                         f"({error.reason}); save the file as UTF-8") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _entry(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A lesson of an assignment. Raises KeyError, TypeError or ValueError for what is none."""
    pairs = [(name, variable) for name, variable in entry["exercises"]]
    texts, number = [entry["id"], entry["stem"], entry["title"],
                     *(text for pair in pairs for text in pair)], entry["open"]
    if not all(isinstance(text, str) for text in texts) or not pairs or isinstance(
            number, bool) or not isinstance(number, int):
        raise TypeError("texts, pairs of texts and a number")
    return entry["id"], {"stem": entry["stem"], "title": entry["title"], "exercises": dict(pairs),
                         "open": number}


def read_assignment(folder: str | os.PathLike) -> Assignment:
    """The assignment in a folder that `assign` wrote.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Assignment

    Raises
    ------
    FileNotFoundError, DamagedFile
        Where there is none, or it was changed.
    ValueError
        For a newer format, and for exercises that the course here does not have.
    """
    file = existing_path(checked_path(folder, "folder") / "grading" / "assignment.json")
    values = read_json(file)
    if not isinstance(values, dict) or not {"format", "id", "seed", "lessons"} <= set(values):
        raise DamagedFile(f"{file} is no assignment; make one: lessons assign one_hot --out FOLDER")
    if values["format"] != FORMAT:
        raise ValueError(f"{file} has format {values['format']!r}, this library reads {FORMAT}; "
                         "upgrade it")
    try:
        seed, lessons = check_seed(values["seed"]), dict(map(_entry, values["lessons"]))
        if not lessons:
            raise ValueError("0 lessons")
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{file} was changed and is no assignment any more "
                          f"({type(error).__name__}: {error}); take it from your backup, or copy "
                          "submissions/ into a new assignment, whose hidden inputs are "
                          "others") from None
    made = Assignment(Path(folder), str(values["id"]), seed, lessons)
    strange = [f"{lesson}.{name}" for lesson, name in made.exercises if lesson not in stems()
               or name not in for_lesson(lesson)]
    if strange:
        raise ValueError(f"{file} has the exercise {strange[0]}, which the course here has not: "
                         "grade with the version that made the assignment, and "
                         "with the same extras")
    return made
