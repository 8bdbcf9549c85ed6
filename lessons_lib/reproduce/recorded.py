"""Which entries there are, and what each found when it was last run for the course.

Only what ``lessons reproduce`` wrote is read, with the date and the machine it names. Used by the
tables *paper vs measured* of the lessons, which cannot wait for a long training.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core import PROJECT, DamagedFile, DataMissing, check_choice, checked_path
from . import anisotropy, bert, cosent, cranfield, doc2vec, flow, later_papers
from . import one_network, outlook, rounding, sbert, sif, simcse, single_vectors, topics
from . import word_vectors, zipfian
from .entry import (
    CONTROL_TOO, CONTROLS, FAILS, HOLDS, SD, STORED, Entry, Series, averages, called)

__all__ = ["Record", "entries", "headline", "read_record", "recorded"]

# a new module of entries adds its name here, in the order of the lessons
MODULES = (topics, word_vectors, sif, doc2vec, bert, anisotropy, later_papers, sbert, rounding,
           flow, zipfian, cosent, simcse, one_network, outlook, single_vectors, cranfield)
SHOWN = 3  # rows of a headline


def entries() -> dict[str, Entry]:
    """Every figure and table that can be measured again, in the order of the lessons.

    Returns
    -------
    dict of id to Entry

    Raises
    ------
    ValueError : when two entries have one id
    """
    known: dict[str, Entry] = {}
    for entry in (entry for module in MODULES for entry in module.ENTRIES):
        if entry.id in known:
            raise ValueError(f"id={entry.id!r} belongs to two entries; expected one each")
        known[entry.id] = entry
    return known


@dataclass(frozen=True)
class Record:
    """What a run of an entry found.

    Parameters
    ----------
    id : str
    printed, measured : series
        Row -> {x: value}.
    claims : dict of sentence to bool
        Whether each holds, whatever its control says.
    scale, date, setup, item : str
    settings : dict
    seed : int, default 0
    picture : Path or None
        The picture beside the record, None where there is none.
    verdicts : dict of sentence to str, default {}
        "holds", "fails", "holds, and for the control too", or "holds, but a row of it has no
        control". Those of a record without them are ``claims`` in words.
    """

    id: str
    printed: Series
    measured: Series
    claims: dict[str, bool]
    scale: str
    date: str
    setup: str
    item: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    picture: Path | None = None
    verdicts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        words = {text: HOLDS if held else FAILS for text, held in self.claims.items()}
        object.__setattr__(self, "verdicts", words | self.verdicts)

    @property
    def failed(self) -> list[str]:
        """The claims that do not hold."""
        return [text for text, held in self.claims.items() if not held]

    @property
    def control_too(self) -> list[str]:
        """The claims that hold for the control as well, so that they show nothing of training."""
        return [text for text, verdict in self.verdicts.items() if verdict == CONTROL_TOO]

    @property
    def verdict(self) -> str:
        """How many claims hold, hold for the control too, and fail, in words."""
        n, too, failed = len(self.claims), len(self.control_too), len(self.failed)
        if not too:
            return f"{n - failed} of {n} hold" if failed else f"holds ({n})"
        counts = [(n - too - failed, "holds", "hold"), (too, *2 * ["for the control too"]),
                  (failed, "fails", "fail")]
        said = [f"{k} {one if k == 1 else many}" for k, one, many in counts if k]
        return f"of {n}: " + ", ".join(said)

    def misfit(self, entry: Entry, *, scale: str | None = None,
               settings: Mapping[str, Any] | None = None, seed: int | None = None) -> str:
        """What tells this record from one of today's entry.

        Parameters
        ----------
        entry : Entry
        scale : str, default that of the record
        settings : dict, default those of the scale
        seed : int, default any

        Returns
        -------
        str
            The names of what differs, "" where nothing does.
        """
        scale = scale or self.scale
        settings = entry.scales[scale] if settings is None else settings
        pairs = {
            "scale": (self.scale, scale),
            # as a file gives them back: lists for tuples
            "settings": (self.settings, json.loads(json.dumps(dict(settings)))),
            "item": (self.item, entry.item),
            "printed numbers": (self.printed, {k: dict(row) for k, row in entry.printed.items()}),
            "claims": (set(self.claims), {claim.text for claim in entry.claims}),
            "seed": (self.seed, self.seed if seed is None else seed),
        }
        return ", ".join(name for name, (has, wanted) in pairs.items() if has != wanted)


def _series(stored: dict[str, list]) -> Series:
    """Series from lists of [x, value], where null is an infinite value."""
    return {name: {int(x) if x == int(x) else x: math.inf if y is None else y for x, y in points}
            for name, points in stored.items()}


def read_record(file: Path) -> Record:
    """The record in a file. Raises DamagedFile, OSError."""
    try:
        raw = json.loads(file.read_text("utf-8"))
        words = {value: word for word, value in STORED.items()}
        pictures = [file.with_suffix(ending) for ending in (".svg", ".png")]
        return Record(
            **{name: raw[name] for name in ("id", "scale", "date", "setup", "item", "seed")},
            **{name: _series(raw[name]) for name in ("printed", "measured")},
            claims={text: value is not False for text, value in raw["claims"].items()},
            verdicts={text: words[value] for text, value in raw["claims"].items()},
            settings=dict(raw["settings"]),
            picture=next(filter(Path.is_file, pictures), None))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{file} is no record of this version ({error!r:.80}): "
                          f"run lessons reproduce {file.stem}") from error


def recorded(id: str, *, folder: Path | None = None) -> Record:
    """The last record of an entry.

    Parameters
    ----------
    id : str
        Of an entry.
    folder : Path, default the course's ``figures``

    Returns
    -------
    Record

    Raises
    ------
    ValueError : an unknown id, with the nearest
    DataMissing : an entry that was never run, with the command
    DamagedFile
    """
    check_choice("id", id, list(entries()))
    place = PROJECT / "figures" if folder is None else checked_path(folder, "folder")
    file = place / f"{id}.json"
    if not file.is_file():
        raise DataMissing(f"{id} has no record {file.name}: run lessons reproduce {id}")
    return read_record(file)


def headline(entry: Entry, record: Record) -> tuple[str, str]:
    """Printed and measured numbers in short.

    Parameters
    ----------
    entry : Entry
    record : Record

    Returns
    -------
    printed, measured : str
        The numbers that the entry chose, or of three rows the mean over the places that paper and
        record both have; of the record's own rows where the paper prints none.
    """
    told: list[tuple[float | None, float | None, str]] = []
    if entry.headline:
        for name, (row, x) in entry.headline.items():
            told.append((_at(record.printed, row, x), _at(record.measured, row, x), name))
    else:
        for row in entry.printed:
            pair = {"printed": record.printed[row], "measured": record.measured.get(row, {})}
            if set.intersection(*map(set, pair.values())):
                told.append((*averages(pair).values(), row))
        if not told:
            own = [row for row in record.measured if not row.endswith((*CONTROLS, SD))]
            told = [(None, averages({row: record.measured[row]})[row], row) for row in own]
        told = told[:SHOWN]
    columns = [[_short(pair[k], pair[2]) for pair in told] for k in (0, 1)]
    printed, measured = ("; ".join(filter(None, column)) for column in columns)
    return called(printed, record.settings), called(measured, record.settings)


def _at(series: Series, row: str, x: float) -> float | None:
    points = series.get(row, {})
    return points.get(max(points, default=x) if x == math.inf else x)


def _short(value: float | None, row: str) -> str:
    if value is None:
        return ""
    value = 0.0 if abs(value) < 0.005 else value  # no -0.00
    size = abs(value)
    form = ".3g" if size >= 1e6 else ",.0f" if size >= 1000 else ".1f" if size >= 10 else ".2f"
    return f"{row}: {'∞' if math.isinf(value) else format(value, form)}"
