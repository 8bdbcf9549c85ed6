"""Figures about kernels: the roofline of a machine, memory against size, which program does which tile, and what the lanes of a tile hold.

Rates and bytes stand on log axes; limits of a machine are lines, code is dots. Seen in ``15_gpu_kernels``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_float, check_int, shown
from .labels import VEIL, bytes_text, count_text, end_labels, in_points, new_figure, quiet_places
from .style import DASHES, GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["error_growth", "memory_growth", "roofline", "tile_lanes", "tile_map"]

Curve = tuple[Sequence[float], Sequence[float]]
MOST_TILES = 24                                   # per side: more numbers than that cannot be read in the map
UNUSED = "#D9D9D9"


def _curves(name: str, curves: Mapping[str, Curve]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each curve as two positive columns of one length."""
    if not isinstance(curves, Mapping) or not curves:
        raise ValueError(f"{name}={shown(curves)} holds no curve; expected {{name: (x, y)}}")
    out = {}
    for key, pair in curves.items():
        x, y = (check_array(f"{name}[{key!r}]", part, ndim=1, min_rows=1).astype(float) for part in pair)
        if len(x) != len(y) or x.min() <= 0 or y.min() <= 0:
            raise ValueError(f"{name}[{key!r}] has {len(x)} and {len(y)} numbers, least {min(x.min(), y.min()):g}; expected two columns of "
                             "one length, all > 0")
        out[key] = (x, y)
    return out


def rate_text(flops: float) -> str:
    """Operations per second as a person would say them.

    >>> rate_text(2.5e11), rate_text(9.9e14)
    ('250 GFLOP/s', '990 TFLOP/s')
    """
    for unit, size in (("TFLOP/s", 1e12), ("GFLOP/s", 1e9)):
        if flops >= size:
            return f"{float(f'{flops / size:.2g}'):g} {unit}"
    return f"{float(f'{flops / 1e6:.2g}'):g} MFLOP/s"


def _label(text: str) -> str:
    """A name from the caller, line by line: a break that it holds stays."""
    return "\n".join(plain(line) for line in str(text).split("\n"))


def _roof(ax: Axes, name: str, flops: float, bandwidth: float, ends: tuple[float, float], colour: str) -> None:
    ridge = flops / bandwidth
    x = np.array([ends[0], ridge, ends[1]])
    ax.plot(x, np.minimum(flops, bandwidth * x), color=colour, lw=2.5, zorder=2)
    ax.plot([ridge, ridge], [ax.get_ylim()[0], flops], ":", color=GREY, lw=1.2, zorder=1)
    ax.annotate(f"{plain(name)}: {rate_text(flops)}", (ends[1], flops), (0, 9), textcoords="offset points", ha="right", color=colour)
    ax.text(1.3 * ends[0], bandwidth * 1.7 * ends[0], f"memory: {bytes_text(bandwidth)}/s", color=colour, va="bottom", rotation=_slope(ax),
            rotation_mode="anchor")
    ax.annotate(f"ridge: {ridge:.3g}", (ridge, ax.get_ylim()[0]), (5, 5), textcoords="offset points", color=GREY)


def _quiet_labels(ax: Axes, labels: Sequence[tuple[str, float, float, str]], taken: np.ndarray) -> None:
    """Write each (text, x, y, colour) right below its dot, moved by as little as keeps it off the other texts, the dots and the places taken."""
    if not labels:
        return
    labels = sorted(labels, key=lambda label: -label[1])          # from the right, so that no leader line crosses a text
    dots = in_points(ax, np.array([[x, y] for _, x, y, _ in labels]))
    widths = [6.4 * max(map(len, text.split("\n"))) for text, *_ in labels]
    wanted = dots + np.column_stack([np.array(widths) / 2 + 8, np.full(len(labels), -20.0)])
    marks = np.concatenate([dots, in_points(ax, taken)])
    frame = in_points(ax, np.array([[low, high] for low, high in zip(ax.get_xlim(), ax.get_ylim(), strict=True)]))
    for (text, x, y, colour), dot, centre in zip(labels, dots, quiet_places(wanted, widths, marks, frame, height=32), strict=True):
        ax.annotate(text, (x, y), centre - dot, textcoords="offset points", color=colour, ha="center", va="center", bbox=VEIL,
                    arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8})


