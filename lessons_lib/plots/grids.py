"""Figures of cells: tables of numbers as heat maps, matrices, and the tiles of a kernel.

The number stands in its cell, the cell that carries the finding is outlined. Seen from
``01_one_hot`` on, tiles in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_int
from .labels import CENTRED, VEIL, count_text, line_by_line, minus, new_figure, note, say
from .primitives import (best_cell, expect, expect_names, heat_map, names_above, panel_figure,
                         rectangle)
from .style import BLACK, BLUE, GREY, ORANGE, VERMILLION, figure, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_CELLS = 14                                    # rows or columns whose numbers stay readable
SPY_CELLS = (240, 600)                            # most rows and columns seen as separate dots
MOST_TILES, MOST_COLUMNS = 24, 64


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
def layer_pooling_heatmap(scores: np.ndarray, layers: Sequence[object], poolings: Sequence[str],
                          *, title: str, form: str = "{:.1f}") -> Figure:
    """Draw Spearman × 100 of every layer with every pooling, the best cell outlined.

    Parameters
    ----------
    scores : array of float, shape (layers, poolings); at most 14 of each
    layers : sequence
    poolings : sequence of str; of their names 14 letters are shown
    form : str, default "{:.1f}"; of a number
    """
    scores = check_array("scores", scores, min_rows=1)
    return similarity_matrix(scores, [str(layer) for layer in layers], title=title,
                             columns=list(poolings), limits=None, form=form,
                             axis_names=("layer", "pooling"), outlined=[best_cell(scores)])


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
def attention_map(weights: np.ndarray, pieces: Sequence[str], *, title: str) -> Figure:
    """Draw which token looks at which in one head; the most is outlined in each row.

    Parameters
    ----------
    weights : array of float, shape (n, n), n <= 14; rows sum to 1: rows look, columns are looked at
    pieces : sequence of str, shape (n,)
    """
    weights = check_array("weights", weights, min_rows=1)
    sums = weights.sum(axis=1)
    worst = sums[np.abs(sums - 1).argmax()]
    expect(abs(worst - 1) <= 1e-4, f"weights has a row that sums to {worst:.4g}; expected shares")
    return similarity_matrix(weights, pieces, title=title, columns=list(pieces), limits=(0, 1),
                             axis_names=("looks", "is looked at"),
                             outlined=[(row, int(w.argmax())) for row, w in enumerate(weights)])


@figure
def pooling_maps(panels: Mapping[str, np.ndarray], layers: Sequence[object],
                 poolings: Sequence[str], *, title: str, form: str = "{:.1f}") -> Figure:
    """Draw Spearman × 100 by layer and pooling for models side by side in the same colours.

    Parameters
    ----------
    panels : mapping of model to array, shape (layers, poolings)
        Two or three, such as the trained model and its control; NaN where there is no score.
        The best cell of each is outlined.
    layers : sequence; from the input up, at most 14
    poolings : sequence of str; at most 6
    form : str, default "{:.1f}"; of a number
    """
    tables = {name: np.asarray(values, dtype=np.float64) for name, values in panels.items()}
    shape = (len(layers), len(poolings))
    expect(all(values.shape == shape for values in tables.values()) and shape[1] <= 6
           and shape[0] <= MAX_CELLS,
           f"panels holds {[values.shape for values in tables.values()]} for {shape[0]} layers "
           f"and {shape[1]} poolings; expected tables of that shape, at most {MAX_CELLS} by 6")
    expect(all(np.isfinite(v).any() and not np.isinf(v).any() for v in tables.values()),
           "panels holds a table without a score, or with an infinite one; expected numbers, and "
           "NaN where there is none")
    fig, axes = panel_figure(title, tables, 3, least=2, limit=30,
                             size=(7.2, 2.2 + 0.36 * len(layers)))
    limits = tuple(edge([edge(v) for v in tables.values()]) for edge in (np.nanmin, np.nanmax))
    for ax, table in zip(axes, tables.values(), strict=True):
        heat_map(ax, table, lambda row, k, table=table: form.format(table[row, k])
                 if np.isfinite(table[row, k]) else "none", limits=limits, origin="lower",
                 outlined=[best_cell(table)])
        ax.set_xticks(range(len(poolings)), [plain(name, limit=22).replace(", ", ",\n")
                                             for name in poolings])
        ax.set_yticks(range(len(layers)), [plain(layer, limit=20) if ax is axes[0] else ""
                                           for layer in layers])
    axes[0].set_ylabel("layer")
    return fig


@figure
def neighbour_grid(rows: Mapping[str, Sequence[tuple[str, float]]], *, title: str,
                   limits: tuple[float, float] = (0.3, 1.0),
                   hits: Mapping[str, str] | None = None) -> Figure:
    """Draw words with their nearest neighbours, one word a row, the colour of a cell its cosine.

    Parameters
    ----------
    rows : mapping of word to sequence of (neighbour, cosine)
        Nearest first, at most 10 words with equally many, at most 6, neighbours.
    limits : (float, float), default (0.3, 1.0); of the colours
    hits : mapping of word to neighbour, optional
        Neighbours to be framed, where they are among those of the word.
    """
    expect_names("rows", rows, 10, 1, "words")
    near, hits = list(rows.values()), hits or {}
    n = len(near[0])
    expect(1 <= n <= 6 and all(len(row) == n for row in near),
           f"rows holds {[len(row) for row in near]} neighbours; expected equally many, 1 to 6")
    framed = [(i, k) for i, (word, row) in enumerate(rows.items())
              for k, (other, _) in enumerate(row) if hits.get(word) == other]
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.4 * len(rows)))
    image = heat_map(ax, np.array([[cosine for _, cosine in row] for row in near]),
                     lambda i, k: plain(near[i][k][0], limit=15), limits=limits,
                     fontsize=10 if n <= 4 else 9, outlined=framed)
    ax.set_yticks(range(len(rows)), [plain(word, limit=18) for word in rows])
    ax.set_xticks(range(n), [f"{k + 1}." for k in range(n)])
    ax.set(xlabel="nearest neighbours")
    names_above(ax)
    bar = fig.colorbar(image, ax=ax, fraction=0.035, pad=0.02)
    bar.set_label("cosine")
    bar.outline.set_visible(False)
    return fig


@figure
def covariance_maps(panels: Mapping[str, np.ndarray], *, title: str,
                    limit: float | None = None) -> Figure:
    """Draw covariance matrices on one scale: 0 is white, more is orange, less is purple.

    Parameters
    ----------
    panels : mapping of heading to array, shape (d, d)
        One to three; of more than 64 columns the first 64 are drawn.
    limit : float, optional; end of the scale; None: the largest entry that is drawn
    """
    matrices = {name: check_array(name, values, min_rows=1)[:MOST_COLUMNS, :MOST_COLUMNS]
                for name, values in panels.items()}
    for name, values in matrices.items():
        expect(len(values) == values.shape[1],
               f"panels[{name!r}] has shape {values.shape}; expected square ones")
    fig, axes = panel_figure(title, matrices, 3, limit=24, size=(7.2, 3.4))
    end = max(np.abs(v).max() for v in matrices.values()) if limit is None else limit
    for ax, values in zip(axes, matrices.values(), strict=True):
        image = ax.imshow(values, cmap="PuOr_r", vmin=-end, vmax=end, interpolation="nearest")
        ax.set(xticks=[], yticks=[], xlabel="column")
    axes[0].set(ylabel="column")
    fig.colorbar(image, ax=list(axes), shrink=0.8, label="covariance")
    return fig


@figure
def spy_counts(matrix: Any, *, title: str, xlabel: str = "words, most frequent first",
               ylabel: str = "documents") -> Figure:
    """Draw where a document-term matrix is not zero, a dot per filled cell or block of cells.

    Parameters
    ----------
    matrix : SciPy matrix or array, shape (documents, words); best with columns sorted by frequency
    """
    from scipy import sparse

    expect(len(np.shape(matrix)) == 2 and 0 not in np.shape(matrix),
           f"matrix has shape {np.shape(matrix)}; expected (documents, words), >= 1 of each")
    matrix = sparse.csr_array(matrix)
    check_array("matrix.data", matrix.data, ndim=1)
    seen = pooled(matrix, *SPY_CELLS) > 0
    fig, (ax,) = new_figure(title, size=(7.2, 3.8))
    ax.imshow(~seen, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="nearest",
              extent=(0, matrix.shape[1], matrix.shape[0], 0))
    filled = matrix.count_nonzero() / (float(matrix.shape[0]) * matrix.shape[1])
    say(ax.xaxis, count_text)
    ax.set(xlabel=f"{xlabel} ({matrix.shape[1]:,} columns)",
           ylabel=f"{ylabel} ({matrix.shape[0]:,} rows)")
    text = f"{100 * filled:.0f}%" if filled > 0.1 else f"{100 * filled:.2g}%"
    text += " of the cells are filled"
    if seen.shape != matrix.shape:
        text += "; a dot stands for a block with at least one"
    ax.set_title(text, fontsize=11, fontweight="normal", color=GREY)
    ax.spines[["top", "right"]].set_visible(True)
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
def tile_map(n: int, block: int, *, title: str, programs: Sequence[int] = ()) -> Figure:
    """Draw the upper triangle of an n x n table in tiles, each with the number of its program.

    Parameters
    ----------
    n, block : int; at most 24 tiles of block x block per side; beyond n they are hatched: padding
    programs : sequence of int, default (); tiles to emphasise
    """
    n, block = check_int("n", n, low=2), check_int("block", block)
    side = -(-n // block)
    expect(side <= MOST_TILES, f"n={n} in blocks of {block} makes {side} tiles per side; expected "
                               f"<= {MOST_TILES}. Take larger blocks")
    fig, (ax,) = new_figure(title, size=(7.2, 4.6))
    number, whole = 0, side * block
    for i, j in np.ndindex(side, side):
        face = "#D9D9D9" if j < i else ORANGE if number in programs else "white"
        ax.add_patch(rectangle(j * block, i * block, block, block, facecolor=face,
                               edgecolor=BLACK, linewidth=1.0))
        if j >= i:
            note(ax, str(number), ((j + 0.5) * block, (i + 0.5) * block), fontweight="bold",
                 zorder=4, bbox=VEIL | {"facecolor": face, "alpha": 1}, **CENTRED)
            number += 1
    notes = [(BLACK, "numbers: the program\nthat does the tile"),
             (GREY, "grey: the same pairs\nonce more, never done"),
             (VERMILLION, "dashed: i = j, no pair")]
    if whole > n:
        notes.append((BLUE, f"hatched: padding,\nno vector beyond {n - 1}"))
        for place in ((n, 0, whole - n, whole), (0, n, n, whole - n)):
            ax.add_patch(rectangle(*place, facecolor="none", edgecolor=BLUE, hatch="////",
                                   linewidth=0))
    ax.plot([0, n], [0, n], "--", color=VERMILLION, lw=1.5)
    ticks = [*range(0, n, block), n]
    ax.set(xlim=(0, whole), ylim=(whole, 0), xlabel="column j", ylabel="row i", aspect="equal",
           xticks=ticks, yticks=ticks)
    for k, (colour, text) in enumerate(notes):
        ax.annotate(text, (1.05, 0.95 - 0.22 * k), xycoords="axes fraction", color=colour, va="top")
    return fig


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
