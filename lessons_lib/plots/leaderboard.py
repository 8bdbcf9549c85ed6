"""The leaderboard as a picture: one dot per encoder with its 95 % interval, so that a reader sees which steps are real.

Encoders keep the order of the lessons, from one-hot down to the newest row. An encoder that was not measured on the chosen set is named
below the figure instead of being left out in silence. Seen at the end of every lesson and in ``00_start_here``.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core import check_choice
from .labels import new_figure
from .style import GREY, PALETTE, plain, styled, wrapped

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.figure import Figure

    from ..evaluation import LeaderboardRow

__all__ = ["leaderboard_bars", "leaderboard_explorer"]


def _datasets(rows: Sequence[LeaderboardRow]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row.scores))


def _checked(rows: Sequence[LeaderboardRow]) -> list[LeaderboardRow]:
    rows = list(rows)
    if not rows:
        raise ValueError("rows holds 0 rows; expected >= 1. Add one with Leaderboard().add, or draw Leaderboard.reference().rows()")
    return rows


def _span(row: LeaderboardRow, dataset: str) -> tuple[float, float, float]:
    """Spearman and its interval x 100; without an interval its ends are the score itself."""
    score = row.scores[dataset]
    low, high = score.get("interval") or (score["spearman"],) * 2
    return 100 * low, 100 * score["spearman"], 100 * high


@styled()
def leaderboard_bars(rows: Sequence[LeaderboardRow], *, dataset: str, title: str, highlight: str | None = None) -> Figure:
    """Spearman x 100 of every encoder on one set, with 95 % intervals.

    Parameters: rows of a leaderboard, in the order to be shown; dataset, the set; title, the finding; highlight, name of the encoder to stress.
    Encoders without a score on the set are listed in a note. Raises ValueError for no rows, or a set no row was measured on.
    """
    rows = _checked(rows)
    check_choice("dataset", dataset, _datasets(rows))
    measured, absent = [r for r in rows if dataset in r.scores], [r for r in rows if dataset not in r.scores]
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.36 * len(measured)))
    for place, row in enumerate(measured):
        low, score, high = _span(row, dataset)
        colour = PALETTE["vermillion"] if row.encoder == highlight else PALETTE["blue"]
        ax.plot([low, high], [place, place], "-", color=colour, lw=6, alpha=0.3, solid_capstyle="butt")
        ax.plot([score], [place], "D" if row.encoder == highlight else "o", color=colour, ms=8)
        ax.annotate(f"{score:.1f}", (high, place), (7, 0), textcoords="offset points", va="center", color=colour, fontweight="bold")
    names = ax.set_yticks(range(len(measured)), [plain(row.encoder, limit=36) for row in measured])
    for name, row in zip(names, measured, strict=True):
        name.label1.set_fontweight("bold" if row.encoder == highlight else "normal")
    spans = [_span(row, dataset) for row in measured]
    low, high = min(0, *(s[0] for s in spans)), max(s[2] for s in spans)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="#DDDDDD", lw=0.8)
    ax.set_axisbelow(True)
    ax.set(xlim=(low, high + 0.12 * (high - low)), ylim=(len(measured) - 0.4, -0.6))
    note = f"\nnot measured on this set: {', '.join(plain(r.encoder, limit=36) for r in absent)}" if absent else ""
    ax.set_xlabel(f"Spearman × 100 on {plain(dataset)}; bars: 95% interval" + wrapped(note, width=80).join(["\n", ""] if note else ["", ""]))
    return fig


def leaderboard_explorer(rows: Sequence[LeaderboardRow], *, title: str) -> go.Figure:
    """The leaderboard with a menu of sets, and all figures of a row on hover.

    Parameters: rows of a leaderboard; title, the finding. The first set of the rows is shown at first; draw `leaderboard_bars`
    of it as the static twin.
    """
    import plotly.graph_objects as go

    from .explore import explorer

    rows = _checked(rows)
    names = _datasets(rows)
    traces = [go.Bar(**_bars(rows, name), name=html.escape(name), visible=name == names[0], orientation="h",
                     marker={"color": PALETTE["blue"]}, hovertemplate="%{customdata}<extra></extra>") for name in names]
    buttons = [{"label": html.escape(name), "method": "update", "args": [{"visible": [other == name for other in names]}]} for name in names]
    menu = [{"buttons": buttons, "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"}] if len(names) > 1 else []
    order = [html.escape(row.encoder) for row in rows]
    return explorer(traces, title=title, height=140 + 30 * len(rows), updatemenus=menu, bargap=0.35, showlegend=False,
                    xaxis={"title": {"text": "Spearman × 100"}, "gridcolor": "#DDDDDD"},
                    yaxis={"autorange": "reversed", "categoryorder": "array", "categoryarray": order, "automargin": True})


def _bars(rows: Sequence[LeaderboardRow], dataset: str) -> dict[str, Any]:
    measured = [row for row in rows if dataset in row.scores]
    spans = [_span(row, dataset) for row in measured]
    return {"y": [html.escape(row.encoder) for row in measured], "x": [round(score, 2) for _, score, _ in spans],
            "error_x": {"type": "data", "array": [round(high - score, 2) for _, score, high in spans], "symmetric": False,
                        "arrayminus": [round(score - low, 2) for low, score, _ in spans], "color": GREY},
            "customdata": [_details(row, dataset) for row in measured]}


def _details(row: LeaderboardRow, dataset: str) -> str:
    low, score, high = _span(row, dataset)
    return (f"<b>{html.escape(row.encoder)}</b> (lesson {html.escape(row.lesson)})<br>Spearman {score:.1f} [{low:.1f}, {high:.1f}]"
            f"<br>{row.dim:,} numbers per text, {row.seconds:.1f} s, scale {html.escape(row.scale)}")
