"""Alignment: how near the two vectors of a true pair lie, as a mean power of their distance.

The other half of the picture that uniformity draws: a good space keeps paraphrases together (alignment near 0) and still uses the whole sphere.
Every number is read once and little is computed with it, so memory sets the time. Taught in ``14_simcse``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import check_float
from ..autograd import gradient_type, register_scalar_loss
from ..dispatch import Operation, backend_name
from ..inputs import as_vectors, check_same_width, wants_gradient

__all__ = ["OPERATION", "alignment"]

OPERATION = Operation("alignment", kernel=False, without="memory-bound: torch.compile fuses it")


def alignment(x: Any, y: Any, *, alpha: float = 2.0, backend: str | None = None) -> Tensor:
    """Mean of ‖x_i - y_i‖^alpha over the pairs i; 0 is best.

        A = 1/N Σ_i ‖x_i - y_i‖^α,      ∂A/∂x_i = α/N ‖x_i - y_i‖^(α-2) (x_i - y_i) = -∂A/∂y_i

    Parameters: x, y, (n, d) floating of one type, n >= 1, row i of x belongs to row i of y; taken as they are: scale the rows to length 1 first, as
    the definition demands (then A = 2 - 2 mean cos for alpha = 2); alpha in (0, 100]; backend, "cpu" or "reference". Returns a scalar >= 0 in x's
    type (float32 for half types), differentiable once. Where x_i = y_i the gradient is 0: the limit for alpha > 1, one of the slopes of the tip for
    alpha = 1, and a choice for alpha < 1, where the slope has no bound. Memory beyond x, y and their gradients is a block of rows. NaN gives NaN.
    Raises ValueError (shapes, alpha, backend), TypeError (not floating, two types), BackendUnavailable. [wang2020understanding]

    >>> alignment([[1.0, 0.0]], [[0.0, 1.0]]).item()
    2.0
    """
    x, y = as_vectors("x", x), as_vectors("y", y)
    check_same_width(x, y, names=("x", "y"))
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} rows and y has {len(y)}; expected one of each per pair")
    alpha = check_float("alpha", alpha, low=0, high=100, open_low=True)
    gradients = [wants_gradient(x), wants_gradient(y)]
    if not any(gradients) and not torch.compiler.is_compiling():       # measuring: the registered operation loads torch's compiler
        return OPERATION.run("alignment", x.detach(), y.detach(), alpha=alpha, backend=backend)
    return _alignment(x, y, alpha, gradients, backend_name(backend))[0]


@torch.library.custom_op("lessons_lib::alignment", mutates_args=())
def _alignment(x: Tensor, y: Tensor, alpha: float, gradients: list[bool], backend: str) -> tuple[Tensor, Tensor, Tensor]:
    if not any(gradients):
        return OPERATION.run("alignment", x.detach(), y.detach(), alpha=alpha, backend=backend or None), x.new_empty(0), y.new_empty(0)
    value, gradient = OPERATION.run("value_and_gradient", x.detach(), y.detach(), alpha=alpha, backend=backend or None)
    return value, gradient if gradients[0] else x.new_empty(0), -gradient if gradients[1] else y.new_empty(0)


@_alignment.register_fake
def _shapes(x: Tensor, y: Tensor, alpha: float, gradients: list[bool], backend: str) -> tuple[Tensor, Tensor, Tensor]:
    scalar = torch.float64 if x.dtype == torch.float64 else torch.float32
    rooms = [x.new_empty(x.shape, dtype=gradient_type(x.dtype)) if wanted else x.new_empty(0) for wanted in gradients]
    return x.new_empty((), dtype=scalar), rooms[0], rooms[1]


register_scalar_loss(_alignment, inputs=2)
