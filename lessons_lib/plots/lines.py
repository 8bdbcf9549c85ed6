"""Figures of lines: a score against a size, a loss against steps, counts on log axes, a roofline.

Every line has its name at its end instead of a legend. Log axes turn the power laws of Zipf and
Heaps into straight lines. Seen in every lesson that measures something against something.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array, check_choice, check_float, check_int, shown
from .labels import (VEIL, bytes_text, count_text, duration_text, end_labels, frame_of, heading,
                     in_points, line_by_line, minus, name_lines, new_figure, note, quiet_places,
                     rate_text, say, spread, x_ticks)
from .primitives import (Columns, Curves, checked_columns, checked_curves, column, draw_lines,
                         expect, expect_number, grid, same_length)
from .style import (BLACK, BLUE, DASHES, GREEN, GREY, LINE_COLOURS, MARKERS, PURPLE, SKY,
                    VERMILLION, figure, plain, wrapped)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MANY = 20                                         # lines of a figure that repeats its colours
CUT_COLOURS = (BLUE, GREEN, VERMILLION, PURPLE, BLACK)
CUT_INK = {PURPLE: "#8F3F6E"}                     # of words: dark enough on white


def _powers_of_ten(low: float, high: float) -> np.ndarray:
    return 10.0 ** np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)


# ---------------------------------------------------------------------------- counts of words


def power_law(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray
              ) -> tuple[float, float]:
    """Fit y = a x^b by least squares of the logs, a straight line on log-log axes.

    Parameters
    ----------
    x, y : array of float, shape (n,), > 0; at least two different x

    Returns
    -------
    exponent, factor : float
        b and a. Zipf's law has b near -1 for counts against ranks, Heaps' law b below 1.

    Raises
    ------
    ValueError
        For numbers <= 0, other lengths, or one x only.

    Examples
    --------
    >>> exponent, factor = power_law([1, 10, 100], [50, 5, 0.5])
    >>> round(exponent, 6), round(factor, 6)
    (-1.0, 50.0)
    """
    x = column("x", x, positive=True)
    y = column("y", y, positive=True, x=x)
    expect(x.min() < x.max(), f"x holds 1 distinct value, {x[0]:g}; a line needs >= 2")
    u, v = np.log(x), np.log(y)
    exponent = ((u - u.mean()) * (v - v.mean())).sum() / ((u - u.mean()) ** 2).sum()
    return float(exponent), float(np.exp(v.mean() - exponent * u.mean()))


def _count_axes(ax: Axes) -> None:
    """Ticks in words (10 k): the raised digits of powers would be too small to read."""
    from matplotlib.ticker import LogLocator

    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        if axis.get_scale() == "log" and high < 100 * low:    # powers alone: one tick or two
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        say(axis, lambda value: count_text(value) if value >= 1 else "0")
        axis.set_minor_formatter(lambda value, _: "")


@figure
def zipf(counts: Sequence[int] | np.ndarray, *, title: str, words: Sequence[str] | None = None,
         fit: tuple[int, int] = (10, 1000)) -> Figure:
    """Draw the count of each word against its rank on log-log axes, with a fitted line.

    Parameters
    ----------
    counts : array of int, shape (n,), > 0; in any order
    words : sequence of str, shape (n,), optional
        The word of each count; a few are written beside the curve.
    fit : (int, int), default (10, 1000); first and last rank of the fitted part
    """
    counts = column("counts", counts, positive=True)
    order = np.argsort(-counts, kind="stable")
    counts, rank = counts[order], np.arange(1, len(counts) + 1)
    if not isinstance(fit, (tuple, list)) or len(fit) != 2:
        raise TypeError(f"fit={shown(fit)} is no pair; expected (first rank, last rank)")
    low, high = check_int("fit[0]", fit[0]), min(len(counts), check_int("fit[1]", fit[1]))
    expect(low < high, f"fit={shown(fit)} holds {max(0, high - low + 1)} of the {len(counts):,} "
                       "ranks; expected (first, last) with >= 2 of them")
    same_length(counts=counts, words=counts if words is None else words)
    exponent, factor = power_law(rank[low - 1 : high], counts[low - 1 : high])
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    drawn = np.unique(np.geomspace(1, len(counts), 250).round().astype(int)) - 1   # a small file
    ax.plot(rank[drawn], counts[drawn], color=BLUE)
    ends = np.array([1.0, len(counts)])
    ax.plot(ends, factor * ends**exponent, "--", color=GREY, lw=1.5)
    ax.set(xscale="log", yscale="log", xlabel="rank of the word (1 = most frequent)",
           ylabel="times the word occurs", xlim=(0.8, len(counts) * 1.5),
           ylim=(counts.min() * 0.6, max(counts.max(), factor) * 2.5))
    _count_axes(ax)
    ax.annotate(minus(f"line fitted on ranks {low:,} to {high:,}:\nslope {exponent:.2f}"),
                (0.97, 0.93), xycoords="axes fraction", ha="right", va="top", color=GREY)
    for place in (0, 9, 99, 999, 9999) if words is not None else ():
        if place >= len(counts):
            break
        ax.plot(rank[place], counts[place], "o", color=BLUE)
        shift, ha, va = ((-8, -7), "right", "top") if place else ((9, 2), "left", "bottom")
        note(ax, plain(words[order[place]], limit=20), (rank[place], counts[place]), shift,
             ha=ha, va=va)
    return fig


@figure
def heaps(curves: Curves, *, title: str, log: bool = False) -> Figure:
    """Draw distinct words against words read, each text with its fitted exponent.

    Parameters
    ----------
    curves : mapping of name to (tokens read, distinct words so far); all numbers > 0
    log : bool, default False; both axes logarithmic
    """
    lines = checked_curves("curves", curves, most=MANY, positive="xy")
    fig, (ax,) = new_figure(title)
    for k, (x, y) in enumerate(lines.values()):
        ax.plot(x, y, ls="-", marker=MARKERS[k % 5], color=LINE_COLOURS[k % 5],
                markevery=max(1, len(x) // 8))
    ax.set(xlabel="words read (tokens)", ylabel="distinct words so far",
           **({"xscale": "log", "yscale": "log"} if log else {"xlim": (0, None),
                                                               "ylim": (0, None)}))
    _count_axes(ax)
    name_lines(ax, lines, form=lambda name: f"{plain(name, limit=24)}\n(exponent "
                                            f"{power_law(*lines[name])[0]:.2f})")
    return fig


# ---------------------------------------------------------------------------- against a size


@figure
def score_curves(curves: Curves, *, title: str, xlabel: str, ylabel: str,
                 levels: Mapping[str, float] | None = None, log: bool = True,
                 ticks: Sequence[float] | None = None) -> Figure:
    """Draw a score against a size, one line per method; methods without a size are level lines.

    Parameters
    ----------
    curves : mapping of name to (sizes, scores); at most 5
    xlabel, ylabel : str; what the sizes and the scores are
    levels : mapping of name to score, optional; drawn dashed
    log : bool, default True; logarithmic sizes
    ticks : sequence of float, optional
        Where the axis has numbers; None: at each size that was measured.
    """
    lines, levels = checked_curves("curves", curves), dict(levels or {})
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    draw_lines(ax, lines)
    sizes = np.unique(np.concatenate([x for x, _ in lines.values()]))
    ax.set(xscale="log" if log else "linear", xlabel=xlabel + (" (log scale)" if log else ""),
           ylabel=ylabel)
    for score in levels.values():
        ax.plot(sizes[[0, -1]], [score, score], "--", color=GREY, lw=1.5)
    if log or ticks is not None:
        x_ticks(ax, sizes if ticks is None else check_array("ticks", ticks, ndim=1),
                lambda size: f"{size:g}" if size < 10_000 else count_text(size))
    ax.margins(y=0.12)
    ends = [(x[-1], y[-1]) for x, y in lines.values()]
    ends += [(sizes[-1], score) for score in levels.values()]
    end_labels(ax, *zip(*ends, strict=True), [plain(n, limit=28) for n in (*lines, *levels)],
               [*LINE_COLOURS[: len(lines)], *[GREY] * len(levels)])
    return fig


@figure
def cost_curves(curves: Curves, *, title: str, xlabel: str, ylabel: str) -> Figure:
    """Draw seconds against sizes on two log axes, one line per method; slope 1 is proportional.

    Parameters
    ----------
    curves : mapping of name to (sizes, seconds); at most 5, all numbers > 0
    xlabel, ylabel : str; what is counted and what is timed
    """
    lines = checked_curves("curves", curves, positive="xy")
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    draw_lines(ax, lines)
    ax.set(xscale="log", yscale="log", xlabel=f"{xlabel} (log scale)",
           ylabel=f"{ylabel} (log scale)")
    x_ticks(ax, np.unique(np.concatenate([x for x, _ in lines.values()])), count_text)
    say(ax.yaxis, duration_text)
    grid(ax)
    ax.margins(y=0.1)
    name_lines(ax, lines)
    return fig


@figure
def tuning_curves(sizes: Sequence[float], scores: Columns, *, title: str, xlabel: str,
                  ylabel: str, tolerance: float,
                  marks: Mapping[str, float] | None = None) -> Figure:
    """Draw scores against a setting on a log axis; the best is a diamond, the nearly best thick.

    Parameters
    ----------
    sizes : array of float, shape (n,), > 0; values of the setting
    scores : mapping of name to array, shape (n,); at most 5
    tolerance : float, >= 0; how far below its best a curve is drawn thick
    marks : mapping of name to value of the setting, optional; upright dashed lines
    """
    x = column("sizes", sizes, min_rows=2, positive=True)
    tolerance = check_float("tolerance", tolerance, low=0.0)
    lines = {name: (x, y) for name, y in checked_columns("scores", scores, sizes=x).items()}
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    ax.set(xscale="log", xlabel=xlabel + " (log scale)", ylabel=ylabel)
    for (_, y), colour, marker in zip(lines.values(), LINE_COLOURS, MARKERS, strict=False):
        good = np.where(y >= y.max() - tolerance, y, np.nan)
        ax.plot(x, y, "-", color=colour, marker=marker, ms=4)
        ax.plot(x, good, "-", color=colour, lw=9, alpha=0.28, solid_capstyle="round",
                marker="o", ms=9, mew=0)
        ax.plot([x[y.argmax()]], [y.max()], "D", color=colour, mec="black", ms=9, zorder=4)
    ax.margins(y=0.12)
    low, high = ax.get_ylim()
    for name, place in (marks or {}).items():
        ax.plot([place, place], [low, high], "--", color=GREY, lw=1.3, zorder=0)
        note(ax, plain(name, limit=30), (place, low), (5, 5), color=GREY, bbox=VEIL)
    ax.set_ylim(low, high)
    last = int(x.argmax())
    name_lines(ax, {name: (x[[last]], y[[last]]) for name, (x, y) in lines.items()}, limit=26)
    return fig


@figure
def cut_curves(curves: Curves, *, title: str, ylabel: str, like: Mapping[str, str] | None = None,
               names: str = "end", xlabel: str = "numbers kept") -> Figure:
    """Draw what vectors are worth that are cut short, a line for each encoder, on a log axis.

    Parameters
    ----------
    curves : mapping of name to (sizes, scores); the same sizes for all
    like : mapping of name to name, optional
        A line takes the colour of another, dashed with hollow marks; at most five colours remain.
    names : {"end", "start"}, default "end"
        Where lines have their names: "start" where all end in one place.
    """
    check_choice("names", names, ("end", "start"))
    like, sizes = dict(like or {}), [list(x) for x, _ in curves.values()]
    own = [name for name in curves if name not in like]
    expect_number("curves without those of like", own, len(CUT_COLOURS), 1, "lines")
    expect(all(x == sizes[0] for x in sizes), "curves has lines of other sizes; expected the "
                                              "same sizes in each line")
    expect(set(like) <= set(curves) and set(like.values()) <= set(own),
           f"like={shown(like)}; expected lines of curves, each like one that has a colour of its "
           f"own: {', '.join(own)}")
    fig, (ax,) = new_figure(title, size=(7.2, 4.8))
    look = {name: own.index(like.get(name, name)) for name in curves}
    for name, (x, y) in curves.items():
        colour, twin = CUT_COLOURS[look[name]], name in like
        ax.plot(x, y, "--" if twin else "-", color=colour, marker=MARKERS[look[name]],
                mfc="white" if twin else colour)
    low, high = sizes[0][0], sizes[0][-1]
    ax.set(xscale="log", xlabel=f"{xlabel} (log scale)", ylabel=ylabel)
    x_ticks(ax, sizes[0])
    ax.margins(y=0.08)
    if names == "start":
        ax.set_xlim(low * (high / low) ** -0.28)                  # room for the names
    at, side, ha = (-1, 8, "left") if names == "end" else (0, -8, "right")
    places = [(x[at], y[at]) for x, y in curves.values()]
    heights = in_points(ax, np.array(places, dtype=float))[:, 1]
    for name, place, shift in zip(curves, places, spread(heights, 15) - heights, strict=True):
        colour = CUT_COLOURS[look[name]]
        note(ax, plain(name, limit=28), place, (side, shift), va="center", ha=ha,
             color=CUT_INK.get(colour, colour), annotation_clip=False)
    return fig


# ---------------------------------------------------------------------------- layers, spectra


def _rising_curves(name: str, curves: Curves, most: int = 5) -> dict:
    lines = checked_curves(name, curves, most=most, least=0, min_rows=2, rising=True)
    for key, (x, _) in lines.items():
        expect(x[0] >= 0, f"{name}[{key!r}] begins at {x[0]:g}; expected places >= 0 that rise")
    return lines


@figure
def layer_lines(curves: Curves, *, title: str, ylabel: str, published: Curves | None = None,
                relative: bool = True) -> Figure:
    """Draw a measure over the layers of models, beside published lines of others in grey.

    Parameters
    ----------
    curves : mapping of name to (layers, values); layer 0 is the input; at most 5
    ylabel : str; the measure
    published : mapping of name to (layers, values), optional
        At most 4 models that others measured: `isotropy.published_layers`.
    relative : bool, default True
        Depth from 0 to 1 instead of layer numbers, so that models of 2 and 12 layers compare.
    """
    own, others = _rising_curves("curves", curves), _rising_curves("published", published or {}, 4)
    expect(own or others, "curves and published hold 0 lines; expected >= 1")
    lines = {(name, k): (x / x[-1] if relative else x, y)
             for k, group in enumerate((own, others)) for name, (x, y) in group.items()}
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    colours = [*LINE_COLOURS[: len(own)], *[GREY] * len(others)]
    looks = [("-", marker) for marker in MARKERS[: len(own)]]
    looks += zip(DASHES[1:], MARKERS[1:], strict=True)
    for (depth, values), colour, (dash, marker) in zip(lines.values(), colours, looks,
                                                       strict=False):
        hollow = {"mfc": "white", "lw": 1.5} if colour == GREY else {}
        ax.plot(depth, values, ls=dash, color=colour, marker=marker, ms=5, **hollow)
    ax.set(xlabel="depth (0 = input, 1 = last layer)" if relative else "layer (0 = input)",
           ylabel=ylabel)
    if not relative:
        ax.xaxis.get_major_locator().set_params(integer=True)
    grid(ax)
    ax.margins(y=0.08)
    name_lines(ax, lines, form=lambda key: plain(key[0], limit=26), colours=colours)
    return fig


@figure
def film(steps: Sequence[float], curves: Columns, *, title: str, ylabel: str,
         xlabel: str = "tokens read") -> Figure:
    """Draw statistics while a model learns, on a log axis; the untrained model is its left end.

    Parameters
    ----------
    steps : array of float, shape (k,), rising; tokens read; the first may be 0
    curves : mapping of name to array, shape (k,); at most 5, of one kind of axis
    """
    x = column("steps", steps, min_rows=3)
    lines = _rising_curves("curves", {name: (x, values) for name, values in curves.items()})
    expect(lines, "curves holds 0 lines; expected >= 1")
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    x = np.where(x > 0, x, x[1] / 4)                          # 0 has no place on a log axis
    lines = {name: (x, y) for name, (_, y) in lines.items()}
    draw_lines(ax, lines, ms=4)
    ax.axhline(0, color=GREY, lw=0.8)
    ticks = {x[0]: "untrained" if steps[0] == 0 else count_text(x[0])}
    ticks |= {p: count_text(p) for p in _powers_of_ten(x[1], x[-1]) if p > 1.5 * x[0]}
    ax.set(xscale="log", xlabel=f"{xlabel} (log scale)", ylabel=ylabel)
    x_ticks(ax, list(ticks), ticks.get)
    ax.margins(y=0.08)
    name_lines(ax, lines, form=lambda name: wrapped(plain(name, limit=48), width=26))
    return fig


@figure
def singular_spectrum(curves: Columns, *, title: str) -> Figure:
    """Draw singular values divided by the largest one against their number, on two log axes.

    Flat is isotropic, a fall after the first one is a cone.
    [gao2019representation, Fig. 1; wang2020improving]

    Parameters
    ----------
    curves : mapping of name to singular values
        At most 5, falling, not all 0; what is below a millionth of the first is not drawn.
    """
    lines = {}
    for name, values in checked_columns("curves", curves, min_rows=2).items():
        expect((np.diff(values) <= 0).all() and values[0] > 0 and values[-1] >= 0,
               f"curves[{name!r}] holds no singular values; expected numbers >= 0 that never rise")
        relative = values[values > 1e-6 * values[0]] / values[0]
        lines[name] = np.arange(1, len(relative) + 1), relative
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    draw_lines(ax, lines, markers=False, dashes=True)
    ax.plot(1, 1, "o", color=BLACK)
    longest = max(len(relative) for _, relative in lines.values())
    lowest = min(relative[-1] for _, relative in lines.values())
    ax.set(xscale="log", yscale="log", xlabel="number of the singular value (log scale)",
           ylabel="share of the largest one (log scale)")
    x_ticks(ax, [d * 10**k for k in range(4) for d in (1, 2, 5) if d * 10**k <= min(longest, 2000)],
            str)
    steps = (1, 0.5, 0.2) if lowest > 0.01 else (1,)
    shares = [s * 10.0**-k for k in range(7) for s in steps if s * 10.0**-k >= 0.5 * lowest]
    ax.set_yticks(shares, [f"{share:g}" for share in shares])
    ax.minorticks_off()
    grid(ax)
    ax.margins(y=0.08)
    name_lines(ax, lines)
    return fig


# ---------------------------------------------------------------------------- training


@figure
def training_curves(steps: Sequence[float], losses: Sequence[float], *, title: str,
                    scores: Sequence[float | None] = (), xlabel: str = "step",
                    score: str = "score on dev", reach: float | None = None,
                    levels: Mapping[str, float] | None = None) -> Figure:
    """Draw one training: its loss on the left and, where it was scored, its score on the right.

    Parameters
    ----------
    steps : sequence of n >= 1 float
    losses : sequence of n float; what is not finite is left out
    scores : sequence of n (float or None), default (); None where a step was not scored
    score : str, default "score on dev"; what the second curve is
    reach : float, optional; a score that its axis includes, such as the best of another training
    levels : mapping of name to loss, optional; dashed lines beside the loss, such as that of a
        guess
    """
    x = column("steps", steps)
    panels = {"loss": np.asarray(losses, dtype=np.float64)}
    scored = np.array([math.nan if value is None else value for value in scores], dtype=np.float64)
    if np.isfinite(scored).any():
        panels[score] = scored
    fig, axes = new_figure(title, size=(7.2, 3.0), panels=len(panels))
    for ax, (name, y), colour in zip(axes, panels.items(), (VERMILLION, BLUE), strict=False):
        same_length(steps=x, **{name: y})
        there = np.isfinite(y)
        ax.plot(x[there], y[there], "-", color=colour, marker="o" if there.sum() <= MANY else "",
                ms=4)
        heading(ax, plain(name, limit=34))
        ax.set(xlabel=xlabel)
        ax.margins(x=0.05, y=0.15)
        if reach is not None and ax is not axes[0]:
            ax.update_datalim([(x[0], reach)])
            ax.autoscale_view()
        grid(ax)
        for level, at in (levels or {}).items() if ax is axes[0] else ():
            ax.axhline(float(at), color=GREY, lw=1, ls="--")
            note(ax, plain(level, limit=24), (x.max(), at), (0, 3), ha="right", va="bottom",
                 color=GREY)
        if there.any():
            last = y[there][-1]
            text = minus(f"{last:.1f}" if abs(last) >= 10 else f"{last:.2f}")
            end_labels(ax, x[there][-1:], [last], [text], [colour])
    return fig


@figure
def setting_curve(settings: Sequence[float], scores: np.ndarray, *, title: str, xlabel: str,
                  ylabel: str, ours: str = "ours", paper: Mapping[float, float] | None = None,
                  paper_name: str = "paper", log: bool = False) -> Figure:
    """Draw scores against a setting: mean and standard deviation of seeds, and a paper's in grey.

    Parameters
    ----------
    settings : sequence of n >= 2 float, rising; > 0 where log
    scores : array of float, shape (n, seeds)
    ours : str, default "ours"; the name of our line
    paper : mapping of setting to score, optional
    paper_name : str, default "paper"; with its table or figure
    log : bool, default False; a log axis for the setting
    """
    x = column("settings", settings, min_rows=2, positive=log, rising=True)
    y = check_array("scores", scores, ndim=2).astype(np.float64)
    same_length(settings=x, scores=y)
    printed = column("paper", sorted(paper or {}), min_rows=0, positive=log)
    lines = {ours: (x, y.mean(axis=1), BLUE, "o")}
    if len(printed):
        lines[paper_name] = (printed, np.array([paper[at] for at in sorted(paper)]), GREY, "s")
    fig, (ax,) = new_figure(title, size=(7.2, 3.8))
    for across, up, colour, marker in lines.values():
        ax.plot(across, up, "-", color=colour, marker=marker)
    ax.errorbar(x, y.mean(axis=1), y.std(axis=1), fmt="none", ecolor=BLUE, capsize=3)
    ax.set(xlabel=xlabel + (" (log scale)" if log else ""), ylabel=ylabel,
           xscale="log" if log else "linear")
    x_ticks(ax, sorted({*x, *printed}) if len({*x, *printed}) <= 8 else x)
    ax.margins(x=0.06, y=0.15)
    ends = np.array([(across[-1], up[-1]) for across, up, _, _ in lines.values()])
    end_labels(ax, *ends.T, [plain(name, limit=28) for name in lines],
               [colour for _, _, colour, _ in lines.values()])
    return fig


@figure
def loss_bounds(scales: Sequence[float], curves: Columns, *, title: str, worst: float,
                n_terms: int) -> Figure:
    """Draw CoSENT / λ against λ, with the worst violation below it and the bound above it.

    Parameters
    ----------
    scales : array of float, shape (k,), > 0, rising
    curves : mapping of name to loss / λ, shape (k,)
        One to three orders; the bounds are those of the first.
    worst : float; largest violation of the first, 0 where there is none
    n_terms : int; ordered pairs in its sum
    """
    x = column("scales", scales, min_rows=2, rising=True, positive=True)
    lines = {name: (x, y)
             for name, y in checked_columns("curves", curves, most=3, scales=x).items()}
    fig, (ax,) = new_figure(title, size=(7.2, 4.2))
    floor = max(worst, 0.0)
    ceiling = floor + np.log1p(n_terms) / x
    ax.fill_between(x, floor, ceiling, color=SKY, alpha=0.25, lw=0)
    ax.plot(x, ceiling, ls=":", color=GREY, lw=1.5)
    ax.plot(x[[0, -1]], [floor] * 2, "--", color=GREY, lw=1.5)
    draw_lines(ax, lines, ms=5)
    ax.set(xscale="log", xlabel="scale λ (log scale)", ylabel="loss / λ")
    top = 1.1 * max(values[1] for values in (ceiling, *(y for _, y in lines.values())))
    ax.set_ylim(-0.08 * top, top)
    x_ticks(ax, x)
    note(ax, f"bound: worst violation + log(1 + {n_terms}) / λ", (x[1], ceiling[1]), (10, 4),
         color=GREY, fontsize=10)
    name_lines(ax, {"worst violation": (x, [floor] * len(x))} | lines,
               colours=(GREY, *LINE_COLOURS))
    return fig


# ---------------------------------------------------------------------------- machines


@figure
def memory_growth(curves: Curves, *, title: str, measured: Curves | None = None,
                  limits: Mapping[str, float] | None = None, mark: float | None = None,
                  xlabel: str = "vectors N") -> Figure:
    """Draw bytes against size on log-log axes: computed lines, measured dots, limits of machines.

    Parameters
    ----------
    curves, measured : mapping of name to (sizes, bytes)
        All > 0; a name of measured takes the colour of its curve.
    limits : mapping of machine to bytes, optional
    mark : float, optional; a size to point at
    """
    lines = checked_curves("curves", curves, most=MANY, positive="xy")
    seen = checked_curves("measured", measured or {}, most=MANY, least=0, positive="xy")
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    right = max(x[-1] for x, _ in lines.values())
    left = min(x[0] for x, _ in (*lines.values(), *seen.values()))
    draw_lines(ax, lines, markers=False, dashes=True)
    for key, (x, y) in seen.items():
        k = list(lines).index(key) if key in lines else len(lines)
        ax.plot(x, y, MARKERS[k % 5], color=LINE_COLOURS[k % 5], ms=7, zorder=3)
    ax.set(xscale="log", yscale="log", xlim=(left / 1.3, right), xlabel=f"{xlabel} (log scale)",
           ylabel="memory (log scale)")
    for key, value in (limits or {}).items():
        ax.axhline(value, color=GREY, lw=1.2, ls=":")
        note(ax, f"{plain(key)}: {bytes_text(value)}", (left, value), (0, 4), color=GREY)
    if mark is not None:
        ax.axvline(mark, color=GREY, lw=1, ls=":")
        note(ax, f"{mark:,.0f}", (mark, ax.get_ylim()[0]), (4, 4), color=GREY)
        for k, (x, y) in enumerate(lines.values()):
            at = float(np.exp(np.interp(np.log(mark), np.log(x), np.log(y))))
            note(ax, bytes_text(at), (mark, at), (-6, 5), ha="right", fontweight="bold",
                 bbox=VEIL, color=LINE_COLOURS[k % 5])
    say(ax.xaxis, count_text)
    say(ax.yaxis, bytes_text)
    ax.minorticks_off()
    name_lines(ax, {key: ([right], y[-1:]) for key, (_, y) in lines.items()}, form=line_by_line)
    return fig


@figure
def roofline(flops: float, bandwidth: float, dots: Mapping[str, tuple[float, float]], *,
             title: str, name: str = "arithmetic",
             bounds: Mapping[str, float] | None = None) -> Figure:
    """Draw the two limits of a machine as a roof, and code as dots with their share of the roof.

    Parameters
    ----------
    flops : float, > 0; operations per second at best
    bandwidth : float, > 0; bytes per second
    dots : mapping of name to (operations per byte, operations per second); all > 0
    name : str, default "arithmetic"; what the flat part of the roof is called
    bounds : mapping of name to operations per byte, optional
        Work that was not measured: an open mark on the roof.
    """
    flops = check_float("flops", flops, low=0, open_low=True)
    bandwidth = check_float("bandwidth", bandwidth, low=0, open_low=True)
    dots = {key: column(f"dots[{key!r}]", (x, y), positive=True) for key, (x, y) in dots.items()}
    places = dots | {key: (x, None) for key, x in (bounds or {}).items()}
    ridge = flops / bandwidth
    all_x = [*(x for x, _ in places.values()), ridge]
    ends = (min(all_x) / 12, max(all_x) * 60)             # room for words right of the last dot
    low = min([y for _, y in dots.values()] + [bandwidth * ends[0]])
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=(low / 4, flops * 3),
           xlabel="operations per byte moved (log scale)",
           ylabel="operations per second (log scale)")
    ax.plot([ends[0], ridge, ends[1]], [bandwidth * ends[0], flops, flops], color=BLACK, lw=2.5,
            zorder=2)
    ax.plot([ridge, ridge], [low / 4, flops], ":", color=GREY, lw=1.2, zorder=1)
    note(ax, f"{plain(name)}: {rate_text(flops)}", (ends[1], flops), (0, 9), ha="right",
         color=BLACK)
    fig.get_layout_engine().execute(fig)
    (x0, y0), (x1, y1) = ax.transData.transform([(1, 1), (10, 10)])
    slope = math.degrees(math.atan2(y1 - y0, x1 - x0))
    ax.text(1.3 * ends[0], bandwidth * 1.7 * ends[0], f"memory: {bytes_text(bandwidth)}/s",
            color=BLACK, va="bottom", rotation=slope, rotation_mode="anchor")
    note(ax, f"ridge: {ridge:.3g}", (ridge, low / 4), (5, 5), color=GREY)
    labels: list[tuple[str, float, float, str]] = []
    for k, (key, (x, y)) in enumerate(places.items()):
        colour, top, text = LINE_COLOURS[k % 4], min(flops, bandwidth * x), line_by_line(key)
        if y is None:
            y, look = top, {"mfc": "white", "mec": colour, "mew": 2.2, "ms": 10}
        else:
            ax.plot([x, x], [y, top], ls="--", color=colour, lw=1.2, zorder=1)
            text, look = f"{text}\n{min(1.0, y / top):.0%} of its roof", {"color": colour, "ms": 9}
        ax.plot([x], [y], MARKERS[k % 5], zorder=3, **look)
        labels.append((text, x, y, colour))
    roof = [(x, min(flops, bandwidth * x) * lift)
            for x in np.geomspace(*ends, 60) for lift in (1, 1.8)]
    _label_dots(ax, labels, np.array(roof))
    say(ax.xaxis, lambda value: count_text(value) if value >= 1 else f"{value:g}")
    say(ax.yaxis, lambda value: rate_text(value).replace("FLOP/s", ""))
    ax.minorticks_off()
    return fig


def _label_dots(ax: Axes, labels: list[tuple[str, float, float, str]], taken: np.ndarray) -> None:
    """Each (text, x, y, colour) right below its dot, off the others, the dots and ``taken``."""
    if not labels:
        return
    labels = sorted(labels, key=lambda label: -label[1])  # no leader line crosses a text
    dots = in_points(ax, np.array([place for _, *place, _ in labels]))
    widths = np.array([6.4 * max(map(len, text.split("\n"))) for text, *_ in labels])
    wanted = dots + np.column_stack([widths / 2 + 8, np.full(len(labels), -20.0)])
    marks = np.concatenate([dots, in_points(ax, taken)])
    centres = quiet_places(wanted, widths, marks, frame_of(ax), height=32)
    for (text, *place, colour), shift in zip(labels, centres - dots, strict=True):
        note(ax, text, place, shift, color=colour, bbox=VEIL, ha="center", va="center",
             arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8})
