"""CoSENT: train the order of similarities, not their values.

Wherever a pair of texts with the higher label has the lower similarity, the loss pays about scale
times the difference. The formula has N² terms; sorting by label and adding up from the lowest on
gives the same number in N log N steps, so there is no kernel to write. Taught in ``13_cosent``.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float, Real
from torch import Tensor

from ..core import check_float
from .autograd import gradient_type, result_type, scalar_loss
from .contents import check_finite, in_order
from .dispatch import Operation
from .inputs import as_tensor

__all__ = ["OPERATION", "cosent"]

OPERATION = Operation("cosent", kernel=False, plain=True, processor="sort and running sums",
                      without="sorting by label leaves N log N steps of plain torch")
LARGEST = 1e30                  # times a similarity it is still a number in float32
_loss = scalar_loss(OPERATION, ("similarity",), label="Tensor", scale="float")


def cosent(similarity: Any, label: Any, *, scale: float = 20.0,
           backend: str | None = None) -> Tensor:
    """Log of one plus the exponentials of all order violations.

    Parameters
    ----------
    similarity : (n,) floating, n >= 0
        NaN gives NaN.
    label : (n,) numbers
        Only their order counts; equal labels make no pair. Labels on a GPU are not looked at: a
        NaN among them gives NaN.
    scale : float in (0, 1e30], default 20.0
        λ; 1/λ is a temperature.
    backend : {"cpu", "reference"}, optional

    Returns
    -------
    scalar Tensor
        >= λ max(s_j - s_i), in the type of similarity (float32 for half types), differentiable
        once; 0 with gradient 0 where no two labels differ.

    Raises
    ------
    ValueError
        Numbers of labels and similarities, scale, a label that is NaN or infinite.
    TypeError
        Not floating.
    BackendUnavailable
        backend="triton": there is no kernel.

    Notes
    -----
    ::

        L = log( 1 + Σ_{y_i > y_j} exp(λ (s_j - s_i)) )
        ∂L/∂s_k = λ (Σ_i p_ik - Σ_j p_kj),   p_ij = exp(λ (s_j - s_i) - L) where y_i > y_j, else 0

    Computed in float64, in N log N steps with memory N. The printed formula of the source has a
    slip: its condition is the order of the labels. [su2022cosent]

    Examples
    --------
    >>> round(cosent([0.8, 0.6], [1, 0]).item(), 6)
    0.01815
    """
    similarity = as_tensor("similarity", similarity, ndim=1)
    scale = check_float("scale", scale, low=0, high=LARGEST, open_low=True)
    whole = in_order("label", label)            # integers stay integers: large ones keep apart
    label = as_tensor("label", label, ndim=1).detach() if whole is None else whole
    if label.shape != similarity.shape:
        raise ValueError(f"label has shape {tuple(label.shape)}; expected ({len(similarity)},), "
                         "one label per similarity")
    if label.dtype.is_floating_point:
        if label.device.type == "cpu" and not torch.compiler.is_compiling():
            check_finite("label", label)
        else:               # nobody looks, so a missing label has to show in the loss
            similarity = similarity + torch.where(label.isnan(), torch.nan, 0.0).to(similarity)
    return _loss(similarity, label.to(similarity.device), scale, backend=backend)


def _violations(s: Float[Tensor, " n"], label: Real[Tensor, " n"],
                scale: float) -> Float[Tensor, "n n"]:
    """λ (s_j - s_i) at (i, j) where y_i > y_j, and -inf, whose exponential is 0, elsewhere."""
    gaps = scale * (s[None, :] - s[:, None])
    return gaps.masked_fill(label[:, None] <= label[None, :], -math.inf)


def reference_cosent(similarity: Float[Tensor, " n"], *, label: Real[Tensor, " n"],
                     scale: float) -> Float[Tensor, ""]:
    """log( 1 + Σ_{y_i > y_j} exp(λ (s_j - s_i)) ): the 1 is one more term, exp(0)."""
    s = similarity.to(result_type(similarity))
    value = torch.cat([s.new_zeros(1), _violations(s, label, scale).flatten()]).logsumexp(dim=0)
    return value.where(~similarity.isnan().any(), math.nan)      # also where no pair looks at it


def reference_value_and_gradient(similarity: Float[Tensor, " n"], *, label: Real[Tensor, " n"],
                                 scale: float) -> tuple[Float[Tensor, ""], Float[Tensor, " n"]]:
    """L and ∂L/∂s_k = λ (what k pays as the lower label - what it pays as the higher one)."""
    value = reference_cosent(similarity, label=label, scale=scale)
    share = (_violations(similarity.to(value.dtype), label, scale) - value).exp()
    gradient = scale * (share.sum(dim=0) - share.sum(dim=1))
    return value, gradient.to(gradient_type(similarity.dtype))


# exp(λ (s_j - s_i)) is a product, so each i needs only the sum of exp(λ s_j) over all smaller
# labels: a running sum, kept as a logarithm in float64, so any scale and any similarities do.


def _log_sums(values: Tensor, counts: Tensor) -> Tensor:
    """Log of the sum of exp over the first counts[i] values; -inf where that is none of them."""
    return torch.cat([values.new_full((1,), -math.inf), values.logcumsumexp(dim=0)])[counts]


def _paid(similarity: Tensor, label: Tensor, scale: float) -> tuple[Tensor, ...]:
    """(L, its terms by the higher label, λ s in the order of the labels, labels, places)."""
    ordered, places = label.sort()
    # float32 on Apple's devices, which have no float64
    kind = torch.float32 if similarity.device.type == "mps" else torch.float64
    s = similarity.detach()[places].to(kind) * scale
    paid = _log_sums(s, torch.searchsorted(ordered, ordered)) - s
    return torch.cat([paid.new_zeros(1), paid]).logsumexp(dim=0), paid, s, ordered, places


def cpu_cosent(similarity: Tensor, *, label: Tensor, scale: float) -> Tensor:
    """The value alone: one sort, one running sum."""
    return _paid(similarity, label, scale)[0].to(result_type(similarity))


def cpu_value_and_gradient(similarity: Tensor, *, label: Tensor,
                           scale: float) -> tuple[Tensor, Tensor]:
    """What k pays as the lower label is a running sum of exp(-λ s) from the highest label down."""
    value, paid, s, ordered, places = _paid(similarity, label, scale)
    n_larger = len(s) - torch.searchsorted(ordered, ordered, right=True)
    received = _log_sums(-s.flip(0), n_larger) + s
    share = (received - value).exp_() - (paid - value).exp_()
    gradient = torch.empty_like(share).index_copy_(0, places, share.mul_(scale))
    return value.to(result_type(similarity)), gradient.to(gradient_type(similarity.dtype))
