"""Mean cosine: the square of a sum equals the double loop, and says what the cone of a space is."""

from __future__ import annotations

import importlib
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import mean_cosine

from .conftest import cloud, with_gradients

ours = importlib.import_module("lessons_lib.kernels.mean_cosine")
DOUBLE = torch.float64


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_identity_43_equal_directions_give_1_and_an_orthonormal_set_0(backend):
    equal = torch.outer(torch.tensor([1.0, 2.0, 0.5]), torch.tensor([3.0, 4.0])).double()
    assert mean_cosine(equal, backend=backend).item() == pytest.approx(1, abs=1e-15)
    assert mean_cosine(torch.eye(5), backend=backend).item() == 0.0
    assert mean_cosine([[1.0, 0.0], [-7.0, 0.0]], backend=backend).item() == -1.0


def test_a_regular_simplex_has_the_least_mean_cosine_there_is():
    n = 6
    value = mean_cosine(torch.eye(n, dtype=DOUBLE) - 1 / n).item()
    assert value == pytest.approx(-1 / (n - 1), abs=1e-14)


@given(st.integers(2, 30), st.integers(1, 12), st.integers(0, 3), st.integers(0, 1000))
def test_identity_44_the_square_of_the_sum_equals_the_double_loop(n, d, zeros, seed):
    x = cloud(n, d, seed, DOUBLE)
    x[: min(zeros, n)] = 0
    loop = sum(float(torch.dot(x[i], x[j]) / (x[i].norm() * x[j].norm()))
               for i in range(n) for j in range(n) if i != j and x[i].any() and x[j].any())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ours, "BLOCK", 20)                # several blocks, the last one ragged
        value, gradient = ours.cpu_value_and_gradient(x)
        alone = ours.cpu_mean_cosine(x)
    expected, expected_gradient = ours.reference_value_and_gradient(x)
    assert value.item() == pytest.approx(loop / (n * (n - 1)), abs=1e-13)
    assert torch.equal(alone, value)
    torch.testing.assert_close(value, expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-9, atol=1e-12)


def test_identity_45_a_common_mean_makes_a_cone():
    n, d = 2000, 50
    x = cloud(n, d, 3, DOUBLE)
    assert mean_cosine(x).item() == pytest.approx(0, abs=5e-3)
    unit = torch.nn.functional.normalize(x, dim=1)
    squares = (unit @ unit.T).fill_diagonal_(0).square().sum().item()
    assert squares / (n * (n - 1)) == pytest.approx(1 / d, rel=0.02)
    mean = cloud(1, d, 4, DOUBLE)
    mean *= math.sqrt(7 / 3 * d) / mean.norm()                      # ‖m‖² / (‖m‖² + tr Σ) = 0.7
    assert mean_cosine(x + mean).item() == pytest.approx(0.7, abs=0.01)


def test_the_gradient_of_the_formula_is_its_derivative():
    x = cloud(7, 4, 0, DOUBLE)
    expected = with_gradients(ours.reference_mean_cosine, x)
    torch.testing.assert_close(ours.reference_value_and_gradient(x), expected, rtol=1e-12,
                               atol=1e-15)


def test_a_row_has_no_gradient_along_itself_and_a_zero_row_none():
    x = cloud(9, 5, 0, DOUBLE)
    x[4] = 0
    gradient = with_gradients(mean_cosine, x)[1]
    assert (gradient * x).sum(dim=1).abs().max() < 1e-15
    assert gradient[4].tolist() == [0.0] * 5 and bool(gradient[3].any())


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_norms_do_not_matter_even_where_their_square_is_no_number(size):
    x = cloud(20, 6, 0, DOUBLE)
    assert mean_cosine(x * size).item() == pytest.approx(mean_cosine(x).item(), abs=1e-14)
    assert mean_cosine(torch.zeros(4, 3)).item() == 0.0


def test_narrow_types_are_summed_in_float64():
    x = cloud(40, 9)
    exact = ours.reference_mean_cosine(x.double()).item()
    assert mean_cosine(x).item() == pytest.approx(exact, abs=1e-8)
