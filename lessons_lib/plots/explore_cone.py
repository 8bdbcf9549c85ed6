"""The cone to turn around: vectors along their three strongest directions, with the origin among them and the name of each on hover.

From some sides a cone looks like a ball; turning it shows that the origin lies outside. `plots.cone` of the first two columns is the static twin.
Seen in ``09_anisotropy``.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array
from .explore import explorer
from .style import PALETTE

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["cone_interactive"]

MOST_POINTS = 4000                                # numbers of a figure are stored in the page


def cone_interactive(points: np.ndarray, *, title: str, hover: Sequence[str], counts: Sequence[float] | None = None) -> go.Figure:
    """Vectors as points of space that can be turned around, coloured by how frequent the words are.

    Parameters: points (n, 3) of ``isotropy.cone(x, dim=3)``, at most 4,000: take some of the rows; title, the finding; hover (n,), the words; counts
    (n,), > 0, None for one colour. Draw `cone` of ``points[:, :2]`` beside it: it is the static twin. Raises ValueError for what does not fit.
    """
    import plotly.graph_objects as go

    points = check_array("points", points, columns=3, min_rows=1).astype(np.float64)
    if len(points) != len(hover) or len(points) > MOST_POINTS:
        raise ValueError(f"points has {len(points):,} rows and hover {len(hover):,} words; expected as many, and at most {MOST_POINTS:,}")
    marker: dict[str, Any] = {"size": 2.6, "opacity": 0.75, "color": PALETTE["blue"]}
    texts = [html.escape(str(word)) for word in hover]
    if counts is not None:
        seen = check_array("counts", counts, ndim=1)
        if len(seen) != len(points) or (seen <= 0).any():
            raise ValueError(f"counts has {len(seen)} values, the least {seen.min(initial=1):g}, for {len(points)} points; expected one > 0 each")
        marker |= {"color": np.round(np.log10(seen), 2).tolist(), "colorscale": "Cividis", "reversescale": True,
                   "colorbar": {"title": {"text": "count (log10)"}, "thickness": 14}}
        texts = [f"{text}: {count:,.0f} times" for text, count in zip(texts, seen, strict=True)]
    digits = 3 - int(np.floor(np.log10(max(np.abs(points).max(), 1e-30))))       # four of them are more than a screen shows
    x, y, z = (np.round(column, digits).tolist() for column in points.T)
    words = go.Scatter3d(x=x, y=y, z=z, mode="markers", name="words", text=texts, hovertemplate="%{text}<extra></extra>", marker=marker)
    origin = go.Scatter3d(x=[0], y=[0], z=[0], mode="markers+text", name="origin", text=["origin"], textposition="bottom center",
                          hovertemplate="origin<extra></extra>", marker={"size": 7, "symbol": "cross", "color": PALETTE["vermillion"]})
    axes = {f"{axis}axis": {"title": {"text": name}, "showticklabels": False, "backgroundcolor": "white", "gridcolor": "#DDDDDD"}
            for axis, name in zip("xyz", ("first direction", "second", "third"), strict=True)}
    return explorer([words, origin], title=title, height=560, scene=axes | {"aspectmode": "data"}, showlegend=False,
                    margin={"l": 0, "r": 0, "t": 60, "b": 0})
