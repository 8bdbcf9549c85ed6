"""What an entry found when it was last run for the course: the numbers beside its picture, for lessons that cannot wait for a long training.

Only what ``lessons reproduce`` wrote is read, with the date and the machine it names. Used by the tables *paper vs measured*.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core import PROJECT, DamagedFile, DataMissing, check_choice
from .entry import Entry, Series
from .settings import plain

__all__ = ["Record", "read_record", "recorded"]


@dataclass(frozen=True)
class Record:
    """``printed`` and ``measured`` series, ``claims`` (sentence -> whether it held), the ``scale``, ``date`` and ``setup`` of the run, its ``item``,
    ``settings`` and ``seed``, and the ``picture`` beside it, None where there is none."""

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

    @property
    def failed(self) -> list[str]:
        """The claims that do not hold."""
        return [text for text, held in self.claims.items() if not held]

    @property
    def verdict(self) -> str:
        """How many claims hold, in words."""
        return f"holds ({len(self.claims)})" if not self.failed else f"{len(self.claims) - len(self.failed)} of {len(self.claims)} hold"

    def misfit(self, entry: Entry, *, scale: str | None = None, settings: Mapping[str, Any] | None = None, seed: int | None = None) -> str:
        """What tells this record from one of today's entry, "" where nothing does.

        Parameters: entry; scale, None: that of the record; settings, None: those of the scale; seed, None: any.
        """
        wanted = {"scale": scale or self.scale, "settings": plain(entry.scales[scale or self.scale] if settings is None else settings),
                  "item": entry.item, "printed numbers": {name: dict(points) for name, points in entry.printed.items()},
                  "claims": {claim.text for claim in entry.claims}, "seed": self.seed if seed is None else seed}
        has = {"scale": self.scale, "settings": self.settings, "item": self.item, "printed numbers": self.printed, "claims": set(self.claims),
               "seed": self.seed}
        return ", ".join(name for name in wanted if wanted[name] != has[name])


def _series(stored: dict[str, list]) -> Series:
    return {name: {int(x) if x == int(x) else x: math.inf if y is None else y for x, y in points} for name, points in stored.items()}


def read_record(file: Path) -> Record:
    """The record in a file. Raises DamagedFile, OSError."""
    try:
        raw = json.loads(file.read_text("utf-8"))
        pictures = [file.with_suffix(ending) for ending in (".svg", ".png") if file.with_suffix(ending).is_file()]
        return Record(raw["id"], _series(raw["printed"]), _series(raw["measured"]), dict(raw["claims"]), raw["scale"], raw["date"], raw["setup"],
                      raw["item"], dict(raw["settings"]), raw["seed"], pictures[0] if pictures else None)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{file} is no record of this version ({error!r:.80}): run lessons reproduce {file.stem}") from error


def recorded(id: str, *, folder: Path | None = None) -> Record:
    """The last record of an entry.

    Parameters: id, of an entry; folder, None for the course's ``figures``. Raises ValueError for an unknown id (nearest), DataMissing for an entry
    that was never run (with the command), DamagedFile.
    """
    from .registry import entries

    check_choice("id", id, list(entries()))
    file = (PROJECT / "figures" if folder is None else Path(folder)) / f"{id}.json"
    if not file.is_file():
        raise DataMissing(f"{id} has no record {file.name}: run lessons reproduce {id}")
    return read_record(file)
