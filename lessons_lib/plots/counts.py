"""Figures about counted words: how often each occurs, how fast the vocabulary grows, and what a table of counts costs.

Each function takes plain arrays and the finding as its title. Log axes turn the power laws of Zipf and Heaps into straight lines, whose
slope is fitted and written beside them. Seen in ``01_one_hot`` and ``02_bag_of_words``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_float, check_int, shown
from .labels import bytes_text, count_text, end_labels, new_figure
from .style import GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["heaps", "matrix_memory", "ngram_growth", "power_law", "sparsity", "spy_counts", "zipf"]

BLUE, VERMILLION, GREEN = PALETTE["blue"], PALETTE["vermillion"], PALETTE["green"]
SPY_CELLS = (240, 600)                            # most rows and columns a picture of a matrix can show as separate dots


def _column(name: str, values: Sequence[float] | np.ndarray, *, positive: bool = True) -> np.ndarray:
    column = check_array(name, values, ndim=1, min_rows=1).astype(np.float64)
    if positive and (column <= 0).any():
        i = int(np.flatnonzero(column <= 0)[0])
        raise ValueError(f"{name}[{i}]={column[i]:g} cannot be drawn on a log axis; expected numbers > 0")
    return column


def _same_length(**columns: np.ndarray | Sequence) -> None:
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"expected columns of one length, got {', '.join(f'{name}: {n}' for name, n in sizes.items())}")


def _shares(name: str, values: Sequence[float] | np.ndarray, *, positive: bool) -> np.ndarray:
    column = _column(name, values, positive=positive)
    bad = np.flatnonzero((column < 0) | (column > 1))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}]={column[bad[0]]:g} is no share; expected numbers in [0, 1]")
    return column


def _fit_ranks(fit: object, n: int) -> tuple[int, int]:
    """First and last rank of the fitted part, within the n there are."""
    if not isinstance(fit, (tuple, list)) or len(fit) != 2:
        raise TypeError(f"fit={shown(fit)} is no pair; expected (first rank, last rank)")
    low, high = check_int("fit[0]", fit[0]), min(n, check_int("fit[1]", fit[1]))
    if low >= high:
        raise ValueError(f"fit={shown(fit)} holds {max(0, high - low + 1)} of the {n:,} ranks; expected (first, last) with >= 2 of them")
    return low, high


def power_law(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Exponent b and factor a of the line y = a x^b that fits best on log-log axes (least squares of the logs).

    Parameters: x, y, positive, shape (n,) with n >= 2. Zipf's law has b near -1 for counts against ranks, Heaps' law b below 1.

    >>> exponent, factor = power_law([1, 10, 100], [50, 5, 0.5])
    >>> round(exponent, 6), round(factor, 6)
    (-1.0, 50.0)
    """
    x, y = _column("x", x), _column("y", y)
    _same_length(x=x, y=y)
    if x.min() == x.max():
        raise ValueError(f"x holds 1 distinct value, {x[0]:g}; a line needs >= 2")
    u, v = np.log(x), np.log(y)
    exponent = ((u - u.mean()) * (v - v.mean())).sum() / ((u - u.mean()) ** 2).sum()
    return float(exponent), float(np.exp(v.mean() - exponent * u.mean()))


@styled()
def zipf(counts: Sequence[int] | np.ndarray, *, title: str, words: Sequence[str] | None = None, fit: tuple[int, int] = (10, 1000)) -> Figure:
    """Count of each word against its rank, on log-log axes, with the line fitted between two ranks.

    Parameters: counts, positive, in any order; title, the finding; words, the word of each count (a few are written beside the curve);
    fit, first and last rank of the fitted part.
    """
    counts = _column("counts", counts)
    order = np.argsort(-counts, kind="stable")
    counts, rank = counts[order], np.arange(1, len(counts) + 1)
    low, high = _fit_ranks(fit, len(counts))
    exponent, factor = power_law(rank[low - 1 : high], counts[low - 1 : high])
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    drawn = np.unique(np.geomspace(1, len(counts), 250).round().astype(int)) - 1       # enough for the curve, and a small file
    ax.plot(rank[drawn], counts[drawn], color=BLUE)
    ends = np.array([1.0, len(counts)])
    ax.plot(ends, factor * ends**exponent, "--", color=GREY, lw=1.5)
    ax.set(xscale="log", yscale="log", xlabel="rank of the word (1 = most frequent)", ylabel="times the word occurs",
           ylim=(counts.min() * 0.6, max(counts.max(), factor) * 2.5), xlim=(0.8, len(counts) * 1.5))
    _count_axes(ax)
    ax.annotate(f"line fitted on ranks {low:,} to {high:,}:\nslope {exponent:.2f}".replace("-", "−"), (0.97, 0.93),
                xycoords="axes fraction", ha="right", va="top", color=GREY)
    if words is not None:
        _same_length(words=words, counts=counts)
        for place in (p for p in (0, 9, 99, 999, 9999) if p < len(counts)):
            ax.plot(rank[place], counts[place], "o", color=BLUE)
            right, up = ("left", "bottom") if place == 0 else ("right", "top")       # rank 1 stands at the axis
            ax.annotate(plain(words[order[place]], limit=20), (rank[place], counts[place]), (9, 2) if place == 0 else (-8, -7),
                        textcoords="offset points", ha=right, va=up)
    return fig


