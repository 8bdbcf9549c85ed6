"""Figures of the outlook: the whole course as one climb over its lessons, a sentence squeezed through one vector, two races.

The climb keeps the order of the lessons, marks what every step can do without training, and draws how far the best so far had come; the diagram
shows which pieces encoder and decoder are allowed to see; ways to learn stand on one scale, and lines of vectors that are cut short keep their colour
from picture to picture. Seen in ``16_outlook``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_choice, shown
from .labels import VEIL, in_points, new_figure, spread
from .leaderboard import _span
from .sbert import _dot
from .style import GREY, MARKERS, PALETTE, plain, styled
from .word2vec import arrow, box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..evaluation import LeaderboardRow

__all__ = ["bottleneck_diagram", "cut_curves", "leaderboard_climb", "race_dots"]

BLUE, VERMILLION, GREEN, PURPLE, BLACK = (PALETTE[name] for name in ("blue", "vermillion", "green", "purple", "black"))
COLOURS = (BLUE, GREEN, VERMILLION, PURPLE, BLACK)
SIDES = ("end", "start")
INK = {PURPLE: "#8F3F6E"}                         # of words: dark enough on white
MOST_STEPS = 30
MOST_PIECES = 9


@styled()
def leaderboard_climb(families: Mapping[str, Mapping[str, LeaderboardRow]], *, dataset: str, title: str,
                      controls: Mapping[str, LeaderboardRow] | None = None, apart: str | None = None) -> Figure:
    """The course in one picture: a dot with its 95 % interval for each method, from top to bottom, and a line for the best so far.

    Parameters: families, name -> label -> row of a leaderboard, one to five families in the course's order, 30 rows at most; dataset, measured in
    every row; title, the finding; controls, label of a row -> the row of its untrained twin, a hollow mark on the same line; apart, the family that
    is there to compare with and does not count for the best so far. Raises ValueError for a row without the set, or a control that belongs to none.
    """
    steps = [(label, row, k) for k, rows in enumerate(families.values()) for label, row in rows.items()]
    twins = dict(controls or {})
    _check_climb(families, steps, twins, dataset, apart)
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.34 * len(steps)))
    counted = [k for k, name in enumerate(families) if name != apart]
    _best_so_far(ax, [_span(row, dataset)[1] for _, row, k in steps if k in counted])
    for place, (label, row, k) in enumerate(steps):
        low, score, high = _span(row, dataset)
        ax.plot([low, high], [place, place], "-", color=COLOURS[k], lw=6, alpha=0.3, solid_capstyle="butt")
        ax.plot([score], [place], marker=MARKERS[k], ls="none", color=COLOURS[k], ms=8)
        untrained = _span(twins[label], dataset)[1] if label in twins else low
        if label in twins:
            ax.plot([untrained], [place], marker="o", ls="none", mfc="white", mec=BLACK, mew=1.4, ms=7)
        left = untrained > score                      # the number stands where the hollow mark does not
        ax.annotate(f"{score:.0f}", (low if left else high, place), (-8 if left else 8, 0), textcoords="offset points", va="center",
                    ha="right" if left else "left", color=INK.get(COLOURS[k], COLOURS[k]), fontweight="bold", bbox=VEIL)
    _frame(ax, families, steps, dataset, twins)
    return fig


def _check_climb(families: Mapping, steps: Sequence[tuple], twins: Mapping, dataset: str, apart: str | None) -> None:
    if not 1 <= len(families) <= len(COLOURS) or not 1 <= len(steps) <= MOST_STEPS:
        raise ValueError(f"families holds {len(families)} families with {len(steps)} rows; expected 1 to {len(COLOURS)}, and 1 to {MOST_STEPS} rows")
    labels = [label for label, _, _ in steps]
    if len(set(labels)) < len(labels) or (unknown := [label for label in twins if label not in labels]):
        raise ValueError(f"labels {shown(labels)} hold a name twice" if len(set(labels)) < len(labels) else
                         f"controls[{shown(unknown[0])}] belongs to no row; expected one of {', '.join(labels)}")
    for name, row in [*((label, row) for label, row, _ in steps), *twins.items()]:
        if dataset not in row.scores:
            raise ValueError(f"{shown(name)} was not measured on dataset={shown(dataset)}; it has {', '.join(row.scores)}")
    if apart is not None and apart not in families:
        raise ValueError(f"apart={shown(apart)} is no family; expected one of {', '.join(families)}")


def _best_so_far(ax: Axes, scores: Sequence[float]) -> None:
    """A staircase through the highest score up to each row."""
    if scores:
        best = np.maximum.accumulate(scores)
        ax.plot(np.repeat(best, 2), np.ravel([(place - 0.5, place + 0.5) for place in range(len(best))]), "-", color=GREY, lw=1.4, zorder=0.5)


def _frame(ax: Axes, families: Mapping, steps: Sequence[tuple], dataset: str, twins: Mapping) -> None:
    """Names on the left, families on the right, axis below."""
    spans = [_span(row, dataset) for _, row, _ in steps] + [_span(row, dataset) for row in twins.values()]
    low, high = min(s[0] for s in spans), max(s[2] for s in spans)
    low, right, first = low - 0.1 * (high - low), high + 0.14 * (high - low), 0
    for k, (name, rows) in enumerate(families.items()):
        middle, ink = first + (len(rows) - 1) / 2, INK.get(COLOURS[k], COLOURS[k])
        ax.plot([right, right], [first - 0.35, first + len(rows) - 0.65], "-", color=COLOURS[k], lw=3, clip_on=False)
        ax.annotate(plain(name, limit=24), (right, middle), (7, 0), textcoords="offset points", va="center", color=ink, fontweight="bold",
                    annotation_clip=False)
        first += len(rows)
    ax.set_yticks(range(len(steps)), [plain(label, limit=34) for label, _, _ in steps])
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="#DDDDDD", lw=0.8)
    ax.set_axisbelow(True)
    ax.set(xlim=(low, right), ylim=(len(steps) - 0.4, -0.6))
    hollow = "; hollow: untrained" if twins else ""
    ax.set_xlabel(f"Spearman × 100 on {plain(dataset)}; bars: 95% interval{hollow}; grey line: best so far")


@styled()
def bottleneck_diagram(pieces: Sequence[str], *, encoder_hides: Sequence[bool], decoder_hides: Sequence[bool], title: str) -> Figure:
    """A text as the encoder of an auto-encoder sees it, the one vector that passes, and the text as the weak decoder sees it.

    Parameters: pieces of the text, 2 to 9; encoder_hides, decoder_hides, which of them each of the two is not shown; title, the finding. Raises
    ValueError for as many flags as there are no pieces, or a decoder from which nothing is hidden. [xiao2022retromae, Fig. 1]
    """
    n, hidden = len(pieces), np.asarray([encoder_hides, decoder_hides], dtype=bool) if len(encoder_hides) == len(decoder_hides) else np.zeros((2, 0))
    if not 2 <= n <= MOST_PIECES or hidden.shape[1] != n or not hidden[1].any():
        raise ValueError(f"pieces has {n} pieces and {len(encoder_hides)} and {len(decoder_hides)} flags; expected 2 to {MOST_PIECES}, a flag for "
                         "each piece on both sides, and at least one piece that the decoder has to guess")
    fig, (ax,) = new_figure(title, size=(7.2, 4.3))
    middle = (n - 1) / 2
    for row, (y, name) in enumerate(((4, "the encoder\nsees"), (0.9, "the decoder\nsees"))):
        for i, piece in enumerate(pieces):
            gone = bool(hidden[row, i])
            box(ax, i, y, "?" if gone else plain(piece, limit=9), GREY if gone else (BLUE, GREEN)[row], filled=gone)
        ax.annotate(name, (-0.75, y), ha="right", va="center", color=(BLUE, GREEN)[row], fontweight="bold")
    box(ax, middle, 2.5, "one vector", VERMILLION, filled=True)
    for i in range(n):
        arrow(ax, (i, 3.66), (middle + 0.25 * (i - middle), 2.82), BLUE, lw=1.0)
    for i in np.flatnonzero(hidden[1]):
        arrow(ax, (middle + 0.25 * (i - middle), 2.18), (i, 1.28), VERMILLION, lw=1.0)
        box(ax, i, -0.35, plain(pieces[i], limit=9), VERMILLION)
        arrow(ax, (i, 0.55), (i, -0.02), GREY, lw=1.0)
    for y, text, colour in ((3.2, "all blocks", BLUE), (1.7, "one block", GREEN), (-0.35, "and has\nto guess", VERMILLION)):
        ax.annotate(text, (-0.75, y), ha="right", va="center", color=colour, fontweight="bold" if y < 0 else "normal")
    ax.set(xlim=(-0.75 - 0.27 * n, n - 0.4), ylim=(-0.8, 4.5), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return fig


@styled()
def race_dots(panels: Mapping[str, Mapping[str, tuple[float, float]]], *, title: str, controls: Mapping[str, Mapping[str, tuple[float, float]]],
              xlabel: str, control: str = "start weights") -> Figure:
    """Ways to learn, a row for each and a panel for each text, all on *one* scale; a dotted line goes through the first row. No row is painted as
    the winner: where spreads overlap nobody won.

    Parameters: panels, heading -> row -> (mean, standard deviation), one or two with the same rows; title, the finding; controls, in the same form,
    drawn hollow; xlabel; control, what a hollow mark is. Raises ValueError.
    """
    tables = list(panels.values())
    if not 1 <= len(panels) <= 2 or not tables[0] or any(list(table) != list(tables[0]) for table in tables) or not set(controls) <= set(panels):
        raise ValueError(f"panels holds {len(panels)} panels with {[len(table) for table in tables]} rows, and controls {sorted(controls)}; expected "
                         "one or two panels with the same rows, and controls for these panels")
    fig, axes = new_figure(title, size=(7.2, 1.8 + 0.4 * len(tables[0])), panels=len(panels), sharex=True, sharey=True)
    for ax, (heading, table) in zip(axes, panels.items(), strict=True):
        ax.axvline(next(iter(table.values()))[0], color=GREY, ls=":", lw=1.5, zorder=0.5)
        for place, (row, value) in enumerate(table.items()):
            if row in controls.get(heading, {}):
                _dot(ax, controls[heading][row], place, GREY, hollow=True)
            _dot(ax, value, place, BLUE, named=True)
        ax.set_yticks(range(len(table)), [plain(row, limit=26) for row in table])
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="#DDDDDD", lw=0.8)
        ax.set_axisbelow(True)
        ax.set_title(plain(heading, limit=34), loc="center", fontsize=12)
        for text in ax.texts:
            text.set_bbox(VEIL)                                   # the dotted line would go through it
        ax.margins(x=0.1)
        ax.set(ylim=(len(table) - 0.5, -0.7), xlabel=xlabel + (f"\nhollow: {plain(control)}" if controls.get(heading) else ""))
    return fig


@styled()
def cut_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str, ylabel: str, like: Mapping[str, str] | None = None,
               names: str = "end", xlabel: str = "numbers kept") -> Figure:
    """What vectors are worth that are cut short, a line for each encoder, sizes on a log scale.

    Parameters: curves, name -> (sizes, scores), the same sizes for all; title, the finding; ylabel; like, name -> name of the line whose colour it
    takes, dashed with hollow marks, so that at most five colours are left; names, where lines have theirs: at the "end" of the whole vector or at the
    "start", for lines that all end in one place; xlabel. Raises ValueError.
    """
    check_choice("names", names, SIDES)
    like, sizes = dict(like or {}), [list(x) for x, _ in curves.values()]
    own = [name for name in curves if name not in like]
    if not 1 <= len(own) <= len(COLOURS) or any(x != sizes[0] for x in sizes) or not set(like) <= set(curves) or not set(like.values()) <= set(own):
        raise ValueError(f"curves holds {len(own)} lines of their own colour, like names {sorted(like.items())}; expected 1 to {len(COLOURS)}, the "
                         "same sizes in each line, and in like lines of curves, each like one that has a colour of its own")
    fig, (ax,) = new_figure(title, size=(7.2, 4.8))
    for name, (x, y) in curves.items():
        place, twin = own.index(like.get(name, name)), name in like
        ax.plot(x, y, "--" if twin else "-", color=COLOURS[place], marker=MARKERS[place], mfc="white" if twin else COLOURS[place])
    low, high = sizes[0][0], sizes[0][-1]
    ax.set(xscale="log", xlabel=f"{xlabel} (log scale)", ylabel=ylabel)
    ax.set_xticks(sizes[0], [f"{size:g}" for size in sizes[0]])
    ax.minorticks_off()
    ax.margins(y=0.08)
    if names == "start":
        ax.set_xlim(low * (high / low) ** -0.28)                  # room for the names
    _line_names(ax, curves, [COLOURS[own.index(like.get(name, name))] for name in curves], names)
    return fig


def _line_names(ax: Axes, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], colours: Sequence[str], side: str) -> None:
    """The name of each line beside its last point, or before its first one."""
    at = -1 if side == "end" else 0
    points = [(x[at], y[at]) for x, y in curves.values()]
    heights = in_points(ax, np.array(points, dtype=float))[:, 1]
    for name, point, shift, colour in zip(curves, points, spread(heights, 15) - heights, colours, strict=True):
        ax.annotate(plain(name, limit=28), point, (8 if at else -8, shift), textcoords="offset points", va="center", ha="left" if at else "right",
                    color=INK.get(colour, colour), annotation_clip=False)
