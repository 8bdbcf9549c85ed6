"""Alignment: identities of the formula, its gradient where a pair is one point, and two
implementations that agree."""

from __future__ import annotations

import importlib
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import alignment

from .conftest import cloud, unit, with_gradients

ours = importlib.import_module("lessons_lib.kernels.alignment")
DOUBLE = torch.float64
BOTH = pytest.mark.parametrize("backend", ["cpu", "reference"])
SIDES = (True, True)


@BOTH
def test_on_unit_vectors_it_is_two_minus_twice_the_mean_cosine(backend):
    x, y = unit(40, 7, 0, DOUBLE), unit(40, 7, 1, DOUBLE)       # methods 24, identity 66
    expected = 2 - 2 * (x * y).sum(dim=1).mean().item()
    assert alignment(x, y, backend=backend).item() == pytest.approx(expected, abs=1e-12)
    assert alignment(x, x, backend=backend).item() == 0
    for alpha, worst in ((2, 4), (1, 2), (0.5, math.sqrt(2))):
        value = alignment(x, -x, alpha=alpha, backend=backend).item()
        assert value == pytest.approx(worst, abs=1e-12)


def test_vectors_are_taken_as_they_are_and_norms_count():
    assert alignment([[3.0, 0.0]], [[0.0, 4.0]]).item() == 25.0
    pairs = [[3.0, 0.0], [1.0, 1.0]], [[0.0, 4.0], [1.0, 1.0]]
    assert alignment(*pairs, alpha=1).item() == 2.5


def test_turning_both_sides_together_changes_nothing():
    x, y = cloud(30, 6, 0, DOUBLE), cloud(30, 6, 1, DOUBLE)
    turn, value = torch.linalg.qr(cloud(6, 6, 2, DOUBLE))[0], alignment(x, y, alpha=1.7).item()
    assert alignment(x @ turn, y @ turn, alpha=1.7).item() == pytest.approx(value, abs=1e-12)
    assert alignment(y, x, alpha=1.7).item() == value


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 3.5])
def test_the_gradient_of_the_formula_is_its_derivative(alpha):
    x, y = cloud(9, 4, 0, DOUBLE), cloud(9, 4, 1, DOUBLE)
    expected = with_gradients(lambda a, b: ours.reference_alignment(a, b, alpha=alpha), x, y)
    result = ours.reference_value_and_gradient(x, y, alpha=alpha, wanted=SIDES)
    torch.testing.assert_close(result, expected, rtol=1e-12, atol=1e-14)


@BOTH
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0, 4.0])
def test_a_pair_of_equal_vectors_gets_gradient_zero_and_no_nan(alpha, backend):
    x, y = cloud(3, 4, 0, DOUBLE), cloud(3, 4, 1, DOUBLE)
    y[1] = x[1]
    _, dx, dy = with_gradients(lambda a, b: alignment(a, b, alpha=alpha, backend=backend), x, y)
    assert (dx[1] == 0).all() and (dx[[0, 2]] != 0).all() and torch.equal(dx, -dy)
    plain = with_gradients(lambda a: ours.reference_alignment(a, y, alpha=alpha), x)[1]
    torch.testing.assert_close(plain, dx)


@given(st.integers(1, 40), st.integers(1, 20), st.floats(0.1, 10), st.integers(0, 100))
def test_blocks_of_rows_give_what_the_formula_gives(n, d, alpha, seed):
    x, y = cloud(n, d, seed, DOUBLE), cloud(n, d, seed + 1, DOUBLE)
    y[::3] = x[::3]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ours, "BLOCK", 50)                # several blocks, the last one ragged
        result = ours.cpu_value_and_gradient(x, y, alpha=alpha, wanted=SIDES)
        alone = ours.cpu_alignment(x, y, alpha=alpha)
    expected = ours.reference_value_and_gradient(x, y, alpha=alpha, wanted=SIDES)
    torch.testing.assert_close(result, expected, rtol=1e-12, atol=1e-300)
    torch.testing.assert_close(alone, expected[0], rtol=1e-12, atol=0)


def test_the_formula_has_a_second_derivative():
    x, y = cloud(5, 3, 0, DOUBLE).requires_grad_(), cloud(5, 3, 1, DOUBLE)
    value = ours.reference_alignment(x, y, alpha=2.0)
    (gradient,) = torch.autograd.grad(value, x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    torch.testing.assert_close(second, torch.full_like(x, 2 / 5))


@pytest.mark.parametrize("alpha", [0.1, 1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("size", [1e-25, 1e-12, 1e12, 1e25])
def test_no_square_on_the_way_overflows_or_vanishes_in_float32(size, alpha):
    x, y = size * cloud(6, 4), size * cloud(6, 4, 1)
    exact = ours.cpu_value_and_gradient(x.double(), y.double(), alpha=alpha, wanted=SIDES)
    result = ours.cpu_value_and_gradient(x, y, alpha=alpha, wanted=SIDES)
    # also where the result itself is 0 or inf in float32
    torch.testing.assert_close(result, tuple(part.float() for part in exact), rtol=2e-6, atol=1e-44)
    assert torch.equal(result[0], ours.cpu_alignment(x, y, alpha=alpha))
