"""Maps, rankings and tables of similarities."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots
from lessons_lib.plots.documents import group_looks

from .conftest import FINDING


def cell_texts(fig) -> list[str]:
    return [t.get_text() for t in fig.axes[0].texts]


def test_groups_differ_in_colour_or_marker_up_to_twenty():
    looks = group_looks([f"g{k}" for k in range(20)])
    assert len({(colour, marker) for colour, marker, _ in looks.values()}) == 20
    eight = group_looks(range(8)).values()
    assert len({colour for colour, _, _ in eight}) == len({marker for _, marker, _ in eight}) == 8
    with pytest.raises(ValueError, match="21 different values; expected <= 20"):
        group_looks(range(21))


def test_document_map_draws_every_point_once_and_names_every_group():
    points = np.random.default_rng(0).normal(size=(30, 2))
    fig = plots.document_map(points, ["$a$", "b", "c"] * 10, title=FINDING, names={4: "the one"})
    drawn = np.concatenate([np.column_stack(line.get_data()) for line in fig.axes[0].lines[:3]])
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, points))
    assert cell_texts(fig) == [r"\$a\$", "b", "c", "the one"]


def test_names_of_groups_that_lie_on_each_other_are_moved_apart():
    fig = plots.document_map(np.zeros((6, 2)), list("abcabc"), title=FINDING)
    heights = sorted(text.xyann[1] for text in fig.axes[0].texts)
    assert (np.diff(heights) >= 13).all()


def test_retrieval_bars_mark_relevant_hits_by_sign_and_fill():
    fig = plots.retrieval_bars(["good $1$", "bad"], [0.6, -0.1], relevant=[True, False], title=FINDING)
    ax = fig.axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == [r"✓ good \$1\$", "✗ bad"]
    assert [bar.get_width() for bar in ax.patches] == [0.6, -0.1] and ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    assert cell_texts(fig) == ["0.60", "-0.10"] and ax.yaxis_inverted()
    assert [t.get_text() for t in plots.retrieval_bars(["a"], [1.0], title="x").axes[0].get_yticklabels()] == ["a"]


def test_score_curves_name_every_line_at_its_end_and_tick_every_size():
    fig = plots.score_curves({"$a$": ([1, 10], [0.2, 0.6]), "b": ([1, 10, 100], [0.1, 0.5, 0.6])}, title=FINDING, xlabel="k", ylabel="score",
                             levels={"counts": 0.6})
    ax = fig.axes[0]
    assert [t.get_text() for t in ax.texts] == [r"\$a\$", "b", "counts"]
    assert ax.get_xticks().tolist() == [1, 10, 100] and ax.get_xlabel() == "k (log scale)"
    shared_end = [t.xyann[1] for t in ax.texts[1:]]
    assert abs(shared_end[0] - shared_end[1]) >= 15            # b and the level line end in one point
    assert plots.score_curves({"a": ([0, 5], [1, 2])}, title="x", xlabel="k", ylabel="s", log=False).axes[0].get_xlabel() == "k"
    few = plots.score_curves({"a": ([90, 300, 1e6], [1, 2, 3])}, title="x", xlabel="k", ylabel="s", ticks=[100, 1e6]).axes[0]
    assert [tick.get_text() for tick in few.get_xticklabels()] == ["100", "1 M"]


def test_similarity_matrix_writes_every_cell_and_numbers_long_names():
    values = np.array([[1, 0.25], [0.25, 1]])
    assert cell_texts(plots.similarity_matrix(values, ["a", "b"], title=FINDING)) == ["1.00", "0.25", "0.25", "1.00"]
    long = plots.similarity_matrix(values, ["a sentence of many words " * 2, "b " * 20], title=FINDING).axes[0]
    assert [t.get_text() for t in long.get_xticklabels()] == ["1", "2"]
    assert [t.get_text()[:3] for t in long.get_yticklabels()] == ["1  ", "2  "]
    named = plots.similarity_matrix(values[:1], ["row"], columns=["x", "y"], title=FINDING, limits=None, form="{:.0f}").axes[0]
    assert [t.get_text() for t in named.get_xticklabels()] == ["x", "y"]
    marked = plots.similarity_matrix(values, ["a", "b"], title=FINDING, axis_names=("word", "neighbour"), outlined=[(1, 0)]).axes[0]
    assert (marked.get_ylabel(), marked.get_xlabel(), len(marked.patches)) == ("word", "neighbour", 1)


def test_every_cell_text_has_a_contrast_of_4_to_1_on_its_cell():
    values = np.linspace(0, 1, 14 * 14).reshape(14, 14)
    ax = plots.similarity_matrix(values, [f"w{k}" for k in range(14)], title=FINDING).axes[0]

    def luminance(rgb):
        linear = np.where(np.array(rgb) <= 0.04045, np.array(rgb) / 12.92, ((np.array(rgb) + 0.055) / 1.055) ** 2.4)
        return linear @ (0.2126, 0.7152, 0.0722)

    for text, value in zip(ax.texts, values.ravel(), strict=True):
        cell, ink = luminance(ax.images[0].to_rgba(value)[:3]), {"white": 1.0, "black": 0.0}[text.get_color()]
        assert (max(cell, ink) + 0.05) / (min(cell, ink) + 0.05) >= 4


@pytest.mark.parametrize("call, message", [
    (lambda: plots.document_map(np.zeros((3, 3)), "abc", title="x"), r"shape \(3, 3\); expected 2 columns"),
    (lambda: plots.document_map(np.zeros((3, 2)), "ab", title="x"), "labels has 2 values for 3 points"),
    (lambda: plots.document_map([[np.nan, 1]], "a", title="x"), r"points\[0\] holds NaN"),
    (lambda: plots.retrieval_bars(["a"], [1, 2], title="x"), "1, 2 and 2 values"),
    (lambda: plots.score_curves({str(k): ([1], [1]) for k in range(6)}, title="x", xlabel="k", ylabel="s"), "6 lines; expected 1 to 5"),
    (lambda: plots.retrieval_bars(["a"] * 21, [1] * 21, title="x"), "<= 20"),
    (lambda: plots.similarity_matrix(np.eye(3), ["a", "b"], title="x"), r"shape \(3, 3\) for 2 labels"),
    (lambda: plots.similarity_matrix(np.eye(15), ["a"] * 15, title="x"), "at most 14"),
])
def test_V01_V05_what_cannot_be_drawn_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
