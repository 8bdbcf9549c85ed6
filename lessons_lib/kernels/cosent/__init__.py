"""CoSENT: train the order of similarities, not their values.

Wherever a pair of texts with the higher label has the lower similarity, the loss pays about scale times the difference. The formula has N² terms;
sorting by label and adding up from the lowest on gives the same number in N log N steps, so there is no kernel to write. Taught in ``13_cosent``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import check_float
from ..autograd import gradient_type, register_scalar_loss
from ..dispatch import Operation, backend_name
from ..inputs import as_tensor, check_finite, in_order, wants_gradient

__all__ = ["OPERATION", "cosent"]

OPERATION = Operation("cosent", kernel=False, without="sorting by label leaves N log N steps of plain torch", processor="sort and running sums")


LARGEST = 1e30                                  # times a similarity it is still a number in float32


def cosent(similarity: Any, label: Any, *, scale: float = 20.0, backend: str | None = None) -> Tensor:
    """Log of one plus the exponentials of all order violations.

        L = log( 1 + Σ_{y_i > y_j} exp(λ (s_j - s_i)) ),      p_ij = exp(λ (s_j - s_i) - L)  where y_i > y_j, else 0,
        ∂L/∂s_k = λ (Σ_i p_ik - Σ_j p_kj)

    Parameters: similarity s, (n,) floating, n >= 0; label y, (n,) numbers in any order, of which only the order counts, equal labels make no pair;
    scale λ in (0, 1e30] (1/λ is a temperature); backend, "cpu" or "reference". Returns a scalar >= λ max(s_j - s_i), in the type of similarity
    (float32 for half types), computed in float64, differentiable once; 0 with gradient 0 where no two labels differ. N log N steps, memory N. NaN
    in similarity gives NaN. Raises ValueError (lengths, scale, a label that is NaN or infinite: index), TypeError (not floating),
    BackendUnavailable. Labels on a GPU are not looked at: a NaN among them gives NaN. The printed formula of the source has a slip: its condition
    is the order of the labels. [su2022cosent]

    >>> round(cosent([0.8, 0.6], [1, 0]).item(), 6)
    0.01815
    """
    similarity = as_tensor("similarity", similarity, ndim=1)
    scale = check_float("scale", scale, low=0, high=LARGEST, open_low=True)
    label = _as_label(label, len(similarity))
    if label.dtype.is_floating_point:
        if label.device.type == "cpu" and not torch.compiler.is_compiling():
            check_finite("label", label)
        else:                                   # nobody looks at the numbers, so a missing label has to show in the loss
            similarity = similarity + torch.where(label.isnan(), torch.nan, 0.0).to(similarity)
    return _cosent(similarity, label.to(similarity.device), scale, wants_gradient(similarity), backend_name(backend))[0]


def _as_label(label: Any, n: int) -> Tensor:
    """Labels as a tensor of n numbers; integers stay integers, so that large ones keep apart."""
    whole = in_order("label", label)
    label = as_tensor("label", label, ndim=1).detach() if whole is None else whole
    if tuple(label.shape) != (n,):
        raise ValueError(f"label has shape {tuple(label.shape)}; expected ({n},), one label per similarity")
    return label


@torch.library.custom_op("lessons_lib::cosent", mutates_args=())
def _cosent(similarity: Tensor, label: Tensor, scale: float, gradient: bool, backend: str) -> tuple[Tensor, Tensor]:
    if gradient:
        return OPERATION.run("value_and_gradient", similarity.detach(), label, scale=scale, backend=backend or None)
    return OPERATION.run("cosent", similarity.detach(), label, scale=scale, backend=backend or None), similarity.new_empty(0)


@_cosent.register_fake
def _shapes(similarity: Tensor, label: Tensor, scale: float, gradient: bool, backend: str) -> tuple[Tensor, Tensor]:
    scalar = torch.float64 if similarity.dtype == torch.float64 else torch.float32
    room = similarity.new_empty(similarity.shape, dtype=gradient_type(similarity.dtype)) if gradient else similarity.new_empty(0)
    return similarity.new_empty((), dtype=scalar), room


register_scalar_loss(_cosent, inputs=1)
