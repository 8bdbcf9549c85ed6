"""Rows and bars: they have the lengths given, keep their order, and carry their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

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


def test_bars_of_ratios_begin_at_one_rise_from_bottom_to_top_and_are_grey_near_one():
    ax = draw("ratio_bars", words=["law", "army", "the"]).axes[0]
    bars = [line for line in ax.lines if line.get_linewidth() > 2]
    assert ax.get_xscale() == "log" and tick_names(ax.yaxis) == ["army", "the", "law"]
    assert [bar.get_xdata().tolist() for bar in bars] == [[1, 0.1], [1, 1.1], [1, 8.0]]
    colours = [bar.get_color() for bar in bars]
    assert colours[1] == plots.GREY and len(set(colours)) == 3


def test_every_method_has_both_scores_on_its_line():
    ax = draw("paired_scores", rows={"a": (1, 5), "b": (3, 3)}).axes[0]
    assert [line.get_xdata().tolist() for line in ax.lines] == [[1, 3], [5, 3]]
    assert tick_names(ax.yaxis) == ["a", "b"] and sorted(texts(ax)) == ["1", "3", "3", "5"]


def test_bars_of_errors_are_as_long_as_the_sum_of_their_parts():
    bars = {"a": {"level": 0.1, "order": 0.3}, "b": {"level": 0.0, "order": 0.2}}
    ax = draw("error_parts", bars=bars).axes[0]
    first = [bar for bar in ax.patches if np.isclose(bar.get_y() + bar.get_height() / 2, 0)]
    assert np.isclose(max(bar.get_x() + bar.get_width() for bar in first), 0.4)
    assert texts(ax) == ["25%", "75%", "100%"]


def test_the_parts_of_a_mixture_are_its_shares_largest_first_and_fill_the_bar():
    ax = draw("mixture_bars", mixtures=[[0.2, 0.75, 0.05]], labels=["one"],
              names=["xxxx", "yyyy", "zzzz"]).axes[0]
    assert np.allclose([bar.get_width() for bar in ax.patches], [0.75, 0.2, 0.05])
    assert texts(ax) == ["yyyy", "xxxx"]                  # the last part is the grey rest
    assert np.isclose(max(bar.get_x() + bar.get_width() for bar in ax.patches), 1)


def test_neighbouring_parts_of_a_bar_differ_in_colour_and_a_topic_keeps_its_colour():
    mixtures = np.eye(12)[:10] * 0.5 + np.roll(np.eye(12)[:10], 1, axis=1) * 0.5
    ax = draw("mixture_bars", mixtures=mixtures, labels=[str(k) for k in range(10)],
              names=[f"t{k}" for k in range(12)]).axes[0]
    colour = {}
    for row in range(10):
        first, second, _ = ax.patches[3 * row : 3 * row + 3]
        assert first.get_facecolor() != second.get_facecolor()
        for text, bar in zip(ax.texts[2 * row : 2 * row + 2], (first, second), strict=True):
            face = bar.get_facecolor()
            assert colour.setdefault(text.get_text(), face) == face


def test_a_long_name_is_cut_to_the_whole_words_that_fit_its_part():
    ax = draw("mixture_bars", mixtures=[[0.85, 0.15]], labels=["one"],
              names=["short", "much too long a name for so small a part"]).axes[0]
    assert ax.texts[1].get_text() == "much too"


def test_every_share_is_a_bar_with_its_number_and_every_total_its_own_look():
    ax = draw("share_bars").axes[0]
    assert np.allclose([bar.get_height() for bar in ax.patches], [0.2, 0.8, 0.55, 0.45])
    assert texts(ax) == ["20", "80", "55", "45"] and tick_names(ax.xaxis) == ["few", "many"]
    assert len({(bar.get_facecolor(), bar.get_hatch()) for bar in ax.patches}) == 2
    many = draw("share_bars", shares={"one": [0.1] * 10}, bands=list("abcdefghij"))
    assert not texts(many.axes[0])                        # numbers would touch


def test_ngram_growth_labels_every_bar():
    fig = draw("ngram_growth", n=[1, 2], distinct=[13_900, 97_800], once=[0.41, 0.745], unit="c")
    assert [texts(ax) for ax in fig.axes] == [["13.9 k", "97.8 k"], ["41%", "74%"]]
    assert "c per n-gram" in fig.axes[0].get_xlabel()
    never = draw("ngram_growth", n=[1], distinct=[4], once=[0.0])
    assert never.axes[1].get_ylim()[0] == 0


def test_bars_of_neighbours_stand_at_their_bins_one_for_each_k():
    fig = draw("knn_by_frequency", edges=((0, 100), (100, 500)), ks=(3, 5),
               distances=((1.0, 2.0), (3.0, 4.0)), dots=((4.0, 3.0), (2.0, 1.0)))
    for ax, values in zip(fig.axes, ([1, 3, 2, 4], [4, 2, 3, 1]), strict=True):
        assert [bar.get_height() for bar in ax.patches] == values
        assert tick_names(ax.xaxis) == ["≤ 100", "≤ 500"]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["k = 3", "k = 5"]


def test_hills_stand_from_top_to_bottom_with_their_medians():
    hills = {"high": np.linspace(0.9, 1, 101), "wide": np.linspace(-0.5, 0.9, 101)}
    ax = draw("similarity_histogram", cosines=hills).axes[0]
    places = dict(zip(tick_names(ax.yaxis), ax.get_yticks(), strict=True))
    assert places["high"] > places["wide"] and texts(ax) == ["median 0.95", "median 0.20"]
    assert ax.get_xlim()[0] == pytest.approx(-0.497, abs=0.01)


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


def test_every_panel_of_an_ablation_has_its_own_scale_its_best_row_marked_and_its_spread():
    table = {"(u, v)": 66.0, "|u - v|": (69.8, 1.5), "all": (80.8, 0.4)}
    left, right = draw("ablation_dots", controls={"here": {"all": (40.0, 2.0)}}, panels={
        "paper": table, "here": {"(u, v)": 50.0, "all": 49.0}}).axes
    best = plots.PALETTE["vermillion"]
    marked = [[line.get_xdata()[0] for line in ax.lines
               if line.get_color() == best and len(line.get_xdata()) == 1] for ax in (left, right)]
    assert marked == [[80.8], [50.0]] and left.get_xlim() != right.get_xlim()
    assert any(np.allclose(line.get_xdata(), [68.3, 71.3]) for line in left.lines)
    assert any(np.allclose(line.get_xdata(), [38, 42]) for line in right.lines)
    assert "hollow" in right.get_xlabel() and "hollow" not in left.get_xlabel()


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


@pytest.mark.parametrize(("order", "apart", "best"), [
    ((2, 0, 1), None, [58] * 6), ((0, 1, 2), None, [47, 47, 55, 55, 58, 58]),
    ((0, 1, 2), "later", [47, 47, 55, 55])])
def test_the_staircase_is_the_best_so_far_and_leaves_out_what_stands_apart(order, apart, best):
    one, two, three = (make_rows()[k] for k in order)
    families = {"counts": {"one": one, "two": two}, "later": {"three": three}}
    ax = draw("leaderboard_climb", families=families, controls=None, apart=apart).axes[0]
    assert np.allclose(ax.lines[0].get_xdata(), best)
