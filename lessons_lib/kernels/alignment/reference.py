"""The formula of alignment and of its gradient, as one would write them on paper.

Plain torch, any type, also float64; autograd of it gives no NaN where the two vectors of a pair are equal, so it may be compiled and differentiated
as often as one likes. Taught in ``14_simcse``.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from ..autograd import gradient_type

__all__ = ["alignment", "value_and_gradient"]


def _power(squares: Float[Tensor, " n"], exponent: float) -> Float[Tensor, " n"]:
    """squares ** exponent, and 0 with slope 0 at 0: the slope of the power there is infinite, and infinity times 0 would be NaN."""
    zero = squares == 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, squares) ** exponent)


def alignment(x: Float[Tensor, "n d"], y: Float[Tensor, "n d"], *, alpha: float) -> Float[Tensor, ""]:
    """1/n Σ_i ‖x_i - y_i‖^alpha."""
    gap = (x - y) if x.dtype == torch.float64 else x.float() - y.float()
    return _power(gap.square().sum(dim=1), alpha / 2).mean()


def value_and_gradient(x: Float[Tensor, "n d"], y: Float[Tensor, "n d"], *, alpha: float) -> tuple[Float[Tensor, ""], Float[Tensor, "n d"]]:
    """A and ∂A/∂x_i = alpha/n ‖x_i - y_i‖^(alpha-2) (x_i - y_i), 0 where x_i = y_i; ∂A/∂y_i is its negative."""
    gap = (x - y) if x.dtype == torch.float64 else x.float() - y.float()
    slope = alpha / len(x) * _power(gap.square().sum(dim=1), alpha / 2 - 1)
    return alignment(x, y, alpha=alpha), (slope[:, None] * gap).to(gradient_type(x.dtype))
