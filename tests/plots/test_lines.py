"""Lines: they hold the numbers given, their names stand at their ends, log axes have words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from lessons_lib import plots

from .conftest import draw, texts, tick_names

CUT = {"nested": ([8, 256], [40, 54]), "raw": ([8, 256], [26, 46]),
       "raw, untrained": ([8, 256], [38, 52])}


@given(st.floats(-3, 3), st.floats(0.01, 100))
def test_power_law_recovers_exponent_and_factor(exponent, factor):
    x = np.geomspace(1, 500, 20)
    result, scale = plots.power_law(x, factor * x**exponent)
    assert result == pytest.approx(exponent, abs=1e-9)
    assert scale == pytest.approx(factor, rel=1e-9)


def test_zipf_sorts_counts_writes_the_fitted_slope_and_names_words_of_its_own_order():
    rank = np.arange(1, 2001)
    counts = (1e6 / rank).round()
    order = np.random.default_rng(0).permutation(2000)
    ax = draw("zipf", counts=counts[order], words=[f"rank{r}" for r in rank[order]]).axes[0]
    assert {"rank1", "rank10", "rank100", "rank1000"} <= set(texts(ax))
    assert "slope −1.00" in texts(ax)[0]
    x, y = ax.lines[0].get_data()
    assert (y == counts[np.asarray(x) - 1]).all()


def test_heaps_names_each_curve_at_its_end_with_its_exponent():
    x = np.geomspace(10, 1e5, 30)
    ax = draw("heaps", curves={"square root": (x, x**0.5), "linear": (x, x)}).axes[0]
    assert texts(ax) == ["square root\n(exponent 0.50)", "linear\n(exponent 1.00)"]


def test_score_curves_name_every_line_at_its_end_and_tick_every_size():
    curves = {"$a$": ([1, 10], [0.2, 0.6]), "b": ([1, 10, 100], [0.1, 0.5, 0.6])}
    ax = draw("score_curves", curves=curves, xlabel="k", levels={"counts": 0.6}).axes[0]
    assert texts(ax) == [r"\$a\$", "b", "counts"]
    assert ax.get_xticks().tolist() == [1, 10, 100] and ax.get_xlabel() == "k (log scale)"
    b, counts = (text.xyann[1] for text in ax.texts[1:])
    assert abs(b - counts) >= 15                    # b and the level line end in one point
    few = draw("score_curves", curves={"a": ([90, 300, 1e6], [1, 2, 3])}, ticks=[100, 1e6])
    assert tick_names(few.axes[0].xaxis) == ["100", "1 M"]
    assert draw("score_curves", log=False, xlabel="k").axes[0].get_xlabel() == "k"


def test_both_axes_of_costs_are_logarithmic():
    ax = draw("cost_curves", curves={"x": ([1, 10], [2, 20])}).axes[0]
    assert ax.get_xscale() == ax.get_yscale() == "log" and tick_names(ax.xaxis) == ["1", "10"]


def test_the_best_value_is_a_diamond_and_the_nearly_best_are_thick():
    ax = draw("tuning_curves", scores={"x": [1.0, 3.0, 2.8]}).axes[0]
    best = next(line for line in ax.lines if line.get_marker() == "D")
    thick = next(line for line in ax.lines if line.get_linewidth() > 5).get_ydata()
    assert np.allclose(best.get_xydata(), [[10, 3.0]])
    assert np.isnan(thick[0]) and np.allclose(thick[1:], [3.0, 2.8])
    assert texts(ax) == ["theory", "x"]


@pytest.mark.parametrize(("names", "at"), [("end", -1), ("start", 0)])
def test_a_line_that_is_like_another_has_its_colour_and_hollow_marks(names, at):
    ax = draw("cut_curves", curves=CUT, like={"raw, untrained": "raw"}, names=names).axes[0]
    nested, raw, twin = ax.lines
    assert twin.get_color() == raw.get_color() != nested.get_color()
    assert (twin.get_markerfacecolor(), twin.get_linestyle()) == ("white", "--")
    assert [text.xy for text in ax.texts] == [(x[at], y[at]) for x, y in CUT.values()]
    assert ax.get_xlim()[0] < (8 if names == "end" else 4)


def test_models_of_different_depths_end_at_the_same_place():
    curves = {"ours": (range(5), [0.1, 0.2, 0.3, 0.4, 0.5])}
    ax = draw("layer_lines", curves=curves, published={"ELMo": (range(3), [0, 0.1, 0.2])}).axes[0]
    assert [line.get_xdata()[-1] for line in ax.lines] == [1, 1]
    assert ax.lines[1].get_color() == plots.GREY != ax.lines[0].get_color()
    assert texts(ax) == ["ours", "ELMo"]
    whole = draw("layer_lines", curves=curves, published=None, relative=False).axes[0]
    assert whole.lines[0].get_xdata().tolist() == [0, 1, 2, 3, 4]


def test_the_names_of_lines_that_end_together_stand_apart():
    ax = draw("layer_lines", published={name: (range(3), [0, 0, 0.5]) for name in "abcd"}).axes[0]
    assert (np.diff(sorted(text.xyann[1] for text in ax.texts)) >= 14).all()


def test_the_untrained_model_stands_at_the_left_end_of_a_log_axis():
    ax = draw("film", steps=(0, 4e5, 1e7), curves={"a": [0, 0.1, 0.2]}).axes[0]
    x = ax.lines[0].get_xdata()
    assert 0 < x[0] < x[1] == 4e5 and ax.get_xscale() == "log"
    assert tick_names(ax.xaxis) == ["untrained", "1 M", "10 M"]
    trained = draw("film", steps=(1e5, 1e6, 1e7), curves={"a": [0, 0.1, 0.2]}).axes[0]
    assert tick_names(trained.xaxis)[0] == "100 k"


def test_spectra_start_at_1_on_log_axes_and_zeros_are_left_out():
    ax = draw("singular_spectrum", curves={"a": [4.0, 2.0, 1.0], "b": [5.0, 1.0, 0.0]}).axes[0]
    assert ax.get_xscale() == ax.get_yscale() == "log" and texts(ax) == ["a", "b"]
    assert [line.get_ydata().tolist() for line in ax.lines[:2]] == [[1, 0.5, 0.25], [1, 0.2]]


def test_the_band_lies_between_the_worst_violation_and_its_bound():
    ax = draw("loss_bounds").axes[0]
    assert np.allclose(ax.lines[0].get_ydata(), 0.2 + np.log(7) / np.array([1, 10, 100]))
    assert ax.get_xscale() == "log"
    assert texts(ax)[1:] == ["worst violation", r"\$shuffled\$", "in order"]


def test_the_roof_is_the_smaller_of_the_two_limits_and_the_ridge_is_named():
    ax = draw("roofline", flops=2e11, bandwidth=1e10, name="products").axes[0]
    x, y = ax.lines[0].get_data()
    assert np.allclose(y, np.minimum(2e11, 1e10 * np.asarray(x)))
    assert {"ridge: 20", "products: 200 GFLOP/s", "memory: 10 GB/s"} <= set(texts(ax))


def test_each_dot_says_its_share_of_the_roof_above_it():
    dots = {"left": (2.0, 5e9), "right": (100.0, 1e11)}
    ax = draw("roofline", flops=2e11, bandwidth=1e10, dots=dots).axes[0]
    assert {"left\n25% of its roof", "right\n50% of its roof"} <= set(texts(ax))


@given(st.floats(-3, 5), st.floats(-3, 5))
def test_a_bound_lies_on_the_roof_wherever_it_is(log_intensity, log_ridge):
    intensity, ridge = 10**log_intensity, 10**log_ridge
    fig = draw("roofline bounds", flops=1e12, bandwidth=1e12 / ridge, bounds={"kernel": intensity})
    x, y = fig.axes[0].lines[-1].get_data()
    assert y[0] == pytest.approx(min(1e12, x[0] * 1e12 / ridge))
    assert x[0] == pytest.approx(intensity)


def test_labels_of_dots_at_one_place_do_not_cover_each_other():
    fig = draw("roofline", dots={"one": (20.0, 5e10), "two": (22.0, 5e10)})
    fig.draw_without_rendering()
    first, second = (Text.get_window_extent(text) for text in fig.axes[0].texts
                     if "of its roof" in text.get_text())       # without its leader line
    assert not first.overlaps(second)


def test_memory_is_written_where_the_marked_size_meets_each_line():
    n = np.geomspace(1000, 1e5, 9)
    ax = draw("memory_growth", curves={"table": (n, 10 * n**2)}, mark=32_768).axes[0]
    assert {"10.7 GB", "32,768", "a laptop: 8 GB", "table"} <= set(texts(ax))


def test_measured_dots_take_the_colour_of_their_line():
    n = np.array([1e3, 1e5])
    ax = draw("memory_growth", curves={"a": (n, n), "b": (n, 2 * n)},
              measured={"b": ([1e3], [2e3])}).axes[0]
    a, b, dot = ax.lines[:3]
    assert dot.get_color() == b.get_color() != a.get_color() and dot.get_linestyle() == "None"