def _slope(ax: Axes) -> float:
    """The angle of a line of slope 1 on the log axes of a figure, in degrees."""
    ax.figure.draw_without_rendering()            # lays the axes out
    (x0, y0), (x1, y1) = ax.transData.transform([(1, 1), (10, 10)])
    return math.degrees(math.atan2(y1 - y0, x1 - x0))


@styled()
def roofline(flops: float, bandwidth: float, dots: Mapping[str, tuple[float, float]], *, title: str, name: str = "arithmetic",
             bounds: Mapping[str, float] | None = None) -> Figure:
    """The two limits of a machine as a roof, and code as dots under it, each with its share of the roof above it.

    Parameters: flops, operations per second at best; bandwidth, bytes per second; dots, name -> (operations per byte, operations per second);
    title, the finding; name, what the flat part of the roof is called; bounds, name -> operations per byte of work that was not measured: an open
    mark on the roof.
    """
    flops, bandwidth = (check_float(n, v, low=0, open_low=True) for n, v in (("flops", flops), ("bandwidth", bandwidth)))
    bounds = dict(bounds or {})
    places = _curves("dots", {key: ([x], [y]) for key, (x, y) in dots.items()}) if dots else {}
    all_x = [x[0] for x, _ in places.values()] + list(bounds.values()) + [flops / bandwidth]
    ends = (min(all_x) / 12, max(all_x) * 60)                      # room for the words right of the last dot
    low = min([y[0] for _, y in places.values()] + [bandwidth * ends[0]])
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=(low / 4, flops * 3), xlabel="operations per byte moved (log scale)",
           ylabel="operations per second (log scale)")
    _roof(ax, name, flops, bandwidth, ends, PALETTE["black"])
    labels: list[tuple[str, float, float, str]] = []
    for k, (key, (x, y)) in enumerate(places.items()):
        colour, top = LINE_COLOURS[k % 4], min(flops, bandwidth * x[0])
        ax.plot([x[0]] * 2, [y[0], top], ls=DASHES[1], color=colour, lw=1.2, zorder=1)
        ax.plot(x, y, MARKERS[k % 5], color=colour, ms=9, zorder=3)
        labels.append((f"{_label(key)}\n{min(1.0, y[0] / top):.0%} of its roof", x[0], y[0], colour))
    for k, (key, x) in enumerate(bounds.items()):
        colour, top = LINE_COLOURS[(len(places) + k) % 4], min(flops, bandwidth * x)
        ax.plot([x], [top], MARKERS[(len(places) + k) % 5], mfc="white", mec=colour, mew=2.2, ms=10, zorder=3)
        labels.append((_label(key), x, top, colour))
    _quiet_labels(ax, labels, np.array([(x, min(flops, bandwidth * x) * lift) for x in np.geomspace(*ends, 60) for lift in (1, 1.8)]))
    ax.xaxis.set_major_formatter(lambda value, _: count_text(value) if value >= 1 else f"{value:g}")
    ax.yaxis.set_major_formatter(lambda value, _: rate_text(value).replace("FLOP/s", ""))
    ax.minorticks_off()
    return fig


