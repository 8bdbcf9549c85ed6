"""Figures about the layers of a model and the hours of its training: a measure by depth, by tokens read, by pooling, and the cosines of any two
sentences.

Published lines of models too large to carry along stand in grey beside the course's own. Seen in ``08_bert_sentence_vectors`` and ``09_anisotropy``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array, check_int
from .documents import similarity_matrix
from .labels import VEIL, count_text, end_labels, new_figure
from .style import DASHES, GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["film", "layer_lines", "layer_pooling_heatmap", "similarity_histogram"]

BLUE, VERMILLION, BLACK = (PALETTE[name] for name in ("blue", "vermillion", "black"))
MOST_ROWS = 8
MOST_PUBLISHED = 4


def _lines(name: str, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], most: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    if len(curves) > most:
        raise ValueError(f"{name} holds {len(curves)} lines; expected at most {most}, or nobody can tell them apart")
    measured = {}
    for key, pair in curves.items():
        x, y = (check_array(f"{name}[{key!r}][{k}]", part, ndim=1, min_rows=2).astype(np.float64) for k, part in enumerate(pair))
        if len(x) != len(y) or (np.diff(x) <= 0).any() or x[0] < 0:
            raise ValueError(f"{name}[{key!r}] has {len(x)} places from {x[0]:g} on and {len(y)} values; expected as many, places >= 0 that rise")
        measured[key] = x, y
    return measured


def _two_lines(name: str) -> str:
    """A name of at most 48 characters, broken in the middle where it is long."""
    import textwrap

    return "\n".join(textwrap.wrap(plain(name, limit=48), 26))


@styled()
def layer_lines(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str, ylabel: str,
                published: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None, relative: bool = True) -> Figure:
    """A measure over the layers of several models, beside the published lines of others.

    Parameters: curves, name -> (layers, values), layer 0 being the input, at most 5; title, the finding; ylabel, the measure; published, the same for
    at most 4 models that others measured, in grey: `isotropy.published_layers`; relative, depth from 0 to 1 instead of layer numbers, so that models
    of 2 and of 12 layers compare.
    """
    own, others = _lines("curves", curves, len(LINE_COLOURS)), _lines("published", published or {}, MOST_PUBLISHED)
    if not own and not others:
        raise ValueError("curves and published hold 0 lines; expected >= 1")
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    looks = [*zip(own.items(), LINE_COLOURS, ["-"] * len(own), MARKERS, strict=False),
             *zip(others.items(), [GREY] * len(others), DASHES[1:], MARKERS[1:], strict=False)]
    ends = []
    for (_, (layers, values)), colour, dash, marker in looks:
        depth = layers / layers[-1] if relative else layers
        hollow = {"mfc": "white", "lw": 1.5} if colour == GREY else {}
        ax.plot(depth, values, ls=dash, color=colour, marker=marker, ms=5, **hollow)
        ends.append((depth[-1], values[-1]))
    ax.set(xlabel="depth (0 = input, 1 = last layer)" if relative else "layer (0 = input)", ylabel=ylabel)
    if not relative:
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(axis="y", color="#DDDDDD", lw=0.8)
    ax.margins(y=0.08)
    end_labels(ax, *zip(*ends, strict=True), [plain(name, limit=26) for name in (*own, *others)], [colour for _, colour, *_ in looks])
    return fig


@styled()
def film(steps: Sequence[float], curves: Mapping[str, Sequence[float]], *, title: str, ylabel: str, xlabel: str = "tokens read") -> Figure:
    """Statistics while a model learns, against how much it has read, on a log axis; the untrained model stands at its left end.

    Parameters: steps (k,), tokens read, rising, the first may be 0; curves, name -> (k,) values of one kind of axis, at most 5; title, the finding;
    ylabel, xlabel.
    """
    x = check_array("steps", steps, ndim=1, min_rows=3).astype(np.float64)
    measured = _lines("curves", {name: (x, values) for name, values in curves.items()}, len(LINE_COLOURS))
    if not measured:
        raise ValueError("curves holds 0 lines; expected >= 1")
    fig, (ax,) = new_figure(title, size=(7.2, 4.4))
    x = np.where(x > 0, x, x[1] / 4) if x[0] == 0 else x                      # 0 has no place on a log axis
    for (_, values), colour, marker in zip(measured.values(), LINE_COLOURS, MARKERS, strict=False):
        ax.plot(x, values, "-", color=colour, marker=marker, ms=4)
    ax.axhline(0, color=GREY, lw=0.8)
    powers = 10.0 ** np.arange(np.ceil(np.log10(x[1])), np.floor(np.log10(x[-1])) + 1)
    ticks = {x[0]: "untrained" if steps[0] == 0 else count_text(x[0])} | {p: count_text(p) for p in powers if p > 1.5 * x[0]}
    ax.set(xscale="log", xlabel=f"{xlabel} (log scale)", ylabel=ylabel)
    ax.set_xticks(list(ticks), list(ticks.values()))
    ax.minorticks_off()
    ax.margins(y=0.08)
    end_labels(ax, [x[-1]] * len(measured), [values[-1] for _, values in measured.values()], [_two_lines(name) for name in measured],
               LINE_COLOURS[: len(measured)])
    return fig


@styled()
def similarity_histogram(cosines: Mapping[str, Sequence[float]], *, title: str, bins: int = 80,
                         xlabel: str = "cosine of two random sentences") -> Figure:
    """Where the cosines of random pairs lie, one hill per encoder, one above the other on the same axis, with the median of each.

    Parameters: cosines, encoder -> (n,) numbers in [-1, 1], from top to bottom, at most 8: `isotropy.random_cosines`; title, the finding; bins of the
    axis; xlabel.
    """
    measured = {name: check_array(f"cosines[{name!r}]", values, ndim=1, min_rows=2).astype(np.float64) for name, values in cosines.items()}
    if not 1 <= len(measured) <= MOST_ROWS or any(np.abs(values).max() > 1 + 1e-6 for values in measured.values()):
        raise ValueError(f"cosines holds {len(measured)} encoders; expected 1 to {MOST_ROWS}, of numbers in [-1, 1]")
    low = min(-0.1, *(float(np.quantile(values, 0.002)) for values in measured.values()))
    edges = np.linspace(low, 1, check_int("bins", bins, low=5) + 1)
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.62 * len(measured)))
    for row, values in enumerate(measured.values()):
        heights, _ = np.histogram(np.clip(values, low, 1), edges)
        base, median = len(measured) - 1 - row, float(np.median(values))
        ax.stairs(base + 0.88 * heights / heights.max(), edges, baseline=base, fill=True, facecolor=PALETTE["sky"], alpha=0.6)
        ax.stairs(base + 0.88 * heights / heights.max(), edges, baseline=base, color=BLUE, lw=1.2)
        ax.plot([median, median], [base, base + 0.88], "-", color=VERMILLION, lw=1.8)
        right = median > (low + 1) / 2                                        # the words stand where the hill is not
        ax.annotate(f"median {round(median, 2) + 0:.2f}".replace("-", "−"), (low if right else 1, base + 0.45), (4 if right else -4, 0),
                    textcoords="offset points", ha="left" if right else "right", va="center", color=VERMILLION, bbox=VEIL)
    ax.set_yticks([len(measured) - 1 - row + 0.3 for row in range(len(measured))], [_two_lines(name) for name in measured])
    ax.tick_params(axis="y", length=0)
    ax.axvline(0, color=GREY, lw=0.8, zorder=0)
    ax.spines["left"].set_visible(False)
    ax.set(xlim=(low, 1.002), ylim=(-0.05, len(measured)), xlabel=xlabel)
    return fig


def layer_pooling_heatmap(scores: np.ndarray, layers: Sequence[object], poolings: Sequence[str], *, title: str, form: str = "{:.1f}") -> Figure:
    """Spearman × 100 of every layer with every pooling, the number in its cell, the best cell outlined.

    Parameters: scores (layers, poolings), at most 14 of each; layers and poolings, their names, of which 14 letters are shown above a column; title,
    the finding; form, of a number.
    """
    scores = check_array("scores", scores, min_rows=1)
    best = tuple(int(place) for place in np.unravel_index(scores.argmax(), scores.shape)) if scores.size else (0, 0)
    return similarity_matrix(scores, [str(layer) for layer in layers], title=title, columns=list(poolings), limits=None, form=form,
                             axis_names=("layer", "pooling"), outlined=[best])
