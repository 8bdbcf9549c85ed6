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
from .explore import SYMBOLS, explorer
from .labels import new_figure
from .style import GREY, LINE_COLOURS, MARKERS, plain, styled

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


def _looks(labels: Sequence[Any], shapes: Sequence[Any] | None) -> list[tuple[str, str, str, np.ndarray]]:
    """Name, colour, marker and rows of each group: colours by label, markers by shape or, without shapes, by label too."""
    kinds = [""] * len(labels) if shapes is None else [str(shape) for shape in shapes]
    if len(kinds) != len(labels):
        raise ValueError(f"shapes has {len(kinds)} values for {len(labels)} labels; expected one for each point")
    names, marks, both = list(dict.fromkeys(map(str, labels))), list(dict.fromkeys(kinds)), list(zip(map(str, labels), kinds, strict=True))
    if max(len(names), len(marks)) > len(LINE_COLOURS):
        raise ValueError(f"labels has {len(names)} and shapes {len(marks)} different values; expected <= {len(LINE_COLOURS)} of each")
    return [(" ".join(pair).strip(), LINE_COLOURS[names.index(pair[0])], MARKERS[names.index(pair[0]) if shapes is None else marks.index(pair[1])],
             np.array([row for row, other in enumerate(both) if other == pair])) for pair in dict.fromkeys(both)]


@styled()
def training_panels(frames: Any, labels: Sequence[Any], *, steps: Sequence[str], title: str, shapes: Sequence[Any] | None = None,
                    shown: tuple[int, int] = (0, -1), axis_name: str = "position on the map") -> Figure:
    """Two moments of a training side by side on the same axes.

    Parameters: frames (moments, n, 2), positions; labels (n,), which decide the colours, and shapes (n,), which decide the markers, at most 5
    different of each; steps, the name of each moment; title, the finding; shown, which two moments; axis_name.
    """
    points, looks = _frames(frames, labels, steps), _looks(labels, shapes)
    fig, axes = new_figure(title, size=(7.2, 4.6), panels=2, sharex=True, sharey=True)
    (left, right), (low, high) = _limits(points)
    for ax, k in zip(axes, shown, strict=True):
        for _, colour, marker, rows in looks:
            ax.plot(*points[k][rows].T, ls="none", marker=marker, ms=4.5, color=colour, mew=0, alpha=0.75)
        ax.set(xlim=(left, right), ylim=(low, high), xticks=[], yticks=[], xlabel=axis_name)
        ax.set_title(plain(steps[k]), loc="center", fontsize=12)
    keys = {plain(name, limit=16): {"color": colour, "marker": "o" if shapes is not None else marker}
            for name, (_, colour, marker, _) in _firsts(labels, looks).items()}
    if shapes is not None:
        keys |= {plain(name, limit=16): {"color": GREY, "marker": marker} for name, (_, _, marker, _) in _firsts(shapes, looks).items()}
    for name, look in keys.items():
        axes[0].plot([], [], ls="none", label=name, **look)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(len(keys), 5), frameon=False)
    return fig


def _firsts(values: Sequence[Any], looks: list[tuple[str, str, str, np.ndarray]]) -> dict[str, tuple[str, str, str, np.ndarray]]:
    """The first group of each value."""
    found: dict[str, tuple[str, str, str, np.ndarray]] = {}
    for look in looks:
        found.setdefault(str(values[look[3][0]]), look)
    return found


def training_explorer(frames: Any, labels: Sequence[Any], *, steps: Sequence[str], title: str, hover: Sequence[str],
                      shapes: Sequence[Any] | None = None, start: int = 0, axis_name: str = "position on the map") -> go.Figure:
    """The map at every moment under a slider, with a button that plays them; the name of each point on hover.

    Parameters: frames, labels, steps, title, shapes and axis_name as in `training_panels`, which is the static twin; hover (n,), the names; start,
    the moment shown first.
    """
    import plotly.graph_objects as go

    points, looks = _frames(frames, labels, steps), _looks(labels, shapes)
    if len(hover) != len(labels):
        raise ValueError(f"hover has {len(hover)} names for {len(labels)} points; expected one for each")
    start = range(len(points))[check_int("start", start, low=-len(points), high=len(points) - 1)]
    rounded = np.round(points.astype(np.float64), 3)
    traces = [go.Scatter(x=rounded[start, rows, 0].tolist(), y=rounded[start, rows, 1].tolist(), mode="markers", name=html.escape(name),
                         text=[html.escape(str(hover[row])) for row in rows], hovertemplate="%{text}<extra>%{fullData.name}</extra>",
                         marker={"color": colour, "symbol": SYMBOLS[marker], "size": 7, "opacity": 0.75}) for name, colour, marker, rows in looks]
    moments = [go.Frame(name=html.escape(step), data=[go.Scatter(x=rounded[k, rows, 0].tolist(), y=rounded[k, rows, 1].tolist())
                                                      for _, _, _, rows in looks]) for k, step in enumerate(steps)]
    fig = explorer(traces, title=title, height=580, legend={"itemsizing": "constant"}, margin={"l": 40, "r": 20, "t": 80, "b": 50},
                   **_controls([moment.name for moment in moments], start), **_axes(points, html.escape(axis_name)))
    fig.frames = moments
    return fig


def _controls(names: list[str], start: int) -> dict[str, Any]:
    """The slider over the moments and the button that plays them."""
    how = {"mode": "immediate", "frame": {"duration": 600, "redraw": False}, "transition": {"duration": 400}}
    slider = {"active": start, "currentvalue": {"prefix": "", "font": {"size": 14}}, "pad": {"t": 40},
              "steps": [{"label": name, "method": "animate", "args": [[name], how]} for name in names]}
    play = {"type": "buttons", "showactive": False, "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom",
            "buttons": [{"label": "play", "method": "animate", "args": [None, how | {"fromcurrent": False}]}]}
    return {"sliders": [slider], "updatemenus": [play]}


def _axes(points: np.ndarray, name: str) -> dict[str, Any]:
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False}
    across, up = (list(limits) for limits in _limits(points))
    return {"xaxis": bare | {"range": across, "title": {"text": name}}, "yaxis": bare | {"range": up}}
