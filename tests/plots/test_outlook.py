"""The climb over all lessons, the sentence that has to pass through one vector, ways to learn on one scale, and vectors cut short."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

HIDES = {"encoder_hides": [False, True, False], "decoder_hides": [True, True, False]}


def climb(rows, **settings):
    families = {"counts": {"one": rows[0], "two": rows[1]}, "later": {"three": rows[2]}}
    return plots.leaderboard_climb(families, dataset="stsb", title=FINDING, **settings).axes[0]


def test_rows_keep_their_order_and_show_score_and_interval(rows):
    ax = climb(rows)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["one", "two", "three"] and ax.yaxis_inverted()
    assert {"47", "55", "58", "counts", "later"} <= {t.get_text() for t in ax.texts}
    assert any(len(line.get_xdata()) == 2 and np.allclose(line.get_xdata(), [43, 50]) for line in ax.lines)


def test_the_staircase_is_the_best_so_far_and_leaves_out_what_stands_apart(rows):
    families = {"counts": {"one": rows[2], "two": rows[0]}, "later": {"three": rows[1]}}
    steps = plots.leaderboard_climb(families, dataset="stsb", title=FINDING).axes[0].lines[0].get_xdata()
    assert np.allclose(steps, [58, 58, 58, 58, 58, 58])
    assert np.allclose(climb(rows).lines[0].get_xdata(), [47, 47, 55, 55, 58, 58])
    assert np.allclose(climb(rows, apart="later").lines[0].get_xdata(), [47, 47, 55, 55])


def test_a_control_stands_on_the_line_of_its_row_and_is_hollow(rows):
    hollow = [line for line in climb(rows, controls={"two": rows[0]}).lines if line.get_markerfacecolor() == "white"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in hollow] == [(pytest.approx(47), 1)]


def test_hidden_pieces_are_not_written_where_they_are_hidden():
    texts = [t.get_text() for t in plots.bottleneck_diagram(["a", "dog", "runs"], title=FINDING, **HIDES).axes[0].texts]
    assert texts.count("?") == 3 and texts.count("a") == 2 and texts.count("dog") == 1 and texts.count("runs") == 2


RACE = {"captions": {"as it is": (50.0, 0.0), "one": (54.0, 0.8)}, "Wikipedia": {"as it is": (50.0, 0.0), "one": (49.0, 0.7)}}


def test_a_race_has_one_scale_and_paints_no_winner():
    left, right = plots.race_dots(RACE, title=FINDING, xlabel="score", controls={"captions": {"one": (47.0, 0.0)}}).axes
    assert left.get_xlim() == right.get_xlim() and left.get_xlim()[0] < 47 < 54.8 < left.get_xlim()[1]
    filled = {line.get_color() for line in left.lines if line.get_marker() == "D"}
    assert len(filled) == 1 and [line.get_xdata()[0] for line in left.lines if line.get_marker() == "o"] == [47.0]
    assert {"50.0", "54.0"} <= {t.get_text() for t in left.texts} and "hollow" in left.get_xlabel() and "hollow" not in right.get_xlabel()


LINES = {"nested": ([8, 256], [40, 54]), "raw": ([8, 256], [26, 46]), "raw, untrained": ([8, 256], [38, 52])}


@pytest.mark.parametrize("names", ["end", "start"])
def test_a_line_that_is_like_another_has_its_colour_and_hollow_marks(names):
    ax = plots.cut_curves(LINES, title=FINDING, ylabel="score", like={"raw, untrained": "raw"}, names=names).axes[0]
    nested, raw, twin = ax.lines
    assert twin.get_color() == raw.get_color() != nested.get_color() and (twin.get_markerfacecolor(), twin.get_linestyle()) == ("white", "--")
    assert [t.xy for t in ax.texts] == [(x[-1 if names == "end" else 0], y[-1 if names == "end" else 0]) for x, y in LINES.values()]
    assert ax.get_xlim()[0] < (8 if names == "end" else 4)


@pytest.mark.parametrize(("call", "said"), [
    (lambda rows: plots.race_dots({}, title="x", xlabel="y", controls={}), "panels holds 0 panels"),
    (lambda rows: plots.race_dots({"a": {"x": (1, 0)}, "b": {"y": (1, 0)}}, title="x", xlabel="y", controls={}), "with the same rows"),
    (lambda rows: plots.race_dots({"a": {"x": (1, 0)}}, title="x", xlabel="y", controls={"b": {}}), "controls for these panels"),
    (lambda rows: plots.cut_curves(LINES, title="x", ylabel="y", like={"raw": "other"}), "each like one that has a colour of its own"),
    (lambda rows: plots.cut_curves(LINES | {"b": ([8, 64], [1, 2])}, title="x", ylabel="y"), "the same sizes in each line"),
    (lambda rows: plots.cut_curves(LINES, title="x", ylabel="y", names="above"), "names='above'"),
    (lambda rows: plots.leaderboard_climb({}, dataset="stsb", title="x"), "families holds 0 families with 0 rows"),
    (lambda rows: plots.leaderboard_climb({"a": {"x": rows[0]}, "b": {"x": rows[1]}}, dataset="stsb", title="x"), "hold a name twice"),
    (lambda rows: plots.leaderboard_climb({"a": {"x": rows[3]}}, dataset="stsb", title="x"), "'x' was not measured on dataset='stsb'; it has course"),
    (lambda rows: climb(rows, controls={"four": rows[0]}), "controls\\['four'\\] belongs to no row; expected one of one, two, three"),
    (lambda rows: climb(rows, apart="x"), "apart='x' is no family; expected one of counts, later"),
    (lambda rows: plots.bottleneck_diagram(["a"], encoder_hides=[False], decoder_hides=[True], title="x"), "pieces has 1 pieces"),
    (lambda rows: plots.bottleneck_diagram(["a", "b"], encoder_hides=[False], decoder_hides=[True, True], title="x"), "1 and 2 flags"),
    (lambda rows: plots.bottleneck_diagram(["a", "b"], encoder_hides=[True, True], decoder_hides=[False, False], title="x"), "at least one piece"),
])
def test_V_what_does_not_fit_is_named(rows, call, said):
    with pytest.raises(ValueError, match=said):
        call(rows)
