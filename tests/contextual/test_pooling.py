"""Poolings are what their names say, and identities hold between them."""

from __future__ import annotations

import pytest
import torch

from lessons_lib.contextual import Pooling
from lessons_lib.contextual.pooling import POOLINGS

BLOCKS = 4


@pytest.fixture(scope="module")
def states():
    chance = torch.Generator().manual_seed(0)
    return {number: torch.randn(3, 5, 6, generator=chance) for number in range(BLOCKS + 1)}


@pytest.fixture(scope="module")
def mask():
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1, 3:], mask[2, 1:] = False, False
    return mask


def pooled(states, mask, name, **options):
    pooling = Pooling(name, **options)
    return pooling({number: states[number] for number in pooling.states(BLOCKS)}, mask, torch.tanh)


def mean(state, mask):
    return torch.stack([row[seen].mean(0) for row, seen in zip(state, mask, strict=True)])


@pytest.mark.parametrize("name, read", [("last", [4]), ("mean", [4]), ("first-last", [1, 4]),
                                        ("static-last", [0, 4]), ("last-2", [3, 4]),
                                        ("last-3", [2, 3, 4]), ("last-4", [1, 2, 3, 4]),
                                        ("all", [0, 1, 2, 3, 4])])
def test_41_a_mean_of_layers_is_the_mean_of_their_means(states, mask, name, read):
    expected = sum(mean(states[number], mask) for number in read) / len(read)
    assert (pooled(states, mask, name) - expected).abs().max() <= 1e-6


def test_cls_pooler_and_max(states, mask):
    assert torch.equal(pooled(states, mask, "cls"), states[4][:, 0])
    assert torch.equal(pooled(states, mask, "cls", layer=2), states[2][:, 0])
    assert torch.equal(pooled(states, mask, "pooler"), torch.tanh(states[4][:, 0]))
    expected = torch.stack([row[seen].amax(0) for row, seen in zip(states[1], mask, strict=True)])
    assert torch.equal(pooled(states, mask, "max", layer=1), expected)


def test_40_of_one_token_mean_and_maximum_are_that_token(states, mask):
    for name in ("last", "max", "cls"):
        assert torch.equal(pooled(states, mask, name)[2], states[4][2, 0])


def test_a_layer_is_read_alone(states, mask):
    for number in range(BLOCKS + 1):
        assert (pooled(states, mask, "mean", layer=number) -
                mean(states[number], mask)).abs().max() <= 1e-6


@pytest.mark.parametrize("name", POOLINGS)
def test_normalised_vectors_have_length_one(states, mask, name):
    pooling = Pooling(name)
    found = pooling({number: states[number] for number in pooling.states(BLOCKS)}, mask, torch.tanh,
                    normalize=True)
    assert (found.norm(dim=1) - 1).abs().max() <= 1e-6


def test_a_pooling_says_what_it_is():
    assert str(Pooling("mean", 3)) == "mean of layer 3"
    assert str(Pooling("last", special_tokens=False)) == "last, no special tokens"
