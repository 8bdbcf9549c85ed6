"""CoSENT: fixtures and identities of the formula, and a sort that gives what all pairs give."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import BackendUnavailable
from lessons_lib.kernels import cosent, trace, use_backend
from lessons_lib.kernels.cosent import cpu, reference

BOTH = pytest.mark.parametrize("backend", ["cpu", "reference"])


def scores(n: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return (2 * torch.rand(n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 1).to(dtype)


def labels(n: int, kinds: int, seed: int = 1) -> torch.Tensor:
    return torch.randint(0, kinds, (n,), generator=torch.Generator().manual_seed(seed))


def gradient_of(similarity: torch.Tensor, label: torch.Tensor, **options: object) -> torch.Tensor:
    similarity = similarity.clone().requires_grad_()
    cosent(similarity, label, **options).backward()
    return similarity.grad


@BOTH
@pytest.mark.parametrize(("similarity", "expected"), [([0.8, 0.6], 0.018150), ([0.6, 0.8], 4.018150), ([0.7, 0.7], math.log(2))])
def test_two_pairs_in_order_in_disorder_and_level(similarity, expected, backend):
    assert cosent(similarity, [1, 0], backend=backend).item() == pytest.approx(expected, abs=5e-7)


@BOTH
@pytest.mark.parametrize("label", [torch.ones(4), torch.zeros(4, dtype=torch.int64)])
def test_without_two_different_labels_the_loss_and_its_gradient_are_zero(label, backend):
    assert cosent(scores(4), label, backend=backend).item() == 0
    assert torch.equal(gradient_of(scores(4), label, backend=backend), torch.zeros(4, dtype=torch.float64))


@BOTH
@pytest.mark.parametrize("n", [0, 1])
def test_a_batch_too_small_for_a_pair_costs_nothing(n, backend):
    similarity = scores(n).requires_grad_()
    loss = cosent(similarity, torch.zeros(n), backend=backend)
    loss.backward()
    assert loss.item() == 0
    assert similarity.grad is None if n == 0 else similarity.grad.item() == 0


def test_the_loss_equals_a_double_loop():
    s, y, scale = scores(23).tolist(), labels(23, 4).tolist(), 7.0
    total = 1.0
    for i in range(23):
        for j in range(23):
            if y[i] > y[j]:
                total += math.exp(scale * (s[j] - s[i]))
    assert cosent(s, y, scale=scale).item() == pytest.approx(math.log(total), rel=1e-13)
    assert cosent(s, y, scale=scale, backend="reference").item() == pytest.approx(math.log(total), rel=1e-13)


def test_the_gradient_of_the_formula_is_its_derivative():
    s, y = scores(9).requires_grad_(), labels(9, 3)
    assert torch.autograd.gradcheck(lambda v: reference.cosent(v, y, scale=5.0), s)
    (expected,) = torch.autograd.grad(reference.cosent(s, y, scale=5.0), s)
    torch.testing.assert_close(reference.value_and_gradient(s.detach(), y, scale=5.0)[1], expected, rtol=1e-12, atol=1e-14)


@given(st.integers(0, 60), st.integers(1, 30), st.floats(0.01, 200), st.floats(0.01, 50), st.integers(0, 100))
def test_sorting_gives_what_all_pairs_give(n, kinds, scale, spread, seed):
    s, y = scores(n, seed) * spread, labels(n, kinds, seed)
    expected, expected_gradient = reference.value_and_gradient(s, y, scale=scale)
    value, gradient = cpu.value_and_gradient(s, y, scale=scale)
    assert torch.equal(value, cpu.cosent(s, y, scale=scale))
    torch.testing.assert_close(value, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.parametrize("scale", [20.0, 100.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrow_types_lose_nothing_but_the_rounding_of_the_result(dtype, scale):
    s, y = scores(200, dtype=dtype), labels(200, 6)
    exact, exact_gradient = reference.value_and_gradient(s.double(), y, scale=scale)
    s.requires_grad_()
    loss = cosent(s, y, scale=scale)
    loss.backward()
    assert loss.dtype == torch.float32 and s.grad.dtype == dtype
    torch.testing.assert_close(loss.double(), exact, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(s.grad.double(), exact_gradient, rtol=torch.finfo(dtype).eps, atol=torch.finfo(dtype).tiny)


def test_the_order_in_which_pairs_come_does_not_matter():
    s, y = scores(40), labels(40, 5)
    turn = torch.randperm(40, generator=torch.Generator().manual_seed(2))
    assert cosent(s[turn], y[turn]).item() == pytest.approx(cosent(s, y).item(), rel=1e-13)
    torch.testing.assert_close(gradient_of(s[turn], y[turn]), gradient_of(s, y)[turn], rtol=1e-11, atol=1e-13)


def test_adding_a_constant_to_all_similarities_changes_nothing():
    s, y = scores(40), labels(40, 5)
    assert cosent(s + 3, y).item() == pytest.approx(cosent(s, y).item(), rel=1e-12)


@pytest.mark.parametrize("relabel", [lambda y: 10 * y - 3, lambda y: y.double() ** 3, lambda y: y.float().exp(), lambda y: y.to(torch.uint8),
                                     lambda y: y.half(), lambda y: y.bfloat16(), lambda y: y.numpy(), lambda y: y.tolist()])
def test_labels_count_by_their_order_alone(relabel):
    s, y = scores(40), labels(40, 5)
    assert cosent(s, relabel(y)).item() == cosent(s, y).item()


@pytest.mark.parametrize("label", [torch.tensor([2**63, 1], dtype=torch.uint64), np.array([2**63, 1], dtype=np.uint64), [2**63, 1],
                                   [2**64 + 1, 2**64], [2**53 + 1, 2**53], np.array([2**62 + 1, 2**62]), [2**63, -1], [2**64, 0.5]])
def test_labels_of_any_size_are_compared_exactly(label):
    assert cosent([0.1, 0.9], label).item() == cosent([0.1, 0.9], [1, 0]).item() > 1


def test_two_labels_may_be_true_and_false():
    s, y = scores(10), labels(10, 2)
    assert cosent(s, y.bool()).item() == cosent(s, y).item() == cosent(s, y.bool().numpy()).item()


@BOTH
def test_the_gradients_add_up_to_zero(backend):
    assert gradient_of(scores(60), labels(60, 7), backend=backend).sum().abs() < 1e-12


@given(st.integers(2, 40), st.floats(1, 100), st.integers(0, 100))
def test_the_loss_is_never_below_its_worst_violation_nor_far_above(n, scale, seed):
    s, y = scores(n, seed), labels(n, 4, seed)
    pairs = [(s[j] - s[i]).item() for i in range(n) for j in range(n) if y[i] > y[j]]
    worst = max([0.0, *(scale * gap for gap in pairs)])
    assert worst - 1e-9 <= cosent(s, y, scale=scale).item() <= worst + math.log(1 + len(pairs)) + 1e-9


@pytest.mark.parametrize("scale", [1.0, 20.0, 100.0])
def test_a_perfect_order_with_a_margin_costs_almost_nothing(scale):
    y = torch.arange(6).repeat(3)
    margin, ordered_pairs = 0.15, 15 * 9
    assert 0 < cosent(margin * y.double(), y, scale=scale).item() <= ordered_pairs * math.exp(-scale * margin)


def test_the_higher_label_is_pulled_up_and_the_lower_one_down():
    up, down = gradient_of(torch.tensor([0.3, 0.5]), torch.tensor([1, 0])).tolist()
    assert up == pytest.approx(-20 / (1 + math.exp(-4)), rel=1e-6) and down == -up      # a step goes against the gradient


def test_similarities_far_apart_neither_overflow_nor_vanish():
    s = torch.tensor([-1e4, 1e4, 0.0, 5e3], dtype=torch.float32)
    y = torch.tensor([3, 0, 1, 2])
    for backend in ("cpu", "reference"):
        assert cosent(s, y, scale=100.0, backend=backend).item() == pytest.approx(2e6, rel=1e-6)
        torch.testing.assert_close(gradient_of(s, y, scale=100.0, backend=backend), torch.tensor([-100.0, 100.0, 0.0, 0.0]))


def test_a_mask_of_minus_1e12_breaks_in_float16_and_this_loss_has_none():
    keep = torch.tensor([[1.0, 0.0]], dtype=torch.float16)
    masked = torch.tensor([[0.2, 0.4]], dtype=torch.float16) - (1 - keep) * torch.tensor(1e12).half()       # the source's way: minus (1 - keep) 1e12
    assert math.isnan(masked[0, 0]) and masked[0, 1] == -math.inf                   # 0 · inf where the pair should count
    assert cosent(torch.tensor([0.2, 0.4], dtype=torch.float16), [1, 0]).item() == pytest.approx(math.log1p(math.exp(4)), rel=1e-3)


def test_the_value_without_a_gradient_is_the_same_value():
    s, y = scores(30), labels(30, 4)
    with torch.no_grad():
        alone = cosent(s.clone().requires_grad_(), y)
    assert not alone.requires_grad and alone.item() == cosent(s.clone().requires_grad_(), y).item()


def test_a_gradient_from_above_is_handed_down():
    s, y = scores(30), labels(30, 4)
    scaled = s.clone().requires_grad_()
    (3 * cosent(scaled, y)).backward()
    torch.testing.assert_close(scaled.grad, 3 * gradient_of(s, y))


def test_the_operation_is_known_to_autograd_and_to_the_compiler():
    for gradient in (True, False):
        s = scores(11, dtype=torch.float32).requires_grad_(gradient)
        torch.library.opcheck(torch.ops.lessons_lib.cosent.default, (s, labels(11, 3), 20.0, gradient, "cpu"))
    compiled = torch.compile(lambda s, y: cosent(2 * s, y), backend="aot_eager", fullgraph=True)
    s = scores(11).requires_grad_()
    for y in (labels(11, 3), labels(11, 3).double()):
        torch.testing.assert_close(compiled(s, y), cosent(2 * s, y))


def test_a_second_derivative_is_refused_not_silently_zero():
    s = scores(5).requires_grad_()
    (gradient,) = torch.autograd.grad(cosent(s, labels(5, 3)), s, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivative only"):
        gradient.sum().backward()


def test_views_are_read_as_they_lie_and_left_alone():
    wide, y = torch.stack([scores(20), scores(20, 5)], dim=1), torch.stack([labels(20, 3), labels(20, 3, 9)], dim=1)
    before = wide.clone()
    assert cosent(wide[:, 0], y[:, 0]).item() == cosent(wide[:, 0].clone(), y[:, 0].clone()).item()
    assert torch.equal(wide, before)


@BOTH
@pytest.mark.parametrize("label", [[0, 1, 2], [2, 1, 0], [1, 1, 1]])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_missing_similarity_shows_instead_of_vanishing(place, label, backend):
    s = scores(3)
    s[place] = math.nan
    assert math.isnan(cosent(s, label, backend=backend).item())
    assert math.isnan(cosent(s.requires_grad_(), label, backend=backend).item())


@pytest.mark.parametrize("label", [[0.0, math.nan, 1.0], np.array([0.0, math.nan, 1.0]), torch.tensor([0.0, math.nan, 1.0])])
def test_E05_a_missing_label_is_named_with_its_place(label):
    with pytest.raises(ValueError, match=r"label\[1\] holds NaN or infinity \(1 of 3"):
        cosent(scores(3), label)


def test_E05_a_missing_label_that_nobody_may_look_at_gives_nan():
    compiled = torch.compile(cosent, backend="aot_eager", fullgraph=True)
    assert math.isnan(compiled(scores(3), torch.tensor([0.0, math.nan, 1.0])).item())
    assert math.isfinite(compiled(scores(3), torch.tensor([0.0, 2.0, 1.0])).item())


@pytest.mark.parametrize(("similarity", "label", "error", "words"), [
    ([[0.1, 0.2]], [0, 1], ValueError, "similarity has shape"),
    ([0.1, 0.2], [0, 1, 2], ValueError, "label has shape (3,); expected (2,)"),
    ([0.1, 0.2], [[0, 1]], ValueError, "label has shape"),
    (torch.tensor([1, 2]), [0, 1], TypeError, "similarity.float()"),
    ([0.1, 0.2], ["low", "high"], TypeError, "label"),
    (["a", "b"], [0, 1], TypeError, "similarity"),
    ([0.1, 0.2], torch.tensor([1j, 2j]), TypeError, "label"),
])
def test_wrong_inputs_are_named(similarity, label, error, words):
    with pytest.raises(error) as caught:
        cosent(similarity, label)
    assert words in str(caught.value)


@pytest.mark.parametrize("scale", [0, -1.0, math.nan, math.inf, True, "20"])
def test_a_scale_that_has_no_meaning_is_refused(scale):
    with pytest.raises((ValueError, TypeError), match="scale="):
        cosent([0.1, 0.2], [0, 1], scale=scale)


def test_P27_a_kernel_that_does_not_exist_is_refused_with_the_reason():
    with pytest.raises(BackendUnavailable, match="sorting by label"):
        cosent([0.1, 0.2], [0, 1], backend="triton")
    with pytest.raises(ValueError, match="'reference'"):
        cosent([0.1, 0.2], [0, 1], backend="referense")


def test_a_trace_says_what_ran():
    with trace() as t, use_backend("reference"):
        cosent([0.1, 0.2], [0, 1])
    assert [(run.operation, run.backend) for run in t.runs] == [("cosent", "reference")]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 1e-2), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize("n", [1000, 4097, 65_537])
def test_gpu_algebra_agrees_with_the_processor(n, dtype, tolerance):
    s, y = scores(n, dtype=dtype), labels(n, 6)
    gradient = gradient_of(s.cuda(), y.cuda())
    exact, exact_gradient = cpu.value_and_gradient(s.double(), y, scale=20.0)
    assert abs(cosent(s.cuda(), y.cuda()).item() - exact.item()) <= tolerance * exact.item()
    assert (gradient.cpu().double() - exact_gradient).norm() <= tolerance * exact_gradient.norm()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_E05_a_missing_label_on_a_gpu_gives_nan():
    assert math.isnan(cosent(scores(3).cuda(), torch.tensor([0.0, math.nan, 1.0], device="cuda")).item())
