"""InfoNCE as Triton kernels.

Value ("flash"): one program per tile of queries goes over the keys, tile by tile. A tile of logits
is built up over d in registers, and a running maximum and a running sum take in its exponentials,
so that no logit is ever written; where queries are few, several programs share the keys. Gradient:
blocks of rows whose inner products come from the library's matrix product; one program per row
turns them into weights, softmax minus one-hot, and two products make the gradients. (A flash way
back would need a whole row of d in registers: at d = 768 it does not fit.) Inner products,
exponentials and sums are float32; only the weights are rounded to the type of the inputs. Taught in
``15_gpu_kernels``.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..autograd import gradient_type
from ..configs import FLOATS, CompileCase, blocks_for, types_of
from ..layout import add_product, aligned_rows, padded_width, precision, product, row_products
from ..tracing import launched

FEW_PROGRAMS = 8                # in the interpreter, where every program costs time


@triton.jit
def info_nce_tiles(query_ptr, key_ptr, positive_ptr, hard_ptr, total_ptr, own_ptr, n, m, d,
                   stride_query, stride_key, scale, hard_weight, span, HARD: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr,
                   PRECISION: tl.constexpr):
    """One tile of queries against ``span`` keys -> log Σ_j exp(s_ij + h_ij) over those keys; and
    s_ip, from the program whose keys hold p."""
    rows = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    first = tl.program_id(1) * span
    last = tl.minimum(first + span, m)
    row_ok = rows < n
    query_rows = query_ptr + rows.to(tl.int64)[:, None] * stride_query
    positive = tl.load(positive_ptr + rows, mask=row_ok, other=-1).to(tl.int32)
    hard = tl.load(hard_ptr + rows, mask=row_ok, other=-1).to(tl.int32)
    peak = tl.full([BLOCK_N], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_N], tl.float32)
    own = tl.zeros([BLOCK_N], tl.float32)
    for start in range(first, last, BLOCK_M):
        cols = start + tl.arange(0, BLOCK_M)
        col_ok = cols < last
        key_rows = key_ptr + cols.to(tl.int64)[None, :] * stride_key
        logits = tl.zeros([BLOCK_N, BLOCK_M], tl.float32)
        for begin in range(0, d, BLOCK_D):
            k = begin + tl.arange(0, BLOCK_D)
            a = tl.load(query_rows + k[None, :], mask=row_ok[:, None] & (k < d)[None, :], other=0.0)
            b = tl.load(key_rows + k[:, None], mask=col_ok[None, :] & (k < d)[:, None], other=0.0)
            logits = tl.dot(a, b, logits, input_precision=PRECISION)
        logits *= scale
        own += tl.sum(tl.where(cols[None, :] == positive[:, None], logits, 0.0), 1)
        if HARD:
            logits += tl.where(cols[None, :] == hard[:, None], hard_weight, 0.0)
        logits = tl.where(col_ok[None, :], logits, -float("inf"))
        higher = tl.maximum(peak, tl.max(logits, 1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)      # only dropped keys so far
        total = total * tl.exp(peak - shift) + tl.sum(tl.exp(logits - shift[:, None]), 1)
        peak = higher
    tl.store(total_ptr + tl.program_id(1).to(tl.int64) * n + rows, peak + tl.log(total),
             mask=row_ok)
    tl.store(own_ptr + rows, own, mask=row_ok & (positive >= first) & (positive < last))


@triton.jit
def info_nce_weights(dots_ptr, positive_ptr, hard_ptr, columns_ptr, weights_ptr, loss_ptr, m, width,
                     scale, hard_weight, HARD: tl.constexpr, SYMMETRIC: tl.constexpr,
                     BLOCK_M: tl.constexpr):
    """One row of inner products -> its loss, and its weights: softmax, plus with SYMMETRIC
    exp(s_ij - columns_j), minus 1 or 2 at the positive. ``width`` is a multiple of 16."""
    row = tl.program_id(0).to(tl.int64)
    dots_ptr += row * width
    weights_ptr += row * width
    positive = tl.load(positive_ptr + row).to(tl.int32)
    hard = tl.load(hard_ptr + row).to(tl.int32)
    own = tl.load(dots_ptr + positive) * scale
    peak = -float("inf")
    total = 0.0
    for start in range(0, width, BLOCK_M):
        cols = start + tl.arange(0, BLOCK_M)
        logits = tl.load(dots_ptr + cols, mask=cols < width, other=0.0) * scale
        if HARD:
            logits += tl.where(cols == hard, hard_weight, 0.0)
        logits = tl.where(cols < m, logits, -float("inf"))
        higher = tl.maximum(peak, tl.max(logits, 0))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(logits - higher), 0)
        peak = higher
    log_total = peak + tl.log(total)
    loss = log_total - own
    if SYMMETRIC:
        loss += tl.load(columns_ptr + positive) - own
    tl.store(loss_ptr + row, loss)
    for start in range(0, width, BLOCK_M):
        cols = start + tl.arange(0, BLOCK_M)
        dots = tl.load(dots_ptr + cols, mask=cols < width, other=0.0) * scale
        dots = tl.where(cols < m, dots, -float("inf"))
        own_weight = tl.where(cols == positive, 1.0, 0.0)
        logits = dots
        if HARD:
            logits += tl.where(cols == hard, hard_weight, 0.0)
        weights = tl.exp(logits - log_total) - own_weight
        if SYMMETRIC:
            columns = tl.load(columns_ptr + cols, mask=cols < width, other=0.0)
            weights += tl.exp(dots - columns) - own_weight
        tl.store(weights_ptr + cols, weights.to(weights_ptr.dtype.element_ty), mask=cols < width)


COMPILE_CASES = tuple(
    case for name, pointer in FLOATS.items() for case in (
        CompileCase(info_nce_tiles, name, types_of(
            {"*i64": "positive_ptr hard_ptr", "*fp32": "total_ptr own_ptr",
             "i32": "n m d stride_query stride_key span", "fp32": "scale hard_weight"},
            query_ptr=pointer, key_ptr=pointer), {"HARD": True, "PRECISION": precision(name)},
            divisible=("d", "stride_query", "stride_key", "span"), expects=("tensor_core",)),
        CompileCase(info_nce_weights, name, types_of(
            {"*fp32": "dots_ptr columns_ptr loss_ptr", "*i64": "positive_ptr hard_ptr",
             "i32": "m width", "fp32": "scale hard_weight"}, weights_ptr=pointer),
            {"HARD": True, "SYMMETRIC": True}, divisible=("width",), expects=("wide_load",)),
    ))


def _spans(row_tiles: int, m: int, block: int, device: torch.device) -> tuple[int, int]:
    """How many keys a program goes over, a multiple of ``block``, and how many programs share them:
    enough to fill the GPU twice."""
    wanted = FEW_PROGRAMS
    if device.type == "cuda":
        wanted = 2 * torch.cuda.get_device_properties(device).multi_processor_count
    tiles = triton.cdiv(m, block)
    each = triton.cdiv(tiles, max(1, min(tiles, wanted // row_tiles)))
    return each * block, triton.cdiv(tiles, each)


def _totals(query: Tensor, key: Tensor, positive: Tensor, hard_negative: Tensor | None,
            scale: float, hard_weight: float) -> tuple[Tensor, Tensor]:
    """log Σ_j exp(s_ij + h_ij) and s_ip of every query, (n,) each; rows are aligned."""
    blocks = blocks_for("info_nce_tiles", query)
    n, row_tiles = len(query), triton.cdiv(len(query), blocks.sizes["BLOCK_N"])
    span, n_spans = _spans(row_tiles, len(key), blocks.sizes["BLOCK_M"], query.device)
    grid = (row_tiles, n_spans)
    totals = torch.empty((n_spans, n), dtype=torch.float32, device=query.device)
    own = torch.empty(n, dtype=torch.float32, device=query.device)
    hard = positive if hard_negative is None else hard_negative
    info_nce_tiles[grid](query, key, positive, hard, totals, own, n, len(key), query.shape[1],
                         query.stride(0), key.stride(0), scale, hard_weight, span,
                         HARD=hard_negative is not None, PRECISION=precision(query.dtype),
                         **blocks.options())
    launched("info_nce_tiles", grid, blocks.options())
    return totals.logsumexp(dim=0), own


def _column_totals(query: Tensor, key: Tensor, positive: Tensor, scale: float) -> Tensor:
    """log Σ_i exp(s_ip) of every query's positive: the first direction, pairs turned round."""
    i = torch.arange(len(query), device=query.device)
    return _totals(aligned_rows(key[positive]), query, i, None, scale, 0.0)[0]


