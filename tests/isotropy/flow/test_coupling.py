"""Couplings: one half passes and moves the other, whatever the net; untrained ones do nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from lessons_lib.isotropy import flow


def rows(n: int, dim: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32))


class Square(nn.Module):
    """m(x) = x², and for affine couplings h = x."""

    def __init__(self, twice: bool = False) -> None:
        super().__init__()
        self.twice = twice

    def forward(self, x):
        return torch.stack([x**2, x], dim=2).flatten(1) if self.twice else x**2


def test_the_first_half_says_how_the_second_is_moved():
    x, s, scale = torch.tensor([[3.0, 1.5]]), 2 * np.tanh(3 / 2), 1 / (1 + np.exp(-5))
    for layer, moved, log_det in (
            (flow.AdditiveCoupling(2, Square()), 1.5 + 9, 0),
            (flow.AffineCoupling(2, Square(twice=True)), 1.5 * np.exp(s) + 9, s),
            (flow.AffineCoupling(2, Square(twice=True), form="glow"), (1.5 + 9) * scale,
             np.log(scale))):
        assert layer(x).tolist() == [pytest.approx([3, moved], rel=1e-6)]
        assert float(layer.log_det(x)) == pytest.approx(log_det, rel=1e-4)


def test_a_scale_is_bounded_however_far_the_net_goes():
    class Far(nn.Module):
        def forward(self, x):
            return torch.cat([torch.zeros_like(x), torch.full_like(x, 1e6)], dim=1) * torch.sign(x)

    x = torch.tensor([[1.0, 1.0], [-1.0, 1.0]])
    assert flow.AffineCoupling(2, Far()).log_det(x).tolist() == [2, -2]
    assert flow.AffineCoupling(2, Far(), form="glow").log_det(x).tolist() == pytest.approx(
        [0, -np.log(1 + np.exp(4))])


@pytest.mark.parametrize("dim", [2, 5, 8])
def test_untrained_couplings_do_nothing(dim):
    moved, x = dim - dim // 2, rows(10, dim)
    for kind, outputs in ((flow.AdditiveCoupling, moved), (flow.AffineCoupling, 2 * moved)):
        net = flow.CouplingNet(dim // 2, outputs, width=4, rng=np.random.default_rng(0))
        layer = kind(dim, net)
        assert torch.equal(layer.initialise(x), x) and layer.log_det(x).tolist() == [0] * 10


def test_the_first_half_passes_unchanged_and_odd_widths_move_the_larger_part(shaken):
    x = rows(10, 5).double()
    for name in ("additive", "affine", "affine of glow"):
        z = shaken(name, 5)(x)
        assert torch.equal(z[:, :2], x[:, :2]) and (z[:, 2:] != x[:, 2:]).all()


def test_both_actnorms_of_a_net_are_set_from_what_reaches_them():
    net, x = flow.CouplingNet(6, 3, width=8, rng=np.random.default_rng(0)), rows(400, 6) * 30 + 7
    net.initialise(x)
    hidden = net.norms[0].scaled(x @ net.first.T)
    for reached in (hidden, net.norms[1].scaled(torch.relu(hidden) @ net.second.T)):
        assert reached.mean(0).abs().max() < 1e-4
        assert (reached.std(0, correction=0) - 1).abs().max() < 1e-4
    assert (net(x) == 0).all()


def test_a_net_draws_its_weights_from_its_generator():
    nets = [flow.CouplingNet(50, 2, width=40, rng=np.random.default_rng(s)) for s in (1, 1, 2)]
    assert torch.equal(nets[0].first, nets[1].first)
    assert not torch.equal(nets[0].first, nets[2].first)
    assert float(nets[0].first.std()) == pytest.approx(0.05, rel=0.1) and not nets[0].last.any()


def test_gradients_of_couplings_and_orders_are_right(shaken):
    for name in ("additive", "affine", "affine of glow", "random order"):
        layer = shaken(name, 4)
        x = rows(3, 4, seed=5).double().requires_grad_()
        assert torch.autograd.gradcheck(lambda x, layer=layer: layer.with_log_det(x), (x,))
