"""CoSENT: fixtures and identities of the formula, and a sort that gives what all pairs give."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.kernels import cosent

from .conftest import gpu, with_gradients

ours = importlib.import_module("lessons_lib.kernels.cosent")
BOTH = pytest.mark.parametrize("backend", ["cpu", "reference"])
MISSING = torch.tensor([0.0, math.nan, 1.0])


def scores(n: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.rand(n, generator=generator, dtype=torch.float64) - 1


def labels(n: int, kinds: int, seed: int = 1) -> torch.Tensor:
    return torch.randint(0, kinds, (n,), generator=torch.Generator().manual_seed(seed))


def gradient_of(similarity: torch.Tensor, label: torch.Tensor, **options: object) -> torch.Tensor:
    return with_gradients(lambda s: cosent(s, label, **options), similarity)[1]


@BOTH
@pytest.mark.parametrize(("similarity", "expected"), [
    ([0.8, 0.6], 0.018150), ([0.6, 0.8], 4.018150), ([0.7, 0.7], math.log(2))])
def test_two_pairs_in_order_in_disorder_and_level(similarity, expected, backend):
    assert cosent(similarity, [1, 0], backend=backend).item() == pytest.approx(expected, abs=5e-7)


@BOTH
@pytest.mark.parametrize("label", [torch.ones(4), torch.zeros(4, dtype=torch.int64), torch.ones(1),
                                   torch.ones(0)])
def test_without_two_different_labels_the_loss_and_its_gradient_are_zero(label, backend):
    s = scores(len(label)).requires_grad_()
    loss = cosent(s, label, backend=backend)
    loss.backward()
    assert loss.item() == 0 and (s.grad is None if len(s) == 0 else not s.grad.any())


@given(st.integers(0, 60), st.integers(1, 30), st.floats(0.01, 200), st.floats(0.01, 50),
       st.integers(0, 100))
def test_sorting_gives_what_all_pairs_give(n, kinds, scale, spread, seed):
    s, chosen = scores(n, seed) * spread, {"label": labels(n, kinds, seed), "scale": scale}
    expected, expected_gradient = ours.reference_value_and_gradient(s, **chosen)
    value, gradient = ours.cpu_value_and_gradient(s, **chosen)
    assert torch.equal(value, ours.cpu_cosent(s, **chosen))
    torch.testing.assert_close(value, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-9, atol=1e-10 * scale)
    if n:
        derived = with_gradients(lambda x: ours.reference_cosent(x, **chosen), s)[1]
        torch.testing.assert_close(expected_gradient, derived, rtol=1e-9, atol=1e-10 * scale)


@given(st.integers(2, 40), st.floats(1, 100), st.integers(0, 100))
def test_the_loss_is_that_of_a_double_loop_and_near_its_worst_violation(n, scale, seed):
    s, y = scores(n, seed), labels(n, 4, seed)
    gaps = [scale * (s[j] - s[i]).item() for i in range(n) for j in range(n) if y[i] > y[j]]
    worst, value = max([0.0, *gaps]), cosent(s, y, scale=scale).item()
    loop = worst + math.log(math.exp(-worst) + math.fsum(math.exp(gap - worst) for gap in gaps))
    assert value == pytest.approx(loop, rel=1e-9, abs=1e-9)
    assert worst - 1e-9 <= value <= worst + math.log(1 + len(gaps)) + 1e-9


def test_order_and_level_of_the_pairs_do_not_matter_and_gradients_add_up_to_zero():
    s, y = scores(40), labels(40, 5)
    turn = torch.randperm(40, generator=torch.Generator().manual_seed(2))
    value, gradient = cosent(s, y).item(), gradient_of(s, y)
    assert cosent(s[turn], y[turn]).item() == pytest.approx(value, rel=1e-13)
    assert cosent(s + 3, y).item() == pytest.approx(value, rel=1e-12)
    torch.testing.assert_close(gradient_of(s[turn], y[turn]), gradient[turn], rtol=1e-11,
                               atol=1e-13)
    assert gradient.sum().abs() < 1e-12 > gradient_of(s, y, backend="reference").sum().abs()


@pytest.mark.parametrize("relabel", [
    lambda y: 10 * y - 3, lambda y: y.double() ** 3, lambda y: y.float().exp(),
    lambda y: y.to(torch.uint8), lambda y: y.half(), lambda y: y.bfloat16(), lambda y: y.numpy(),
    lambda y: y.tolist(), lambda y: torch.stack([y, -y], dim=1)[:, 0]])
def test_labels_count_by_their_order_alone(relabel):
    s, y = scores(40), labels(40, 5)
    assert cosent(s, relabel(y)).item() == cosent(s, y).item()
    two = y > 2
    assert cosent(s, two).item() == cosent(s, two.long()).item() == cosent(s, two.numpy()).item()


@pytest.mark.parametrize("label", [
    torch.tensor([2**63, 1], dtype=torch.uint64), np.array([2**63, 1], dtype=np.uint64),
    [2**63, 1], [2**64 + 1, 2**64], [2**53 + 1, 2**53], np.array([2**62 + 1, 2**62]), [2**63, -1],
    [2**64, 0.5]])
def test_labels_of_any_size_are_compared_exactly(label):
    assert cosent([0.1, 0.9], label).item() == cosent([0.1, 0.9], [1, 0]).item() > 1


@pytest.mark.parametrize("scale", [1.0, 20.0, 100.0])
def test_a_perfect_order_with_a_margin_costs_almost_nothing(scale):
    y, margin, ordered_pairs = torch.arange(6).repeat(3), 0.15, 15 * 9
    value = cosent(margin * y.double(), y, scale=scale).item()
    assert 0 < value <= ordered_pairs * math.exp(-scale * margin)


def test_the_higher_label_is_pulled_up_and_the_lower_one_down():
    up, down = gradient_of(torch.tensor([0.3, 0.5]), torch.tensor([1, 0])).tolist()
    assert up == pytest.approx(-20 / (1 + math.exp(-4)), rel=1e-6) and down == -up


@BOTH
def test_similarities_far_apart_and_large_scales_neither_overflow_nor_vanish(backend):
    s, y = torch.tensor([-1e4, 1e4, 0.0, 5e3]), torch.tensor([3, 0, 1, 2])
    chosen = {"scale": 100.0, "backend": backend}
    assert cosent(s, y, **chosen).item() == pytest.approx(2e6, rel=1e-6)
    expected = torch.tensor([-100.0, 100.0, 0.0, 0.0])
    torch.testing.assert_close(gradient_of(s, y, **chosen), expected)
    value, gradient = with_gradients(lambda x: cosent(x, [1, 0], scale=1e30, backend=backend),
                                     torch.tensor([1.0, 5.0]))
    assert value.item() == pytest.approx(4e30, rel=1e-6) and gradient.isfinite().all()


def test_a_mask_of_minus_1e12_breaks_in_float16_and_this_loss_has_none():
    keep, s = torch.tensor([1.0, 0.0]).half(), torch.tensor([0.2, 0.4]).half()
    masked = s - (1 - keep) * torch.tensor(1e12).half()         # the source's way
    assert math.isnan(masked[0]) and masked[1] == -math.inf     # 0 · inf where the pair counts
    assert cosent(s, [1, 0]).item() == pytest.approx(math.log1p(math.exp(4)), rel=1e-3)


@BOTH
@pytest.mark.parametrize("label", [[0, 1, 2], [2, 1, 0], [1, 1, 1]])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_missing_similarity_shows_wherever_it_stands(place, label, backend):
    s = scores(3)
    s[place] = math.nan
    assert math.isnan(cosent(s, label, backend=backend).item())
    assert math.isnan(cosent(s.requires_grad_(), label, backend=backend).item())


def test_E05_a_missing_label_that_nobody_may_look_at_gives_nan():
    compiled = torch.compile(cosent, backend="aot_eager", fullgraph=True)
    assert math.isnan(compiled(scores(3), MISSING).item())
    assert math.isfinite(compiled(scores(3), MISSING.nan_to_num(2.0)).item())


@pytest.mark.gpu
@gpu
def test_E05_a_missing_label_on_a_gpu_gives_nan():
    assert math.isnan(cosent(scores(3).cuda(), MISSING.cuda()).item())
