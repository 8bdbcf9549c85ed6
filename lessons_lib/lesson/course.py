"""The list of lessons, read from the front matter of ``notebooks/NN_id.md``, its one place.

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
    """The YAML between the first two lines ``---``, "" where there is none, and the rest."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    header = FRONT_MATTER.match(text)
    return (header[1], text[header.end() :]) if header else ("", text)


@dataclass(frozen=True)
class LessonCard:
    """One lesson's front matter, with the number and path of its file.

    Parameters
    ----------
    id : str
    number : int
    path : pathlib.Path
    question, title : str, default ""
    you_will, needs, papers, uses : tuple of str, default ()
    minutes : mapping of str to float, optional
    terms : mapping of str to str, optional
        Glossary terms that the lesson defines, with their definitions.
    scales : mapping of str to mapping, optional
        Numbers by name, for each scale.
    raw : mapping, optional
        All of the front matter, as it was read.
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
        """Give the numbers of one scale: ``settings("laptop").n_documents``.

        Parameters
        ----------
        scale : str

        Returns
        -------
        object
            A frozen dataclass; empty when the lesson declares no numbers.
        """
        values = {name: tuple(value) if isinstance(value, list) else value
                  for name, value in self.scales.get(scale, {}).items()}
        fields = [(name, type(value)) for name, value in values.items()]
        return dataclasses.make_dataclass("Settings", fields, frozen=True)(**values)


def _mapping(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def read_card(path: str | os.PathLike) -> LessonCard:
    """Read the front matter of one lesson text.

    Parameters
    ----------
    path : str or path
        ``NN_id.md``.

    Returns
    -------
    LessonCard
        Fields of a wrong kind are empty; `publish.validate` names them.

    Raises
    ------
    FileNotFoundError
    ValueError
        For another file name.
    DamagedFile
        For no front matter, or broken YAML (path and line).
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
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 2}" if mark else ""
        raise DamagedFile(f"{file.name}{line}: the front matter is not valid YAML: "
                          f"{getattr(error, 'problem', error)}. Quote texts that hold a colon"
                          ) from None
    if not raw:
        raise DamagedFile(f"{file.name} has no front matter with a block `lesson:` between two "
                          "lines `---`")
    lists = {name: tuple(map(str, raw[name])) if isinstance(raw.get(name), list) else ()
             for name in ("you_will", "needs", "papers", "uses")}
    return LessonCard(
        id=named[2], number=int(named[1]), path=file, question=str(raw.get("question", "")),
        title=str(raw.get("title") or named[2].replace("_", " ").capitalize()),
        minutes={name: value for name, value in _mapping(raw.get("minutes")).items()
                 if isinstance(value, (int, float))},
        terms=_mapping(raw.get("terms")), raw=raw,
        scales={str(name): _mapping(numbers)
                for name, numbers in _mapping(raw.get("scales")).items()}, **lists)


@dataclass(frozen=True)
class Course:
    """The places of one course; tests build tiny ones.

    Parameters
    ----------
    root : pathlib.Path, default the project
        With ``notebooks/``, ``figures/`` and ``README.md``.
    """

    root: Path = PROJECT

    @property
    def notebooks(self) -> Path:
        """Folder of the lesson texts, the notebooks and ``references.bib``."""
        return self.root / "notebooks"

    def cards(self) -> list[LessonCard]:
        """Read the front matter of every lesson.

        Returns
        -------
        list of LessonCard
            By number.

        Raises
        ------
        DamagedFile
            For front matter that cannot be read.
        """
        return [read_card(path) for path in sorted(self.notebooks.glob("[0-9][0-9]_*.md"))]

    def ids(self) -> list[str]:
        """List the ids of all lessons without opening them.

        Returns
        -------
        list of str
            By number.
        """
        return [path.stem[3:] for path in sorted(self.notebooks.glob("[0-9][0-9]_*.md"))]

    def card(self, lesson_id: str) -> LessonCard:
        """Read the front matter of one lesson.

        Parameters
        ----------
        lesson_id : str
            Id (``one_hot``), number (``1``, ``01``) or both (``01_one_hot``).

        Returns
        -------
        LessonCard

        Raises
        ------
        DataMissing
            When the course has no lessons.
        ValueError
            For an unknown id (nearest id, all ids).
        """
        if not self.ids():
            raise DataMissing("no lesson texts (notebooks/NN_id.md) found; the lessons need a "
                              "clone of the course, not its wheel alone")
        return read_card(next(self.notebooks.glob(f"[0-9][0-9]_{self.plain_id(lesson_id)}.md")))

    def plain_id(self, lesson_id: object) -> str:
        """Give the id alone of a lesson.

        Parameters
        ----------
        lesson_id : str
            As for `card`.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            For an unknown lesson (nearest id, all ids).
        """
        stems = [path.stem for path in sorted(self.notebooks.glob("[0-9][0-9]_*.md"))]
        plain = lesson_id
        if isinstance(plain, str):
            numbered = {number: stem for stem in stems for number in (str(int(stem[:2])), stem[:2])}
            plain = re.sub(r"^\d\d_", "", numbered.get(plain, plain))
        return check_choice("lesson_id", plain, [stem[3:] for stem in stems])


def chosen_scale(scale: str | None) -> str:
    """The argument, else ``LESSONS_SCALE``, else "laptop"; ValueError for an unknown one."""
    value = scale if scale is not None else os.environ.get("LESSONS_SCALE") or "laptop"
    return check_choice("scale", value, SCALES)
