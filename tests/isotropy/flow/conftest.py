"""Layers of every kind with weights that do something, in float64, and a table that no straight
line describes.
"""

from __future__ import annotations

import signal

import numpy as np
import pytest
import torch

from lessons_lib.isotropy import flow

def coupled(kind, twice: int, **form):
    """A coupling layer whose net gives ``twice`` numbers for each that is moved."""
    return lambda d, rng: kind(d, flow.CouplingNet(d // 2, twice * (d - d // 2), width=5, rng=rng),
                               **form)


def levels(most: int, d: int) -> int:
    return 1 if d < 3 else min(most, 3 if d > 4 else 2)


LAYERS = {
    "actnorm": lambda d, rng: flow.ActNorm(d),
    "actnorm, rate 3": lambda d, rng: flow.ActNorm(d, rate=3.0),
    "reversal": lambda d, rng: flow.Permutation.reversal(d),
    "random order": lambda d, rng: flow.Permutation.random(d, rng=rng),
    "linear": lambda d, rng: flow.InvertibleLinear.random(d, rng=rng),
    "additive": coupled(flow.AdditiveCoupling, 1),
    "affine": coupled(flow.AffineCoupling, 2),
    "affine of glow": coupled(flow.AffineCoupling, 2, form="glow"),
    "nice": lambda d, rng: flow.nice(d, width=5, rng=rng),
    "realnvp": lambda d, rng: flow.realnvp(d, levels=levels(2, d), width=5, rng=rng),
    "glow": lambda d, rng: flow.glow(d, levels=levels(2, d), width=5, rng=rng),
    "three levels": lambda d, rng: flow.Architecture(levels=levels(3, d), width=5,
                                                     rate=3.0).build(d, rng=rng)}


@pytest.fixture(params=LAYERS)
def name(request):
    """The name of every kind of layer in turn."""
    return request.param


@pytest.fixture
def shaken():
    """A layer by name, set from data and then moved by chance as training would: nothing in it is
    zero or one any more.
    """
    def make(name: str, dim: int, *, seed: int = 0) -> flow.Bijection:
        rng = np.random.default_rng(seed)
        layer = LAYERS[name](dim, rng)
        layer.initialise(torch.from_numpy(rng.normal(size=(200, dim)).astype(np.float32) * 2 + 1))
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter += torch.from_numpy(
                    rng.normal(scale=0.03, size=tuple(parameter.shape)).astype(np.float32))
        return layer.double()
    return make


@pytest.fixture
def bent():
    """Points along a parabola: x₂ follows x₁², which no linear map can straighten."""
    def make(n: int = 2000, dim: int = 2, *, seed: int = 0) -> np.ndarray:
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, dim))
        x[:, 1] = 0.3 * x[:, 1] + x[:, 0] ** 2
        return x
    return make


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises, as in a terminal: a runner that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
