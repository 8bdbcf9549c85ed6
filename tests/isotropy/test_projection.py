"""The cone: projections of the uncentred table, its angle, and the narrowest sector of a plane."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import isotropy


@pytest.mark.parametrize("dim", [2, 3])
def test_points_are_coordinates_along_the_uncentred_right_singular_vectors(cloud, dim):
    x = cloud(mean=0.5)
    found, (_, values, vectors) = isotropy.cone(x, dim=dim), np.linalg.svd(x, full_matrices=False)
    assert np.abs(found.points) == pytest.approx(np.abs(x @ vectors[:dim].T), abs=1e-10)
    assert found.shares == pytest.approx(values[:dim] ** 2 / (values**2).sum(), abs=1e-12)
    assert found.axes @ found.axes.T == pytest.approx(np.eye(dim), abs=1e-12)
    assert found.points == pytest.approx(x @ found.axes.T, abs=1e-12)
    for sign in (1, -1):                     # most rows lie on the positive side
        assert isotropy.cone(sign * cloud(mean=1.0)).points[:, 0].min() > 0


def test_a_common_mean_makes_a_cone_and_centring_would_hide_it(cloud):
    x = cloud(500, 30, mean=2.0)
    narrow, hidden = isotropy.cone(x), isotropy.cone(x - x.mean(axis=0))
    assert narrow.shares[0] > 0.75 and hidden.shares[0] < 0.1
    assert isotropy.narrowest_sector(narrow.points)[1] < 40 < 250 < isotropy.narrowest_sector(
        hidden.points)[1]
    assert narrow.angle < 40 < 75 < hidden.angle


def test_shares_and_angle_do_not_depend_on_the_basis(cloud, rotation):
    x = cloud(mean=0.4)
    turned, before = isotropy.cone(3 * x @ rotation()), isotropy.cone(x)
    assert turned.shares == pytest.approx(before.shares, abs=1e-12)
    assert turned.angle == pytest.approx(before.angle, abs=1e-8)
    assert np.abs(turned.points) == pytest.approx(3 * np.abs(before.points), abs=1e-9)


@pytest.mark.parametrize(("x", "angle"),
                         [([[1.0, 0.0], [5.0, 0.0]], 0), ([[1.0, 0.0], [0.0, 3.0]], 45),
                          ([[1.0, 0.0], [-1.0, 0.0]], 180), ([[1.0, 1.0], [0.0, 0.0]], 0)])
def test_the_angle_of_known_directions(x, angle):
    assert isotropy.cone_angle(x) == pytest.approx(angle, abs=1e-6)


def test_the_cone_holds_the_share_it_was_asked_for(cloud):
    x = cloud(200, 6, mean=0.5)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    mean = unit.sum(axis=0) / np.linalg.norm(unit.sum(axis=0))
    angles = np.degrees(np.arccos(unit @ mean))
    for share in (0.5, 0.95, 1.0):
        assert (angles <= isotropy.cone_angle(x, share=share) + 1e-9).mean() == pytest.approx(
            share, abs=0.005)


def test_a_sector_may_lie_across_the_half_turn():
    begin, width = isotropy.narrowest_sector([[-1.0, 0.1], [-1.0, -0.1]])
    assert width == pytest.approx(2 * np.degrees(np.arctan(0.1)), abs=1e-9)
    assert begin == pytest.approx(180 - width / 2, abs=1e-9)
    # a point at the origin has no direction
    assert isotropy.narrowest_sector([[0.0, 0.0], [2.0, 0.0]]) == (0.0, 0.0)


@given(st.lists(st.integers(-180, 179), min_size=1, max_size=12), st.sampled_from([0.5, 0.9, 1.0]))
def test_no_sector_that_begins_at_a_point_is_narrower(angles, share):
    points = np.column_stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))])
    begin, width = isotropy.narrowest_sector(points, share=share)
    need = int(np.ceil(share * len(angles)))
    assert sum((a - begin + 1e-6) % 360 <= width + 1e-5 for a in angles) >= need
    others = [np.sort((np.array(angles) - a) % 360)[need - 1] for a in angles]
    assert width == pytest.approx(min(others), abs=1e-6)
