"""The list of lessons, read from the front matter of ``notebooks/NN_id.md``; there is no second
list to keep in step.

A `LessonCard` is one lesson's front matter, a `Course` the folder they lie in. Reading is lenient,
so that one bad lesson does not close the others; `publish.frontmatter` is the strict reader. Shown
in lesson ``00_start_here``.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core import PROJECT, DamagedFile, DataMissing, check_choice, existing_path

__all__ = ["SCALES", "Course", "LessonCard", "chosen_scale", "read_card", "split_front_matter"]

SCALES = ("smoke", "laptop", "paper")
FRONT_MATTER = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)
FILE_NAME = re.compile(r"(\d\d)_([a-z][a-z0-9_]*)\.md")


def split_front_matter(text: str) -> tuple[str, str]:
    """The YAML between the first two lines ``---`` and the rest.

    Returns ("", text) where there is none.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found = FRONT_MATTER.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)


@dataclass(frozen=True)
class LessonCard:
    """One lesson's front matter, with the number and path of its file. ``scales`` holds one dict of
    numbers per scale; ``terms`` maps each glossary term that the lesson defines to its definition.
    """

    id: str
    number: int
    path: Path
    question: str = ""
    title: str = ""
    you_will: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    minutes: Mapping[str, float] = field(default_factory=dict)
    papers: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    scales: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def stem(self) -> str:
        """Number and id, the name of the lesson's files: ``01_one_hot``."""
        return self.path.stem

    @property
    def notebook(self) -> Path:
        """The executed notebook beside the text."""
        return self.path.with_suffix(".ipynb")

    def settings(self, scale: str) -> Any:
        """The numbers of one scale as a frozen dataclass: ``settings("laptop").n_documents``.

        Empty when the lesson declares none.
        """
        values = {
            k: tuple(v) if isinstance(v, list) else v
            for k, v in self.scales.get(scale, {}).items()
        }
        kind = dataclasses.make_dataclass(
            "Settings", [(name, type(value)) for name, value in values.items()], frozen=True)
        return kind(**values)


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _mapping(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def read_card(path: str | os.PathLike) -> LessonCard:
    """Read the front matter of one lesson text.

    Raises FileNotFoundError, ValueError (a file name that is not ``NN_id.md``), DamagedFile (no
    front matter, broken YAML: path and line). Fields of a wrong kind are read as empty;
    `publish.validate` names them.
    """
    import yaml

    file = existing_path(path)
    named = FILE_NAME.fullmatch(file.name)
    if not named:
        raise ValueError(f"{file.name} is no lesson name; expected two digits and the lesson's id: "
                         "01_one_hot.md")
    header, _ = split_front_matter(file.read_text(encoding="utf-8"))
    try:
        raw = _mapping(_mapping(yaml.safe_load(header)).get("lesson"))
    except yaml.YAMLError as error:
        line = f", line {error.problem_mark.line + 2}" if getattr(error, "problem_mark",
                                                                  None) else ""
        raise DamagedFile(f"{file.name}{line}: the front matter is not valid YAML: "
                          f"{getattr(error, 'problem', error)}. "
                          "Quote texts that hold a colon") from None
    if not raw:
        raise DamagedFile(f"{file.name} has no front matter with a block `lesson:` between two "
                          "lines `---`")
    lists = {name: _strings(raw.get(name)) for name in ("you_will", "needs", "papers", "uses")}
    tables = {
        "minutes": {
            k: v for k, v in _mapping(raw.get("minutes")).items() if isinstance(v, (int, float))
        }, "terms": _mapping(raw.get("terms"))
    }
    scales = {str(k): _mapping(v) for k, v in _mapping(raw.get("scales")).items()}
    title = str(raw.get("title") or named[2].replace("_", " ").capitalize())
    return LessonCard(id=named[2], number=int(named[1]), path=file, question=str(
        raw.get("question", "")), title=title, scales=scales, raw=raw, **lists, **tables)


@dataclass(frozen=True)
class Course:
    """The places of one course: ``root`` with ``notebooks/``, ``figures/`` and ``README.md``.

    Tests build tiny ones.
    """

    root: Path = PROJECT

    @property
    def notebooks(self) -> Path:
        """Folder of the lesson texts, the notebooks and ``references.bib``."""
        return self.root / "notebooks"

    def cards(self) -> list[LessonCard]:
        """Front matter of every lesson, by number.

        Raises DamagedFile for a lesson whose front matter cannot be read.
        """
        return [read_card(path) for path in sorted(self.notebooks.glob("[0-9][0-9]_*.md"))]

    def ids(self) -> list[str]:
        """Ids of all lessons, by number, without opening them."""
        return [path.stem[3:] for path in sorted(self.notebooks.glob("[0-9][0-9]_*.md"))]

    def card(self, lesson_id: str) -> LessonCard:
        """One lesson's front matter, by id (``one_hot``), number (``1``, ``01``) or both
        (``01_one_hot``).

        Raises DataMissing when the course has no lessons, ValueError for an unknown id (nearest id,
        all ids).
        """
        ids = self.ids()
        if not ids:
            raise DataMissing("no lesson texts (notebooks/NN_id.md) found; the lessons need a "
                              "clone of the course, not its wheel alone")
        return read_card(next(self.notebooks.glob(f"[0-9][0-9]_{self.plain_id(lesson_id)}.md")))

    def plain_id(self, lesson_id: object) -> str:
        """The id alone of a lesson that was named as for `card`.

        Raises ValueError for an unknown one (nearest id, all ids).
        """
        stems = [path.stem for path in sorted(self.notebooks.glob("[0-9][0-9]_*.md"))]
        plain = lesson_id
        if isinstance(plain, str):
            numbered = {str(int(stem[:2])): stem
                        for stem in stems} | {stem[:2]: stem for stem in stems}
            plain = re.sub(r"^\d\d_", "", numbered.get(plain, plain))
        return check_choice("lesson_id", plain, [stem[3:] for stem in stems])


def chosen_scale(scale: str | None) -> str:
    """The argument, else ``LESSONS_SCALE``, else ``laptop``.

    Raises ValueError for an unknown scale (nearest name, all names).
    """
    value = scale if scale is not None else os.environ.get("LESSONS_SCALE") or "laptop"
    return check_choice("scale", value, SCALES)
