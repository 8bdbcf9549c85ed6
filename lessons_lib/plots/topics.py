"""Figures about topics: the triangle in which mixtures live, what a document is made of, and the words that make a topic.

With three words, or three topics, every distribution is a point of a triangle; that is the only drawing in which a mixture can be seen exactly.
Documents of many topics are bars whose parts carry their names. Seen in ``03_topic_models``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array, check_float
from .labels import VEIL, new_figure
from .style import FILL_COLOURS, GREY, LINE_COLOURS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["mixture_bars", "posterior_simplex", "topic_simplex", "topic_words"]

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])               # a triangle with sides of length 1
CORNER_SIDES = (("center", "top", (0, -7)), ("center", "top", (0, -7)), ("center", "bottom", (0, 7)))
MAX_BARS = 20
CHARS_PER_SHARE = 76                              # letters of 10 points that fit into a bar of share 1
HATCHES = ("", "//", "xx", "..")
BAR_COLOURS = (*LINE_COLOURS[:3], *FILL_COLOURS, LINE_COLOURS[3])


def _shares(name: str, values: np.ndarray, columns: int | None = 3) -> np.ndarray:
    """Rows that sum to 1. Raises ValueError for others, with the row."""
    values = check_array(name, values, columns=columns, min_rows=1)
    bad = np.flatnonzero((values < -1e-9).any(axis=1) | (np.abs(values.sum(axis=1) - 1) > 1e-6))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}]={values[bad[0]].round(3).tolist()!s:.60} is no distribution; expected numbers >= 0 that sum to 1")
    return values


def _triangle(ax: Axes, corners: Sequence[str], what: str) -> None:
    """An empty triangle with a name at each corner; ``what`` says whose share a point is."""
    if len(corners) != 3:
        raise ValueError(f"corners has {len(corners)} names; expected 3")
    ax.fill(*CORNERS.T, facecolor="none", edgecolor=GREY, lw=1.2)
    for place, name, (ha, va, shift) in zip(CORNERS, corners, CORNER_SIDES, strict=True):
        ax.annotate(plain(name, limit=20), tuple(place), shift, textcoords="offset points", ha=ha, va=va, fontweight="bold")
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.1, 0.98), xlabel=f"nearer to a corner: more of that {what}")
    ax.spines[:].set_visible(False)


@styled()
def topic_simplex(topics: np.ndarray, documents: np.ndarray, *, corners: Sequence[str], names: Sequence[str], title: str,
                  seen: np.ndarray | None = None) -> Figure:
    """Topics and documents as distributions over three words: points of one triangle, where mixtures of topics fill the inner one.

    Parameters: topics (K, 3) and documents (n, 3), rows sum to 1; corners, the three words; names (K,) of the topics; title, the finding; seen
    (n, 3), the shares that were counted in each document, drawn as crosses tied to their documents. [blei2003latent, Fig. 4]
    """
    topics, documents = _shares("topics", topics), _shares("documents", documents)
    if len(names) != len(topics):
        raise ValueError(f"names has {len(names)} values for {len(topics)} topics; expected one for each")
    fig, (ax,) = new_figure(title, size=(7.2, 5.4))
    _triangle(ax, corners, "word")
    at, dots = topics @ CORNERS, documents @ CORNERS
    ax.fill(*at.T, facecolor=PALETTE["sky"], alpha=0.18, edgecolor="none")
    ax.plot(*np.vstack([at, at[:1]]).T, "--", color=PALETTE["blue"], lw=1.2)
    if seen is not None:
        crosses = _shares("seen", seen) @ CORNERS
        if len(crosses) != len(dots):
            raise ValueError(f"seen has {len(crosses)} rows for {len(dots)} documents; expected equal numbers")
        for dot, cross in zip(dots, crosses, strict=True):
            ax.plot(*np.vstack([dot, cross]).T, "-", color=GREY, lw=0.6, zorder=1)
        ax.plot(*crosses.T, ls="none", marker="x", color=PALETTE["vermillion"], ms=6, mew=1.5, label="words counted in it")
    ax.plot(*dots.T, ls="none", marker="o", color=PALETTE["black"], ms=4.5, label="document: mixture of topics")
    ax.plot(*at.T, ls="none", marker="s", color=PALETTE["blue"], ms=9, label="topic")
    centre = at.mean(axis=0)
    for place, name in zip(at, names, strict=True):
        away = (place - centre) / max(float(np.linalg.norm(place - centre)), 1e-9)
        ax.annotate(plain(name, limit=20), tuple(place), tuple(24 * away), textcoords="offset points", ha="center", va="center",
                    color=PALETTE["blue"], bbox=VEIL)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return fig


@styled()
def posterior_simplex(panels: Mapping[str, tuple[np.ndarray, np.ndarray]], *, corners: Sequence[str], title: str) -> Figure:
    """What is known about the mixture of a document: samples of the posterior as a cloud, their mean, and the single best estimate.

    Parameters: panels, heading -> (samples (n, 3), estimate (3,)), one or two; corners, the three topics; title, the finding.
    """
    if not 1 <= len(panels) <= 2:
        raise ValueError(f"panels holds {len(panels)} pictures; expected 1 or 2, or none of them can be read")
    fig, axes = new_figure(title, size=(7.2, 4.3), panels=len(panels))
    for ax, (heading, (samples, estimate)) in zip(axes, panels.items(), strict=True):
        samples = _shares(f"samples of {heading!r}", samples)
        estimate = _shares(f"estimate of {heading!r}", np.atleast_2d(estimate))
        _triangle(ax, corners, "topic")
        ax.plot(*(samples @ CORNERS).T, ls="none", marker="o", ms=2.5, color=PALETTE["blue"], alpha=0.35, mew=0, label="posterior samples")
        ax.plot(*(samples.mean(axis=0) @ CORNERS), ls="none", marker="o", ms=9, mfc="white", mec="black", mew=2, label="their mean")
        ax.plot(*(estimate @ CORNERS).T, ls="none", marker="D", ms=9, color=PALETTE["vermillion"], clip_on=False, label="point estimate")
        ax.set_title(plain(heading), loc="center", fontsize=12)
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return fig


@styled()
def mixture_bars(mixtures: np.ndarray, labels: Sequence[str], *, names: Sequence[str], title: str, least: float = 0.1) -> Figure:
    """What documents are made of: one bar per document, whose parts are its topics with their names; small parts share one grey end.

    Parameters: mixtures (n, K), rows sum to 1, n <= 20; labels (n,) of the documents; names (K,) of the topics; title, the finding; least, the
    share in (0, 1] from which a topic gets its own part.
    """
    mixtures, least = _shares("mixtures", mixtures, None), check_float("least", least, low=0.0, high=1.0, open_low=True)
    if not len(labels) == len(mixtures) <= MAX_BARS or len(names) != mixtures.shape[1]:
        raise ValueError(f"labels and names have {len(labels)} and {len(names)} values for mixtures of shape {mixtures.shape}; expected these "
                         f"to agree, and at most {MAX_BARS} documents")
    fig, (ax,) = new_figure(title, size=(7.2, 1.2 + 0.42 * len(labels)))
    parts = [[k for k in np.argsort(-mixture, kind="stable").tolist() if mixture[k] >= least] for mixture in mixtures]
    look = _colours(parts)
    for row, mixture in enumerate(mixtures):
        begin = 0.0
        for k in parts[row]:
            _part(ax, row, (begin, float(mixture[k])), plain(names[k], limit=60), *look[k])
            begin += mixture[k]
        ax.barh(row, 1 - begin, left=begin, height=0.72, color="#DDDDDD", edgecolor="white")
    ax.set_yticks(range(len(labels)), [plain(label, limit=30) for label in labels])
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1), ylim=(len(labels) - 0.4, -0.6), xlabel=f"share of the document (grey: topics below {least:.0%})",
           xticks=[0, 0.25, 0.5, 0.75, 1], xticklabels=["0", "25 %", "50 %", "75 %", "100 %"])
    ax.spines["left"].set_visible(False)
    return fig


def _colours(parts: Sequence[Sequence[int]]) -> dict[int, tuple[str, str]]:
    """A colour and a hatch for each topic: a colour new to its bar and rare so far; a second topic of a colour is hatched."""
    look: dict[int, tuple[str, str]] = {}
    for row in parts:
        for k in row:
            if k not in look:
                near, used = {look[other][0] for other in row if other in look}, [colour for colour, _ in look.values()]
                colour = min(BAR_COLOURS, key=lambda colour: (colour in near, used.count(colour)))
                look[k] = colour, HATCHES[used.count(colour) % len(HATCHES)]
    return look


def _part(ax: Axes, row: int, span: tuple[float, float], name: str, colour: str, hatch: str) -> None:
    begin, share = span
    room = int(share * CHARS_PER_SHARE) - 1
    ax.barh(row, share, left=begin, height=0.72, color=colour, alpha=0.35, edgecolor="white", hatch=hatch)
    while len(name) > room and " " in name:               # whole words: a cut one is read as another
        name = name.rpartition(" ")[0].rstrip(",:")
    if len(name) <= room:
        ax.annotate(name, (begin + share / 2, row), ha="center", va="center", fontsize=10, color="black", bbox=VEIL if hatch else None)


@styled()
def topic_words(words: Sequence[str], inside: Sequence[float], overall: Sequence[float], *, title: str) -> Figure:
    """The words of one topic: how often each stands in the whole corpus, and how much of that the topic explains.

    Parameters: words (n,), best first, n <= 20; inside, overall (n,), numbers of tokens; title, the finding. [sievert2014ldavis]
    """
    inside, overall = (check_array(name, v, ndim=1, min_rows=1) for name, v in (("inside", inside), ("overall", overall)))
    if not len(words) == len(inside) == len(overall) <= MAX_BARS:
        raise ValueError(f"words, inside and overall have {len(words)}, {len(inside)} and {len(overall)} values; "
                         f"expected equal numbers <= {MAX_BARS}")
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.32 * len(words)))
    rows = np.arange(len(words))
    ax.barh(rows, overall, height=0.72, facecolor="none", edgecolor=GREY, linewidth=1.2, label="in the whole corpus")
    ax.barh(rows, inside, height=0.72, color=PALETTE["blue"], label="explained by this topic")
    ax.set_yticks(rows, [plain(word, limit=24) for word in words])
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="tokens", ylim=(len(words) - 0.4, -0.6), xlim=(0, float(overall.max()) * 1.05))
    ax.legend(loc="lower right", frameon=True, framealpha=0.9, edgecolor="none")
    return fig
