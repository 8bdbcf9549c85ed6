"""Common directions against an exact decomposition, at every scale and for vectors that hardly
differ.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import generator
from lessons_lib.sentences.directions import SecondMoment, common_directions, remove


def of(x, n):
    """Directions of a matrix that comes in three uneven blocks."""
    blocks = np.array_split(x.astype(np.float32), [3, len(x) // 2])
    moment = SecondMoment(x.shape[1], float(np.abs(x).max(initial=0)))
    for block in blocks:
        moment.add(block)
    return common_directions(moment, n, lambda: blocks)


def vectors(n=500, dim=12, seed=0):
    rng = generator(seed)
    return rng.normal(size=(n, dim)) * np.linspace(2, 0.5, dim) + rng.normal(size=dim)


def exact(x, n):
    _, s, c = np.linalg.svd(x.astype(np.float32).astype(np.float64), full_matrices=False)
    c = c[:n] * np.sign(c[np.arange(n), np.abs(c[:n]).argmax(axis=1)])[:, None]
    return c, s[:n]


@pytest.mark.parametrize("n", [1, 4, 11])
def test_they_are_the_right_singular_vectors_of_the_uncentred_matrix(n):
    found, (c, s) = of(vectors(), n), exact(vectors(), n)
    # the gaps between their strengths are small
    np.testing.assert_allclose(found.components, c, atol=1e-5)
    np.testing.assert_allclose(found.singular_values, s, rtol=1e-6)


def test_they_are_no_principal_components_unless_the_mean_is_zero():
    x = vectors()
    centred = x - x.mean(axis=0)
    assert abs(of(x, 1).components[0] @ of(centred, 1).components[0]) < 0.99
    cosine = of(x, 1).components[0] @ x.mean(axis=0) / np.linalg.norm(x.mean(axis=0))
    assert abs(cosine) > abs(
        of(centred, 1).components[0] @ x.mean(axis=0) / np.linalg.norm(x.mean(axis=0)))


@given(st.floats(-37, 37))
def test_the_scale_of_vectors_changes_singular_values_only(exponent):
    x = vectors(60, 5)
    found, plain = of(x * 10.0**exponent, 2), of(x, 2)
    np.testing.assert_allclose(found.components, plain.components, atol=1e-4)
    np.testing.assert_allclose(found.singular_values, plain.singular_values * 10.0**exponent,
                               rtol=1e-4)


@pytest.mark.parametrize(("x", "rank"), [(np.zeros((5, 4)), 0), (np.ones((1, 4)), 1),
                                         (np.tile([1.0, 2.0, 0.5, 0.1], (70, 1)), 1),
                                         (np.eye(4)[:2], 2),
                                         (np.tile(np.eye(4)[:2] + 0.3, (5000, 1)), 2),
                                         (np.zeros((0, 4)), 0)])
def test_V15_always_one_direction_fewer_than_the_vectors_span(x, rank):
    found = of(x, 3)
    assert found.rank == rank and len(found.components) == len(found.singular_values) == max(
        rank - 1, 0)
    assert np.isfinite(found.components).all()


def test_V15_vectors_that_differ_in_rounding_only_span_one_direction():
    x = np.tile(vectors(1, 6), (9, 1)) * (1 + 1e-7 * generator(1).normal(size=(9, 6)))
    assert of(x, 1).rank == 1


def test_a_direction_as_weak_as_a_thousandth_is_found_and_none_is_invented():
    basis = np.linalg.qr(generator(2).normal(size=(6, 6)))[0][:2]
    x = generator(3).normal(size=(400, 2)) * [1000.0, 1.0] @ basis
    found = of(x, 2)
    assert found.rank == 2 and len(found.components) == 1
    np.testing.assert_allclose(found.components, exact(x, 1)[0], atol=2e-6)


def test_no_directions_were_asked_for():
    assert of(vectors(), 0).components.shape == (0, 12)


def test_what_is_removed_is_gone_and_a_second_time_nothing_is():
    x, found = vectors().astype(np.float32), of(vectors(), 3)
    remove(x, found.components, np.ones(3))
    assert np.abs(x @ found.components.T).max() < 2e-6
    again = x.copy()
    remove(again, -found.components, np.ones(3))
    np.testing.assert_allclose(again, x, atol=2e-6)


def test_a_share_of_a_direction_leaves_the_rest_of_it():
    x, found = vectors().astype(np.float32), of(vectors(), 2)
    before = x @ found.components.T
    remove(x, found.components, np.array([0.75, 0.25]))
    np.testing.assert_allclose(x @ found.components.T, before * [0.25, 0.75], atol=1e-5)
