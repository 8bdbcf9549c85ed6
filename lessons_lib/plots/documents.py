"""Figures about documents as points: which lie near which, what a query finds, which pairs are alike, and what a size does to a score.

A map has a label at every group instead of a legend, a similarity table has its numbers in the cells, a ranking shows the score of each
hit, a curve has its name at its end. Seen in ``01_one_hot``, ``02_bag_of_words`` and, for every later encoder, in the document maps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array
from .labels import VEIL, count_text, end_labels, in_points, new_figure, quiet_places
from .style import FILL_COLOURS, GREY, INK_OF, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["document_map", "group_looks", "retrieval_bars", "score_curves", "similarity_matrix"]

MAX_GROUPS = 20
GROUP_COLOURS = (*LINE_COLOURS, *FILL_COLOURS)
GROUP_MARKERS = (*MARKERS, "P", "X", "*")
EDGE = 0.9                                        # width of the dark edge of a pale mark, in points
NAME_WIDTH = 0.68                                 # width of a bold letter, as a share of its size
HALO = 3.0                                        # width of the white border of a name, in points
MAX_CELLS = 14                                    # rows or columns whose numbers stay readable


def group_looks(labels: Sequence[Any]) -> dict[str, tuple[str, str, np.ndarray]]:
    """Colour, marker and row numbers of each group, in order of first appearance; up to 8 groups share neither colour nor marker.

    Raises ValueError for more than 20 groups.
    """
    names = list(dict.fromkeys(str(label) for label in labels))
    if len(names) > MAX_GROUPS:
        raise ValueError(f"labels has {len(names)} different values; expected <= {MAX_GROUPS}, or nobody can tell them apart. "
                         "Draw some of the groups")
    of_row = np.array([str(label) for label in labels])
    return {name: (GROUP_COLOURS[k % 8], GROUP_MARKERS[(k + k // 8) % 8], np.flatnonzero(of_row == name)) for k, name in enumerate(names)}


@styled()
def document_map(points: np.ndarray, labels: Sequence[Any], *, title: str, names: Mapping[int, str] | None = None,
                 axis_names: tuple[str, str] = ("", "")) -> Figure:
    """Documents as points of the plane, one colour and marker per group, each group named beside its points.

    Parameters: points (n, 2); labels (n,), group of each document, at most 20 groups; title, the finding; names, row -> text for the few
    documents to be named; axis_names, what the two axes are. Axes without a name have no meaning of their own, so they get no ticks.
    """
    points = check_array("points", points, columns=2, min_rows=1)
    if len(labels) != len(points):
        raise ValueError(f"labels has {len(labels)} values for {len(points)} points; expected one per point")
    fig, (ax,) = new_figure(title, size=(7.2, 5.2))
    groups = group_looks(labels)
    size = float(np.clip(110 / len(points) ** 0.5, 3, 8))
    for colour, marker, rows in groups.values():
        ax.plot(points[rows, 0], points[rows, 1], ls="none", ms=size, alpha=0.8, **_mark(colour, marker))
    ax.margins(0.08)
    ax.set(xlabel=axis_names[0], ylabel=axis_names[1])
    if not any(axis_names):
        ax.set(xticks=[], yticks=[], xlabel="position on the map (near means alike)")
        ax.spines[:].set_visible(False)
    _name_groups(ax, points, groups)
    for row, text in (names or {}).items():
        ax.plot(*points[row], "o", mfc="none", mec="black", ms=9)
        ax.annotate(plain(text, limit=40), tuple(points[row]), (8, 6), textcoords="offset points", bbox=VEIL)
    return fig


def _mark(colour: str, marker: str) -> dict[str, Any]:
    """Settings of a group's marks; pale colours get a dark edge."""
    pale = colour in FILL_COLOURS
    return {"color": colour, "marker": marker, "mec": "black" if pale else colour, "mew": EDGE if pale else 0}


