"""Figures about losses that order pairs: which pairs a loss pulls on, what a squared error is made of, the worst violation and its smooth bound, and
scores while several objectives train.

Seen in ``13_cosent``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array
from .labels import VEIL, end_labels, new_figure
from .style import DASHES, FILL_COLOURS, GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["error_parts", "loss_bounds", "objective_curves", "pulls"]

BLUE, VERMILLION, BLACK = (PALETTE[name] for name in ("blue", "vermillion", "black"))
MOST_PAIRS, MOST_BARS = 40, 10


@styled()
def pulls(grades: Sequence[float], cosines: Sequence[float], panels: Mapping[str, Sequence[float]], *, title: str,
          target: str | None = None) -> Figure:
    """Where each loss wants the cosines of a batch to go: a dot per pair at its grade and cosine, an arrow along the falling gradient.

    Parameters: grades, cosines (n,), at most 40 pairs; panels, loss -> gradient by cosine (n,), one or two; the longest arrow of each panel is
    0.2 long, and what is below 2 % of it is left out; title, the finding; target, the panel in which the line cosine = grade / highest is drawn.
    """
    y, s = (check_array(name, values, ndim=1, min_rows=2).astype(np.float64) for name, values in (("grades", grades), ("cosines", cosines)))
    down = {name: -check_array(f"panels[{name!r}]", values, ndim=1).astype(np.float64) for name, values in panels.items()}
    if not 1 <= len(down) <= 2 or len(y) > MOST_PAIRS or any(len(part) != len(y) for part in (s, *down.values())):
        raise ValueError(f"panels holds {len(down)} losses for {len(y)} grades and {len(s)} cosines; expected 1 or 2, with a number for each of at "
                         f"most {MOST_PAIRS} pairs")
    if target is not None and target not in down:
        raise ValueError(f"target={target!r} is none of the panels {', '.join(down)}")
    fig, axes = new_figure(title, size=(7.2, 4.2), panels=len(down), sharey=True)
    reach = 0.2
    steps = {name: reach * move / (np.abs(move).max() or 1.0) for name, move in down.items()}
    ends = np.concatenate([s, *(s + step for step in steps.values())])
    low = ends.min() - 0.1                       # the axis begins below the lowest arrow, not at 0, where no cosine is
    for ax, (name, step) in zip(axes, steps.items(), strict=True):
        ax.set_ylim(low, max(1.0, ends.max()) + 0.03)
        if name == target:
            ax.plot([0, y.max()], [0, 1], "--", color=GREY, lw=1.2, zorder=0)
            at = max(low, 0.0) + 0.04
            ax.annotate("cosine = target", (at * y.max(), at), (8, -4), textcoords="offset points", color=GREY, fontsize=10)
        _arrows(ax, y, s, step, reach)
        ax.set(xlabel="grade", xlim=(y.min() - 0.06 * np.ptp(y), y.max() + 0.06 * np.ptp(y)) if np.ptp(y) else None)
        ax.set_title(plain(name, limit=28), loc="center", fontsize=12)
    axes[0].set_ylabel("cosine")
    return fig


def _arrows(ax: Axes, x: np.ndarray, y: np.ndarray, step: np.ndarray, reach: float) -> None:
    """Dots, and arrows up in blue and down in vermillion; dots without a pull are hollow."""
    pulled = np.abs(step) > 0.02 * reach
    for i in np.flatnonzero(pulled):
        colour = BLUE if step[i] > 0 else VERMILLION
        ax.annotate("", (x[i], y[i] + step[i]), (x[i], y[i]),
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.8, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11})
    ax.plot(x[pulled], y[pulled], ls="none", marker="o", ms=5, color=BLACK)
    ax.plot(x[~pulled], y[~pulled], ls="none", marker="o", ms=5, mfc="white", mec=BLACK)


@styled()
def error_parts(bars: Mapping[str, Mapping[str, float]], *, title: str, xlabel: str = "mean squared error") -> Figure:
    """What a squared error is made of, a bar for each model: parts laid end to end, each with its share; that of a narrow last part stands outside.

    Parameters: bars, model -> {part: value >= 0}, the same parts for all, at most three, at most 10 models; title, the finding; xlabel.
    """
    parts = list(next(iter(bars.values()), {}))
    values = np.array([[bar.get(part, np.nan) for part in parts] for bar in bars.values()], dtype=np.float64)
    if not 1 <= len(bars) <= MOST_BARS or not 1 <= len(parts) <= len(FILL_COLOURS) or any(list(bar) != parts for bar in bars.values()):
        raise ValueError(f"bars holds {len(bars)} models with the parts {', '.join(parts) or 'none'}; expected 1 to {MOST_BARS}, each with the same "
                         f"parts, at most {len(FILL_COLOURS)}")
    if not (np.isfinite(values).all() and (values >= 0).all() and (values.sum(axis=1) > 0).all()):
        raise ValueError("bars holds a number below 0, or a bar of nothing; expected parts >= 0 with a sum above 0")
    fig, (ax,) = new_figure(title, size=(7.2, 1.6 + 0.46 * len(bars)))
    left = np.zeros(len(bars))
    for part, column, colour, hatch in zip(parts, values.T, FILL_COLOURS, ("", "//", ".."), strict=False):
        ax.barh(range(len(bars)), column, left=left, color=colour, edgecolor=BLACK, lw=0.8, hatch=hatch, label=plain(part, limit=30))
        for row, width in enumerate(column):
            if width > 0.09 * values.sum(axis=1).max():
                ax.annotate(f"{width / values[row].sum():.0%}", (left[row] + width / 2, row), ha="center", va="center", fontsize=10, bbox=VEIL)
        left += column
    for row in np.flatnonzero(values[:, -1] <= 0.09 * left.max()):
        ax.annotate(f"{parts[-1]} {values[row, -1] / left[row]:.0%}", (left[row], row), (5, 0), textcoords="offset points", va="center", fontsize=10)
    ax.margins(x=0.16 if (values[left.argmax(), -1] <= 0.09 * left.max()) else 0.05)
    ax.set_xlim(left=0)
    ax.set_yticks(range(len(bars)), [plain(name, limit=34) for name in bars])
    ax.invert_yaxis()
    ax.set(xlabel=xlabel)
    ax.legend(loc="lower right", frameon=True, ncols=len(parts), bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    return fig


@styled()
def loss_bounds(scales: Sequence[float], curves: Mapping[str, Sequence[float]], *, title: str, worst: float, n_terms: int) -> Figure:
    """CoSENT divided by λ against λ, for several orders, with the worst violation below it and the bound above it.

    Parameters: scales (k,), rising; curves, name -> (k,) values of loss / λ; the first is that whose bounds are drawn; title, the finding; worst,
    largest violation of the first, 0 where there is none; n_terms, ordered pairs in its sum.
    """
    x = check_array("scales", scales, ndim=1, min_rows=2).astype(np.float64)
    lines = {name: check_array(f"curves[{name!r}]", values, ndim=1).astype(np.float64) for name, values in curves.items()}
    if not 1 <= len(lines) <= 3 or any(len(values) != len(x) for values in lines.values()) or x[0] <= 0 or (np.diff(x) <= 0).any():
        raise ValueError(f"curves holds {len(lines)} lines for {len(x)} scales from {x[0]:g} on; expected 1 to 3, scales > 0 that rise")
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    ceiling = max(worst, 0.0) + np.log1p(n_terms) / x
    ax.fill_between(x, max(worst, 0.0), ceiling, color=PALETTE["sky"], alpha=0.25, lw=0)
    ax.plot(x, ceiling, ls=":", color=GREY, lw=1.5)
    ax.plot(x[[0, -1]], [max(worst, 0.0)] * 2, "--", color=GREY, lw=1.5)
    for (_, values), colour, marker in zip(lines.items(), LINE_COLOURS, MARKERS, strict=False):
        ax.plot(x, values, "-", color=colour, marker=marker, ms=5)
    ax.set(xscale="log", xlabel="scale λ (log scale)", ylabel="loss / λ")
    top = 1.1 * max(values[min(1, len(x) - 1)] for values in (ceiling, *lines.values()))
    ax.set_ylim(-0.08 * top, top)
    ax.set_xticks(x, [f"{v:g}" for v in x])
    ax.minorticks_off()
    ax.annotate(f"bound: worst violation + log(1 + {n_terms}) / λ", (x[1], ceiling[1]), (10, 4), textcoords="offset points", color=GREY, fontsize=10)
    ends = [max(worst, 0.0), *(values[-1] for values in lines.values())]
    end_labels(ax, [x[-1]] * len(ends), ends, ["worst violation", *(plain(name, limit=28) for name in lines)], [GREY, *LINE_COLOURS[: len(lines)]])
    return fig


@styled()
def objective_curves(steps: Sequence[float], curves: Mapping[str, Sequence[Sequence[float]]], *, title: str, ylabel: str,
                     dashed: Sequence[str] = (), xlabel: str = "steps") -> Figure:
    """A score over training for several objectives: mean over seeds as a line, one standard deviation on each side as a band.

    Parameters: steps (m,), rising; curves, objective -> (seeds, m) scores, at most 6; title, the finding; ylabel, xlabel; dashed, names of controls,
    drawn dashed in the colour of the line whose name their own begins with, else in grey.
    """
    x = check_array("steps", steps, ndim=1, min_rows=2).astype(np.float64)
    measured = {name: check_array(f"curves[{name!r}]", np.atleast_2d(values).astype(np.float64)) for name, values in curves.items()}
    if not 1 <= len(measured) <= 6 or any(values.shape[1] != len(x) for values in measured.values()) or (np.diff(x) <= 0).any():
        shapes = [values.shape for values in measured.values()]
        raise ValueError(f"curves holds {len(measured)} objectives of shapes {shapes} for {len(x)} steps; expected 1 to 6, a column for each step, "
                         "steps that rise")
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    solid = [name for name in measured if name not in dashed]
    looks = dict(zip(solid, zip(LINE_COLOURS, MARKERS, strict=True), strict=False))
    ends, colours = [], []
    for name, values in measured.items():
        like = next((own for own in solid if name.startswith(own)), None)
        colour, marker = looks.get(name) or ((looks[like][0], None) if like else (GREY, None))
        mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(len(x))
        ax.plot(x, mean, ls="-" if name in solid else DASHES[1], color=colour, marker=marker, ms=5)
        ax.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.15, lw=0)
        ends.append(mean[-1])
        colours.append(colour)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(axis="y", color="#DDDDDD", lw=0.8)
    ax.margins(y=0.08)
    end_labels(ax, [x[-1]] * len(ends), ends, [plain(name, limit=30) for name in measured], colours)
    return fig
