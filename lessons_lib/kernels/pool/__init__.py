"""Pooling: one vector for a text out of the vectors of its tokens, with the padding left out.

A batch holds texts of different lengths, so most of its rows end in padding; whatever stands there
must not reach the result. Mean, mean of first and last layer, maximum and the first token's vector
are four answers to the same question. Taught in ``08_bert_sentence_vectors``, its kernel in
``15_gpu_kernels``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...core import check_choice, shown
from ..autograd import first_order, result_type
from ..dispatch import Operation, backend_name
from ..inputs import as_tensor, check_same_width, wants_gradient

__all__ = ["OPERATION", "POOLINGS", "pool"]

OPERATION = Operation("pool")
POOLINGS = ("mean", "first_last", "cls", "max")
WIDEST = 8192                                   # numbers of a row that the kernels can hold


def pool(hidden: Any, mask: Any, *, how: str = "mean", first: Any = None, normalize: bool = False,
         backend: str | None = None) -> Tensor:
    """One vector per text from its token vectors; padding is never looked at.

    Parameters
    ----------
    hidden : (b, length, d) floating
        Token vectors of the last layer. NaN in a real token gives NaN.
    mask : (b, length) bool, or 0 and 1
        True or 1 for a real token.
    how : {"mean", "first_last", "cls", "max"}, default "mean"
        "cls" takes position 0, which has to be real: padding on the left is refused (on a GPU,
        where nobody looks at the mask, such a text pools to zeros).
    first : like hidden, for how="first_last" only
        Token vectors of the first layer.
    normalize : bool, default False
        Scale the result to norm 1.
    backend : {"triton", "cpu", "reference"}, optional

    Returns
    -------
    Tensor, (b, d)
        In hidden's type, sums in float32 for half types; differentiable once in hidden and first.
        A text without a real token pools to zeros, which stay zeros under normalize and have no
        gradient there.

    Raises
    ------
    ValueError
        Shapes, how, a mask that is not 0 or 1, first where it does not belong.
    TypeError
        Types.
    BackendUnavailable
        The named backend cannot run here.

    Notes
    -----
    ::

        mean        z = 1/n Σ_{t real} h_t                 ∂L/∂h_t = g / n   for real t, else 0
        first_last  z = 1/n Σ_{t real} (f_t + h_t) / 2     ∂L/∂h_t = ∂L/∂f_t = g / 2n
        cls         z = h_0                                ∂L/∂h_0 = g
        max         z_j = max_{t real} h_tj                ∂L/∂h_tj = g_j for the first such t
        normalize   y = z / ‖z‖,  g = (u - y (y·u)) / ‖z‖ for the gradient u at y; else g = u

    Real means attended to: the authors' code averages [CLS] and [SEP] too; to leave those out, set
    their mask to 0. Which layer is "first" has to be said with every figure: the table of the
    SimCSE paper used the embedding layer (hidden state 0), its code since 2022 the first block
    (1), and BERT-flow's "last2avg" is the first block too, by a slip of index.
    [reimers2019sentence; gao2021simcse; li2020sentence]

    Examples
    --------
    >>> pool([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]]], [[1, 1, 0]]).tolist()
    [[2.0, 3.0]]
    """
    hidden = as_tensor("hidden", hidden, ndim=3)
    if hidden.shape[2] == 0:
        raise ValueError(f"hidden has shape {tuple(hidden.shape)}; expected >= 1 column")
    how = check_choice("how", how, POOLINGS)
    if (first is None) == (how == "first_last"):
        needed = ("needs first=, the token vectors of the first layer" if first is None
                  else "takes no first=; did you mean 'first_last'?")
        raise ValueError(f"how={how!r} {needed}")
    if first is not None:
        first = as_tensor("first", first, ndim=3)
        if first.shape != hidden.shape:
            raise ValueError(f"first has shape {tuple(first.shape)} and hidden "
                             f"{tuple(hidden.shape)}; expected one shape")
        check_same_width(hidden, first, names=("hidden", "first"))
    real = _as_mask(mask, hidden, how)
    if how == "cls":
        hidden, real = hidden[:, :1], real[:, :1]           # the mean of one token is that token
    winners = how == "max" and wants_gradient(hidden)
    return _pool(hidden, real, first, how == "max", bool(normalize), winners,
                 backend_name(backend))[0]


def _as_mask(value: Any, hidden: Tensor, how: str) -> Tensor:
    """The mask as bool, on hidden's device. Raises TypeError, ValueError."""
    value = value if isinstance(value, Tensor) else as_tensor("mask", value, ndim=2)
    if value.dtype.is_complex:
        raise TypeError(f"mask has dtype {value.dtype}; expected bool, or 0 and 1")
    if value.shape != hidden.shape[:2]:
        raise ValueError(f"mask has shape {tuple(value.shape)} and hidden {tuple(hidden.shape)}; "
                         f"expected {tuple(hidden.shape[:2])}, one entry per token")
    # a traced tensor has no numbers yet
    look = _looked_at if torch.compiler.is_compiling() else _look_at
    return look(value.detach(), how == "cls").to(hidden.device)


