"""Pictures that many entries share: tables of printed and measured rows, curves, dots.

Where a paper prints numbers, they stand in the same picture as ours, grey, with their source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..plots import ENCODERS, score_curves, similarity_matrix
from ..plots.labels import heading, name_rows, new_figure, x_ticks
from ..plots.primitives import grid
from ..plots.style import BLUE, GREY, LINE_COLOURS, MARKERS, plain, styled
from .entry import CONTROL, CONTROLS, SD, Draw, Entry, Rows, Series, averages
from .trained import SETS

__all__ = ["HIGH", "LOW", "Dots", "beside_paper", "curves_of", "dots_of", "gains", "interval_dots",
           "line_panels", "mean_dots", "paired_table", "row_table", "score_lines", "set_dots",
           "set_table", "signed", "stacked"]

LOW, HIGH = ", low", ", high"  # end the names of rows of the ends of intervals
LEGEND_CHARS = 66  # of names of marks that stand in one line below a picture
# of a row: what the paper prints, and here mean and standard deviation of ours and of its control
Dots = tuple[float | None, tuple[float, float] | None, tuple[float, float] | None]


def dots_of(entry: Entry, measured: Series, row: str, x: float) -> Dots:
    """The numbers of a row at a place, as far as they are there."""
    def own(name: str) -> tuple[float, float] | None:
        points = measured.get(name, {})
        return (points[x], measured.get(name + SD, {}).get(x, 0.0)) if x in points else None
    return entry.printed.get(row, {}).get(x), own(row), own(row + CONTROL)


def mean_dots(entry: Entry, measured: Series, row: str) -> Dots:
    """The means of a row over the sets that paper and record have, without spreads."""
    paper, own = entry.printed.get(row, {}), measured.get(row, {})
    both = {name: points for name, points in (
        ("paper", paper), ("own", own), ("control", measured.get(row + CONTROL, {}))) if points}
    means = averages({name: {x: y for x, y in points.items() if x < len(SETS)}
                      for name, points in both.items()}) if both else {}
    spread = [(means[name], 0.0) if name in means else None for name in ("own", "control")]
    return means.get("paper"), *spread


def gains(entry: Entry, measured: Series, row: str, over: str, x: float | None = None) -> str:
    """How far a row is above another here, for the control and in the paper, for a title; x None:
    on the mean over the sets."""
    def dots(name: str) -> Dots:
        return mean_dots(entry, measured, name) if x is None else dots_of(entry, measured, name, x)
    (paper, own, control), (paper_2, own_2, control_2) = dots(row), dots(over)
    told = f"{signed(own[0] - own_2[0])} points here" if own and own_2 else "not measured here"
    if control and control_2:
        told += f" (control {signed(control[0] - control_2[0])})"
    if paper is not None and paper_2 is not None:
        told += f", {signed(paper - paper_2)} in the paper"
    return told


def signed(value: float) -> str:
    """A difference with one decimal and its sign."""
    return f"{round(value, 1) + 0.0:+.1f}".replace("-", "−")


@styled()
def beside_paper(rows: Mapping[str, Dots], *, title: str, source: str, here: str = "here",
                 control: str = "control: random initialisation", xlabel: str = "Spearman × 100",
                 groups: Sequence[int] = (), encoder: str = "") -> Any:
    """A row for each name on one scale: the paper's number as a grey square, ours as a filled dot
    and its control hollow, each with its standard deviation. A line is drawn above the rows in
    ``groups``; the legend below says whose the marks are. Dots have the colour of ``encoder``."""
    fig, (ax,) = new_figure(title, size=(7.2, 1.9 + 0.36 * len(rows)))
    colour = ENCODERS[encoder].colour if encoder else BLUE
    looks = {source: {"marker": "s", "color": GREY, "ms": 7},
             here: {"marker": "o", "color": colour, "ms": 8},
             control: {"marker": "o", "color": "white", "mec": colour, "mew": 1.5, "ms": 8}}
    drawn = {}
    for place, (paper, own, twin) in enumerate(rows.values()):
        for name, value, shift in ((source, paper, -0.17), (control, twin, 0.17),
                                   (here, own, 0.17)):
            if value is None:
                continue
            mean, sd = value if isinstance(value, tuple) else (value, 0.0)
            ax.plot([mean - sd, mean + sd], [place + shift] * 2, "-", color=colour, lw=1.6,
                    zorder=2)
            drawn[name], = ax.plot([mean], [place + shift], ls="none", zorder=3, **looks[name])
    for place in groups:
        ax.axhline(place - 0.5, color=GREY, lw=0.8)
    name_rows(ax, list(rows), limit=34)
    grid(ax, "x")
    ax.set_axisbelow(True)
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel=xlabel)
    ax.margins(x=0.06)
    names = [name for name in looks if name in drawn]
    fig.legend([drawn[name] for name in names], [plain(name, limit=60) for name in names],
               loc="outside lower center", frameon=False, fontsize=10,
               ncols=len(names) if sum(map(len, names)) < LEGEND_CHARS else 2)
    return fig


def curves_of(series: Series) -> dict[str, tuple[list[float], list[float]]]:
    """Rows as curves: their places and their values."""
    return {name: (list(row), list(row.values())) for name, row in series.items()}


@styled()
def line_panels(panels: Mapping[str, Series], *, title: str, xlabel: str, size: float = 4.4,
                linear: float | None = None, ticks: Sequence[float] = (),
                grey: Sequence[str] = (), ylabel: str = "", **axes: Any) -> Any:
    """Panels of lines side by side, heading -> rows; a row has the same colour in all, that of an
    encoder where it is the name of one; its control is dashed and hollow, what others printed
    ``grey``. ``size`` in inches; ``linear``: the x axis
    is so up to here, then logarithmic; ``ticks``, where it has numbers, default at each point;
    ``axes``: settings of matplotlib's axes."""
    fig, parts = new_figure(title, size=(7.2, size), panels=len(panels))
    rows = list(dict.fromkeys(row for part in panels.values() for row in part))
    own = [row for row in rows if not row.endswith(CONTROLS)]
    drawn = {}
    for ax, (name, part) in zip(parts, panels.items(), strict=True):
        for row, points in part.items():
            base = next(k for k, of in enumerate(own) if row in (of, *(of + c for c in CONTROLS)))
            colour = (GREY if row in grey else ENCODERS[own[base]].colour if own[base] in ENCODERS
                      else LINE_COLOURS[base])
            look = {"ls": "-"} if row in own else {"ls": "--", "mfc": "white"}
            drawn[row], = ax.plot(list(points), list(points.values()), color=colour,
                                  marker=MARKERS[base], **look)
        heading(ax, name)
        ax.set(xlabel=xlabel, **axes)
        if linear is not None:
            ax.set_xscale("symlog", linthresh=linear, linscale=0.4)
        x_ticks(ax, ticks or sorted({x for points in part.values() for x in points}))
        grid(ax)
    parts[0].set(ylabel=ylabel)
    fig.legend([drawn[row] for row in rows], [plain(row, limit=40) for row in rows],
               loc="outside lower center", frameon=False, fontsize=10, ncols=2)
    return fig


