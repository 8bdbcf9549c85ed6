"""Figures to explore with the mouse: hover, zoom, turn, choose from a menu, slide over moments.

No plotly template is stored with them (it alone has 7 kB), numbers are rounded, data text is
escaped because plotly reads tags, and all states lie in the figure, so that no kernel is needed.
Every one has a static twin for paper. Seen from ``02_bag_of_words`` on.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_float, check_int
from .labels import checked_title
from .points import training_frames, training_limits, training_looks
from .primitives import (best_cell, column, expect, expect_number, same_length)
from .style import BLACK, BLUE, PALE, VERMILLION, documented

if TYPE_CHECKING:
    import plotly.graph_objects as go


SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond",
           "v": "triangle-down", "P": "cross", "X": "x", "*": "star"}
MOST_POINTS = 4000                                # numbers of a figure are stored in the page
BARE = {"showticklabels": False, "showgrid": False, "zeroline": False}
FLAT = {"l": 0, "r": 0, "t": 60, "b": 0}          # margins of a picture in space
TOP_RIGHT = {"x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"}


def explorer(traces: list[Any], *, title: str, height: int = 460, **layout: Any) -> go.Figure:
    """A plotly figure in the course's look, without a template; layout: more plotly settings."""
    import plotly.graph_objects as go

    fonts = "DejaVu Sans, Noto Sans CJK SC, Microsoft YaHei, PingFang SC, sans-serif"
    heading = {"text": html.escape(checked_title(title)), "x": 0.01, "font": {"size": 17}}
    look = {"template": go.layout.Template(), "title": heading, "height": height,
            "font": {"size": 14, "color": BLACK, "family": fonts}, "paper_bgcolor": "white",
            "plot_bgcolor": "white", "margin": {"l": 60, "r": 20, "t": 60, "b": 50},
            "hovermode": "closest"}
    return go.Figure(traces, layout=look | layout)


def _escaped(texts: Sequence[Any]) -> list[str]:
    return [html.escape(str(text)) for text in texts]


@documented
def cone_interactive(points: np.ndarray, *, title: str, hover: Sequence[str],
                     counts: Sequence[float] | None = None) -> go.Figure:
    """Draw vectors in space, to be turned around; `cone` of two columns is the static twin.

    Parameters
    ----------
    points : array of float, shape (n, 3)
        Of ``isotropy.cone(x, dim=3)``, at most 4,000: take some of the rows.
    hover : sequence of str, shape (n,); the words
    counts : array of float, shape (n,), > 0, optional; colour the words by how frequent they are
    """
    import plotly.graph_objects as go

    points = check_array("points", points, columns=3, min_rows=1).astype(np.float64)
    same_length(points=points, hover=hover)
    expect_number("points", points, MOST_POINTS, 1, "rows")
    marker: dict[str, Any] = {"size": 2.6, "opacity": 0.75, "color": BLUE}
    texts = _escaped(hover)
    if counts is not None:
        seen = column("counts", counts, positive=True, points=points)
        marker |= {"color": np.round(np.log10(seen), 2).tolist(), "colorscale": "Cividis",
                   "reversescale": True,
                   "colorbar": {"title": {"text": "count (log10)"}, "thickness": 14}}
        texts = [f"{text}: {count:,.0f} times" for text, count in zip(texts, seen, strict=True)]
    digits = 3 - int(np.floor(np.log10(max(np.abs(points).max(), 1e-30))))    # four are kept
    x, y, z = np.round(points, digits).T.tolist()
    words = go.Scatter3d(x=x, y=y, z=z, mode="markers", name="words", text=texts,
                         hovertemplate="%{text}<extra></extra>", marker=marker)
    origin = go.Scatter3d(x=[0], y=[0], z=[0], mode="markers+text", name="origin",
                          text=["origin"], textposition="bottom center",
                          hovertemplate="origin<extra></extra>",
                          marker={"size": 7, "symbol": "cross", "color": VERMILLION})
    scene = {f"{axis}axis": {"title": {"text": name}, "showticklabels": False,
                             "backgroundcolor": "white", "gridcolor": PALE}
             for axis, name in zip("xyz", ("first direction", "second", "third"), strict=True)}
    return explorer([words, origin], title=title, height=560, showlegend=False, margin=FLAT,
                    scene=scene | {"aspectmode": "data"})


@documented
def parameter_surface(scores: np.ndarray, betas: Sequence[float], gammas: Sequence[float], *,
                      title: str) -> go.Figure:
    """Draw the score over β and γ as a surface to turn around; `parameter_map` is its twin.

    Parameters
    ----------
    scores : array of float, shape (betas, gammas)
    betas, gammas : sequence of float
    """
    import plotly.graph_objects as go

    scores = check_array("scores", scores, min_rows=2).astype(np.float64)
    expect(scores.shape == (len(betas), len(gammas)),
           f"scores has shape {scores.shape} for {len(betas)} betas and {len(gammas)} gammas; "
           "expected these to agree")
    row, across = best_cell(scores)
    surface = go.Surface(x=list(map(float, gammas)), y=list(map(float, betas)),
                         z=np.round(scores, 2).tolist(), colorscale="Cividis", showscale=False,
                         hovertemplate="β %{y:g}, γ %{x:g}: %{z:.1f}<extra></extra>")
    best = go.Scatter3d(x=[float(gammas[across])], y=[float(betas[row])],
                        z=[float(scores[row, across])], mode="markers+text", text=["best"],
                        marker={"size": 6, "color": VERMILLION},
                        hovertemplate="best: %{z:.1f}<extra></extra>")
    names = {"xaxis": "γ", "yaxis": "β", "zaxis": "Spearman × 100"}
    return explorer([surface, best], title=title, height=520, showlegend=False, margin=FLAT,
                    scene={axis: {"title": {"text": name}} for axis, name in names.items()})


