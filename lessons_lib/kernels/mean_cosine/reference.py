"""The formula of the mean cosine and of its gradient, pair by pair.

Any type, also float64; N x N cosines are kept, so this is for reading and for tests. Taught in ``09_anisotropy``.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from ..autograd import gradient_type

__all__ = ["mean_cosine", "value_and_gradient"]


def _unit(x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n 1"]]:
    """Rows of length 1 and the lengths; a zero row stays zero and has length 1."""
    zero = (x == 0).all(dim=1, keepdim=True)
    length = torch.where(zero, 1.0, x).norm(dim=1, keepdim=True).masked_fill(zero, 1.0)
    return x / length, length


def _cosines(unit: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """u_i·u_j, and 0 on the diagonal: a row is no pair with itself."""
    return (unit @ unit.T).masked_fill(torch.eye(len(unit), dtype=torch.bool, device=unit.device), 0.0)


def mean_cosine(x: Float[Tensor, "n d"]) -> Float[Tensor, ""]:
    """1 / (n (n - 1)) Σ_{i≠j} cos(x_i, x_j)."""
    x = x if x.dtype == torch.float64 else x.float()
    return _cosines(_unit(x)[0]).sum() / (len(x) * (len(x) - 1))


def value_and_gradient(x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, ""], Float[Tensor, "n d"]]:
    """The mean and ∂/∂x_i = 2 / (n (n - 1)) Σ_{j≠i} (u_j - cos_ij u_i) / ‖x_i‖: of every other row, what stands at right angles to x_i."""
    exact, n = x if x.dtype == torch.float64 else x.float(), len(x)
    unit, length = _unit(exact)
    cosines = _cosines(unit)
    others = unit.sum(dim=0) - unit
    zero = (exact == 0).all(dim=1, keepdim=True)
    gradient = (2 / (n * (n - 1)) * (others - cosines.sum(dim=1, keepdim=True) * unit) / length).masked_fill(zero, 0.0)
    return mean_cosine(x), gradient.to(gradient_type(x.dtype))
