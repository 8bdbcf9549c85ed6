"""The formula of uniformity and of its gradient, as on paper: all pairs at once.

Any type, also float64; N x N numbers are kept, so this is for reading and for tests. Taught in
``14_simcse``.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from ..autograd import gradient_type, result_type


def _log_kernel(x: Float[Tensor, "n d"], t: float) -> Float[Tensor, "n n"]:
    """-t ‖x_i - x_j‖², and -inf on the diagonal: a point is no pair with itself."""
    squares = (x[:, None, :] - x[None, :, :]).square().sum(dim=2)
    own = torch.eye(len(x), dtype=torch.bool, device=x.device)
    return (-t * squares).masked_fill(own, -math.inf)


def uniformity(x: Float[Tensor, "n d"], *, t: float) -> Float[Tensor, ""]:
    """log( 1 / (n (n - 1)) Σ_{i≠j} exp(-t ‖x_i - x_j‖²) ): each pair twice, twice as many pairs."""
    n = len(x)
    return _log_kernel(x.to(result_type(x)), t).flatten().logsumexp(dim=0) - math.log(n * (n - 1))


def value_and_gradient(x: Float[Tensor, "n d"], *,
                       t: float) -> tuple[Float[Tensor, ""], Float[Tensor, "n d"]]:
    """U and ∂U/∂x_i = -4t Σ_j p_ij (x_i - x_j), p the softmax of the log kernel over all pairs."""
    exact = x.to(result_type(x))
    log_kernel = _log_kernel(exact, t).flatten()
    no_pull = (log_kernel == -math.inf).all()           # all pairs too far apart
    p = log_kernel.softmax(dim=0).masked_fill(no_pull, 0.0).reshape(len(x), len(x))
    gradient = -4 * t * (p.sum(dim=1, keepdim=True) * exact - p @ exact)
    return uniformity(x, t=t), gradient.to(gradient_type(x.dtype))
