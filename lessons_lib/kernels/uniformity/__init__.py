"""Uniformity: how evenly points spread over the sphere, as the log of the mean Gaussian kernel of all pairs.

One number that says whether a space is used: 0 when all points fall together, about -2t when they fill a sphere of high dimension. N points have
N²/2 pairs; no implementation here keeps them. Taught in ``14_simcse``, its kernel in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import check_float
from ..autograd import gradient_type, register_scalar_loss
from ..dispatch import Operation, backend_name
from ..inputs import as_vectors, wants_gradient

__all__ = ["OPERATION", "uniformity"]

OPERATION = Operation("uniformity", dot=True)


def uniformity(x: Any, *, t: float = 2.0, backend: str | None = None) -> Tensor:
    """Log of the mean of exp(-t ‖x_i - x_j‖²) over all pairs i < j.

        U = log( 2 / (N (N - 1)) Σ_{i<j} exp(-t ‖x_i - x_j‖²) ),    ∂U/∂x_i = -2t Σ_j w_ij (x_i - x_j),   w_ij = exp(-t ‖x_i - x_j‖²) / Σ_{a<b} exp(…)

    Parameters: x, (n, d) floating, n >= 2, taken as it is: scale the rows to length 1 first, as the definition demands; t in (0, 100]; backend,
    "triton", "cpu" or "reference". Returns a scalar <= 0 in x's type (float32 for half types), differentiable once. Memory beyond x and its gradient
    is a copy of x and a block of rows, never n x n. A point so far out that squares overflow (1e19 in float32) pulls at nothing; where no two points
    are nearer, the value is -inf with gradient 0. NaN in x gives NaN. Raises ValueError (shape, t, backend), TypeError (not floating),
    BackendUnavailable.
    [wang2020understanding]

    >>> uniformity([[1.0, 0.0], [-1.0, 0.0]]).item()
    -8.0
    """
    x = as_vectors("x", x, min_rows=2)
    t = check_float("t", t, low=0, high=100, open_low=True)
    gradient = wants_gradient(x)
    if not gradient and not torch.compiler.is_compiling():       # measuring: the registered operation loads torch's compiler
        return OPERATION.run("uniformity", x.detach(), t=t, backend=backend)
    return _uniformity(x, t, gradient, backend_name(backend))[0]


@torch.library.custom_op("lessons_lib::uniformity", mutates_args=())
def _uniformity(x: Tensor, t: float, gradient: bool, backend: str) -> tuple[Tensor, Tensor]:
    if gradient:
        return OPERATION.run("value_and_gradient", x.detach(), t=t, backend=backend or None)
    return OPERATION.run("uniformity", x.detach(), t=t, backend=backend or None), x.new_empty(0)


@_uniformity.register_fake
def _shapes(x: Tensor, t: float, gradient: bool, backend: str) -> tuple[Tensor, Tensor]:
    scalar = torch.float64 if x.dtype == torch.float64 else torch.float32
    return x.new_empty((), dtype=scalar), x.new_empty(x.shape, dtype=gradient_type(x.dtype)) if gradient else x.new_empty(0)


register_scalar_loss(_uniformity, inputs=1)