@styled()
def interval_dots(measured: Series, headings: Sequence[str], rows: Sequence[str], *, title: str,
                  xlabel: str, control: str) -> Any:
    """Panels side by side, one for each place 0, 1, …: a dot for each row in its interval of 95 %
    (rows that end in ``LOW`` and ``HIGH``), and its control hollow, without one."""
    fig, axes = new_figure(title, size=(7.2, 1.9 + 0.36 * len(rows)), panels=len(headings),
                           sharey=True)
    for x, (ax, text) in enumerate(zip(axes, headings, strict=True)):
        for place, row in enumerate(rows):
            ends = [measured[row + end][x] for end in (LOW, HIGH)]
            ax.plot(ends, [place] * 2, "-", color=BLUE, lw=2, zorder=2)
            own, = ax.plot([measured[row][x]], [place], "o", color=BLUE, ms=7, zorder=3)
            others = [measured[row + end][x] for end in CONTROLS if row + end in measured]
            twin, = ax.plot(others, [place] * len(others), "o", color="white", mec=BLUE, mew=1.5,
                            ms=7, zorder=3)
        heading(ax, text)
        grid(ax, "x")
        ax.set_axisbelow(True)
        ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel=xlabel)
        ax.margins(x=0.08)
    name_rows(axes[0], list(rows), limit=34)
    fig.legend([own, twin], ["here, 95 % interval", control], loc="outside lower center",
               frameon=False, fontsize=10, ncols=2)
    return fig


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


def set_dots(what: str, row: str, over: str, rows: Mapping[str, str], *, source: str,
             sets: bool = True, **options: Any) -> Draw:
    """Rows, by their short names, beside the paper's: their means over the sets, and STS-B alone.
    The title says ``what`` a row adds to another; without ``sets`` all is STS-B."""
    place = SETS.index("stsb")

    def draw(entry: Entry, measured: Series) -> Any:
        shown = {f"mean: {short}": mean_dots(entry, measured, name)
                 for name, short in rows.items() if sets}
        begins = "STS-B: " if sets else ""
        shown |= {begins + short: dots_of(entry, measured, name, place)
                  for name, short in rows.items()}
        told = gains(entry, measured, row, over, None if sets else place)
        return beside_paper(shown, title=f"{what}: {told}", source=source,
                            groups=[len(rows)] if sets else [], **options)
    return draw


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
