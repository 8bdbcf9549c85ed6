"""Figures of points: maps of documents, clouds, cones, simplices, scatter plots, moved planes.

A group has its name beside its points instead of a legend; where only angles count, axes are
equal and the origin is drawn. Seen in every lesson that draws vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_float, check_int, shown
from ..isotropy import binned_means, narrowest_sector
from .bars import distributions
from .encoders import encoder_look
from .labels import (CENTRED, VEIL, count_text, frame_of, heading, in_points, legend_below, minus,
                     new_figure, note, quiet_places, x_ticks)
from .primitives import (Curves, arrow, bare, checked_columns, checked_curves, column, dots,
                         expect, expect_names, expect_number, grid, group_dots, group_looks,
                         panel_figure, plane, same_length, square_view)
from .style import (BLACK, BLUE, DASHES, GREY, INK_OF, LINE_COLOURS, MARKERS, ORANGE, PALE, SKY,
                    VERMILLION, figure, plain, wrapped)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Panels = Mapping[str, np.ndarray]
Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]
MOST_DOTS = 2000                                  # above: a picture of densities, or a sample
NAME_WIDTH = 0.68                                 # of a bold letter, as a share of its size
LETTER = 5.6                                      # width of a letter of 10 points
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])     # sides of length 1
EDGE, NET = 40, 81                                # points on an edge and on a line of a net
FIRST, SECOND = "first coordinate", "second coordinate"
PLANE = {"xlabel": "uniformity (further left: more even)",
         "ylabel": "alignment (further down: close pairs are closer)"}


# ---------------------------------------------------------------------------- groups on a map


@figure
def document_map(points: np.ndarray, labels: Sequence[Any], *, title: str,
                 names: Mapping[int, str] | None = None,
                 axis_names: tuple[str, str] = ("", "")) -> Figure:
    """Draw documents as points of the plane, each group named beside its points.

    Parameters
    ----------
    points : array of float, shape (n, 2)
    labels : sequence, shape (n,); group of each document, at most 20 groups
    names : mapping of row to text, optional; the few documents to be named
    axis_names : (str, str), default ("", "")
        Axes without a name have no meaning of their own, so they get no ticks.
    """
    points = plane("points", points, labels=labels)
    fig, (ax,) = new_figure(title, size=(7.2, 5.2))
    groups = group_looks(labels)
    size = float(np.clip(110 / len(points) ** 0.5, 3, 8))
    for colour, marker, rows in groups.values():
        pale = {} if colour in INK_OF else {"mew": 0}
        group_dots(ax, points[rows], colour, marker, 0.9, ms=size, alpha=0.8, **pale)
    ax.margins(0.08)
    ax.set(xlabel=axis_names[0], ylabel=axis_names[1])
    if not any(axis_names):
        bare(ax, xlabel="position on the map (near means alike)")
    _name_groups(ax, points, groups)
    for row, text in (names or {}).items():
        ax.plot(*points[row], "o", mfc="none", mec="black", ms=9)
        note(ax, plain(text, limit=40), points[row], (8, 6), bbox=VEIL)
    return fig


def _name_groups(ax: Axes, points: np.ndarray, groups: Mapping[str, tuple]) -> None:
    """The name of each group where it covers few points and is near the group's median point."""
    from matplotlib.patheffects import withStroke

    ax.figure.draw_without_rendering()              # settles the layout
    names = [plain(name, limit=30) for name in groups]
    letters = 12 if len(names) <= 8 else 10
    centres = np.array([np.median(points[rows], axis=0) for _, _, rows in groups.values()])
    starts, widths = in_points(ax, centres), [NAME_WIDTH * letters * len(name) for name in names]
    shifts = quiet_places(starts, widths, in_points(ax, points), frame_of(ax),
                          height=1.35 * letters) - starts
    halo = [withStroke(linewidth=3.0, foreground="white")]
    for name, centre, shift, (colour, _, _) in zip(names, centres, shifts, groups.values(),
                                                   strict=True):
        label = note(ax, name, centre, shift, color=INK_OF.get(colour, colour), **CENTRED,
                     fontweight="bold", fontsize=letters, path_effects=halo)
        label.set_in_layout(False)                  # one moved far must not shrink the map


