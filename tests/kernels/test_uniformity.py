"""Uniformity: identities of the formula, and three implementations that agree."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import uniformity
from lessons_lib.kernels.uniformity import cpu, reference
from lessons_lib.kernels.uniformity.centred import centred

from .conftest import cloud, unit, with_gradients


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_equal_points_give_zero_and_two_antipodes_give_minus_eight(backend):
    assert uniformity(torch.ones(5, 3), backend=backend).item() == pytest.approx(0, abs=1e-6)
    assert uniformity([[1.0, 0.0], [-1.0, 0.0]], backend=backend).item() == -8.0


def test_a_regular_simplex_reaches_its_closed_form_however_it_is_turned():
    n, t = 4, 2.0                                   # methods 16.2: -2t N / (N - 1)
    x = torch.nn.functional.normalize(torch.eye(n, dtype=torch.float64) - 1 / n, dim=1)
    turn = torch.linalg.qr(cloud(n, n, 1, torch.float64))[0]
    for points in (x, x @ turn):
        assert uniformity(points, t=t).item() == pytest.approx(-2 * t * n / (n - 1), abs=1e-12)


@pytest.mark.parametrize(("d", "expected"), [(8, -3.082527), (64, -3.875236), (768, -3.989583)])
def test_random_directions_come_near_the_closed_form_of_the_sphere(d, expected):
    assert uniformity(unit(4000, d)).item() == pytest.approx(expected, abs=0.01)


def test_the_gradient_of_the_formula_is_its_derivative():
    x = unit(9, 4, dtype=torch.float64)
    expected = with_gradients(lambda y: reference.uniformity(y, t=2.0), x)
    torch.testing.assert_close(reference.value_and_gradient(x, t=2.0), expected, rtol=1e-12,
                               atol=1e-14)


@given(st.integers(2, 40), st.integers(1, 20), st.floats(0.01, 20), st.floats(0.01, 30),
       st.integers(0, 100))
def test_blocks_of_rows_give_what_the_formula_gives(n, d, t, length, seed):
    x = unit(n, d, seed, torch.float64) * length
    with pytest.MonkeyPatch.context() as patch:     # ragged tiles, on and off the diagonal
        patch.setattr(cpu, "ROWS", 5)
        patch.setattr(cpu, "COLUMNS", 3 + seed % 9)
        value, gradient = cpu.value_and_gradient(x, t=t)
        alone = cpu.uniformity(x, t=t)
    expected, expected_gradient = reference.value_and_gradient(x, t=t)
    torch.testing.assert_close(value, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(alone, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("n", "d"), [(70, 72), (33, 20), (2, 5), (17, 3)])
def test_the_kernel_is_as_exact_as_the_formula(n, d, dtype, triton_here, device, guarded,
                                               assert_as_exact_as, short_row_blocks):
    x = unit(n, d).to(device, dtype)
    found = with_gradients(lambda y: uniformity(y, backend=triton_here), x)
    twin = reference.value_and_gradient(x, t=2.0)
    exact = reference.value_and_gradient(x.double(), t=2.0)
    for part in zip(found, twin, exact, strict=True):
        assert_as_exact_as(*part)
    assert_as_exact_as(uniformity(x, backend=triton_here), twin[0], exact[0])


def test_points_far_apart_do_not_underflow():
    x = torch.tensor([[0.0], [1000.0], [3000.0]], dtype=torch.float64)
    assert uniformity(x).item() == pytest.approx(-2e6 - math.log(3), rel=1e-12)


@pytest.mark.parametrize("stray", [False, True])
@pytest.mark.parametrize("far", [1.0, 10.0, 100.0, 1000.0])
def test_where_the_points_lie_costs_no_digits_because_only_distances_count(far, stray):
    x = 0.3 * cloud(400, 16) + far
    x = torch.cat([x, torch.zeros(1, 16)]) if stray else x      # does not pull the others out
    exact, exact_gradient = reference.value_and_gradient(x.double(), t=2.0)
    value, gradient = cpu.value_and_gradient(x, t=2.0)
    for result in (value, cpu.uniformity(x, t=2.0)):
        assert result.item() == pytest.approx(exact.item(), abs=1e-6)
    assert (gradient - exact_gradient).norm() <= 1e-6 * exact_gradient.norm()


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-5), (torch.float16, 2e-3)])
def test_the_kernel_moves_points_far_out_to_the_origin(dtype, bound, triton_here, device, guarded):
    x = (0.3 * cloud(20, 5) + 100).to(device, dtype)
    value, gradient = with_gradients(lambda y: uniformity(y, backend=triton_here), x)
    exact, exact_gradient = reference.value_and_gradient(x.double(), t=2.0)
    assert value.item() == pytest.approx(exact.item(), abs=1e-5)
    assert (gradient.double() - exact_gradient).norm() <= bound * exact_gradient.norm()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("far", [0.0, 0.1, 1.0, 50.0, -50.0])
def test_moving_half_types_rounds_nothing(far, dtype):
    x = (unit(200, 16, dtype=torch.float64) + far).to(dtype)
    moved = centred(x)
    assert moved.dtype == dtype and moved.is_contiguous() and moved.data_ptr() != x.data_ptr()
    by = x.double() - moved.double()
    assert (by == by[0]).all() and (abs(far) < 10 or moved.abs().max() < 2)


def test_points_whose_squares_overflow_are_infinitely_far_and_pull_at_nothing(any_backend):
    backend, where = any_backend

    def run(x):
        return with_gradients(lambda y: uniformity(y, backend=backend), x.to(where))

    for x in (torch.tensor([[3e19], [0.0]]), 1e20 * cloud(5, 3),
              torch.tensor([[3e38], [-3e38], [0.0]])):
        value, gradient = run(x)
        alone = uniformity(x.to(where), backend=backend)
        assert value.item() == alone.item() == -math.inf and (gradient == 0).all()
    value, gradient = run(torch.tensor([[0.0, 0.0], [0.1, 0.0], [1e30, 0.0]]))
    assert value.item() == pytest.approx(-2 * 0.01 - math.log(3), rel=1e-5)
    expected = torch.tensor([[0.4, 0.0], [-0.4, 0.0], [0.0, 0.0]])
    torch.testing.assert_close(gradient.cpu(), expected)
