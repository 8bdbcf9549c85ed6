"""Alignment, uniformity and cosines: closed forms, invariances, and the V rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import hyp0f1

from lessons_lib.evaluation import alignment, geometry, pair_cosines, uniformity, unit_rows
from lessons_lib.kernels.uniformity import cpu as kernel_blocks

TABLE_16_2 = {2: -1.575027, 3: -2.079777, 4: -2.414910, 8: -3.082527, 16: -3.513036, 32: -3.751805,
              64: -3.875236, 128: -3.937530}


def cloud(n: int, dim: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dim))


@pytest.mark.parametrize("dim", TABLE_16_2)
def test_uniformity_of_a_uniform_sphere_is_the_closed_form_of_table_16_2(dim):
    assert TABLE_16_2[dim] == pytest.approx(-4 + np.log(hyp0f1(dim / 2, 4.0)), abs=1e-6)
    tolerance = 0.01 if dim >= 8 else 0.05  # few dimensions: the kernel varies more between pairs
    assert uniformity(cloud(2500, dim)) == pytest.approx(TABLE_16_2[dim], abs=tolerance)


def test_uniformity_of_equal_points_antipodes_and_simplex():
    assert uniformity(np.ones((5, 3))) == pytest.approx(0, abs=1e-12)
    assert uniformity([[0.0, 2.0], [0.0, -7.0]]) == pytest.approx(-8, abs=1e-12)
    assert uniformity(np.eye(4) - 0.25) == pytest.approx(-16 / 3, abs=1e-12)
    assert uniformity(np.eye(3), t=5.0) == pytest.approx(-10, abs=1e-12)


def test_uniformity_equals_the_double_loop():
    x = cloud(40, 6)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    kernel = [np.exp(-2 * ((unit[i] - unit[j])**2).sum()) for i in range(40)
              for j in range(i + 1, 40)]
    assert uniformity(x) == pytest.approx(np.log(np.mean(kernel)), abs=1e-12)


def test_uniformity_in_blocks_equals_the_whole(monkeypatch):
    x = cloud(53, 4)
    whole = uniformity(x)
    monkeypatch.setattr(kernel_blocks, "ROWS", 9)
    monkeypatch.setattr(kernel_blocks, "COLUMNS", 7)
    assert uniformity(x) == pytest.approx(whole, abs=1e-12)
    assert uniformity(sparse.csr_array(x)) == pytest.approx(whole, abs=1e-12)


def test_alignment_is_two_minus_twice_the_mean_cosine():
    x, y = cloud(50, 7), cloud(50, 7, seed=1)
    cosines = pair_cosines(np.vstack([x, y]), np.arange(50), np.arange(50, 100))
    assert alignment(x, y) == pytest.approx(2 - 2 * cosines.mean(), abs=1e-12)
    assert alignment(x, x) == 0
    assert alignment(x, -x) == pytest.approx(4, abs=1e-12)
    assert alignment(x, -x, alpha=1) == pytest.approx(2, abs=1e-12)


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_rotation_and_length_change_neither_alignment_nor_uniformity(seed, scale):
    x, y = cloud(12, 5, seed), cloud(12, 5, seed + 1)
    rotation, _ = np.linalg.qr(cloud(5, 5, seed + 2))
    assert alignment(scale * x @ rotation, y @ rotation) == pytest.approx(alignment(x, y), abs=1e-9)
    assert uniformity(scale * x @ rotation) == pytest.approx(uniformity(x), abs=1e-9)


def test_sparse_and_dense_agree():
    x = sparse.random_array((60, 300), density=0.05, rng=np.random.default_rng(3), format="csr")
    y = sparse.random_array((60, 300), density=0.05, rng=np.random.default_rng(4), format="csr")
    left, right = np.arange(59), np.arange(1, 60)
    assert_allclose(pair_cosines(x, left, right), pair_cosines(x.toarray(), left, right),
                    atol=1e-14)
    assert_allclose(unit_rows(x).toarray(), unit_rows(x.toarray()), atol=1e-15)
    assert uniformity(x) == pytest.approx(uniformity(x.toarray()), abs=1e-12)
    assert alignment(x, y) == pytest.approx(alignment(x.toarray(), y.toarray()), abs=1e-12)
    for one, two in ((x, y.toarray()), (x.toarray(), y)):
        assert alignment(one, two) == pytest.approx(alignment(x, y), abs=1e-12)
    # all entries below 1 became 0: equal points
    assert uniformity(x.astype(np.int64)) == pytest.approx(0, abs=1e-12)


def test_V02_a_zero_vector_has_cosine_0_and_stays_zero():
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert_array_equal(pair_cosines(x, np.array([0, 0, 1]), np.array([1, 0, 1])), [0, 0, 1])
    assert_array_equal(unit_rows(x)[0], 0)
    assert uniformity(x) == pytest.approx(-2, abs=1e-12)
    assert alignment(x[:1], x[1:]) == 1


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=True), min_size=1, max_size=6).filter(any))
def test_V03_a_vector_with_itself_has_cosine_exactly_1(row):
    x = np.array([row, row])
    assert pair_cosines(x, np.array([0]), np.array([1]))[0] == 1.0
    assert pair_cosines(-x, np.array([0]), np.array([0]))[0] <= 1.0


@pytest.mark.parametrize("scale", [1e200, 1e300, 1e-300, 1e-320])
def test_V04_cosines_of_huge_and_tiny_entries_are_right_to_1e_12(scale):
    rows = np.array([[3.0, 4.0, 0.0], [4.0, 3.0, 0.0]])
    x = rows * scale
    exact = (x[0] / x.max()) @ (x[1] / x.max()) / np.sqrt(((x / x.max()) ** 2).sum(axis=1).prod())
    assert pair_cosines(x, np.array([0]), np.array([1]))[0] == pytest.approx(exact, abs=1e-12)
    assert pair_cosines(sparse.csr_array(x), np.array([0]), np.array([1]))[0] == pytest.approx(
        exact, abs=1e-12)
    assert_allclose(np.linalg.norm(unit_rows(x), axis=1), 1, atol=1e-12)


def test_V08_half_precision_is_summed_in_float32():
    x = np.full((2, 70_000), 1, dtype=np.float16)  # the sum of squares is beyond float16
    assert unit_rows(x).dtype == np.float32
    assert pair_cosines(x, np.array([0]), np.array([1]))[0] == 1.0


def test_V09_any_memory_layout_gives_the_same_bits():
    x = cloud(20, 6)
    for view in (np.asfortranarray(x), np.repeat(x, 2,
                                                 axis=0)[::2], x[::-1][::-1], x.astype(">f8")):
        view.setflags(write=False)
        assert uniformity(view) == uniformity(x)
        assert_array_equal(unit_rows(view), unit_rows(x))


def test_V23_the_blocked_cosines_equal_the_whole(monkeypatch):
    x, left, right = cloud(30, 5), np.arange(29), np.arange(1, 30)
    whole = pair_cosines(x, left, right)
    monkeypatch.setattr(geometry, "BLOCK", 15)
    assert_array_equal(pair_cosines(x, left, right), whole)


def test_V07_V21_integers_are_converted_and_no_rows_and_no_pairs_are_few():
    assert_allclose(unit_rows(np.array([[3, 4]])), [[0.6, 0.8]])
    assert unit_rows(np.zeros((0, 3))).shape == (0, 3)
    assert pair_cosines(np.eye(2), [], []).tolist() == []
