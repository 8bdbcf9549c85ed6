"""Figures about contrastive learning: encoders as points, and trainings as paths, of the alignment-uniformity plane.

A point far to the left spreads its sentences evenly, a point far down keeps close pairs close; the colour says how well it grades. A path is a
training, its end marked. Seen in ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array
from .labels import VEIL, in_points, new_figure, quiet_places
from .style import DASHES, GREY, LINE_COLOURS, MARKERS, PALETTE, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plane_of_encoders", "plane_of_trainings"]

VERMILLION, BLACK = PALETTE["vermillion"], PALETTE["black"]
MOST_POINTS = 36
LETTER = 5.6                                      # width of a letter of 10 points
AXES = {"xlabel": "uniformity (further left: more even)", "ylabel": "alignment (further down: close pairs are closer)"}


# ------------------------------------------------------------------------------------------------ the plane


@styled()
def plane_of_encoders(points: Mapping[str, tuple[float, float, float]], *, title: str, marked: Sequence[str] = (),
                      score_name: str = "Spearman × 100", score_limits: tuple[float, float] | None = None) -> Figure:
    """Encoders by uniformity and alignment, coloured by score, each with its name; good is down and to the left.

    Parameters: points, name -> (uniformity, alignment, score), 2 to 36; title, the finding; marked, names that stand out; score_name, of the colours;
    score_limits, where the colours begin and end, None: at the lowest and the highest score. Scores beyond them have the last colour, and an
    arrow at the scale says so. Raises ValueError. [wang2020understanding; gao2021simcse, Fig. 3]
    """
    if not 2 <= len(points) <= MOST_POINTS:
        raise ValueError(f"points holds {len(points)} encoders; expected 2 to {MOST_POINTS}, or nobody can read their names")
    if unknown := [name for name in marked if name not in points]:
        raise ValueError(f"marked holds {unknown[0]!r}, which is no point; expected names out of {', '.join(points)}")
    table = check_array("points", [points[name] for name in points], columns=3).astype(np.float64)
    low, high = score_limits or (table[:, 2].min(), table[:, 2].max())
    if score_limits and not low < high:
        raise ValueError(f"score_limits={score_limits!r}; expected two numbers, the lower one first")
    fig, (ax,) = new_figure(title, size=(7.2, 6.2))
    shown = ax.scatter(table[:, 0], table[:, 1], c=table[:, 2], s=64, cmap="cividis", vmin=low, vmax=high, edgecolors=BLACK, linewidths=0.8, zorder=3)
    beyond = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    extend = beyond[bool((table[:, 2] < low).any()), bool((table[:, 2] > high).any())]
    fig.colorbar(shown, ax=ax, location="bottom", shrink=0.6, aspect=40, label=score_name, extend=extend)
    for name in marked:
        ax.plot(*points[name][:2], "o", ms=13, mfc="none", mec=VERMILLION, mew=2, zorder=4)
    ax.set(**AXES)
    ax.grid(color="#DDDDDD", lw=0.8)
    ax.margins(0.12)
    _name_points(ax, table[:, :2], list(points), set(marked))
    return fig


def _name_points(ax: Axes, places: np.ndarray, names: Sequence[str], marked: set[str]) -> None:
    """A name near each point where it covers no other, with a thin line where it had to move away."""
    ax.figure.draw_without_rendering()            # settles the layout, so that points of the page can be computed
    order = sorted(range(len(names)), key=lambda k: names[k] not in marked)                 # those that stand out choose first
    names, places = [names[k] for k in order], places[order]
    texts = [plain(name, limit=34) for name in names]
    at = in_points(ax, places)
    frame = in_points(ax, np.array([[x, y] for x, y in zip(ax.get_xlim(), ax.get_ylim(), strict=True)]))
    widths = [LETTER * (1.25 if name in marked else 1) * len(text) + 6 for name, text in zip(names, texts, strict=True)]
    wanted = at + np.column_stack([np.array(widths) / 2 + 11, np.zeros(len(at))])
    found = quiet_places(wanted, widths, at, frame, height=13)
    for text, name, place, start, end in zip(texts, names, places, at, found, strict=True):
        far = np.linalg.norm(end - start) > 40
        ax.annotate(text, tuple(place), tuple(end - start), textcoords="offset points", ha="center", va="center", fontsize=10,
                    color=VERMILLION if name in marked else BLACK, fontweight="bold" if name in marked else "normal", zorder=5,
                    arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6, "shrinkA": 0, "shrinkB": 3} if far else None)


@styled()
def plane_of_trainings(paths: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str,
                       points: Mapping[str, tuple[float, float]] | None = None) -> Figure:
    """Trainings as paths of the plane: a hollow mark before the first step, a dot at each look, a large mark at the end, where the name stands.

    Parameters: paths, name -> (uniformity, alignment) at every look, two or more, at most 5 paths; title, the finding; points, name -> (uniformity,
    alignment) of encoders to compare with, in grey. [gao2021simcse, Fig. 2]
    """
    if not 1 <= len(paths) <= len(LINE_COLOURS):
        raise ValueError(f"paths holds {len(paths)} trainings; expected 1 to {len(LINE_COLOURS)}, or nobody can tell them apart")
    walks = {name: [check_array(f"paths[{name!r}][{k}]", part, ndim=1, min_rows=2).astype(np.float64) for k, part in enumerate(pair)]
             for name, pair in paths.items()}
    if uneven := [name for name, (x, y) in walks.items() if len(x) != len(y)]:
        raise ValueError(f"paths[{uneven[0]!r}] has {' and '.join(str(len(part)) for part in walks[uneven[0]])} numbers; expected as many of each")
    fig, (ax,) = new_figure(title, size=(7.2, 4.8))
    for (x, y), colour, marker, dash in zip(walks.values(), LINE_COLOURS, MARKERS, DASHES, strict=False):
        ax.plot(x, y, ls=dash, color=colour, marker=".", ms=6, lw=1.6)
        ax.plot(x[0], y[0], marker=marker, ms=9, mfc="white", mec=colour, mew=1.6, zorder=3)
        ax.plot(x[-1], y[-1], marker=marker, ms=9, color=colour, zorder=3)
    for name, (x, y) in (points or {}).items():
        ax.plot(x, y, marker="P", ms=8, color=GREY, ls="none")
        ax.annotate(plain(name, limit=26), (x, y), (8, 0), textcoords="offset points", va="center", color=GREY, bbox=VEIL)
    ax.set(**AXES)
    ax.grid(color="#DDDDDD", lw=0.8)
    ax.margins(x=0.3, y=0.1)                          # paths end on the left, and so do their names
    _name_ends(ax, walks)
    return fig


def _name_ends(ax: Axes, walks: Mapping[str, Sequence[np.ndarray]]) -> None:
    """The names of the paths near their ends, where they cover few of the marks."""
    ax.figure.draw_without_rendering()
    texts = [plain(name, limit=30) for name in walks]
    ends = in_points(ax, np.array([[x[-1], y[-1]] for x, y in walks.values()]))
    marks = in_points(ax, np.concatenate([np.column_stack(walk) for walk in walks.values()]))
    frame = in_points(ax, np.array([[x, y] for x, y in zip(ax.get_xlim(), ax.get_ylim(), strict=True)]))
    widths = [LETTER * 1.15 * len(text) + 8 for text in texts]
    found = quiet_places(ends - np.column_stack([np.array(widths) / 2 + 10, np.zeros(len(ends))]), widths, np.repeat(marks, 3, axis=0), frame)
    for text, (x, y), start, end, colour in zip(texts, walks.values(), ends, found, LINE_COLOURS, strict=False):
        ax.annotate(text, (x[-1], y[-1]), tuple(end - start), textcoords="offset points", ha="center", va="center", color=colour, bbox=VEIL,
                    arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6} if abs(end - start)[1] > 12 else None)
