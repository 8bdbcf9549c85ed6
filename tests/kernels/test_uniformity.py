"""Uniformity: identities of the formula, and three implementations that agree."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import trace, uniformity
from lessons_lib.kernels.uniformity import cpu, reference
from lessons_lib.kernels.uniformity.centred import centred


def unit(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.nn.functional.normalize(torch.randn(n, d, generator=generator, dtype=torch.float64), dim=1).to(dtype)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_equal_points_give_zero_and_two_antipodes_give_minus_eight(backend):
    assert uniformity(torch.ones(5, 3), backend=backend).item() == pytest.approx(0, abs=1e-6)
    assert uniformity([[1.0, 0.0], [-1.0, 0.0]], backend=backend).item() == -8.0


def test_a_regular_simplex_reaches_its_closed_form():
    n, t = 4, 2.0                                   # methods 16.2: -2t N / (N - 1)
    centred = torch.eye(n, dtype=torch.float64) - 1 / n
    x = torch.nn.functional.normalize(centred, dim=1)
    assert uniformity(x, t=t).item() == pytest.approx(-2 * t * n / (n - 1), abs=1e-12)


@pytest.mark.parametrize(("d", "expected"), [(8, -3.082527), (64, -3.875236), (768, -3.989583)])
def test_random_directions_come_near_the_closed_form_of_the_sphere(d, expected):
    assert uniformity(unit(4000, d)).item() == pytest.approx(expected, abs=0.01)


def test_the_gradient_of_the_formula_is_its_derivative():
    x = unit(9, 4, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda y: reference.uniformity(y, t=2.0), x)
    (expected,) = torch.autograd.grad(reference.uniformity(x, t=2.0), x)
    torch.testing.assert_close(reference.value_and_gradient(x.detach(), t=2.0)[1], expected, rtol=1e-12, atol=1e-14)


@given(st.integers(2, 40), st.integers(1, 20), st.floats(0.01, 20), st.floats(0.01, 30), st.integers(0, 100))
def test_blocks_of_rows_give_what_the_formula_gives(n, d, t, length, seed):
    x = unit(n, d, seed, torch.float64) * length
    old, (cpu.ROWS, cpu.COLUMNS) = (cpu.ROWS, cpu.COLUMNS), (5, 3 + seed % 9)          # several tiles, some ragged, on and off the diagonal
    try:
        value, gradient = cpu.value_and_gradient(x, t=t)
        alone = cpu.uniformity(x, t=t)
    finally:
        cpu.ROWS, cpu.COLUMNS = old
    expected, expected_gradient = reference.value_and_gradient(x, t=t)
    torch.testing.assert_close(value, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(alone, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("n", "d"), [(70, 72), (33, 20), (2, 5), (17, 3)])
def test_the_kernel_is_as_exact_as_the_formula(n, d, dtype, triton_here, device, guarded, assert_as_exact_as, monkeypatch):
    monkeypatch.setattr("lessons_lib.kernels.layout.FULL_RATE_ROWS", 16)
    monkeypatch.setattr("lessons_lib.kernels.layout.CACHE_BYTES", 1)
    x = unit(n, d).to(device, dtype).requires_grad_()
    value = uniformity(x, backend=triton_here)
    value.backward()
    exact, exact_gradient = reference.value_and_gradient(x.detach().double(), t=2.0)
    twin, twin_gradient = reference.value_and_gradient(x.detach(), t=2.0)
    assert_as_exact_as(value.detach(), twin, exact)
    assert_as_exact_as(x.grad, twin_gradient, exact_gradient)
    assert_as_exact_as(uniformity(x.detach(), backend=triton_here), twin, exact)


def test_the_operation_is_known_to_autograd_and_to_the_compiler():
    for gradient in (True, False):
        x = unit(11, 6).requires_grad_(gradient)
        torch.library.opcheck(torch.ops.lessons_lib.uniformity.default, (x, 2.0, gradient, "cpu"))
    compiled = torch.compile(lambda y: uniformity(2 * y), backend="aot_eager", fullgraph=True)
    x = unit(11, 6)
    torch.testing.assert_close(compiled(x), uniformity(2 * x))


def test_a_second_derivative_is_refused_not_silently_zero():
    x = unit(5, 3).requires_grad_()
    (gradient,) = torch.autograd.grad(uniformity(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivative only"):
        gradient.sum().backward()


def test_turning_all_points_together_changes_nothing():
    x = unit(50, 6, dtype=torch.float64)
    turn = torch.linalg.qr(torch.randn(6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1)))[0]
    assert uniformity(x @ turn).item() == pytest.approx(uniformity(x).item(), abs=1e-12)


def test_points_far_apart_do_not_underflow():
    x = torch.tensor([[0.0], [1000.0], [3000.0]], dtype=torch.float64)
    assert uniformity(x).item() == pytest.approx(-2e6 - math.log(3), rel=1e-12)


@pytest.mark.parametrize("stray", [False, True])
@pytest.mark.parametrize("far", [1.0, 10.0, 100.0, 1000.0])
def test_where_the_points_lie_costs_no_digits_because_only_distances_count(far, stray):
    x = 0.3 * torch.randn(400, 16, generator=torch.Generator().manual_seed(0)) + far
    x = torch.cat([x, torch.zeros(1, 16)]) if stray else x          # one point left behind does not pull the others out of their middle
    exact, exact_gradient = reference.value_and_gradient(x.double(), t=2.0)
    value, gradient = cpu.value_and_gradient(x, t=2.0)
    assert value.item() == pytest.approx(exact.item(), abs=1e-6) and cpu.uniformity(x, t=2.0).item() == pytest.approx(exact.item(), abs=1e-6)
    assert (gradient - exact_gradient).norm() <= 1e-6 * exact_gradient.norm()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_kernel_moves_points_far_out_to_the_origin_before_it_multiplies(dtype, triton_here, device, guarded):
    x = (0.3 * torch.randn(20, 5, generator=torch.Generator().manual_seed(0)) + 100).to(device, dtype).requires_grad_()
    value = uniformity(x, backend=triton_here)
    value.backward()
    exact, exact_gradient = reference.value_and_gradient(x.detach().double(), t=2.0)
    assert value.item() == pytest.approx(exact.item(), abs=1e-5)
    assert (x.grad.double() - exact_gradient).norm() <= (1e-5 if dtype == torch.float32 else 2e-3) * exact_gradient.norm()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("far", [0.0, 0.1, 1.0, 50.0, -50.0])
def test_moving_half_types_rounds_nothing(far, dtype):
    x = (unit(200, 16, dtype=torch.float64) + far).to(dtype)
    moved = centred(x)
    assert moved.dtype == dtype and moved.is_contiguous() and moved.data_ptr() != x.data_ptr()
    by = (x.double() - moved.double())
    assert (by == by[0]).all() and (abs(far) < 10 or moved.abs().max() < 2)


@pytest.mark.parametrize("backend", ["cpu", "reference", "triton"])
def test_points_whose_squares_overflow_are_infinitely_far_and_pull_at_nothing(backend, request):
    if backend == "triton":
        request.getfixturevalue("triton_here")
    where = request.getfixturevalue("device") if backend == "triton" else "cpu"
    spread = 1e20 * torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    for x in (torch.tensor([[3e19], [0.0]]), spread, torch.tensor([[3e38], [-3e38], [0.0]])):
        x = x.to(where).requires_grad_()
        value = uniformity(x, backend=backend)
        value.backward()
        assert value.item() == uniformity(x.detach(), backend=backend).item() == -math.inf and (x.grad == 0).all()
    x = torch.tensor([[0.0, 0.0], [0.1, 0.0], [1e30, 0.0]], device=where, requires_grad=True)
    value = uniformity(x, backend=backend)
    value.backward()
    assert value.item() == pytest.approx(-2 * 0.01 - math.log(3), rel=1e-5)
    torch.testing.assert_close(x.grad.cpu(), torch.tensor([[0.4, 0.0], [-0.4, 0.0], [0.0, 0.0]]))


@pytest.mark.parametrize("backend", ["cpu", "triton"])
def test_an_infinite_number_shows_too(backend, request):
    if backend == "triton":
        request.getfixturevalue("triton_here")
    x = unit(5, 3).to(request.getfixturevalue("device") if backend == "triton" else "cpu")
    x[2, 1] = math.inf
    assert math.isnan(uniformity(x, backend=backend).item())


def test_a_missing_number_shows_instead_of_vanishing():
    x = unit(5, 3)
    x[2, 1] = math.nan
    assert math.isnan(uniformity(x).item())
    assert math.isnan(uniformity(x, backend="reference").item())


def test_a_trace_says_what_ran():
    with trace() as t:
        uniformity(unit(5, 3))
    assert t.runs[0].operation == "uniformity" and t.runs[0].backend == "cpu" and t.runs[0].ms > 0
    assert t.caption().startswith("uniformity · cpu (blocked torch)")


@pytest.mark.parametrize(("x", "error", "words"), [
    ([[1.0, 2.0]], ValueError, "x has 1 rows; expected >= 2"),
    ([1.0, 2.0], ValueError, "expected 2 axes"),
    (torch.ones(3, 2, dtype=torch.int64), TypeError, "x.float()"),
    (torch.ones(3, 0), ValueError, ">= 1 column"),
    (["a", "b"], TypeError, "expected real numbers"),
])
def test_V02_wrong_vectors_are_named(x, error, words):
    with pytest.raises(error, match="x"):
        uniformity(x)
    with pytest.raises(error) as caught:
        uniformity(x)
    assert words in str(caught.value)


@pytest.mark.parametrize("t", [0, -1.0, math.nan, math.inf, 101])
def test_a_t_that_has_no_meaning_is_refused(t):
    with pytest.raises(ValueError, match="t="):
        uniformity(unit(3, 2), t=t)


def test_P27_an_unknown_backend_is_answered_with_the_nearest_name():
    with pytest.raises(ValueError, match="'triton'"):
        uniformity(unit(3, 2), backend="tritton")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("n", "d"), [(1000, 300), (4097, 768), (65_537, 64)])
def test_gpu_kernel_agrees_and_repeats_itself(n, d, dtype, tolerance):
    x = unit(n, d).to("cuda", dtype).requires_grad_()
    runs = []
    for _ in range(3):
        x.grad = None
        value = uniformity(x, backend="triton")
        value.backward()
        runs.append((value.detach().clone(), x.grad.clone()))
    assert all(torch.equal(runs[0][0], v) and torch.equal(runs[0][1], g) for v, g in runs)
    exact, exact_gradient = cpu.value_and_gradient(x.detach().double(), t=2.0)
    assert abs(runs[0][0].double() - exact) <= tolerance
    assert (runs[0][1].double() - exact_gradient).norm() <= tolerance * exact_gradient.norm()
