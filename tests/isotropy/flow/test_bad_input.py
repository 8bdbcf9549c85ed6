"""What flows are given wrongly: the class of the error, and the words that its message holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lessons_lib.core import DataWarning, NotFittedError
from lessons_lib.isotropy import flow
from lessons_lib.isotropy.flow import Flow, bert_flow
from lessons_lib.isotropy.flow.table import unit_of

V, T = ValueError, TypeError
X = np.random.default_rng(0).normal(size=(50, 4))
BAD = np.where(np.arange(50)[:, None] % 20 == 3, np.nan, X)
FAR = np.array([[0.0] * 4, [0.0] * 4, [1e60] * 4, [0.0] * 4])


class Nothing(torch.nn.Module):
    """Stands for a coupling net."""


def fits(x=X, **settings):
    return lambda: Flow(**settings).fit(x)


def fitted(use, **change):
    """Use of a fitted flow, whose settings were changed since."""
    return lambda: use(Flow(width=4, epochs=1.0).fit(X).set_params(**change))


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
    (fits(BAD), V, ["x[3] holds NaN or infinity (3 of 50 rows do)"]),                    # V01
    *[(fitted(lambda f, use=use: getattr(f, use)(BAD)), V, ["x[3] holds NaN"])
      for use in ("transform", "log_density", "score", "trace")],
    (fitted(lambda f: f.inverse_transform(BAD)), V, ["z[3] holds NaN"]),
    *[(fitted(lambda f, use=use: getattr(f, use)(X[:, :3])), V, ["shape (50, 3)", "4 columns"])
      for use in ("transform", "log_density", "trace", "resume")],                       # V05
    *[(fitted(lambda f, use=use: getattr(f, use)(FAR)), V, ["x[2] leaves float32", "1 of 4"])
      for use in ("transform", "log_density")],
    (fitted(lambda f: f.score(X[:0])), V, ["x has 0 rows", ">= 1"]),
    (fitted(lambda f: f.resume(X[::-1])), V, ["other vectors than the interrupted run"]),
    *[(fitted(use, **{name: value}), V, ["settings differ", f"{name}=", "Set them back"])
      for name, value in {"width": 9, "seed": 5, "learning_rate": 0.1, "batch_size": 32}.items()
      for use in (lambda f: f.resume(X), lambda f: f.save("nowhere"))],
    *[(lambda use=use: use(Flow()), NotFittedError, ["this Flow is not fitted yet"])     # P28
      for use in (lambda f: f.transform(X), lambda f: f.dim, lambda f: f.save("nowhere"),
                  lambda f: f.resume(X), lambda f: f.score(X), lambda f: f.mean_)],
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
    (lambda: flow.InvertibleLinear(np.diag([1.0, 0.0, 2.0])), V, ["shape (3, 3) is singular"]),
    *[(lambda use=use: getattr(flow.ActNorm(4), use)(torch.zeros(3, 1)), V,
       ["has shape (3, 1)", "this ActNorm maps (n, 4)"])
      for use in ("forward", "inverse", "log_det", "with_log_det")],
    (lambda: flow.Composition(flow.ActNorm(2), flow.ActNorm(3)), V, ["widths [2, 3]"]),
    (lambda: flow.Composition(), V, ["layers have the widths"]),
    (lambda: flow.Split(3, flow.ActNorm(3)), V, ["expected fewer than all"]),
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


# ------------------------------------------------------------------------------ too much

@pytest.mark.parametrize(("settings", "error", "said"), [
    ({"depth": 10**9}, ValueError, "depth=1000000000 is out of range; expected int in [1, 10000]"),
    ({"depth": 10**4, "width": 10**5}, MemoryError, "Lower depth=10000 or width=100000"),
    ({"width": 10**9}, MemoryError, "width=1000000000"),
    ({"epochs": 1e18}, ValueError, "epochs=1e+18"),
    ({"epochs": 1.0, "patience": 10**9}, DataWarning, "patience=1000000000 goes beyond")])
def test_what_goes_too_far_is_refused_or_said_at_once(little_memory, settings, error, said):
    with pytest.raises(error) as caught:
        flow.Flow(**settings).fit(np.random.default_rng(0).normal(size=(40, 4)))
    assert said in str(caught.value)
