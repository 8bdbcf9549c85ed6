"""Neighbours as one Triton kernel: a program walks over all of x for a block of queries.

The tile of scores is built up over d and never leaves the program, which keeps the best rows in
registers: while any query's best score of the tile beats the worst it has kept, that one is
replaced, one to three times per tile after the first ones. A float32 product is three tf32
products; the list of candidates has a few to spare, and `exact` turns it into the neighbours.
Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..configs import FLOATS, CompileCase, blocks_for, types_of
from ..layout import aligned_rows, precision
from ..tracing import launched
from . import exact

SPARE = 4                       # candidates beyond k at least, up to the next power of two
FEWEST_SLOTS = 16
SETTLED_ROWS = 4096
ROUNDINGS = 4                   # per term of a dot product: tf32x3 adds three truncated products


@triton.jit
def knn_insert(query_ptr, x_ptr, weight_ptr, offset_ptr, score_ptr, column_ptr, m, n, d,
               stride_query, stride_x, SLOTS: tl.constexpr, EXCLUDE_SELF: tl.constexpr,
               BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
               PRECISION: tl.constexpr):
    """A block of queries -> the SLOTS largest scores query·x_j * weight_j + offset_j of each, in no
    order, and their columns (-1: none)."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    row_ok = rows < m
    slots, tile_columns = tl.arange(0, SLOTS), tl.arange(0, BLOCK_N)
    query_rows = query_ptr + rows.to(tl.int64)[:, None] * stride_query
    kept = tl.full([BLOCK_M, SLOTS], -float("inf"), tl.float32)
    kept_columns = tl.full([BLOCK_M, SLOTS], -1, tl.int32)
    worst = tl.full([BLOCK_M], -float("inf"), tl.float32)
    for first in range(0, n, BLOCK_N):
        columns = first + tile_columns
        column_ok = columns < n
        x_columns = x_ptr + columns.to(tl.int64)[None, :] * stride_x
        dots = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
        for start in range(0, d, BLOCK_D):
            t = start + tl.arange(0, BLOCK_D)
            a = tl.load(query_rows + t[None, :], mask=row_ok[:, None] & (t < d)[None, :], other=0.0)
            b = tl.load(x_columns + t[:, None], mask=column_ok[None, :] & (t < d)[:, None],
                        other=0.0)
            dots = tl.dot(a, b, dots, input_precision=PRECISION)
        weight = tl.load(weight_ptr + columns, mask=column_ok, other=0.0)
        offset = tl.load(offset_ptr + columns, mask=column_ok, other=0.0)
        allowed = row_ok[:, None] & column_ok[None, :]
        if EXCLUDE_SELF:
            allowed = allowed & (rows[:, None] != columns[None, :])
        score = tl.where(allowed, dots * weight[None, :] + offset[None, :], -float("inf"))
        best = tl.max(score, 1)
        more = tl.max((best > worst).to(tl.int32), 0)
        while more > 0:
            at = tl.argmax(score, 1)                            # the first of equals
            better = best > worst
            chosen = better[:, None] & (tile_columns[None, :] == at[:, None])
            replaced = better[:, None] & (slots[None, :] == tl.argmin(kept, 1)[:, None])
            kept = tl.where(replaced, best[:, None], kept)
            kept_columns = tl.where(replaced, (first + at)[:, None].to(tl.int32), kept_columns)
            score = tl.where(chosen, -float("inf"), score)
            worst = tl.min(kept, 1)
            best = tl.max(score, 1)
            more = tl.max((best > worst).to(tl.int32), 0)
    places = rows.to(tl.int64)[:, None] * SLOTS + slots[None, :]
    tl.store(score_ptr + places, kept, mask=row_ok[:, None])
    tl.store(column_ptr + places, kept_columns, mask=row_ok[:, None])


COMPILE_CASES = tuple(
    CompileCase(knn_insert, name, types_of(
        {"*fp32": "weight_ptr offset_ptr score_ptr", "*i32": "column_ptr",
         "i32": "m n d stride_query stride_x"}, query_ptr=pointer, x_ptr=pointer),
                {"PRECISION": precision(name), "SLOTS": slots, "EXCLUDE_SELF": True},
                divisible=("d", "stride_query", "stride_x"), expects=("tensor_core",))
    for name, pointer in FLOATS.items() for slots in (FEWEST_SLOTS, 128))


def _candidates(space: exact.Space, k: int, *, exclude_self: bool) -> tuple[Tensor, Tensor]:
    """The best fast scores of every query, falling, and their columns; -inf and -1 for none."""
    query, x = aligned_rows(space.query), aligned_rows(space.x)
    slots = max(FEWEST_SLOTS, triton.next_power_of_2(k + SPARE))
    scores = torch.empty(len(query), slots, dtype=torch.float32, device=x.device)
    columns = torch.empty(len(query), slots, dtype=torch.int32, device=x.device)
    blocks = blocks_for("knn_insert", x)
    grid = (triton.cdiv(len(query), blocks.sizes["BLOCK_M"]),)
    knn_insert[grid](query, x, space.weight, space.offset, scores, columns, len(query), len(x),
                     x.shape[1], query.stride(0), x.stride(0), SLOTS=slots,
                     EXCLUDE_SELF=exclude_self, PRECISION=precision(x.dtype), **blocks.options())
    launched("knn_insert", grid, blocks.options())
    scores, order = scores.sort(dim=1, descending=True)
    return scores, columns.gather(1, order).long()


def nearest(query: Tensor, x: Tensor, *, k: int, metric: str,
            exclude_self: bool) -> tuple[Tensor, Tensor]:
    """Values and row numbers of the k nearest, exact and in one order."""
    if len(query) == 0:
        return exact.joined(x, [], k=k, metric=metric)
    # centred rows no longer fit into half types
    dtype = x.dtype if metric == "cosine" else torch.float32
    space = exact.space_of(query, x, metric=metric, dtype=dtype, growth=ROUNDINGS)
    scores, columns = _candidates(space, k, exclude_self=exclude_self)
    results = [exact.settle(space, rows, (scores[rows], columns[rows]), k=k,
                            exclude_self=exclude_self)
               for rows in exact.row_blocks(len(query), SETTLED_ROWS, x.device)]
    return exact.joined(x, results, k=k, metric=metric)
