"""The leaderboard as a picture: every row has its place, and absent ones are named."""

from __future__ import annotations

import json

import pytest

from lessons_lib import plots
from lessons_lib.evaluation import LeaderboardRow

from .conftest import FINDING


def test_bars_keep_the_order_write_the_score_and_name_what_is_absent(rows):
    ax = plots.leaderboard_bars(rows, dataset="stsb", title=FINDING, highlight="TF-IDF").axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["bag of words", "TF-IDF", "LSA 200"] and ax.yaxis_inverted()
    assert [t.get_text() for t in ax.texts] == ["47.0", "55.0", "58.0"]
    assert "not measured on this set: one-hot" in " ".join(ax.get_xlabel().split())
    assert ax.lines[0].get_xdata() == pytest.approx([43, 50])


def test_only_the_chosen_encoder_stands_out(rows):
    ax = plots.leaderboard_bars(rows, dataset="stsb", title=FINDING, highlight="TF-IDF").axes[0]
    assert [t.get_fontweight() for t in ax.get_yticklabels()] == ["normal", "bold", "normal"]
    assert ax.lines[3].get_color() != ax.lines[1].get_color() == ax.lines[5].get_color()


def test_a_row_without_interval_and_a_complete_set_need_no_note(rows):
    ax = plots.leaderboard_bars(rows[3:], dataset="course-sts", title=FINDING).axes[0]
    assert "not measured" not in ax.get_xlabel() and ax.lines[0].get_xdata() == pytest.approx([30, 30])


def test_negative_scores_are_inside_the_axes():
    row = LeaderboardRow("bad", "l", {"s": {"spearman": -0.3, "interval": [-0.4, -0.2]}}, 1, 0.1, 0, "laptop", {})
    low, high = plots.leaderboard_bars([row], dataset="s", title=FINDING).axes[0].get_xlim()
    assert low <= -40 and high > low


def test_no_rows_and_unknown_sets_are_refused(rows):
    with pytest.raises(ValueError, match=r"rows holds 0 rows.*Leaderboard\(\).add"):
        plots.leaderboard_bars([], dataset="stsb", title="x")
    with pytest.raises(ValueError, match="dataset='stsbb' is unknown. Did you mean 'stsb'"):
        plots.leaderboard_bars(rows, dataset="stsbb", title="x")
    with pytest.raises(ValueError, match="rows holds 0 rows"):
        plots.leaderboard_explorer([], title="x")


def test_explorer_has_a_menu_of_sets_and_shows_the_first(rows):
    fig = plots.leaderboard_explorer(rows, title=FINDING)
    assert [trace.visible for trace in fig.data] == [True, False]
    assert [b.label for b in fig.layout.updatemenus[0].buttons] == ["stsb", "course-sts"]
    assert list(fig.data[0].x) == [47, 55, 58] and list(fig.data[0].error_x.array) == pytest.approx([3, 3, 3])
    assert len(plots.leaderboard_explorer(rows[:3], title="x").layout.updatemenus) == 0


def test_names_in_the_explorer_are_escaped(rows):
    row = LeaderboardRow("<b>x</b>", "a&b", {"<i>": {"spearman": 0.5}}, 1, 0.1, 0, "laptop", {})
    stored = json.dumps(json.loads(plots.leaderboard_explorer([row], title="<u>t</u>").to_json()), ensure_ascii=False)
    assert "<i>" not in stored and "<u>" not in stored and "<b>x" not in stored and "&lt;b&gt;x" in stored
