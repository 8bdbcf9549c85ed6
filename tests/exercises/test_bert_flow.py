"""The exercises of lesson 11: what their answers claim is measured."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from lessons_lib.exercises import verdict
from lessons_lib.exercises.bert_flow import EXERCISES, KEEPING, MAPS
from lessons_lib.isotropy.flow import (ActNorm, AdditiveCoupling, AffineCoupling, CouplingNet,
                                       Flow, InvertibleLinear, Permutation)

RNG = np.random.default_rng(0)


def net(outputs):
    made = CouplingNet(2, outputs, width=8, rng=RNG).double()
    with torch.no_grad():
        made.last += 1.0
    return made


class Inverse:
    def __init__(self, layer):
        self.inside = layer

    def log_det(self, z):
        return -self.inside.log_det(self.inside.inverse(z))


def layers():
    norm = ActNorm(4).double()
    norm.initialise(torch.from_numpy(3 * RNG.normal(size=(50, 4))))
    return dict(
        zip(MAPS, (AdditiveCoupling(4, net(2)), AffineCoupling(
            4, net(4)), norm, Permutation.random(4, rng=RNG), InvertibleLinear.random(
                4, rng=RNG).double(), InvertibleLinear(RNG.normal(size=(4, 4))).double(),
                   Inverse(AdditiveCoupling(4, net(2)))), strict=True))


def test_exactly_the_named_maps_keep_volume():
    x = torch.from_numpy(RNG.normal(size=(6, 4)))
    found = {name for name, layer in layers().items() if layer.log_det(x).abs().max() < 1e-5}
    assert found == KEEPING


def test_the_density_is_that_of_drawn_points():
    x = RNG.uniform(size=400_000) ** 2
    assert ((x > 0.035) & (x < 0.045)).mean() / 0.01 == pytest.approx(
        EXERCISES["density_at"].solution, rel=0.05)


def test_the_linear_log_density_is_that_of_a_gaussian_with_the_covariance_of_the_way_back():
    x, W, b = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=3)
    expected = multivariate_normal(b, np.linalg.inv(W.T @ W)).logpdf(x)
    assert np.allclose(EXERCISES["linear_log_density"].solution(x, W, b), expected)


def test_undo_is_the_inverse_of_the_librarys_coupling():
    inside, x = net(4), RNG.normal(size=(5, 4))
    layer = AffineCoupling(4, inside, form="glow")

    def as_pair(first):
        with torch.no_grad():
            found = inside(torch.from_numpy(first)).numpy()
        return -np.logaddexp(0, -np.maximum(found[:, 1::2], -6) - 2), found[:, 0::2]

    with torch.no_grad():
        z = layer(torch.from_numpy(x)).numpy()
    assert np.allclose(EXERCISES["undo"].solution(z, as_pair), x)


def test_the_loss_of_collapsed_is_the_librarys_bits_per_dimension():
    x = RNG.normal(size=(50, 4)) * [1, 2, 3, 4]
    flow = Flow(epochs=0, held_out=0.0).fit(x)
    z, W = flow.transform(x), 1 / x.std(axis=0)
    loss = EXERCISES["collapsed"].solution(z, np.full(50, np.log(W).sum()))
    assert loss / np.log(2) == pytest.approx(flow.bits_per_dimension(x), abs=1e-3)


def test_a_score_instead_of_a_difference_of_scores_is_told():
    said = verdict(EXERCISES["shift_only"], ("about the same", 74.3))
    assert "Put in what is asked for, such as a score or a difference" in said


def test_a_shear_keeps_areas_too():
    assert verdict(EXERCISES["same_area"], [[1, 4], [0, 1]]) == "correct"
