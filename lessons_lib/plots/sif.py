"""Figures about sentences from words: who makes up a mean, where a discourse walks, how much a frequent word may say, and what is taken away.

A weight is a curve over word frequency with words standing on it, a setting is a curve with its good region drawn thick, a space is a bundle of
arrows from the origin, because only their angles count. Seen in ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_choice, check_float
from .documents import group_looks
from .labels import VEIL, end_labels, new_figure
from .style import FILL_COLOURS, GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["cone_panels", "frequency_weights", "share_bars", "tuning_curves", "walk_map"]

MAX_SERIES, MAX_BANDS = 3, 12
BAR_LOOKS = (("#DDDDDD", ""), (PALETTE["vermillion"], "//"), (PALETTE["blue"], ""))
NUMBERED_BANDS = 6                                # with more, the numbers on the bars would touch


@styled()
def share_bars(shares: Mapping[str, Sequence[float]], bands: Sequence[str], *, title: str, xlabel: str, ylabel: str = "share") -> Figure:
    """What several totals are made of, part by part: grouped bars of shares, each total with its own colour and hatch.

    Parameters: shares, name -> one share per band, 1 to 3 names; bands, names of the parts, at most 12; title, the finding; xlabel, what the parts
    are; ylabel. Shares may be negative, where a part pulls the other way.
    """
    heights = {name: check_array(f"shares[{name!r}]", values, ndim=1, min_rows=1) for name, values in shares.items()}
    if not 1 <= len(heights) <= MAX_SERIES or len(bands) > MAX_BANDS or {len(h) for h in heights.values()} != {len(bands)}:
        raise ValueError(f"shares holds {len(heights)} totals of {sorted({len(h) for h in heights.values()})} parts for {len(bands)} bands; expected "
                         f"1 to {MAX_SERIES} totals, a share for each band, and at most {MAX_BANDS} bands")
    fig, (ax,) = new_figure(title, size=(7.2, 4.0))
    places, width = np.arange(len(bands)), 0.8 / len(heights)
    for k, ((name, values), (colour, hatch)) in enumerate(zip(heights.items(), BAR_LOOKS, strict=False)):
        at = places + (k - (len(heights) - 1) / 2) * width
        ax.bar(at, values, width=0.94 * width, color=colour, hatch=hatch, edgecolor="white" if hatch else GREY, linewidth=0.8,
               label=plain(name, limit=50))
        if len(bands) <= NUMBERED_BANDS:
            for x, value in zip(at, values, strict=True):
                ax.annotate(f"{100 * value:.0f}", (x, max(value, 0)), (0, 3), textcoords="offset points", ha="center", fontsize=10)
    ax.set_xticks(places, [plain(band, limit=16) for band in bands])
    ax.tick_params(axis="x", length=0)
    ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.0f} %")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.margins(y=0.1)
    if len(heights) > 1:
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(heights), frameon=False)
    return fig


@styled()
def walk_map(path: np.ndarray, places: np.ndarray, names: Sequence[str], said: Sequence[int], *, title: str,
             by_frequency: Sequence[bool] | None = None) -> Figure:
    """A discourse that walks over a plane of words, and the word that each step says.

    Parameters: path (steps, 2), where the discourse is; places (n, 2) and names (n,) of the words; said (steps,), row of the word of each step;
    title, the finding; by_frequency (steps,), whether the word was said only because it is frequent: such steps are drawn dashed.
    """
    path, places = check_array("path", path, columns=2, min_rows=2), check_array("places", places, columns=2, min_rows=1)
    chance = np.zeros(len(path), dtype=bool) if by_frequency is None else np.asarray(by_frequency, dtype=bool)
    if len(names) != len(places) or not len(said) == len(chance) == len(path):
        raise ValueError(f"names, said and by_frequency have {len(names)}, {len(said)} and {len(chance)} values for {len(places)} words and "
                         f"{len(path)} steps; expected a name for each word, and a word for each step")
    if min(said) < 0 or max(said) >= len(places):
        raise ValueError(f"said holds {min(said)} to {max(said)}; expected rows of the {len(places)} words")
    fig, (ax,) = new_figure(title, size=(7.2, 5.2))
    for step, word in enumerate(said):
        dash, colour = ("--", PALETTE["vermillion"]) if chance[step] else ("-", PALETTE["blue"])
        ax.plot(*np.vstack([path[step], places[word]]).T, dash, color=colour, lw=1.1, alpha=0.8, zorder=1)
    ax.plot(*path.T, "-", color=PALETTE["black"], lw=2.5, zorder=2, label="the discourse walks")
    ax.plot(*path.T, "o", color=PALETTE["black"], ms=4, zorder=3)
    ax.plot([], [], "-", color=PALETTE["blue"], label="says a near word")
    ax.plot([], [], "--", color=PALETTE["vermillion"], label="says a word for its frequency")
    for place, name in zip(places, names, strict=True):
        ax.annotate(plain(name, limit=16), tuple(place), ha="center", va="center", bbox=VEIL, zorder=4)
    ax.annotate("start", tuple(path[0]), (0, -14), textcoords="offset points", ha="center", color=GREY, bbox=VEIL, zorder=5)
    ax.update_datalim(places)
    ax.margins(0.1)
    ax.set(xticks=[], yticks=[], xlabel="two of the directions of word vectors")
    ax.spines[:].set_visible(False)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return fig


@styled()
def frequency_weights(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str,
                      words: Mapping[str, tuple[float, float]] | None = None, highlight: str | None = None,
                      ylabel: str = "weight of the word") -> Figure:
    """Weights against word frequency, with some words standing on their curve.

    Parameters: curves, name -> (frequencies above 0, weights), at most 9; without a highlight at most 5, in five colours; title, the finding; words,
    word -> (frequency, weight); highlight, the curve to be drawn in colour, the others in grey.
    """
    if not 1 <= len(curves) <= (len(LINE_COLOURS) if highlight is None else 9):
        raise ValueError(f"curves holds {len(curves)} lines; expected 1 to {len(LINE_COLOURS)}, or up to 9 of which one is the highlight")
    if highlight is not None:
        check_choice("highlight", highlight, tuple(curves))
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    for k, (name, (p, weight)) in enumerate(curves.items()):
        x, y = (check_array(f"curves[{name!r}][{side}]", values, ndim=1, min_rows=2) for side, values in enumerate((p, weight)))
        if x.min() <= 0:
            raise ValueError(f"curves[{name!r}] has the frequency {x.min():g}; expected numbers above 0 on a logarithmic axis")
        pale = highlight not in (None, name)
        colour = GREY if pale else LINE_COLOURS[k if highlight is None else 0]
        ax.plot(x, y, "-", color=colour, lw=1 if pale else 2.5, alpha=0.6 if pale else 1.0)
        middle = int(np.abs(y - y.max() / 2).argmin())
        ax.annotate(plain(name, limit=24), (x[middle], y[middle]), (5, 5), textcoords="offset points", color=colour, bbox=VEIL,
                    fontweight="normal" if pale else "bold")
    for word, (p, weight) in (words or {}).items():
        ax.plot([p], [weight], "o", color="white", mec=PALETTE["black"], mew=1.6, zorder=5)
        ax.annotate(plain(word, limit=20), (p, weight), (0, -15), textcoords="offset points", ha="center", bbox=VEIL, zorder=4)
    ax.set(xscale="log", xlabel="share of all tokens, p(w) (log scale)", ylabel=ylabel, ylim=(-0.13 * ax.get_ylim()[1], None))
    return fig


@styled()
def tuning_curves(sizes: Sequence[float], scores: Mapping[str, Sequence[float]], *, title: str, xlabel: str, ylabel: str, tolerance: float,
                  marks: Mapping[str, float] | None = None) -> Figure:
    """Scores against a setting on a log axis: the best value of each curve is a diamond, and what is nearly as good is drawn thick.

    Parameters: sizes (n,), values of the setting above 0; scores, name -> (n,), at most 5; title, the finding; tolerance, how far below its best a
    curve is drawn thick; marks, name -> value of the setting, drawn as upright dashed lines.
    """
    x, tolerance = check_array("sizes", sizes, ndim=1, min_rows=2), check_float("tolerance", tolerance, low=0.0)
    if x.min() <= 0:
        raise ValueError(f"sizes holds {x.min():g}; expected numbers above 0 on a logarithmic axis")
    columns = {name: check_array(f"scores[{name!r}]", values, ndim=1, min_rows=1) for name, values in scores.items()}
    if not 1 <= len(columns) <= len(LINE_COLOURS) or {len(y) for y in columns.values()} != {len(x)}:
        raise ValueError(f"scores holds {len(columns)} curves of {sorted({len(y) for y in columns.values()})} values for {len(x)} sizes; expected 1 "
                         f"to {len(LINE_COLOURS)} curves with a value for each size")
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    ax.set(xscale="log", xlabel=xlabel + " (log scale)", ylabel=ylabel)
    for y, colour, marker in zip(columns.values(), LINE_COLOURS, MARKERS, strict=False):
        good = y >= y.max() - tolerance
        ax.plot(x, y, "-", color=colour, marker=marker, ms=4)
        ax.plot(x, np.where(good, y, np.nan), "-", color=colour, lw=9, alpha=0.28, solid_capstyle="round", marker="o", ms=9, mew=0)
        ax.plot([x[y.argmax()]], [y.max()], "D", color=colour, mec="black", ms=9, zorder=4)
    ax.margins(y=0.12)
    low, high = ax.get_ylim()
    for name, place in (marks or {}).items():
        ax.plot([place, place], [low, high], "--", color=GREY, lw=1.3, zorder=0)
        ax.annotate(plain(name, limit=30), (place, low), (5, 5), textcoords="offset points", color=GREY, bbox=VEIL)
    ax.set_ylim(low, high)
    last = int(x.argmax())
    end_labels(ax, [x[last]] * len(columns), [y[last] for y in columns.values()], [plain(name, limit=26) for name in columns],
               list(LINE_COLOURS[: len(columns)]))
    return fig


@styled()
def cone_panels(panels: Mapping[str, np.ndarray], labels: Sequence[Any], *, title: str, axis_names: Sequence[tuple[str, str]] = ()) -> Figure:
    """Vectors as arrows from the origin, on equal axes, because only angles count for a cosine: the same vectors in one or two ways.

    Parameters: panels, heading -> points (n, 2), one or two; labels (n,), group of each vector, at most 5 groups; title, the finding; axis_names, a
    pair for each panel.
    """
    points = {name: check_array(f"panels[{name!r}]", p, columns=2, min_rows=1) for name, p in panels.items()}
    groups = group_looks(labels)
    if not 1 <= len(points) <= 2 or {len(p) for p in points.values()} != {len(labels)} or len(groups) > len(LINE_COLOURS):
        raise ValueError(f"panels holds {len(points)} pictures of {sorted({len(p) for p in points.values()})} vectors for {len(labels)} labels of "
                         f"{len(groups)} groups; expected 1 or 2 pictures, a label for each vector, and at most {len(LINE_COLOURS)} groups")
    fig, axes = new_figure(title, size=(7.2, 4.6), panels=len(points))
    for k, (ax, (heading, at)) in enumerate(zip(axes, points.items(), strict=True)):
        for name, (colour, marker, rows) in groups.items():
            _arrows(ax, at[rows], colour, marker, plain(name, limit=20))
        reach = 1.08 * float(np.abs(at).max()) or 1.0
        x_name, y_name = axis_names[k] if k < len(axis_names) else ("", "")
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[], yticks=[], xlabel=x_name, ylabel=y_name)
        ax.plot([-reach, reach, np.nan, 0, 0], [0, 0, np.nan, -reach, reach], "-", color="#BBBBBB", lw=0.8, zorder=0)
        ax.spines[:].set_visible(False)
        ax.set_title(plain(heading), loc="center", fontsize=12)
    columns = len(groups) if sum(map(len, groups)) < 50 else 2
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False)
    return fig


def _arrows(ax: Axes, tips: np.ndarray, colour: str, marker: str, name: str) -> None:
    lines = np.full((3 * len(tips), 2), np.nan)      # a gap after each line
    lines[0::3], lines[1::3] = 0, tips
    ax.plot(*lines.T, "-", color=colour, lw=0.7, alpha=0.5, zorder=1)
    ax.plot(*tips.T, ls="none", marker=marker, ms=5, color=colour, mec="black" if colour in FILL_COLOURS else colour, label=name, zorder=2)
