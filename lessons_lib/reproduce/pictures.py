"""Pictures that many entries share: tables of printed and measured rows, curves, dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..plots import score_curves, similarity_matrix
from .entry import Draw, Entry, Rows, Series
from .models import CONTROL
from .trained import SD, SETS

__all__ = ["curves_of", "paired_table", "row_table", "score_lines", "set_table", "stacked"]


def curves_of(series: Series) -> dict[str, tuple[list[float], list[float]]]:
    """Rows as curves: their places and their values."""
    return {name: (list(row), list(row.values())) for name, row in series.items()}


def stacked(entry: Entry, measured: Series) -> Rows:
    """Printed rows above measured ones, without spreads; names say whose they are."""
    rows = {f"paper: {name}": dict(row) for name, row in entry.printed.items()}
    shown = {name: row for name, row in measured.items() if not name.endswith(SD)}
    return rows | {f"here: {name}": dict(row) for name, row in shown.items()}


def row_table(rows: Series, title: str, names: Mapping[int, str] | Sequence[str] = SETS, *,
              mean: bool = True, gaps: bool = False) -> Any:
    """Rows above each other at the places that all have, with their mean in a last column.
    ``names`` of the places; with ``gaps`` all places, a missing number is an empty cell, no mean.
    """
    join = set.union if gaps else set.intersection
    places = sorted(join(*(set(row) for row in rows.values())))
    values = np.array([[row.get(x, np.nan) for x in places] for row in rows.values()])
    columns = [names[int(x)] for x in places]
    if mean and not gaps and len(places) > 1:
        means = [np.mean([row[x] for x in places]) for row in rows.values()]
        values, columns = np.column_stack([values, means]), [*columns, "mean"]
    empty = np.isnan(values)
    filled = np.where(empty, np.nanmin(values), values)
    fig = similarity_matrix(
        filled, list(rows), columns=columns, limits=None, form="{:.1f}", title=title)
    if empty.any():
        ax = fig.axes[0]
        ax.images[0].set_data(np.ma.masked_invalid(values))
        for text in list(ax.texts):
            column, row = (int(k) for k in text.xy)
            if empty[row, column]:
                text.set_text("")
    return fig


def set_table(title: str, rows: Sequence[str] = (), controls: Sequence[str] = ()) -> Draw:
    """A table of printed rows, the same rows here, and some untrained ones; no names: all."""
    def draw(entry: Entry, measured: Series) -> Any:
        if not rows:
            return row_table(stacked(entry, measured), title)
        shown = {f"paper: {name}": entry.printed[name] for name in rows if name in entry.printed}
        shown |= {f"here: {name}": measured[name] for name in rows if name in measured}
        untrained = [name for name in controls if name + CONTROL in measured]
        shown |= {f"untrained: {name}": measured[name + CONTROL] for name in untrained}
        return row_table(shown, title)
    return draw


def paired_table(title: str, columns: Sequence[str], printed: Series, measured: Series, *,
                 rows: Sequence[str], whose: tuple[str, str] = ("paper", "here"),
                 **options: Any) -> Any:
    """Every place twice, as it was printed and as it is here; options of `similarity_matrix`."""
    pairs = [[(printed[name][k], measured[name][k]) for k in range(len(columns))] for name in rows]
    return similarity_matrix(np.array(pairs).reshape(len(rows), -1), list(rows),
                             columns=[f"{name}, {who}" for name in columns for who in whose],
                             title=title, **options)


def score_lines(title: str, xlabel: str, ylabel: str, series: Series, **options: Any) -> Any:
    """One line for each row; options of `score_curves`."""
    return score_curves(curves_of(series), title=title, xlabel=xlabel, ylabel=ylabel, **options)
