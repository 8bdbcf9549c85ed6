"""Figures to explore with the mouse: hover over a point, zoom, switch. Small in bytes, complete without a network.

No plotly template is stored with them (it alone has 7 kB), numbers are kept in single precision, and data text is escaped, because
plotly reads tags. Every one has a static twin for paper and for pages that run no script. Seen from ``02_bag_of_words`` on.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array
from .documents import group_looks
from .labels import checked_title
from .style import FILL_COLOURS, PALETTE

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["document_map_interactive", "explorer"]

SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross", "X": "x", "*": "star"}
HOVER_CHARS = 100


def explorer(traces: list[Any], *, title: str, height: int = 460, **layout: Any) -> go.Figure:
    """A plotly figure in the course's look, without a template. traces: plotly traces; layout: further plotly settings."""
    import plotly.graph_objects as go

    look = {"template": go.layout.Template(), "title": {"text": html.escape(checked_title(title)), "x": 0.01, "font": {"size": 17}}, "height": height,
            "font": {"size": 14, "color": PALETTE["black"], "family": "DejaVu Sans, Noto Sans CJK SC, Microsoft YaHei, PingFang SC, sans-serif"},
            "paper_bgcolor": "white", "plot_bgcolor": "white", "margin": {"l": 60, "r": 20, "t": 60, "b": 50}, "hovermode": "closest"}
    return go.Figure(traces, layout=look | layout)


def _hover(text: object) -> str:
    """Data text for a hover box: escaped, and broken into short lines."""
    import textwrap

    line = " ".join(str(text).split())
    line = line if len(line) <= HOVER_CHARS else line[: HOVER_CHARS - 1] + "…"
    return "<br>".join(html.escape(part) for part in textwrap.wrap(line, 50)) or "(empty)"


def document_map_interactive(points: np.ndarray, labels: Sequence[Any], *, title: str, hover: Sequence[str]) -> go.Figure:
    """The document map with the text of each point on hover; a click on a group's name hides it.

    Parameters: points (n, 2); labels (n,), at most 20 groups; title, the finding; hover (n,), text of each point, cut at 100 characters.
    Draw `document_map` of the same points beside it: it is the static twin.
    """
    import plotly.graph_objects as go

    points = check_array("points", points, columns=2, min_rows=1).astype(np.float32)
    if not len(points) == len(labels) == len(hover):
        raise ValueError(f"points, labels and hover have {len(points)}, {len(labels)} and {len(hover)} rows; expected equal numbers")
    traces = [go.Scatter(x=points[rows, 0], y=points[rows, 1], mode="markers", name=html.escape(name), text=[_hover(hover[r]) for r in rows],
                         hovertemplate="%{text}<extra>%{fullData.name}</extra>",
                         marker={"color": colour, "symbol": SYMBOLS[marker], "size": 7, "opacity": 0.65,
                                 "line": {"color": PALETTE["black"], "width": 1 if colour in FILL_COLOURS else 0}})
              for name, (colour, marker, rows) in group_looks(labels).items()]
    hidden = {"showticklabels": False, "showgrid": False, "zeroline": False}
    return explorer(traces, title=title, xaxis=hidden, yaxis=hidden | {"scaleanchor": "x"}, legend={"itemsizing": "constant"})
