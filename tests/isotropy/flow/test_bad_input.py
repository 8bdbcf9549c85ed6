"""What flows are given wrongly: the class of the error, and the words that its message holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lessons_lib.isotropy import flow
from lessons_lib.isotropy.flow import Flow, bert_flow
from lessons_lib.isotropy.flow.table import unit_of

V, T = ValueError, TypeError
X = np.random.default_rng(0).normal(size=(50, 4))


class Nothing(torch.nn.Module):
    """Stands for a coupling net."""


def fits(x=X, **settings):
    return lambda: Flow(**settings).fit(x)


def plans(**settings):
    return lambda: flow.Architecture(**settings)


@pytest.mark.parametrize(("call", "error", "words"), [
    (fits(np.zeros(100)), V, ["shape (100,)", "2 axes"]),                                # V06
    *[(fits(np.array(x)), T, ["real numbers"])                                           # V07
      for x in ([["a"]], [[1 + 1j] * 2] * 3, np.zeros((3, 2), dtype=object))],
    (fits(np.zeros((0, 3))), V, ["0 rows", ">= 2"]),                                     # V13
    (fits(np.ones((1, 3))), V, ["1 rows", ">= 2"]),
    (fits(np.ones((9, 3))), V, ["9 rows, all of them equal", ">= 2 different rows"]),
    (lambda: unit_of(np.full((5, 3), 0.1)), V, ["5 rows, all of them equal"]),
    (fits(kind="glov"), V, ["Did you mean 'glow'"]), (fits(levels=0), V, ["levels=0"]),  # P25, P27
    (fits(levels=9), V, ["levels=9 would halve 4"]), (fits(depth=0), V, ["depth=0"]),
    (fits(width=1.5), T, ["width=1.5"]), (fits(mixing="x"), V, ["mixing='x'"]),
    (fits(coupling="x"), V, ["coupling='x'"]), (fits(rate=0.0), V, ["rate=0.0"]),
    (fits(epochs=-1.0), V, ["epochs=-1.0"]), (fits(batch_size=0), V, ["batch_size=0"]),
    (fits(learning_rate=0.0), V, ["learning_rate=0.0"]),
    (fits(weight_decay=-1.0), V, ["weight_decay=-1.0"]), (fits(clip=0.0), V, ["clip=0.0"]),
    (fits(held_out=1.0), V, ["held_out=1.0"]), (fits(patience=0), V, ["patience=0"]),
    (fits(init_size=1), V, ["init_size=1"]), (fits(noise=-0.1), V, ["noise=-0.1"]),
    (fits(seed=None), T, ["seed=None"]), (fits(deterministic=1), T, ["deterministic=1"]),
    (fits(device="gpu"), V, ["device='gpu'"]),
    (fits(compiled=True, device="cpu"), V, ["compiled=True is for a GPU"]),
    (fits(lr=1.0), T, ["no argument 'lr'", "did you mean 'learning_rate'"]),             # P26
    (lambda: bert_flow("code"), V, ["variant='code'"]),
    (lambda: bert_flow(data="targets"), V, ["Did you mean 'target'"]),
    (lambda: bert_flow(level=2), T, ["no argument 'level'"]),
    (plans(levels=0), V, ["levels=0"]), (plans(depth=1.5), T, ["depth=1.5"]),
    (plans(mixing="lineal"), V, ["Did you mean 'linear'"]),
    (plans(coupling="x"), V, ["coupling='x'"]), (plans(standardise="no"), V, ["standardise="]),
    (plans(rate=-1.0), V, ["rate="]),
    (lambda: flow.AdditiveCoupling(1, Nothing()), V, ["dim=1", "int >= 2"]),
    (lambda: flow.AffineCoupling(2, Nothing(), form="glwo"), V, ["Did you mean 'glow'"]),
    (lambda: flow.CouplingNet(2, 2, width=0, rng=np.random.default_rng(0)), V, ["width=0"]),
    *[(lambda order=order: flow.Permutation(order), V, ["is no permutation", "each of 0"])
      for order in ([0, 0, 1], [1, 2, 3], [0.0, 1.0], [[0, 1]])],
    (lambda: flow.InvertibleLinear(np.ones((2, 3))), V, ["(dim, dim)"]),
    (lambda: flow.InvertibleLinear(np.ones(3)), V, ["2 axes"]),
    (lambda: flow.InvertibleLinear(np.full((2, 2), np.nan)), V, ["NaN"]),
    (lambda: flow.InvertibleLinear(np.array([["a"]])), T, ["real numbers"]),
    *[(lambda rate=rate: flow.ActNorm(2, rate=rate), V, ["rate="])
      for rate in (0.0, -1.0, math.nan)],
])
def test_what_cannot_be_is_named_with_what_is_allowed(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == []
