"""Cosine in a basis: coordinates against the vectors themselves, the worst that can happen, and
whitening as a choice of metric.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import isotropy


def cosines(a, b):
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(0, 3))
def test_the_metric_gives_what_the_vectors_themselves_give(seed, k, more):
    rng = np.random.default_rng(seed)
    basis, (x, y) = rng.normal(size=(k, k + more)) + 0.3, rng.normal(size=(2, 5, k))
    g = isotropy.gram(basis)
    assert isotropy.inner_product(x, y, g) == pytest.approx(((x @ basis) * (y @ basis)).sum(axis=1),
                                                            abs=1e-9)
    assert isotropy.cosine_in_basis(x, y, basis) == pytest.approx(cosines(x @ basis, y @ basis),
                                                                  abs=1e-6)


def test_coordinates_give_the_true_cosine_in_an_orthonormal_basis_of_any_unit(cloud, rotation):
    x, y = cloud(20, 8), cloud(20, 8, seed=1)
    for basis in (np.eye(8), rotation(), 7 * rotation()):
        assert isotropy.cosine_in_basis(x, y, basis) == pytest.approx(cosines(x, y), abs=1e-12)
        assert isotropy.worst_cosine(basis) == pytest.approx(0, abs=1e-12)
    assert isotropy.cosine_under(x, y, np.eye(8)) == pytest.approx(cosines(x, y), abs=1e-12)


def test_in_a_skewed_basis_orthogonal_coordinates_are_not_orthogonal_vectors():
    skewed = [[1.0, 0.0], [np.cos(np.pi / 3), np.sin(np.pi / 3)]]
    assert isotropy.cosine_in_basis([[1.0, 0.0]], [[0.0, 1.0]], skewed)[0] == pytest.approx(
        0.5, abs=1e-12)
    stretched = [[10.0, 0.0], [0.0, 1.0]]  # orthogonal, of different units
    assert isotropy.cosine_in_basis([[1.0, 1.0]], [[1.0, -1.0]], stretched)[0] == pytest.approx(
        99 / 101, abs=1e-12)


def test_the_worst_cosine_is_reached_and_never_passed(cloud):
    basis = cloud(3, 3, seed=4)
    worst = isotropy.worst_cosine(basis)
    x = np.random.default_rng(0).normal(size=(4000, 3))
    # at right angles to x, by coordinates
    y = np.cross(x, np.random.default_rng(1).normal(size=(4000, 3)))
    assert np.abs((x * y).sum(axis=1)).max() < 1e-9
    assert np.abs(isotropy.cosine_in_basis(x, y, basis)).max() <= worst + 1e-12
    values, vectors = np.linalg.eigh(isotropy.gram(basis))
    a, b = vectors[:, 0] + vectors[:, -1], vectors[:, -1] - vectors[:, 0]
    assert isotropy.cosine_in_basis(a[None], b[None], basis)[0] == pytest.approx(worst, abs=1e-9)
    assert worst == pytest.approx((values[-1] / values[0] - 1) / (values[-1] / values[0] + 1),
                                  abs=1e-12)


def test_whitened_cosines_do_not_depend_on_the_basis_that_the_vectors_are_written_in(cloud):
    x, change = cloud(200, 5, mean=1.0), cloud(5, 5, seed=3)
    found = []
    for table in (x, x @ change):
        mean, metric = isotropy.estimated_metric(table)
        found.append(isotropy.cosine_under(table[:50] - mean, table[50:100] - mean, metric))
    assert found[1] == pytest.approx(found[0], abs=1e-8)


def test_V02_and_V03_and_V04_zero_equal_huge_and_tiny_coordinates():
    basis, x = [[1.0, 0.5], [0.0, 2.0]], np.array([[0.0, 0.0], [3.0, 4.0]])
    assert isotropy.cosine_in_basis(x, x[::-1], basis).tolist() == [0, 0]
    assert 1 >= isotropy.cosine_in_basis(x, x, basis)[1] == pytest.approx(1, abs=1e-12)
    y = np.array([[1.0, 1.0], [-1.0, 2.0]])
    for scale in (4e307, 1e200, 1e-300):
        assert isotropy.cosine_in_basis(scale * x, y, basis) == pytest.approx(
            isotropy.cosine_in_basis(x, y, basis), abs=1e-12)
