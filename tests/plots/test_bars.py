"""Rows and bars: they have the lengths given, keep their order, and carry their numbers."""

from __future__ import annotations

import numpy as np
import pytest


from .conftest import draw, make_rows, texts, tick_names


def test_retrieval_bars_mark_relevant_hits_by_sign_and_fill():
    ax = draw("retrieval_bars", labels=["good $1$", "bad"], scores=[0.6, -0.1]).axes[0]
    assert tick_names(ax.yaxis) == [r"✓ good \$1\$", "✗ bad"] and ax.yaxis_inverted()
    assert [bar.get_width() for bar in ax.patches] == [0.6, -0.1]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    assert texts(ax) == ["0.60", "-0.10"]
    plain = draw("retrieval_bars", labels=["a"], scores=[1.0], relevant=None).axes[0]
    assert tick_names(plain.yaxis) == ["a"]


def test_probe_bars_are_means_in_falling_order_with_a_dot_for_each_run_and_marked_ones():
    ax = draw("probe_bars", scores={"low": [1.0], "high": [4.0, 6.0]}).axes[0]
    assert [bar.get_width() for bar in ax.patches] == [5.0, 1.0]
    assert tick_names(ax.yaxis) == ["high", "low"]
    assert np.allclose(ax.lines[0].get_xdata(), [4, 6])
    assert texts(ax) == ["5.0", "1.0", "guessing"]
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()


def test_the_words_of_a_topic_have_one_bar_inside_another():
    ax = draw("topic_words", words=["war", "$5"], inside=[30, 4]).axes[0]
    assert [bar.get_width() for bar in ax.patches] == [40, 5, 30, 4] and ax.yaxis_inverted()
    assert tick_names(ax.yaxis) == ["war", r"\$5"]


def test_bars_of_errors_are_as_long_as_the_sum_of_their_parts():
    bars = {"a": {"level": 0.1, "order": 0.3}, "b": {"level": 0.0, "order": 0.2}}
    ax = draw("error_parts", bars=bars).axes[0]
    first = [bar for bar in ax.patches if np.isclose(bar.get_y() + bar.get_height() / 2, 0)]
    assert np.isclose(max(bar.get_x() + bar.get_width() for bar in first), 0.4)
    assert texts(ax) == ["25%", "75%", "100%"]


def test_bars_of_neighbours_stand_at_their_bins_one_for_each_k():
    fig = draw("knn_by_frequency", edges=((0, 100), (100, 500)), ks=(3, 5),
               distances=((1.0, 2.0), (3.0, 4.0)), dots=((4.0, 3.0), (2.0, 1.0)))
    for ax, values in zip(fig.axes, ([1, 3, 2, 4], [4, 2, 3, 1]), strict=True):
        assert [bar.get_height() for bar in ax.patches] == values
        assert tick_names(ax.xaxis) == ["≤ 100", "≤ 500"]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["k = 3", "k = 5"]


def test_a_histogram_has_the_height_of_a_density_also_when_numbers_lie_outside_the_frame():
    drawn = np.random.default_rng(0).uniform(size=100_000) * 2
    panels = {"x": (drawn, np.linspace(0, 1, 50), np.full(50, 0.5))}
    ax = draw("density_panels", panels=panels, bins=10).axes[0]
    assert np.allclose(ax.patches[0].get_data().values, 0.5, atol=0.03)
    assert np.allclose(ax.lines[0].get_ydata(), 0.5)


def test_medians_stand_where_they_are_and_panels_share_their_axis():
    groups = {"entailment": np.linspace(0.5, 0.9, 41), "contradiction": np.linspace(0.1, 0.5, 41)}
    after = {label: values - 0.3 for label, values in groups.items()}
    left, right = draw("cosines_by_label", panels={"before": groups, "after": after}).axes
    assert texts(left) == ["0.70", "0.30"] and texts(right) == ["0.40", "0.00"]
    assert left.get_xlim() == right.get_xlim()
    far, near = (line.get_xdata() for line in left.lines[:2])
    assert np.allclose(far, [0.52, 0.88]) and np.allclose(near, [0.6, 0.8])


