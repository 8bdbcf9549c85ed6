"""Figures about networks that share their weights: who reads what, cosines by label, and what each part of a recipe is worth.

A diagram shows that both towers are one encoder, rows of cosines show which labels the space tells apart, and an ablation sets what was printed
beside what was measured, each on its own scale. Seen in ``10_sbert``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array
from .labels import new_figure
from .style import GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled
from .word2vec import arrow, box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ablation_dots", "cosines_by_label", "siamese_diagram"]

BLUE, VERMILLION, GREEN, BLACK = (PALETTE[name] for name in ("blue", "vermillion", "green", "black"))
MOST_ROWS = 12
HEIGHTS = {"text": 0.0, "encoder": 1.15, "vector": 2.3, "answer": 3.6}
LETTERS = {1: "u", 2: "uv", 3: "apn"}              # a vector for each text: a pair, or anchor, positive and negative


# ------------------------------------------------------------------------------------------------ who reads what


@styled()
def siamese_diagram(panels: Mapping[str, tuple[Sequence[str], str]], *, title: str, joined: Sequence[str] = ()) -> Figure:
    """Networks as drawings: texts below, the encoder that reads them, a vector for each, and what is asked of the vectors.

    Parameters: panels, heading -> (names of one to three texts, the question on top), one or two; title, the finding; joined, headings of networks
    that read all their texts at once and make no vectors. Encoders of one panel are one encoder: a double line joins them. Raises ValueError.
    """
    if not 1 <= len(panels) <= 2 or any(not 1 <= len(texts) <= 3 for texts, _ in panels.values()):
        raise ValueError(f"panels holds {len(panels)} networks of {[len(texts) for texts, _ in panels.values()]} texts; expected one or two, of 1 to "
                         "3 texts each")
    fig, axes = new_figure(title, size=(7.2, 3.9), panels=len(panels))
    for ax, (heading, (texts, answer)) in zip(axes, panels.items(), strict=True):
        _network(ax, [plain(text, limit=14) for text in texts], plain(answer, limit=34), joined=heading in joined)
        ax.set_title(plain(heading, limit=30), loc="center", fontsize=12)
        ax.set(xlim=(-1.35, 1.35), ylim=(-0.5, 4.05), xticks=[], yticks=[], xlabel="texts below, the answer on top")
        ax.spines[:].set_visible(False)
    return fig


def _network(ax: Axes, texts: Sequence[str], answer: str, *, joined: bool) -> None:
    """The boxes of one network and the arrows between them."""
    n, middle = len(texts), 0.0
    places = np.linspace(-0.9, 0.9, n) if n > 1 else np.zeros(1)
    places = places * (0.72 if n == 2 else 1.0)
    towers = [middle] if joined else list(places)
    box(ax, middle, HEIGHTS["answer"], answer, VERMILLION, filled=True)
    for tower in towers:
        box(ax, tower, HEIGHTS["encoder"], "encoder", BLUE, filled=True)
    for left, right in pairwise(towers):                 # a double line: the same weights
        for shift in (-0.05, 0.05):
            ax.plot([left, right], [HEIGHTS["encoder"] + shift] * 2, "-", color=BLUE, lw=1.2, zorder=0)
    for place, text, letter in zip(places, texts, LETTERS[n], strict=True):
        box(ax, place, HEIGHTS["text"], text, BLACK)
        tower = middle + 0.2 * (place > 0) - 0.2 * (place < 0) if joined else place
        arrow(ax, (place, HEIGHTS["text"] + 0.27), (tower, HEIGHTS["encoder"] - 0.3), BLACK)
        if not joined:
            arrow(ax, (place, HEIGHTS["encoder"] + 0.3), (place, HEIGHTS["vector"] - 0.28), BLUE)
            box(ax, place, HEIGHTS["vector"], f"${letter}$", GREEN)
            arrow(ax, (place, HEIGHTS["vector"] + 0.28), (0.4 * place, HEIGHTS["answer"] - 0.3), GREEN)
    if joined:
        arrow(ax, (middle, HEIGHTS["encoder"] + 0.3), (middle, HEIGHTS["answer"] - 0.3), BLUE)


# ------------------------------------------------------------------------------------------------ cosines by label


@styled()
def cosines_by_label(panels: Mapping[str, Mapping[str, Sequence[float]]], *, title: str, xlabel: str = "cosine of the two sentences") -> Figure:
    """Where the cosines of each label lie: a mark at the median, a thick line over the middle half, a thin one over nine tenths.

    Parameters: panels, heading -> label -> cosines, one or two panels with the same labels, at most 5; title, the finding; xlabel. All panels share
    their axis. Raises ValueError.
    """
    kinds = {tuple(groups) for groups in panels.values()}
    if not 1 <= len(panels) <= 2 or len(kinds) > 1 or not 1 <= len(next(iter(kinds))) <= len(LINE_COLOURS):
        raise ValueError(f"panels holds {len(panels)} panels with the labels {sorted(kinds)}; expected one or two, with the same 1 to "
                         f"{len(LINE_COLOURS)} labels")
    fig, axes = new_figure(title, size=(7.2, 1.9 + 0.45 * len(next(iter(kinds)))), panels=len(panels), sharex=True, sharey=True)
    for ax, (heading, groups) in zip(axes, panels.items(), strict=True):
        for row, (label, colour, marker) in enumerate(zip(groups, LINE_COLOURS, MARKERS, strict=False)):
            x = check_array(f"panels[{heading!r}][{label!r}]", groups[label], ndim=1, min_rows=1)
            far, near, centre = np.quantile(x, [0.05, 0.95]), np.quantile(x, [0.25, 0.75]), np.median(x)
            ax.plot(far, [row, row], "-", color=colour, lw=1.6)
            ax.plot(near, [row, row], "-", color=colour, lw=7, alpha=0.45, solid_capstyle="butt")
            ax.plot([centre], [row], marker=marker, ms=9, color=colour, mec="white", mew=1)
            ax.annotate(f"{centre:.2f}", (centre, row), (0, 10), textcoords="offset points", ha="center", color=BLACK, fontsize=10)
        ax.set_yticks(range(len(groups)), [plain(label, limit=18) for label in groups])
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="#DDDDDD", lw=0.8)
        ax.set_axisbelow(True)
        ax.set_title(plain(heading, limit=34), loc="center", fontsize=12)
        ax.set(xlabel=xlabel, ylim=(len(groups) - 0.5, -0.75))
    axes[0].set_ylabel("label")
    return fig


# ------------------------------------------------------------------------------------------------ what each part is worth

Value = float | tuple[float, float]


@styled()
def ablation_dots(panels: Mapping[str, Mapping[str, Value]], *, title: str, controls: Mapping[str, Mapping[str, Value]] | None = None,
                  xlabel: str = "Spearman × 100", control: str = "start weights") -> Figure:
    """One row per variant of a recipe, one panel per table, each on its own scale: paper and measurement have other levels, and the order counts.

    Parameters: panels, heading -> row -> score, or (mean, standard deviation), one or two, at most 12 rows in all; title, the finding; controls, in
    the same form, drawn hollow; xlabel; control, what a hollow mark is. A row that a panel lacks stays empty there. Raises ValueError.
    """
    controls = controls or {}
    rows = list(dict.fromkeys(row for table in panels.values() for row in table))
    if not 1 <= len(panels) <= 2 or not 1 <= len(rows) <= MOST_ROWS or not set(controls) <= set(panels):
        raise ValueError(f"panels holds {len(panels)} panels with {len(rows)} rows, and controls {sorted(controls)}; expected one or two panels, 1 "
                         f"to {MOST_ROWS} rows, and controls for these panels")
    fig, axes = new_figure(title, size=(7.2, 1.7 + 0.36 * len(rows)), panels=len(panels), sharey=True)
    for ax, (heading, table) in zip(axes, panels.items(), strict=True):
        best = max(table, key=lambda row, table=table: _mean_and_spread(table[row])[0])
        for place, row in enumerate(rows):
            if row in controls.get(heading, {}):
                _dot(ax, controls[heading][row], place, GREY, hollow=True)
            if row in table:
                _dot(ax, table[row], place, VERMILLION if row == best else BLUE, named=True)
        ax.set_yticks(range(len(rows)), [plain(row, limit=26) for row in rows])
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="both", color="#DDDDDD", lw=0.8)
        ax.set_axisbelow(True)
        ax.set_title(plain(heading, limit=34), loc="center", fontsize=12)
        ax.margins(x=0.2)
        ax.set(ylim=(len(rows) - 0.5, -0.7), xlabel=xlabel + (f"\nhollow: {plain(control)}" if controls.get(heading) else ""))
    return fig


def _mean_and_spread(value: Value) -> tuple[float, float]:
    mean, spread = value if isinstance(value, tuple) else (value, 0.0)
    return float(mean), float(spread)


def _dot(ax: Axes, value: Value, place: int, colour: str, *, hollow: bool = False, named: bool = False) -> None:
    mean, spread = _mean_and_spread(value)
    ax.plot([mean - spread, mean + spread], [place, place], "-", color=colour, lw=1.6)
    ax.plot([mean], [place], marker="o" if hollow else "D", ms=7, color="white" if hollow else colour, mec=colour, mew=1.5, zorder=2 + named)
    if named:
        ax.annotate(f"{mean:.1f}", (mean, place), (0, 8), textcoords="offset points", ha="center", color=BLACK, fontsize=10)
