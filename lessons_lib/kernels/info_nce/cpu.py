"""InfoNCE in blocks of queries.

One product makes the logits of a block, a softmax turns them into weights, two products make its
share of both gradients. A block is small enough to stay near the processor and large enough for
products at full speed; up to about 2000 pairs are one block. Runs on any device. Taught in
``15_gpu_kernels``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import torch
from torch import Tensor

from ..autograd import gradient_type
from ..layout import one_piece
from ..products import add_row_product, row_product

BLOCK = 1 << 22                 # numbers in a block of logits: 16 MB in float32
LEAST_ROWS = 256                # fewer and the products slow down
MOST = 1 << 23                  # numbers, however many keys there are


def _blocks(query: Tensor, key: Tensor, scale: float) -> Iterator[tuple[slice, Tensor]]:
    """Blocks of rows of scale query keyᵀ; the taker may write over them."""
    n, m = len(query), len(key)
    step = max(1, min(n, max(LEAST_ROWS, BLOCK // m), MOST // m))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        yield rows, row_product(query[rows], key, scale=scale)


def _prepared(query: Tensor, key: Tensor, positive: Tensor, scale: float,
              symmetric: bool) -> tuple[Iterator[tuple[slice, Tensor]], Tensor | None]:
    """The blocks; with ``symmetric`` log Σ_i exp(s_ij) of every key that is a positive, inf for the
    others: their weight exp(s_ij - inf) is 0."""
    blocks = _blocks(query, key, scale)
    if not symmetric:
        return blocks, None
    first = next(blocks)
    if len(first[1]) == len(query):             # one block: the columns are whole
        totals = first[1][:, positive].logsumexp(dim=0)
    else:                                       # one product more, with the pairs turned round
        turned = _blocks(key[positive], query, scale)
        totals = torch.cat([logits.logsumexp(dim=1) for _, logits in turned])
    columns = query.new_full((len(key),), math.inf).index_put_((positive,), totals)
    return itertools.chain([first], blocks), columns


def _add_at(x: Tensor, columns: Tensor, number: float) -> Tensor:
    """Add a number at one column of each row, (rows, 1), in place; returns what was there."""
    before = x.gather(1, columns)
    x.scatter_(1, columns, before + number)
    return before


def info_nce(query: Tensor, key: Tensor, *, positive: Tensor, hard_negative: Tensor | None,
             temperature: float, hard_weight: float, symmetric: bool) -> Tensor:
    """The value alone: one product per block."""
    exact = torch.promote_types(query.dtype, torch.float32)
    query, key = one_piece(query.to(exact)), one_piece(key.to(exact))
    blocks, columns = _prepared(query, key, positive, 1 / temperature, symmetric)
    losses = query.new_empty(len(query))
    for rows, logits in blocks:
        own = logits.gather(1, positive[rows, None])[:, 0]
        if hard_negative is not None:
            _add_at(logits, hard_negative[rows, None], hard_weight)
        losses[rows] = -logits.log_softmax(dim=1).gather(1, positive[rows, None])[:, 0]
        if columns is not None:
            losses[rows] += columns[positive[rows]] - own
    return losses.mean() / (1 + symmetric)


def _to_weights(logits: Tensor, positive: Tensor, hard: tuple[Tensor, float] | None,
                columns: Tensor | None) -> tuple[Tensor, Tensor]:
    """Losses of some rows and ∂(their sum)/∂s; uses the logits up. ``positive``: (rows, 1)."""
    own = logits.gather(1, positive)
    before = _add_at(logits, *hard) if hard is not None else None
    peak = logits.amax(dim=1, keepdim=True)
    weights = logits.softmax(dim=1)
    # the largest weight is 1 / Σ_j exp(s_ij - peak)
    losses = (peak - own) - weights.amax(dim=1, keepdim=True).log()
    if columns is not None:
        losses += columns[positive] - own
        if hard is not None:
            logits.scatter_(1, hard[0], before)
        weights += logits.sub_(columns).exp_()
    _add_at(weights, positive, -1.0 if columns is None else -2.0)
    return losses[:, 0], weights


def value_and_gradient(query: Tensor, key: Tensor, *, positive: Tensor,
                       hard_negative: Tensor | None, temperature: float, hard_weight: float,
                       symmetric: bool, wanted: tuple[bool, bool]
                       ) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """In one pass; ``symmetric`` with several blocks makes the logits twice."""
    exact, sides = torch.promote_types(query.dtype, torch.float32), 1 + symmetric
    q, k = one_piece(query.to(exact)), one_piece(key.to(exact))
    blocks, columns = _prepared(q, k, positive, 1 / temperature, symmetric)
    losses, share = q.new_empty(len(q)), 1 / (temperature * len(q) * sides)
    dquery = dkey = None
    if wanted[0]:
        dquery = torch.empty(q.shape, dtype=exact, device=q.device)
    for rows, logits in blocks:
        hard = None if hard_negative is None else (hard_negative[rows, None], hard_weight)
        losses[rows], weights = _to_weights(logits, positive[rows, None], hard, columns)
        if dquery is not None:
            dquery[rows] = row_product(weights, k.T, scale=share)
        if dkey is not None:
            add_row_product(dkey, weights.T, q[rows].T, scale=share)
        elif wanted[1]:
            dkey = row_product(weights.T, q[rows].T, scale=share)
        del logits, weights                     # before the next block is made
    kept = gradient_type(query.dtype)
    gradients = [None if g is None else g.to(kept) for g in (dquery, dkey)]
    return losses.mean() / sides, *gradients
