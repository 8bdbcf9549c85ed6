"""Coupling layers: half of the dimensions decide how the other half is moved, so the map can be
undone whatever the net in it.

z₁ = x₁, z₂ = x₂ + m(x₁) is undone by x₂ = z₂ - m(z₁); m is never inverted. The Jacobian is
triangular, so its determinant is the product of its diagonal: 1 for the additive form, Π of the
scales for the affine one. Taught in lesson ``11_bert_flow``. [dinh2015nice; dinh2017density]
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...core import check_choice, check_int
from .bijection import Bijection
from .layers import ActNorm

__all__ = ["AdditiveCoupling", "AffineCoupling", "CouplingNet"]

FIRST_WEIGHTS = 0.05  # standard deviation, as in the program of BERT-flow
LEAST_H = -6.0  # of the form "glow", which without it can squeeze rows beyond what float32 undoes
MOST_LOG_SCALE = 2.0  # of the affine form "realnvp": a layer stretches by e^-2 to e^2


class CouplingNet(nn.Module):
    """The net of BERT-flow's program: three linear layers, ActNorm and ReLU after the first two,
    the last one 0 at first.

        h₁ = relu(actnorm(W₁ x)),  h₂ = relu(actnorm(W₂ h₁)),  m(x) = (W₃ h₂ + b) ⊙ exp(rate · s),
        W₃ = b = s = 0 at first

    So a coupling does nothing before it is trained. Parameters: inputs, outputs, width: numbers
    that go in, come out, and lie between; rate, as in `ActNorm`; rng, draws W₁ and W₂. Raises
    TypeError, ValueError.
    """

    def __init__(self, inputs: int, outputs: int, *, width: int, rate: float = 1.0,
                 rng: np.random.Generator) -> None:
        super().__init__()
        for name, value in {"inputs": inputs, "outputs": outputs, "width": width}.items():
            check_int(name, value)
        self.first, self.second = (_drawn(width, n, rng) for n in (inputs, width))
        self.norms = nn.ModuleList(ActNorm(width, rate=rate) for _ in range(2))
        self.last, self.bias = nn.Parameter(torch.zeros(outputs, width)), nn.Parameter(
            torch.zeros(outputs))
        self.log_scale = nn.Parameter(torch.zeros(outputs))
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """m of rows x, (n, inputs): (n, outputs)."""
        for weight, norm in zip((self.first, self.second), self.norms, strict=True):
            x = F.relu(norm.scaled(F.linear(x, weight)))
        return F.linear(x, self.last, self.bias) * torch.exp(self.rate * self.log_scale)

    @torch.no_grad()
    def initialise(self, x: Tensor) -> None:
        """Set both ActNorms from rows x, (n, inputs)."""
        for weight, norm in zip((self.first, self.second), self.norms, strict=True):
            x = F.relu(norm.initialise(F.linear(x, weight)))


def _drawn(rows: int, columns: int, rng: np.random.Generator) -> nn.Parameter:
    return nn.Parameter(
        torch.from_numpy(rng.normal(scale=FIRST_WEIGHTS, size=(rows, columns)).astype(np.float32)))


class _Coupling(Bijection):
    """The first dim // 2 numbers pass; a net reads them and moves the others."""

    def __init__(self, dim: int, net: nn.Module) -> None:
        super().__init__(check_int("dim", dim, low=2))
        self.net = net

    def initialise(self, x: Tensor) -> Tensor:
        """Let the net set itself from the first half of the rows x, (n, dim), where it can.

        Returns z of them.
        """
        if hasattr(self.net, "initialise"):
            self.net.initialise(x[:, : self.dim // 2])
        return self._map(x)[0]


class AdditiveCoupling(_Coupling):
    """z₁ = x₁, z₂ = x₂ + m(x₁), log-determinant 0: the layer of NICE, and of both BERT-flows.

    Parameters: dim >= 2; net, a module that maps (n, dim // 2) to (n, dim - dim // 2), such as
    `CouplingNet`. Raises TypeError, ValueError. [dinh2015nice, Sec. 3.2]
    """

    def _map(self, x: Tensor) -> tuple[Tensor, Tensor]:
        first, second = x.tensor_split((self.dim // 2,), dim=1)
        return torch.cat([first, second + self.net(first)], dim=1), x.new_zeros(())

    def _unmap(self, z: Tensor) -> Tensor:
        first, second = z.tensor_split((self.dim // 2,), dim=1)
        return torch.cat([first, second - self.net(first)], dim=1)


class AffineCoupling(_Coupling):
    """z₁ = x₁, and z₂ is x₂ shifted and stretched as x₁ says; the log-determinant is the sum of the
    logarithms of the scales.

        form "realnvp":  z₂ = x₂ ⊙ exp(s) + t,        s = 2 tanh(h / 2), between -2 and 2
        form "glow":     z₂ = (x₂ + t) ⊙ σ(h + 2),    h >= -6: between 0.018 and 1; 0.88 at first,
                         so it does not begin as the identity

    Parameters: dim >= 2; net, a module that maps (n, dim // 2) to (n, 2 (dim - dim // 2)): t and h
    in turn, as in the programs of Glow and BERT-flow, where h has no bound; form. Raises TypeError,
    ValueError. [dinh2017density, Sec. 3.2; kingma2018glow]
    """

    def __init__(self, dim: int, net: nn.Module, *, form: str = "realnvp") -> None:
        super().__init__(dim, net)
        self.form = check_choice("form", form, ("realnvp", "glow"))

    def _shift_and_log_scale(self, first: Tensor) -> tuple[Tensor, Tensor]:
        result = self.net(first)
        shift, h = result[:, 0::2], result[:, 1::2]
        if self.form == "glow":
            return shift, F.logsigmoid(h.clamp(min=LEAST_H) + 2.0)
        return shift, MOST_LOG_SCALE * torch.tanh(h / MOST_LOG_SCALE)

    def _map(self, x: Tensor) -> tuple[Tensor, Tensor]:
        first, second = x.tensor_split((self.dim // 2,), dim=1)
        shift, log_scale = self._shift_and_log_scale(first)
        moved = ((second + shift) * log_scale.exp()
                 if self.form == "glow"
                 else second * log_scale.exp() + shift)
        return torch.cat([first, moved], dim=1), log_scale.sum(dim=1)

    def _unmap(self, z: Tensor) -> Tensor:
        first, second = z.tensor_split((self.dim // 2,), dim=1)
        shift, log_scale = self._shift_and_log_scale(first)
        back = (second * (-log_scale).exp() - shift
                if self.form == "glow"
                else (second - shift) * (-log_scale).exp())
        return torch.cat([first, back], dim=1)
