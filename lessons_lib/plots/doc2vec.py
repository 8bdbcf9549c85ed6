"""Figures about document vectors: who guesses in PV-DM and PV-DBOW, how a new document finds its place, and what vectors are worth to a classifier.

A diagram sets the document beside the words around; a path starts where a fresh vector starts and ends where its steps have led it; bars have their
spread over seeds at their end. Seen in ``07_doc2vec``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_int
from .documents import group_looks
from .labels import VEIL, new_figure
from .style import FILL_COLOURS, GREY, PALETTE, plain, styled
from .word2vec import arrow, box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["inference_paths", "paragraph_diagram", "probe_bars"]

BLUE, VERMILLION, GREEN = PALETTE["blue"], PALETTE["vermillion"], PALETTE["green"]
MOST_PATHS, MOST_BARS = 5, 12


@styled()
def paragraph_diagram(tokens: Sequence[str], centre: int, *, half: int, document: str, title: str) -> Figure:
    """One window with its document, read by both models: PV-DM lets the document join the words around, PV-DBOW lets it guess alone.

    Parameters: tokens, a short text of 2 to 6 words; centre, place of the word to be guessed; half, words looked at on either side; document, its
    name; title, the finding. Raises ValueError. [le2014distributed, Fig. 2 and 3]
    """
    check_int("centre", centre, low=0, high=len(tokens) - 1)
    near = [i for i in range(len(tokens)) if i != centre and abs(i - centre) <= check_int("half", half)]
    if not near or len(tokens) > 6:
        raise ValueError(f"tokens has {len(tokens)} words and the window {len(near)} neighbours; expected 2 to 6 words and >= 1 neighbour")
    fig, axes = new_figure(title, size=(7.2, 3.7), panels=2)
    own = len(tokens) + 0.5                         # the place of the document, behind the words
    for ax, heading in zip(axes, ("PV-DM", "PV-DBOW"), strict=True):
        joined = [*near, own] if heading == "PV-DM" else [own]
        box(ax, centre, 3, plain(tokens[centre], limit=10), VERMILLION, filled=True)
        box(ax, own, 0, plain(document, limit=10), GREEN, filled=True)
        for i, token in enumerate(tokens):
            box(ax, i, 0, plain(token, limit=10) if i != centre else "?", BLUE if i in joined else VERMILLION if i == centre else GREY)
        _guesses(ax, joined, centre, own)
        ax.set(xlim=(-0.7, own + 0.9), ylim=(-0.5, 3.5), xticks=[], yticks=[], xlabel="the text, and the document itself")
        ax.spines[:].set_visible(False)
        ax.set_title(f"{heading}: {'the document helps' if len(joined) > 1 else 'the document alone'}", loc="center", fontsize=12)
    return fig


def _guesses(ax: Axes, joined: list[float], centre: int, own: float) -> None:
    """From the inputs up to the word that they guess, through their mean where there are several."""
    for i in joined:
        to = (centre, 2.68) if len(joined) == 1 else (centre + 0.3 * (i - centre), 1.32)
        arrow(ax, (i, 0.28), to, GREEN if i == own else BLUE)
    if len(joined) > 1:
        box(ax, centre, 1.6, "mean, sum or side by side", BLUE)
        arrow(ax, (centre, 1.85), (centre, 2.68), BLUE, lw=2)


@styled()
def inference_paths(points: np.ndarray, labels: Sequence[Any], paths: Mapping[str, np.ndarray], *, title: str,
                    axis_names: tuple[str, str] = ("", "")) -> Figure:
    """Trained documents as a faint map, and over it the way of each new vector from its start to where inference ends.

    Parameters: points (n, 2) of trained documents; labels (n,), their groups; paths, name -> (steps, 2), at most 5; title, the finding; axis_names.
    """
    points = check_array("points", points, columns=2, min_rows=1)
    ways = {name: check_array(f"paths[{name!r}]", path, columns=2, min_rows=2) for name, path in paths.items()}
    if len(labels) != len(points) or not 1 <= len(ways) <= MOST_PATHS:
        raise ValueError(f"labels has {len(labels)} values for {len(points)} points, and paths holds {len(ways)}; expected a label for each point, "
                         f"and 1 to {MOST_PATHS} paths")
    fig, (ax,) = new_figure(title, size=(7.2, 5.2))
    for name, (colour, marker, rows) in group_looks(labels).items():
        ax.plot(*points[rows].T, ls="none", marker=marker, ms=4, color=colour, alpha=0.35, mec="black" if colour in FILL_COLOURS else colour,
                mew=0.4, label=plain(name, limit=20), zorder=1)
    for name, way in ways.items():
        ax.plot(*way.T, "-", color="white", lw=4.5, zorder=2)
        ax.plot(*way.T, "-", color=PALETTE["black"], lw=1.6, zorder=3)
        ax.plot(*way[0], "o", color="white", mec=PALETTE["black"], ms=8, zorder=4)
        ax.plot(*way[-1], "D", color=PALETTE["black"], mec="white", ms=9, zorder=5)
        ax.annotate(plain(name, limit=30), tuple(way[-1]), (8, 7), textcoords="offset points", fontweight="bold", bbox=VEIL, zorder=6)
    ax.set(xticks=[], yticks=[], xlabel=axis_names[0], ylabel=axis_names[1])
    ax.margins(0.06)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=min(5, len(group_looks(labels))), frameon=False)
    return fig


@styled()
def probe_bars(scores: Mapping[str, Sequence[float]], *, title: str, xlabel: str, marked: Sequence[str] = (), chance: float | None = None) -> Figure:
    """What kinds of vectors are worth, best first: the mean over runs as a bar, each run as a dot; some kinds are marked by colour and hatch.

    Parameters: scores, name -> one score per run, at most 12 names; title, the finding; xlabel, what the score is; marked, names to be marked;
    chance, the score of guessing, a dashed line.
    """
    runs = {name: check_array(f"scores[{name!r}]", values, ndim=1, min_rows=1) for name, values in scores.items()}
    if not 1 <= len(runs) <= MOST_BARS or (unknown := [name for name in marked if name not in runs]):
        raise ValueError(f"scores holds {len(runs)} names, marked {list(marked)}; expected 1 to {MOST_BARS} names, the marked among them"
                         + (f", not {unknown[0]!r}" if 1 <= len(runs) <= MOST_BARS else ""))
    order = sorted(runs, key=lambda name: -runs[name].mean())
    fig, (ax,) = new_figure(title, size=(7.2, 1.3 + 0.36 * len(order)))
    for place, name in enumerate(order):
        colour, hatch = (BLUE, "") if name in marked else ("#DDDDDD", "//")
        ax.barh(place, runs[name].mean(), height=0.66, color=colour, hatch=hatch, edgecolor=BLUE if name in marked else GREY, linewidth=1.2)
        if len(runs[name]) > 1:
            ax.plot(runs[name], [place] * len(runs[name]), "o", ms=4, color="white", mec="black")
        ax.annotate(f"{runs[name].mean():.1f}", (runs[name].max(), place), (7, 0), textcoords="offset points", va="center")
    if chance is not None:
        ax.plot([chance, chance], [-0.5, len(order) - 0.5], "--", color=GREY, lw=1.3)
        ax.annotate("guessing", (chance, len(order) - 0.5), (3, 3), textcoords="offset points", color=GREY)
    ax.set_yticks(range(len(order)), [plain(name, limit=44) for name in order])
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel=xlabel, xlim=(0, 1.14 * max(values.max() for values in runs.values())), ylim=(len(order) - 0.3, -0.6))
    return fig
