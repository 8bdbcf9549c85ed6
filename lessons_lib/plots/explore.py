"""Figures to explore with the mouse: hover, zoom, turn, choose from a menu, slide over moments.

No plotly template is stored with them (it alone has 7 kB), numbers are rounded, data text is
escaped because plotly reads tags, and all states lie in the figure, so that no kernel is needed.
Every one has a static twin for paper. Seen from ``02_bag_of_words`` on.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_float, check_int
from .bars import datasets_of, span_of
from .labels import checked_title
from .points import training_frames, training_limits, training_looks
from .primitives import (best_cell, column, expect, expect_number, group_looks, plane,
                         same_length)
from .style import BLACK, BLUE, FILL_COLOURS, GREY, PALE, VERMILLION, documented

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ..evaluation import LeaderboardRow

SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond",
           "v": "triangle-down", "P": "cross", "X": "x", "*": "star"}
HOVER_CHARS = 100
MOST_POINTS = 4000                                # numbers of a figure are stored in the page
WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
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


def _hover(text: object) -> str:
    """Data text for a hover box: escaped, and broken into short lines."""
    line = " ".join(str(text).split())
    line = line if len(line) <= HOVER_CHARS else line[: HOVER_CHARS - 1] + "…"
    return "<br>".join(_escaped(textwrap.wrap(line, 50))) or "(empty)"


@documented
def document_map_interactive(points: np.ndarray, labels: Sequence[Any], *, title: str,
                             hover: Sequence[str]) -> go.Figure:
    """Draw the map of `document_map`, its static twin, with the text of each point on hover.

    Parameters
    ----------
    points : array of float, shape (n, 2)
    labels : sequence, shape (n,); at most 20 groups; a click on a group's name hides it
    hover : sequence of str, shape (n,); cut at 100 characters
    """
    import plotly.graph_objects as go

    points = plane("points", points, labels=labels).astype(np.float32)
    same_length(hover=hover, labels=labels)
    traces = []
    for name, (colour, marker, rows) in group_looks(labels).items():
        edge = {"color": BLACK, "width": 1 if colour in FILL_COLOURS else 0}
        traces.append(go.Scatter(
            x=points[rows, 0], y=points[rows, 1], mode="markers", name=html.escape(name),
            text=[_hover(hover[row]) for row in rows],
            hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            marker={"color": colour, "symbol": SYMBOLS[marker], "size": 7, "opacity": 0.65,
                    "line": edge}))
    return explorer(traces, title=title, xaxis=BARE, yaxis=BARE | {"scaleanchor": "x"},
                    legend={"itemsizing": "constant"})


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


@documented
def topic_explorer(model: Any, *, title: str, topic: int = 0, relevance: float = 0.6,
                   n_words: int = 12, names: Sequence[str] | None = None) -> go.Figure:
    """Draw all topics of a model behind one menu, their words under a slider of relevance.

    `topic_words` of `topic_bars` is the static twin. [sievert2014ldavis]

    Parameters
    ----------
    model : topics.TopicModel; fitted, and knows its words
    topic : int, default 0; shown at first
    relevance : {0, 0.2, 0.4, 0.6, 0.8, 1}, default 0.6; shown at first
    n_words : int, default 12
    names : sequence of str, shape (K,), optional; for the menu; None: the topics' first words
    """
    import plotly.graph_objects as go

    check_int("topic", topic, low=0, high=model.dim - 1)
    expect(relevance in WEIGHTS, f"relevance={relevance!r} is no step of the slider; expected one "
                                 f"of {', '.join(map(str, WEIGHTS))}")
    names = [", ".join(words) for words in model.top_words(3)] if names is None else list(names)
    same_length(names=names, topics=range(model.dim))
    bars = {weight: _bars(model, weight, n_words) for weight in WEIGHTS}
    looks = {"in the whole corpus": {"color": "white", "line": {"color": GREY, "width": 1.2}},
             "explained by this topic": {"color": BLUE}}
    traces = [go.Bar(x=_whole(values), y=_escaped(words), name=name, marker=look, orientation="h",
                     visible=k == topic,
                     hovertemplate="%{y}: %{x:,} tokens<extra>%{fullData.name}</extra>")
              for k, (words, inside, overall) in enumerate(bars[relevance])
              for values, (name, look) in zip((overall, inside), looks.items(), strict=True)]
    buttons = [{"label": html.escape(f"{model.topic_share_[k]:.0%}  {name}"), "method": "restyle",
                "args": [{"visible": np.repeat(np.arange(model.dim) == k, 2).tolist()}]}
               for k, name in enumerate(names)]
    steps = [{"label": f"{weight:g}", "method": "restyle", "args": [{
                 "x": [_whole(values) for _, *pair in rows for values in reversed(pair)],
                 "y": [_escaped(words) for words, *_ in rows for _ in range(2)]}]}
             for weight, rows in bars.items()]
    slider = {"active": WEIGHTS.index(relevance), "steps": steps, "y": -0.16,
              "currentvalue": {"prefix": "relevance λ = ", "font": {"size": 14}}}
    return explorer(traces, title=title, height=520, barmode="overlay", sliders=[slider],
                    updatemenus=[{"buttons": buttons, "active": topic, **TOP_RIGHT}],
                    legend={"x": 0, "y": 1.02, "yanchor": "bottom", "orientation": "h"},
                    margin={"l": 110, "r": 20, "t": 90, "b": 50},
                    xaxis={"title": {"text": "tokens"}, "gridcolor": PALE},
                    yaxis={"autorange": "reversed", "automargin": True})


def _whole(values: np.ndarray) -> list[int]:
    """Tokens as whole numbers, small in bytes."""
    return np.rint(values).astype(int).tolist()


@documented
def leaderboard_explorer(rows: Sequence[LeaderboardRow], *, title: str) -> go.Figure:
    """Draw the leaderboard with a menu of sets; `leaderboard_bars` of the first is its twin.

    Parameters
    ----------
    rows : sequence of LeaderboardRow; all figures of a row stand on hover
    """
    import plotly.graph_objects as go

    rows = list(rows)
    names = datasets_of(rows)
    traces = [go.Bar(**_measured(rows, name), name=html.escape(name), visible=name == names[0],
                     orientation="h", marker={"color": BLUE},
                     hovertemplate="%{customdata}<extra></extra>") for name in names]
    buttons = [{"label": html.escape(name), "method": "update",
                "args": [{"visible": [other == name for other in names]}]} for name in names]
    menu = [{"buttons": buttons, **TOP_RIGHT}] if len(names) > 1 else []
    return explorer(traces, title=title, height=140 + 30 * len(rows), updatemenus=menu,
                    bargap=0.35, showlegend=False,
                    xaxis={"title": {"text": "Spearman × 100"}, "gridcolor": PALE},
                    yaxis={"autorange": "reversed", "categoryorder": "array", "automargin": True,
                           "categoryarray": _escaped([row.encoder for row in rows])})


def _measured(rows: Sequence[LeaderboardRow], dataset: str) -> dict[str, Any]:
    """The bars of one set, with their intervals and what stands on hover."""
    measured = [row for row in rows if dataset in row.scores]
    spans = [span_of(row, dataset) for row in measured]
    texts = [f"<b>{html.escape(row.encoder)}</b> (lesson {html.escape(row.lesson)})"
             f"<br>Spearman {score:.1f} [{low:.1f}, {high:.1f}]"
             f"<br>{row.dim:,} numbers per text, {row.seconds:.1f} s, "
             f"scale {html.escape(row.scale)}"
             for row, (low, score, high) in zip(measured, spans, strict=True)]
    ends = {"array": [round(high - score, 2) for _, score, high in spans],
            "arrayminus": [round(score - low, 2) for low, score, _ in spans]}
    return {"y": _escaped([row.encoder for row in measured]), "customdata": texts,
            "x": [round(score, 2) for _, score, _ in spans],
            "error_x": {"type": "data", "symmetric": False, "color": GREY, **ends}}
