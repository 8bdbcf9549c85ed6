"""Figures about flows: areas are those of the map, histograms have the height of densities, and lines hold what was given."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("matrix", [[[1.0, 1.0], [0.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]])
def test_the_heading_has_the_determinant_as_signed_area(matrix):
    fig = plots.deformed_plane(lambda p: p @ np.array(matrix).T, title=FINDING)
    before, after = (ax.get_title() for ax in fig.axes)
    area = f"{round(np.linalg.det(matrix), 2) + 0.0:.2f}".replace("-", "−")
    assert before == "z: signed area 1.00" and after == f"x: signed area {area}"


def test_signed_area_is_that_of_the_shape_wherever_it_lies():
    angle = np.linspace(0, 2 * np.pi, 2001)[:-1]
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * 3 + [10, -4]
    assert plots.signed_area(circle) == pytest.approx(9 * np.pi, rel=1e-5) and plots.signed_area(circle[::-1]) == pytest.approx(-9 * np.pi, rel=1e-5)


def test_a_map_that_loses_points_is_refused():
    with pytest.raises(ValueError, match="expected one for each"):
        plots.deformed_plane(lambda p: p[1:], title=FINDING)


def test_a_histogram_has_the_height_of_a_density_also_when_numbers_lie_outside_the_frame():
    drawn, places = RNG.uniform(size=100_000) * 2, np.linspace(0, 1, 50)
    ax = plots.density_panels({"x": (drawn, places, np.full(50, 0.5))}, title=FINDING, bins=10).axes[0]
    heights = ax.patches[0].get_data().values
    assert np.allclose(heights, 0.5, atol=0.03) and np.allclose(ax.lines[0].get_ydata(), 0.5)


@pytest.mark.parametrize(("places", "heights", "said"), [([0, 1, 1], [1, 1, 1], "rising places"), ([0, 1, 2], [1, 1], "2 densities"),
                                                         ([0, 1, 2], [1, -1, 1], "the least -1")])
def test_a_curve_that_is_no_density_is_refused(places, heights, said):
    with pytest.raises(ValueError, match=said):
        plots.density_panels({"x": (np.arange(5.0), np.array(places, float), np.array(heights, float))}, title=FINDING)


def test_densities_are_drawn_where_they_belong():
    places = np.linspace(-1, 1, 21)
    heights = np.exp(-((places[None, :] - 0.5) ** 2 + (places[:, None] + 0.5) ** 2) * 20)          # a hill at (0.5, -0.5)
    ax = plots.density_maps({"hill": (RNG.normal(size=(2000, 2)), places, heights)}, title=FINDING, most_dots=100).axes[0]
    top = [path for path in ax.collections[0].get_paths() if len(path.vertices)][-1].vertices
    assert np.allclose(top.mean(axis=0), [0.5, -0.5], atol=0.1) and len(ax.lines[0].get_xdata()) <= 100


def test_likelihood_and_score_have_a_panel_each():
    left, right = plots.likelihood_and_score([0, 1, 2], {"learned": [3, 2, 1]}, {"dev": [50, 60, 55]}, title=FINDING).axes
    assert left.lines[0].get_ydata().tolist() == [3, 2, 1] and right.lines[0].get_ydata().tolist() == [50, 60, 55]
    with pytest.raises(ValueError, match="expected one each"):
        plots.likelihood_and_score([0, 1, 2], {"learned": [3, 2]}, {"dev": [50, 60, 55]}, title=FINDING)


def test_too_many_panels_are_refused():
    part = (np.arange(5.0), np.arange(3.0), np.ones(3))
    with pytest.raises(ValueError, match="expected 1 to 3"):
        plots.density_panels({str(k): part for k in range(4)}, title=FINDING)
