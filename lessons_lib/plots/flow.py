"""Figures about flows: what a map does to densities on a line and to squares of a plane, a learned density, and likelihood beside score.

What is drawn at random and what a formula says stand in one picture, and areas are written over them, so that the eye can check the determinant. What
moves layer by layer is drawn by `explore_training.training_explorer`. Seen in ``11_bert_flow``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array, check_float, check_int
from .labels import new_figure
from .style import DASHES, GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["deformed_plane", "density_maps", "density_panels", "likelihood_and_score", "signed_area"]

BLUE, VERMILLION, BLACK, SKY, ORANGE = (PALETTE[name] for name in ("blue", "vermillion", "black", "sky", "orange"))
MOST_PANELS = 3
EDGE = 40                                         # points on each edge of a square, so that a bent edge looks bent
POINTS = 81                                       # of a line of the net, so that it bends smoothly; as many marks make the picture a PNG
FIRST, SECOND = "first coordinate", "second coordinate"


def _check_panels(panels: Mapping[str, object]) -> None:
    if not 1 <= len(panels) <= MOST_PANELS:
        raise ValueError(f"panels holds {len(panels)} pictures; expected 1 to {MOST_PANELS}")


def _minus(text: str) -> str:
    return text.replace("-", "−")


# ------------------------------------------------------------------------------------------------ a line


@styled()
def density_panels(panels: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], *, title: str, bins: int = 60, shared: bool = False,
                   curve_name: str = "formula") -> Figure:
    """Histograms of drawn numbers, each under the density that a formula gives.

    Parameters: panels, heading -> (drawn (n,), places (k,) rising, densities (k,) >= 0), one to three; the frame is that of the places, and heights
    count all drawn numbers, also those outside; title, the finding; bins; shared, one axis of heights for all; curve_name, what the line is.
    """
    _check_panels(panels)
    check_int("bins", bins, low=2)
    fig, axes = new_figure(title, size=(7.2, 3.6), panels=len(panels), sharey=shared)
    for ax, (heading, parts) in zip(axes, panels.items(), strict=True):
        drawn, places, heights = (check_array(f"{heading}[{k}]", part, ndim=1, min_rows=2).astype(np.float64) for k, part in enumerate(parts))
        if len(places) != len(heights) or (np.diff(places) <= 0).any() or heights.min() < 0:
            raise ValueError(f"{heading!r} has {len(places)} places and {len(heights)} densities, the least {heights.min():.3g}; expected as many, "
                             "rising places, and densities >= 0")
        edges = np.linspace(places[0], places[-1], bins + 1)
        counted = np.histogram(drawn, edges)[0] / (len(drawn) * (edges[1] - edges[0]))
        ax.stairs(counted, edges, fill=True, facecolor=SKY, alpha=0.6, label="drawn")
        ax.plot(places, heights, "-", color=VERMILLION, lw=2.2, label=plain(curve_name, limit=30))
        ax.set(xlim=(places[0], places[-1]), xlabel=plain(heading, limit=40))
    for ax in axes:                               # after all are drawn: a shared axis is as high as the highest of them
        ax.set_ylim(bottom=0)
    axes[0].set(ylabel="density")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return fig


# ------------------------------------------------------------------------------------------------ a plane


def signed_area(corners: np.ndarray) -> float:
    """Area inside a closed line of points (n, 2): positive where it runs counterclockwise, negative where clockwise.

    >>> signed_area(np.array([[0, 0], [1, 0], [1, 2], [0, 2]])), signed_area(np.array([[0, 0], [0, 2], [1, 2], [1, 0]]))
    (2.0, -2.0)
    """
    x, y = check_array("corners", corners, columns=2, min_rows=3).astype(np.float64).T
    return float(0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def _outline(square: Sequence[float]) -> np.ndarray:
    """Points around a square (left, bottom, side), counterclockwise."""
    left, bottom, side = square
    along = np.arange(EDGE) / EDGE
    none, all_ = np.zeros(EDGE), np.ones(EDGE)
    edges = ((along, none), (all_, along), (1 - along, all_), (none, 1 - along))
    return np.concatenate([np.column_stack(edge) for edge in edges]) * side + [left, bottom]


@styled()
def deformed_plane(move: Callable[[np.ndarray], np.ndarray], *, title: str, square: Sequence[float] = (0.0, 0.0, 1.0), reach: float = 2.0,
                   headings: tuple[str, str] = ("z", "x"), reach_after: float | None = None) -> Figure:
    """A map of the plane: lines before and after it, and a square with its image, whose signed areas stand above the panels.

    Parameters: move, maps points (n, 2) to points (n, 2); title, the finding; square, (left, bottom, side); reach, of the lines from the origin;
    headings of the panels; reach_after, of the second panel, None: as far as the lines go. Raises ValueError for a map that gives other shapes.
    """
    check_float("reach", reach, low=0.0, open_low=True)
    outline, steps = _outline(square), np.linspace(-reach, reach, 9)
    fine = np.linspace(-reach, reach, POINTS)
    lines = [np.column_stack(pair) for c in steps for pair in ((np.full(POINTS, c), fine), (fine, np.full(POINTS, c)))]
    fig, axes = new_figure(title, size=(7.2, 4.4), panels=2)
    for ax, heading, after, far in zip(axes, headings, (False, True), (reach, reach_after), strict=True):
        moved = [_moved(move, part) if after else part for part in (outline, *lines)]
        for k, line in enumerate(moved[1:]):
            ax.plot(*line.T, "-", color=(BLUE, GREY)[k % 2], lw=0.9, alpha=0.8)
        ax.fill(*moved[0].T, facecolor=ORANGE, alpha=0.7, edgecolor=BLACK, lw=1.4, zorder=3)
        ax.plot(*moved[0][0], "o", color=BLACK, ms=5, zorder=4)
        ax.plot(*moved[0][EDGE], "s", color=VERMILLION, ms=5, zorder=4)
        most = far or 1.04 * float(np.abs(np.concatenate(moved)).max())
        ax.set(xlim=(-most, most), ylim=(-most, most), aspect="equal", xlabel=FIRST)
        area = round(signed_area(moved[0]), 2) + 0.0
        ax.set_title(_minus(f"{plain(heading, limit=20)}: signed area {area:.2f}"), loc="center", fontsize=12)
    axes[0].set(ylabel=SECOND)
    return fig


def _moved(move: Callable[[np.ndarray], np.ndarray], points: np.ndarray) -> np.ndarray:
    found = check_array("move(points)", move(points), columns=2).astype(np.float64)
    if len(found) != len(points):
        raise ValueError(f"move gives {len(found)} points for {len(points)}; expected one for each")
    return found


@styled()
def density_maps(panels: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], *, title: str, most_dots: int = 500) -> Figure:
    """Densities of the plane as coloured areas, with points on top.

    Parameters: panels, heading -> (points (n, 2), edges (k,) of both axes, rising, densities (k, k), row by row of the second axis), one to three;
    title, the finding; most_dots, of many points every n-th is drawn.
    """
    _check_panels(panels)
    fig, axes = new_figure(title, size=(7.2, 4.2 if len(panels) < 3 else 3.2), panels=len(panels))
    for ax, (heading, (points, places, heights)) in zip(axes, panels.items(), strict=True):
        points = check_array(heading, points, columns=2, min_rows=1)
        places = check_array("places", places, ndim=1, min_rows=2).astype(np.float64)
        heights = check_array("densities", heights, columns=len(places), min_rows=len(places)).astype(np.float64)
        ax.contourf(places, places, heights, levels=np.linspace(0.02, 1, 8) * heights.max(), cmap="Blues", extend="max")
        ax.plot(*points[:: 1 + len(points) // most_dots].T, ls="none", marker="o", ms=2.2, mew=0, color=VERMILLION, alpha=0.7)
        ax.set(xlim=(places[0], places[-1]), ylim=(places[0], places[-1]), aspect="equal", xlabel=FIRST)
        ax.locator_params(nbins=5)
        ax.set_title(plain(heading, limit=34), loc="center", fontsize=12)
    axes[0].set(ylabel=SECOND)
    return fig


# ------------------------------------------------------------------------------------------------ likelihood beside score


@styled()
def likelihood_and_score(steps: Sequence[float], bits: Mapping[str, Sequence[float]], scores: Mapping[str, Sequence[float]], *, title: str,
                         xlabel: str = "steps of training", score_name: str = "Spearman × 100") -> Figure:
    """What training asks for, on the left, and what we want, on the right, against the same steps.

    Parameters: steps (k,), rising; bits, name -> (k,) bits per dimension, lower is better; scores, name -> (k,); each at most 5, NaN where nothing
    was measured; title, the finding; xlabel, score_name.
    """
    x = check_array("steps", steps, ndim=1, min_rows=2).astype(np.float64)
    fig, axes = new_figure(title, size=(7.2, 4.0), panels=2)
    for ax, curves, label in zip(axes, (bits, scores), ("bits per dimension", score_name), strict=True):
        if not 1 <= len(curves) <= len(LINE_COLOURS):
            raise ValueError(f"a panel has {len(curves)} lines; expected 1 to {len(LINE_COLOURS)}")
        for (name, values), colour, marker, dash in zip(curves.items(), LINE_COLOURS, MARKERS, DASHES, strict=False):
            if len(values) != len(x):
                raise ValueError(f"{name!r} has {len(values)} values for {len(x)} steps; expected one each")
            ax.plot(x, np.asarray(values, dtype=np.float64), ls=dash, marker=marker, ms=5, color=colour, label=plain(name, limit=28))
        _finish(ax, label, xlabel)
    return fig


def _finish(ax: Axes, label: str, xlabel: str) -> None:
    ax.set_title(label, loc="center", fontsize=12)
    ax.set(xlabel=xlabel)
    ax.margins(y=0.15)
    ax.grid(axis="y", color="#DDDDDD", lw=0.8)
    ax.legend(frameon=False, loc="best")