def _look_at(value: Tensor, first: bool) -> Tensor:
    """The mask as bool; ``first``: position 0 of a text has to be real. Looks on a CPU only."""
    real, seen = value != 0, value.device.type == "cpu"
    if seen and value.dtype != torch.bool:
        bad = torch.nonzero((value != 0) & (value != 1))
        if len(bad):
            row, column = bad[0].tolist()
            raise ValueError(f"mask[{row}, {column}]={shown(value[row, column].item())}; expected "
                             "1 or True for a real token, 0 or False for padding")
    if seen and first and real.shape[1]:
        bad = torch.nonzero(real.any(dim=1) & ~real[:, 0])
        if len(bad):
            raise ValueError(f"mask[{int(bad[0])}, 0] is 0 although the text has real tokens "
                             f"({len(bad)} of {len(real)} texts); how='cls' needs its token at "
                             "position 0. Pad on the right: tokenizer.padding_side = 'right'")
    return real


@torch.library.custom_op("lessons_lib::pool_mask", mutates_args=())
def _looked_at(value: Tensor, first: bool) -> Tensor:
    """`_look_at` inside a compiled function: it runs when the numbers are there."""
    return _look_at(value, first)


@_looked_at.register_fake
def _mask_shape(value: Tensor, first: bool) -> Tensor:
    return torch.empty_like(value, dtype=torch.bool)


@torch.library.custom_op("lessons_lib::pool", mutates_args=())
def _pool(hidden: Tensor, mask: Tensor, first: Tensor | None, largest: bool, normalize: bool,
          winners: bool, backend: str) -> tuple[Tensor, Tensor, Tensor]:
    """Pooled rows, their norms before normalising, the places of the maxima; empty if unasked."""
    d = hidden.shape[2]
    limit = f"rows of {d} numbers do not fit into registers (at most {WIDEST} do)"
    layers = hidden.detach(), mask, None if first is None else first.detach()
    return OPERATION.run("pool", *layers, largest=largest, normalize=normalize, winners=winners,
                         backend=backend or None, limit=limit if d > WIDEST else None)


@_pool.register_fake
def _shapes(hidden: Tensor, mask: Tensor, first: Tensor | None, largest: bool, normalize: bool,
            winners: bool, backend: str) -> tuple[Tensor, Tensor, Tensor]:
    b, _, d = hidden.shape
    return (hidden.new_empty(b, d), hidden.new_empty(b * normalize, dtype=result_type(hidden)),
            hidden.new_empty((b, d) if winners else (0,), dtype=torch.int32))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    """What the gradient needs: the mask and small tensors, but not the token vectors."""
    _, mask, first, ctx.largest, ctx.normalize, _, _ = inputs
    ctx.share = 1.0 if first is None else 0.5
    ctx.mark_non_differentiable(*output[1:])
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(mask, *output)


def _backward(ctx: Any, upstream: Tensor | None, *_: Any) -> tuple[Tensor | None, ...]:
    from .reference import gradient, unscaled

    if upstream is None:
        return (None,) * 7
    mask, pooled, norm, winner = ctx.saved_tensors
    arrived = ctx.share * (unscaled(upstream, pooled, norm) if ctx.normalize else upstream)
    result = first_order(gradient(arrived, mask, winner if ctx.largest else None), upstream, pooled)
    wanted = ctx.needs_input_grad
    return result if wanted[0] else None, None, result if wanted[2] else None, *[None] * 4


torch.library.register_autograd(_pool, _backward, setup_context=_keep)