def info_nce(query: Tensor, key: Tensor, *, positive: Tensor, hard_negative: Tensor | None,
             temperature: float, hard_weight: float, symmetric: bool) -> Tensor:
    """The value alone: two numbers per query and program are written."""
    query, key = aligned_rows(query), aligned_rows(key)
    totals, own = _totals(query, key, positive, hard_negative, 1 / temperature, hard_weight)
    losses = totals - own
    if symmetric:
        losses = (losses + _column_totals(query, key, positive, 1 / temperature) - own) / 2
    return losses.mean()


def value_and_gradient(query: Tensor, key: Tensor, *, positive: Tensor,
                       hard_negative: Tensor | None, temperature: float, hard_weight: float,
                       symmetric: bool, wanted: tuple[bool, bool]
                       ) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """In blocks of rows of inner products; ``symmetric`` makes one flash pass more, for the totals
    of the columns."""
    q, k, scale, device = aligned_rows(query), aligned_rows(key), 1 / temperature, query.device
    # nobody's positive: exp(s - inf) = 0
    columns = torch.full((padded_width(len(k)),), math.inf, dtype=torch.float32, device=device)
    if symmetric:
        columns[positive] = _column_totals(q, k, positive, scale)
    hard = positive if hard_negative is None else hard_negative
    share = scale / (len(q) * (1 + symmetric))
    losses = torch.empty(len(q), dtype=torch.float32, device=device)
    kept, dquery, dkey = gradient_type(q.dtype), None, None
    if wanted[0]:
        dquery = torch.empty(q.shape, dtype=kept, device=device)
    if wanted[1]:
        dkey = torch.zeros(k.shape, dtype=torch.float32, device=device)
    blocks = blocks_for("info_nce_weights", q)
    for rows, dots, weights in row_products(q, k):
        info_nce_weights[(len(dots),)](dots, positive[rows], hard[rows], columns, weights,
                                       losses[rows], len(k), dots.stride(0), scale, hard_weight,
                                       HARD=hard_negative is not None, SYMMETRIC=symmetric,
                                       **blocks.options())
        launched("info_nce_weights", (len(dots),), blocks.options())
        if dquery is not None:
            dquery[rows] = product(weights, k).mul_(share)
        if dkey is not None:
            add_product(dkey, weights.T, q[rows])
    dkey = None if dkey is None else dkey.mul_(share).to(kept)
    return losses.mean() / (1 + symmetric), dquery, dkey
