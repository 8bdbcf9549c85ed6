"""Clouds at each step of whitening, covariance as a picture, and the score over β and γ."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import plots

from .conftest import FINDING

CLOUD = np.random.default_rng(0).normal(size=(900, 2)) @ [[3, 0], [2, 1]] + 4
SCORES = np.array([[50.0, 52.0, 51.0], [50.0, 60.5, 58.0]])


def test_every_step_has_the_same_scale_and_its_own_ellipse():
    fig = plots.whitening_steps({"before": CLOUD, "after": (CLOUD - 4) / 3}, title=FINDING, marked=[5])
    assert [ax.get_title() for ax in fig.axes] == ["before", "after"] and fig.axes[0].get_xlim() == fig.axes[1].get_xlim()
    ellipse = fig.axes[0].lines[1].get_xydata()
    inside = np.linalg.inv(np.cov(CLOUD.T))
    assert np.allclose([(p - CLOUD.mean(axis=0)) @ inside @ (p - CLOUD.mean(axis=0)) for p in ellipse], 1)
    assert len(fig.axes[0].lines[0].get_xdata()) <= 400
    followed = next(line for line in fig.axes[1].lines if line.get_marker() == "^")
    assert np.allclose(followed.get_xydata(), (CLOUD[5] - 4) / 3)


def test_all_covariances_share_their_colours_and_large_ones_show_their_first_columns():
    fig = plots.covariance_maps({"a": np.diag(np.arange(1.0, 101)), "b": np.eye(3)}, title=FINDING)
    images = [ax.images[0] for ax in fig.axes[:2]]
    assert images[0].get_array().shape == (64, 64) and images[0].get_clim() == images[1].get_clim() == (-64, 64)
    assert plots.covariance_maps({"b": np.eye(3)}, title=FINDING, limit=2).axes[0].images[0].get_clim() == (-2, 2)


def test_the_best_choice_is_outlined_in_the_map_and_marked_on_the_surface():
    ax = plots.parameter_map(SCORES, [0, 1], [0, 0.5, 1], title=FINDING).axes[0]
    assert [patch.get_xy() for patch in ax.patches] == [(0.54, 0.56)]
    surface, best = plots.parameter_surface(SCORES, [0, 1], [0, 0.5, 1], title=FINDING).data
    assert (best.x[0], best.y[0], best.z[0]) == (0.5, 1.0, 60.5) and np.allclose(np.array(surface.z), SCORES)


@pytest.mark.parametrize(("call", "said"), [
    (lambda: plots.whitening_steps({"a": CLOUD}, title="x"), "panels holds 1 clouds"),
    (lambda: plots.whitening_steps({"a": CLOUD, "b": CLOUD[:5]}, title="x"), "of as many points each"),
    (lambda: plots.whitening_steps({"a": CLOUD, "b": CLOUD}, title="x", marked=[900]), "marked"),
    (lambda: plots.covariance_maps({"a": np.ones((2, 3))}, title="x"), "square ones"),
    (lambda: plots.parameter_surface(SCORES, [0], [0, 1], title="x"), "scores has shape"),
])
def test_V_what_does_not_fit_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
