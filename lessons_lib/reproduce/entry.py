"""One figure or table of a paper, and what it takes to measure it again.

Numbers come as series, row -> {x: value}, printed and measured alike. What is said of an entry, and
what its paper prints and claims, stands in ``entries.toml``; how it is measured and drawn, in the
module of its method. A claim that fails is told with its reason, never hidden; one that a random
initialisation bears out as well is told as that.
"""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import PROJECT, output_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BAG", "CONTROL", "CONTROLS", "COURSE", "OTHER_CONTROL", "SCALES", "SD", "Claim", "Draw",
           "Entry", "Holds", "Measure", "Rows", "Series", "averages", "called", "declared",
           "folder_of", "judged"]

Series = Mapping[str, Mapping[float, float]]
Rows = dict[str, dict[float, float]]
Measure = Callable[[Mapping[str, Any], int], Series]  # of the settings of a scale, and the seed
Draw = Callable[["Entry", Series], "Figure"]
Holds = Callable[[Series], bool]
SCALES = ("smoke", "laptop", "paper")
COURSE = "lesson-bert"  # the model of laptop scale
BAG = "bag"  # the other: a bag of words that learns, which converges in seconds
STANDS_IN = "LessonBERT"  # what rows, claims and pictures call the first
CONTROL = ", untrained"  # after the name of a row: the same of a random initialisation
OTHER_CONTROL = ", control"  # the same of another control, which the record describes
CONTROLS = (CONTROL, OTHER_CONTROL)
SD = ", sd"  # ends the name of a row of standard deviations
# what a claim can be, in words, and what stands for it in a record
HOLDS, FAILS = "holds", "fails"
CONTROL_TOO = "holds, and for the control too"
NO_CONTROL = "holds, but a row of it has no control"
STORED = {HOLDS: True, FAILS: False, CONTROL_TOO: "control too", NO_CONTROL: "no control"}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether measured series bear it out.

    Parameters
    ----------
    text : str
    holds : function (series) -> bool
    """

    text: str
    holds: Holds


@dataclass(frozen=True)
class Entry:
    """A figure or table to measure again.

    Parameters
    ----------
    id : str, lower-case words joined by _, also the name of its files
    paper : str, a key of ``references.bib``
    item : str, such as "Table 1"
    lesson : str, id of the lesson that discusses it
    setup : str, what differs from the paper
    measure : function (settings of the scale, seed) -> series
    draw : function (entry, measured) -> figure
    alt : str, the figure in words
    claims : tuple of Claim, at least one
    scales : dict of "smoke", "laptop" and "paper" to settings: numbers, words, lists of them
    printed : series, the paper's numbers; empty where it draws curves only
    why : str, default "", the reason where a claim fails at laptop scale, "" where none does
    headline : dict of name to (row, x), default {}
        The numbers to show first, x = inf for the last of a row. Empty: means of printed rows.

    Raises
    ------
    ValueError : when a scale is missing or there is no claim
    """

    id: str
    paper: str
    item: str
    lesson: str
    setup: str
    measure: Measure
    draw: Draw
    alt: str
    claims: tuple[Claim, ...]
    scales: Mapping[str, Mapping[str, Any]]
    printed: Series
    why: str = ""
    headline: Mapping[str, tuple[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if set(self.scales) != set(SCALES):
            has = ", ".join(self.scales) or "none"
            raise ValueError(
                f"{self.id}: scales has {has}; expected settings for {', '.join(SCALES)}")
        if not self.claims:
            raise ValueError(f"{self.id}: claims is empty; expected a sentence that can fail")


@functools.lru_cache(maxsize=1)
def _declarations() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "entries.toml").read_text("utf-8"))


def _places(row: Any, at: Any) -> dict[float, float]:
    """A printed row: a table {place: number}, or one or many numbers at the places ``at``."""
    if not isinstance(row, Mapping):
        values = row if isinstance(row, list) else [row]
        places = range(len(values)) if at is None else at if isinstance(at, list) else [at]
        return dict(zip(places[:len(values)], values, strict=True))
    numbers = {float(place): value for place, value in row.items()}
    return {int(x) if x == int(x) else x: value for x, value in numbers.items()}


def _compared(row: str, at: float | None = None, than: float | None = None, by: float = 0,
              above: str | float | None = None, below: str | float | None = None) -> Holds:
    """A claim that is declared: whether a row is above or below another, a number, or itself."""
    other = next((name for name in (above, below) if name is not None), row)

    def value(m: Series, name: str | float, x: float | None) -> float:
        if not isinstance(name, str):
            return name
        both = {key: m[key] for key in (row, other) if isinstance(key, str)}
        return averages(both)[name] if x is None else m[name][x]

    def holds(m: Series) -> bool:
        own, level = value(m, row, at), value(m, other, at if than is None else than)
        return own > level + by if below is None else own < level - by
    return holds


def declared(id: str, measure: Measure, draw: Draw, scales: Mapping[str, Mapping[str, Any]],
             **holds: Holds) -> Entry:
    """The entry with this id in ``entries.toml``; ``holds``, what its claims name as functions."""
    said = _declarations()[id]
    named = {rule for _, rule in said["claims"] if isinstance(rule, str)}
    if named != set(holds):
        raise ValueError(f"{id}: claims name {sorted(named)}, its module gives {sorted(holds)}")
    texts = {name: said[name] for name in ("paper", "item", "lesson", "alt")}
    begins = "".join(_declarations()["begins"][name] for name in said.get("begins", ()))
    claims = [Claim(text, holds[rule] if isinstance(rule, str) else _compared(**rule))
              for text, rule in said["claims"]]
    printed = {row: _places(values, said.get("at"))
               for row, values in said.get("printed", {}).items()}
    told = {name: (row, x) for name, (row, x) in said.get("headline", {}).items()}
    return Entry(id, **texts, setup=begins + said.get("setup", ""), measure=measure, draw=draw,
                 claims=tuple(claims), scales=scales, printed=printed, why=said.get("why", ""),
                 headline=told)


class _Controls(Mapping[str, Mapping[float, float]]):
    """Series as a claim sees them of controls: each row is its control."""

    def __init__(self, series: Series) -> None:
        self.series = series

    def _name(self, row: str) -> str:
        own = row.removesuffix(SD)
        names = [own + control + row[len(own):] for control in CONTROLS]
        return names[names[1] in self.series]

    def __getitem__(self, row: str) -> Mapping[float, float]:
        return self.series[self._name(row)]

    def __contains__(self, row: object) -> bool:
        return row in self.series  # a row that is there without a control is missed when it is read

    def __iter__(self) -> Iterator[str]:
        own = (row for row in self.series if not row.removesuffix(SD).endswith(CONTROLS))
        return (row for row in own if self._name(row) in self.series)

    def __len__(self) -> int:
        return len(list(iter(self)))


def judged(claims: Iterable[Claim], measured: Series) -> dict[str, str]:
    """What each claim is of measured series, in words. It "holds" where its control refutes it, or
    where no row has a control; a claim about a row without one cannot be tested by it."""
    controls = _Controls(measured)
    result = {}
    for claim in claims:
        verdict = HOLDS if claim.holds(measured) else FAILS
        if verdict == HOLDS and len(controls):
            try:
                verdict = CONTROL_TOO if claim.holds(controls) else HOLDS
            except (LookupError, ValueError, TypeError):
                verdict = NO_CONTROL
        result[claim.text] = verdict
    return result


def averages(series: Series) -> dict[str, float]:
    """The mean of every row over the places that all rows have."""
    common = sorted(set.intersection(*map(set, series.values())))
    return {name: float(np.mean([row[x] for x in common])) for name, row in series.items()}


def called(text: str, settings: Mapping[str, Any]) -> str:
    """A text about LessonBERT with the name of the model that ``encoder`` names instead, if any."""
    encoder = str(settings.get("encoder", COURSE))
    name = os.path.basename(os.path.normpath(encoder))
    return text if encoder in (COURSE, BAG) else text.replace(STANDS_IN, name)


def folder_of(entry: Entry, scale: str, settings: Mapping[str, Any] | None = None) -> Path:
    """Where a run writes by itself: ``figures`` for the laptop's own settings, else the output."""
    own = settings is None or dict(settings) == dict(entry.scales[scale])
    if scale == "laptop" and own:
        return PROJECT / "figures"
    return output_folder() / "reproduced" / scale
