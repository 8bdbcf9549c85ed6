"""Gradient caching gives the gradient of the whole batch, and reads only a part at a time."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
import torch

from lessons_lib.contrastive.training import cached_backward, direct_backward
from lessons_lib.contrastive.heads import MlpHead
from lessons_lib.contrastive.losses import in_batch_loss
from lessons_lib.contrastive.reading import Reading


def gradients(model):
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.fixture
def learner(encoder):
    return Reading(encoder, dropout=0.2)


@pytest.fixture
def parts(learner, texts):
    """Twelve texts twice, in parts of five rows, each with masks of its own."""
    numbered, rows = learner.number(texts), np.tile(np.arange(12), 2)
    return [lambda part=rows[i:i + 5], seed=i: learner(numbered, part, seed=seed)
            for i in range(0, 24, 5)]


def two_views(x):
    return in_batch_loss(x[:12], x[12:], temperature=0.2)


def test_the_gradient_is_that_of_the_whole_batch(learner, parts):
    value = direct_backward(parts, two_views)
    direct = gradients(learner)
    learner.zero_grad()
    cached = cached_backward(parts, two_views)
    largest = max(g.abs().max() for g in direct.values())
    assert cached == value and not cached.requires_grad and largest > 1e-2
    once = gradients(learner)
    assert max((g - direct[name]).abs().max() for name, g in once.items()) <= 1e-6 * largest
    cached_backward(parts, two_views)             # gradients are added to those that are there
    assert all(torch.allclose(g, 2 * once[name], atol=1e-6)
               for name, g in gradients(learner).items())


def test_other_masks_the_second_time_would_give_another_gradient(learner, texts):
    numbered, seeds = learner.number(texts), iter(range(100))
    careless = [lambda part=part: learner(numbered, part, seed=next(seeds))
                for part in np.split(np.tile(np.arange(12), 2), 4)]
    cached_backward(careless, two_views)
    found = gradients(learner)
    learner.zero_grad()
    direct_backward([lambda part=part, seed=seed: learner(numbered, part, seed=seed)
                     for seed, part in enumerate(np.split(np.tile(np.arange(12), 2), 4))],
                    two_views)
    assert max((g - found[name]).abs().max() for name, g in gradients(learner).items()) > 1e-3


def test_a_head_in_the_loss_gets_its_gradient_once(learner, parts):
    head = MlpHead(learner.dim, seed=3)
    cached_backward(parts, lambda x: two_views(head(x)))
    cached = gradients(head)
    head.zero_grad()
    direct_backward(parts, lambda x: two_views(head(x)))
    assert all(torch.equal(g, cached[name]) and g.any() for name, g in gradients(head).items())


class Alive(torch.autograd.Function):
    """The identity, which knows how many graphs it is part of at a time, and how many there were at
    most.
    """

    now = most = 0

    @classmethod
    def more(cls, n):
        cls.now += n
        cls.most = max(cls.most, cls.now)

    @staticmethod
    def forward(ctx, x):
        Alive.more(1)
        weakref.finalize(ctx, Alive.more, -1)
        return x.clone()

    @staticmethod
    def backward(ctx, upstream):
        return upstream


def test_no_more_than_one_part_has_a_graph_at_a_time(learner, texts):
    numbered, most = learner.number(texts), []
    parts = [lambda i=i: Alive.apply(learner(numbered, np.arange(i, i + 4), seed=i))
             for i in range(0, 24, 4)]
    for run in (direct_backward, cached_backward):
        Alive.most = 0
        run(parts, lambda x: x.square().sum())
        most.append(Alive.most)
    assert most == [6, 1]


def test_a_part_without_any_piece_is_passed_over(learner):
    numbered = learner.number(["sea"])
    nothing = type(numbered)(numbered.ids[:0], numbered.places[:0], np.zeros(3, np.int64))
    value = cached_backward([lambda: learner(numbered, np.array([0]), seed=1),
                             lambda: learner(nothing, np.array([0, 1]), seed=2)],
                            lambda x: (x - 1).square().sum())
    assert value > 2 * learner.dim and any(g.any() for g in gradients(learner).values())
