"""Figures about GloVe: ratios around one, weights above shares of cells, two scores on a line, senses against equality."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING


def ratios(values=(8.0, 0.1, 1.1)):
    return plots.ratio_bars(["law", "army", "the"], values, first="court", second="war", title=FINDING)


def weights(weight=(0.1, 1.0), cells=(0.5, 1.0)):
    return plots.weight_curves([1.0, 10.0], {"f": weight}, cells=cells, title=FINDING)


def test_bars_of_ratios_begin_at_one_on_a_log_axis_and_rise_from_bottom_to_top():
    ax = ratios().axes[0]
    bars = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linewidth() > 2]
    assert ax.get_xscale() == "log" and [x[0] for x in bars] == [1, 1, 1] and [x[1] for x in bars] == [0.1, 1.1, 8.0]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["army", "the", "law"]


def test_a_word_that_tells_nothing_is_grey():
    colours = [line.get_color() for line in ratios().axes[0].lines if line.get_linewidth() > 2]
    assert colours[1] == plots.GREY and len(set(colours)) == 3


def test_weights_and_shares_stand_on_one_log_axis():
    ax = weights().axes[0]
    assert ax.get_xscale() == "log" and [line.get_ydata().tolist() for line in ax.lines] == [[0.5, 1.0], [0.1, 1.0]]


def test_every_method_has_both_scores_on_its_line():
    ax = plots.paired_scores({"a": (1, 5), "b": (3, 3)}, names=("x", "y"), title=FINDING, xlabel="%").axes[0]
    assert [line.get_xdata().tolist() for line in ax.lines] == [[1, 3], [5, 3]] and [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    assert sorted(t.get_text() for t in ax.texts) == ["1", "3", "3", "5"]


def test_the_heading_of_senses_has_the_correlation():
    ax = plots.sense_shares({"exact": (np.array([0.1, 0.9]), np.array([0.3, 0.7]))}, title=FINDING).axes[0]
    assert ax.get_title() == "exact (r = 1.00)" and np.allclose(*ax.lines[0].get_data())


@pytest.mark.parametrize(("call", "said"), [
    (lambda: ratios((1.0, 0.0, 2.0)), "expected one > 0 each"),
    (lambda: ratios((1.0, 2.0)), "ratios has 2 values"),
    (lambda: weights(weight=(0.1, 1.1)), "in \\[0, 1\\]"),
    (lambda: weights(cells=(0.1,)), "all of 2 values"),
    (lambda: plots.paired_scores({str(k): (1, 2) for k in range(11)}, names=("x", "y"), title="x", xlabel="%"), "rows holds 11 methods"),
    (lambda: plots.sense_shares({}, title="x"), "panels holds 0 pictures"),
    (lambda: plots.sense_shares({"a": (np.ones(2), np.ones(3))}, title="x"), "2 and 3 values"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
