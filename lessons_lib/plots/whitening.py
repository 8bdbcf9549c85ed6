"""Figures about whitening: a cloud at every step of it, covariance as a picture before and after, and the score over β and γ as a surface.

The clouds carry the ellipse of one standard deviation, so that a step shows as what it does to the ellipse: moved, turned, made round. Seen in
``12_bert_whitening``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core import check_array, check_int
from .documents import similarity_matrix
from .explore import explorer
from .labels import new_figure
from .style import GREY, PALETTE, plain, styled

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["covariance_maps", "parameter_map", "parameter_surface", "whitening_steps"]

BLUE, VERMILLION, BLACK, SKY = (PALETTE[name] for name in ("blue", "vermillion", "black", "sky"))
MOST_STEPS, MOST_DOTS, MOST_CELLS = 4, 400, 64


@styled()
def whitening_steps(panels: Mapping[str, np.ndarray], *, title: str, marked: Sequence[int] = ()) -> Figure:
    """The same cloud after each step, on the same scale, with its ellipse of one standard deviation around its mean, and the origin.

    Parameters: panels, heading -> points (n, 2), two to four, row i the same point in each; title, the finding; marked, numbers of up to three
    points that are followed with a mark of their own. Of many points every n-th is drawn; the ellipse is that of all.
    """
    clouds = {name: check_array(name, points, columns=2, min_rows=3).astype(np.float64) for name, points in panels.items()}
    if not 2 <= len(clouds) <= MOST_STEPS or len({len(points) for points in clouds.values()}) > 1:
        raise ValueError(f"panels holds {len(clouds)} clouds of {sorted({len(points) for points in clouds.values()})} points; expected 2 to "
                         f"{MOST_STEPS}, of as many points each")
    n = len(next(iter(clouds.values())))
    if len(marked) > 3:
        raise ValueError(f"marked holds {len(marked)} points; expected at most 3")
    rows = [check_int(f"marked[{i}]", row, low=0, high=n - 1) for i, row in enumerate(marked)]
    fig, axes = new_figure(title, size=(7.2, 2.9 if len(clouds) > 2 else 3.9), panels=len(clouds))
    reach = 1.15 * max(float(np.quantile(np.abs(points), 0.99)) for points in clouds.values())          # a few far points stay outside
    for ax, (heading, points) in zip(axes, clouds.items(), strict=True):
        ax.plot(*points[:: 1 + n // MOST_DOTS].T, ls="none", marker="o", ms=2.4, mew=0, color=BLUE, alpha=0.4)
        _ellipse(ax, points)
        for row, marker in zip(rows, "^sD", strict=False):
            ax.plot(*points[row], marker=marker, ms=7, color="white", mec=BLACK, mew=1.4, zorder=4)
        ax.axhline(0, color=GREY, lw=0.7, zorder=0)
        ax.axvline(0, color=GREY, lw=0.7, zorder=0)
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[], aspect="equal", xlabel="first coordinate")
        ax.set_title(plain(heading, limit=22), loc="center", fontsize=12)
    axes[0].set(ylabel="second coordinate")
    return fig


def _ellipse(ax: Axes, points: np.ndarray) -> None:
    """One standard deviation around the mean, and the two axes of the ellipse."""
    mean, (variances, axes) = points.mean(axis=0), np.linalg.eigh(np.cov(points.T))
    lengths = np.sqrt(np.maximum(variances, 0))
    turn = np.linspace(0, 2 * np.pi, 90)
    ax.plot(*(mean + (np.column_stack([np.cos(turn), np.sin(turn)]) * lengths) @ axes.T).T, "-", color=VERMILLION, lw=2.2)
    for axis, length in zip(axes.T, lengths, strict=True):
        ax.plot(*np.column_stack([mean, mean + length * axis]), "-", color=VERMILLION, lw=1.4)
    ax.plot(*mean, marker="P", ms=7, color=VERMILLION, mec="white", mew=0.8, zorder=3)


@styled()
def covariance_maps(panels: Mapping[str, np.ndarray], *, title: str, limit: float | None = None) -> Figure:
    """Covariance matrices as pictures side by side, on one scale of colours: 0 is white, more is orange, less is purple.

    Parameters: panels, heading -> covariance (d, d), one to three; of more than 64 columns the first 64 are drawn; title, the finding; limit, the end
    of the scale (None: the largest entry that is drawn in any).
    """
    matrices = {name: check_array(name, values, min_rows=1).astype(np.float64)[:MOST_CELLS, :MOST_CELLS] for name, values in panels.items()}
    if not 1 <= len(matrices) <= 3 or any(values.shape[0] != values.shape[1] for values in matrices.values()):
        raise ValueError(f"panels holds {len(matrices)} matrices of shapes {[values.shape for values in matrices.values()]}; expected one to three "
                         "square ones")
    end = max(float(np.abs(values).max()) for values in matrices.values()) if limit is None else limit
    fig, axes = new_figure(title, size=(7.2, 3.4), panels=len(matrices))
    for ax, (heading, values) in zip(axes, matrices.items(), strict=True):
        image = ax.imshow(values, cmap="PuOr_r", vmin=-end, vmax=end, interpolation="nearest")
        ax.set_title(plain(heading, limit=24), loc="center", fontsize=12)
        ax.set(xticks=[], yticks=[], xlabel="column")
    axes[0].set(ylabel="column")
    fig.colorbar(image, ax=list(axes), shrink=0.8, label="covariance")
    return fig


def parameter_map(scores: np.ndarray, betas: Sequence[float], gammas: Sequence[float], *, title: str) -> Figure:
    """The score for every β (rows) and γ (columns) as a heat map; the best cell is outlined. The static twin of `parameter_surface`.

    Parameters: scores (betas, gammas), at most 14 of each; betas, gammas; title, the finding.
    """
    scores = check_array("scores", scores, min_rows=1)
    best = np.unravel_index(int(scores.argmax()), scores.shape)
    return similarity_matrix(scores, [f"β = {b:g}" for b in betas], columns=[f"γ = {g:g}" for g in gammas], limits=None, form="{:.1f}", title=title,
                             outlined=[(int(best[0]), int(best[1]))])


def parameter_surface(scores: np.ndarray, betas: Sequence[float], gammas: Sequence[float], *, title: str) -> go.Figure:
    """The score over β and γ as a surface to turn around, with its best point.

    Parameters as in `parameter_map`, which is its static twin.
    """
    import plotly.graph_objects as go

    scores = check_array("scores", scores, min_rows=2).astype(np.float64)
    if scores.shape != (len(betas), len(gammas)):
        raise ValueError(f"scores has shape {scores.shape} for {len(betas)} betas and {len(gammas)} gammas; expected these to agree")
    row, column = np.unravel_index(int(scores.argmax()), scores.shape)
    z = np.round(scores, 2).tolist()
    surface = go.Surface(x=list(map(float, gammas)), y=list(map(float, betas)), z=z, colorscale="Cividis", showscale=False,
                         hovertemplate="β %{y:g}, γ %{x:g}: %{z:.1f}<extra></extra>")
    best = go.Scatter3d(x=[float(gammas[column])], y=[float(betas[row])], z=[float(scores[row, column])], mode="markers+text", text=["best"],
                        marker={"size": 6, "color": PALETTE["vermillion"]}, hovertemplate="best: %{z:.1f}<extra></extra>")
    names = {"xaxis": "γ", "yaxis": "β", "zaxis": "Spearman × 100"}
    scene = {axis: {"title": {"text": name}} for axis, name in names.items()}
    return explorer([surface, best], title=title, height=520, scene=scene, showlegend=False, margin={"l": 0, "r": 0, "t": 60, "b": 0})
