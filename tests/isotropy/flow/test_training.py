"""`Training`: what a run of maximum likelihood arrives at where the answer is known in closed form.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lessons_lib.isotropy import Whitening, flow
from lessons_lib.isotropy.flow.table import Order, unit_of
from lessons_lib.isotropy.flow.training import Batches, Training


def gaussian(n: int, dim: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, dim)) @ rng.normal(size=(dim, dim)) + 3


def trained(layers: flow.Composition, x: np.ndarray, *, steps: int, batch_size: int) -> Training:
    """A run that did ``steps`` steps, to the end whatever it finds."""
    batches = Batches(x, unit_of(x), Order(len(x), held_out=0.0, batch_size=batch_size, seed=0),
                      noise=0.0, device=torch.device("cpu"))
    run = Training(layers, batches, steps=steps, learning_rate=3e-3, weight_decay=0.0, clip=1.0,
                   patience=None)
    run.begin(len(x))
    for _ in range(steps):
        run.step()
    return run


def bits(run: Training, x: np.ndarray) -> float:
    """Bits per dimension of rows, in their own unit."""
    unit = run.batches.unit
    return run.mean_bits([torch.from_numpy(unit.enter(x))]) + unit.exponent


def whitened_bits(x: np.ndarray) -> float:
    """Of the density under which whitened vectors are N(0, I): -log N(z; 0, I) - log |det W|."""
    white, d = Whitening(ddof=0).fit(x), x.shape[1]
    z = (x - white.mean_) @ white.matrix_
    nats = (0.5 * (z**2).sum(axis=1).mean() + 0.5 * d * math.log(2 * math.pi) -
            np.linalg.slogdet(white.matrix_)[1])
    return nats / d / math.log(2)


@pytest.mark.slow
def test_51_a_linear_flow_on_gaussian_data_reaches_the_likelihood_of_whitening_and_whitens():
    # standard deviations from 0.05 to 2.9, so there is something to find
    x = gaussian(4000, 4)
    rng = np.random.default_rng(0)
    layers = flow.Composition(flow.ActNorm(4), flow.InvertibleLinear.random(4, rng=rng),
                              flow.ActNorm(4))
    before, best = bits(trained(layers, x, steps=0, batch_size=len(x)), x), whitened_bits(x)
    assert best == pytest.approx(0.5 * np.linalg.slogdet(
        2 * np.pi * np.e * np.cov(x.T, ddof=0))[1] / 4 / math.log(2), abs=1e-9)
    after = trained(layers, x, steps=1200, batch_size=len(x))
    # no linear map reads these rows in fewer
    assert before > best + 1 and best - 1e-5 < bits(after, x) < best + 1e-4
    z = layers(torch.from_numpy(after.batches.unit.enter(x))).detach().double().numpy()
    assert np.cov(z.T, ddof=0) == pytest.approx(np.eye(4), abs=0.02)
    assert np.abs(z.mean(axis=0)).max() < 0.02
