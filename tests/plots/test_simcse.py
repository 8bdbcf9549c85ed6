"""Encoders and trainings on the alignment-uniformity plane."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text

from lessons_lib import plots

from .conftest import FINDING

POINTS = {f"encoder {k}": (-4 + 0.2 * k, 0.6 - 0.02 * k, 50.0 + k) for k in range(12)}
PATHS = {"dropout": ([-1.7, -2.2, -2.6], [0.2, 0.25, 0.3]), "none": ([-1.7, -2.0], [0.2, 0.22])}


def test_every_encoder_stands_at_its_place_with_its_score_as_colour_and_its_name_once():
    fig = plots.plane_of_encoders(POINTS, title=FINDING, marked=["encoder 3"])
    dots = fig.axes[0].collections[0]
    assert np.allclose(dots.get_offsets(), [p[:2] for p in POINTS.values()]) and np.allclose(dots.get_array(), [p[2] for p in POINTS.values()])
    names = [text.get_text() for text in fig.axes[0].texts]
    assert sorted(names) == sorted(POINTS)
    ring = next(line for line in fig.axes[0].lines if line.get_markersize() == 13)
    assert ring.get_xydata().tolist() == [list(POINTS["encoder 3"][:2])]


def test_names_do_not_cover_each_other_where_points_crowd():
    crowd = {f"method {k}": (-3.8 + 0.01 * k, 0.55 + 0.001 * k, 60.0) for k in range(8)} | {"far": (-0.2, 0.05, 50.0)}
    fig = plots.plane_of_encoders(crowd, title=FINDING)
    fig.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in fig.axes[0].texts]          # without its line
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.parametrize(("limits", "extend"), [(None, "neither"), ((50, 61), "neither"), ((50, 58), "max"), ((52, 70), "min"), ((52, 58), "both")])
def test_scores_beyond_the_limits_of_the_colours_are_announced_at_the_scale(limits, extend):
    fig = plots.plane_of_encoders(POINTS, title=FINDING, score_limits=limits)
    bar = fig.axes[0].collections[0].colorbar
    assert bar.extend == extend and (bar.vmin, bar.vmax) == (limits or (50, 61))


def test_a_path_begins_hollow_and_ends_filled_with_its_name():
    fig = plots.plane_of_trainings(PATHS, title=FINDING, points={"start weights": (-0.2, 0.05)})
    lines = fig.axes[0].lines
    assert lines[0].get_xydata().tolist() == [[-1.7, 0.2], [-2.2, 0.25], [-2.6, 0.3]]
    assert lines[1].get_markerfacecolor() == "white" and lines[2].get_xydata().tolist() == [[-2.6, 0.3]]
    assert [text.get_text() for text in fig.axes[0].texts] == ["start weights", "dropout", "none"]


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.plane_of_encoders({"a": (0, 0, 0)}, title="x"), "points holds 1 encoders"),
    (lambda: plots.plane_of_encoders(POINTS, title="x", marked=["b"]), "marked holds 'b'"),
    (lambda: plots.plane_of_encoders(POINTS, title="x", score_limits=(70, 40)), "score_limits=.70, 40.; expected two numbers, the lower one first"),
    (lambda: plots.plane_of_trainings({}, title="x"), "paths holds 0 trainings"),
    (lambda: plots.plane_of_trainings({"a": ([1, 2], [1, 2, 3])}, title="x"), "expected as many of each"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
