"""Vector code against a sum written out, for every width around the size of its tiles."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import generator
from lessons_lib.sentences.sums import first_not_finite, weighted_sum


@pytest.mark.parametrize(
    "width", [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 255, 300, 385])
@pytest.mark.parametrize("n", [0, 1, 2, 13])
def test_the_sum_is_that_of_the_rows_and_nothing_else_is_written(width, n):
    rng = generator(width)
    matrix, rows = rng.normal(size=(9, width)).astype(np.float32), rng.integers(9, size=n + 5)
    weights = rng.normal(size=n + 5).astype(np.float32)
    out = np.full((3, width), 7.0, dtype=np.float32)
    weighted_sum(matrix, rows * 4 * width, weights, 2, 2 + n, out[1])
    np.testing.assert_allclose(out[1], weights[2:2 + n].astype(np.float64) @ matrix[rows[2:2 + n]],
                               atol=1e-5)
    assert (out[[0, 2]] == 7).all()


def test_what_is_not_finite_stays_so():
    matrix = np.ones((2, 20), dtype=np.float32)
    matrix[1, 3], matrix[1, 19] = np.nan, np.inf
    out = np.empty((2, 20), dtype=np.float32)
    for row in (0, 1):
        weighted_sum(matrix, np.array([80 * row]), np.ones(1, dtype=np.float32), 0, 1, out[row])
    np.testing.assert_array_equal(out, matrix)
    assert first_not_finite(out) == 1 and first_not_finite(out[:1]) == -1
