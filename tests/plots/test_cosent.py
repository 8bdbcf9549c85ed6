"""Pulls of losses on cosines, parts of an error, the bounds of a smooth maximum, and scores over training."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

GRADES, COSINES = [0, 1, 2, 3], [0.6, 0.5, 0.7, 0.9]
SCALES, RISING = [1, 10, 100], [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]


def test_an_arrow_points_against_the_gradient_and_pairs_without_a_pull_are_hollow():
    fig = plots.pulls(GRADES, COSINES, {"a": [1.0, -0.5, 0.0, 0.0], "b": [0, 0, 0, 1]}, title=FINDING, target="b")
    left, right = fig.axes
    ends = [note.xy for note in left.texts if note.arrow_patch is not None]
    assert len(ends) == 2 and ends[0][1] < 0.6 and ends[1][1] > 0.5 and np.isclose(0.6 - ends[0][1], 2 * (ends[1][1] - 0.5))
    assert left.lines[-1].get_xdata().tolist() == [2, 3] and left.lines[-1].get_markerfacecolor() == "white"
    assert right.lines[0].get_linestyle() == "--" and "cosine = target" in [note.get_text() for note in right.texts]


def test_bars_are_as_long_as_the_sum_of_their_parts():
    ax = plots.error_parts({"a": {"level": 0.1, "order": 0.3}, "b": {"level": 0.0, "order": 0.2}}, title=FINDING).axes[0]
    first = [patch for patch in ax.patches if np.isclose(patch.get_y() + patch.get_height() / 2, 0)]
    assert np.isclose(max(patch.get_x() + patch.get_width() for patch in first), 0.4)
    assert [text.get_text() for text in ax.texts] == ["25%", "75%", "100%"]


def test_the_band_lies_between_the_worst_violation_and_its_bound():
    ax = plots.loss_bounds(SCALES, {"shuffled": [0.9, 0.3, 0.21], "in order": [0.5, 0.01, 0.0]}, title=FINDING, worst=0.2, n_terms=6).axes[0]
    ceiling = ax.lines[0].get_ydata()
    assert np.allclose(ceiling, 0.2 + np.log(7) / np.array(SCALES)) and ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.texts][1:] == ["worst violation", "shuffled", "in order"]


def test_a_line_is_the_mean_over_seeds_and_a_control_has_the_colour_of_its_objective():
    ax = plots.objective_curves([0, 5, 10], {"CoSENT": RISING, "cosine": [1, 2, 2], "CoSENT, untrained": RISING}, title=FINDING, ylabel="score",
                                dashed=["CoSENT, untrained"]).axes[0]
    own, _, control = ax.lines
    assert np.allclose(own.get_ydata(), [2, 3, 4]) and control.get_color() == own.get_color() and control.get_linestyle() == "--"
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert np.isclose(band.max(), 4 + np.sqrt(2))


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.pulls(GRADES, COSINES, {"a": [1.0]}, title="x"), "1 or 2, with a number for each"),
    (lambda: plots.pulls(GRADES, COSINES, {"a": COSINES}, title="x", target="b"), "target='b'"),
    (lambda: plots.error_parts({"a": {"level": -1.0}}, title="x"), "below 0"),
    (lambda: plots.error_parts({"a": {"x": 1.0}, "b": {"y": 1.0}}, title="x"), "the same parts"),
    (lambda: plots.loss_bounds([1, 1], {"a": [1, 2]}, title="x", worst=0.1, n_terms=3), "that rise"),
    (lambda: plots.objective_curves([0, 1], {"a": [1, 2, 3]}, title="x", ylabel="y"), "a column for each step"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
