"""Pooling: one vector for a text out of the vectors of its tokens, with the padding left out.

A batch holds texts of different lengths, so most of its rows end in padding; whatever stands there must not reach the result. Mean, mean of
first and last layer, maximum and the first token's vector are four answers to the same question. Taught in ``08_bert_sentence_vectors``,
its kernel in ``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import check_choice, shown
from ..autograd import first_order
from ..dispatch import Operation, backend_name
from ..inputs import as_tensor, check_same_width, wants_gradient

__all__ = ["OPERATION", "POOLINGS", "pool"]

OPERATION = Operation("pool")
POOLINGS = ("mean", "first_last", "cls", "max")
WIDEST = 8192                                   # numbers of a row that the kernels can keep in registers


def pool(hidden: Any, mask: Any, *, how: str = "mean", first: Any = None, normalize: bool = False, backend: str | None = None) -> Tensor:
    """One vector per text from its token vectors; padding is never looked at.

        mean        z = 1/n Σ_{t real} h_t                               ∂L/∂h_t = g / n          for real t, 0 for padding
        first_last  z = 1/n Σ_{t real} (f_t + h_t) / 2                   ∂L/∂h_t = ∂L/∂f_t = g / 2n
        cls         z = h_0                                              ∂L/∂h_0 = g
        max         z_j = max_{t real} h_tj                              ∂L/∂h_tj = g_j           for the first t that reaches the maximum
        normalize   y = z / ‖z‖,  g = (u - y (y·u)) / ‖z‖  for the gradient u that arrives at y; else y = z and g = u

    Parameters: hidden, (b, length, d) floating, the last layer's token vectors; mask, (b, length), True or 1 for a real token, False or 0
    for padding; how, one of `POOLINGS`; first, like hidden, the vectors of the first layer, for "first_last" only; normalize, scale the
    result to length 1; backend, "triton", "cpu" or "reference". Returns (b, d) in hidden's type, sums in float32 for half types;
    differentiable once in hidden and first. NaN in a real token gives NaN.

    A text without a real token pools to zeros, whatever ``how``; zeros stay zeros under normalize and have no gradient there. "cls" takes
    position 0, which has to be real: padding on the left is refused (on a GPU, where nobody looks at the mask, such a text pools to zeros).

    Real means attended to: the authors' code averages [CLS] and [SEP] too and leaves out padding only; to leave those out as well, set
    their mask to 0. Which layer is "first" has to be said with every figure: the table of the SimCSE paper used the embedding layer (hidden
    state 0), its code since 2022 the first block (1), and BERT-flow's "last2avg" is the first block too, by a slip of index.
    [reimers2019sentence; gao2021simcse; li2020sentence]

    Raises ValueError (shapes, how, a mask that is not 0 or 1, first where it does not belong), TypeError (types), BackendUnavailable.

    >>> pool([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]], [[1, 1, 0]]).tolist()
    [[2.0, 3.0]]
    """
    hidden = as_tensor("hidden", hidden, ndim=3)
    if hidden.shape[2] == 0:
        raise ValueError(f"hidden has shape {tuple(hidden.shape)}; expected >= 1 column")
    how = check_choice("how", how, POOLINGS)
    first = _checked_first(first, hidden, how)
    real = _as_mask(mask, hidden, how)
    if how == "cls":
        hidden, real = hidden[:, :1], real[:, :1]           # the mean of one token is that token
    if how == "max":
        return _largest(hidden, real, bool(normalize), wants_gradient(hidden), backend_name(backend))[0]
    return _mean(hidden, real, first, bool(normalize), backend_name(backend))[0]


def _checked_first(first: Any, hidden: Tensor, how: str) -> Tensor | None:
    if (first is None) == (how == "first_last"):
        needed = "needs first=, the token vectors of the first layer" if first is None else "takes no first=; did you mean 'first_last'?"
        raise ValueError(f"how={how!r} {needed}")
    if first is None:
        return None
    first = as_tensor("first", first, ndim=3)
    if first.shape != hidden.shape:
        raise ValueError(f"first has shape {tuple(first.shape)} and hidden {tuple(hidden.shape)}; expected one shape")
    check_same_width(hidden, first, names=("hidden", "first"))
    return first


def _as_mask(value: Any, hidden: Tensor, how: str) -> Tensor:
    """The mask as bool, on hidden's device. Raises TypeError or ValueError (another shape, an entry or a first position that cannot be)."""
    value = value if isinstance(value, Tensor) else as_tensor("mask", value, ndim=2)
    if value.dtype.is_complex:
        raise TypeError(f"mask has dtype {value.dtype}; expected bool, or 0 and 1")
    if value.shape != hidden.shape[:2]:
        raise ValueError(f"mask has shape {tuple(value.shape)} and hidden {tuple(hidden.shape)}; expected {tuple(hidden.shape[:2])}, "
                         "one entry per token")
    look = _looked_at if torch.compiler.is_compiling() else _look_at            # a traced tensor has no numbers yet
    return look(value.detach(), how == "cls").to(hidden.device)


