"""Figures about a BERT: scores of layers and poolings beside those of an untrained control, a loss between what chance and counts reach, attention.

Seen in ``08_bert_sentence_vectors``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array, shown
from .documents import similarity_matrix
from .labels import VEIL, count_text, new_figure
from .style import DASHES, GREY, LINE_COLOURS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["attention_map", "loss_curves", "pooling_maps"]

MOST_CELLS = 14
MOST_CURVES = 3


@styled()
def pooling_maps(panels: Mapping[str, np.ndarray], layers: Sequence[object], poolings: Sequence[str], *, title: str, form: str = "{:.1f}") -> Figure:
    """Spearman × 100 of every layer with every pooling, for two or three models side by side in the same colours; the best cell of each is outlined.

    Parameters: panels, model -> (layers, poolings), such as the trained one and its control, NaN where a pooling gives every text the same vector, so
    that there is no score; layers, from the input up, at most 14; poolings, at most 6 names; title, the finding; form, of a number.
    """
    from matplotlib.patches import Rectangle

    tables = {name: np.asarray(values, dtype=np.float64) for name, values in panels.items()}
    shape = (len(layers), len(poolings))
    if not 2 <= len(tables) <= 3 or any(values.shape != shape for values in tables.values()) or shape[0] > MOST_CELLS or shape[1] > 6:
        raise ValueError(f"panels holds {[values.shape for values in tables.values()]} for {shape[0]} layers and {shape[1]} poolings; expected 2 "
                         f"or 3 tables of that shape, at most {MOST_CELLS} layers and 6 poolings")
    if not all(np.isfinite(values).any() and not np.isinf(values).any() for values in tables.values()):
        raise ValueError("panels holds a table without a score, or with an infinite one; expected numbers, and NaN where there is none")
    low, high = min(np.nanmin(v) for v in tables.values()), max(np.nanmax(v) for v in tables.values())
    fig, axes = new_figure(title, size=(7.2, 2.2 + 0.36 * len(layers)), panels=len(tables))
    for ax, (name, values) in zip(axes, tables.items(), strict=True):
        image = ax.imshow(values, cmap="cividis", vmin=low, vmax=high if high > low else low + 1, aspect="auto", origin="lower")
        for (row, column), value in np.ndenumerate(values):
            dark = np.isfinite(value) and sum(image.to_rgba(value)[:3]) < 1.5
            ax.annotate(form.format(value) if np.isfinite(value) else "none", (column, row), ha="center", va="center", fontsize=10,
                        color="white" if dark else "black")
        row, column = np.unravel_index(np.nanargmax(values), values.shape)
        ax.add_patch(Rectangle((column - 0.46, row - 0.44), 0.92, 0.88, fill=False, edgecolor=PALETTE["orange"], linewidth=3))
        ax.set_title(plain(name, limit=30), loc="center", fontsize=12)
        ax.set_xticks(range(len(poolings)), [plain(pooling, limit=22).replace(", ", ",\n") for pooling in poolings])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_yticks(range(len(layers)), [plain(layer, limit=20) if ax is axes[0] else "" for layer in layers])
    axes[0].set_ylabel("layer")
    return fig


@styled()
def loss_curves(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], levels: Mapping[str, Mapping[str, float]], *, title: str,
                ylabel: str = "loss (nats per hidden piece)") -> Figure:
    """A loss against what was read, a panel for each run, with level lines for what needs no reading of context.

    Parameters: curves, run -> (tokens, losses), one to three, tokens > 0; levels, run -> {name: loss}, such as chance and counts, the same names for
    all; title, the finding; ylabel.
    """
    measured = {name: [check_array(f"curves[{name!r}][{k}]", part, ndim=1, min_rows=2).astype(np.float64) for k, part in enumerate(pair)]
                for name, pair in curves.items()}
    if not 1 <= len(measured) <= MOST_CURVES or any(len(x) != len(y) or x.min() <= 0 for x, y in measured.values()):
        raise ValueError(f"curves holds {len(measured)} runs; expected 1 to {MOST_CURVES}, each with as many tokens (> 0) as losses")
    if set(levels) != set(measured):
        raise ValueError(f"levels has {shown(sorted(levels))}; expected the runs of curves: {', '.join(measured)}")
    fig, axes = new_figure(title, size=(7.2, 4.0), panels=len(measured))
    for ax, (name, (x, y)) in zip(axes, measured.items(), strict=True):
        ax.plot(x, y, "-", color=LINE_COLOURS[0], lw=2)
        for (level, value), dash in zip(levels[name].items(), DASHES[1:], strict=False):
            ax.axhline(value, ls=dash, color=GREY, lw=1.4)
            high = value > (y[0] + y[-1]) / 2                       # the words stand where a falling curve is not
            ax.annotate(plain(level, limit=30), (0.98 if high else 0.02, value), (0, 3 if high else -12), xycoords=("axes fraction", "data"),
                        textcoords="offset points", ha="right" if high else "left", color=GREY, bbox=VEIL)
        powers = 10.0 ** np.arange(np.ceil(np.log10(x[0])), np.floor(np.log10(x[-1])) + 1)
        ax.set(xscale="log", xlabel="tokens read (log scale)")
        ax.set_xticks(powers, [count_text(power) for power in powers])
        ax.minorticks_off()
        ax.set_title(plain(name, limit=34), loc="center", fontsize=12)
    axes[0].set_ylabel(ylabel)
    ends = [part for _, y in measured.values() for part in (y.min(), y.max())] + [value for row in levels.values() for value in row.values()]
    room = 0.12 * (max(ends) - min(ends))
    for ax in axes:
        ax.set_ylim(min(ends) - room, max(ends) + room)
    return fig


def attention_map(weights: np.ndarray, pieces: Sequence[str], *, title: str) -> Figure:
    """Which piece of a text looks at which, in one head: rows look, columns are looked at, and each row sums to 1.

    Parameters: weights (n, n), n at most 14; pieces, n names; title, the finding. Raises ValueError where a row does not sum to 1.
    """
    weights = check_array("weights", weights, min_rows=1)
    sums = weights.sum(axis=1)
    if np.abs(sums - 1).max() > 1e-4:
        raise ValueError(f"weights has a row that sums to {sums[np.abs(sums - 1).argmax()]:.4g}; expected rows of shares")
    looked = [(row, int(weights[row].argmax())) for row in range(len(weights))]
    return similarity_matrix(weights, pieces, title=title, columns=list(pieces), limits=(0, 1), axis_names=("looks", "is looked at"),
                             outlined=looked)