@figure
def training_panels(frames: Any, labels: Sequence[Any], *, steps: Sequence[str], title: str,
                    shapes: Sequence[Any] | None = None, shown: tuple[int, int] = (0, -1),
                    axis_name: str = "position on the map") -> Figure:
    """Draw two moments of a training side by side on the same axes.

    Parameters
    ----------
    frames : array of float, shape (moments, n, 2)
    labels : sequence, shape (n,); decide the colours, at most 5 different
    steps : sequence of str, shape (moments,)
    shapes : sequence, shape (n,), optional
        Decide the markers, at most 5 different; None: the labels do.
    shown : (int, int), default (0, -1); which two moments
    axis_name : str, default "position on the map"
    """
    points, looks = training_frames(frames, labels, steps), training_looks(labels, shapes)
    fig, axes = new_figure(title, size=(7.2, 4.6), panels=2, sharex=True, sharey=True)
    xlim, ylim = training_limits(points)
    for ax, k in zip(axes, shown, strict=True):
        for _, colour, marker, rows in looks:
            dots(ax, points[k][rows], marker=marker, ms=4.5, color=colour, mew=0, alpha=0.75)
        ax.set(xlim=xlim, ylim=ylim, xticks=[], yticks=[], xlabel=axis_name)
        heading(ax, plain(steps[k]))
    keys: dict[str, dict] = {}
    for _, colour, marker, rows in looks:
        keys.setdefault(plain(labels[rows[0]], limit=16),
                        {"color": colour, "marker": marker if shapes is None else "o"})
    for _, _, marker, rows in looks if shapes is not None else ():
        keys.setdefault(plain(shapes[rows[0]], limit=16), {"color": GREY, "marker": marker})
    for name, look in keys.items():
        axes[0].plot([], [], ls="none", label=name, **look)
    legend_below(axes[0], min(len(keys), 5))
    return fig


def training_frames(frames: Any, labels: Sequence[Any], steps: Sequence[str]) -> np.ndarray:
    """Checked positions, (moments, n, 2) float32."""
    same_length(frames=frames, steps=steps)
    expect(len(steps), "frames holds 0 maps; expected >= 1")
    return np.stack([plane(f"frames[{k}]", points, labels=labels)
                     for k, points in enumerate(frames)]).astype(np.float32)


def training_limits(frames: np.ndarray) -> np.ndarray:
    """Lower and upper limit of both axes (2, 2), with room around all moments."""
    low, high = frames.min(axis=(0, 1)), frames.max(axis=(0, 1))
    space = 0.06 * (high - low)
    return np.column_stack([low - space, high + space]).astype(np.float64)


def training_looks(labels: Sequence[Any], shapes: Sequence[Any] | None
                   ) -> list[tuple[str, str, str, np.ndarray]]:
    """Name, colour, marker, rows of each group: colours by label, markers by shape or label."""
    labels = [str(label) for label in labels]
    kinds = [""] * len(labels) if shapes is None else [str(shape) for shape in shapes]
    same_length(labels=labels, shapes=kinds)
    names, marks = list(dict.fromkeys(labels)), list(dict.fromkeys(kinds))
    expect(max(len(names), len(marks)) <= len(LINE_COLOURS),
           f"labels has {len(names)} and shapes {len(marks)} different values; expected <= "
           f"{len(LINE_COLOURS)} of each")
    both, looks = list(zip(labels, kinds, strict=True)), []
    for pair in dict.fromkeys(both):
        k = names.index(pair[0])
        marker = MARKERS[k if shapes is None else marks.index(pair[1])]
        rows = np.array([row for row, other in enumerate(both) if other == pair])
        looks.append((" ".join(pair).strip(), LINE_COLOURS[k], marker, rows))
    return looks


# ---------------------------------------------------------------------------- clouds and cones


