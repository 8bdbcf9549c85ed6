"""Segment moments: three sums over every run of rows, read once, which replace all pairs.

The rows of a sentence, or all occurrences of a word, lie one after the other; offsets say where
each run begins. Their sum, the sum of their directions and the sum of their norms give means, mean
cosines and how far a sentence's words agree with it. Taught in ``09_anisotropy``, its kernel in
``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..autograd import first_order, result_type
from ..contents import as_integers, check_finite
from ..dispatch import Operation, backend_name
from ..inputs import as_vectors, type_name

__all__ = ["OPERATION", "SegmentMoments", "as_offsets", "check_offsets", "segment_moments"]

OPERATION = Operation("segment_moments")
WIDEST = 4096                                   # numbers of a row that the kernel can hold


class SegmentMoments(NamedTuple):
    """Sums over the rows of each of s segments, float32 (float64 for float64).

    Parameters
    ----------
    sum : (s, d)
        Σ x.
    unit_sum : (s, d)
        Σ x/‖x‖, where a zero row adds nothing.
    norm_sum : (s,)
        Σ ‖x‖.
    n_nonzero : (s,) int64
        How many rows are not zero, which is also Σ ‖x/‖x‖‖².
    """

    sum: Tensor
    unit_sum: Tensor
    norm_sum: Tensor
    n_nonzero: Tensor


def segment_moments(x: Any, offsets: Any, *, backend: str | None = None) -> SegmentMoments:
    """Sum of the vectors, of their directions and of their norms, for every run of rows.

    Parameters
    ----------
    x : (n, d) floating, finite
    offsets : (s + 1,) ints from 0 to n that never fall
        Segment i is ``x[offsets[i]:offsets[i + 1]]``; an empty one has zeros.
    backend : {"triton", "cpu", "reference"}, optional

    Returns
    -------
    SegmentMoments
        Differentiable once in x.

    Raises
    ------
    ValueError
        Shapes, offsets, NaN or infinity in x, norms that overflow.
    TypeError
        Types.
    BackendUnavailable
        The named backend cannot run here.

    Notes
    -----
    ::

        S_i = Σ x_t,   U_i = Σ u_t,   N_i = Σ ‖x_t‖     over offsets[i] <= t < offsets[i + 1]
        u_t = x_t / ‖x_t‖, 0 for a zero row
        ∂L/∂x_t = ∂L/∂S_i + (∂L/∂U_i - u_t (u_t · ∂L/∂U_i)) / ‖x_t‖ + ∂L/∂N_i u_t
                  (the last two are 0 for a zero row)

    It looks at the numbers, so a GPU is waited for. Memory beyond the results is one block of
    rows. The kernel gives each segment to one program, which suits many short ones; a single
    segment of millions of rows keeps one multiprocessor busy and leaves the others idle.
    [ethayarajh2019contextual]

    Examples
    --------
    >>> segment_moments([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]], [0, 2, 3]).norm_sum.tolist()
    [7.0, 1.0]
    """
    x = as_vectors("x", x, min_rows=0)
    offsets = as_offsets(offsets, device=x.device)
    return SegmentMoments(*_segment_moments(x, offsets, backend_name(backend)))


def as_offsets(value: Any, *, device: torch.device) -> Tensor:
    """Offsets as int64 on ``device``, shape (s + 1,). Raises TypeError, ValueError."""
    value = as_integers("offsets", value, meaning="whole numbers")
    if value.ndim != 1 or len(value) == 0:
        raise ValueError(f"offsets has shape {tuple(value.shape)}; expected (s + 1,), one number "
                         "more than there are segments")
    return value.to(device=device).contiguous()


def check_offsets(offsets: Tensor, n: int, *, of: str = "x") -> None:
    """Raises ValueError unless the offsets start with 0, never fall and end with n, the number of
    rows of the argument ``of``."""
    first, last = offsets[[0, -1]].tolist()
    if first != 0:
        raise ValueError(f"offsets[0]={first}; expected 0, where the first segment starts")
    falls = torch.nonzero(offsets[1:] < offsets[:-1])            # a difference could leave int64
    if len(falls):
        i = int(falls[0]) + 1
        before, here = offsets[i - 1 : i + 1].tolist()
        raise ValueError(f"offsets[{i}]={here} is less than offsets[{i - 1}]={before}; expected "
                         "numbers that never fall")
    if last != n:
        raise ValueError(f"offsets[{len(offsets) - 1}]={last}; expected {n}, the number of rows "
                         f"of {of}, where the last segment ends")


@torch.library.custom_op("lessons_lib::segment_moments", mutates_args=())
def _segment_moments(x: Tensor, offsets: Tensor,
                     backend: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    check_offsets(offsets, len(x))      # in here also for compiled functions, which know no numbers
    d = x.shape[1]
    limit = f"rows of {d} numbers do not fit into registers (at most {WIDEST} do)"
    result = OPERATION.run("segment_moments", x.detach(), offsets, backend=backend or None,
                           limit=limit if d > WIDEST else None)
    bad = torch.nonzero(~torch.isfinite(result[2]))     # a sum of norms shows NaN and infinity
    if len(bad):
        check_finite("x", x)
        raise ValueError(f"x holds vectors so long that the sum of norms of segment {int(bad[0])} "
                         f"overflows {type_name(result[2].dtype)}; expected smaller numbers. Scale "
                         "them: x / x.abs().max()")
    return result


@_segment_moments.register_fake
def _shapes(x: Tensor, offsets: Tensor, backend: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    s, d, kind = offsets.shape[0] - 1, x.shape[1], result_type(x)
    return (x.new_empty(s, d, dtype=kind), x.new_empty(s, d, dtype=kind),
            x.new_empty(s, dtype=kind), x.new_empty(s, dtype=torch.int64))


@torch.library.custom_op("lessons_lib::segment_moments_gradient", mutates_args=())
def _gradient(x: Tensor, offsets: Tensor, of_sum: Tensor, of_unit_sum: Tensor,
              of_norm_sum: Tensor) -> Tensor:
    """One torch expression in blocks of rows, on every device."""
    from .cpu import gradient

    return gradient(x.detach(), offsets, of_sum.detach(), of_unit_sum.detach(),
                    of_norm_sum.detach())


@_gradient.register_fake
def _gradient_shape(x: Tensor, offsets: Tensor, of_sum: Tensor, of_unit_sum: Tensor,
                    of_norm_sum: Tensor) -> Tensor:
    return x.new_empty(x.shape)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    ctx.mark_non_differentiable(output[3])
    ctx.save_for_backward(*inputs[:2])


def _backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
    x, offsets = ctx.saved_tensors
    with torch.no_grad():
        gradient = _gradient(x, offsets, *upstream[:3])
    return first_order(gradient, x, *upstream[:3]), None, None


torch.library.register_autograd(_segment_moments, _backward, setup_context=_remember)
