"""What stands on an encoder during training only: a classifier of pairs, and one dense layer with
tanh.

Both begin with weights that a seed decides. Used by the trainers; taught in ``10_sbert`` and
``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..core import check_int, check_memory, check_seed
from .losses import checked_features, pair_features, softmax_loss

__all__ = ["HEAD", "Classifier", "MlpHead"]

HEAD = 4                                 # the seed's number of the random weights of a head


class Classifier(nn.Module):
    """Scores of classes from features of a pair: o = W [u; v; |u - v|] + b, weights at first
    uniform within ± 1 / sqrt(columns of W). [reimers2019sentence]
    """

    def __init__(self, dim: int, *, features: Sequence[str] = ("u", "v", "|u-v|"), classes: int = 3,
                 seed: int = 0) -> None:
        super().__init__()
        self.features = checked_features(features)
        classes, dim = check_int("classes", classes, low=2), check_int("dim", dim)
        check_memory(f"weights of {classes:,} classes", 4 * classes * len(self.features) * dim,
                     f"Lower classes={classes} or dim={dim}")
        self.weight, self.bias = _start(classes, len(self.features) * dim, seed)

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        """Scores (n, classes) of pairs u, v (n, dim)."""
        return F.linear(pair_features(u, v, self.features), self.weight, self.bias)

    def loss(self, u: Tensor, v: Tensor, label: Tensor) -> Tensor:
        """`softmax_loss` with this weight and bias."""
        return softmax_loss(u, v, label, self.weight, self.bias, features=self.features)


class MlpHead(nn.Module):
    """tanh(W x + b) from dim to dim, as BERT's pooler, with random W. [gao2021simcse]"""

    def __init__(self, dim: int, *, seed: int = 0) -> None:
        super().__init__()
        dim = check_int("dim", dim)
        check_memory(f"{dim:,} x {dim:,} weights", 4 * dim * dim, f"Lower dim={dim}")
        self.weight, self.bias = _start(dim, dim, seed)

    def forward(self, x: Tensor) -> Tensor:
        """(n, dim) to (n, dim)."""
        return torch.tanh(F.linear(x, self.weight, self.bias))


def _start(rows: int, columns: int, seed: int) -> tuple[nn.Parameter, nn.Parameter]:
    """Weights as `nn.Linear` begins with, drawn from a generator of their own."""
    chance, bound = torch.Generator().manual_seed(check_seed(seed)), columns**-0.5
    weight, bias = (torch.empty(shape).uniform_(-bound, bound, generator=chance)
                    for shape in ((rows, columns), (rows,)))
    return nn.Parameter(weight), nn.Parameter(bias)
