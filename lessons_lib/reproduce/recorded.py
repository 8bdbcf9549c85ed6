"""What an entry found when it was last run for the course: the numbers beside its picture, for lessons that cannot wait for a long training.

Only what ``lessons reproduce`` wrote is read, with the date and the machine it names. Used by the tables *paper vs measured*.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from ..core import PROJECT, DamagedFile, DataMissing, check_choice
from .entry import Series

__all__ = ["Record", "recorded"]


@dataclass(frozen=True)
class Record:
    """``printed`` and ``measured`` series, ``claims`` (sentence -> whether it held), and the ``scale``, ``date`` and ``setup`` of the run."""

    id: str
    printed: Series
    measured: Series
    claims: dict[str, bool]
    scale: str
    date: str
    setup: str


def _series(stored: dict[str, list]) -> Series:
    return {name: {x: math.inf if y is None else y for x, y in points} for name, points in stored.items()}


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
    try:
        raw = json.loads(file.read_text("utf-8"))
        return Record(raw["id"], _series(raw["printed"]), _series(raw["measured"]), dict(raw["claims"]), raw["scale"], raw["date"], raw["setup"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{file} is no record of this version ({error!r:.80}): run lessons reproduce {id}") from error
