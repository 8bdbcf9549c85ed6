"""The formula of mean and covariance in two passes: the mean, then what is left without it.

Any type, computed in float64; a centred copy of all rows is kept, so this is for reading and for
tests. Taught in ``12_bert_whitening``.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def mean_and_scatter(x: Float[Tensor, "n d"], *, double: bool = False
                     ) -> tuple[Float[Tensor, " d"], Float[Tensor, "d d"]]:
    """μ = 1/n Σ_i x_i and S = Σ_i (x_i - μ)(x_i - μ)ᵀ; the covariance is S / (n - 1). ``double``
    changes nothing: all products are float64."""
    exact = x.to(torch.float64)
    mean = exact.mean(dim=0)
    centred = exact - mean
    return mean, centred.T @ centred
