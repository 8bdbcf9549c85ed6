"""Change of variables: what the articles compute by hand, inverses, and determinants against those
of the whole Jacobian.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lessons_lib.isotropy import flow


def jacobian(layer, x):
    """∂z/∂x of one row, (d, d), by automatic differentiation."""
    return torch.autograd.functional.jacobian(lambda row: layer(row[None])[0], x)


def leaves(layer) -> list[str]:
    """Names of the layers inside, in the order in which vectors meet them."""
    parts = [layer.inner] if isinstance(layer, flow.Split) else getattr(layer, "layers", [])
    return [name for part in parts for name in leaves(part)] or [type(layer).__name__]


def rows(n: int, dim: int, seed: int = 1) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, dim)) * 2 + 1)


@pytest.mark.parametrize("dim", [2, 3, 7, 8])
def test_47_the_inverse_undoes_the_layer_both_ways(name, dim, shaken):
    layer, x = shaken(name, dim), rows(20, dim)
    assert (layer.inverse(layer(x)) - x).abs().max() < 1e-10
    assert (layer(layer.inverse(x)) - x).abs().max() < 1e-10
    single = layer.float()
    assert (single.inverse(single(x.float())) - x.float()).abs().max() < 1e-5 * x.abs().max()


@pytest.mark.parametrize("dim", [2, 5, 8])
def test_48_the_log_determinant_is_that_of_the_whole_jacobian(name, dim, shaken):
    layer, x = shaken(name, dim), rows(3, dim)
    found = layer.log_det(x)
    assert found.shape == (3,)
    for row, value in zip(x, found, strict=True):
        assert value.item() == pytest.approx(
            torch.linalg.slogdet(jacobian(layer, row)).logabsdet.item(), abs=1e-9)


def test_49_a_stretched_interval_has_half_the_density():
    """U(0, 1) -> U(1, 3) by x = 2z + 1: the normalising direction is z = (x - 1) / 2."""
    layer = flow.ActNorm(1).double()
    with torch.no_grad():
        layer.shift.fill_(-1.0)
        layer.log_scale.fill_(-math.log(2))
    z = torch.tensor([[0.0], [0.25], [1.0]], dtype=torch.float64)
    assert layer.inverse(z).flatten().tolist() == [1.0, 1.5, 3.0]
    # p_x(x) = p_z(z) |dz/dx|
    density = 1.0 * layer.log_det(layer.inverse(z)).exp()
    assert density.tolist() == pytest.approx([0.5, 0.5, 0.5], abs=1e-12)


def test_49_the_articles_parallelogram():
    """x = [z1 + z2, 2 z2]: J_f = [[1, 1], [0, 2]], J of the inverse [[1, -1/2], [0, 1/2]], product
    I, determinant 2.
    """
    forward = np.array([[1.0, 1.0], [0.0, 2.0]])
    layer = flow.InvertibleLinear(np.linalg.inv(forward)).double()              # x -> z
    x = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
    assert layer(x).tolist() == [pytest.approx([1.0, 2.0], abs=1e-7)]
    assert jacobian(layer, x[0]).numpy() == pytest.approx(np.array([[1.0, -0.5], [0.0, 0.5]]),
                                                          abs=1e-7)
    assert forward @ jacobian(layer, x[0]).numpy() == pytest.approx(np.eye(2), abs=1e-7)
    assert layer.log_det(x).item() == pytest.approx(-math.log(2), abs=1e-7)
    assert layer.inverse(torch.tensor([[1.0, 2.0]], dtype=torch.float64)).tolist() == [
        pytest.approx([3.0, 4.0], abs=1e-6)]


def test_log_determinants_of_a_composition_add_up(shaken):
    parts = [shaken(name, 4, seed=i) for i, name in enumerate(("actnorm", "linear", "affine"))]
    whole, x, total = flow.Composition(*parts), rows(5, 4), 0
    z = x
    for part in parts:
        total, z = total + part.log_det(z), part(z)
    assert torch.equal(whole(x), z) and (whole.log_det(x) - total).abs().max() < 1e-12


def test_what_leaves_at_a_split_stays_as_it_is_and_comes_first(shaken):
    inner, x = shaken("affine", 3), rows(5, 5)
    split = flow.Split(5, inner)
    z = split(x)
    assert torch.equal(z[:, :2], x[:, 3:]) and torch.equal(z[:, 2:], inner(x[:, :3]))
    assert torch.equal(split.log_det(x), inner.log_det(x[:, :3]))


@pytest.mark.parametrize("name", ["nice", "realnvp", "glow", "three levels"])
def test_a_trace_visits_every_layer_and_ends_at_z(name, shaken):
    layers, x = shaken(name, 6), rows(4, 6)
    visited = list(layers.trace(x))
    assert torch.equal(visited[-1][1], layers(x)) and all(z.shape == x.shape for _, z in visited)
    assert [n for n, _ in visited] == leaves(layers)
