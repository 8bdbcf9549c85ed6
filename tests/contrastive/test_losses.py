"""The losses are what their formulas say: values by hand, identities, bounds, and gradients by
finite differences.
"""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.nn import functional as F

from lessons_lib.contrastive.losses import (FEATURES, cosent_loss, cosine_regression, in_batch_loss,
                                            pair_features, softmax_loss, triplet_loss)


def table(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def at_cosines(cosines):
    """Pairs of vectors with these cosines."""
    c = torch.tensor(cosines, dtype=torch.float64)
    return torch.tensor([[1.0, 0.0]], dtype=torch.float64).repeat(len(c), 1), torch.stack(
        [c, (1 - c**2).sqrt()], dim=1)


def wanting(*tables):
    return [x.clone().requires_grad_(True) for x in tables]


@pytest.mark.parametrize("features", [("u", "v", "|u-v|"), ("u", "v"), ("|u-v|",), ("u*v",),
                                      ("|u-v|", "u*v"), tuple(FEATURES)])
def test_59_with_weights_of_zero_every_class_is_as_likely(features):
    u, v = table(5, 4), table(5, 4, seed=1)
    weight = torch.zeros(3, 4 * len(features), dtype=torch.float64)
    assert softmax_loss(u, v, [0, 1, 2, 1, 0], weight, features=features).item() == pytest.approx(
        math.log(3), abs=1e-6)


def test_59_swapping_the_texts_is_swapping_the_first_two_blocks_of_the_weights():
    u, v, weight, bias = table(6, 4), table(6, 4, seed=1), table(3, 12, seed=2), table(3, seed=3)
    label = torch.arange(6) % 3
    swapped = weight[:, [*range(4, 8), *range(4), *range(8, 12)]]
    assert softmax_loss(u, v, label, weight, bias).item() == pytest.approx(
        softmax_loss(v, u, label, swapped, bias).item(), rel=1e-6)
    assert abs(softmax_loss(u, v, label, weight) - softmax_loss(v, u, label, weight)) > 1e-3


def test_features_stand_side_by_side_in_the_order_asked_for():
    u, v = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 1.0]])
    assert pair_features(u, v, ["|u-v|", "u*v", "v", "u"]).tolist() == [[2, 3, 3, -2, 3, 1, 1, -2]]


def test_the_gradient_of_the_softmax_loss_is_probability_minus_one_hot():
    u, v, label = table(4, 3), table(4, 3, seed=1), torch.tensor([2, 0, 1, 1])
    weight, bias = wanting(table(3, 9, seed=2), table(3, seed=3))
    softmax_loss(u, v, label, weight, bias).backward()
    slope = (F.linear(pair_features(u, v), weight, bias).softmax(1) - F.one_hot(label, 3)) / 4
    assert torch.allclose(bias.grad, slope.sum(0), atol=1e-6) and bias.grad.sum().abs() < 1e-6
    assert torch.allclose(weight.grad, slope.T @ pair_features(u, v), atol=1e-6)


def test_cosine_regression_of_known_cosines():
    u, v = at_cosines([1.0, 0.0, -0.5])
    assert cosine_regression(3 * u, v / 7, [1.0, 0.5, 0.0]).item() == pytest.approx(
        (0 + 0.25 + 0.25) / 3)
    assert cosine_regression(u, v.clamp(min=0), [1, 0, 0]).item() == pytest.approx(0, abs=1e-12)


def test_60_triplets_by_hand():
    a, p, n = (torch.tensor([row], dtype=torch.float64)
               for row in ([0.0, 0.0], [1.0, 0.0], [0.0, 3.0]))
    assert triplet_loss(a, p, n).item() == 0
    assert triplet_loss(a, p, n / 3).item() == pytest.approx(1)
    assert triplet_loss(a, p, p, margin=0.7).item() == pytest.approx(0.7)
    assert triplet_loss(a, p, n, margin=2.5).item() == pytest.approx(0.5)


def test_60_in_the_flat_part_the_gradient_is_zero_and_outside_it_is_not():
    a, p, n = wanting(torch.zeros(2, 2), torch.tensor([[1.0, 0.0], [1.0, 0.0]]),
                      torch.tensor([[0.0, 3.0], [0.0, 1.0]]))
    triplet_loss(a, p, n).backward()
    assert not any(x.grad[0].any() for x in (a, p, n)) and all(x.grad[1].any() for x in (a, p, n))


def test_collapsed_triplets_pay_the_margin_and_their_gradient_is_a_number():
    a, p, n = wanting(*[torch.ones(3, 4)] * 3)
    value = triplet_loss(a, p, n)
    value.backward()
    assert value.item() == 1 and not any(x.grad.any() for x in (a, p, n))


