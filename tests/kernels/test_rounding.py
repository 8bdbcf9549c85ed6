"""Imitated precisions: the nearest number of the type, and the digits that a product keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels.rounding import PRECISIONS, gram, rounded

BITS = {"tf32": 10, "bfloat16": 7}


@pytest.mark.parametrize("precision", BITS)
@given(value=st.floats(2.0**-100, 2.0**100, width=32), sign=st.sampled_from([-1, 1]))
def test_a_number_becomes_the_nearest_of_the_type(precision, value, sign):
    x = np.float32([sign * value])
    found = rounded(x, precision)
    step = 2.0 ** (np.floor(np.log2(value)) - BITS[precision])
    assert abs(float(found[0]) - float(x[0])) <= step / 2
    assert (float(found[0]) / step) % 1 == 0 and np.array_equal(rounded(found, precision), found)


def test_fewer_bits_lose_more_and_three_products_bring_the_digits_back():
    x = np.random.default_rng(0).normal(size=(3000, 12)).astype(np.float32)
    exact = x.T.astype(np.float64) @ x
    error = {name: np.abs(gram(x, name) - exact).max() for name in PRECISIONS}
    assert error["bfloat16"] > 4 * error["tf32"] > 40 * error["three tf32"] > 0
    assert np.array_equal(gram(x, "three tf32"), gram(x, "three tf32").T)


def test_a_precision_that_no_card_reads_is_refused():
    with pytest.raises(ValueError, match=r"precision='fp8'.*tf32"):
        rounded(np.ones(3, np.float32), "fp8")
    with pytest.raises(ValueError, match="x"):
        gram(np.ones(3, np.float32), "tf32")
