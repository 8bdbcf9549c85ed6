"""Stacks: what NICE, RealNVP and Glow are made of, how levels halve, and what a stack is before it
is trained.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lessons_lib.isotropy import flow
from lessons_lib.isotropy.flow.architecture import KINDS, most_levels


def names(layers) -> list[str]:
    return [type(layer).__name__ for layer in layers.layers]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("layers", "expected"), [
    (flow.nice(4, depth=2, rng=rng()), ["Permutation", "AdditiveCoupling"] * 2 + ["ActNorm"]),
    (flow.realnvp(4, levels=1, depth=2, rng=rng()),
     ["ActNorm", "Permutation", "AffineCoupling"] * 2),
    (flow.glow(4, levels=1, depth=2, rng=rng()),
     ["ActNorm", "InvertibleLinear", "AffineCoupling"] * 2),
    (flow.Architecture(**KINDS["glow"]).build(8, rng=rng()),
     ["ActNorm", "Permutation", "AdditiveCoupling"] * 3 + ["Split"])])
def test_the_flows_are_made_of_what_their_papers_say(layers, expected):
    assert names(layers) == expected


@pytest.mark.parametrize("dim, widths", [(8, [8, 4, 2]), (7, [7, 4, 2]), (5, [5, 3, 2])])
def test_half_of_the_numbers_leave_after_each_level_and_an_odd_one_stays(dim, widths):
    level, found = flow.Architecture(levels=3, depth=1).build(dim, rng=rng()), []
    while True:
        found.append(level.dim)
        if names(level)[-1] != "Split":
            break
        level = level.layers[-1].inner
    assert found == widths


@pytest.mark.parametrize("dim", range(1, 20))
def test_the_most_levels_leave_at_least_two_numbers_to_couple(dim):
    most = most_levels(dim)
    flow.Architecture(levels=most, depth=1, width=2).build(dim, rng=rng())
    with pytest.raises(
            ValueError, match=
            rf"levels={most + 1} would halve {dim} numbers too often.*expected levels <= {most}"):
        flow.Architecture(levels=most + 1, depth=1, width=2).build(dim, rng=rng())


def test_in_one_dimension_a_flow_is_affine():
    layers = flow.Architecture(levels=1).build(1, rng=rng())
    assert "AdditiveCoupling" not in names(layers)
    z = layers.initialise(torch.linspace(3, 5, 11)[:, None])
    assert z[:, 0].diff().std() < 1e-5 and float(z.std(correction=0)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("mixing", ["reversal", "random"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_50_when_it_has_just_been_set_a_flow_standardises_and_reorders(mixing, levels):
    x = torch.from_numpy((rng(1).normal(size=(300, 9)) * np.arange(1, 10) + 5).astype(np.float32))
    layers = flow.Architecture(levels=levels, mixing=mixing).build(9, rng=rng())
    z = layers.initialise(x).detach()
    assert torch.allclose(z, layers(x), atol=1e-6)
    standard = ((x - x.mean(0)) / x.std(0, correction=0))
    distance = torch.cdist(z.T.contiguous(), standard.T.contiguous())
    assert sorted(distance.argmin(1).tolist()) == list(range(9))
    assert distance.min(1).values.max() < 1e-3
    assert layers.log_det(x)[0].item() == pytest.approx(
        -float(x.double().std(0, correction=0).log().sum()), abs=1e-3)


def test_equal_seeds_build_equal_stacks():
    stacks = [flow.Architecture().build(10, rng=rng(seed)).state_dict() for seed in (1, 1, 2)]
    assert all(
        torch.equal(a, b) for a, b in zip(stacks[0].values(), stacks[1].values(), strict=True))
    assert not all(
        torch.equal(a, b) for a, b in zip(stacks[0].values(), stacks[2].values(), strict=True))


def test_49_the_density_of_a_plane_sums_to_one(shaken):
    for name in ("realnvp", "glow", "nice"):
        layers = shaken(name, 2)
        axis = torch.linspace(-25, 25, 601, dtype=torch.float64)
        grid = torch.cartesian_prod(axis, axis)
        z, log_det = layers.with_log_det(grid)
        log_p = log_det - 0.5 * z.square().sum(1) - math.log(2 * math.pi)
        assert log_p.exp().sum().item() * float(axis[1] - axis[0])**2 == pytest.approx(1, abs=1e-3)