def test_the_cosine_distance_ignores_lengths():
    a, p, n = table(4, 5), table(4, 5, seed=1), table(4, 5, seed=2)
    one = triplet_loss(a, p, n, distance="cosine")
    assert one.item() == pytest.approx(triplet_loss(2 * a, p / 3, 5 * n, distance="cosine").item())
    cosine = torch.nn.CosineSimilarity()
    assert one.item() == pytest.approx(F.relu(cosine(a, n) - cosine(a, p) + 1).mean().item())


@pytest.mark.parametrize(("cosines", "expected"), [([0.8, 0.6], 0.018150), ([0.6, 0.8], 4.018150),
                                                   ([0.7, 0.7], math.log(2))])
def test_61_cosent_of_two_pairs(cosines, expected):
    assert cosent_loss(*at_cosines(cosines), [1, 0]).item() == pytest.approx(expected, abs=1e-6)


def test_61_without_an_ordered_pair_nothing_is_lost_and_nothing_learnt():
    u, v = wanting(table(4, 3), table(4, 3, seed=1))
    value = cosent_loss(u, v, [2, 2, 2, 2])
    value.backward()
    assert value.item() == 0 and not u.grad.any() and not v.grad.any()


def test_61_only_the_order_of_labels_counts():
    u, v, label = table(7, 3), table(7, 3, seed=1), torch.tensor([0.0, 3, 1, 1, 2, 5, 4])
    assert cosent_loss(u, v, label).item() == pytest.approx(cosent_loss(u, v,
                                                                        label.exp() - 9).item())


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 3)), min_size=2, max_size=12),
       st.floats(1, 30))
def test_62_cosent_is_the_double_loop_and_bounds_the_worst_violation(pairs, scale):
    cosines, labels = zip(*pairs, strict=True)
    value = cosent_loss(*at_cosines(cosines), labels, scale=scale).item()
    against = [scale * (cosines[j] - cosines[i]) for i, j in product(range(len(pairs)), repeat=2)
               if labels[i] > labels[j]]
    assert value == pytest.approx(math.log1p(sum(map(math.exp, against))), rel=1e-6, abs=1e-6)
    assert value >= max(against, default=0) - 1e-6


@pytest.mark.parametrize("n", [2, 5, 8])
def test_64_equal_vectors_lose_the_log_of_the_candidates(n):
    x = torch.ones(n, 3)
    assert in_batch_loss(x, x).item() == pytest.approx(math.log(n), rel=1e-6)
    assert in_batch_loss(x, x, x).item() == pytest.approx(math.log(2 * n), rel=1e-6)


@pytest.mark.parametrize("temperature", [0.05, 0.5, 2.0])
def test_64_right_angles_and_the_simplex_which_is_the_best(temperature):
    n, x = 6, torch.eye(6, dtype=torch.float64)
    assert in_batch_loss(x, 4 * x, temperature=temperature).item() == pytest.approx(
        math.log1p((n - 1) * math.exp(-1 / temperature)))
    simplex, best = x - 1 / n, math.log1p((n - 1) * math.exp(-n / ((n - 1) * temperature)))
    assert in_batch_loss(simplex, simplex, temperature=temperature).item() == pytest.approx(best)
    for seed in range(5):
        assert in_batch_loss(table(n, n, seed=seed), table(n, n, seed=seed),
                             temperature=temperature) > best


def test_65_the_gradient_is_that_of_a_softmax_over_cosines():
    u, v, w = wanting(table(5, 4), table(5, 4, seed=1), table(5, 4, seed=2))
    in_batch_loss(u, v, w, temperature=0.3, hard_weight=0.4).backward()
    found = [x.grad.clone() for x in (u, v, w)]
    for x in (u, v, w):
        x.grad = None
    unit = [x / x.norm(dim=1, keepdim=True) for x in (u, v, w)]
    logits = torch.cat([unit[0] @ unit[1].T / 0.3, unit[0] @ unit[2].T / 0.3 + 0.4 * torch.eye(5)],
                       dim=1)
    F.cross_entropy(logits, torch.arange(5)).backward()
    assert all(torch.allclose(g, x.grad, atol=1e-10) for g, x in zip(found, (u, v, w), strict=True))


def test_69_the_weight_of_the_own_hard_negative():
    u, v, w = table(4, 3), table(4, 3, seed=1), table(4, 3, seed=2)
    plain = in_batch_loss(u, v, w, temperature=0.5)
    assert in_batch_loss(u, v, w, temperature=0.5, hard_weight=0.0) == plain < in_batch_loss(
        u, v, w, temperature=0.5, hard_weight=1.0)
    unit_u, unit_k = F.normalize(u), F.normalize(torch.cat([v, w]))
    logits = (unit_u @ unit_k.T / 0.5).masked_fill(
        F.one_hot(torch.arange(4) + 4, 8).bool(), -torch.inf)
    dropped = in_batch_loss(u, v, w, temperature=0.5, hard_weight=-math.inf)
    assert dropped.item() == pytest.approx(
        F.cross_entropy(logits, torch.arange(4)).item(), rel=1e-6)


