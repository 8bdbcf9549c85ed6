"""Alignment: identities of the formula, its gradient where a pair is one point, and two implementations that agree."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import alignment, trace, use_backend
from lessons_lib.kernels.alignment import cpu, reference

BACKENDS = ["cpu", "reference"]


def cloud(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def unit(n: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.nn.functional.normalize(cloud(n, d, seed), dim=1).to(dtype)


@pytest.mark.parametrize("backend", BACKENDS)
def test_on_unit_vectors_it_is_two_minus_twice_the_mean_cosine(backend):
    x, y = unit(40, 7), unit(40, 7, seed=1)             # methods 24, identity 66
    assert alignment(x, y, backend=backend).item() == pytest.approx(2 - 2 * (x * y).sum(dim=1).mean().item(), abs=1e-12)
    assert alignment(x, x, backend=backend).item() == 0
    assert alignment(x, -x, backend=backend).item() == pytest.approx(4, abs=1e-12)
    assert alignment(x, -x, alpha=1, backend=backend).item() == pytest.approx(2, abs=1e-12)
    assert alignment(x, -x, alpha=0.5, backend=backend).item() == pytest.approx(math.sqrt(2), abs=1e-12)


def test_vectors_are_taken_as_they_are_and_lengths_count():
    assert alignment([[3.0, 0.0]], [[0.0, 4.0]]).item() == 25.0
    assert alignment([[3.0, 0.0], [1.0, 1.0]], [[0.0, 4.0], [1.0, 1.0]], alpha=1).item() == 2.5


def test_turning_both_sides_together_changes_nothing():
    x, y = cloud(30, 6), cloud(30, 6, seed=1)
    turn = torch.linalg.qr(cloud(6, 6, seed=2))[0]
    assert alignment(x @ turn, y @ turn, alpha=1.7).item() == pytest.approx(alignment(x, y, alpha=1.7).item(), abs=1e-12)
    assert alignment(y, x).item() == alignment(x, y).item()


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 3.5])
def test_the_gradient_of_the_formula_is_its_derivative(alpha):
    x, y = cloud(9, 4).requires_grad_(), cloud(9, 4, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: reference.alignment(a, b, alpha=alpha), (x, y))
    expected = torch.autograd.grad(reference.alignment(x, y, alpha=alpha), (x, y))
    gradient = reference.value_and_gradient(x.detach(), y.detach(), alpha=alpha)[1]
    torch.testing.assert_close(gradient, expected[0], rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(-gradient, expected[1], rtol=1e-12, atol=1e-14)
    assert torch.autograd.gradcheck(lambda a, b: alignment(a, b, alpha=alpha), (x, y))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0, 4.0])
def test_a_pair_of_equal_vectors_gets_gradient_zero_and_no_nan(alpha, backend):
    x, y = cloud(3, 4), cloud(3, 4, seed=1)
    y[1] = x[1]
    x.requires_grad_()
    y.requires_grad_()
    alignment(x, y, alpha=alpha, backend=backend).backward()
    assert (x.grad[1] == 0).all() and (y.grad[1] == 0).all()
    assert (x.grad[[0, 2]] != 0).all() and torch.equal(x.grad, -y.grad)
    (plain,) = torch.autograd.grad(reference.alignment(x, y, alpha=alpha), x)
    torch.testing.assert_close(plain, x.grad)


@given(st.integers(1, 40), st.integers(1, 20), st.floats(0.1, 10), st.integers(0, 100))
def test_blocks_of_rows_give_what_the_formula_gives(n, d, alpha, seed):
    x, y = cloud(n, d, seed), cloud(n, d, seed + 1)
    y[::3] = x[::3]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "BLOCK", 50)                 # several blocks, the last one ragged
        value, gradient = cpu.value_and_gradient(x, y, alpha=alpha)
        alone = cpu.alignment(x, y, alpha=alpha)
    expected, expected_gradient = reference.value_and_gradient(x, y, alpha=alpha)
    torch.testing.assert_close(value, expected, rtol=1e-12, atol=0)
    torch.testing.assert_close(alone, expected, rtol=1e-12, atol=0)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float16, 2e-3), (torch.bfloat16, 1e-2)])
def test_V08_half_types_are_summed_in_float32_and_get_gradients_of_their_own_type(dtype, tolerance):
    x, y = unit(200, 33, dtype=dtype).requires_grad_(), unit(200, 33, seed=1, dtype=dtype)
    value = alignment(x, y)
    value.backward()
    exact, exact_gradient = reference.value_and_gradient(x.detach().double(), y.double(), alpha=2.0)
    assert value.dtype == torch.float32 and x.grad.dtype == dtype
    assert value.item() == pytest.approx(exact.item(), rel=1e-6)
    assert (x.grad.double() - exact_gradient).norm() <= tolerance * exact_gradient.norm()


def test_only_the_side_that_asks_gets_a_gradient():
    x, y = cloud(5, 3), cloud(5, 3, seed=1).requires_grad_()
    alignment(x, y).backward()
    torch.testing.assert_close(y.grad, 2 / 5 * (y.detach() - x))
    both = cloud(5, 3, seed=2).requires_grad_()
    alignment(both, both).backward()                    # one tensor on both sides: 0, not NaN
    assert (both.grad == 0).all()
    with torch.no_grad():
        assert not alignment(x, y).requires_grad


def test_V09_any_memory_layout_gives_the_same_bits():
    x, y = cloud(20, 6), cloud(20, 6, seed=1)
    whole = alignment(x, y)
    for view in (x.T.contiguous().T, x.repeat_interleave(2, dim=0)[::2], torch.stack([x, x], dim=2)[..., 0]):
        assert alignment(view, y) == whole
    frozen = x.numpy().astype(">f8")
    frozen.setflags(write=False)
    assert alignment(frozen, y.numpy()[::-1][::-1]) == whole


@pytest.mark.parametrize("gradients", [[True, True], [True, False], [False, True], [False, False]])
def test_the_operation_is_known_to_autograd(gradients):
    x, y = cloud(11, 6, dtype=torch.float32).requires_grad_(gradients[0]), cloud(11, 6, seed=1, dtype=torch.float32).requires_grad_(gradients[1])
    torch.library.opcheck(torch.ops.lessons_lib.alignment.default, (x, y, 1.5, gradients, "cpu"))


def test_the_operation_is_known_to_the_compiler():
    x, y = cloud(11, 6).requires_grad_(), cloud(11, 6, seed=1)
    compiled = torch.compile(lambda a, b: alignment(2 * a, b), backend="aot_eager", fullgraph=True)
    (found,) = torch.autograd.grad(compiled(x, y), x)
    (expected,) = torch.autograd.grad(alignment(2 * x, y), x)
    torch.testing.assert_close(found, expected)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x, y), alignment(2 * x, y))


def test_measuring_does_not_load_the_compiler_of_torch():
    code = ("import sys, numpy as np; from lessons_lib.kernels import alignment, uniformity; "
            "alignment(np.eye(3), np.eye(3)); uniformity(np.eye(3)); sys.exit('torch._dynamo' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_a_second_derivative_is_refused_not_silently_zero_and_the_formula_has_one():
    x, y = cloud(5, 3).requires_grad_(), cloud(5, 3, seed=1)
    (gradient,) = torch.autograd.grad(alignment(x, y), x, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivative only"):
        gradient.sum().backward()
    (gradient,) = torch.autograd.grad(reference.alignment(x, y, alpha=2.0), x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    torch.testing.assert_close(second, torch.full_like(x, 2 / 5))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_missing_number_shows_instead_of_vanishing(bad, backend):
    x, y = cloud(5, 3), cloud(5, 3, seed=1)
    x[2, 1] = bad
    x.requires_grad_()
    value = alignment(x, y, alpha=1.5, backend=backend)
    value.backward()
    assert not math.isfinite(value.item()) and not torch.isfinite(x.grad[2]).all() and torch.isfinite(x.grad[[0, 1, 3, 4]]).all()


@pytest.mark.parametrize("alpha", [0.1, 1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("size", [1e-25, 1e-12, 1e12, 1e25])
def test_no_square_on_the_way_overflows_or_vanishes_in_float32(size, alpha):
    x, y = size * cloud(6, 4, dtype=torch.float32), size * cloud(6, 4, seed=1, dtype=torch.float32)
    exact, exact_gradient = cpu.value_and_gradient(x.double(), y.double(), alpha=alpha)
    value, gradient = cpu.value_and_gradient(x, y, alpha=alpha)
    torch.testing.assert_close(value, exact.float(), rtol=1e-6, atol=1e-44)         # also where the result itself is 0 or inf in float32
    assert torch.equal(value, cpu.alignment(x, y, alpha=alpha))
    torch.testing.assert_close(gradient, exact_gradient.float(), rtol=2e-6, atol=1e-44)


def test_a_trace_says_what_ran_and_why_there_is_no_kernel():
    with trace() as t, use_backend("triton"):
        alignment(cloud(5, 3), cloud(5, 3))
    assert t.runs[0].operation == "alignment" and t.runs[0].backend == "cpu"
    assert t.runs[0].reason == "no Triton kernel: memory-bound: torch.compile fuses it"


@pytest.mark.parametrize(("x", "y", "error", "words"), [
    ([[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]], ValueError, "x has 1 rows and y has 2"),
    ([[1.0, 2.0]], [[1.0, 2.0, 3.0]], ValueError, "x has 2 columns and y has 3"),
    (torch.zeros(0, 3), torch.zeros(0, 3), ValueError, "x has 0 rows; expected >= 1"),
    ([1.0, 2.0], [1.0, 2.0], ValueError, "expected 2 axes"),
    (torch.ones(3, 2), torch.ones(3, 2).double(), TypeError, "y.to(x.dtype)"),
    (torch.ones(3, 2), torch.ones(3, 2, dtype=torch.int64), TypeError, "y.float()"),
    (torch.ones(3, 0), torch.ones(3, 0), ValueError, ">= 1 column"),
    (["a", "b"], ["a", "b"], TypeError, "expected real numbers"),
])
def test_V05_V10_wrong_pairs_are_named(x, y, error, words):
    with pytest.raises(error) as caught:
        alignment(x, y)
    assert words in str(caught.value)


@pytest.mark.parametrize("alpha", [0, -1.0, math.nan, math.inf, 101])
def test_an_alpha_that_has_no_meaning_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha="):
        alignment(cloud(3, 2), cloud(3, 2), alpha=alpha)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize(("n", "d"), [(1000, 300), (4097, 768), (65_537, 64)])
def test_gpu_agrees_and_repeats_itself(n, d, dtype, tolerance):
    x, y = unit(n, d).to("cuda", dtype).requires_grad_(), unit(n, d, seed=1).to("cuda", dtype).requires_grad_()
    runs = []
    for _ in range(3):
        x.grad = y.grad = None
        value = alignment(x, y, alpha=1.5)
        value.backward()
        runs.append((value.detach().clone(), x.grad.clone(), y.grad.clone()))
    assert all(torch.equal(a, b) for run in runs for a, b in zip(run, runs[0], strict=True))
    exact, exact_gradient = cpu.value_and_gradient(x.detach().double(), y.detach().double(), alpha=1.5)
    assert abs(runs[0][0].double() - exact) <= tolerance
    assert (runs[0][1].double() - exact_gradient).norm() <= tolerance * exact_gradient.norm()
    assert torch.equal(runs[0][2], -runs[0][1])
