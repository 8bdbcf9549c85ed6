"""Words on figures: labels at the ends of lines that do not cover each other, readable byte counts, titles that fit.

A label beside its line needs no legend and survives print and colour blindness. Used by all plot families.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import shown
from .style import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["VEIL", "bytes_text", "checked_title", "count_text", "end_labels", "in_points", "new_figure", "quiet_places", "spread"]

VEIL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}       # keeps text readable on top of marks


def checked_title(title: object) -> str:
    """The title. Raises TypeError for anything but a str."""
    if not isinstance(title, str):
        raise TypeError(f"title={shown(title)} is {type(title).__name__}; expected a str that states the finding")
    return title


def new_figure(title: str, *, size: tuple[float, float] = (7.2, 4.0), panels: int = 1, **options: object) -> tuple[Figure, np.ndarray]:
    """A figure without pyplot, hence without global state, and its axes as an array; the title states the finding."""
    from matplotlib.figure import Figure

    title = checked_title(title)
    fig = Figure(figsize=size)
    axes = np.atleast_1d(fig.subplots(1, panels, **options))
    fig.suptitle(wrapped(title), x=0.012, ha="left", fontweight="bold", fontsize=13)
    return fig, axes


def spread(positions: Sequence[float], gap: float) -> np.ndarray:
    """Move positions apart until neighbours are at least ``gap`` apart, in the same order, around the same centre.

    >>> spread([0.0, 1.0, 10.0], 4.0).tolist()
    [-1.5, 2.5, 10.0]
    """
    order = np.argsort(positions, kind="stable")
    groups: list[list[float]] = []                # [centre, members]: labels that touch move as one block
    for place in np.asarray(positions, dtype=float)[order]:
        groups.append([place, 1])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2:
            (a, n), (b, m) = groups[-2], groups.pop()
            groups[-1] = [(a * n + b * m) / (n + m), n + m]
    moved = np.concatenate([c + gap * (np.arange(n) - (n - 1) / 2) for c, n in groups]) if groups else np.zeros(0)
    out = np.empty(len(moved))
    out[order] = moved
    return out


def in_points(ax: Axes, places: np.ndarray) -> np.ndarray:
    """Where data places (n, 2) stand in the figure, in points (1/72 inch)."""
    ax.get_xlim(), ax.get_ylim()                # asking settles limits that are still to be fitted to the data
    return ax.transData.transform(places) / ax.figure.dpi * 72


def end_labels(ax: Axes, x: Sequence[float], y: Sequence[float], texts: Sequence[str], colours: Sequence[str], *, gap: float = 15) -> None:
    """Write each text right of the end (x, y) of its line, moved up or down by as little as keeps them ``gap`` points apart.

    A line that ends before the others has its text below its end, where the others do not pass. Call it after the limits are set.
    """
    heights = in_points(ax, np.column_stack([x, y]))[:, 1]
    lines = max(text.count("\n") + 1 for text in texts)
    last = [i for i in range(len(texts)) if x[i] == max(x)]
    shifts = dict(zip(last, spread(heights[last], gap * lines) - heights[last], strict=True))
    for i, text in enumerate(texts):
        place = {"xytext": (8, shifts[i]), "va": "center"} if i in shifts else {"xytext": (0, -10), "va": "top"}
        ax.annotate(text, (x[i], y[i]), textcoords="offset points", color=colours[i], annotation_clip=False, bbox=VEIL, **place)


def quiet_places(centres: np.ndarray, widths: Sequence[float], marks: np.ndarray, frame: np.ndarray, *, height: float = 17) -> np.ndarray:
    """Centres of boxes near the given centres that cover no other box and few marks, and stay inside a frame; the first boxes choose first.

    Parameters: centres (n, 2), widths (n,), marks (m, 2), frame (2, 2) of lower left and upper right corner, height of every box, all in
    points. Returns (n, 2). When no place inside the frame is free, a box may cover others.
    """
    marks = marks[:: 1 + len(marks) // 1000]                        # a thousand marks tell where it is crowded
    price = 50 * min(1, 80 / len(marks))                             # of a covered mark, in points of distance
    grid = np.stack(np.meshgrid(*(np.arange(-60, 61) * height / 2,) * 2), axis=-1).reshape(-1, 2)
    placed: list[tuple[float, float, float]] = []
    for centre, width in zip(np.asarray(centres, dtype=float), widths, strict=True):
        half = np.array([width, height]) / 2
        places = centre + grid
        places = places[((places >= frame[0] + half) & (places <= frame[1] - half)).all(axis=1)]
        places = places if len(places) else centre[None]
        cost = np.linalg.norm((places - centre) * (2.5, 1), axis=1)               # rather above or below than far aside
        cost += price * (np.abs(places[:, None] - marks) < half + 3).all(axis=2).sum(axis=1)
        for x, y, other in placed:
            cost[(np.abs(places[:, 0] - x) < (width + other) / 2) & (np.abs(places[:, 1] - y) < height)] += 1e6
        placed.append((*places[cost.argmin()], width))
    return np.array([box[:2] for box in placed])


def bytes_text(n: float) -> str:
    """A number of bytes in the unit a person would say.

    >>> [bytes_text(n) for n in (512, 20_000, 80e9)]
    ['512 B', '20 kB', '80 GB']
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:,.3g} TB"


def count_text(n: float) -> str:
    """A count as it is read aloud: 950, 12 k, 3.4 M."""
    for unit in ("", " k", " M"):
        if n < 999.5:
            return f"{n:.3g}{unit}"
        n /= 1000
    return f"{n:,.3g} G"
