"""Bars of shares, a walk over words, weights against frequency, a setting's good region, and cones."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

PLANE = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
P = np.array([1e-4, 1e-3, 1e-2])


def test_every_share_is_a_bar_with_its_number_and_every_total_its_own_look():
    ax = plots.share_bars({"one": [0.2, 0.8], "other": [0.55, 0.45]}, ["few", "many"], title=FINDING, xlabel="band").axes[0]
    assert np.allclose([bar.get_height() for bar in ax.patches], [0.2, 0.8, 0.55, 0.45])
    assert [t.get_text() for t in ax.texts] == ["20", "80", "55", "45"]
    assert len({(bar.get_facecolor(), bar.get_hatch()) for bar in ax.patches}) == 2
    assert [t.get_text() for t in ax.get_xticklabels()] == ["few", "many"]


def test_many_bands_stay_readable_without_numbers():
    assert not plots.share_bars({"one": [0.1] * 10}, [str(k) for k in range(10)], title=FINDING, xlabel="band").axes[0].texts


def test_each_step_of_a_walk_is_tied_to_the_word_it_says_and_frequency_is_dashed():
    ax = plots.walk_map(PLANE[:2], PLANE, ["sea", "salt", "the"], [0, 2], title=FINDING, by_frequency=[False, True]).axes[0]
    ties = [line for line in ax.lines if len(line.get_xdata()) == 2][:2]
    assert np.allclose(np.column_stack(ties[1].get_data()), [PLANE[1], PLANE[2]])
    assert [line.get_linestyle() for line in ties] == ["-", "--"]
    assert [t.get_text() for t in ax.texts] == ["sea", "salt", "the", "start"]


def test_words_stand_on_their_curve_and_the_highlight_alone_is_coloured():
    curves = {"0.1": (P, 0.1 / (0.1 + P)), "0.001": (P, 1e-3 / (1e-3 + P))}
    ax = plots.frequency_weights(curves, words={"the": (1e-2, 1 / 11)}, highlight="0.001", title=FINDING).axes[0]
    assert ax.get_xscale() == "log" and np.allclose(ax.lines[2].get_xydata(), [[1e-2, 1 / 11]])
    assert [line.get_color() for line in ax.lines[:2]] == [plots.GREY, plots.LINE_COLOURS[0]]
    assert len({line.get_color() for line in plots.frequency_weights(curves, title=FINDING).axes[0].lines}) == 2


def test_the_best_value_is_a_diamond_and_the_nearly_best_are_thick():
    ax = plots.tuning_curves([1, 10, 100], {"x": [1.0, 3.0, 2.8]}, tolerance=0.5, marks={"theory": 10}, title=FINDING, xlabel="a", ylabel="y").axes[0]
    best = next(line for line in ax.lines if line.get_marker() == "D")
    thick = next(line for line in ax.lines if line.get_linewidth() > 5)
    assert np.allclose(best.get_xydata(), [[10, 3.0]])
    assert np.isnan(thick.get_ydata()[0]) and np.allclose(thick.get_ydata()[1:], [3.0, 2.8])
    assert [t.get_text() for t in ax.texts] == ["theory", "x"]


def test_a_cone_is_an_arrow_from_the_origin_for_each_vector_on_equal_axes():
    fig = plots.cone_panels({"before": PLANE, "after": -PLANE}, ["a", "b", "a"], title=FINDING, axis_names=[("u", "v"), ("v", "w")])
    assert [ax.get_title() for ax in fig.axes] == ["before", "after"] and [ax.get_xlabel() for ax in fig.axes] == ["u", "v"]
    arrows = fig.axes[0].lines[0].get_xydata().reshape(-1, 3, 2)
    assert np.allclose(arrows[:, 0], 0) and np.allclose(arrows[:, 1], PLANE[[0, 2]])
    assert all(ax.get_aspect() == 1 for ax in fig.axes)


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.share_bars({}, ["a"], title="x", xlabel="x"), "shares holds 0 totals"),
    (lambda: plots.share_bars({"a": [1.0]}, ["a", "b"], title="x", xlabel="x"), "for 2 bands"),
    (lambda: plots.walk_map(PLANE, PLANE, ["a", "b"], [0, 1, 2], title="x"), "for 3 words and 3 steps"),
    (lambda: plots.walk_map(PLANE, PLANE, ["a", "b", "c"], [0, 1, 3], title="x"), "said holds 0 to 3"),
    (lambda: plots.frequency_weights({}, title="x"), "curves holds 0 lines"),
    (lambda: plots.frequency_weights({"a": ([0.0, 1.0], [1.0, 1.0])}, title="x"), "has the frequency 0"),
    (lambda: plots.frequency_weights({"a": (P, P)}, highlight="b", title="x"), "highlight='b' is unknown"),
    (lambda: plots.tuning_curves([0, 1], {"a": [1, 2]}, tolerance=1, title="x", xlabel="x", ylabel="y"), "sizes holds 0"),
    (lambda: plots.tuning_curves([1, 2], {"a": [1]}, tolerance=1, title="x", xlabel="x", ylabel="y"), "values for 2 sizes"),
    (lambda: plots.cone_panels({"a": PLANE}, ["a"], title="x"), "for 1 labels"),
    (lambda: plots.cone_panels({}, ["a"], title="x"), "panels holds 0 pictures"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
