"""The topics of a model to explore: choose a topic from a menu, and slide between its frequent words and its own words.

The slider is the weight of relevance: at 1 words are ranked by p(word | topic), at 0 by how many times likelier the topic makes them. All rankings
are stored in the figure, so it needs no running kernel; `topic_words` is its static twin. Seen in ``03_topic_models``. [sievert2014ldavis]
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_float, check_int
from .explore import explorer
from .style import GREY, PALETTE

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["topic_bars", "topic_explorer"]

WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def topic_bars(model: Any, topic: int, *, relevance: float = 0.6, n_words: int = 12) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Words of one topic with their bars: (words, tokens that the topic explains, tokens in the whole corpus), best first.

    Parameters: model, a fitted `topics.TopicModel` that knows its words; topic, its number; relevance, the weight in [0, 1]; n_words.
    Raises as ``model.top_words``, ValueError for a topic that is none.
    """
    check_int("topic", topic, low=0, high=model.dim - 1)
    return _bars(model, check_float("relevance", relevance, low=0.0, high=1.0), n_words)[topic]


def _bars(model: Any, relevance: float, n_words: int) -> list[tuple[list[str], np.ndarray, np.ndarray]]:
    names = model.top_words(n_words, relevance=relevance)
    columns = model.top_columns(n_words, relevance=relevance)
    expected = np.take_along_axis(model.components_, columns, axis=1) * (model.topic_share_ * model.word_counts_.sum())[:, None]
    inside = np.minimum(expected, model.word_counts_[columns])       # a prior may give a rare word more than it has
    return [(names[k], inside[k], model.word_counts_[columns[k]]) for k in range(len(columns))]


def topic_explorer(model: Any, *, title: str, topic: int = 0, relevance: float = 0.6, n_words: int = 12,
                   names: Sequence[str] | None = None) -> go.Figure:
    """All topics of a model behind one menu, and their words under a slider of relevance.

    Parameters: model, a fitted `topics.TopicModel` that knows its words; title, the finding; topic and relevance (a multiple of 0.2), what is
    shown at first; n_words per topic; names (K,) for the menu, None for the topics' first words. Draw `topic_words` of `topic_bars` as the
    static twin. Raises ValueError for a topic, relevance or number of names that does not fit, and as ``model.top_words``.
    """
    check_int("topic", topic, low=0, high=model.dim - 1)
    if relevance not in WEIGHTS:
        raise ValueError(f"relevance={relevance!r} is no step of the slider; expected one of {', '.join(map(str, WEIGHTS))}")
    names = [", ".join(words) for words in model.top_words(3)] if names is None else list(names)
    if len(names) != model.dim:
        raise ValueError(f"names has {len(names)} values for {model.dim} topics; expected one for each")
    bars = {weight: _bars(model, weight, n_words) for weight in WEIGHTS}
    buttons = [{"label": html.escape(f"{model.topic_share_[k]:.0%}  {name}"), "method": "restyle",
                "args": [{"visible": [other == k for other in range(model.dim) for _ in range(2)]}]} for k, name in enumerate(names)]
    steps = [{"label": f"{weight:g}", "method": "restyle",
              "args": [{"x": [_whole(v) for _, inside, overall in rows for v in (overall, inside)],
                        "y": [_escaped(words) for words, _, _ in rows for _ in range(2)]}]} for weight, rows in bars.items()]
    slider = {"active": WEIGHTS.index(relevance), "steps": steps, "y": -0.16, "currentvalue": {"prefix": "relevance λ = ", "font": {"size": 14}}}
    return explorer(_traces(bars[relevance], topic), title=title, height=520, barmode="overlay", sliders=[slider],
                    updatemenus=[{"buttons": buttons, "active": topic, "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"}],
                    legend={"x": 0, "y": 1.02, "yanchor": "bottom", "orientation": "h"}, margin={"l": 110, "r": 20, "t": 90, "b": 50},
                    xaxis={"title": {"text": "tokens"}, "gridcolor": "#DDDDDD"}, yaxis={"autorange": "reversed", "automargin": True})


def _traces(rows: Sequence[tuple[list[str], np.ndarray, np.ndarray]], shown: int) -> list[go.Bar]:
    """Two bars on each other for every topic; only those of the topic ``shown`` are visible."""
    import plotly.graph_objects as go

    traces = []
    hover = "%{y}: %{x:,} tokens<extra>%{fullData.name}</extra>"
    for k, (words, inside, overall) in enumerate(rows):
        shared = {"orientation": "h", "visible": k == shown, "y": _escaped(words), "hovertemplate": hover}
        traces += [go.Bar(x=_whole(overall), name="in the whole corpus", marker={"color": "white", "line": {"color": GREY, "width": 1.2}}, **shared),
                   go.Bar(x=_whole(inside), name="explained by this topic", marker={"color": PALETTE["blue"]}, **shared)]
    return traces


def _escaped(words: Sequence[str]) -> list[str]:
    return [html.escape(word) for word in words]


def _whole(values: np.ndarray) -> list[int]:
    """Tokens as whole numbers, small in bytes."""
    return [int(v) for v in np.rint(values)]
