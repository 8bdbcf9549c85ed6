"""The strict reader of a lesson's front matter: every field there, of the right kind, and naming
things that exist.

`validate` lists what is wrong, one sentence each, with the remedy. The lenient reader, which opens
lessons, is `lesson.read_card`. Used by ``lessons build``.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..core import nearest_name, shown
from ..lesson.course import SCALES, LessonCard
from .bibliography import Entry

__all__ = ["FIELDS", "validate"]

FIELDS = ("id", "title", "question", "you_will", "needs", "minutes", "papers", "uses", "terms",
          "scales")
OPTIONAL = ("title", "terms", "scales")
LISTS = ("you_will", "needs", "papers", "uses")
PACKAGE = Path(__file__).resolve().parent.parent


def _near(name: str, known: Iterable[str]) -> str:
    near = nearest_name(name, known)
    return f"; did you mean {near!r}?" if near else ""


def _field_problems(card: LessonCard) -> list[str]:
    raw = card.raw
    problems = [f"`{name}` is missing"
                for name in FIELDS if name not in OPTIONAL and name not in raw]
    problems += [f"`{name}` is no field{_near(str(name), FIELDS)}"
                 for name in raw if name not in FIELDS]
    if raw.get("id") not in (None, card.id):
        problems.append(f"`id: {shown(raw['id'])}` differs from the file name {card.path.name}")
    if "question" in raw and not (isinstance(raw["question"], str)
                                  and raw["question"].strip().endswith("?")):
        problems.append(f"`question: {shown(raw['question'])}` is no question; end it with '?'")
    for name in LISTS:
        if name in raw and not (isinstance(raw[name], list)
                                and all(isinstance(v, str) and v.strip() for v in raw[name])):
            problems.append(f"`{name}: {shown(raw[name])}` is no list of texts; write [a, b]")
    if raw.get("you_will") == []:
        problems.append("`you_will` names nothing")
    return problems


def _mapping_problems(card: LessonCard) -> Iterator[str]:
    minutes = card.raw.get("minutes", {"read": 1, "run": 1})
    if not isinstance(minutes, Mapping) or set(minutes) != {"read", "run"} or not all(
            isinstance(v, numbers.Real) and not isinstance(v, bool) and v > 0
            for v in minutes.values()):
        yield f"`minutes: {shown(minutes)}` should be {{read: 40, run: 1}}, both above 0"
    terms = card.raw.get("terms", {})
    if not isinstance(terms, Mapping) or not all(isinstance(k, str) and isinstance(v, str)
                                                 and v.strip() for k, v in terms.items()):
        yield "`terms` should map each term to one sentence: {vocabulary: the list of known words}"


def _scale_problems(card: LessonCard) -> list[str]:
    scales: Any = card.raw.get("scales")
    if scales is None:
        return []
    if not isinstance(scales, Mapping) or set(scales) != set(SCALES) or not all(
            isinstance(v, Mapping) for v in scales.values()):
        return [f"`scales` should have exactly the keys {', '.join(SCALES)}, each with a mapping "
                "of numbers"]
    names = {scale: sorted(values) for scale, values in scales.items()}
    different = [scale for scale in SCALES if names[scale] != names["laptop"]]
    bad = [name for name in names["laptop"] if not (isinstance(name, str) and name.isidentifier())]
    return ([f"`scales.{scale}` has other names than `scales.laptop`: "
             f"{', '.join(map(str, names[scale]))}" for scale in different]
            + [f"`scales`: {shown(name)} is no Python name" for name in bad])


def _reference_problems(card: LessonCard, cards: Iterable[LessonCard],
                        papers: Mapping[str, Entry]) -> list[str]:
    number = {other.id: other.number for other in cards}
    problems = [f"`needs`: {need!r} is no lesson{_near(need, number)}"
                for need in card.needs if need not in number]
    problems += [f"`needs`: {need!r} comes after this lesson"
                 for need in card.needs if number.get(need, -1) >= card.number]
    problems += [f"`papers`: {key!r} is not in references.bib{_near(key, papers)}"
                 for key in card.papers if key not in papers]
    for name in card.uses:
        path = PACKAGE.joinpath(*name.split("."))
        if not (path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()):
            problems.append(f"`uses`: lessons_lib.{name} does not exist")
    return problems


def validate(card: LessonCard, cards: Iterable[LessonCard],
             papers: Mapping[str, Entry]) -> list[str]:
    """What is wrong with a lesson's front matter.

    Parameters
    ----------
    card : LessonCard
    cards : iterable of LessonCard
        All lessons of the course.
    papers : mapping of str to Entry
        The bibliography.

    Returns
    -------
    list of str
        One sentence for each fault.
    """
    return [*_field_problems(card), *_mapping_problems(card), *_scale_problems(card),
            *_reference_problems(card, cards, papers)]
