"""The losses are what their formulas say: values by hand, identities, bounds, and gradients."""

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
    a, p, n = wanting(*[torch.ones(3, 4)] * 3)       # collapsed triplets pay the margin
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


def test_61_only_the_order_of_labels_counts_and_without_any_nothing_is_learnt():
    u, v = wanting(table(4, 3), table(4, 3, seed=1))
    value = cosent_loss(u, v, [2, 2, 2, 2])
    value.backward()
    assert value.item() == 0 and not u.grad.any() and not v.grad.any()
    u, v, label = table(7, 3), table(7, 3, seed=1), torch.tensor([0.0, 3, 1, 1, 2, 5, 4])
    other = cosent_loss(u, v, label.exp() - 9)
    assert cosent_loss(u, v, label).item() == pytest.approx(other.item())


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


def in_batch_by_hand(u, v, w=None, *, temperature=0.05, hard_weight=0.0, positive=None,
                     groups=None):
    """The formula, query by query."""
    keys, losses = v if w is None else torch.cat([v, w]), []
    for i, own in enumerate(range(len(u)) if positive is None else positive):
        logits = F.cosine_similarity(u[i : i + 1], keys) / temperature
        weights = torch.zeros(len(keys))
        weights[own + len(v) :][:1] = hard_weight
        kept = [j for j in range(len(keys))
                if j == own or groups is None or groups[0][i] != groups[1][j]]
        losses.append((logits + weights)[kept].logsumexp(0) - logits[own])
    return torch.stack(losses).mean()


EQUAL = ([7, 8, 7, 9], [7, 8, 7, 9, 5, 9, 5, 8])     # E04: w[1] is the text of u[3], w[3] of u[1]


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("options", [
    {}, {"temperature": 0.3}, {"hard_weight": 0.4}, {"hard_weight": -math.inf},
    {"positive": [3, 1]}, {"positive": [3, 1], "hard_weight": 0.5}, {"groups": EQUAL},
    {"groups": EQUAL, "hard_weight": 0.7}, {"groups": EQUAL, "hard_weight": -math.inf},
    {"groups": ([0, 1, 2, 3], list(range(8)))}])
def test_65_69_71_E04_in_batch_loss_and_its_gradient_are_the_formula_whatever_is_asked(
        hard, options):
    if "hard_weight" in options and not hard:
        pytest.skip("a weight of what is not there is refused")
    n = len(options.get("positive", range(4)))
    if "groups" in options and not hard:
        options = {"groups": (options["groups"][0], options["groups"][1][:4])}
    tables = wanting(table(n, 5), table(4, 5, seed=1), table(4, 5, seed=2))[: 2 + hard]
    found, wanted = in_batch_loss(*tables, **options), in_batch_by_hand(*tables, **options)
    assert found.item() == pytest.approx(wanted.item(), rel=1e-6)
    for mine, other in zip(torch.autograd.grad(found, tables), torch.autograd.grad(wanted, tables),
                           strict=True):
        assert torch.allclose(mine, other, atol=1e-8) and other.any()


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
