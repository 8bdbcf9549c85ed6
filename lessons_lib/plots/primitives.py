"""What figures are made of: checked input, frames, lines, dots, bars, heat maps, boxes and arrows.

A figure checks what it is given, then hands plain arrays to these marks, so that a line, a hollow
mark or an outlined cell looks the same in every lesson. Used by all figures of the course.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, shown
from .labels import CENTRED, heading, name_rows, new_figure, note
from .style import (BLACK, BLUE, DASHES, FILL_COLOURS, GREY, LINE_COLOURS, MARKERS, ORANGE, PALE,
                    plain)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Pair = tuple[np.ndarray, np.ndarray]
Curves = Mapping[str, tuple[Sequence[float], Sequence[float]]]
Columns = Mapping[str, Sequence[float]]
GROUP_COLOURS = (*LINE_COLOURS, *FILL_COLOURS)
GROUP_MARKERS = (*MARKERS, "P", "X", "*")
MAX_GROUPS = 20


# ---------------------------------------------------------------------------- input


def expect(ok: object, message: str) -> None:
    """Raises ValueError with the message unless ``ok``."""
    if not ok:
        raise ValueError(message)


def same_length(**things: Sized) -> None:
    """Raises ValueError, with all numbers, unless there are as many of each."""
    sizes = {name: len(values) for name, values in things.items()}
    expect(len(set(sizes.values())) == 1, "expected equal numbers of values, got "
           + ", ".join(f"{name}: {n}" for name, n in sizes.items()))


def expect_number(name: str, things: Sized, most: int, least: int = 1, what: str = "") -> None:
    """Raises ValueError unless there are ``least`` to ``most`` of them: more cannot be read."""
    expect(least <= len(things) <= most,
           f"{name} holds {len(things)}{what and ' ' + what}; expected {least} to {most}")


def expect_names(name: str, given: Any, most: int, least: int = 1, what: str = "") -> None:
    """Raises ValueError for what is no mapping, and as `expect_number`."""
    expect(isinstance(given, Mapping), f"{name}={shown(given)}; expected a dict: {{name: numbers}}")
    expect_number(name, given, most, least, what)


def column(name: str, values: Any, *, min_rows: int = 1, positive: bool = False,
           share: bool = False, rising: bool = False, **like: Sized) -> np.ndarray:
    """Values as float64 (n,), as many as of ``like``. Raises ValueError for what is not so."""
    x = check_array(name, values, ndim=1, min_rows=min_rows).astype(np.float64)
    same_length(**like, **{name: x})
    bad = np.flatnonzero(((x <= 0) & positive) | (((x < 0) | (x > 1)) & share))
    if len(bad):
        allowed = "> 0, or a log axis has no place for them" if positive else "in [0, 1]"
        raise ValueError(f"{name}[{bad[0]}]={x[bad[0]]:g}; expected numbers {allowed}")
    expect(not rising or (np.diff(x) > 0).all(), f"{name} does not rise; expected rising numbers")
    return x


def checked_columns(name: str, given: Columns, *, most: int = 5,
                    **rules: Any) -> dict[str, np.ndarray]:
    """One to ``most`` columns by name, each checked by `column`."""
    expect_names(name, given, most)
    return {key: column(f"{name}[{key!r}]", values, **rules) for key, values in given.items()}


def checked_curves(name: str, given: Curves, *, most: int = 5, least: int = 1, min_rows: int = 1,
                   positive: str = "", rising: bool = False) -> dict[str, Pair]:
    """Lines by name as (x, y) of one length; ``positive`` says which of "xy" must be > 0."""
    expect_names(name, given, most, least)
    checked = {}
    for key, (x, y) in given.items():
        first, second = f"{name}[{key!r}][0]", f"{name}[{key!r}][1]"
        x = column(first, x, min_rows=min_rows, positive="x" in positive, rising=rising)
        checked[key] = x, column(second, y, positive="y" in positive, **{first: x})
    return checked


def plane(name: str, points: Any, *, min_rows: int = 1, **like: Sized) -> np.ndarray:
    """Points (n, 2) as float64, as many as of ``like``."""
    points = check_array(name, points, columns=2, min_rows=min_rows).astype(np.float64)
    same_length(**like, **{name: points})
    return points


def group_looks(labels: Sequence[Any]) -> dict[str, tuple[str, str, np.ndarray]]:
    """Colour, marker and row numbers of each group, in order of first appearance.

    Up to 8 groups share neither colour nor marker. Raises ValueError for more than 20 groups.
    """
    of_row = np.array([str(label) for label in labels])
    names = list(dict.fromkeys(of_row.tolist()))
    expect(len(names) <= MAX_GROUPS,
           f"labels has {len(names)} different values; expected <= {MAX_GROUPS}, or nobody can "
           "tell them apart. Draw some of the groups")
    return {name: (GROUP_COLOURS[k % 8], GROUP_MARKERS[(k + k // 8) % 8],
                   np.flatnonzero(of_row == name)) for k, name in enumerate(names)}


# ---------------------------------------------------------------------------- frames


def panel_figure(title: str, panels: Mapping[str, Any], most: int, *, least: int = 1,
                 limit: int = 60, name: str = "panels",
                 **options: Any) -> tuple[Figure, np.ndarray]:
    """A figure with a panel under each heading; ValueError for too few or too many."""
    expect_names(name, panels, most, least, "pictures")
    fig, axes = new_figure(title, panels=len(panels), **options)
    for ax, text in zip(axes, panels, strict=True):
        heading(ax, plain(text, limit=limit))
    return fig, axes


def bare(ax: Axes, **settings: Any) -> None:
    """No ticks and no frame: places have no numbers. settings: further ones of the axes."""
    ax.set(xticks=[], yticks=[], **settings)
    ax.spines[:].set_visible(False)


def square_view(ax: Axes, reach: float, **settings: Any) -> None:
    """The origin in the middle, one unit as long across as up."""
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", **settings)


def grid(ax: Axes, axis: str = "y") -> None:
    """Pale lines at the ticks."""
    ax.grid(axis=axis, color=PALE, lw=0.8)


# ---------------------------------------------------------------------------- lines and dots


def dots(ax: Axes, points: np.ndarray, **look: Any) -> None:
    """Marks at points (n, 2), without a line."""
    ax.plot(*np.asarray(points).T, ls="none", **({"marker": "o"} | look))


def draw_lines(ax: Axes, lines: Mapping[str, Sequence[np.ndarray]], *, markers: bool = True,
               dashes: bool = False, **look: Any) -> None:
    """A line for each (x, y), by colour and, where asked, by marker and dash."""
    for k, (x, y) in enumerate(lines.values()):
        ax.plot(x, y, ls=DASHES[k % 5] if dashes else "-", color=LINE_COLOURS[k % 5],
                marker=MARKERS[k % 5] if markers else None, **look)


def group_dots(ax: Axes, points: np.ndarray, colour: str, marker: str, edge: float = 0.4,
               **look: Any) -> None:
    """The marks of a group of `group_looks`; pale colours get a dark edge."""
    pale = colour in FILL_COLOURS
    dots(ax, points, color=colour, marker=marker, mec="black" if pale else colour,
         **({"mew": edge} | look))


def interval(ax: Axes, place: float, low: float, high: float, colour: str) -> None:
    """A pale bar from low to high in a row of a chart."""
    ax.plot([low, high], [place, place], "-", color=colour, lw=6, alpha=0.3,
            solid_capstyle="butt")


def mean_dot(ax: Axes, value: float | tuple[float, float], place: int, colour: str, *,
             hollow: bool = False, **look: Any) -> None:
    """A mean with its standard deviation in a row; its number stands above unless hollow."""
    mean, sd = map(float, value) if isinstance(value, tuple) else (float(value), 0.0)
    ax.plot([mean - sd, mean + sd], [place, place], "-", color=colour, lw=1.6)
    ax.plot([mean], [place], marker="o" if hollow else "D", ms=7, mec=colour, mew=1.5,
            color="white" if hollow else colour, zorder=2 if hollow else 3)
    if not hollow:
        note(ax, f"{mean:.1f}", (mean, place), (0, 8), ha="center", color=BLACK, fontsize=10,
             **look)


def mean_rows(ax: Axes, table: Mapping[str, Any], rows: Sequence[str], controls: Mapping[str, Any],
              xlabel: str, control: str, colour_of: Callable[[str], str], **look: Any) -> None:
    """A row of `mean_dot` for each name, with its control hollow, and the label that says so."""
    for place, row in enumerate(rows):
        if row in controls:
            mean_dot(ax, controls[row], place, GREY, hollow=True)
        if row in table:
            mean_dot(ax, table[row], place, colour_of(row), **look)
    name_rows(ax, rows)
    ax.set_axisbelow(True)
    hollow = f"\nhollow: {plain(control)}" if controls else ""
    ax.set(ylim=(len(rows) - 0.5, -0.7), xlabel=xlabel + hollow)


# ---------------------------------------------------------------------------- bars and cells


def bar_rows(ax: Axes, widths: Sequence[float], height: float = 0.66, **look: Any) -> None:
    """A bar for each row 0, 1, … from top to bottom, with room above and below."""
    ax.barh(np.arange(len(widths)), widths, height=height, **look)
    ax.set(ylim=(len(widths) - 0.4, -0.6))


def rectangle(x: float, y: float, width: float, height: float, **look: Any) -> Any:
    """A rectangle to be added to an axes."""
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, **look)


def heat_map(ax: Axes, values: np.ndarray, text: Callable[[int, int], str], *,
             limits: tuple[float, float], fontsize: float = 10, origin: str = "upper",
             outlined: Sequence[Sequence[int]] = (), cmap: Any = "cividis") -> AxesImage:
    """A table as colours with a text in each cell; NaN stays white, some cells are outlined."""
    low, high = limits
    image = ax.imshow(values, cmap=cmap, vmin=low, vmax=high if high > low else low + 1,
                      aspect="auto", origin=origin)
    for (row, across), value in np.ndenumerate(values):
        ink = readable_on(image.to_rgba(value)) if np.isfinite(value) else "black"
        note(ax, text(row, across), (across, row), color=ink, fontsize=fontsize, **CENTRED)
    for row, across in outlined:
        ax.add_patch(rectangle(across - 0.46, row - 0.44, 0.92, 0.88, fill=False,
                               edgecolor=ORANGE, linewidth=3))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return image


def names_above(ax: Axes) -> None:
    """The names of the columns of a table above it."""
    ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.xaxis.set_label_position("top")


def readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has the higher contrast on a colour (WCAG luminance)."""
    channels = np.array(colour[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < 0.179 else "black"


def best_cell(values: np.ndarray) -> tuple[int, int]:
    """Row and column of the largest number; NaN is none."""
    row, across = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return int(row), int(across)


# ---------------------------------------------------------------------------- diagrams


def arrow(ax: Axes, begin: Sequence[float], end: Sequence[float], colour: str = GREY, *,
          lw: float = 1.4, size: float = 13) -> None:
    """An arrow between two places."""
    ax.annotate("", tuple(end), tuple(begin), arrowprops={
        "arrowstyle": "-|>", "color": colour, "lw": lw, "shrinkA": 0, "shrinkB": 0,
        "mutation_scale": size})


def box(ax: Axes, x: float, y: float, text: str, colour: str = BLUE, *,
        filled: bool = False) -> None:
    """A word in a rounded box."""
    note(ax, text, (x, y), fontsize=11, color="white" if filled else colour, **CENTRED,
         bbox={"boxstyle": "round,pad=0.35", "facecolor": colour if filled else "white",
               "edgecolor": colour, "linewidth": 1.5})
