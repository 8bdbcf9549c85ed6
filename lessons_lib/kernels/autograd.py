"""Losses whose gradient is computed together with the value, known to autograd and torch.compile.

A loss of this room knows its gradient as soon as it has passed over the pairs, so the forward pass
returns both and the backward pass only multiplies by the incoming number. First order only: a
second derivative raises. Gradients of float16 stay in float32 until they have been multiplied.
Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .dispatch import Operation, backend_name
from .inputs import wants_gradient

__all__ = ["first_order", "gradient_type", "result_type", "scalar_loss"]


def result_type(x: Tensor) -> torch.dtype:
    """float64 for float64, else float32: the type in which x is summed and a loss comes back."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def gradient_type(dtype: torch.dtype) -> torch.dtype:
    """The type of the gradient of an input: float32 for float16, else the input's own.

    The gradient of a mean over n pairs is about 1/n, and float16 ends at 6e-8: rounded before a
    loss scaler has multiplied it, it would vanish.
    """
    return torch.float32 if dtype == torch.float16 else dtype


class _FirstOrder(torch.autograd.Function):
    """Hands a gradient on; whoever differentiates it hears why not, instead of a silent zero."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, *inputs: Tensor) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> None:
        raise RuntimeError("this operation has a first derivative only. For a second one "
                           "differentiate its formula, which is plain torch")


def first_order(gradient: Tensor | None, *inputs: Tensor) -> Tensor | None:
    """A gradient that raises RuntimeError when it is differentiated by one of ``inputs``."""
    if gradient is None or not torch.is_grad_enabled():      # no create_graph, nothing to guard
        return gradient
    return _FirstOrder.apply(gradient, *inputs)


def scalar_loss(operation: Operation, inputs: tuple[str, ...], *,
                check: Callable[..., None] | None = None, **settings: str) -> Callable[..., Tensor]:
    """``loss(*inputs, *settings, backend)`` of an operation, registered with torch.library.

    ``inputs`` are the tensors that may learn; ``settings`` names the other arguments with their
    types in torch's schema ("float", "Tensor?"). Every implementation has a function of the
    operation's name, which gives the value, and ``value_and_gradient``, which is told by
    ``wanted`` for which inputs (where there are several) and returns (value, gradient or None of
    each), in the `gradient_type` of the input. ``check`` is called with all arguments when their
    numbers are there, inside a compiled function too.
    """
    n = len(inputs)
    arguments = [f"Tensor {x}" for x in inputs] + [f"{kind} {x}" for x, kind in settings.items()]
    schema = (f"({', '.join(arguments)}, bool[] wanted, str backend) -> "
              f"({', '.join(['Tensor'] * (n + 1))})")

    def compute(*given: Any) -> tuple[Tensor, ...]:
        *given, wanted, backend = given
        vectors = [x.detach() for x in given[:n]]
        named = dict(zip(settings, given[n:], strict=True))
        if check is not None:
            check(*vectors, **named)
        function = "value_and_gradient" if any(wanted) else operation.name
        if any(wanted) and n > 1:
            named["wanted"] = tuple(wanted)
        result = operation.run(function, *vectors, backend=backend or None, **named)
        value, *gradients = result if any(wanted) else (result, *[None] * n)
        return value, *[x.new_empty(0) if g is None else g
                        for x, g in zip(vectors, gradients, strict=True)]

    registered = torch.library.custom_op(f"lessons_lib::{operation.name}", compute,
                                         mutates_args=(), schema=schema)

    @registered.register_fake
    def shapes(*given: Any) -> tuple[Tensor, ...]:
        return given[0].new_empty((), dtype=result_type(given[0])), *[
            x.new_empty(x.shape, dtype=gradient_type(x.dtype)) if asked else x.new_empty(0)
            for x, asked in zip(given[:n], given[-2], strict=True)]

    def remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.n_arguments, ctx.types = len(inputs), [x.dtype for x in inputs[:n]]
        # what does not learn may come from torch.inference_mode: autograd refuses to keep that
        kept = [x if x.requires_grad else None for x in inputs[:n]]
        ctx.save_for_backward(*kept, *output[1:])

    def backward(ctx: Any, upstream: Tensor | None, *_: Any) -> tuple[Tensor | None, ...]:
        kept = ctx.saved_tensors          # asked for once: checkpointing refuses a second time
        tensors, gradients = [x for x in kept[:n] if x is not None], []
        for g, dtype in zip(kept[n:], ctx.types, strict=True):
            if upstream is None or g.numel() == 0:
                gradients.append(None)
            else:       # multiplied in the loss's type: 65536, where GradScaler starts, is
                scaled = (g.to(upstream.dtype) * upstream).to(dtype)        # infinite in float16
                gradients.append(first_order(scaled, *tensors))
        return *gradients, *[None] * (ctx.n_arguments - n)

    registered.register_autograd(backward, setup_context=remember)

    def loss(*given: Any, backend: str | None) -> Tensor:
        wanted = [wants_gradient(x) for x in given[:n]]
        # measuring: the registered operation loads torch's compiler
        work = registered if any(wanted) or torch.compiler.is_compiling() else compute
        return work(*given, wanted, backend_name(backend))[0]

    return loss
