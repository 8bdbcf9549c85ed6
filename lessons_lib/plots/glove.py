"""Figures about GloVe: ratios of two words' company, the weight of a count, methods side by side, and what two senses leave in one vector.

Drawn from the numbers that the lesson measured; nothing is fitted here. Seen in ``05_glove_and_fasttext``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array
from .labels import VEIL, new_figure
from .style import GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["paired_scores", "ratio_bars", "sense_shares", "weight_curves"]

BLUE, VERMILLION, GREEN, BLACK = (PALETTE[name] for name in ("blue", "vermillion", "green", "black"))


@styled()
def ratio_bars(words: Sequence[str], ratios: Sequence[float], *, first: str, second: str, title: str, about: float = 2.0) -> Figure:
    """How much more often each word stands near the first of two words than near the second, on a log axis around 1.

    Parameters: words (n,); ratios (n,), > 0; first and second, the two words; title, the finding; about, ratios between 1/about and about are grey:
    such a word tells the two not apart. [pennington2014glove, Table 1]
    """
    r = check_array("ratios", ratios, ndim=1, min_rows=1)
    if len(r) != len(words) or (r <= 0).any():
        raise ValueError(f"ratios has {len(r)} values, the least {r.min():g}, for {len(words)} words; expected one > 0 each")
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.36 * len(r)))
    order = np.argsort(r)
    for row, i in enumerate(order):
        colour = GREY if 1 / about < r[i] < about else BLUE if r[i] > 1 else VERMILLION
        ax.plot([1, r[i]], [row, row], "-", color=colour, lw=7, solid_capstyle="butt")
        ax.annotate(f"{r[i]:.2g}", (r[i], row), (6 if r[i] >= 1 else -6, 0), textcoords="offset points", ha="left" if r[i] >= 1 else "right",
                    va="center", color=BLACK if colour == GREY else colour, fontsize=10)
    ax.axvline(1, color=BLACK, lw=1)
    ax.set_xscale("log")
    ax.set_yticks(range(len(r)), [plain(words[i], limit=16) for i in order])
    reach = 2.2 * max(r.max(), 1 / r.min())
    ticks = [t for t in (0.01, 0.1, 1, 10, 100) if 1 / reach <= t <= reach]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.minorticks_off()
    ax.set(xlim=(1 / reach, reach), xlabel=f"← nearer to {plain(second, limit=14)}    ratio (log scale)    nearer to {plain(first, limit=14)} →")
    ax.tick_params(axis="y", length=0)
    return fig


@styled()
def weight_curves(counts: Sequence[float], curves: Mapping[str, Sequence[float]], *, cells: Sequence[float], title: str) -> Figure:
    """The weight of a count, against the count on a log axis, above the share of all cells that have at most that count.

    Parameters: counts (n,), > 0, rising; curves, name -> (n,) weights within [0, 1], at most 4; cells (n,), shares within [0, 1]; title, the finding.
    """
    x, below = check_array("counts", counts, ndim=1, min_rows=2), check_array("cells", cells, ndim=1)
    measured = {name: check_array(f"curves[{name!r}]", values, ndim=1) for name, values in curves.items()}
    if not 1 <= len(measured) < len(LINE_COLOURS) or any(len(y) != len(x) or y.min() < 0 or y.max() > 1 for y in (below, *measured.values())):
        raise ValueError(f"curves holds {len(measured)} lines beside cells; expected 1 to {len(LINE_COLOURS) - 1}, all of {len(x)} values in [0, 1]")
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    ax.fill_between(x, below, color=PALETTE["sky"], alpha=0.35, lw=0)
    ax.plot(x, below, "-", color=BLACK, lw=1, label="share of the cells with at most this count")
    for (name, y), colour, dash in zip(measured.items(), LINE_COLOURS[1:], ("-", "--", "-.", ":"), strict=False):
        ax.plot(x, y, dash, color=colour, label=plain(name))
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda count, _: f"{count:g}")
    ax.minorticks_off()
    ax.set(xlim=(x[0], x[-1]), ylim=(0, 1.05), xlabel="count X of a pair of words (log scale)", ylabel="weight f(X), or share of cells")
    ax.legend(frameon=True, framealpha=0.9, edgecolor="none", loc="center right", bbox_to_anchor=(1.0, 0.55))
    return fig


@styled()
def paired_scores(rows: Mapping[str, tuple[float, float]], *, names: tuple[str, str], title: str, xlabel: str, form: str = "{:.0f}") -> Figure:
    """Two scores of each method as two marks on one line: how far apart they lie is the finding.

    Parameters: rows, method -> (first, second score), from top to bottom, at most 10; names of the two scores; title, the finding; xlabel; form, of
    a number beside its mark.
    """
    values = check_array("rows", list(rows.values()), columns=2, min_rows=1)
    if len(values) > 10:
        raise ValueError(f"rows holds {len(values)} methods; expected 1 to 10")
    fig, (ax,) = new_figure(title, size=(7.2, 1.7 + 0.5 * len(values)))
    at = -np.arange(len(values))
    ax.hlines(at, values.min(axis=1), values.max(axis=1), color=GREY, lw=2, zorder=1)
    for k, (name, colour, marker) in enumerate(zip(names, (BLUE, VERMILLION), MARKERS, strict=False)):
        ax.plot(values[:, k], at, ls="none", marker=marker, ms=9, color=colour, label=plain(name), zorder=2 + k)
    close = np.abs(values[:, 0] - values[:, 1]) < 0.06 * max(np.ptp(values), 1e-9)
    for y, pair, near in zip(at, values, close, strict=True):
        for k, colour in enumerate((BLUE, VERMILLION)):
            right = pair[k] > pair[1 - k] or (k == 1 and pair[0] == pair[1])
            ax.annotate(form.format(pair[k]), (pair[k], y), (9 if right else -9, 0), textcoords="offset points", va="center", color=colour,
                        ha="left" if right else "right", fontsize=10, bbox=VEIL if near else None)
    ax.set_yticks(at, [plain(name, limit=26) for name in rows])
    ax.set(xlabel=xlabel, ylim=(at[-1] - 0.6, 0.6))
    ax.margins(x=0.1)
    ax.tick_params(axis="y", length=0)
    ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0)
    return fig


@styled()
def sense_shares(panels: Mapping[str, tuple[np.ndarray, np.ndarray]], *, title: str) -> Figure:
    """Share of the first sense in the text against its share in the vector, with the line of equality.

    Parameters: panels, heading -> (shares in the text (n,), shares in the vector (n,)), one or two; title, the finding.
    """
    if not 1 <= len(panels) <= 2:
        raise ValueError(f"panels holds {len(panels)} pictures; expected 1 or 2")
    fig, axes = new_figure(title, size=(7.2, 4.0), panels=len(panels), sharey=True)
    for ax, (heading, pair) in zip(axes, panels.items(), strict=True):
        x, y = (check_array(f"{heading}[{k}]", part, ndim=1, min_rows=2) for k, part in enumerate(pair))
        if len(x) != len(y):
            raise ValueError(f"{heading!r} has {len(x)} and {len(y)} values; expected equal numbers")
        ax.plot([0, 1], [0, 1], "-", color=VERMILLION, lw=1.6, label="as in the text")
        ax.axhline(0.5, ls="--", color=GREY, lw=1.2, label="half and half")
        ax.plot(x, y, ls="none", marker="o", ms=6, color=BLUE, alpha=0.7, mew=0)
        ax.set_title(f"{plain(heading)} (r = {np.corrcoef(x, y)[0, 1]:.2f})", loc="center", fontsize=12)
        ax.set(xlim=(0, 1), ylim=(-0.05, 1.05), xlabel="share of sense A in the text")
    axes[0].set(ylabel="share of sense A in the vector")
    axes[0].legend(frameon=False, loc="upper left")
    return fig