def test_71_a_scale_of_20_is_a_temperature_of_one_twentieth():
    u, v = F.normalize(table(6, 4)), F.normalize(table(6, 4, seed=1))
    assert in_batch_loss(u, v).item() == pytest.approx(
        F.cross_entropy(20 * u @ v.T, torch.arange(6)).item(), rel=1e-6)


def test_partners_can_be_named_and_others_are_negatives():
    u, v, w = table(2, 4), table(6, 4, seed=1), table(6, 4, seed=2)
    found = in_batch_loss(u, v, w, positive=[3, 1], hard_weight=0.5)
    order = [3, 1, 0, 2, 4, 5]
    keys = F.normalize(torch.cat([v[order], w[order]]))
    weights = torch.zeros(2, 12, dtype=torch.float64)
    weights[0, 6] = weights[1, 7] = 0.5
    assert found.item() == pytest.approx(
        F.cross_entropy(F.normalize(u) @ keys.T / 0.05 + weights, torch.arange(2)).item(), rel=1e-6)


def test_E04_equal_texts_are_no_negatives_when_their_numbers_are_given():
    u, v, w = table(4, 3), table(4, 3, seed=1), table(4, 3, seed=2)
    # rows 0 and 2 are one text; w[1] is the text of u[3], w[3] that of u[1]
    query, key = [7, 8, 7, 9], [7, 8, 7, 9, 5, 9, 5, 8]
    logits = F.normalize(u) @ F.normalize(torch.cat([v, w])).T / 0.05
    logits[[0, 2, 3, 1], [2, 0, 5, 7]] = -torch.inf
    found = in_batch_loss(u, v, w, groups=(query, key))
    assert found.item() == pytest.approx(F.cross_entropy(logits, torch.arange(4)).item(), rel=1e-6)
    assert found < in_batch_loss(u, v, w)


@pytest.mark.parametrize("weight", [0.0, 0.7, -math.inf])
def test_E04_masking_goes_together_with_the_weight_of_the_own_hard_negative(weight):
    u, v, w = wanting(table(3, 4), table(3, 4, seed=1), table(3, 4, seed=2))
    masked = in_batch_loss(u, v, w, hard_weight=weight, temperature=0.4,
                           groups=([0, 1, 0], [0, 1, 0, 6, 7, 8]))
    masked.backward()
    logits = F.normalize(u) @ F.normalize(torch.cat([v, w])).T / 0.4
    logits[torch.arange(3), torch.arange(3, 6)] += weight
    logits[[0, 2], [2, 0]] = -torch.inf
    assert masked.item() == pytest.approx(F.cross_entropy(logits, torch.arange(3)).item(), rel=1e-6)
    assert all(x.grad.isfinite().all() and x.grad.any() for x in (u, v, w))


def test_numbers_without_repeats_change_nothing():
    u, v = table(4, 3), table(4, 3, seed=1)
    assert in_batch_loss(u, v, groups=([0, 1, 2, 3], [0, 1, 2, 3])) == in_batch_loss(u, v)


@pytest.mark.parametrize("loss", [
    lambda u, v, w: softmax_loss(u, v, [0, 2, 1, 1],
                                 torch.linspace(-1, 1, 27, dtype=torch.float64).view(3, 9).sin()),
    lambda u, v, w: cosine_regression(u, v, [0.0, 0.3, 0.9, 1.0]),
    lambda u, v, w: triplet_loss(u, v, w, margin=3.0),
    lambda u, v, w: triplet_loss(u, v, w, distance="cosine"),
    lambda u, v, w: cosent_loss(u, v, [3, 1, 1, 0], scale=3.0),
    lambda u, v, w: in_batch_loss(u, v, w, temperature=0.5, hard_weight=0.2),
    lambda u, v, w: in_batch_loss(u, v, temperature=0.5, groups=([0, 1, 0, 2], [0, 1, 0, 2]))
])
def test_gradients_are_finite_differences(loss):
    u, v, w = wanting(table(4, 3), table(4, 3, seed=1), table(4, 3, seed=2))
    assert gradcheck(loss, (u, v, w), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("loss", [cosine_regression, cosent_loss])
def test_lengths_of_vectors_do_not_matter_to_cosines(loss):
    u, v, y = table(5, 3), table(5, 3, seed=1), torch.linspace(0, 1, 5)
    assert loss(9 * u, v / 9, y).item() == pytest.approx(loss(u, v, y).item())


@pytest.mark.parametrize("loss", [
    lambda u, v: softmax_loss(u, v, [0, 1, 1], torch.ones(2, 12, dtype=u.dtype)),
    lambda u, v: cosine_regression(u, v, [0, 1, 1]), lambda u, v: cosent_loss(u, v, [0, 1, 1]),
    lambda u, v: in_batch_loss(u, v)
])
def test_half_types_lose_little_and_give_float32(loss):
    u, v = table(3, 4), table(3, 4, seed=1)
    half = loss(u.bfloat16(), v.bfloat16())
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(loss(u, v).item(), rel=0.1, abs=0.05)
