"""Figures about layers, training and cosines: depths compare, the untrained model has a place, hills keep their order."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING


def lines(**options):
    return plots.layer_lines({"ours": (range(5), [0.1, 0.2, 0.3, 0.4, 0.5])}, title=FINDING, ylabel="mean cosine", **options).axes[0]


def film(steps=(0, 4e5, 1e7), **curves):
    return plots.film(steps, curves or {"a": [0, 0.1, 0.2], "b": [0, -0.5, -0.9]}, title=FINDING, ylabel="value").axes[0]


def test_models_of_different_depths_end_at_the_same_place():
    ax = lines(published={"ELMo": (range(3), [0.0, 0.1, 0.2])})
    assert [line.get_xdata()[-1] for line in ax.lines] == [1, 1] and ax.lines[1].get_color() == plots.GREY != ax.lines[0].get_color()
    assert [text.get_text() for text in ax.texts] == ["ours", "ELMo"]
    assert lines(relative=False).lines[0].get_xdata().tolist() == [0, 1, 2, 3, 4]


def test_the_names_of_lines_that_end_together_stand_apart():
    ax = lines(published={name: (range(3), [0, 0, 0.5]) for name in "abcd"})
    heights = sorted(text.xyann[1] for text in ax.texts)
    assert (np.diff(heights) >= 14).all()


def test_the_untrained_model_stands_at_the_left_end_of_a_log_axis():
    ax = film()
    x = ax.lines[0].get_xdata()
    assert 0 < x[0] < x[1] == 4e5 and ax.get_xscale() == "log"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["untrained", "1 M", "10 M"]
    assert film(steps=(1e5, 1e6, 1e7)).get_xticklabels()[0].get_text() == "100 k"


def test_hills_stand_from_top_to_bottom_with_their_medians():
    ax = plots.similarity_histogram({"high": np.linspace(0.9, 1, 101), "wide": np.linspace(-0.5, 0.9, 101)}, title=FINDING).axes[0]
    places = {tick.get_text(): place for place, tick in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    assert places["high"] > places["wide"] and [text.get_text() for text in ax.texts] == ["median 0.95", "median 0.20"]
    assert ax.get_xlim()[0] == pytest.approx(-0.497, abs=0.01)


def test_the_best_cell_of_the_heat_map_is_outlined():
    fig = plots.layer_pooling_heatmap([[1.0, 2.0], [30.25, 4.0], [5.0, 6.0]], [0, 1, 2], ["[CLS]", "mean"], title=FINDING)
    ax = fig.axes[0]
    assert [text.get_text() for text in ax.texts] == ["1.0", "2.0", "30.2", "4.0", "5.0", "6.0"]
    assert [patch.get_xy() for patch in ax.patches] == [(-0.46, 1 - 0.44)]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["[CLS]", "mean"] and ax.get_ylabel() == "layer"


@pytest.mark.parametrize(("call", "said"), [
    (lambda: lines(published={str(k): ([0, 1], [0, 1]) for k in range(5)}), "published holds 5 lines; expected at most 4"),
    (lambda: lines(published={"x": ([0, 0], [0, 1])}), "places >= 0 that rise"),
    (lambda: lines(published={"x": ([0, 1], [0, 1, 2])}), "2 places from 0 on and 3 values"),
    (lambda: plots.layer_lines({}, title="x", ylabel="y"), "0 lines"),
    (lambda: plots.film([0, 1], {"a": [0, 1]}, title="x", ylabel="y"), "steps has 2 rows; expected >= 3"),
    (lambda: film(a=[0, 1]), "3 places from 0 on and 2 values"),
    (lambda: plots.film([0, 1, 2], {}, title="x", ylabel="y"), "curves holds 0 lines"),
    (lambda: plots.similarity_histogram({}, title="x"), "cosines holds 0 encoders"),
    (lambda: plots.similarity_histogram({"a": [0.0, 1.5]}, title="x"), "numbers in \\[-1, 1\\]"),
    (lambda: plots.layer_pooling_heatmap(np.ones((2, 2)), [0], ["a", "b"], title="x"), "values has shape \\(2, 2\\) for 1 labels"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