@documented
def training_explorer(frames: Any, labels: Sequence[Any], *, steps: Sequence[str], title: str,
                      hover: Sequence[str], shapes: Sequence[Any] | None = None, start: int = 0,
                      axis_name: str = "position on the map") -> go.Figure:
    """Draw a map at every moment of a training, under a slider; `training_panels` is its twin.

    Parameters
    ----------
    frames : array of float, shape (moments, n, 2)
        The axes stay as they are, so that what moves has moved.
    labels : sequence, shape (n,); decide the colours, at most 5 different
    steps : sequence of str, shape (moments,)
    hover : sequence of str, shape (n,)
    shapes : sequence, shape (n,), optional
        Decide the markers, at most 5 different; None: the labels do.
    start : int, default 0; the moment shown first
    axis_name : str, default "position on the map"
    """
    import plotly.graph_objects as go

    points, looks = training_frames(frames, labels, steps), training_looks(labels, shapes)
    same_length(hover=hover, labels=labels)
    check_int("start", start, low=-len(points), high=len(points) - 1)
    rounded = np.round(points.astype(np.float64), 3)
    start, names = start % len(points), _escaped(steps)

    def places(k: int, rows: np.ndarray) -> dict[str, list[float]]:
        return {"x": rounded[k, rows, 0].tolist(), "y": rounded[k, rows, 1].tolist()}

    traces = [go.Scatter(**places(start, rows), mode="markers", name=html.escape(name),
                         text=_escaped([hover[row] for row in rows]),
                         hovertemplate="%{text}<extra>%{fullData.name}</extra>",
                         marker={"color": colour, "symbol": SYMBOLS[marker], "size": 7,
                                 "opacity": 0.75}) for name, colour, marker, rows in looks]
    moves = {"mode": "immediate", "frame": {"duration": 600, "redraw": False},
             "transition": {"duration": 400}}
    slider = {"active": start, "currentvalue": {"prefix": "", "font": {"size": 14}},
              "pad": {"t": 40}, "steps": [{"label": name, "method": "animate",
                                           "args": [[name], moves]} for name in names]}
    play = {"label": "play", "method": "animate", "args": [None, moves | {"fromcurrent": False}]}
    across, up = training_limits(points).tolist()
    fig = explorer(traces, title=title, height=580, sliders=[slider],
                   updatemenus=[{"type": "buttons", "showactive": False, "buttons": [play],
                                 **TOP_RIGHT}],
                   legend={"itemsizing": "constant"}, margin={"l": 40, "r": 20, "t": 80, "b": 50},
                   xaxis=BARE | {"range": across, "title": {"text": html.escape(axis_name)}},
                   yaxis=BARE | {"range": up})
    fig.frames = [go.Frame(name=name, data=[go.Scatter(**places(k, rows))
                                            for *_, rows in looks])
                  for k, name in enumerate(names)]
    return fig


def topic_bars(model: Any, topic: int, *, relevance: float = 0.6, n_words: int = 12
               ) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Give the words of one topic with the numbers that `topic_words` draws, best first.

    Parameters
    ----------
    model : topics.TopicModel; fitted, and knows its words
    topic : int
    relevance : float in [0, 1], default 0.6
        At 1 words are ranked by p(word | topic), at 0 by how many times likelier the topic makes
        them. [sievert2014ldavis]
    n_words : int, default 12

    Returns
    -------
    words : list of str
    inside, overall : array of float, shape (n_words,)
        Tokens that the topic explains, and those in the whole corpus.

    Raises
    ------
    ValueError
        For a topic that is none, and as ``model.top_words``.
    """
    check_int("topic", topic, low=0, high=model.dim - 1)
    return _bars(model, check_float("relevance", relevance, low=0.0, high=1.0), n_words)[topic]


def _bars(model: Any, relevance: float, n_words: int) -> list[tuple]:
    """The bars of `topic_bars` for every topic."""
    names = model.top_words(n_words, relevance=relevance)
    chosen = model.top_columns(n_words, relevance=relevance)
    expected = np.take_along_axis(model.components_, chosen, axis=1)
    expected *= (model.topic_share_ * model.word_counts_.sum())[:, None]
    overall = model.word_counts_[chosen]
    inside = np.minimum(expected, overall)           # a prior may give a rare word more than it has
    return list(zip(names, inside, overall, strict=True))


