"""The climb over all lessons, and the sentence that has to pass through one vector."""

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


@pytest.mark.parametrize(("call", "said"), [
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
