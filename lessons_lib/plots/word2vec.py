"""Figures about word2vec: what guesses what, the tree of decisions, what a guess costs, products against PMI, angles against distances.

Drawings come from the numbers they stand for: a tree from codes, a plane from lengths and angles, arrows from projected vectors. Seen in
``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array, check_int
from .labels import VEIL, count_text, end_labels, in_points, new_figure, quiet_places
from .style import GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["code_tree", "cost_curves", "keep_curves", "offset_arrows", "pmi_scatter", "polar_words", "window_diagram"]

BLUE, VERMILLION, GREEN, BLACK = (PALETTE[name] for name in ("blue", "vermillion", "green", "black"))
MOST_DOTS = 2000                                  # above: a picture of densities
MOST_LEAVES = 16

# ------------------------------------------------------------------------------------------------ what guesses what


def arrow(ax: Axes, begin: tuple[float, float], end: tuple[float, float], colour: str = GREY, *, style: str = "-|>", lw: float = 1.4) -> None:
    """An arrow between two places of a diagram."""
    ax.annotate("", end, begin, arrowprops={"arrowstyle": style, "color": colour, "lw": lw, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13})


def box(ax: Axes, x: float, y: float, text: str, colour: str, *, filled: bool = False) -> None:
    """A word in a rounded box."""
    ax.annotate(text, (x, y), ha="center", va="center", fontsize=11, color="white" if filled else colour,
                bbox={"boxstyle": "round,pad=0.35", "facecolor": colour if filled else "white", "edgecolor": colour, "linewidth": 1.5})


@styled()
def window_diagram(tokens: Sequence[str], centre: int, *, half: int, title: str) -> Figure:
    """One window, read by both architectures: skip-gram guesses the centre from each neighbour alone, CBOW from their mean.

    Parameters: tokens, a short text of 2 to 7 words; centre, place of the word to be guessed; half, words looked at on either side; title, the
    finding. Raises ValueError for a window without a neighbour. [mikolov2013efficient, Fig. 1]
    """
    check_int("centre", centre, low=0, high=len(tokens) - 1)
    near = [i for i in range(len(tokens)) if i != centre and abs(i - centre) <= check_int("half", half)]
    if not near or len(tokens) > 7:
        raise ValueError(f"tokens has {len(tokens)} words and the window {len(near)} neighbours; expected 2 to 7 words and >= 1 neighbour")
    fig, axes = new_figure(title, size=(7.2, 3.7), panels=2)
    for ax, heading in zip(axes, ("skip-gram", "CBOW"), strict=True):
        together = heading == "CBOW"
        box(ax, centre, 3, plain(tokens[centre], limit=10), VERMILLION, filled=True)
        if together:
            box(ax, centre, 1.6, "mean of the vectors", BLUE)
            arrow(ax, (centre, 1.85), (centre, 2.68), BLUE, lw=2)
        for i, token in enumerate(tokens):
            box(ax, i, 0, plain(token, limit=10) if i != centre else "?", BLUE if i in near else VERMILLION if i == centre else GREY)
            if i in near and not together:
                box(ax, i, 1.2, "vector", BLUE)
                arrow(ax, (i, 1.45), (centre + 0.18 * (i - centre), 2.68), BLUE)
            if i in near:
                arrow(ax, (i, 0.28), (i if not together else centre + 0.3 * (i - centre), 1.32 if together else 0.92), BLUE)
        ax.set(xlim=(-0.7, len(tokens) - 0.3), ylim=(-0.5, 3.5), xticks=[], yticks=[], xlabel="the text, word by word")
        ax.spines[:].set_visible(False)
        guesses = "1 guess" if together else f"{len(near)} guess{'es' if len(near) > 1 else ''}"
        ax.set_title(f"{heading}: {guesses}", loc="center", fontsize=12)
    return fig


@styled()
def code_tree(codes: Mapping[str, str], counts: Mapping[str, float], *, title: str, marked: str | None = None) -> Figure:
    """A binary tree drawn from the codes of its leaves: bits on the branches, counts under the words, one path in colour.

    Parameters: codes, word -> its bits from the root ("010"), at most 16 words, none the beginning of another; counts, word -> count; title, the
    finding; marked, the word whose path is shown.
    """
    words = sorted(codes, key=codes.__getitem__)
    twice = [(a, b) for a, b in pairwise(words) if codes[b].startswith(codes[a])]
    if not 2 <= len(words) <= MOST_LEAVES or twice or (marked is not None and marked not in codes):
        raise ValueError(f"codes={dict(codes)!s:.60} with marked={marked!r}; expected 2 to {MOST_LEAVES} words, the marked one among them, "
                         "and no code that begins another")
    inner = {codes[w][:k] for w in words for k in range(len(codes[w]))}
    under = {node: [i for i, w in enumerate(words) if codes[w].startswith(node)] for node in inner | set(codes.values())}
    place = {node: (float(np.mean(rows)), -len(node)) for node, rows in under.items()}
    fig, (ax,) = new_figure(title, size=(7.2, 0.9 + 0.72 * (1 + max(map(len, codes.values())))))
    path = codes[marked] if marked is not None else ""
    for node in sorted(set(place) - {""}, key=len):
        on = bool(path) and path.startswith(node)
        begin, end = place[node[:-1]], place[node]
        ax.plot(*zip(begin, end, strict=True), "-", color=VERMILLION if on else GREY, lw=2.6 if on else 1.2, zorder=1)
        ax.annotate(node[-1], tuple(np.mean([begin, end], axis=0)), ha="center", va="center", fontsize=10,
                    color=VERMILLION if on else BLACK, bbox=VEIL | {"alpha": 1.0})
    for node in inner:
        ax.plot(*place[node], "o", ms=9, color=VERMILLION if path.startswith(node) and path else "white", mec=BLACK, mew=1.2)
    for word in words:
        ax.annotate(f"{plain(word, limit=12)}\n{counts[word]:g}", place[codes[word]], (0, -4), textcoords="offset points", ha="center", va="top",
                    fontsize=10, color=VERMILLION if word == marked else BLACK)
    ax.set(xticks=[], yticks=[], xlim=(-0.7, len(words) - 0.3), ylim=(-max(map(len, codes.values())) - 0.75, 0.35),
           xlabel="words with their counts; every branching is one yes-or-no question")
    ax.spines[:].set_visible(False)
    return fig


# ------------------------------------------------------------------------------------------------ curves


def duration_text(seconds: float) -> str:
    """Seconds in the unit a person would say.

    >>> [duration_text(s) for s in (2e-6, 0.03, 4)]
    ['2 µs', '30 ms', '4 s']
    """
    for unit, size in (("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


@styled()
def cost_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str, xlabel: str, ylabel: str) -> Figure:
    """Seconds against sizes on two log axes, one line per method with its name at the end; slope 1 is proportional.

    Parameters: curves, name -> (sizes, seconds), positive, at most 5; title, the finding; xlabel, ylabel, what is counted and what is timed.
    """
    measured = {name: [check_array(f"curves[{name!r}][{k}]", values, ndim=1, min_rows=1) for k, values in enumerate(pair)]
                for name, pair in curves.items()}
    if not 1 <= len(measured) <= len(LINE_COLOURS) or any((part <= 0).any() for pair in measured.values() for part in pair):
        raise ValueError(f"curves holds {len(measured)} lines; expected 1 to {len(LINE_COLOURS)}, of numbers > 0")
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    for (x, y), colour, marker in zip(measured.values(), LINE_COLOURS, MARKERS, strict=False):
        ax.plot(x, y, "-", color=colour, marker=marker)
    ax.set(xscale="log", yscale="log", xlabel=f"{xlabel} (log scale)", ylabel=f"{ylabel} (log scale)")
    ticks = np.unique(np.concatenate([x for x, _ in measured.values()]))
    ax.set_xticks(ticks, [count_text(tick) for tick in ticks])
    ax.yaxis.set_major_formatter(lambda seconds, _: duration_text(seconds))
    ax.minorticks_off()
    ax.grid(axis="y", color="#DDDDDD", lw=0.8)
    ax.margins(y=0.1)
    end_labels(ax, [x[-1] for x, _ in measured.values()], [y[-1] for _, y in measured.values()], [plain(name, limit=28) for name in measured],
               LINE_COLOURS[: len(measured)])
    return fig


@styled()
def keep_curves(frequencies: Sequence[float], curves: Mapping[str, Sequence[float]], *, title: str, words: Mapping[str, float]) -> Figure:
    """Probability that a word is kept, against its share of the text on a log axis; some words stand on the axis.

    Parameters: frequencies (n,), shares in (0, 1]; curves, name -> (n,) probabilities, at most 5; title, the finding; words, word -> share.
    """
    x = check_array("frequencies", frequencies, ndim=1, min_rows=2)
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    for (name, values), colour in zip(curves.items(), LINE_COLOURS, strict=False):
        y = check_array(f"curves[{name!r}]", values, ndim=1)
        if len(y) != len(x) or (y < 0).any() or (y > 1).any():
            raise ValueError(f"curves[{name!r}] has {len(y)} values from {y.min():g} to {y.max():g}; expected {len(x)} probabilities")
        ax.plot(x, y, color=colour, ls="-" if colour == LINE_COLOURS[0] else "--", label=plain(name))
    for word, share in words.items():
        ax.plot([share, share], [0, 1], ":", color=GREY, lw=1)
        ax.annotate(plain(word, limit=14), (share, 1.02), ha="center", va="bottom", fontsize=10, rotation=35, annotation_clip=False)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    ax.minorticks_off()
    ax.set(xlabel="share of the text (log scale)", ylabel="probability of being kept", ylim=(0, 1.18), yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.legend(frameon=False, loc="lower left")
    return fig


# ------------------------------------------------------------------------------------------------ products, angles, arrows


@styled()
def pmi_scatter(panels: Mapping[str, tuple[np.ndarray, np.ndarray]], *, title: str, xlabel: str, ylabel: str) -> Figure:
    """Predicted against measured value of each pair of words, with the line on which both are equal; many pairs become densities.

    Parameters: panels, heading -> (predicted (n,), measured (n,)), one or two; title, the finding; xlabel, ylabel. [levy2014neural]
    """
    if not 1 <= len(panels) <= 2:
        raise ValueError(f"panels holds {len(panels)} pictures; expected 1 or 2")
    fig, axes = new_figure(title, size=(7.2, 4.0), panels=len(panels))
    for ax, (heading, pair) in zip(axes, panels.items(), strict=True):
        x, y = (check_array(f"{heading}[{k}]", part, ndim=1, min_rows=2) for k, part in enumerate(pair))
        if len(x) != len(y):
            raise ValueError(f"{heading!r} has {len(x)} and {len(y)} values; expected equal numbers")
        if len(x) > MOST_DOTS:
            ax.hexbin(x, y, gridsize=60, bins="log", mincnt=1, cmap="cividis_r", linewidths=0)
        else:
            ax.plot(x, y, ls="none", marker="o", ms=3, color=BLUE, alpha=0.5, mew=0)
        ends = [max(x.min(), y.min()), min(x.max(), y.max())]
        ax.plot(ends, ends, "-", color=VERMILLION, lw=1.6)
        ax.set_title(f"{plain(heading)} (r = {np.corrcoef(x, y)[0, 1]:.2f})", loc="center", fontsize=12)
        ax.set(xlabel=xlabel)
    axes[0].set(ylabel=ylabel)
    return fig


@styled()
def polar_words(words: Sequence[str], lengths: Sequence[float], cosines: Sequence[float], *, title: str) -> Figure:
    """A query and two other words in the plane, with true lengths and true angles to the query: who is nearer, by angle and by distance?

    Parameters: words (3,), the query first; lengths (3,), those of the vectors; cosines (2,) of the others with the query; title, the finding. The
    second word stands above the query, the third below; only the angle between these two is not true.
    """
    lengths, cosines = check_array("lengths", lengths, ndim=1), check_array("cosines", cosines, ndim=1)
    if not len(words) == len(lengths) == len(cosines) + 1 == 3 or (np.abs(cosines) > 1).any():
        raise ValueError(f"words, lengths and cosines have {len(words)}, {len(lengths)} and {len(cosines)} values; expected 3, 3 and 2 cosines")
    angle = np.array([0.0, np.arccos(cosines[0]), -np.arccos(cosines[1])])
    at = lengths[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    for place, word, turn, colour, k in zip(at, words, angle, (BLACK, BLUE, VERMILLION), range(3), strict=True):
        arrow(ax, (0, 0), tuple(place), colour, lw=2.2)
        name = plain(word, limit=14) + ("" if k == 0 else f"\n{abs(np.degrees(turn)):.0f}° away, distance {np.linalg.norm(place - at[0]):.2f}")
        ax.annotate(name, tuple(place), (8, 8 if turn >= 0 else -8), textcoords="offset points", color=colour, va="bottom" if turn >= 0 else "top",
                    bbox=VEIL, annotation_clip=False)
        if k:
            ax.plot(*zip(place, at[0], strict=True), ":", color=colour, lw=1.6)
            t, r = np.linspace(0, turn, 40), 0.28 * lengths.min() * (1 + 0.2 * k)
            ax.plot(r * np.cos(t), r * np.sin(t), "-", color=colour, lw=1.6)
    room = 0.18 * np.ptp(at, axis=0).max()
    low, high = np.minimum(at.min(axis=0), 0) - 1.5 * room, np.maximum(at.max(axis=0), 0) + 1.5 * room
    ax.set(xlim=(low[0] + room, high[0] + 3 * room), ylim=(low[1], high[1]), aspect="equal", xlabel="along the query", ylabel="across")
    return fig


def _name_ends(ax: Axes, starts: np.ndarray, ends: np.ndarray, names: Sequence[str]) -> None:
    """Write a name behind each start and before each end, moved aside where it would cover another name."""
    begin, end = in_points(ax, starts), in_points(ax, ends)
    away = (end - begin) / np.maximum(np.linalg.norm(end - begin, axis=1, keepdims=True), 1e-9)
    frame = in_points(ax, np.column_stack([ax.get_xlim(), ax.get_ylim()]))
    wanted, tips = np.vstack([begin - 12 * away, end + 9 * away]), np.vstack([begin, end])
    places = quiet_places(wanted, [5.6 * len(name) + 4 for name in names], frame, frame, height=12)      # no marks: a name stays with its arrow
    for tip, place, data, name, k in zip(tips, places, np.vstack([starts, ends]), names, range(len(names)), strict=True):
        ax.annotate(name, tuple(data), tuple(place - tip), textcoords="offset points", ha="center", va="center", fontsize=10,
                    color=BLUE if k < len(starts) else VERMILLION)


@styled()
def offset_arrows(panels: Mapping[str, tuple[np.ndarray, np.ndarray, Sequence[str], Sequence[str]]], *, title: str) -> Figure:
    """Pairs of words as arrows in the plane: if all pairs of a relation had one offset, all arrows of a panel would be parallel.

    Parameters: panels, heading -> (starts (n, 2), ends (n, 2), names of the starts, names of the ends), one or two, n <= 10; title, the finding.
    [mikolov2013distributed, Fig. 2]
    """
    if not 1 <= len(panels) <= 2:
        raise ValueError(f"panels holds {len(panels)} pictures; expected 1 or 2")
    fig, axes = new_figure(title, size=(7.2, 4.6), panels=len(panels))
    for ax, (heading, (starts, ends, first, second)) in zip(axes, panels.items(), strict=True):
        starts, ends = check_array("starts", starts, columns=2, min_rows=1), check_array("ends", ends, columns=2, min_rows=1)
        if not len(starts) == len(ends) == len(first) == len(second) <= 10:
            raise ValueError(f"{heading!r} has {len(starts)} starts, {len(ends)} ends, {len(first)} and {len(second)} names; expected equal "
                             "numbers <= 10")
        for begin, end in zip(starts, ends, strict=True):
            arrow(ax, tuple(begin), tuple(end), GREY, lw=1.1)
        both = np.vstack([starts, ends])
        room = 0.14 * np.ptp(both, axis=0)
        (left, low), (right, high) = both.min(axis=0) - (1.4, 1) * room, both.max(axis=0) + (1.4, 1) * room
        ax.set(xlim=(left, right), ylim=(low, high), xticks=[], yticks=[], xlabel="first two principal directions")
        _name_ends(ax, starts, ends, [plain(word, limit=14) for word in (*first, *second)])
        ax.set_title(plain(heading), loc="center", fontsize=12)
    return fig
