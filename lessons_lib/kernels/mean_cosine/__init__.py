"""Mean cosine of all pairs: how narrow the cone is that a set of vectors fills.

The sum of all N² cosines is the square of one vector, the sum of the unit vectors; so no pair is ever looked at. The self-similarity of a word is
this number over its occurrences. Taught in ``09_anisotropy``; as the kernel that one need not write in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..autograd import gradient_type, register_scalar_loss
from ..dispatch import Operation, backend_name
from ..inputs import as_vectors, wants_gradient

__all__ = ["OPERATION", "mean_cosine"]

OPERATION = Operation("mean_cosine", kernel=False, without="one sum over the rows does the work of all pairs")


def mean_cosine(x: Any, *, backend: str | None = None) -> Tensor:
    """Mean of cos(x_i, x_j) over all ordered pairs i ≠ j.

        (‖s‖² - M) / (N (N - 1)),   s = Σ u_i,   u_i = x_i / ‖x_i‖,   M rows not zero          ∂/∂x_i = 2 (s - (s·u_i) u_i) / (N (N - 1) ‖x_i‖)

    Parameters: x, (n, d) floating, n >= 2; a zero row has cosine 0 with all, counts in N, and gets gradient 0; backend, "cpu" or "reference". Returns
    a scalar in [-1 / (N - 1), 1], in x's type (float32 for half types), differentiable once. The rows are summed in float64, block by block: time
    O(n d), memory beyond x and its gradient one block. The double loop would keep n x n cosines. NaN or infinity in x gives NaN. Raises ValueError
    (shape, backend), TypeError (not floating), BackendUnavailable. [ethayarajh2019contextual]

    >>> mean_cosine([[1.0, 0.0], [0.0, 3.0], [2.0, 0.0]]).item()
    0.3333333333333333
    """
    x = as_vectors("x", x, min_rows=2)
    return _mean_cosine(x, wants_gradient(x), backend_name(backend))[0]


@torch.library.custom_op("lessons_lib::mean_cosine", mutates_args=())
def _mean_cosine(x: Tensor, gradient: bool, backend: str) -> tuple[Tensor, Tensor]:
    if gradient:
        return OPERATION.run("value_and_gradient", x.detach(), backend=backend or None)
    return OPERATION.run("mean_cosine", x.detach(), backend=backend or None), x.new_empty(0)


@_mean_cosine.register_fake
def _shapes(x: Tensor, gradient: bool, backend: str) -> tuple[Tensor, Tensor]:
    scalar = torch.float64 if x.dtype == torch.float64 else torch.float32
    return x.new_empty((), dtype=scalar), x.new_empty(x.shape, dtype=gradient_type(x.dtype)) if gradient else x.new_empty(0)


register_scalar_loss(_mean_cosine, inputs=1)