def test_a_race_has_one_scale_and_paints_no_winner():
    start = {"as it is": (50.0, 0.0)}
    left, right = draw("race_dots", controls={"captions": {"one": (47.0, 0.0)}}, panels={
        "captions": start | {"one": (54.0, 0.8)}, "Wikipedia": start | {"one": (49.0, 0.7)}}).axes
    assert left.get_xlim() == right.get_xlim()
    assert left.get_xlim()[0] < 47 < 54.8 < left.get_xlim()[1]
    assert len({line.get_color() for line in left.lines if line.get_marker() == "D"}) == 1
    assert [line.get_xdata()[0] for line in left.lines if line.get_marker() == "o"] == [47.0]
    assert {"50.0", "54.0"} <= set(texts(left))
    assert "hollow" in left.get_xlabel() and "hollow" not in right.get_xlabel()


def test_the_leaderboard_keeps_its_order_writes_the_scores_and_names_what_is_absent(rows):
    ax = draw("leaderboard_bars").axes[0]
    assert tick_names(ax.yaxis) == ["bag of words", "TF-IDF", "LSA 200"] and ax.yaxis_inverted()
    assert texts(ax) == ["47.0", "55.0", "58.0"]
    assert ax.lines[0].get_xdata() == pytest.approx([43, 50])
    assert "not measured on this set: one-hot" in " ".join(ax.get_xlabel().split())
    alone = draw("leaderboard_bars", rows=rows[3:], dataset="course-sts").axes[0]
    assert "not measured" not in alone.get_xlabel()
    assert alone.lines[0].get_xdata() == pytest.approx([30, 30])          # no interval


def test_questions_are_drawn_by_their_own_measure(rows):
    rows[0].scores["questions"] = {"ndcg": 0.7, "ndcg_interval": [0.6, 0.8], "k": 10}
    ax = draw("leaderboard_bars", rows=rows, dataset="questions").axes[0]
    assert ax.get_xlabel().startswith("nDCG@10 × 100 on questions") and texts(ax) == ["70.0"]
    assert ax.lines[0].get_xdata() == pytest.approx([60, 80])


def test_rows_of_one_name_are_all_drawn(rows):
    ax = draw("leaderboard_bars", rows=[rows[0], rows[0], rows[1]]).axes[0]
    assert texts(ax) == ["47.0", "47.0", "55.0"]


def test_only_the_chosen_encoder_stands_out():
    ax = draw("leaderboard_bars").axes[0]
    weights = [tick.get_fontweight() for tick in ax.get_yticklabels()]
    assert weights == ["normal", "bold", "normal"]
    assert ax.lines[3].get_color() != ax.lines[1].get_color() == ax.lines[5].get_color()


def test_negative_scores_are_inside_the_axes(rows):
    rows[0].scores["stsb"] = {"spearman": -0.3, "interval": [-0.4, -0.2]}
    low, high = draw("leaderboard_bars", rows=rows[:1]).axes[0].get_xlim()
    assert low <= -40 and high > low


def test_the_rows_of_the_climb_keep_their_order_and_a_control_is_hollow(rows):
    families = {"counts": {"one": rows[0], "two": rows[1]}, "later": {"three": rows[2]}}
    ax = draw("leaderboard_climb", families=families, controls={"two": rows[0]}, apart=None).axes[0]
    assert tick_names(ax.yaxis) == ["one", "two", "three"] and ax.yaxis_inverted()
    assert {"47", "55", "58", "counts", "later"} <= set(texts(ax))
    assert any(np.allclose(line.get_xdata(), [43, 50]) for line in ax.lines[1:]
               if len(line.get_xdata()) == 2)
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
    assert [line.get_xydata().tolist() for line in hollow] == [[[pytest.approx(47), 1]]]


def test_what_a_paper_printed_stands_grey_on_the_line_of_its_method(rows):
    families = {"counts": {"one": rows[0], "two": rows[1]}}
    ax = draw("leaderboard_climb", families=families, controls=None, apart=None,
              printed={"two": 84.2}).axes[0]
    grey = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "d"]
    assert grey == [[[84.2, 1]]] and ax.get_xlim()[1] > 84.2
    assert "BERT-base, as printed" in ax.get_xlabel()


@pytest.mark.parametrize(("order", "apart", "best"), [
    ((2, 0, 1), None, [58] * 6), ((0, 1, 2), None, [47, 47, 55, 55, 58, 58]),
    ((0, 1, 2), "later", [47, 47, 55, 55])])
def test_the_staircase_is_the_best_so_far_and_leaves_out_what_stands_apart(order, apart, best):
    one, two, three = (make_rows()[k] for k in order)
    families = {"counts": {"one": one, "two": two}, "later": {"three": three}}
    ax = draw("leaderboard_climb", families=families, controls=None, apart=apart).axes[0]
    assert np.allclose(ax.lines[0].get_xdata(), best)
