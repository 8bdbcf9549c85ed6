"""MaxSim as a Triton kernel: one program per text, which walks over its tokens.

A tile of products of the question's tokens with the text's is built up over d and never leaves the
program: only the largest of each row is kept, and of a text one number is written. A float32
product is three tf32 products. It has been compiled for sm_80 and sm_90 and run in the interpreter;
its time on a GPU is not measured yet. Taught by the rules of ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..configs import FLOATS, CompileCase, blocks_for, types_of
from ..layout import aligned_rows, precision
from ..tracing import launched


@triton.jit
def maxsim_texts(query_ptr, tokens_ptr, offsets_ptr, score_ptr, m, n, d, stride_query,
                 stride_tokens, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 BLOCK_D: tl.constexpr, PRECISION: tl.constexpr):
    """One text -> the sum over the question's tokens of their largest products."""
    text = tl.program_id(0).to(tl.int64)
    # unchecked offsets in a compiled function must not lead out of the tokens
    begin = tl.maximum(tl.load(offsets_ptr + text), 0)
    end = tl.minimum(tl.load(offsets_ptr + text + 1), n)
    total = tl.zeros([BLOCK_M], tl.float32)
    for top in range(0, m, BLOCK_M):
        rows = top + tl.arange(0, BLOCK_M)
        row_ok = rows < m
        query_rows = query_ptr + rows.to(tl.int64)[:, None] * stride_query
        best = tl.full([BLOCK_M], -float("inf"), tl.float32)
        for first in range(begin, end, BLOCK_N):
            columns = first + tl.arange(0, BLOCK_N)
            column_ok = columns < end
            token_columns = tokens_ptr + columns.to(tl.int64)[None, :] * stride_tokens
            dots = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
            for start in range(0, d, BLOCK_D):
                t = start + tl.arange(0, BLOCK_D)
                a = tl.load(query_rows + t[None, :], mask=row_ok[:, None] & (t < d)[None, :],
                            other=0.0)
                b = tl.load(token_columns + t[:, None], mask=column_ok[None, :] & (t < d)[:, None],
                            other=0.0)
                dots = tl.dot(a, b, dots, input_precision=PRECISION)
            best = tl.maximum(best, tl.max(tl.where(column_ok[None, :], dots, -float("inf")), 1))
        total += tl.where(row_ok & (begin < end), best, 0.0)
    tl.store(score_ptr + text, tl.sum(total, 0))


COMPILE_CASES = tuple(
    CompileCase(maxsim_texts, name, types_of(
        {"*i64": "offsets_ptr", "*fp32": "score_ptr", "i32": "m n d stride_query stride_tokens"},
        query_ptr=pointer, tokens_ptr=pointer), {"PRECISION": precision(name)},
                divisible=("d", "stride_query", "stride_tokens"), expects=("tensor_core",))
    for name, pointer in FLOATS.items())


def maxsim(query: Tensor, tokens: Tensor, offsets: Tensor) -> Tensor:
    """Every text by a program of its own."""
    query, tokens = aligned_rows(query), aligned_rows(tokens)
    scores = torch.empty(len(offsets) - 1, dtype=torch.float32, device=tokens.device)
    if len(scores):
        blocks, grid = blocks_for("maxsim_texts", tokens), (len(scores),)
        maxsim_texts[grid](query, tokens, offsets, scores, len(query), len(tokens),
                           tokens.shape[1], query.stride(0), tokens.stride(0),
                           PRECISION=precision(tokens.dtype), **blocks.options())
        launched("maxsim_texts", grid, blocks.options())
    return scores
