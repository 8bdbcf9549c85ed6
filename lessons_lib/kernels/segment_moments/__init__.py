"""Segment moments: three sums over every run of rows, read once, from which many measures of a vector space follow without a single pair.

The rows of a sentence, or all occurrences of a word, lie one after the other; offsets say where each run begins. Their sum, the sum of
their directions and the sum of their lengths give means, mean cosines and how far a sentence's words agree with it. Taught in
``09_anisotropy``, its kernel in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..autograd import first_order
from ..dispatch import Operation, backend_name
from ..inputs import as_vectors, check_finite
from .runs import as_offsets, check_offsets

__all__ = ["OPERATION", "SegmentMoments", "segment_moments"]

OPERATION = Operation("segment_moments")
WIDEST = 4096                                   # numbers of a row that the kernels can keep in registers


class SegmentMoments(NamedTuple):
    """Sums over the rows of each of s segments, float32 (float64 for float64): ``sum`` (s, d) Σ x; ``unit_sum`` (s, d) Σ x/‖x‖, where a
    zero row adds nothing; ``norm_sum`` (s,) Σ ‖x‖; ``n_nonzero`` (s,) int64, how many rows are not zero, which is also Σ ‖x/‖x‖‖²."""

    sum: Tensor
    unit_sum: Tensor
    norm_sum: Tensor
    n_nonzero: Tensor


def segment_moments(x: Any, offsets: Any, *, backend: str | None = None) -> SegmentMoments:
    """Sum of the vectors, of their directions and of their lengths, for every run of rows.

        S_i = Σ x_t,   U_i = Σ u_t,   N_i = Σ ‖x_t‖       over offsets[i] <= t < offsets[i + 1],      u_t = x_t / ‖x_t‖, 0 for a zero row
        ∂L/∂x_t = ∂L/∂S_i + (∂L/∂U_i - u_t (u_t · ∂L/∂U_i)) / ‖x_t‖ + ∂L/∂N_i u_t       (the last two are 0 for a zero row)

    Parameters: x, (n, d) floating, finite; offsets, (s + 1,) whole numbers from 0 to n that never fall, so that segment i is
    ``x[offsets[i]:offsets[i + 1]]``; backend, "triton", "cpu" or "reference". Returns `SegmentMoments`; an empty segment has zeros. Sums
    are float32, float64 for float64; differentiable once in x. Memory beyond the results is one block of rows. The kernel gives each
    segment to one program, which suits many short ones; a single segment of millions of rows would keep one multiprocessor busy and leave
    the others idle.

    It measures, so it looks at the numbers, and a GPU is waited for. Raises ValueError (shapes, offsets, NaN or infinity in x, lengths that
    overflow), TypeError (types), BackendUnavailable. [ethayarajh2019contextual]

    >>> segment_moments([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]], [0, 2, 3]).norm_sum.tolist()
    [7.0, 1.0]
    """
    x = as_vectors("x", x, min_rows=0)
    return SegmentMoments(*_segment_moments(x, as_offsets(offsets, device=x.device), backend_name(backend)))


def _check_numbers(x: Tensor, norm_sum: Tensor) -> None:
    """Raises ValueError for NaN or infinity in x. A sum of lengths shows both, so x is read again only to name the row."""
    if bool(torch.isfinite(norm_sum).all()):
        return
    check_finite("x", x)
    i, kind = int(torch.nonzero(~torch.isfinite(norm_sum))[0]), str(norm_sum.dtype).removeprefix("torch.")
    raise ValueError(f"x holds vectors so long that the sum of lengths of segment {i} overflows {kind}; expected smaller numbers. "
                     "Scale them: x / x.abs().max()")


def _limit(x: Tensor) -> str | None:
    return f"rows of {x.shape[1]} numbers do not fit into registers (at most {WIDEST} do)" if x.shape[1] > WIDEST else None


@torch.library.custom_op("lessons_lib::segment_moments", mutates_args=())
def _segment_moments(x: Tensor, offsets: Tensor, backend: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    check_offsets(offsets, n=len(x))                # in here also for compiled functions, whose tensors have no numbers outside
    found = OPERATION.run("segment_moments", x.detach(), offsets, backend=backend or None, limit=_limit(x))
    _check_numbers(x, found[2])
    return found


@_segment_moments.register_fake
def _shapes(x: Tensor, offsets: Tensor, backend: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    s, kind = offsets.shape[0] - 1, torch.float64 if x.dtype == torch.float64 else torch.float32
    return (x.new_empty(s, x.shape[1], dtype=kind), x.new_empty(s, x.shape[1], dtype=kind), x.new_empty(s, dtype=kind),
            x.new_empty(s, dtype=torch.int64))


@torch.library.custom_op("lessons_lib::segment_moments_gradient", mutates_args=())
def _gradient(x: Tensor, offsets: Tensor, of_sum: Tensor, of_unit_sum: Tensor, of_norm_sum: Tensor, backend: str) -> Tensor:
    upstream = (of_sum.detach(), of_unit_sum.detach(), of_norm_sum.detach())
    return OPERATION.run("gradient", x.detach(), offsets, *upstream, backend=backend or None, limit=_limit(x))


@_gradient.register_fake
def _gradient_shape(x: Tensor, offsets: Tensor, of_sum: Tensor, of_unit_sum: Tensor, of_norm_sum: Tensor, backend: str) -> Tensor:
    return x.new_empty(x.shape)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    x, offsets, ctx.backend = inputs
    ctx.mark_non_differentiable(output[3])
    ctx.save_for_backward(x, offsets)


def _backward(ctx: Any, of_sum: Tensor, of_unit_sum: Tensor, of_norm_sum: Tensor, of_n: Tensor | None) -> tuple[Tensor | None, ...]:
    x, offsets = ctx.saved_tensors
    with torch.no_grad():
        found = _gradient(x, offsets, of_sum, of_unit_sum, of_norm_sum, ctx.backend)
    return first_order(found, x, of_sum, of_unit_sum, of_norm_sum), None, None


torch.library.register_autograd(_segment_moments, _backward, setup_context=_remember)
