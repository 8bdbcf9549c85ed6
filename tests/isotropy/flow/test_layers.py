"""ActNorm, orders and mixing: what the first data set, and what training may not do."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lessons_lib.isotropy import flow


def rows(n: int, dim: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32))


@pytest.mark.parametrize("rate", [1.0, 3.0])
def test_50_actnorm_standardises_the_rows_that_set_it(rate):
    x = rows(500, 3) * torch.tensor([1e-4, 1.0, 1e4]) + torch.tensor([1.0, -50.0, 3e4])
    layer = flow.ActNorm(3, rate=rate)
    z = layer.initialise(x)
    assert torch.equal(z, layer(x))
    assert z.double().mean(0).abs().max() < 1e-2
    assert (z.double().std(0, correction=0) - 1).abs().max() < 1e-3
    assert layer.log_scale.detach() * rate == pytest.approx(
        -x.double().std(0, correction=0).log().numpy(), abs=1e-3)


def test_actnorm_is_the_identity_at_first_and_the_rate_moves_a_step_three_times_as_far():
    slow, fast, x = flow.ActNorm(4), flow.ActNorm(4, rate=3.0), rows(5, 4)
    assert torch.equal(slow(x), x) and slow.log_det(x).tolist() == [0] * 5
    with torch.no_grad():
        slow.log_scale += 0.1
        fast.log_scale += 0.1
    one = torch.ones(1, 4)
    assert fast(one)[0, 0].item() == pytest.approx(slow(one)[0, 0].item() ** 3, rel=1e-6)


def test_V16_what_is_constant_leaves_a_finite_log_determinant_and_is_stretched_like_the_others():
    for equal in (0.0, 5.0, 1e-30, -1e30):
        layer = flow.ActNorm(3)
        z = layer.initialise(torch.full((10, 3), equal))
        assert z.abs().max() == 0 and torch.isfinite(layer.log_det(torch.zeros(1, 3))).all()
    x = rows(100, 3) * 4
    x[:, 1] = 0.1
    layer.initialise(x)
    scale = layer.log_scale.exp()
    assert scale[1].item() == pytest.approx(0.25, rel=0.2) and layer(x)[:, 1].abs().max() < 1e-6


def test_V16_training_stretches_no_dimension_without_end():
    x = rows(100, 2)
    for layer, of in ((flow.ActNorm(2), "log_scale"),
                      (flow.InvertibleLinear(np.diag([2.0, 3.0])), "log_diagonal")):
        layer.initialise(x)
        before = getattr(layer, of).detach().clone()
        with torch.no_grad():
            getattr(layer, of).add_(torch.tensor([100.0, 0.5]))
        layer.limit()
        moved = getattr(layer, of).detach() - before
        assert moved.tolist() == pytest.approx([math.log(1e4), 0.5], abs=1e-5)


def test_a_permutation_puts_each_dimension_where_the_order_says():
    x = torch.tensor([[10.0, 20.0, 30.0]])
    assert flow.Permutation([2, 0, 1])(x).tolist() == [[30, 10, 20]]
    assert flow.Permutation.reversal(3)(x).tolist() == [[30, 20, 10]]
    orders = [flow.Permutation.random(50, rng=np.random.default_rng(seed)).order.tolist()
              for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == list(range(50))


def test_52_the_lu_form_is_the_matrix_and_its_log_determinant_the_sum_of_its_diagonal():
    weight = np.random.default_rng(3).normal(size=(6, 6))
    layer = flow.InvertibleLinear(weight)
    assert layer.weight.detach().numpy() == pytest.approx(weight, abs=1e-5)
    x = rows(4, 6)
    assert layer(x).detach().numpy() == pytest.approx(x.numpy() @ weight.T, abs=1e-4)
    assert layer.log_det(x).detach().numpy() == pytest.approx(
        np.full(4, np.linalg.slogdet(weight)[1]), abs=1e-5)
    assert layer.log_diagonal.sum().item() == pytest.approx(np.linalg.slogdet(weight)[1], abs=1e-5)


def test_52_at_the_beginning_a_mixing_is_a_rotation_or_reflection():
    layer = flow.InvertibleLinear.random(7, rng=np.random.default_rng(0))
    weight = layer.weight.detach().numpy()
    assert weight @ weight.T == pytest.approx(np.eye(7), abs=1e-5)
    assert layer.log_det(rows(1, 7)).item() == pytest.approx(0, abs=1e-5)


def test_V16_a_singular_mixing_cannot_arise():
    layer = flow.InvertibleLinear(np.eye(3))
    with torch.no_grad():
        layer.log_diagonal.fill_(-50.0)
    layer.limit()
    x = rows(5, 3)
    assert torch.isfinite(layer.log_det(x)).all()
    assert (layer.double().inverse(layer(x.double())) - x).abs().max() < 1e-4
