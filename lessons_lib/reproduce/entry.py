"""One figure or table of a paper, and what it takes to measure it again.

Numbers come as series, name -> {x: value}, on paper and measured alike, so that they can be laid side by side. The verdict is a list of claims,
each true or false of what was measured; a claim that fails is told with its reason, never hidden.
"""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import PROJECT, check_choice, check_seed, device_report, output_folder, write_json
from ..plots import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SCALES", "Claim", "Entry", "Outcome", "Series", "called", "drawn", "folder_of", "run"]

Series = Mapping[str, Mapping[float, float]]              # name -> {x: value}
SCALES = ("smoke", "laptop", "paper")
COURSE, STANDS_IN = "lesson-bert", "LessonBERT"           # the model of laptop scale, and what rows, claims and pictures call it


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and a function that says whether the measured series bear it out."""

    text: str
    holds: Callable[[Series], bool]


@dataclass(frozen=True)
class Entry:
    """A figure or table to measure again.

    Parameters: id, lower-case words joined by _, also the name of its files; paper, a key of ``references.bib``; item, such as "Table 1"; lesson,
    the id of the lesson that discusses it; printed, the paper's numbers (empty for a figure without printed numbers); setup, what differs from the
    paper and why numbers may; measure(scale's settings, seed), gives the series; draw(entry, measured), gives the figure; alt, its words; claims;
    scales, settings by the names "smoke", "laptop", "paper", plain numbers, words, and lists of them; why, the reason where a claim fails at laptop
    scale, as strong as the evidence, "" where none does; headline, name -> (row, x), the numbers to show first, x = inf for the last of a row;
    empty: means of the rows that the paper prints. Raises ValueError when a scale is missing or there is no claim.
    """

    id: str
    paper: str
    item: str
    lesson: str
    setup: str
    measure: Callable[[Mapping[str, Any], int], Series]
    draw: Callable[[Entry, Series], Figure]
    alt: str
    claims: tuple[Claim, ...]
    scales: Mapping[str, Mapping[str, Any]]
    printed: Series
    why: str = ""
    headline: Mapping[str, tuple[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if set(self.scales) != set(SCALES):
            raise ValueError(f"{self.id}: scales has {', '.join(self.scales) or 'none'}; expected settings for {', '.join(SCALES)}")
        if not self.claims:
            raise ValueError(f"{self.id}: claims is empty; expected at least one sentence that can fail")


@dataclass(frozen=True)
class Outcome:
    """What a run found: ``measured`` series, ``verdicts`` (claim -> whether it holds), and the ``files`` written."""

    id: str
    measured: Series
    verdicts: Mapping[str, bool]
    files: tuple[Path, ...]

    @property
    def ok(self) -> bool:
        """Whether every claim holds."""
        return all(self.verdicts.values())


def _as_json(series: Series) -> dict[str, list[list[float | None]]]:
    """Series as lists of [x, value]; an infinite value, which JSON lacks, is null."""
    return {name: [[float(x), float(y) if math.isfinite(y) else None] for x, y in points.items()] for name, points in series.items()}


def called(text: str, settings: Mapping[str, Any]) -> str:
    """A text about LessonBERT with the name of the model that was read instead, where settings name another ``encoder``."""
    encoder = str(settings.get("encoder", COURSE))
    return text if encoder == COURSE else text.replace(STANDS_IN, os.path.basename(os.path.normpath(encoder)))


def folder_of(entry: Entry, scale: str, settings: Mapping[str, Any] | None = None) -> Path:
    """Where a run writes when nobody says: the course's ``figures`` for the laptop's own settings, else a folder of the user's output."""
    own = scale == "laptop" and (settings is None or dict(settings) == dict(entry.scales[scale]))
    return PROJECT / "figures" if own else output_folder() / "reproduced" / scale


def drawn(entry: Entry, measured: Series, settings: Mapping[str, Any], folder: Path) -> Path:
    """Draw what was measured and save it as ``<id>.svg`` or .png; texts that name LessonBERT name the model that was read. Returns the path."""
    from matplotlib.text import Text

    fig = entry.draw(entry, measured)
    for text in fig.findobj(Text):
        text.set_text(called(text.get_text(), settings))
    picture = save(fig, folder / f"{entry.id}.svg", alt=called(entry.alt, settings))
    picture.with_suffix({".svg": ".png", ".png": ".svg"}[picture.suffix]).unlink(missing_ok=True)         # of an earlier run with more marks, or less
    return picture


def run(entry: Entry, *, scale: str = "laptop", seed: int = 0, folder: Path | None = None, settings: Mapping[str, Any] | None = None) -> Outcome:
    """Measure an entry and write ``<id>.svg`` (or .png) and ``<id>.json``: series, printed numbers, verdicts, scale, seed, device, versions, date.

    Parameters: entry; scale, "smoke", "laptop" or "paper"; seed; folder, None for that of `folder_of`; settings, instead of the scale's own. Each
    file appears whole or not at all. Raises ValueError for another scale or a wrong seed, DataMissing where the entry's data is not here, OSError.
    """
    check_choice("scale", scale, SCALES)
    seed = check_seed(seed)
    settings = dict(entry.scales[scale] if settings is None else settings)
    folder = folder_of(entry, scale, settings) if folder is None else Path(folder)
    folder.mkdir(parents=True, exist_ok=True)                                             # a folder that cannot be is said before hours of measuring
    measured = entry.measure(settings, seed)
    verdicts = {claim.text: bool(claim.holds(measured)) for claim in entry.claims}
    numbers = folder / f"{entry.id}.json"
    write_json(numbers, {"id": entry.id, "paper": entry.paper, "item": entry.item, "lesson": entry.lesson, "setup": entry.setup,
                         "printed": _as_json(entry.printed), "measured": _as_json(measured), "claims": verdicts, "scale": scale,
                         "settings": settings, "seed": seed, "device": asdict(device_report()),
                         "date": datetime.date.today().isoformat()})
    return Outcome(entry.id, measured, verdicts, (drawn(entry, measured, settings, folder), numbers))   # no picture is worth hours of measuring
