"""Figures of rows and bars: rankings, shares, intervals, ablations, histograms, the leaderboard.

A row has its name on the left and its number at its end; a mean carries its spread, a control is
hollow. Seen in every lesson, the leaderboard at the end of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import check_array, check_choice, check_float, check_int, shown
from .labels import (CENTRED, VEIL, count_text, heading, legend_below, name_rows,
                     new_figure, note)
from .primitives import (Columns, bar_rows, checked_columns, column, expect, expect_names,
                         expect_number, grid, interval, mean_rows, panel_figure, same_length)
from .style import (BLACK, BLUE, FILL_COLOURS, GREEN, GREY, LINE_COLOURS, MARKERS, PALE, PURPLE,
                    SKY, VERMILLION, figure, plain, wrapped)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..evaluation import LeaderboardRow

MAX_ROWS = 20
FAMILY_COLOURS = (BLUE, GREEN, VERMILLION, PURPLE, BLACK)
FAMILY_INK = {PURPLE: "#8F3F6E"}                  # of words: dark enough on white
Value = float | tuple[float, float]


# ---------------------------------------------------------------------------- one bar a row


@figure
def retrieval_bars(labels: Sequence[str], scores: Sequence[float], *, title: str,
                   relevant: Sequence[bool] | None = None, xlabel: str = "score") -> Figure:
    """Draw the best hits of a query, best first; relevant ones are filled and marked.

    Parameters
    ----------
    labels : sequence of str, shape (k,), k <= 20; what was found
    scores : array of float, shape (k,)
    relevant : array of bool, shape (k,), optional; whether a hit answers the query
    """
    scores = column("scores", scores)
    right = np.ones(len(scores), bool) if relevant is None else np.asarray(relevant, bool)
    same_length(labels=labels, scores=scores, relevant=right)
    expect_number("labels", labels, MAX_ROWS)
    fig, (ax,) = new_figure(title, size=(7.2, 1.3 + 0.34 * len(scores)))
    bar_rows(ax, scores, color=np.where(right, BLUE, "white"), linewidth=1.2,
             edgecolor=[BLUE if hit else GREY for hit in right])
    for place, score in enumerate(scores):
        note(ax, f"{score:.2f}", (max(score, 0), place), (5, 0), va="center")
    if relevant is not None:
        labels = [f"{'✓' if hit else '✗'} {label}"
                  for hit, label in zip(right, labels, strict=True)]
    name_rows(ax, labels, limit=44 if relevant is None else 46)
    ax.set(xlabel=xlabel, xlim=(min(0, scores.min()), max(scores.max(), 1e-9) * 1.14))
    return fig


@figure
def probe_bars(scores: Columns, *, title: str, xlabel: str, marked: Sequence[str] = (),
               chance: float | None = None) -> Figure:
    """Draw mean scores as bars, best first, each run as a dot; some are marked by colour.

    Parameters
    ----------
    scores : mapping of name to one score per run; at most 12 names
    marked : sequence of str, default (); names to be marked
    chance : float, optional; the score of guessing, a dashed line
    """
    runs = checked_columns("scores", scores, most=12)
    expect(set(marked) <= set(runs), f"marked={shown(list(marked))}; expected names of scores, "
                                     f"not {sorted(set(marked) - set(runs))[:1]}")
    order = sorted(runs, key=lambda name: -runs[name].mean())
    fig, (ax,) = new_figure(title, size=(7.2, 1.3 + 0.36 * len(order)))
    for place, name in enumerate(order):
        colour, hatch, edge = (BLUE, "", BLUE) if name in marked else (PALE, "//", GREY)
        ax.barh(place, runs[name].mean(), height=0.66, color=colour, hatch=hatch, edgecolor=edge,
                linewidth=1.2)
        if len(runs[name]) > 1:
            ax.plot(runs[name], [place] * len(runs[name]), "o", ms=4, color="white", mec="black")
        note(ax, f"{runs[name].mean():.1f}", (runs[name].max(), place), (7, 0), va="center")
    if chance is not None:
        ax.plot([chance, chance], [-0.5, len(order) - 0.5], "--", color=GREY, lw=1.3)
        note(ax, "guessing", (chance, len(order) - 0.5), (3, 3), color=GREY)
    name_rows(ax, order, limit=44)
    ax.set(xlabel=xlabel, xlim=(0, 1.14 * max(values.max() for values in runs.values())),
           ylim=(len(order) - 0.3, -0.6))
    return fig


@figure
def topic_words(words: Sequence[str], inside: Sequence[float], overall: Sequence[float], *,
                title: str) -> Figure:
    """Draw how often the words of a topic stand in the corpus, and what the topic explains of it.

    [sievert2014ldavis]

    Parameters
    ----------
    words : sequence of str, shape (n,), n <= 20; best first
    inside, overall : array of float, shape (n,); numbers of tokens
    """
    inside, overall = column("inside", inside), column("overall", overall)
    same_length(words=words, inside=inside, overall=overall)
    expect_number("words", words, MAX_ROWS)
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.32 * len(words)))
    bar_rows(ax, overall, 0.72, facecolor="none", edgecolor=GREY, linewidth=1.2,
             label="in the whole corpus")
    bar_rows(ax, inside, 0.72, color=BLUE, label="explained by this topic")
    name_rows(ax, words, limit=24)
    ax.set(xlabel="tokens", xlim=(0, float(overall.max()) * 1.05))
    ax.legend(loc="lower right", frameon=True, framealpha=0.9, edgecolor="none")
    return fig


# ---------------------------------------------------------------------------- parts of a bar


@figure
def error_parts(bars: Mapping[str, Mapping[str, float]], *, title: str,
                xlabel: str = "mean squared error") -> Figure:
    """Draw what a squared error is made of, parts laid end to end, each with its share.

    Parameters
    ----------
    bars : mapping of model to {part: value >= 0}
        At most 10 models with the same one to three parts. The share of a narrow last part
        stands outside.
    """
    expect_names("bars", bars, 10)
    parts = list(next(iter(bars.values())))
    expect(1 <= len(parts) <= 3 and all(list(bar) == parts for bar in bars.values()),
           f"bars has the parts {', '.join(parts) or 'none'}; expected the same 1 to 3 for each")
    values = np.array([list(bar.values()) for bar in bars.values()], dtype=np.float64)
    total = values.sum(axis=1)
    expect(np.isfinite(values).all() and (values >= 0).all() and (total > 0).all(),
           "bars holds a number below 0, or a bar of nothing; expected parts >= 0, a sum above 0")
    fig, (ax,) = new_figure(title, size=(7.2, 1.6 + 0.46 * len(bars)))
    narrow, left = 0.09 * total.max(), np.zeros(len(bars))
    for part, widths, colour, hatch in zip(parts, values.T, FILL_COLOURS, ("", "//", ".."),
                                           strict=False):
        ax.barh(range(len(bars)), widths, left=left, color=colour, edgecolor=BLACK, lw=0.8,
                hatch=hatch, label=plain(part, limit=30))
        for row in np.flatnonzero(widths > narrow):
            note(ax, f"{widths[row] / total[row]:.0%}", (left[row] + widths[row] / 2, row),
                 fontsize=10, bbox=VEIL, **CENTRED)
        left += widths
    outside = values[:, -1] <= narrow
    for row in np.flatnonzero(outside):
        note(ax, f"{parts[-1]} {values[row, -1] / left[row]:.0%}", (left[row], row), (5, 0),
             va="center", fontsize=10)
    ax.margins(x=0.16 if outside[left.argmax()] else 0.05)
    ax.set_xlim(left=0)
    ax.set_yticks(range(len(bars)), [plain(name, limit=34) for name in bars])
    ax.invert_yaxis()
    ax.set(xlabel=xlabel)
    ax.legend(loc="lower right", frameon=True, ncols=len(parts), bbox_to_anchor=(1.0, 1.0),
              borderaxespad=0.2)
    return fig


def distributions(name: str, values: np.ndarray, columns: int | None = 3) -> np.ndarray:
    """Rows that sum to 1. Raises ValueError for others, with the row."""
    values = check_array(name, values, columns=columns, min_rows=1)
    bad = np.flatnonzero((values < -1e-9).any(axis=1) | (np.abs(values.sum(axis=1) - 1) > 1e-6))
    expect(not len(bad), f"{name}[{bad[:1]}]={values[bad[:1]].round(3).tolist()!s:.60} is no "
                         "distribution; expected numbers >= 0 that sum to 1")
    return values


# ---------------------------------------------------------------------------- upright bars


@figure
def knn_by_frequency(edges: np.ndarray, distances: np.ndarray, dots: np.ndarray, *,
                     ks: Sequence[int], title: str) -> Figure:
    """Draw mean distance to, and dot product with, the k nearest words by frequency rank.

    [li2020sentence, Tab. 1]

    Parameters
    ----------
    edges : array of int, shape (bins, 2)
        First rank and the one after the last, as in `isotropy.FrequencyBins`; at most 6 bins.
    distances, dots : array of float, shape (bins, len(ks))
    ks : sequence of int; 1 to 3 numbers of neighbours
    """
    expect_number("ks", ks, 3)
    expect_number("edges", edges, 6)
    edges = check_array("edges", edges, columns=2)
    distances = check_array("distances", distances, columns=len(ks))
    dots = check_array("dots", dots, columns=len(ks))
    same_length(edges=edges, distances=distances, dots=dots)
    fig, axes = new_figure(title, size=(7.2, 4.0), panels=2)
    places, width = np.arange(len(edges)), 0.8 / len(ks)
    for ax, values, text in zip(axes, (distances, dots), (
            "distance to the k nearest", "k largest dot products"), strict=True):
        for j, (colour, hatch) in enumerate(((BLUE, ""), (SKY, ""), ("white", "//"))[: len(ks)]):
            ax.bar(places + (j - (len(ks) - 1) / 2) * width, values[:, j], width, lw=1,
                   facecolor=colour, edgecolor=BLUE, hatch=hatch, label=f"k = {ks[j]}")
        ax.set_xticks(places, [f"≤ {count_text(high)}" for high in edges[:, 1]])
        ax.set(xlabel="frequency rank of the words")
        heading(ax, text)
        ax.tick_params(axis="x", length=0)
        ax.axhline(0, color=BLACK, lw=0.8)
    axes[0].set(ylabel="mean over the words")
    legend_below(axes[0], len(ks))
    return fig


# ---------------------------------------------------------------------------- distributions


@figure
def density_panels(panels: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], *, title: str,
                   bins: int = 60, shared: bool = False, curve_name: str = "formula") -> Figure:
    """Draw histograms of drawn numbers, each under the density that a formula gives.

    Parameters
    ----------
    panels : mapping of heading to (drawn (n,), places (k,) rising, densities (k,) >= 0)
        One to three. The frame is that of the places; heights count all drawn numbers.
    bins : int, default 60
    shared : bool, default False; one axis of heights for all
    curve_name : str, default "formula"; what the line is
    """
    check_int("bins", bins, low=2)
    expect_names("panels", panels, 3, 1, "pictures")
    fig, axes = new_figure(title, size=(7.2, 3.6), panels=len(panels), sharey=shared)
    for ax, (text, (drawn, places, heights)) in zip(axes, panels.items(), strict=True):
        drawn = column(f"{text}[0]", drawn, min_rows=2)
        places = column(f"{text}[1]", places, min_rows=2, rising=True)
        heights = column(f"{text}[2]", heights, **{f"{text}[1]": places})
        expect(heights.min() >= 0, f"{text}[2] holds {heights.min():.3g}; expected densities >= 0")
        edges = np.linspace(places[0], places[-1], bins + 1)
        counted = np.histogram(drawn, edges)[0] / (len(drawn) * (edges[1] - edges[0]))
        ax.stairs(counted, edges, fill=True, facecolor=SKY, alpha=0.6, label="drawn")
        ax.plot(places, heights, "-", color=VERMILLION, lw=2.2,
                label=plain(curve_name, limit=30))
        ax.set(xlim=(places[0], places[-1]), xlabel=plain(text, limit=40))
    for ax in axes:                               # a shared axis is as high as the highest
        ax.set_ylim(bottom=0)
    axes[0].set(ylabel="density")
    legend_below(axes[0], 2)
    return fig


@figure
def cosines_by_label(panels: Mapping[str, Columns], *, title: str,
                     xlabel: str = "cosine of the two sentences") -> Figure:
    """Draw where the cosines of each label lie: median, middle half, nine tenths.

    Parameters
    ----------
    panels : mapping of heading to {label: cosines}
        One or two with the same labels, at most 5; all share their axis.
    """
    expect_names("panels", panels, 2, 1, "pictures")
    names = list(next(iter(panels.values())))
    expect(all(list(groups) == names for groups in panels.values()),
           f"panels has other labels than {', '.join(names)}; expected the same in each")
    fig, axes = panel_figure(title, panels, 2, limit=34, size=(7.2, 1.9 + 0.45 * len(names)),
                             sharex=True, sharey=True)
    for ax, (text, groups) in zip(axes, panels.items(), strict=True):
        groups = checked_columns(f"panels[{text!r}]", groups)
        for row, (x, colour) in enumerate(zip(groups.values(), LINE_COLOURS, strict=False)):
            first, low, centre, high, last = np.quantile(x, [0.05, 0.25, 0.5, 0.75, 0.95])
            ax.plot([first, last], [row, row], "-", color=colour, lw=1.6)
            ax.plot([low, high], [row, row], "-", color=colour, lw=7, alpha=0.45,
                    solid_capstyle="butt")
            ax.plot([centre], [row], marker=MARKERS[row], ms=9, color=colour, mec="white", mew=1)
            note(ax, f"{centre:.2f}", (centre, row), (0, 10), ha="center", color=BLACK,
                 fontsize=10)
        name_rows(ax, names, limit=18, grid=True)
        ax.margins(x=0.1)                        # room for the numbers at both ends
        ax.set(xlabel=xlabel, ylim=(len(names) - 0.5, -0.75))
    axes[0].set_ylabel("label")
    return fig


# ---------------------------------------------------------------------------- means and spreads


def _check_controls(panels: Mapping, controls: Mapping) -> None:
    expect_names("panels", panels, 2, 1, "panels")
    expect(set(controls) <= set(panels), f"controls={shown(sorted(controls))}; expected controls "
                                         f"for these panels: {', '.join(panels)}")


@figure
def race_dots(panels: Mapping[str, Mapping[str, tuple[float, float]]], *, title: str,
              controls: Mapping[str, Mapping[str, tuple[float, float]]], xlabel: str,
              control: str = "start weights") -> Figure:
    """Draw ways to learn as rows, a panel for each text, all on one scale.

    A dotted line goes through the first row. No row is painted as the winner: where spreads
    overlap nobody won.

    Parameters
    ----------
    panels : mapping of heading to {row: (mean, standard deviation)}; one or two with the same rows
    controls : mapping; in the same form, drawn hollow
    control : str, default "start weights"; what a hollow mark is
    """
    _check_controls(panels, controls)
    rows = list(next(iter(panels.values())))
    expect(rows and all(list(table) == rows for table in panels.values()),
           f"panels has other rows than {shown(rows)}; expected panels with the same rows")
    fig, axes = panel_figure(title, panels, 2, limit=34, size=(7.2, 1.8 + 0.4 * len(rows)),
                             sharex=True, sharey=True)
    for ax, (text, table) in zip(axes, panels.items(), strict=True):
        ax.axvline(table[rows[0]][0], color=GREY, ls=":", lw=1.5, zorder=0.5)
        mean_rows(ax, table, rows, controls.get(text, {}), xlabel, control, lambda row: BLUE,
                  bbox=VEIL)
        grid(ax, "x")
        ax.margins(x=0.1)
    return fig


# ---------------------------------------------------------------------------- the leaderboard


def datasets_of(rows: Sequence[LeaderboardRow]) -> list[str]:
    """The sets that any row was measured on. Raises ValueError for no rows."""
    expect(rows, "rows holds 0 rows; expected >= 1. Add one with Leaderboard().add, or draw "
                 "Leaderboard.reference().rows()")
    return list(dict.fromkeys(name for row in rows for name in row.scores))


def span_of(row: LeaderboardRow, dataset: str) -> tuple[float, float, float]:
    """Low end, score and high end x 100; without an interval its ends are the score itself."""
    fields, score = row.scores[dataset], row.score(dataset)
    low, high = fields.get("interval") or fields.get("ndcg_interval") or (score, score)
    return 100 * low, 100 * score, 100 * high


def measure_of(row: LeaderboardRow, dataset: str) -> str:
    """What a set ranks by, as an axis names it."""
    return f"nDCG@{k} × 100" if (k := row.scores[dataset].get("k")) else "Spearman × 100"


@figure
def leaderboard_bars(rows: Sequence[LeaderboardRow], *, dataset: str, title: str,
                     highlight: str | None = None) -> Figure:
    """Draw Spearman or nDCG@k x 100 of every encoder on one set, with 95 % intervals.

    Parameters
    ----------
    rows : sequence of LeaderboardRow
        In the order to be shown; encoders without a score on the set are listed in a note.
    dataset : str
    highlight : str, optional; the encoder to stress
    """
    rows = list(rows)
    check_choice("dataset", dataset, datasets_of(rows))
    names = [row.encoder for row in rows if dataset in row.scores]
    spans = [span_of(row, dataset) for row in rows if dataset in row.scores]
    absent = [plain(row.encoder, limit=36) for row in rows if dataset not in row.scores]
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.36 * len(spans)))
    for place, (name, (low, score, high)) in enumerate(zip(names, spans, strict=True)):
        colour, marker = (VERMILLION, "D") if name == highlight else (BLUE, "o")
        interval(ax, place, low, high, colour)
        ax.plot([score], [place], marker, color=colour, ms=8)
        note(ax, f"{score:.1f}", (high, place), (7, 0), va="center", color=colour,
             fontweight="bold")
    for tick, name in zip(name_rows(ax, names, limit=36, grid=True), names, strict=True):
        tick.label1.set_fontweight("bold" if name == highlight else "normal")
    low, high = min(0, *(span[0] for span in spans)), max(span[2] for span in spans)
    ax.set(xlim=(low, high + 0.12 * (high - low)), ylim=(len(spans) - 0.4, -0.6))
    missing = wrapped(f"not measured on this set: {', '.join(absent)}", width=80)
    measure = measure_of(next(row for row in rows if dataset in row.scores), dataset)
    ax.set_xlabel(f"{measure} on {plain(dataset)}; bars: 95% interval"
                  + (f"\n{missing}" if absent else ""))
    return fig


@figure
def leaderboard_climb(families: Mapping[str, Mapping[str, LeaderboardRow]], *, dataset: str,
                      title: str, controls: Mapping[str, LeaderboardRow] | None = None,
                      printed: Mapping[str, float] | None = None,
                      apart: str | None = None) -> Figure:
    """Draw the course as one climb: each method with its interval, and a line for the best so far.

    Parameters
    ----------
    families : mapping of name to {label: LeaderboardRow}
        One to five in the course's order, 30 rows at most.
    dataset : str; measured in every row
    controls : mapping of label to LeaderboardRow, optional
        The untrained twin of a row, a hollow mark on the same line.
    printed : mapping of label to number, optional
        Spearman x 100 of the method in its paper, for a BERT-base: a grey mark on the same line.
    apart : str, optional; the family that does not count for the best so far
    """
    expect_names("families", families, len(FAMILY_COLOURS))
    twins, papers = dict(controls or {}), dict(printed or {})
    steps = [(label, row, k) for k, rows in enumerate(families.values())
             for label, row in rows.items()]
    labels = [label for label, _, _ in steps]
    expect_number("families", steps, 30, 1, "rows")
    expect(len(set(labels)) == len(labels), f"families={shown(labels)} hold a name twice; "
                                            "expected a name for each row")
    for name, marks in (("controls", twins), ("printed", papers)):
        stray = next((label for label in marks if label not in labels), None)
        expect(stray is None, f"{name}[{shown(stray)}] belongs to no row; expected one of "
                              f"{', '.join(labels)}")
    papers = {label: check_float(f"printed[{shown(label)}]", x, low=-100, high=100)
              for label, x in papers.items()}
    expect(apart is None or apart in families,
           f"apart={shown(apart)} is no family; expected one of {', '.join(families)}")
    for name, row in [*((label, row) for label, row, _ in steps), *twins.items()]:
        expect(dataset in row.scores, f"{shown(name)} was not measured on dataset={shown(dataset)};"
                                      f" it has {', '.join(row.scores)}")
    fig, (ax,) = new_figure(title, size=(7.2, 1.5 + 0.34 * len(steps)))
    counted = [span_of(row, dataset)[1] for _, row, k in steps if list(families)[k] != apart]
    if counted:                                       # a staircase through the best so far
        edges = np.arange(len(counted))[:, None] + (-0.5, 0.5)
        ax.plot(np.repeat(np.maximum.accumulate(counted), 2), edges.ravel(), "-", color=GREY,
                lw=1.4, zorder=0.5)
    spans = [span_of(row, dataset) for _, row, _ in steps]
    for place, ((label, _, k), (low, score, high)) in enumerate(zip(steps, spans, strict=True)):
        colour = FAMILY_COLOURS[k]
        interval(ax, place, low, high, colour)
        ax.plot([score], [place], marker=MARKERS[k], ls="none", color=colour, ms=8)
        untrained = span_of(twins[label], dataset)[1] if label in twins else low
        if label in twins:
            ax.plot([untrained], [place], marker="o", ls="none", mfc="white", mec=BLACK, mew=1.4,
                    ms=7)
        if label in papers:
            ax.plot([papers[label]], [place], marker="d", ls="none", color=GREY, ms=8)
        at, side, ha = (low, -8, "right") if untrained > score else (high, 8, "left")
        note(ax, f"{score:.0f}", (at, place), (side, 0), va="center", ha=ha, fontweight="bold",
             color=FAMILY_INK.get(colour, colour), bbox=VEIL)
    spans += [span_of(row, dataset) for row in twins.values()]
    spans += [(x, x, x) for x in papers.values()]
    low, high = min(span[0] for span in spans), max(span[2] for span in spans)
    right = high + 0.14 * (high - low)
    _name_families(ax, families, right)
    name_rows(ax, labels, limit=34, grid=True)
    ax.set(xlim=(low - 0.1 * (high - low), right), ylim=(len(steps) - 0.4, -0.6))
    hollow = "; hollow: untrained" if twins else ""
    grey = "\ngrey diamonds: BERT-base, as printed in the papers" if papers else ""
    ax.set_xlabel(f"Spearman × 100 on {plain(dataset)}; bars: 95% interval{hollow}; "
                  f"grey line: best so far{grey}")
    return fig


def _name_families(ax: Axes, families: Mapping[str, Any], right: float) -> None:
    """A coloured bracket with its name right of the rows of each family."""
    first = 0
    for (name, rows), colour in zip(families.items(), FAMILY_COLOURS, strict=False):
        ax.plot([right, right], [first - 0.35, first + len(rows) - 0.65], "-", color=colour, lw=3,
                clip_on=False)
        note(ax, plain(name, limit=24), (right, first + (len(rows) - 1) / 2), (7, 0), va="center",
             color=FAMILY_INK.get(colour, colour), fontweight="bold", annotation_clip=False)
        first += len(rows)