@figure
def cone(panels: Panels, *, title: str, share: float = 0.95,
         marked: Mapping[str, Sequence[bool]] | None = None,
         marked_name: str = "frequent words") -> Figure:
    """Draw vectors along two directions, seen from the origin, with the sector that holds most.

    [gao2019representation, Fig. 1]

    Parameters
    ----------
    panels : mapping of heading to array, shape (n, 2)
        Points of `isotropy.cone`, one to three; of many every n-th is drawn.
    share : float in (0, 1], default 0.95
        Of the points in the sector; one of more than half a turn is no cone and is not shaded.
    marked : mapping of heading to bool (n,), optional; points with a mark of their own
    marked_name : str, default "frequent words"
    """
    check_float("share", share, low=0, high=1, open_low=True)
    fig, axes = panel_figure(title, panels, 3, size=(7.2, 4.4 if len(panels) < 3 else 3.9))
    for ax, (text, points) in zip(axes, panels.items(), strict=True):
        points = plane(text, points, min_rows=2)
        mask = np.asarray((marked or {}).get(text, np.zeros(len(points))), bool)
        same_length(**{f"marked[{text!r}]": mask, f"panels[{text!r}]": points})
        width = _draw_cone(ax, points, mask, share, step=1 + len(points) * len(panels) // MOST_DOTS)
        heading(ax, f"{plain(text, limit=22)}\n{share:.0%} within {width:.0f}°")
    axes[0].set(ylabel="second direction")
    if marked:
        for name, colour, marker in (("words", BLUE, "o"), (marked_name, VERMILLION, "^")):
            axes[0].plot([], [], ls="none", marker=marker, ms=5, mew=0, color=colour,
                         label=plain(name, limit=30))
        legend_below(axes[0], 2)
    return fig


def _draw_cone(ax: Axes, points: np.ndarray, mask: np.ndarray, share: float, *,
               step: int) -> float:
    """One picture with the origin in the middle. Returns the width of the sector in degrees."""
    from matplotlib.patches import Wedge

    begin, width = narrowest_sector(points, share=share)
    reach = 1.08 * np.quantile(np.linalg.norm(points, axis=1), 0.995)
    if width <= 180:
        ax.add_patch(Wedge((0, 0), 2 * reach, begin, begin + width, facecolor=SKY, alpha=0.3,
                           edgecolor="none"))
    ax.axhline(0, color=GREY, lw=0.8)
    ax.axvline(0, color=GREY, lw=0.8)
    some = np.flatnonzero(mask)
    dots(ax, points[~mask][::step], ms=2.4, mew=0, alpha=0.55, color=BLUE)
    dots(ax, points[some[:: 1 + len(some) // 300]], marker="^", ms=4, mew=0, alpha=0.55,
         color=VERMILLION)
    ax.plot(0, 0, marker="P", ms=9, color=BLACK, mec="white", mew=1)
    note(ax, "origin", (0, 0), (-6, -7), ha="right", va="top", bbox=VEIL)
    square_view(ax, reach, xticks=[], yticks=[], xlabel="first direction")
    return width


@figure
def whitening_steps(panels: Panels, *, title: str, marked: Sequence[int] = ()) -> Figure:
    """Draw a cloud after each step on one scale, with its ellipse of one standard deviation.

    Parameters
    ----------
    panels : mapping of heading to array, shape (n, 2)
        Two to four, row i the same point in each; of many every n-th is drawn.
    marked : sequence of int, default ()
        Up to three points that are followed with a mark of their own.
    """
    clouds = {name: plane(name, points, min_rows=3) for name, points in panels.items()}
    same_length(**clouds)
    n = len(next(iter(clouds.values()), ()))
    expect_number("marked", marked, 3, 0)
    rows = [check_int(f"marked[{i}]", row, low=0, high=n - 1) for i, row in enumerate(marked)]
    fig, axes = panel_figure(title, clouds, 4, least=2, limit=22,
                             size=(7.2, 2.9 if len(clouds) > 2 else 3.9))
    farthest = max(float(np.quantile(np.abs(points), 0.99)) for points in clouds.values())
    for ax, points in zip(axes, clouds.values(), strict=True):
        dots(ax, points[:: 1 + n // 400], ms=2.4, mew=0, color=BLUE, alpha=0.4)
        mean, (variances, directions) = points.mean(axis=0), np.linalg.eigh(np.cov(points.T))
        axes_of = directions.T * np.sqrt(np.maximum(variances, 0))[:, None]
        turn = np.linspace(0, 2 * np.pi, 90)
        ax.plot(*(mean + np.column_stack([np.cos(turn), np.sin(turn)]) @ axes_of).T, "-",
                color=VERMILLION, lw=2.2)
        for axis in axes_of:
            ax.plot(*np.column_stack([mean, mean + axis]), "-", color=VERMILLION, lw=1.4)
        ax.plot(*mean, marker="P", ms=7, color=VERMILLION, mec="white", mew=0.8, zorder=3)
        for row, marker in zip(rows, "^sD", strict=False):
            ax.plot(*points[row], marker=marker, ms=7, color="white", mec=BLACK, mew=1.4, zorder=4)
        ax.axhline(0, color=GREY, lw=0.7, zorder=0)
        ax.axvline(0, color=GREY, lw=0.7, zorder=0)
        square_view(ax, 1.15 * farthest, xticks=[], yticks=[], xlabel=FIRST)
    axes[0].set(ylabel=SECOND)
    return fig


def signed_area(corners: np.ndarray) -> float:
    """Measure the area inside a closed line, negative where it runs clockwise.

    Parameters
    ----------
    corners : array of float, shape (n, 2)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For fewer than 3 corners.

    Examples
    --------
    >>> signed_area(np.array([[0, 0], [1, 0], [1, 2], [0, 2]]))
    2.0
    """
    x, y = plane("corners", corners, min_rows=3).T
    return float(0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)))


@figure
def deformed_plane(move: Callable[[np.ndarray], np.ndarray], *, title: str,
                   square: Sequence[float] = (0.0, 0.0, 1.0), reach: float = 2.0,
                   headings: tuple[str, str] = ("z", "x"),
                   reach_after: float | None = None) -> Figure:
    """Draw a map of the plane: lines before and after it, a square and its signed area.

    Parameters
    ----------
    move : callable; maps points (n, 2) to points (n, 2)
    square : (left, bottom, side), default (0, 0, 1)
    reach : float, default 2.0; of the lines from the origin
    headings : (str, str), default ("z", "x")
    reach_after : float, optional; of the second panel; None: as far as the lines go
    """
    check_float("reach", reach, low=0.0, open_low=True)
    left, bottom, side = square
    along, zero, one = np.arange(EDGE) / EDGE, np.zeros(EDGE), np.ones(EDGE)
    edges = ((along, zero), (one, along), (1 - along, one), (zero, 1 - along))
    outline = np.concatenate([np.column_stack(e) for e in edges]) * side + [left, bottom]
    fine = np.linspace(-reach, reach, NET)
    lines = [np.column_stack(pair) for c in np.linspace(-reach, reach, 9)
             for pair in ((np.full(NET, c), fine), (fine, np.full(NET, c)))]
    fig, axes = new_figure(title, size=(7.2, 4.4), panels=2)
    after = [plane("move(points)", move(part), given=part) for part in (outline, *lines)]
    pictures = (([outline, *lines], reach), (after, reach_after))
    for ax, text, (moved, far) in zip(axes, headings, pictures, strict=True):
        for k, line in enumerate(moved[1:]):
            ax.plot(*line.T, "-", color=(BLUE, GREY)[k % 2], lw=0.9, alpha=0.8)
        ax.fill(*moved[0].T, facecolor=ORANGE, alpha=0.7, edgecolor=BLACK, lw=1.4, zorder=3)
        ax.plot(*moved[0][0], "o", color=BLACK, ms=5, zorder=4)
        ax.plot(*moved[0][EDGE], "s", color=VERMILLION, ms=5, zorder=4)
        square_view(ax, far or 1.04 * float(np.abs(np.concatenate(moved)).max()), xlabel=FIRST)
        area = round(signed_area(moved[0]), 2) + 0.0
        heading(ax, minus(f"{plain(text, limit=20)}: signed area {area:.2f}"))
    axes[0].set(ylabel=SECOND)
    return fig


# ---------------------------------------------------------------------------- one against another


@figure
def norm_by_frequency(panels: Pairs, *, title: str, bins: int = 12,
                      ylabel: str = "length of the vector") -> Figure:
    """Draw the norm of each word's vector against its count, with the mean of each bin as a line.

    The heading has the correlation of norm and log count. [li2020sentence, Tab. 1]

    Parameters
    ----------
    panels : mapping of heading to (counts (n,) > 0, norms (n,))
        One or two, as from `isotropy.norm_by_frequency`; many words become densities.
    bins : int, default 12; of the line
    """
    panels = checked_curves("panels", panels, most=2, min_rows=2, positive="x")
    fig, axes = panel_figure(title, panels, 2, size=(7.2, 4.2))
    mean_look = {"color": VERMILLION, "lw": 2.4, "ms": 4.5}
    for ax, (text, (counts, norms)) in zip(axes, panels.items(), strict=True):
        middle, mean, _ = binned_means(counts, norms, bins=bins)
        logs = np.log10(counts)            # an axis of logs: one form of cell serves all cells
        if len(counts) > MOST_DOTS:
            ax.hexbin(logs, norms, gridsize=36, bins="log", mincnt=1, cmap="Blues", vmin=0.3,
                      linewidths=0).set_clip_on(False)
        else:
            ax.plot(logs, norms, ls="none", marker="o", ms=2.6, color=SKY, alpha=0.7, mew=0)
        ax.plot(np.log10(middle), mean, "-", color="white", lw=4, alpha=0.7)
        ax.plot(np.log10(middle), mean, "-o", **mean_look)
        r = np.corrcoef(logs, norms)[0, 1] if np.ptp(norms) and np.ptp(counts) else 0.0
        heading(ax, f"{plain(text, limit=30)} (r = {'−' if r < 0 else ''}{abs(r):.2f})")
        x_ticks(ax, np.arange(np.ceil(logs.min()), np.floor(logs.max()) + 1),
                lambda power: count_text(10**power))
        ax.set(xlabel="times the word occurs (log scale)")
    axes[0].set(ylabel=ylabel)
    axes[0].plot([], [], "-o", label="mean of the bin", **mean_look)
    axes[0].legend(frameon=False, loc="best")
    return fig


def _heading_r(ax: Axes, text: str, x: np.ndarray, y: np.ndarray) -> None:
    heading(ax, f"{plain(text)} (r = {np.corrcoef(x, y)[0, 1]:.2f})")


@figure
def pmi_scatter(panels: Pairs, *, title: str, xlabel: str, ylabel: str) -> Figure:
    """Draw predicted against measured values, with the line on which both are equal.

    [levy2014neural]

    Parameters
    ----------
    panels : mapping of heading to (predicted (n,), measured (n,))
        One or two; many pairs become densities.
    """
    panels = checked_curves("panels", panels, most=2, min_rows=2)
    fig, axes = panel_figure(title, panels, 2)
    for ax, (text, (x, y)) in zip(axes, panels.items(), strict=True):
        if len(x) > MOST_DOTS:
            ax.hexbin(x, y, gridsize=60, bins="log", mincnt=1, cmap="cividis_r", linewidths=0)
        else:
            ax.plot(x, y, ls="none", marker="o", ms=3, color=BLUE, alpha=0.5, mew=0)
        ends = [max(x.min(), y.min()), min(x.max(), y.max())]
        ax.plot(ends, ends, "-", color=VERMILLION, lw=1.6)
        _heading_r(ax, text, x, y)
        ax.set(xlabel=xlabel)
    axes[0].set(ylabel=ylabel)
    return fig


@figure
def pulls(grades: Sequence[float], cosines: Sequence[float], panels: Mapping[str, Sequence[float]],
          *, title: str, target: str | None = None) -> Figure:
    """Draw where each loss wants the cosines of a batch to go, an arrow along the falling gradient.

    Parameters
    ----------
    grades, cosines : array of float, shape (n,), n <= 40
    panels : mapping of loss to gradient by cosine (n,)
        One or two; the longest arrow of each is 0.2 long, below 2 % of it there is none.
    target : str, optional; the panel in which the line cosine = grade / highest is drawn
    """
    y = column("grades", grades, min_rows=2)
    s = column("cosines", cosines, grades=y)
    expect_number("grades", y, 40, 2, "pairs")
    down = {name: -values
            for name, values in checked_columns("panels", panels, most=2, grades=y).items()}
    expect(target is None or target in down,
           f"target={target!r} is none of the panels {', '.join(down)}")
    fig, axes = panel_figure(title, panels, 2, limit=28, size=(7.2, 4.2), sharey=True)
    reach = 0.2
    steps = {name: reach * move / (np.abs(move).max() or 1.0) for name, move in down.items()}
    ends = np.concatenate([s, *(s + step for step in steps.values())])
    low = ends.min() - 0.1                   # below the lowest arrow, not at 0, where no cosine is
    for ax, (name, step) in zip(axes, steps.items(), strict=True):
        ax.set_ylim(low, max(1.0, ends.max()) + 0.03)
        if name == target:
            ax.plot([0, y.max()], [0, 1], "--", color=GREY, lw=1.2, zorder=0)
            at = max(low, 0.0) + 0.04
            note(ax, "cosine = target", (at * y.max(), at), (8, -4), color=GREY, fontsize=10)
        pulled = np.abs(step) > 0.02 * reach
        for i in np.flatnonzero(pulled):
            arrow(ax, (y[i], s[i]), (y[i], s[i] + step[i]), BLUE if step[i] > 0 else VERMILLION,
                  lw=1.8, size=11)
        ax.plot(y[pulled], s[pulled], ls="none", marker="o", ms=5, color=BLACK)
        ax.plot(y[~pulled], s[~pulled], ls="none", marker="o", ms=5, mfc="white", mec=BLACK)
        space = 0.06 * np.ptp(y)
        ax.set(xlabel="grade", xlim=(y.min() - space, y.max() + space) if space else None)
    axes[0].set_ylabel("cosine")
    return fig


# ---------------------------------------------------------------------------- two measures


@figure
def sentence_panels(sentences: Sequence[str], cosines: Mapping[str, np.ndarray],
                    places: Mapping[str, np.ndarray], *, title: str) -> Figure:
    """Draw what encoders make of a few sentences: for each a map, and cosines with the first.

    Parameters
    ----------
    sentences : sequence of str; 2 to 8
    cosines : mapping of encoder to array of float, shape (n,); 1 to 3 encoders
        By standard name. NaN: one of the two has no vector.
    places : mapping of encoder to array of float, shape (n, 2)
        On the map, all maps on one scale. NaN: the sentence has no vector.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    expect_names("cosines", cosines, 3)
    expect_number("sentences", sentences, 8, 2)
    expect(set(places) == set(cosines), "cosines and places have other encoders: "
                                        f"{', '.join(cosines)}; {', '.join(places)}")
    for name in cosines:
        same_length(sentences=sentences, cosines=cosines[name], places=places[name])
    n, row, side, left, gap = len(sentences), 0.28, 1.5, 2.35, 0.13      # inches, as all below
    bars, foot = 0.3 + row * np.arange(n - 0.5, 0, -1), 0.36 + row * n
    fig = Figure(figsize=(7.2, foot + side + 0.66))
    fig.set_layout_engine("none")
    inches = {"transform": fig.dpi_scale_trans}  # no axes: they take half of the time
    write, beside = partial(fig.text, **inches), {"ha": "right", "va": "center"}

    def box(x: float, y: float, width: float, height: float, **look: Any) -> None:
        fig.add_artist(Rectangle((x, y), width, height, **inches, **look))

    write(0.09, foot + side + 0.6, wrapped(title), va="top", fontweight="bold", fontsize=13)
    for k, (y, sentence) in enumerate(zip(bars, sentences, strict=True), 1):
        write(left - 0.1, y, plain(f"{k}  {sentence}", limit=29), fontsize=10, **beside)
    write(left - 0.1, foot + side / 2, "map: near points\nare similar texts", color=GREY, **beside)
    write(left - 0.1, 0.13, "cosine with sentence 1", color=GREY, **beside)
    reach = max(0.2, *(np.nanmax(np.abs(x), initial=0) for x in places.values())) * 1.25
    for k, name in enumerate(cosines):
        colour, x = encoder_look(name).colour, left + k * (side + gap)
        look = {"color": colour, "fontsize": 12, "fontweight": "bold"} | CENTRED
        write(x + side / 2, foot + side + 0.14, plain(name), **look)
        box(x, foot, side, side, fill=False, ec=PALE)
        for where, numbers in _together(places[name], reach):
            write(*(where / reach + 1) * side / 2 + (x, foot), numbers, **look)
        zero, one = x + 0.2, side - 0.6          # where cosine 0 stands, and how long 1 is
        box(zero, 0.3, 0, row * n, ec=GREY, lw=0.8)
        for y, value, (there, _) in zip(bars, cosines[name], places[name], strict=True):
            long = one * float(np.nan_to_num(value))
            box(zero, y - 0.09, long, 0.18, color=PALE if y == bars[0] else colour)
            said = minus(f"{value:.2f}") if value == value else "–"
            write(zero + max(long, 0) + 0.05, y, "no word known" if np.isnan(there) else said,
                  va="center", fontsize=10)
    return fig


def _together(places: np.ndarray, reach: float) -> list[tuple[np.ndarray, str]]:
    """Where the numbers 1, 2, … of points stand; those that would touch side by side."""
    groups: list[tuple[np.ndarray, list[str]]] = []
    for number, place in enumerate(places, 1):
        near = [members for where, members in groups
                if (np.abs(where - place) < np.array([0.3, 0.18]) * reach).all()]
        if near:
            near[0].append(str(number))
        elif not np.isnan(place).any():
            groups.append((place, [str(number)]))
    return [(where, ", ".join(members)) for where, members in groups]


@figure
def plane_of_encoders(points: Mapping[str, tuple[float, float, float]], *, title: str,
                      marked: Sequence[str] = (), score_name: str = "Spearman × 100",
                      score_limits: tuple[float, float] | None = None) -> Figure:
    """Draw encoders by uniformity and alignment, coloured by score; good is down and left.

    [wang2020understanding; gao2021simcse, Fig. 3]

    Parameters
    ----------
    points : mapping of name to (uniformity, alignment, score); 2 to 36
    marked : sequence of str, default (); names that stand out
    score_name : str, default "Spearman × 100"
    score_limits : (float, float), optional
        Where the colours begin and end; an arrow at the scale says that scores lie beyond.
        None: at the lowest and the highest score.
    """
    expect_names("points", points, 36, 2, "encoders")
    expect(set(marked) <= set(points), f"marked={shown(list(marked))}; expected names out of "
                                       f"{', '.join(points)}")
    table = check_array("points", list(points.values()), columns=3)
    scores = table[:, 2]
    low, high = score_limits or (scores.min(), scores.max())
    expect(not score_limits or low < high,
           f"score_limits={score_limits!r}; expected two numbers, the lower one first")
    fig, (ax,) = new_figure(title, size=(7.2, 6.2))
    drawn = ax.scatter(*table[:, :2].T, c=scores, s=64, cmap="cividis", vmin=low, vmax=high,
                       edgecolors=BLACK, linewidths=0.8, zorder=3)
    extend = ("neither", "min", "max", "both")[any(scores < low) + 2 * any(scores > high)]
    fig.colorbar(drawn, ax=ax, location="bottom", shrink=0.6, aspect=40, label=score_name,
                 extend=extend)
    for name in marked:
        ax.plot(*points[name][:2], "o", ms=13, mfc="none", mec=VERMILLION, mew=2, zorder=4)
    ax.set(**PLANE)
    grid(ax, "both")
    ax.margins(0.12)
    fig.draw_without_rendering()                              # settles the layout
    names = sorted(points, key=lambda name: name not in marked)   # what stands out chooses first
    texts = [plain(name, limit=34) for name in names]
    bold = np.array([1.25 if name in marked else 1 for name in names])
    widths = LETTER * bold * [len(text) for text in texts] + 6
    at = in_points(ax, np.array([points[name][:2] for name in names], dtype=float))
    wanted = at + np.column_stack([widths / 2 + 11, np.zeros(len(at))])
    shifts = quiet_places(wanted, widths, at, frame_of(ax), height=13) - at
    line = {"arrowstyle": "-", "color": GREY, "lw": 0.6, "shrinkA": 0, "shrinkB": 3}
    for text, name, shift in zip(texts, names, shifts, strict=True):
        colour, weight = (VERMILLION, "bold") if name in marked else (BLACK, "normal")
        note(ax, text, points[name][:2], shift, fontsize=10, color=colour, fontweight=weight,
             zorder=5, arrowprops=line if np.linalg.norm(shift) > 40 else None, **CENTRED)
    return fig


@figure
def plane_of_trainings(paths: Curves, *, title: str,
                       points: Mapping[str, tuple[float, float]] | None = None) -> Figure:
    """Draw trainings as paths over uniformity and alignment, from a hollow to a large mark.

    [gao2021simcse, Fig. 2]

    Parameters
    ----------
    paths : mapping of name to (uniformity, alignment) at every look
        Two or more looks, at most 5 paths.
    points : mapping of name to (uniformity, alignment), optional; encoders to compare with, in grey
    """
    walks = checked_curves("paths", paths, min_rows=2)
    fig, (ax,) = new_figure(title, size=(7.2, 4.8))
    for (x, y), colour, marker, dash in zip(walks.values(), LINE_COLOURS, MARKERS, DASHES,
                                            strict=False):
        ax.plot(x, y, ls=dash, color=colour, marker=".", ms=6, lw=1.6)
        ax.plot(x[0], y[0], marker=marker, ms=9, mfc="white", mec=colour, mew=1.6, zorder=3)
        ax.plot(x[-1], y[-1], marker=marker, ms=9, color=colour, zorder=3)
    for name, (x, y) in (points or {}).items():
        ax.plot(x, y, marker="P", ms=8, color=GREY, ls="none")
        note(ax, plain(name, limit=26), (x, y), (8, 0), va="center", color=GREY, bbox=VEIL)
    ax.set(**PLANE)
    grid(ax, "both")
    ax.margins(x=0.3, y=0.1)                          # paths end on the left, and so do names
    fig.draw_without_rendering()
    texts = [plain(name, limit=30) for name in walks]
    tips = np.array([[x[-1], y[-1]] for x, y in walks.values()])
    ends = in_points(ax, tips)
    marks = in_points(ax, np.concatenate([np.column_stack(walk) for walk in walks.values()]))
    widths = np.array([LETTER * 1.15 * len(text) + 8 for text in texts])
    wanted = ends - np.column_stack([widths / 2 + 10, np.zeros(len(ends))])
    shifts = quiet_places(wanted, widths, np.repeat(marks, 3, axis=0), frame_of(ax)) - ends
    for text, tip, shift, colour in zip(texts, tips, shifts, LINE_COLOURS, strict=False):
        line = {"arrowstyle": "-", "color": colour, "lw": 0.6} if abs(shift[1]) > 12 else None
        note(ax, text, tip, shift, color=colour, bbox=VEIL, arrowprops=line, **CENTRED)
    return fig


# ---------------------------------------------------------------------------- words as arrows


@figure
def offset_arrows(panels: Mapping[str, tuple[np.ndarray, np.ndarray, Sequence[str],
                                             Sequence[str]]], *, title: str) -> Figure:
    """Draw pairs of words as arrows: of one offset, all arrows of a panel would be parallel.

    [mikolov2013distributed, Fig. 2]

    Parameters
    ----------
    panels : mapping of heading to (starts, ends, names of starts, names of ends)
        One or two; starts and ends have shape (n, 2), n <= 10.
    """
    fig, axes = panel_figure(title, panels, 2, size=(7.2, 4.6))
    for ax, (text, (starts, ends, first, second)) in zip(axes, panels.items(), strict=True):
        starts = plane(f"starts of {text}", starts, names=first)
        ends = plane(f"ends of {text}", ends, names=second, starts=starts)
        expect_number(f"panels[{text!r}]", starts, 10, 1, "pairs")
        for begin, end in zip(starts, ends, strict=True):
            arrow(ax, begin, end, lw=1.1)
        both = np.vstack([starts, ends])
        space = 0.14 * np.ptp(both, axis=0)
        (left, low), (right, high) = (both.min(axis=0) - (1.4, 1) * space,
                                      both.max(axis=0) + (1.4, 1) * space)
        ax.set(xlim=(left, right), ylim=(low, high), xticks=[], yticks=[],
               xlabel="first two principal directions")
        tips = in_points(ax, both)
        way = tips[len(starts) :] - tips[: len(starts)]
        way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
        names = [plain(word, limit=14) for word in (*first, *second)]
        widths, frame = [5.6 * len(name) + 4 for name in names], frame_of(ax)
        wanted = tips + np.vstack([-12 * way, 9 * way])      # behind each start, before each end
        shifts = quiet_places(wanted, widths, frame, frame, height=12) - tips  # beside its arrow
        for k, (name, place, shift) in enumerate(zip(names, both, shifts, strict=True)):
            note(ax, name, place, shift, fontsize=10, **CENTRED,
                 color=BLUE if k < len(starts) else VERMILLION)
    return fig


# ---------------------------------------------------------------------------- the simplex


def _triangle(ax: Axes, corners: Sequence[str], what: str) -> None:
    """An empty triangle with a name at each corner; ``what`` says whose share a point is."""
    expect(len(corners) == 3, f"corners has {len(corners)} names; expected 3")
    ax.fill(*CORNERS.T, facecolor="none", edgecolor=GREY, lw=1.2)
    for place, name, side in zip(CORNERS, corners, (-7, -7, 7), strict=True):
        note(ax, plain(name, limit=20), place, (0, side), ha="center", fontweight="bold",
             va="top" if side < 0 else "bottom")
    bare(ax, aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.1, 0.98),
         xlabel=f"nearer to a corner: more of that {what}")


@figure
def posterior_simplex(panels: Pairs, *, corners: Sequence[str], title: str) -> Figure:
    """Draw samples of a posterior over three topics, their mean, and the single best estimate.

    Parameters
    ----------
    panels : mapping of heading to (samples (n, 3), estimate (3,)); one or two
    corners : sequence of 3 str; the topics
    """
    fig, axes = panel_figure(title, panels, 2, size=(7.2, 4.3))
    for ax, (text, (samples, estimate)) in zip(axes, panels.items(), strict=True):
        samples = distributions(f"samples of {text}", samples)
        estimate = distributions(f"estimate of {text}", np.atleast_2d(estimate))
        _triangle(ax, corners, "topic")
        dots(ax, samples @ CORNERS, ms=2.5, color=BLUE, alpha=0.35, mew=0,
             label="posterior samples")
        dots(ax, samples.mean(axis=0)[None] @ CORNERS, ms=9, mfc="white", mec="black", mew=2,
             label="their mean")
        dots(ax, estimate @ CORNERS, marker="D", ms=9, color=VERMILLION, clip_on=False,
             label="point estimate")
    legend_below(axes[0], 3)
    return fig