@styled()
def heaps(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str, log: bool = False) -> Figure:
    """Distinct words against running words, one line per text collection, each with its fitted exponent.

    Parameters: curves, name -> (tokens read, distinct words so far); title, the finding; log, both axes logarithmic.
    """
    if not isinstance(curves, Mapping) or not curves:
        raise ValueError(f"curves={shown(curves)} holds no curve; expected {{name: (tokens read, distinct words so far)}}")
    fig, (ax,) = new_figure(title)
    names, ends = [], []
    for k, (name, (tokens, types)) in enumerate(curves.items()):
        x, y = _column(f"curves[{name!r}][0]", tokens), _column(f"curves[{name!r}][1]", types)
        _same_length(tokens=x, types=y)
        ax.plot(x, y, marker=MARKERS[k % 5], markevery=max(1, len(x) // 8), color=LINE_COLOURS[k % 5], ls="-")
        names.append(f"{plain(name, limit=24)}\n(exponent {power_law(x, y)[0]:.2f})")
        ends.append((x[-1], y[-1]))
    ax.set(xlabel="words read (tokens)", ylabel="distinct words so far", **({"xscale": "log", "yscale": "log"} if log else {}))
    if not log:
        ax.set(xlim=(0, None), ylim=(0, None))
    _count_axes(ax)
    end_labels(ax, *zip(*ends, strict=True), names, [LINE_COLOURS[k % 5] for k in range(len(names))])
    return fig


def _count_axes(ax: Axes) -> None:
    """Ticks in words (10 k) instead of powers, whose raised digits would be too small to read."""
    from matplotlib.ticker import LogLocator

    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        if axis.get_scale() == "log" and high < 100 * low:        # powers of ten alone would leave one tick or two
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(lambda value, _: count_text(value) if value >= 1 else "0")
        axis.set_minor_formatter(lambda value, _: "")


@styled()
def matrix_memory(sizes: Sequence[float], dense_bytes: Sequence[float], csr_bytes: Sequence[float], *, title: str, xlabel: str = "documents",
                  memory: float = 8e9) -> Figure:
    """Bytes of one matrix stored dense and stored as CSR, against its size, on log-log axes.

    Parameters: sizes, dense_bytes, csr_bytes, shape (n,); title, the finding; xlabel, what sizes counts; memory, a machine's bytes, drawn as a line.
    """
    x, dense, csr = _column("sizes", sizes), _column("dense_bytes", dense_bytes), _column("csr_bytes", csr_bytes)
    _same_length(sizes=x, dense_bytes=dense, csr_bytes=csr)
    memory = check_float("memory", memory, low=0, open_low=True)
    fig, (ax,) = new_figure(title)
    ax.plot(x, dense, "-s", color=VERMILLION)
    ax.plot(x, csr, "-o", color=BLUE)
    ax.axhline(memory, color=GREY, lw=1.5, ls=":")
    ax.set(xscale="log", yscale="log", xlabel=f"{xlabel} (log scale)", ylabel="memory (log scale)", ylim=(None, max(dense.max(), memory) * 4))
    ax.annotate(f"a laptop: {bytes_text(memory)}", (x[0], memory), (0, 5), textcoords="offset points", color=GREY)
    ax.yaxis.set_major_formatter(lambda value, _: bytes_text(value))
    ax.xaxis.set_major_formatter(lambda value, _: count_text(value))
    ax.minorticks_off()
    end_labels(ax, [x[-1]] * 2, [dense[-1], csr[-1]], [f"dense\n{bytes_text(dense[-1])}", f"CSR\n{bytes_text(csr[-1])}"], [VERMILLION, BLUE])
    return fig


@styled()
def sparsity(sizes: Sequence[float], nonzero_share: Sequence[float], *, title: str, xlabel: str = "words in the vocabulary") -> Figure:
    """Share of cells that are not zero, against the number of columns, on log-log axes.

    Parameters: sizes (n,); nonzero_share (n,) in (0, 1]; title, the finding; xlabel, what sizes counts.
    """
    x, share = _column("sizes", sizes), _shares("nonzero_share", nonzero_share, positive=True)
    _same_length(sizes=x, nonzero_share=share)
    fig, (ax,) = new_figure(title)
    ax.plot(x, share, "-o", color=BLUE)
    ax.set(xscale="log", yscale="log", xlabel=f"{xlabel} (log scale)", ylabel="cells that are not 0 (log scale)",
           ylim=(share.min() / 2, share.max() * 2.2), xlim=(x.min() / 1.6, x.max() * 1.6))
    for place in sorted({0, len(x) // 2, len(x) - 1}):
        ax.annotate(f"{share[place]:.2g}" if share[place] < 1e-4 else f"{100 * share[place]:.2g}%", (x[place], share[place]), (6, 8),
                    textcoords="offset points", fontweight="bold", color=BLUE)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
    ax.xaxis.set_major_formatter(lambda value, _: count_text(value))
    ax.minorticks_off()
    return fig


def _pooled(filled: Any, rows: int, columns: int) -> np.ndarray:
    """Share of non-zero cells in each of at most rows x columns blocks. filled: a SciPy matrix. Returns a dense array."""
    cells = filled.tocoo()
    height, width = min(rows, filled.shape[0]), min(columns, filled.shape[1])
    r = cells.row.astype(np.int64) * height // filled.shape[0]
    c = cells.col.astype(np.int64) * width // filled.shape[1]
    used = cells.data != 0
    return np.bincount(r[used] * width + c[used], minlength=height * width).reshape(height, width)


@styled()
def spy_counts(matrix: Any, *, title: str, xlabel: str = "words, most frequent first", ylabel: str = "documents") -> Figure:
    """Where a document-term matrix is not zero: one dark dot per filled cell, or per block that holds one in a large matrix.

    Parameters: matrix, a SciPy matrix or array of shape (documents, words), best with columns sorted by frequency; title, the finding.
    """
    from scipy import sparse

    if len(np.shape(matrix)) != 2:
        raise ValueError(f"matrix has shape {np.shape(matrix)}; expected (documents, words)")
    matrix = sparse.csr_array(matrix)
    check_array("matrix.data", matrix.data, ndim=1)
    if 0 in matrix.shape:
        raise ValueError(f"matrix has shape {matrix.shape}; expected >= 1 row and column")
    seen = _pooled(matrix, *SPY_CELLS) > 0
    fig, (ax,) = new_figure(title, size=(7.2, 3.8))
    ax.imshow(~seen, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="nearest", extent=(0, matrix.shape[1], matrix.shape[0], 0))
    filled = matrix.count_nonzero() / np.prod([float(n) for n in matrix.shape])
    pooled = seen.shape != matrix.shape
    ax.xaxis.set_major_formatter(lambda value, _: count_text(value))
    ax.set(xlabel=f"{xlabel} ({matrix.shape[1]:,} columns)", ylabel=f"{ylabel} ({matrix.shape[0]:,} rows)")
    percent = f"{100 * filled:.0f}%" if filled > 0.1 else f"{100 * filled:.2g}%"
    note = f"{percent} of the cells are filled" + ("; a dot stands for a block with at least one" if pooled else "")
    ax.set_title(note, fontsize=11, fontweight="normal", color=GREY)
    ax.spines[["top", "right"]].set_visible(True)
    return fig


@styled()
def ngram_growth(n: Sequence[int], distinct: Sequence[int], once: Sequence[float], *, title: str, unit: str = "words") -> Figure:
    """Two panels against n: how many distinct n-grams a text holds, and which share of them occurs only once.

    Parameters: n (k,), lengths; distinct (k,), numbers of distinct n-grams; once (k,), shares in [0, 1]; title, the finding; unit, what is counted.
    """
    distinct, once = _column("distinct", distinct), _shares("once", once, positive=False)
    _same_length(n=n, distinct=distinct, once=once)
    fig, (left, right) = new_figure(title, size=(7.2, 3.6), panels=2)
    places = np.arange(len(distinct))
    for ax, values, colour, form, label in ((left, distinct, BLUE, count_text, "distinct n-grams"),
                                            (right, once, VERMILLION, "{:.0%}".format, "share seen only once")):
        ax.bar(places, values, color=colour, width=0.62)
        for place, value in zip(places, values, strict=True):
            ax.annotate(form(value), (place, value), (0, 4), textcoords="offset points", ha="center", fontweight="bold", fontsize=10, color=colour)
        ax.set(xlabel=f"n ({unit} per n-gram)", ylabel=label)
        ax.set_xticks(places, [str(k) for k in n])
        ax.yaxis.set_major_formatter(lambda value, _, form=form: form(value))
    left.set_ylim(0, distinct.max() * 1.15)
    right.set_ylim(0, 1.12)
    return fig
