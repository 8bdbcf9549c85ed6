"""Figures of cells: tables of numbers as heat maps, matrices, and the tiles of a kernel.

The number stands in its cell, the cell that carries the finding is outlined. Seen from
``01_one_hot`` on, tiles in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array
from .labels import CENTRED, VEIL, line_by_line, minus, new_figure, note
from .primitives import (best_cell, expect, expect_names, heat_map, names_above, rectangle)
from .style import BLACK, BLUE, GREEN, GREY, PALE, VERMILLION, figure, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_CELLS = 14                                    # rows or columns whose numbers stay readable
MOST_TILES, MOST_COLUMNS = 24, 64
MOST_WORDS = 24


@figure
def similarity_matrix(values: np.ndarray, labels: Sequence[str], *, title: str,
                      columns: Sequence[str] | None = None,
                      limits: tuple[float, float] | None = (0.0, 1.0), form: str = "{:.2f}",
                      axis_names: tuple[str, str] = ("", ""),
                      outlined: Sequence[tuple[int, int]] = ()) -> Figure:
    """Draw a table as a heat map with each number in its cell: cosines, distances, counts.

    Parameters
    ----------
    values : array of float, shape (rows, columns); at most 14 of each
    labels : sequence of str, shape (rows,)
    columns : sequence of str, shape (columns,), optional
        None: the labels; where these are long, their numbers.
    limits : (float, float), optional; of the colours; None: those of the values
    form : str, default "{:.2f}"; of a number
    axis_names : (str, str), default ("", ""); what the rows and the columns are
    outlined : sequence of (row, column), default (); cells that carry the finding
    """
    values = check_array("values", values, min_rows=1)
    across = labels if columns is None else columns
    expect(values.shape == (len(labels), len(across)) and max(values.shape) <= MAX_CELLS,
           f"values has shape {values.shape} for {len(labels)} labels and {len(across)} columns; "
           f"expected these to agree, and at most {MAX_CELLS} of each")
    long = max(len(str(name)) for name in across) * len(across) > 60
    numbered, slanted = long and columns is None, long and columns is not None
    fig, (ax,) = new_figure(title, size=(7.2, 1.2 + 0.42 * len(labels) + 0.8 * slanted))
    heat_map(ax, values, lambda row, k: form.format(values[row, k]), outlined=outlined,
             limits=limits or (float(values.min()), float(values.max())))
    ax.set_yticks(range(len(labels)), [f"{k}  " * numbered + plain(name, limit=40)
                                       for k, name in enumerate(labels, 1)])
    ax.set_xticks(range(len(across)), [str(k) if numbered else plain(name, limit=14)
                                       for k, name in enumerate(across, 1)],
                  rotation=35 if slanted else 0, ha="left" if slanted else "center")
    ax.set(ylabel=axis_names[0], xlabel=axis_names[1])
    names_above(ax)
    return fig


@figure
def count_table(values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, title: str,
                form: str = "{:.0f}") -> Figure:
    """Draw counts or weights with zeros white and large numbers dark; each row has its own scale.

    Parameters
    ----------
    values : array of float >= 0, shape (rows, columns); at most 14 of each
    rows, columns : sequence of str
    form : str, default "{:.0f}"; of a number
    """
    from matplotlib.colors import LinearSegmentedColormap

    values = check_array("values", values, min_rows=1)
    expect(values.shape == (len(rows), len(columns)) and max(values.shape) <= MAX_CELLS,
           f"values has shape {values.shape} for {len(rows)} rows and {len(columns)} columns; "
           f"expected these to agree, and at most {MAX_CELLS} of each")
    expect(values.min() >= 0, f"values holds {values.min():g}; expected numbers >= 0")
    largest = values.max(axis=1, keepdims=True)
    slanted = max(len(str(name)) for name in columns) * len(columns) > 60
    fig, (ax,) = new_figure(title, size=(7.2, 0.9 + 0.4 * len(rows) + 0.8 * slanted))
    heat_map(ax, values / np.where(largest > 0, largest, 1), limits=(0, 1),
             text=lambda row, k: form.format(values[row, k]) if values[row, k] else "0",
             cmap=LinearSegmentedColormap.from_list("counts", ["white", BLUE]))
    ax.set_yticks(range(len(rows)), [plain(name, limit=40) for name in rows])
    ax.set_xticks(range(len(columns)), [plain(name, limit=14) for name in columns],
                  rotation=35 if slanted else 0, ha="left" if slanted else "center")
    names_above(ax)
    for edges, draw in ((len(rows), ax.axhline), (len(columns), ax.axvline)):
        for edge in range(edges + 1):
            draw(edge - 0.5, color=PALE, lw=1)
    return fig


@figure
def parameter_map(scores: np.ndarray, betas: Sequence[float], gammas: Sequence[float], *,
                  title: str) -> Figure:
    """Draw the score for every β and γ, the best cell outlined; twin of `parameter_surface`.

    Parameters
    ----------
    scores : array of float, shape (betas, gammas); at most 14 of each
    betas, gammas : sequence of float
    """
    scores = check_array("scores", scores, min_rows=1)
    return similarity_matrix(scores, [f"β = {b:g}" for b in betas], limits=None, form="{:.1f}",
                             columns=[f"γ = {g:g}" for g in gammas], title=title,
                             outlined=[best_cell(scores)])


@figure
def overlap_rows(texts: Mapping[str, Sequence[str]], *, title: str) -> Figure:
    """Draw texts as rows of 0 and 1 over their words; a column with two ones or more is lit.

    Parameters
    ----------
    texts : mapping of name to words
        2 to 4 texts. Columns are distinct words in order of appearance; beyond 24 they are left
        out, words of one text first.
    """
    expect_names("texts", texts, 4, 2, "texts")
    words = list(dict.fromkeys(word for text in texts.values() for word in text))
    expect(words, "texts holds no words; expected at least one")
    ones = np.array([[word in set(text) for word in words] for text in texts.values()])
    lit = ones.sum(axis=0) > 1
    kept = np.sort(np.argsort(~lit, kind="stable")[:MOST_WORDS])
    fig, (ax,) = new_figure(title, size=(7.2, 1.9 + 0.42 * len(texts)))
    for (row, k), one in np.ndenumerate(ones[:, kept]):
        colour = "white" if not one else GREEN if lit[kept[k]] else PALE
        ax.add_patch(rectangle(k - 0.5, row - 0.5, 1, 1, fc=colour, ec=GREY, lw=0.8))
        ink = GREY if not one else "white" if lit[kept[k]] else BLACK
        note(ax, str(int(one)), (k, row), color=ink, fontsize=10,
             fontweight="bold" if one else "normal", **CENTRED)
    label = f"{len(words)} columns, one for each distinct word"
    ax.set(xlim=(-0.55, len(kept) - 0.45), ylim=(len(texts) - 0.45, -0.55),
           yticks=range(len(texts)), yticklabels=[plain(name, limit=26) for name in texts],
           xlabel=label + (f" ({len(kept)} are drawn)" if len(kept) < len(words) else ""))
    names_above(ax)
    ax.xaxis.set_label_position("bottom")
    ax.set_xticks(range(len(kept)), [plain(words[k], limit=14) for k in kept], rotation=45,
                  ha="left", rotation_mode="anchor")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return fig


def pooled(matrix: Any, rows: int, columns: int) -> np.ndarray:
    """Number of non-zero cells of a SciPy matrix in each of at most rows x columns blocks."""
    cells, (n, m) = matrix.tocoo(), matrix.shape
    height, width = min(rows, n), min(columns, m)
    used = cells.data != 0
    block = (cells.row.astype(np.int64) * height // n * width
             + cells.col.astype(np.int64) * width // m)
    return np.bincount(block[used], minlength=height * width).reshape(height, width)


@figure
def tile_lanes(panels: Mapping[str, np.ndarray], rows: Sequence[int], cols: Sequence[int], *,
               title: str, n: int, notes: Mapping[str, tuple[float, float]] | None = None
               ) -> Figure:
    """Draw what every lane of a tile holds; lanes at minus infinity stay empty, with a cross.

    Parameters
    ----------
    panels : mapping of name to array, shape (len(rows), len(cols)); one or two
    rows, cols : sequence of int; numbers of rows and columns of the table
    n : int; how many of them exist
    notes : mapping of text to (row, column), optional; of the table, in the first panel
    """
    expect_names("panels", panels, 2, 1, "pictures")
    tables = {name: np.asarray(values, dtype=float) for name, values in panels.items()}
    fig, axes = new_figure(title, size=(7.2, 4.6), panels=len(panels))
    real = np.concatenate([values[np.isfinite(values)] for values in tables.values()])
    low, high = (real.min(), real.max()) if len(real) else (0.0, 0.0)
    for ax, (name, values) in zip(axes, tables.items(), strict=True):
        expect(values.shape == (len(rows), len(cols)), f"panels[{name!r}] has shape "
               f"{values.shape}; expected {(len(rows), len(cols))}")
        finite = np.isfinite(values)
        ax.imshow(np.where(finite, values, np.nan), cmap="cividis", interpolation="nearest",
                  vmin=low, vmax=high)
        y, x = np.nonzero(~finite)
        ax.plot(x, y, "x", color=GREY, ms=4, mew=1)
        for numbers, axis, line in ((rows, ax.yaxis, ax.axhline), (cols, ax.xaxis, ax.axvline)):
            edge = sum(number < n for number in numbers)
            if 0 < edge < max(values.shape):
                line(edge - 0.5, color=VERMILLION, lw=2)
            places = range(0, len(numbers), 4)
            axis.set_ticks(places, [str(int(numbers[k])) for k in places])
        ax.set_title(minus(f"{plain(name)}\ndark {low + 0:.3g}, bright {high + 0:.3g}"),
                     fontsize=11, fontweight="normal")
        ax.set(xlabel="column j", ylabel="row i")
    for text, (row, column) in (notes or {}).items():
        note(axes[0], line_by_line(text), (column - cols[0], row - rows[0]), fontsize=9,
             bbox=VEIL, **CENTRED)
    return fig
