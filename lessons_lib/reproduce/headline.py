"""The few numbers by which an entry is told in a line: means of the rows that the paper prints, beside the same rows as they were measured.

Used by the table at the end of ``lessons reproduce`` and by the gallery of ``figures/``.
"""

from __future__ import annotations

import math

import numpy as np

from .bert import CONTROL
from .entry import Entry, Series, called
from .recorded import Record
from .trained import SD

__all__ = ["headline"]

SHOWN = 3                                         # rows


def headline(entry: Entry, record: Record) -> tuple[str, str]:
    """Printed and measured numbers in short: "" for the paper where it prints none.

    A row's number is its mean over the places that paper and record both have, or over its own where the paper prints none; an entry may choose its
    numbers itself.
    """
    if entry.headline:
        pairs = [(_at(record.printed, row, x), _at(record.measured, row, x), name) for name, (row, x) in entry.headline.items()]
    else:
        both = [row for row in entry.printed if set(entry.printed[row]) & set(record.measured.get(row, ()))]
        own = [] if both else [row for row in record.measured if not row.endswith((CONTROL, SD))]
        pairs = [(*_means(record.printed[row], record.measured[row]), row) for row in both[:SHOWN]]
        pairs += [(None, float(np.mean(list(record.measured[row].values()))), row) for row in own[:SHOWN]]
    columns = zip(*((_short(printed, row), _short(measured, row)) for printed, measured, row in pairs), strict=True) if pairs else ((), ())
    printed, measured = ("; ".join(filter(None, column)) for column in columns)
    return called(printed, record.settings), called(measured, record.settings)


def _at(series: Series, row: str, x: float) -> float | None:
    points = series.get(row, {})
    return points.get(max(points, default=x) if x == math.inf else x)


def _means(printed: Series, measured: Series) -> tuple[float, float]:
    places = sorted(set(printed) & set(measured))
    return tuple(float(np.mean([row[x] for x in places])) for row in (printed, measured))


def _short(value: float | None, row: str) -> str:
    if value is None:
        return ""
    value = 0.0 if abs(value) < 0.005 else value                             # no -0.00
    form = ".3g" if abs(value) >= 1e6 else ",.0f" if abs(value) >= 1000 else ".1f" if abs(value) >= 10 else ".2f"
    return f"{row}: {'∞' if math.isinf(value) else format(value, form)}"
