"""Figures about kernels show the limits, dots and tiles they were given, and refuse what they cannot draw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from lessons_lib import plots
from lessons_lib.plots.kernels import rate_text

from .conftest import FINDING


def texts(fig) -> list[str]:
    return [t.get_text() for ax in fig.axes for t in ax.texts]


def test_the_roof_is_the_smaller_of_the_two_limits_and_the_ridge_is_named():
    fig = plots.roofline(2e11, 1e10, {"loss": (5.0, 1e10)}, title=FINDING, name="products")
    x, y = fig.axes[0].lines[0].get_data()
    assert np.allclose(y, np.minimum(2e11, 1e10 * np.asarray(x)))
    assert {"ridge: 20", "products: 200 GFLOP/s", "memory: 10 GB/s"} <= set(texts(fig))


def test_each_dot_says_its_share_of_the_roof_above_it():
    fig = plots.roofline(2e11, 1e10, {"left": (2.0, 5e9), "right": (100.0, 1e11)}, title=FINDING)
    assert {"left\n25% of its roof", "right\n50% of its roof"} <= set(texts(fig))


@given(st.floats(-3, 5), st.floats(-3, 5))
def test_a_bound_lies_on_the_roof_wherever_it_is(log_intensity, log_ridge):
    intensity, ridge = 10**log_intensity, 10**log_ridge
    fig = plots.roofline(1e12, 1e12 / ridge, {}, title=FINDING, bounds={"kernel": intensity})
    x, y = fig.axes[0].lines[-1].get_data()
    assert y[0] == pytest.approx(min(1e12, x[0] * 1e12 / ridge)) and x[0] == pytest.approx(intensity)


def test_labels_of_dots_at_one_place_do_not_cover_each_other():
    fig = plots.roofline(1e11, 1e10, {"one": (20.0, 5e10), "two": (22.0, 5e10)}, title=FINDING)
    fig.draw_without_rendering()
    first, second = (Text.get_window_extent(t) for t in fig.axes[0].texts if "of its roof" in t.get_text())       # without its leader line
    assert not first.overlaps(second)


@pytest.mark.parametrize("dots", [{"loss": (0.0, 1e9)}, {"loss": (1.0, -1e9)}, {"loss": (float("nan"), 1e9)}])
def test_a_dot_that_has_no_place_on_log_axes_is_refused(dots):
    with pytest.raises(ValueError, match="loss"):
        plots.roofline(1e11, 1e10, dots, title=FINDING)


@pytest.mark.parametrize(("flops", "bandwidth"), [(0.0, 1.0), (1.0, -1.0), (float("inf"), 1.0)])
def test_a_machine_without_speed_is_refused(flops, bandwidth):
    with pytest.raises(ValueError, match="flops|bandwidth"):
        plots.roofline(flops, bandwidth, {}, title=FINDING)


def test_memory_is_written_where_the_marked_size_meets_each_line():
    n = np.geomspace(1000, 1e5, 9)
    fig = plots.memory_growth({"table": (n, 10 * n**2)}, mark=32_768, limits={"a laptop": 8e9}, measured={"table": ([1000, 2000], [1e7, 4e7])},
                              title=FINDING)
    assert {"10.7 GB", "a laptop: 8 GB", "table"} <= set(texts(fig))


def test_measured_dots_take_the_colour_of_their_line():
    n = np.array([1e3, 1e5])
    fig = plots.memory_growth({"a": (n, n), "b": (n, 2 * n)}, measured={"b": ([1e3], [2e3])}, title=FINDING)
    a, b, dot = fig.axes[0].lines[:3]
    assert dot.get_color() == b.get_color() != a.get_color() and dot.get_linestyle() == "None"


@pytest.mark.parametrize("curves", [{}, {"a": ([1, 2], [1])}, {"a": ([0, 1], [1, 2])}, {"a": ([], [])}])
def test_curves_without_numbers_are_refused(curves):
    with pytest.raises(ValueError, match="curves"):
        plots.memory_growth(curves, title=FINDING)


@pytest.mark.parametrize(("n", "block", "programs"), [(70, 16, 15), (64, 16, 10), (5, 16, 1), (17, 16, 3)])
def test_the_map_numbers_every_tile_of_the_upper_triangle_once(n, block, programs):
    numbers = [int(t) for t in texts(plots.tile_map(n, block, title=FINDING)) if t.isdigit()]
    assert numbers == list(range(programs))


def test_padding_is_hatched_only_where_there_is_some():
    def hatched(n: int) -> int:
        return sum(patch.get_hatch() is not None for patch in plots.tile_map(n, 16, title=FINDING).axes[0].patches)

    assert hatched(70) == 2 and hatched(64) == 0


def test_a_map_with_too_many_tiles_to_read_is_refused():
    with pytest.raises(ValueError, match="larger blocks"):
        plots.tile_map(1000, 16, title=FINDING)


def test_lanes_at_minus_infinity_are_crossed_out_and_not_coloured():
    values = np.zeros((4, 4))
    values[1, 2] = values[3, 3] = -np.inf
    fig = plots.tile_lanes({"masked": values}, range(4), range(4), title=FINDING, n=4)
    x, y = fig.axes[0].lines[0].get_data()
    assert list(zip(y, x, strict=True)) == [(1, 2), (3, 3)]
    assert np.isnan(np.asarray(fig.axes[0].images[0].get_array().filled(np.nan)[1, 2]))


@pytest.mark.parametrize("panels", [{}, {"a": np.zeros((3, 4))}, {k: np.zeros((4, 4)) for k in "abc"}])
def test_lanes_of_another_shape_or_number_are_refused(panels):
    with pytest.raises(ValueError, match="panels"):
        plots.tile_lanes(panels, range(4), range(4), title=FINDING, n=4)


def test_errors_stand_at_the_places_of_their_settings():
    fig = plots.error_growth([0, 1, 30], {"raw": [1e-6, 1e-4, 20.0], "shifted": [1e-6] * 3}, xlabel="offset", title=FINDING)
    ax = fig.axes[0]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1", "30"]
    assert list(ax.lines[0].get_ydata()) == [1e-6, 1e-4, 20.0] and {"raw", "shifted"} <= set(texts(fig))


def test_rates_are_written_as_people_say_them():
    assert [rate_text(v) for v in (989.5e12, 1e12, 57.7e9, 3e8)] == ["990 TFLOP/s", "1 TFLOP/s", "58 GFLOP/s", "300 MFLOP/s"]


def test_a_note_stands_in_the_first_square_at_its_row_and_column():
    panels = {"one": np.zeros((4, 4)), "two": np.zeros((4, 4))}
    fig = plots.tile_lanes(panels, range(8, 12), range(20, 24), n=99, title=FINDING, notes={"here": (9, 22)})
    (note,) = [t for t in fig.axes[0].texts if t.get_text() == "here"]
    assert note.xy == (2, 1) and not any(t.get_text() == "here" for t in fig.axes[1].texts)
