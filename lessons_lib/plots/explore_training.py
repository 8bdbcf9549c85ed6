"""Watch vectors move while they are trained: a map with a slider over the tokens read, and its static twin with the beginning and the end.

All positions are stored in the figure, so the slider needs no running kernel; the axes stay as they are, so that what moves has moved. Seen in
``04_word2vec``.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_int
from .documents import group_looks
from .explore import SYMBOLS, explorer
from .labels import new_figure
from .style import FILL_COLOURS, PALETTE, plain, styled

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.figure import Figure

__all__ = ["training_explorer", "training_panels"]


def _frames(frames: Any, labels: Sequence[Any], steps: Sequence[str]) -> np.ndarray:
    """Checked positions, (frames, n, 2) float32."""
    stacked = [check_array(f"frames[{k}]", points, columns=2, min_rows=1) for k, points in enumerate(frames)]
    if not stacked or len(stacked) != len(steps) or {len(points) for points in stacked} != {len(labels)}:
        raise ValueError(f"frames holds {len(stacked)} maps of {sorted({len(p) for p in stacked})} points for {len(steps)} steps and {len(labels)} "
                         "labels; expected a map for each step and a point for each label")
    return np.stack(stacked).astype(np.float32)


def _limits(frames: np.ndarray) -> list[tuple[float, float]]:
    low, high = frames.min(axis=(0, 1)), frames.max(axis=(0, 1))
    room = 0.06 * (high - low)
    return [(float(a), float(b)) for a, b in zip(low - room, high + room, strict=True)]


@styled()
def training_panels(frames: Any, labels: Sequence[Any], *, steps: Sequence[str], title: str, shown: tuple[int, int] = (0, -1),
                    axis_names: tuple[str, str] = ("position on the map", "")) -> Figure:
    """Two moments of a training side by side on the same axes, groups by colour and marker.

    Parameters: frames (moments, n, 2), positions; labels (n,), group of each point; steps, the name of each moment; title, the finding; shown,
    which two; axis_names.
    """
    points = _frames(frames, labels, steps)
    fig, axes = new_figure(title, size=(7.2, 4.4), panels=2, sharex=True, sharey=True)
    (left, right), (low, high) = _limits(points)
    for ax, k in zip(axes, shown, strict=True):
        for name, (colour, marker, rows) in group_looks(labels).items():
            pale = colour in FILL_COLOURS
            ax.plot(*points[k][rows].T, ls="none", marker=marker, ms=4.5, color=colour, mec="black" if pale else colour, mew=0.8 if pale else 0,
                    alpha=0.8, label=plain(name, limit=16))
        ax.set(xlim=(left, right), ylim=(low, high), xticks=[], yticks=[], xlabel=axis_names[0])
        ax.set_title(plain(steps[k]), loc="center", fontsize=12)
    axes[0].set(ylabel=axis_names[1])
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return fig


def training_explorer(frames: Any, labels: Sequence[Any], *, steps: Sequence[str], title: str, hover: Sequence[str], start: int = 0,
                      axis_names: tuple[str, str] = ("position on the map", "")) -> go.Figure:
    """The map at every moment under a slider, with a button that plays them; the name of each point on hover.

    Parameters: frames, labels, steps, title and axis_names as in `training_panels`, which is the static twin; hover (n,), the names; start, the
    moment shown first.
    """
    import plotly.graph_objects as go

    points = _frames(frames, labels, steps)
    if len(hover) != len(labels):
        raise ValueError(f"hover has {len(hover)} names for {len(labels)} points; expected one for each")
    start = range(len(points))[check_int("start", start, low=-len(points), high=len(points) - 1)]
    groups = group_looks(labels)
    rounded = np.round(points.astype(np.float64), 3)
    traces = [go.Scatter(x=rounded[start, rows, 0].tolist(), y=rounded[start, rows, 1].tolist(), mode="markers", name=html.escape(name),
                         text=[html.escape(str(hover[row])) for row in rows], hovertemplate="%{text}<extra>%{fullData.name}</extra>",
                         marker={"color": colour, "symbol": SYMBOLS[marker], "size": 7, "opacity": 0.75,
                                 "line": {"color": PALETTE["black"], "width": 1 if colour in FILL_COLOURS else 0}})
              for name, (colour, marker, rows) in groups.items()]
    moments = [go.Frame(name=html.escape(step), data=[go.Scatter(x=rounded[k, rows, 0].tolist(), y=rounded[k, rows, 1].tolist())
                                                      for _, _, rows in groups.values()]) for k, step in enumerate(steps)]
    how = {"mode": "immediate", "frame": {"duration": 600, "redraw": False}, "transition": {"duration": 400}}
    slider = {"active": start, "currentvalue": {"prefix": "", "font": {"size": 14}}, "pad": {"t": 40},
              "steps": [{"label": moment.name, "method": "animate", "args": [[moment.name], how]} for moment in moments]}
    play = {"type": "buttons", "showactive": False, "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom",
            "buttons": [{"label": "play", "method": "animate", "args": [None, how | {"fromcurrent": False}]}]}
    (left, right), (low, high) = _limits(points)
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False}
    fig = explorer(traces, title=title, height=560, sliders=[slider], updatemenus=[play], legend={"itemsizing": "constant"},
                   xaxis=bare | {"range": [left, right], "title": {"text": html.escape(axis_names[0])}},
                   yaxis=bare | {"range": [low, high], "title": {"text": html.escape(axis_names[1])}}, margin={"l": 40, "r": 20, "t": 80, "b": 50})
    fig.frames = moments
    return fig
