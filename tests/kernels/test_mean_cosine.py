"""Mean cosine: the square of a sum equals the double loop, and says what the cone of a space is."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import mean_cosine, trace
from lessons_lib.kernels.mean_cosine import cpu, reference


def normal(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_identity_43_equal_directions_give_1_and_an_orthonormal_set_0(backend):
    directions = torch.tensor([[1.0], [2.0], [0.5]], dtype=torch.float64) * torch.tensor([3.0, 4.0], dtype=torch.float64)
    assert mean_cosine(directions, backend=backend).item() == pytest.approx(1, abs=1e-15)
    assert mean_cosine(torch.eye(5), backend=backend).item() == 0.0
    assert mean_cosine([[1.0, 0.0], [-7.0, 0.0]], backend=backend).item() == -1.0


def test_a_regular_simplex_has_the_least_mean_cosine_there_is():
    n = 6
    assert mean_cosine(torch.eye(n, dtype=torch.float64) - 1 / n).item() == pytest.approx(-1 / (n - 1), abs=1e-14)


@given(st.integers(2, 30), st.integers(1, 12), st.integers(0, 3), st.integers(0, 1000))
def test_identity_44_the_square_of_the_sum_equals_the_double_loop(n, d, zeros, seed):
    x = normal(n, d, seed)
    x[: min(zeros, n)] = 0
    loop = sum(float(torch.dot(x[i], x[j]) / (x[i].norm() * x[j].norm())) for i in range(n) for j in range(n) if i != j and x[i].any() and x[j].any())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "BLOCK", 20)                             # several blocks of rows, the last one ragged
        value, gradient = cpu.value_and_gradient(x)
        alone = cpu.mean_cosine(x)
    expected, expected_gradient = reference.value_and_gradient(x)
    assert value.item() == pytest.approx(loop / (n * (n - 1)), abs=1e-13)
    assert torch.equal(alone, value)
    torch.testing.assert_close(value, expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-9, atol=1e-12)


def test_identity_45_a_common_mean_makes_a_cone():
    n, d = 2000, 50
    x = normal(n, d, 3)
    assert mean_cosine(x).item() == pytest.approx(0, abs=5e-3)
    cosines = torch.nn.functional.normalize(x, dim=1)
    assert (cosines @ cosines.T).fill_diagonal_(0).square().sum().item() / (n * (n - 1)) == pytest.approx(1 / d, rel=0.02)
    mean = normal(1, d, 4)
    mean *= math.sqrt(7 / 3 * d) / mean.norm()                      # ‖m‖² / (‖m‖² + tr Σ) = 0.7
    assert mean_cosine(x + mean).item() == pytest.approx(0.7, abs=0.01)


def test_the_gradient_of_the_formula_is_its_derivative():
    x = normal(7, 4).requires_grad_()
    assert torch.autograd.gradcheck(reference.mean_cosine, x)
    assert torch.autograd.gradcheck(mean_cosine, x)
    (expected,) = torch.autograd.grad(reference.mean_cosine(x), x)
    torch.testing.assert_close(reference.value_and_gradient(x.detach())[1], expected, rtol=1e-12, atol=1e-15)
    (found,) = torch.autograd.grad(3 * mean_cosine(x), x)
    torch.testing.assert_close(found, 3 * expected, rtol=1e-11, atol=1e-14)


def test_a_row_has_no_gradient_along_itself_and_a_zero_row_none():
    x = normal(9, 5)
    x[4] = 0
    x.requires_grad_()
    mean_cosine(x).backward()
    assert (x.grad * x.detach()).sum(dim=1).abs().max() < 1e-15
    assert x.grad[4].tolist() == [0.0] * 5 and bool(x.grad[3].any())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrow_types_are_summed_in_float64(dtype):
    x = normal(40, 9, dtype=dtype).requires_grad_()
    value = mean_cosine(x)
    value.backward()
    exact, gradient = reference.value_and_gradient(x.detach().double())
    assert value.dtype == torch.float32 and x.grad.dtype == dtype
    assert value.item() == pytest.approx(exact.item(), abs=1e-8)
    torch.testing.assert_close(x.grad.double(), gradient, rtol=2 * torch.finfo(dtype).eps, atol=torch.finfo(dtype).eps * float(gradient.abs().max()))


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_length_does_not_matter_even_where_its_square_is_no_number(size):
    x = normal(20, 6)
    assert mean_cosine(x * size).item() == pytest.approx(mean_cosine(x).item(), abs=1e-14)
    assert mean_cosine(x.T[::2]).item() == mean_cosine(x.T[::2].contiguous()).item()
    assert mean_cosine(torch.zeros(4, 3)).item() == 0.0


def test_a_missing_number_shows_instead_of_vanishing():
    for bad in (math.nan, math.inf):
        x = normal(5, 3)
        x[2, 1] = bad
        assert math.isnan(mean_cosine(x).item())
        assert math.isnan(mean_cosine(x, backend="reference").item())


def test_the_operation_is_known_to_autograd_and_to_the_compiler():
    for gradient in (True, False):
        torch.library.opcheck(torch.ops.lessons_lib.mean_cosine.default, (normal(11, 6).requires_grad_(gradient), gradient, "cpu"))
    compiled = torch.compile(lambda y: mean_cosine(2 * y + 1), backend="aot_eager", fullgraph=True)
    x = normal(11, 6)
    torch.testing.assert_close(compiled(x), mean_cosine(2 * x + 1))


def test_a_second_derivative_is_refused_not_silently_zero():
    x = normal(5, 3).requires_grad_()
    (gradient,) = torch.autograd.grad(mean_cosine(x), x, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivative only"):
        gradient.sum().backward()


def test_there_is_no_kernel_because_there_is_nothing_left_to_do():
    with trace() as t:
        mean_cosine(normal(5, 3))
    assert t.runs[0].backend == "cpu" and "no Triton kernel: one sum over the rows" in t.runs[0].reason
    with pytest.raises(BackendUnavailable, match="one sum over the rows"):
        mean_cosine(normal(5, 3), backend="triton")


@pytest.mark.parametrize(("x", "error", "words"), [
    ([[1.0, 2.0]], ValueError, "x has 1 rows; expected >= 2"),
    ([1.0, 2.0], ValueError, "expected 2 axes"),
    (torch.ones(3, 2, dtype=torch.int64), TypeError, r"x\.float\(\)"),
    (torch.ones(3, 0), ValueError, ">= 1 column"),
])
def test_V02_wrong_vectors_are_named(x, error, words):
    with pytest.raises(error, match=words):
        mean_cosine(x)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2), (torch.bfloat16, 1e-2)])
def test_gpu_sums_agree_with_the_processor(dtype, tolerance):
    x = normal(65_537, 64, dtype=dtype).cuda().requires_grad_()
    value = mean_cosine(x)
    value.backward()
    exact, gradient = cpu.value_and_gradient(x.detach().cpu().double())
    assert abs(value.item() - exact.item()) <= 1e-9
    assert (x.grad.cpu().double() - gradient).norm() <= tolerance * gradient.norm()