@styled()
def memory_growth(curves: Mapping[str, Curve], *, title: str, measured: Mapping[str, Curve] | None = None, limits: Mapping[str, float] | None = None,
                  mark: float | None = None, xlabel: str = "vectors N") -> Figure:
    """Bytes against size on log-log axes: lines that were computed, dots that were measured, and what machines have.

    Parameters: curves and measured, name -> (sizes, bytes), a name of ``measured`` takes the colour of its curve; limits, machine -> bytes;
    mark, a size to point at; title, the finding.
    """
    lines, dots = _curves("curves", curves), _curves("measured", measured) if measured else {}
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    looks = {key: k for k, key in enumerate(lines)}
    right = max(x[-1] for x, _ in lines.values())
    for key, (x, y) in lines.items():
        ax.plot(x, y, color=LINE_COLOURS[looks[key] % 5], ls=DASHES[looks[key] % 5])
    for key, (x, y) in dots.items():
        k = looks[key] if key in looks else len(looks)
        ax.plot(x, y, MARKERS[k % 5], color=LINE_COLOURS[k % 5], ms=7, zorder=3)
    left = min(x[0] for x, _ in (*lines.values(), *dots.values()))
    ax.set(xscale="log", yscale="log", xlim=(left / 1.3, right), xlabel=f"{xlabel} (log scale)", ylabel="memory (log scale)")
    for key, value in (limits or {}).items():
        ax.axhline(value, color=GREY, lw=1.2, ls=":")
        ax.annotate(f"{plain(key)}: {bytes_text(value)}", (left, value), (0, 4), textcoords="offset points", color=GREY)
    if mark is not None:
        ax.axvline(mark, color=GREY, lw=1, ls=":")
        for k, (x, y) in enumerate(lines.values()):
            at = float(np.exp(np.interp(np.log(mark), np.log(x), np.log(y))))
            ax.annotate(bytes_text(at), (mark, at), (-6, 5), textcoords="offset points", ha="right", fontweight="bold", bbox=VEIL,
                        color=LINE_COLOURS[k % 5])
    ax.xaxis.set_major_formatter(lambda value, _: count_text(value))
    ax.yaxis.set_major_formatter(lambda value, _: bytes_text(value))
    ax.minorticks_off()
    ends = [(right, y[-1]) for _, y in lines.values()]
    end_labels(ax, *zip(*ends, strict=True), [_label(key) for key in lines], [LINE_COLOURS[k % 5] for k in range(len(lines))])
    return fig