def _look_at(value: Tensor, first: bool) -> Tensor:
    """The mask as bool. Only a mask on the processor is looked at, a GPU would have to wait; ``first``: a text's position 0 has to be real."""
    real, seen = value != 0, value.device.type == "cpu"
    if seen and value.dtype != torch.bool:
        bad = torch.nonzero((value != 0) & (value != 1))
        if len(bad):
            row, column = bad[0].tolist()
            raise ValueError(f"mask[{row}, {column}]={shown(value[row, column].item())}; expected 1 or True for a real token, "
                             "0 or False for padding")
    if seen and first and real.shape[1]:
        bad = torch.nonzero(real.any(dim=1) & ~real[:, 0])
        if len(bad):
            raise ValueError(f"mask[{int(bad[0])}, 0] is 0 although the text has real tokens ({len(bad)} of {len(real)} texts); "
                             "how='cls' needs its token at position 0. Pad on the right: tokenizer.padding_side = 'right'")
    return real


@torch.library.custom_op("lessons_lib::pool_mask", mutates_args=())
def _looked_at(value: Tensor, first: bool) -> Tensor:
    """`_look_at` inside a compiled function: it runs when the numbers are there."""
    return _look_at(value, first)


@_looked_at.register_fake
def _mask_shape(value: Tensor, first: bool) -> Tensor:
    return torch.empty_like(value, dtype=torch.bool)


def _limit(hidden: Tensor) -> str | None:
    return f"rows of {hidden.shape[2]} numbers do not fit into registers (at most {WIDEST} do)" if hidden.shape[2] > WIDEST else None


def _room(hidden: Tensor, normalize: bool) -> tuple[Tensor, Tensor]:
    """Shapes of (pooled, length before normalising); the length is empty where nothing is normalised."""
    exact = torch.float64 if hidden.dtype == torch.float64 else torch.float32
    return hidden.new_empty(hidden.shape[0], hidden.shape[2]), hidden.new_empty(hidden.shape[0] if normalize else 0, dtype=exact)


@torch.library.custom_op("lessons_lib::pool", mutates_args=())
def _mean(hidden: Tensor, mask: Tensor, first: Tensor | None, normalize: bool, backend: str) -> tuple[Tensor, Tensor]:
    layers = hidden.detach(), mask, None if first is None else first.detach()
    return OPERATION.run("mean", *layers, normalize=normalize, backend=backend or None, limit=_limit(hidden))


@_mean.register_fake
def _mean_shapes(hidden: Tensor, mask: Tensor, first: Tensor | None, normalize: bool, backend: str) -> tuple[Tensor, Tensor]:
    return _room(hidden, normalize)


@torch.library.custom_op("lessons_lib::pool_largest", mutates_args=())
def _largest(hidden: Tensor, mask: Tensor, normalize: bool, gradient: bool, backend: str) -> tuple[Tensor, Tensor, Tensor]:
    options = {"normalize": normalize, "gradient": gradient}
    return OPERATION.run("largest", hidden.detach(), mask, backend=backend or None, limit=_limit(hidden), **options)


@_largest.register_fake
def _largest_shapes(hidden: Tensor, mask: Tensor, normalize: bool, gradient: bool, backend: str) -> tuple[Tensor, Tensor, Tensor]:
    pooled, length = _room(hidden, normalize)
    return pooled, length, hidden.new_empty(pooled.shape if gradient else (0,), dtype=torch.int32)


def _keep(ctx: Any, mask: Tensor, output: tuple[Tensor, ...], *, normalize: bool, share: float) -> None:
    """What the gradient needs: the mask and small tensors, but not the token vectors, for which it has no use."""
    ctx.normalize, ctx.share = normalize, share
    ctx.mark_non_differentiable(*output[1:])
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(mask, *output)


def _keep_of_mean(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, mask, first, normalize, _ = inputs
    _keep(ctx, mask, output, normalize=normalize, share=1.0 if first is None else 0.5)


def _keep_of_largest(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, mask, normalize, _, _ = inputs
    _keep(ctx, mask, output, normalize=normalize, share=1.0)


def _passed_on(ctx: Any, upstream: Tensor) -> Tensor:
    """The gradient at the tokens it belongs to; half of it when two layers share it."""
    from .reference import gradient, unscaled

    mask, pooled, length, *winner = ctx.saved_tensors
    arrived = ctx.share * (unscaled(upstream, pooled, length) if ctx.normalize else upstream)
    return first_order(gradient(arrived, mask, winner[0] if winner else None), upstream, pooled)


def _mean_backward(ctx: Any, upstream: Tensor | None, *others: Tensor | None) -> tuple[Tensor | None, ...]:
    if upstream is None:
        return (None,) * 5
    found = _passed_on(ctx, upstream)
    return found if ctx.needs_input_grad[0] else None, None, found if ctx.needs_input_grad[2] else None, None, None


def _largest_backward(ctx: Any, upstream: Tensor | None, *others: Tensor | None) -> tuple[Tensor | None, ...]:
    return (None if upstream is None else _passed_on(ctx, upstream), *(None,) * 4)


torch.library.register_autograd(_mean, _mean_backward, setup_context=_keep_of_mean)
torch.library.register_autograd(_largest, _largest_backward, setup_context=_keep_of_largest)
