"""Figures about anisotropy: length against frequency, the cone around the origin, neighbours by frequency, and how fast a spectrum falls.

Two panels stand side by side where two kinds of vectors are compared, each with the same reading of its axes; the number behind a finding stands in
the heading of its panel. Seen in ``09_anisotropy``, the spectrum again in ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array, check_float
from ..isotropy import binned_means, narrowest_sector
from .labels import VEIL, count_text, end_labels, new_figure
from .style import DASHES, GREY, LINE_COLOURS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["cone", "knn_by_frequency", "norm_by_frequency", "singular_spectrum"]

BLUE, VERMILLION, BLACK, SKY = (PALETTE[name] for name in ("blue", "vermillion", "black", "sky"))
MOST_DOTS = 2000                                  # above: a picture of densities, or a sample
MOST_MARKED = 300
MOST_PANELS = 3


def _checked_panels(name: str, panels: Mapping[str, object], most: int) -> None:
    if not 1 <= len(panels) <= most:
        raise ValueError(f"{name} holds {len(panels)} pictures; expected 1 to {most}")


# ------------------------------------------------------------------------------------------------ length against frequency


@styled()
def norm_by_frequency(panels: Mapping[str, tuple[np.ndarray, np.ndarray]], *, title: str, bins: int = 12,
                      ylabel: str = "length of the vector") -> Figure:
    """Length of each word's vector against how often the word occurs, with the mean of each bin as a line; many words become densities.

    Parameters: panels, heading -> (counts (n,), > 0, lengths (n,)), one or two, such as static and contextual vectors: `isotropy.norm_by_frequency`
    has both; title, the finding; bins of the line; ylabel. The heading gets the correlation of length and log count. [li2020sentence, Tab. 1]
    """
    _checked_panels("panels", panels, 2)
    fig, axes = new_figure(title, size=(7.2, 4.2), panels=len(panels))
    for ax, (heading, pair) in zip(axes, panels.items(), strict=True):
        counts, lengths = (check_array(f"{heading}[{k}]", part, ndim=1, min_rows=2).astype(np.float64) for k, part in enumerate(pair))
        middle, mean, _ = binned_means(counts, lengths, bins=bins)
        logs = np.log10(counts)                     # an axis of logs: cells of one form, so that one drawing serves them all
        if len(counts) > MOST_DOTS:
            ax.hexbin(logs, lengths, gridsize=36, bins="log", mincnt=1, cmap="Blues", vmin=0.3, linewidths=0).set_clip_on(False)
        else:
            ax.plot(logs, lengths, ls="none", marker="o", ms=2.6, color=SKY, alpha=0.7, mew=0)
        ax.plot(np.log10(middle), mean, "-", color="white", lw=4, alpha=0.7)
        ax.plot(np.log10(middle), mean, "-o", color=VERMILLION, lw=2.4, ms=4.5)
        constant = lengths.min() == lengths.max() or counts.min() == counts.max()
        r = 0.0 if constant else np.corrcoef(logs, lengths)[0, 1]
        ax.set_title(f"{plain(heading, limit=30)} (r = {'−' if r < 0 else ''}{abs(r):.2f})", loc="center", fontsize=12)
        powers = np.arange(np.ceil(logs.min()), np.floor(logs.max()) + 1)
        ax.set_xticks(powers, [count_text(10**power) for power in powers])
        ax.set(xlabel="times the word occurs (log scale)")
    axes[0].set(ylabel=ylabel)
    axes[0].plot([], [], "-o", color=VERMILLION, lw=2.4, ms=4.5, label="mean of the bin")
    axes[0].legend(frameon=False, loc="best")
    return fig


# ------------------------------------------------------------------------------------------------ the cone


@styled()
def cone(panels: Mapping[str, np.ndarray], *, title: str, share: float = 0.95, marked: Mapping[str, Sequence[bool]] | None = None,
         marked_name: str = "frequent words") -> Figure:
    """Vectors along their two strongest directions, seen from the origin, which is in the middle; the sector that holds most of them is shaded.

    Parameters: panels, heading -> points (n, 2) of `isotropy.cone`, one to three (Gao et al. show three); title, the finding; share of the points in
    the sector, whose angle stands under the heading; a sector of more than half a turn is no cone and is not shaded; marked, heading -> bool (n,) of
    the points with a mark of their own, and marked_name, what they are. Of many points every n-th is drawn; the sector is that of all.
    [gao2019representation, Fig. 1]
    """
    _checked_panels("panels", panels, MOST_PANELS)
    check_float("share", share, low=0, high=1, open_low=True)
    fig, axes = new_figure(title, size=(7.2, 4.4 if len(panels) < 3 else 3.9), panels=len(panels))
    for ax, (heading, points) in zip(axes, panels.items(), strict=True):
        points = check_array(heading, points, columns=2, min_rows=2).astype(np.float64)
        mask = np.zeros(len(points), bool) if not marked or heading not in marked else np.asarray(marked[heading], bool)
        if len(mask) != len(points):
            raise ValueError(f"marked[{heading!r}] has {len(mask)} values for {len(points)} points; expected one bool for each")
        width = _draw_cone(ax, points, mask, share, step=1 + len(points) * len(panels) // MOST_DOTS)
        ax.set_title(f"{plain(heading, limit=22)}\n{share:.0%} within {width:.0f}°", loc="center", fontsize=12)
    axes[0].set(ylabel="second direction")
    if marked:
        for name, colour, marker in (("words", BLUE, "o"), (marked_name, VERMILLION, "^")):
            axes[0].plot([], [], ls="none", marker=marker, ms=5, mew=0, color=colour, label=plain(name, limit=30))
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return fig


def _draw_cone(ax: Axes, points: np.ndarray, mask: np.ndarray, share: float, *, step: int) -> float:
    """One picture with the origin in the middle. Returns the width of the sector in degrees."""
    from matplotlib.patches import Wedge

    begin, width = narrowest_sector(points, share=share)
    lengths = np.linalg.norm(points, axis=1)
    reach = 1.08 * np.quantile(lengths, 0.995)
    if width <= 180:
        ax.add_patch(Wedge((0, 0), 2 * reach, begin, begin + width, facecolor=SKY, alpha=0.3, edgecolor="none"))
    ax.axhline(0, color=GREY, lw=0.8)
    ax.axvline(0, color=GREY, lw=0.8)
    some = np.flatnonzero(mask)
    for rows, colour, marker in ((np.flatnonzero(~mask)[::step], BLUE, "o"), (some[:: 1 + len(some) // MOST_MARKED], VERMILLION, "^")):
        ax.plot(*points[rows].T, ls="none", marker=marker, ms=2.4 if marker == "o" else 4, mew=0, alpha=0.55, color=colour)
    ax.plot(0, 0, marker="P", ms=9, color=BLACK, mec="white", mew=1)
    ax.annotate("origin", (0, 0), (-6, -7), textcoords="offset points", ha="right", va="top", bbox=VEIL)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[], aspect="equal", xlabel="first direction")
    return width


# ------------------------------------------------------------------------------------------------ neighbours, spectra


@styled()
def knn_by_frequency(edges: np.ndarray, distances: np.ndarray, dots: np.ndarray, *, ks: Sequence[int], title: str) -> Figure:
    """Mean distance of the k nearest words, and mean of the k largest dot products, by frequency rank: bars for each k.

    Parameters: edges (bins, 2), first rank and the one after the last; distances, dots (bins, len(ks)), all as in `isotropy.FrequencyBins`, at most 6
    bins; ks, 1 to 3 numbers of neighbours; title, the finding. [li2020sentence, Tab. 1]
    """
    edges, distances, dots = (check_array(name, part, min_rows=1) for name, part in (("edges", edges), ("distances", distances), ("dots", dots)))
    shape = (len(edges), len(ks))
    if not (distances.shape == dots.shape == shape) or not 1 <= len(ks) <= 3 or edges.shape[1] != 2 or len(edges) > 6:
        raise ValueError(f"edges, distances and dots have shapes {edges.shape}, {distances.shape} and {dots.shape} for {len(ks)} numbers of "
                         "neighbours; expected (bins, 2) with <= 6 bins, and (bins, ks) twice with 1 to 3 ks")
    fig, axes = new_figure(title, size=(7.2, 4.0), panels=2)
    places, width = np.arange(len(edges)), 0.8 / len(ks)
    for ax, values, heading in zip(axes, (distances, dots), ("distance to the k nearest", "k largest dot products"), strict=True):
        for j, (k, colour, hatch) in enumerate(zip(ks, (BLUE, SKY, "white"), ("", "", "//"), strict=False)):
            left = places + (j - (len(ks) - 1) / 2) * width
            ax.bar(left, values[:, j], width, facecolor=colour, edgecolor=BLUE, lw=1, hatch=hatch, label=f"k = {k}")
        ax.set_xticks(places, [f"≤ {count_text(high)}" for high in edges[:, 1]])
        ax.set(xlabel="frequency rank of the words")
        ax.set_title(heading, loc="center", fontsize=12)
        ax.tick_params(axis="x", length=0)
        ax.axhline(0, color=BLACK, lw=0.8)
    axes[0].set(ylabel="mean over the words")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(ks), frameon=False)
    return fig


@styled()
def singular_spectrum(curves: Mapping[str, Sequence[float]], *, title: str) -> Figure:
    """Singular values divided by the largest one, against their number, both on log axes: flat is isotropic, a fall after the first one is a cone.

    Parameters: curves, name -> falling singular values, not all 0, at most 5; what is below a millionth of the first is not drawn; title, the
    finding. [gao2019representation, Fig. 1; wang2020improving]
    """
    measured = {name: check_array(f"curves[{name!r}]", values, ndim=1, min_rows=2).astype(np.float64) for name, values in curves.items()}
    bad = [name for name, values in measured.items() if (np.diff(values) > 0).any() or values[0] <= 0 or values[-1] < 0]
    if not 1 <= len(measured) <= len(LINE_COLOURS) or bad:
        raise ValueError(f"curves holds {len(measured)} lines{f', {bad[0]!r} no singular values' if bad else ''}; expected 1 to "
                         f"{len(LINE_COLOURS)}, of numbers >= 0 that never rise")
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    ends = []
    for values, colour, dash in zip(measured.values(), LINE_COLOURS, DASHES, strict=False):
        relative = values[values > 1e-6 * values[0]] / values[0]
        ax.plot(np.arange(1, len(relative) + 1), relative, ls=dash, color=colour)
        ends.append((len(relative), relative[-1]))
    ax.plot(1, 1, "o", color=BLACK)
    longest = max(k for k, _ in ends)
    ax.set(xscale="log", yscale="log", xlabel="number of the singular value (log scale)", ylabel="share of the largest one (log scale)")
    ticks = [k for k in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000) if k <= longest]
    ax.set_xticks(ticks, [str(k) for k in ticks])
    lowest = min(share for _, share in ends)
    steps = (1, 0.5, 0.2) if lowest > 0.01 else (1,)
    shares = [s * 10.0**-k for k in range(7) for s in steps if s * 10.0**-k >= 0.5 * lowest]
    ax.set_yticks(shares, [f"{share:g}" for share in shares])
    ax.minorticks_off()
    ax.grid(axis="y", color="#DDDDDD", lw=0.8)
    ax.margins(y=0.08)
    end_labels(ax, *zip(*ends, strict=True), [plain(name, limit=28) for name in measured], LINE_COLOURS[: len(measured)])
    return fig
