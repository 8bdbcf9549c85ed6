"""Gradients of scalar losses that are computed together with the loss.

A loss of this room knows its gradient as soon as it has passed over the pairs, so the forward pass returns both and the backward pass only multiplies
by the incoming number. Registered with torch.library, so autograd, torch.compile and opcheck know the operation. First order only: a second
derivative raises. Gradients of float16 are kept in float32 until they have been multiplied. Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["first_order", "gradient_type", "register_scalar_loss"]


def gradient_type(dtype: torch.dtype) -> torch.dtype:
    """The type in which a loss hands out its gradient for an input of type ``dtype``: float32 for float16, else the same.

    The gradient of a mean over n pairs is about 1/n, and float16 ends at 6e-8: rounded before a loss scaler has multiplied it, it would vanish.
    """
    return torch.float32 if dtype == torch.float16 else dtype


class _FirstOrder(torch.autograd.Function):
    """Hands a gradient on; whoever differentiates it again hears why that cannot be done, instead of getting a silent zero."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, *inputs: Tensor) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> None:
        raise RuntimeError("this operation has a first derivative only. For a second one differentiate the formula itself: "
                           "the function in the operation's reference.py is plain torch")


def first_order(gradient: Tensor | None, *inputs: Tensor) -> Tensor | None:
    """A gradient that raises RuntimeError when it is differentiated again; ``inputs`` are the tensors it depends on."""
    if gradient is None or not torch.is_grad_enabled():      # without create_graph there is no second derivative to guard
        return gradient
    return _FirstOrder.apply(gradient, *inputs)


def _scaled(gradient: Tensor, upstream: Tensor, dtype: torch.dtype) -> Tensor:
    """gradient x upstream in the input's type, multiplied in the loss's: 65536, where torch's GradScaler starts, is infinite in float16."""
    return (gradient.to(upstream.dtype) * upstream).to(dtype)


def register_scalar_loss(operation: Any, *, inputs: int) -> None:
    """Teach torch the derivative of a custom operation that returns (loss, gradient of input 1, …, gradient of input ``inputs``).

    Parameters: operation, made by ``torch.library.custom_op``, whose first ``inputs`` arguments are the tensors the gradients belong to. An input
    that wants no gradient gets an empty tensor in its place; the others have the `gradient_type` of their input. Settings may be keyword-only;
    tensors may not.
    """
    n = inputs

    def setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...], keyword_only_inputs: dict[str, Any] | None = None) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.n_arguments, ctx.types = len(inputs), [x.dtype for x in inputs[:n]]
        # an input that does not learn is not kept: it may come from torch.inference_mode, whose tensors autograd refuses to keep
        ctx.save_for_backward(*[x if x.requires_grad else None for x in inputs[:n]], *output[1:])

    def backward(ctx: Any, upstream: Tensor | None, *others: Tensor | None) -> tuple[Tensor | None, ...]:
        kept = ctx.saved_tensors                 # asked for once: under checkpointing a second time is an error
        tensors = [x for x in kept[:n] if x is not None]
        gradients = [None if upstream is None or s.numel() == 0 else first_order(_scaled(s, upstream, dtype), *tensors)
                     for s, dtype in zip(kept[n:], ctx.types, strict=True)]
        return (*gradients, *[None] * (ctx.n_arguments - n))

    torch.library.register_autograd(operation, backward, setup_context=setup)
