"""Alignment: how near the two vectors of a true pair lie, as a mean power of their distance.

The other half of the picture that uniformity draws: a good space keeps paraphrases together
(alignment near 0) and still uses the whole sphere. Every number is read once and little is
computed with it, so memory sets the time. Taught in ``14_simcse``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..core import check_float
from .autograd import gradient_type, result_type, scalar_loss
from .dispatch import Operation
from .inputs import as_vectors, check_same_width

__all__ = ["OPERATION", "alignment", "mean_power"]

OPERATION = Operation("alignment", kernel=False, plain=True,
                      without="memory-bound: torch.compile fuses it")
BLOCK = 1 << 18                 # numbers per block of rows: 1 MB, which a core's cache holds
BLOCK_GPU = 1 << 24             # a GPU wants few large steps
_loss = scalar_loss(OPERATION, ("x", "y"), alpha="float")


def alignment(x: Any, y: Any, *, alpha: float = 2.0, backend: str | None = None) -> Tensor:
    """Mean of ‖x_i - y_i‖^alpha over the pairs i; 0 is best.

    Parameters
    ----------
    x, y : (n, d) floating of one type, n >= 1
        Row i of x belongs to row i of y. Taken as they are: scale the rows to norm 1 first, as the
        definition demands; then A = 2 - 2 mean cos for alpha = 2. NaN gives NaN.
    alpha : float in (0, 100], default 2.0
    backend : {"cpu", "reference"}, optional

    Returns
    -------
    scalar Tensor
        >= 0, in x's type (float32 for half types), differentiable once.

    Raises
    ------
    ValueError
        Shapes, alpha, backend.
    TypeError
        Not floating, or two types.
    BackendUnavailable
        backend="triton": there is no kernel.

    Notes
    -----
    ::

        A = 1/N Σ_i ‖x_i - y_i‖^α,     ∂A/∂x_i = α/N ‖x_i - y_i‖^(α-2) (x_i - y_i) = -∂A/∂y_i

    Where x_i = y_i the gradient is 0: the limit for alpha > 1, one of the slopes of the tip for
    alpha = 1, a choice for alpha < 1, where the slope has no bound. Memory beyond x, y and their
    gradients is a block of rows. [wang2020understanding]

    Examples
    --------
    >>> alignment([[1.0, 0.0]], [[0.0, 1.0]]).item()
    2.0
    """
    x, y = as_vectors("x", x), as_vectors("y", y)
    check_same_width(x, y, names=("x", "y"))
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} rows and y has {len(y)}; expected one of each per pair")
    alpha = check_float("alpha", alpha, low=0, high=100, open_low=True)
    return _loss(x, y, alpha, backend=backend)


def _power(squares: Float[Tensor, " n"], exponent: float) -> Float[Tensor, " n"]:
    """squares ** exponent, and 0 with slope 0 at 0, where the slope of the power is infinite."""
    zero = squares == 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, squares) ** exponent)


def reference_alignment(x: Float[Tensor, "n d"], y: Float[Tensor, "n d"], *,
                        alpha: float) -> Float[Tensor, ""]:
    """1/n Σ_i ‖x_i - y_i‖^alpha."""
    gap = x.to(result_type(x)) - y.to(result_type(y))
    return _power(gap.square().sum(dim=1), alpha / 2).mean()


def reference_value_and_gradient(
        x: Float[Tensor, "n d"], y: Float[Tensor, "n d"], *, alpha: float,
        wanted: tuple[bool, bool]) -> tuple[Float[Tensor, ""], Tensor | None, Tensor | None]:
    """A and ∂A/∂x_i = alpha/n ‖x_i - y_i‖^(alpha-2) (x_i - y_i), 0 where x_i = y_i; -∂A/∂y_i."""
    gap = x.to(result_type(x)) - y.to(result_type(y))
    slope = alpha / len(x) * _power(gap.square().sum(dim=1), alpha / 2 - 1)
    gradient = (slope[:, None] * gap).to(gradient_type(x.dtype))
    return reference_alignment(x, y, alpha=alpha), *_two_sides(gradient, wanted)


def _two_sides(gradient: Tensor, wanted: tuple[bool, bool]) -> tuple[Tensor | None, Tensor | None]:
    return gradient if wanted[0] else None, -gradient if wanted[1] else None


# Distances are added up, powered and averaged in float64, which costs n numbers, so no square of a
# float32 is too large or too small; the differences stay in float32 unless x is float64.


def _gaps(x: Tensor, y: Tensor) -> Iterator[tuple[slice, Tensor]]:
    step = max(1, (BLOCK if x.device.type == "cpu" else BLOCK_GPU) // x.shape[1])
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        a, b = x[rows].contiguous(), y[rows].contiguous()       # a sum depends on the layout
        yield rows, a.to(result_type(x)) - b.to(result_type(x))


def _squares(gap: Tensor) -> Tensor:
    """Squared norms in float64; without a copy of float32 rows in float64."""
    if gap.dtype == torch.float64:
        return gap.square().sum(dim=1)
    return torch.linalg.vector_norm(gap, dim=1, dtype=torch.float64).square_()


def mean_power(squares: Tensor, *, alpha: float) -> Tensor:
    """Alignment, a float64 scalar, from ‖x_i - y_i‖², (n,), of dense or sparse rows."""
    return squares.double().pow(alpha / 2).mean()


def cpu_alignment(x: Tensor, y: Tensor, *, alpha: float) -> Tensor:
    """The value alone."""
    squares = torch.cat([_squares(gap) for _, gap in _gaps(x, y)])
    return mean_power(squares, alpha=alpha).to(result_type(x))


def cpu_value_and_gradient(
        x: Tensor, y: Tensor, *, alpha: float,
        wanted: tuple[bool, bool]) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Value and gradients in one pass over the rows."""
    n, squares = len(x), torch.empty(len(x), dtype=torch.float64, device=x.device)
    gradient = torch.empty(x.shape, dtype=gradient_type(x.dtype), device=x.device)
    for rows, gap in _gaps(x, y):
        square = squares[rows] = _squares(gap)
        if alpha == 2:
            gradient[rows] = gap.mul_(2 / n)
            continue
        slope = torch.where(square == 0, 0.0, square.pow(alpha / 2 - 1) * (alpha / n))
        # in two steps: the slope may be beyond float32 where its product with the gap is not
        root = slope.sqrt_().to(gap.dtype)[:, None]
        gradient[rows] = gap.mul_(root).mul_(root)
    value = mean_power(squares, alpha=alpha).to(result_type(x))
    return value, *_two_sides(gradient, wanted)
