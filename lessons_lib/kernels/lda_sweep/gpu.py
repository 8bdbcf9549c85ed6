"""A sweep as a Triton kernel: one program per document, the documents of a batch side by side.

A program keeps the counts of its document in registers and sees the words' counts as they were when
the batch began, without the token itself. It writes topics only; whole numbers are then added to
the counts, in any order the same, so a sweep is the same in every run. The topics are a tile with
sixteen columns, and a draw picks a column first and a row of it second, as the processor path does.
Taught in ``15_gpu_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..configs import CompileCase, blocks_for
from ..tracing import launched
from .state import LdaState, Settings

__all__ = ["COMPILE_CASES", "lda_sweep"]


@triton.jit
def token_uniform(place, stream, sweep, seed):
    """The number in [0, 1) of one token of a document, as in ``uniforms.py``."""
    counter = (place // 64) * 16 + place % 16
    low = (stream & 0x7FFFFFFF).to(tl.int32) | (((stream >> 31) & 1).to(tl.int32) << 31)
    w0, w1, w2, w3 = tl.philox(seed, counter, sweep, low, (stream >> 32).to(tl.int32))
    word = place // 16 % 4
    bits = tl.where(word == 0, w0, tl.where(word == 1, w1, tl.where(word == 2, w2, w3)))
    return (bits >> 8).to(tl.int32).to(tl.float32) * 5.9604644775390625e-08


@triton.jit
def draw_topic(weights, u, n_topics, LANES: tl.constexpr, ROWS: tl.constexpr):
    """The topic in whose share of the weights u lies: the column, then the row of that column."""
    lanes, rows = tl.arange(0, LANES), tl.arange(0, ROWS)
    sums = tl.cumsum(weights, 0)
    up_to = tl.cumsum(tl.sum(weights, 0), 0)
    target = u * tl.max(up_to, 0)
    lane = tl.minimum(tl.sum((up_to <= target).to(tl.int32), 0), tl.minimum(n_topics, LANES) - 1)
    before = tl.sum(tl.where(lanes == lane - 1, up_to, 0.0), 0)
    column = tl.sum(tl.where(lanes[None, :] == lane, sums, 0.0), 1)
    passed = (before + column <= target) & ((rows + 1) * LANES + lane < n_topics)
    return tl.sum(passed.to(tl.int32), 0) * LANES + lane


@triton.jit(do_not_specialize=["first", "sweep", "seed"])
def lda_documents(words_ptr, offsets_ptr, topics_ptr, streams_ptr, word_topic_ptr, totals_ptr,
                  alpha_ptr, first, sweep, seed, beta, beta_sum, own, n_topics, columns,
                  ROWS: tl.constexpr, LANES: tl.constexpr):
    """One document: every token in turn leaves its topic and draws a new one."""
    document = first + tl.program_id(0).to(tl.int64)
    begin = tl.load(offsets_ptr + document)
    end = tl.load(offsets_ptr + document + 1)
    stream = tl.load(streams_ptr + document)
    topic = tl.arange(0, ROWS)[:, None] * LANES + tl.arange(0, LANES)[None, :]
    stored, exists = topic < columns, topic < n_topics
    totals = tl.load(totals_ptr + topic, mask=stored, other=1).to(tl.float32)
    alpha = tl.load(alpha_ptr + topic, mask=stored, other=0.0)
    counts = tl.zeros([ROWS, LANES], tl.float32)
    for t in range(begin, end):
        counts += (topic == tl.load(topics_ptr + t)).to(tl.float32)
    for t in range(begin, end):
        word = tl.load(words_ptr + t).to(tl.int64)
        itself = (topic == tl.load(topics_ptr + t)).to(tl.float32)
        others = tl.load(word_topic_ptr + word * columns + topic, mask=stored, other=0.0)
        counts -= itself
        weights = ((counts + alpha) * (others - own * itself + beta) *
                   (1.0 / (totals - own * itself + beta_sum)))
        place = ((begin - begin) + (t - begin)).to(tl.int32)  # the interpreter's t is a plain int
        new = draw_topic(tl.where(exists, weights, 0.0), token_uniform(place, stream, sweep, seed),
                         n_topics, LANES, ROWS)
        counts += (topic == new).to(tl.float32)
        tl.store(topics_ptr + t, new)


_TYPES = {
    "words_ptr": "*i32", "offsets_ptr": "*i64", "topics_ptr": "*i32", "streams_ptr": "*i64",
    "word_topic_ptr": "*fp32", "totals_ptr": "*i64", "alpha_ptr": "*fp32", "first": "i64",
    "sweep": "i32", "seed": "i64", "beta": "fp32", "beta_sum": "fp32", "own": "fp32",
    "n_topics": "i32", "columns": "i32"
}
COMPILE_CASES = tuple(
    CompileCase(lda_documents, "float32", _TYPES, {"ROWS": rows}, divisible=("columns",), expects=(
        "wide_load",)) for rows in (8, 64))


def lda_sweep(words: Tensor, state: LdaState, how: Settings) -> int:
    """Batch after batch: launch, then count what changed."""
    columns, changed = state.word_topic.shape[1], 0
    rows = triton.next_power_of_2(columns // 16)
    blocks = blocks_for("lda_documents", state.word_topic)
    step = state.n_documents if state.frozen else how.at_once
    for first in range(0, state.n_documents, max(1, step)):
        last = min(first + step, state.n_documents)
        batch = slice(int(state.offsets[first]), int(state.offsets[last]))
        before = state.topics[batch].clone()
        grid = (last - first,)
        lda_documents[grid](
            state.words, state.offsets, state.topics, state.streams, state.word_topic, state.totals,
            how.alpha, first, how.sweep, how.seed, how.beta, state.n_words * how.beta,
            float(state.own), state.n_topics, columns, ROWS=rows, **blocks.options())
        launched("lda_documents", grid, blocks.options())
        moved = torch.nonzero(before != state.topics[batch]).squeeze(1)
        changed += len(moved)
        if not state.frozen:
            _count(state, state.words[batch][moved].long(), before[moved].long(),
                   state.topics[batch][moved].long())
    return changed


def _count(state: LdaState, words: Tensor, before: Tensor, after: Tensor) -> None:
    """Bring the counts up to date: sums of ones, the same in any order."""
    cells, columns = state.word_topic.view(-1), state.word_topic.shape[1]
    for topics, step in ((before, -1), (after, 1)):
        cells.index_add_(0, words * columns + topics,
                         torch.full(topics.shape, float(step), device=cells.device))
        state.totals.index_add_(0, topics, torch.full_like(topics, step))
