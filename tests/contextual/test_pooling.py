"""Poolings are what their names say, and identities hold between them."""

from __future__ import annotations

import pytest
import torch

from lessons_lib.contextual import Pooling
from lessons_lib.contextual.pooling import POOLINGS

BLOCKS = 4
STATES = {number: torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(number))
          for number in range(BLOCKS + 1)}
MASK = torch.arange(5) < torch.tensor([5, 3, 1])[:, None]


def pooled(name, normalize=False, **options):
    pooling = Pooling(name, **options)
    return pooling({number: STATES[number] for number in pooling.states(BLOCKS)}, MASK, torch.tanh,
                   normalize=normalize)


def mean(number):
    return torch.stack([row[seen].mean(0) for row, seen in zip(STATES[number], MASK, strict=True)])


@pytest.mark.parametrize("name, read", [("last", [4]), ("mean", [4]), ("first-last", [1, 4]),
                                        ("static-last", [0, 4]), ("last-2", [3, 4]),
                                        ("last-3", [2, 3, 4]), ("last-4", [1, 2, 3, 4]),
                                        ("all", [0, 1, 2, 3, 4])])
def test_41_a_mean_of_layers_is_the_mean_of_their_means(name, read):
    expected = sum(mean(number) for number in read) / len(read)
    assert (pooled(name) - expected).abs().max() <= 1e-6


def test_cls_pooler_maximum_and_a_single_layer():
    assert torch.equal(pooled("cls"), STATES[4][:, 0])
    assert torch.equal(pooled("cls", layer=2), STATES[2][:, 0])
    assert torch.equal(pooled("pooler"), torch.tanh(STATES[4][:, 0]))
    expected = torch.stack([row[seen].amax(0) for row, seen in zip(STATES[1], MASK, strict=True)])
    assert torch.equal(pooled("max", layer=1), expected)
    for number in range(BLOCKS + 1):
        assert (pooled("mean", layer=number) - mean(number)).abs().max() <= 1e-6


def test_40_of_one_token_mean_and_maximum_are_that_token():
    assert all(torch.equal(pooled(name)[2], STATES[4][2, 0]) for name in ("last", "max", "cls"))


@pytest.mark.parametrize("name", POOLINGS)
def test_normalised_vectors_have_norm_one(name):
    assert (pooled(name, normalize=True).norm(dim=1) - 1).abs().max() <= 1e-6


def test_a_pooling_says_what_it_is():
    assert str(Pooling("mean", 3)) == "mean of layer 3"
    assert str(Pooling("last", special_tokens=False)) == "last, no special tokens"