def _name_groups(ax: Axes, points: np.ndarray, groups: dict[str, tuple[str, str, np.ndarray]]) -> None:
    """The name of each group where it covers few points and is near the group's median point."""
    from matplotlib.patheffects import withStroke

    ax.figure.draw_without_rendering()              # settles the layout, so that points of the page can be computed
    names = [plain(name, limit=30) for name in groups]
    letters = 12 if len(names) <= 8 else 10
    centres = np.array([np.median(points[rows], axis=0) for _, _, rows in groups.values()])
    frame = in_points(ax, np.array([[x, y] for x, y in zip(ax.get_xlim(), ax.get_ylim(), strict=True)]))
    starts = in_points(ax, centres)
    shifts = quiet_places(starts, [NAME_WIDTH * letters * len(name) for name in names], in_points(ax, points), frame, height=1.35 * letters) - starts
    for name, centre, shift, (colour, _, _) in zip(names, centres, shifts, groups.values(), strict=True):
        label = ax.annotate(name, tuple(centre), tuple(shift), textcoords="offset points", color=INK_OF.get(colour, colour), ha="center",
                            va="center", fontweight="bold", fontsize=letters, path_effects=[withStroke(linewidth=HALO, foreground="white")])
        label.set_in_layout(False)                  # a name that was moved far must not shrink the map


@styled()
def retrieval_bars(labels: Sequence[str], scores: Sequence[float], *, title: str, relevant: Sequence[bool] | None = None,
                   xlabel: str = "score") -> Figure:
    """The best hits of a query, best first, each with its score; relevant ones are filled and marked, others hollow.

    Parameters: labels (k,), what was found, k <= 20; scores (k,); title, the finding; relevant (k,), whether a hit answers the query;
    xlabel, what the score is.
    """
    scores = check_array("scores", scores, ndim=1, min_rows=1)
    right = np.ones(len(scores), dtype=bool) if relevant is None else np.asarray(relevant, dtype=bool)
    if not len(labels) == len(scores) == len(right) <= 20:
        raise ValueError(f"labels, scores and relevant have {len(labels)}, {len(scores)} and {len(right)} values; expected equal numbers <= 20")
    fig, (ax,) = new_figure(title, size=(7.2, 1.3 + 0.34 * len(scores)))
    places = np.arange(len(scores))
    colours = np.where(right, PALETTE["blue"], "white")
    ax.barh(places, scores, height=0.66, color=colours, edgecolor=[PALETTE["blue"] if r else GREY for r in right], linewidth=1.2)
    for place, score in enumerate(scores):
        ax.annotate(f"{score:.2f}", (max(score, 0), place), (5, 0), textcoords="offset points", va="center")
    marks = [""] * len(scores) if relevant is None else ["✓ " if r else "✗ " for r in right]
    ax.set_yticks(places, [mark + plain(label, limit=44) for mark, label in zip(marks, labels, strict=True)])
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel=xlabel, xlim=(min(0, scores.min()), max(scores.max(), 1e-9) * 1.14), ylim=(len(scores) - 0.4, -0.6))
    return fig


