"""Words on figures: notes, names of lines, rows and groups that do not cover each other, numbers.

A label beside its line needs no legend and survives print and colour blindness. Used by all
figures of the course.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import shown
from .style import LINE_COLOURS, PALE, plain, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

VEIL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}   # behind words
CENTRED = {"ha": "center", "va": "center"}


def checked_title(title: object) -> str:
    """The title. Raises TypeError for anything but a str."""
    if not isinstance(title, str):
        kind = type(title).__name__
        raise TypeError(f"title={shown(title)} is {kind}; expected a str that states the finding")
    return title


def new_figure(title: str, *, size: tuple[float, float] = (7.2, 4.0), panels: int = 1,
               **options: Any) -> tuple[Figure, np.ndarray]:
    """A figure without pyplot, hence without global state, and its axes as an array."""
    from matplotlib.figure import Figure

    title = checked_title(title)
    fig = Figure(figsize=size)
    axes = np.atleast_1d(fig.subplots(1, panels, **options))
    fig.suptitle(wrapped(title), x=0.012, ha="left", fontweight="bold", fontsize=13)
    return fig, axes


# ---------------------------------------------------------------------------- words in an axes


def note(ax: Axes, text: str, at: Sequence[float], shift: Sequence[float] = (0, 0),
         **look: Any) -> Annotation:
    """Write at a place of the data, shifted by points of the page."""
    return ax.annotate(text, tuple(at), tuple(shift), textcoords="offset points", **look)


def heading(ax: Axes, text: str) -> None:
    """The heading of one panel."""
    ax.set_title(text, loc="center", fontsize=12)


def minus(text: str) -> str:
    """A number with a true minus sign instead of a hyphen."""
    return text.replace("-", "−")


def line_by_line(text: object) -> str:
    """A name from the caller, whose breaks stay."""
    return "\n".join(plain(line) for line in str(text).split("\n"))


def name_rows(ax: Axes, names: Sequence[object], *, limit: int = 26, grid: bool = False) -> list:
    """Names instead of ticks for rows 0, 1, … of the y axis, which gets no tick marks."""
    ticks = ax.set_yticks(range(len(names)), [plain(name, limit=limit) for name in names])
    ax.tick_params(axis="y", length=0)
    if grid:
        ax.grid(axis="x", color=PALE, lw=0.8)
        ax.set_axisbelow(True)
    return ticks


def x_ticks(ax: Axes, places: Sequence[float], form: Callable = "{:g}".format) -> None:
    """Ticks at these places only, each with its number in words."""
    ax.set_xticks(places, [form(place) for place in places])
    ax.minorticks_off()


def say(axis: Axis, form: Callable[[float], str]) -> None:
    """Write the numbers of an axis in this form."""
    axis.set_major_formatter(lambda value, _: form(value))


def legend_below(ax: Axes, columns: int) -> None:
    """The legend of one panel below the whole figure."""
    ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=columns,
                     frameon=False)


# ---------------------------------------------------------------------------- labels that yield


def spread(positions: Sequence[float], gap: float) -> np.ndarray:
    """Move positions at least ``gap`` apart, in the same order, around the same centre.

    >>> spread([0.0, 1.0, 10.0], 4.0).tolist()
    [-1.5, 2.5, 10.0]
    """
    order = np.argsort(positions, kind="stable")
    groups: list[list[float]] = []      # [centre, members]: labels that touch move as one block
    for place in np.asarray(positions, dtype=float)[order]:
        groups.append([place, 1])
        while len(groups) > 1:
            (a, n), (b, m) = groups[-2:]
            if b - a >= gap * (n + m) / 2:
                break
            groups[-2:] = [[(a * n + b * m) / (n + m), n + m]]
    blocks = [centre + gap * (np.arange(n) - (n - 1) / 2) for centre, n in groups]
    out = np.empty(len(order))
    out[order] = np.concatenate(blocks) if blocks else []
    return out


def in_points(ax: Axes, places: np.ndarray) -> np.ndarray:
    """Where data places (n, 2) stand in the figure, in points (1/72 inch)."""
    ax.get_xlim(), ax.get_ylim()        # asking settles limits that are still to be fitted
    return ax.transData.transform(places) / ax.figure.dpi * 72


def frame_of(ax: Axes) -> np.ndarray:
    """Lower left and upper right corner (2, 2) of the axes, in points."""
    return in_points(ax, np.column_stack([ax.get_xlim(), ax.get_ylim()]))


def end_labels(ax: Axes, x: Sequence[float], y: Sequence[float], texts: Sequence[str],
               colours: Sequence[str], *, gap: float = 15) -> None:
    """Write each text right of the end (x, y) of its line, ``gap`` points apart.

    A line that ends before the others has its text below its end, where the others do not pass.
    Call it after the limits are set.
    """
    heights = in_points(ax, np.column_stack([x, y]))[:, 1]
    lines = max(text.count("\n") + 1 for text in texts)
    last = [i for i in range(len(texts)) if x[i] == max(x)]
    shifts = dict(zip(last, spread(heights[last], gap * lines) - heights[last], strict=True))
    for i, text in enumerate(texts):
        shift, va = ((8, shifts[i]), "center") if i in shifts else ((0, -10), "top")
        note(ax, text, (x[i], y[i]), shift, color=colours[i], annotation_clip=False, bbox=VEIL,
             va=va)


def name_lines(ax: Axes, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *,
               limit: int = 28, form: Callable[[str], str] | None = None,
               colours: Sequence[str] = LINE_COLOURS) -> None:
    """The name of each curve at its end, in the colours of `primitives.draw_lines`."""
    ends = np.array([(x[-1], y[-1]) for x, y in curves.values()], dtype=float)
    texts = [form(name) if form else plain(name, limit=limit) for name in curves]
    end_labels(ax, *ends.T, texts, [colours[k % len(colours)] for k in range(len(texts))])


def quiet_places(centres: np.ndarray, widths: Sequence[float], marks: np.ndarray,
                 frame: np.ndarray, *, height: float = 17) -> np.ndarray:
    """Centres of boxes near ``centres`` that cover no other box and few marks.

    The first boxes choose first, all stay inside the frame; when no place there is free, a box
    may cover others. All in points: centres (n, 2), widths (n,), marks (m, 2), frame (2, 2) as
    from `frame_of`, height of every box. Returns (n, 2).
    """
    marks = marks[:: 1 + len(marks) // 1000]            # a thousand tell where it is crowded
    price = 50 * min(1, 80 / len(marks))                # of a covered mark, in points of distance
    steps = np.arange(-60, 61) * height / 2
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    placed: list[tuple[float, float, float]] = []
    for centre, width in zip(np.asarray(centres, dtype=float), widths, strict=True):
        half = np.array([width, height]) / 2
        places = centre + grid
        inside = (places >= frame[0] + half) & (places <= frame[1] - half)
        places = places[inside.all(axis=1)] if inside.all(axis=1).any() else centre[None]
        away = (places - centre) * (2.5, 1)             # rather above or below than far aside
        cost = np.linalg.norm(away, axis=1)
        covered = np.abs(places[:, None] - marks) < half + 3
        cost += price * covered.all(axis=2).sum(axis=1)
        for x, y, other in placed:
            beside = np.abs(places[:, 0] - x) < (width + other) / 2
            cost[beside & (np.abs(places[:, 1] - y) < height)] += 1e6
        placed.append((*places[cost.argmin()], width))
    return np.array([box[:2] for box in placed])


# ---------------------------------------------------------------------------- numbers in words


def _in_units(n: float, units: Sequence[str]) -> str:
    for unit in units[:-1]:
        if n < 999.5:
            return f"{n:.3g}{unit}"
        n /= 1000
    return f"{n:,.3g}{units[-1]}"


def bytes_text(n: float) -> str:
    """A number of bytes in the unit a person would say.

    >>> [bytes_text(n) for n in (512, 20_000, 80e9)]
    ['512 B', '20 kB', '80 GB']
    """
    return _in_units(n, (" B", " kB", " MB", " GB", " TB"))


def count_text(n: float) -> str:
    """A count as it is read aloud: 950, 12 k, 3.4 M."""
    return _in_units(n, ("", " k", " M", " G"))


def rate_text(flops: float) -> str:
    """Operations per second as a person would say them.

    >>> rate_text(2.5e11), rate_text(9.9e14)
    ('250 GFLOP/s', '990 TFLOP/s')
    """
    size, unit = next(((size, unit) for size, unit in ((1e12, "T"), (1e9, "G")) if flops >= size),
                      (1e6, "M"))
    return f"{float(f'{flops / size:.2g}'):g} {unit}FLOP/s"


def duration_text(seconds: float) -> str:
    """Seconds in the unit a person would say.

    >>> [duration_text(s) for s in (2e-6, 0.03, 4, 1e3, 1e4, 1e6)]
    ['2 µs', '30 ms', '4 s', '17 min', '2.8 h', '12 d']
    """
    for unit, size, least in (("d", 86_400, 172_800), ("h", 3600, 7200), ("min", 60, 999.5)):
        if seconds >= least:
            form = ".2g" if seconds < 99.5 * size else ",.0f"
            return f"{seconds / size:{form}} {unit}"
    for unit, size in (("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
