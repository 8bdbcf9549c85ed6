"""Heads are their formulas, begin with weights that a seed decides, and learn."""

from __future__ import annotations

import math

import pytest
import torch

from lessons_lib.contrastive.heads import Classifier, MlpHead
from lessons_lib.contrastive.losses import softmax_loss

U, V = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))


def test_the_classifier_is_a_linear_map_of_the_features():
    head = Classifier(4, features=("u", "|u-v|"), classes=5)
    by_hand = torch.cat([U, (U - V).abs()], 1) @ head.weight.T + head.bias
    assert head.weight.shape == (5, 8) and torch.allclose(head(U, V), by_hand, atol=1e-6)
    label = torch.tensor([0, 1, 2, 3, 4, 0])
    assert head.loss(U, V, label) == softmax_loss(U, V, label, head.weight, head.bias,
                                                  features=head.features)


def test_59_the_classifier_begins_near_the_log_of_its_classes_and_learns():
    head, label = Classifier(4, seed=1), torch.arange(6) % 3
    optimizer, first = torch.optim.SGD(head.parameters(), lr=0.3), head.loss(U, V, label).item()
    for _ in range(60):
        optimizer.zero_grad()
        head.loss(U, V, label).backward()
        optimizer.step()
    assert abs(first - math.log(3)) < 0.7 and head.loss(U, V, label) < first / 2


def test_the_mlp_head_is_tanh_of_a_square_map():
    head = MlpHead(4, seed=2)
    assert torch.allclose(head(U), (U @ head.weight.T + head.bias).tanh(), atol=1e-6)
    assert head.weight.shape == (4, 4)


@pytest.mark.parametrize("kind", [Classifier, MlpHead])
def test_start_weights_come_from_the_seed_alone(kind):
    before = torch.get_rng_state()
    a, b, c = (kind(16, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(a.weight, b.weight) and not torch.equal(a.weight, c.weight)
    assert torch.equal(torch.get_rng_state(), before)
    bound = a.weight.shape[1] ** -0.5
    assert a.weight.abs().max() <= bound
    assert a.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.15)