@styled()
def score_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str, xlabel: str, ylabel: str,
                 levels: Mapping[str, float] | None = None, log: bool = True, ticks: Sequence[float] | None = None) -> Figure:
    """A score against a size, such as the dimension, one line per method; methods without a size are level lines.

    Parameters: curves, name -> (sizes, scores), at most 5; title, the finding; xlabel, ylabel, what the sizes and scores are; levels, name ->
    score, drawn dashed; log, logarithmic sizes; ticks, where the axis has numbers (None: at each size that was measured).
    """
    if not 1 <= len(curves) <= len(LINE_COLOURS):
        raise ValueError(f"curves holds {len(curves)} lines; expected 1 to {len(LINE_COLOURS)}, or nobody can tell them apart")
    measured = {name: [check_array(f"curves[{name!r}][{k}]", values, ndim=1, min_rows=1) for k, values in enumerate(pair)]
                for name, pair in curves.items()}
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    for (x, y), colour, marker in zip(measured.values(), LINE_COLOURS, MARKERS, strict=False):
        ax.plot(x, y, "-", color=colour, marker=marker)
    sizes = np.unique(np.concatenate([x for x, _ in measured.values()]))
    ax.set(xscale="log" if log else "linear", xlabel=xlabel + (" (log scale)" if log else ""), ylabel=ylabel)
    for score in (levels or {}).values():
        ax.plot(sizes[[0, -1]], [score, score], "--", color=GREY, lw=1.5)
    if log or ticks is not None:
        places = sizes if ticks is None else check_array("ticks", ticks, ndim=1)
        ax.set_xticks(places, [f"{place:g}" if place < 10_000 else count_text(place) for place in places])
        ax.minorticks_off()
    ax.margins(y=0.12)
    ends = [(x[-1], y[-1]) for x, y in measured.values()] + [(sizes[-1], score) for score in (levels or {}).values()]
    names = [plain(name, limit=28) for name in (*measured, *(levels or {}))]
    end_labels(ax, *zip(*ends, strict=True), names, [*LINE_COLOURS[: len(measured)], *[GREY] * len(levels or {})])
    return fig


@styled()
def similarity_matrix(values: np.ndarray, labels: Sequence[str], *, title: str, columns: Sequence[str] | None = None,
                      limits: tuple[float, float] | None = (0.0, 1.0), form: str = "{:.2f}", axis_names: tuple[str, str] = ("", ""),
                      outlined: Sequence[tuple[int, int]] = ()) -> Figure:
    """A table of numbers as a heat map with each number in its cell: cosines, distances, one-hot rows, counts.

    Parameters: values (rows, columns), at most 14 of each; labels, names of the rows; title, the finding; columns, names of the columns (default:
    labels); limits of the colours (None: those of the values); form, format of a cell; axis_names, what the rows and the columns are;
    outlined, (row, column) of the cells that carry the finding.
    """
    from matplotlib.patches import Rectangle

    values = check_array("values", values, min_rows=1)
    across = labels if columns is None else columns
    if values.shape != (len(labels), len(across)) or max(values.shape) > MAX_CELLS:
        raise ValueError(f"values has shape {values.shape} for {len(labels)} labels and {len(across)} columns; expected these to agree, "
                         f"and at most {MAX_CELLS} of each")
    low, high = limits if limits is not None else (float(values.min()), float(values.max()))
    long = max(len(str(name)) for name in across) * len(across) > 60
    numbered = long and columns is None              # long names stand once, at the rows; their numbers stand above the columns
    slanted = long and not numbered
    fig, (ax,) = new_figure(title, size=(7.2, 1.2 + 0.42 * len(labels) + (0.8 if slanted else 0)))
    image = ax.imshow(values, cmap="cividis", vmin=low, vmax=high if high > low else low + 1, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        ax.annotate(form.format(value), (column, row), ha="center", va="center", color=_readable_on(image.to_rgba(value)), fontsize=10)
    for row, column in outlined:
        ax.add_patch(Rectangle((column - 0.46, row - 0.44), 0.92, 0.88, fill=False, edgecolor=PALETTE["orange"], linewidth=3))
    ax.set_yticks(range(len(labels)), [f"{k}  {plain(name, limit=40)}" if numbered else plain(name, limit=40) for k, name in enumerate(labels, 1)])
    ax.set_xticks(range(len(across)), [str(k) if numbered else plain(name, limit=14) for k, name in enumerate(across, 1)],
                  rotation=35 if slanted else 0, ha="left" if slanted else "center")
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set(ylabel=axis_names[0], xlabel=axis_names[1])
    ax.xaxis.set_label_position("top")
    return fig


def _readable_on(colour: tuple[float, float, float, float]) -> str:
    """Black or white, whichever has the higher contrast on a colour (WCAG luminance)."""
    channels = np.array(colour[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < 0.179 else "black"