@styled()
def tile_map(n: int, block: int, *, title: str, programs: Sequence[int] = ()) -> Figure:
    """The upper triangle of an n x n table, cut into tiles of block x block, each with the number of the program that does it.

    Parameters: programs, numbers of tiles to emphasise; title, the finding. Beyond row or column n the tiles are hatched: padding. Raises
    ValueError for more than 24 tiles per side.
    """
    n, block = check_int("n", n, low=2), check_int("block", block)
    side = -(-n // block)
    if side > MOST_TILES:
        raise ValueError(f"n={n} in blocks of {block} makes {side} tiles per side; expected <= {MOST_TILES}. Take larger blocks")
    fig, (ax,) = new_figure(title, size=(7.2, 4.6))
    number = 0
    for i in range(side):
        for j in range(side):
            face = UNUSED if j < i else PALETTE["orange"] if number in programs else "white"
            ax.add_patch(_box(j * block, i * block, block, block, facecolor=face, edgecolor=PALETTE["black"], linewidth=1.0))
            if j >= i:
                ax.annotate(str(number), ((j + 0.5) * block, (i + 0.5) * block), ha="center", va="center", fontweight="bold", zorder=4,
                            bbox=VEIL | {"facecolor": face, "alpha": 1})
                number += 1
    whole = side * block
    if whole > n:
        for x, y, width, height in ((n, 0, whole - n, whole), (0, n, n, whole - n)):
            ax.add_patch(_box(x, y, width, height, facecolor="none", edgecolor=PALETTE["blue"], hatch="////", linewidth=0))
    ax.plot([0, n], [0, n], "--", color=PALETTE["vermillion"], lw=1.5)
    ax.set(xlim=(0, whole), ylim=(whole, 0), xlabel="column j", ylabel="row i", aspect="equal")
    ax.set_xticks([*range(0, n, block), n], [str(k) for k in [*range(0, n, block), n]])
    ax.set_yticks([*range(0, n, block), n], [str(k) for k in [*range(0, n, block), n]])
    notes = [(PALETTE["black"], "numbers: the program\nthat does the tile"), (GREY, "grey: the same pairs\nonce more, never done"),
             (PALETTE["vermillion"], "dashed: i = j, no pair")] + [(PALETTE["blue"], f"hatched: padding,\nno vector beyond {n - 1}")] * (whole > n)
    for k, (colour, text) in enumerate(notes):
        ax.annotate(text, (1.05, 0.95 - 0.22 * k), xycoords="axes fraction", color=colour, va="top")
    return fig


def _box(x: float, y: float, width: float, height: float, **look: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, **look)


@styled()
def tile_lanes(panels: Mapping[str, np.ndarray], rows: Sequence[int], cols: Sequence[int], *, title: str, n: int,
               notes: Mapping[str, tuple[float, float]] | None = None) -> Figure:
    """What every lane of one tile holds, as one or two coloured squares; lanes at minus infinity stay empty, with a cross.

    Parameters: panels, name -> (len(rows), len(cols)) numbers; rows, cols, the numbers of rows and columns of the table; n, how many of them exist;
    title, the finding; notes, text -> (row, column) of the table where it stands, in the first panel.
    """
    if not isinstance(panels, Mapping) or not 1 <= len(panels) <= 2:
        raise ValueError(f"panels={shown(panels)}; expected one or two arrays by name")
    fig, axes = new_figure(title, size=(7.2, 4.6), panels=len(panels))
    real = np.concatenate([np.asarray(v, dtype=float)[np.isfinite(v)] for v in panels.values()])
    low, high = (real.min(), real.max()) if len(real) else (0.0, 0.0)
    for ax, (name, values) in zip(axes, panels.items(), strict=True):
        values = np.asarray(values, dtype=float)
        if values.shape != (len(rows), len(cols)):
            raise ValueError(f"panels[{name!r}] has shape {values.shape}; expected {(len(rows), len(cols))}")
        finite = np.isfinite(values)
        ax.imshow(np.where(finite, values, math.nan), cmap="cividis", interpolation="nearest", vmin=low, vmax=high)
        y, x = np.nonzero(~finite)
        ax.plot(x, y, "x", color=GREY, ms=4, mew=1)
        for edge, draw in ((sum(r < n for r in rows), ax.axhline), (sum(c < n for c in cols), ax.axvline)):
            if 0 < edge < max(len(rows), len(cols)):
                draw(edge - 0.5, color=PALETTE["vermillion"], lw=2)
        ax.set_title(f"{plain(name)}\ndark {low + 0:.3g}, bright {high + 0:.3g}".replace("-", "−"), fontsize=11, fontweight="normal")
        ax.set(xlabel="column j", ylabel="row i")
        for axis, numbers in ((ax.xaxis, cols), (ax.yaxis, rows)):
            axis.set_ticks(range(0, len(numbers), 4), [str(int(numbers[k])) for k in range(0, len(numbers), 4)])
    for text, (row, column) in (notes or {}).items():
        axes[0].annotate(_label(text), (column - cols[0], row - rows[0]), ha="center", va="center", fontsize=9, bbox=VEIL)
    return fig


@styled()
def error_growth(x: Sequence[float], curves: Mapping[str, Sequence[float]], *, title: str, xlabel: str,
                 ylabel: str = "worst relative error (log scale)") -> Figure:
    """Errors of several ways to compute one thing, on a log axis; the line at 1 says that nothing is left of the result.

    Parameters: x (k,), evenly drawn, whatever it holds; curves, name -> k errors > 0; title, the finding.
    """
    lines = _curves("curves", {key: (range(1, len(x) + 1), y) for key, y in curves.items()})
    fig, (ax,) = new_figure(title)
    for k, (places, y) in enumerate(lines.values()):
        ax.plot(places, y, marker=MARKERS[k % 5], color=LINE_COLOURS[k % 5], ls=DASHES[k % 5])
    ax.axhline(1, color=GREY, lw=1.2, ls=":")
    ax.annotate("error as large as the value", (1, 1), (0, 4), textcoords="offset points", color=GREY)
    ax.set(yscale="log", xlabel=xlabel, ylabel=ylabel)
    ax.set_xticks(range(1, len(x) + 1), [f"{v:g}" for v in x])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}" if 1e-3 <= value < 1e4 else f"{value:.0e}".replace("e-0", "e−").replace("e+0", "e"))
    ax.minorticks_off()
    ends = [(places[-1], y[-1]) for places, y in lines.values()]
    end_labels(ax, *zip(*ends, strict=True), [_label(key) for key in lines], [LINE_COLOURS[k % 5] for k in range(len(lines))])
    return fig
