"""What was asked for, and the rows of a table that answer it: one split, and one value of each filter.

A value that does not occur is answered with those that do. A split that is known but not in this table is missing data, not a mistake:
the error names the splits that are here. Used by every loader of this room; datasets are introduced in lesson 00.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import DataMissing
from .registry import Dataset
from .tables import Table, read_table

__all__ = ["Request", "chosen_rows"]


@dataclass(frozen=True)
class Request:
    """One call of ``load`` after its arguments were checked and its files found; ``chosen`` is a value by column."""

    dataset: Dataset
    paths: tuple[Path, ...]
    split: str
    chosen: dict[str, str]


def chosen_rows(request: Request, path: Path, columns: Sequence[str], *, filters: Sequence[str] | None = None) -> Table:
    """Read one table and keep the rows that were asked for.

    Parameters: request; path; columns that must be there; filters, the columns to filter by where not all that were chosen.
    Raises as `read_table`; ValueError for a value that does not occur; DataMissing for a split without a row.
    """
    by_split = request.dataset.in_column and request.split != "all"
    names = list(request.chosen) if filters is None else list(filters)
    table = read_table(path, [*columns, *names, *(["split"] if by_split else [])])
    for name in names:
        table = table.where(name, request.chosen[name])
    if not by_split:
        return table
    present = sorted(set(table["split"]))
    if request.split not in present:
        where = "".join(f", {name}={request.chosen[name]!r}" for name in names)
        raise DataMissing(f"{request.dataset.name}{where} has no rows with split={request.split!r} in {path}; splits that are there: "
                          f"{', '.join(map(repr, dict.fromkeys([*present, 'all'])))}")
    return table.where("split", request.split)
