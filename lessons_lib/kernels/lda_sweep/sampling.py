"""The compiled loops under `lda_sweep`: documents, uniforms, and a document's tokens drawn again as
vector instructions that a compiler would not find in a loop over topics.

Topics lie in columns 0, 1, 2, …, sixteen to a vector, so K topics are B = ⌈K / 16⌉ vectors. What a
document knows stays in registers from one token to the next: its topic counts and the reciprocal
totals. A draw is B products, one running sum over the sixteen lanes, and two counts of what lies
below u · total: which lane, then which vector of that lane. No branch depends on chance, so none is
mispredicted. A processor with narrower vectors uses several for one; more than 1024 topics take a
plain loop with the same arithmetic. Taught in ``03_topic_models``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from ...core.compiled import compiled
from ...core.vector_code import Code, operation
from .uniforms import GROUP, KEYS, MULTIPLIERS, ROUNDS

__all__ = ["count", "draw"]

LANES = 16  # topics lie so on every processor
WHOLE = 8  # vectors of counts that are written back whole; of more, only the two that changed
AHEAD = 8  # tokens: the counts of the word so far ahead are on their way into the cache
AT_ONCE = 16 * GROUP  # tokens whose uniforms are made together
_A, _B = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])
_KEY_A, _KEY_B = np.uint64(KEYS[0]), np.uint64(KEYS[1])
_LOW, _32, _8 = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(8)
_STEP, _ONE = np.float32(2.0**-24), np.float32(1.0)
_I16, _I32, _I64, _F32 = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
_KINDS = (*(types.int64,) * 10, types.float32, types.float32, types.int64, types.int64)


def _drawn_topic(code: Code, weights: list[Any], u: Any, n_topics: Any) -> Any:
    """The topic in whose share of the weights u lies; the shares are laid end to end lane by lane,
    and in a lane vector by vector."""
    b, zero, sums = code.b, code.constant(0.0), weights[:1]

    def at_most(x: Any, bound: Any) -> Any:
        """A bit for each lane of x that is <= its bound, as one number."""
        return b.bitcast(b.fcmp_ordered("<=", x, bound), _I16)

    for weight in weights[1:]:
        sums.append(b.fadd(sums[-1], weight))
    up_to = sums[-1]
    for step in (1, 2, 4, 8):  # sums of lanes 0 to i; lane 16 stands for 0
        moved = [LANES] * step + list(range(LANES - step))
        up_to = b.fadd(up_to, code.shuffled(up_to, zero, moved))
    target = b.fmul(code.spread(u), code.shuffled(up_to, zero, [LANES - 1] * LANES))
    lane = b.zext(code.call("llvm.ctpop.i16", _I16, at_most(up_to, target)), _I32)
    last = b.sub(n_topics, _I32(1))  # rounding must not lead to a lane without topics
    last = b.select(b.icmp_signed("<", last, _I32(LANES - 1)), last, _I32(LANES - 1))
    lane = b.select(b.icmp_signed("<", lane, last), lane, last)
    before, vector = code.shuffled(up_to, zero, [LANES, *range(LANES - 1)]), _I32(0)
    for j, total in enumerate(sums[:-1]):
        passed = at_most(b.fadd(before, total), target)
        if j == len(sums) - 2:  # nor into a lane of the last vector that has none
            lanes = b.sub(n_topics, _I32(LANES * (len(sums) - 1)))
            real = b.sub(b.shl(_I32(1), lanes), _I32(1))
            passed = b.and_(passed, b.trunc(real, _I16))
        vector = b.add(vector, b.and_(b.lshr(b.zext(passed, _I32), lane), _I32(1)))
    return b.add(b.mul(vector, _I32(LANES)), lane)


def _walk(live: bool) -> Any:
    """Draw the topics of n tokens of one document in place; returns how many changed.

    ``blocks``: a tuple of B zeros, whose length is read; ``words``, ``topics``: addresses of the
    first token; ``left``: tokens from there to the end of the text; ``uniforms``: n numbers in [0,
    1); ``word_topic``: the first row; ``document``, ``alpha``, ``inverse``: rows of 16 B float32 at
    multiples of 64 bytes: the document's counts, the prior (0 where no topic is), 1 / (totals +
    beta_sum); ``own``: 1 where word_topic and totals hold the token itself, else 0. If ``live``,
    word_topic, totals and inverse are kept up to date, else they are left as they are.
    """
    @operation(*_KINDS, result=types.int64, fixed=1)
    def walk(code: Code, blocks: Any, words: Any, topics: Any, n: Any, left: Any, uniforms: Any,
             word_topic: Any, document: Any, alpha: Any, inverse: Any, totals: Any, beta: Any,
             beta_sum: Any, own: Any, n_topics: Any) -> Any:
        code = Code(code.b, LANES)
        b, size, one = code.b, len(blocks), code.constant(1.0)
        words, topics = code.pointer(words, _I32), code.pointer(topics, _I32)
        totals, uniforms, word_topic = (code.pointer(totals, _I64), code.pointer(uniforms),
                                        code.pointer(word_topic))
        document, alpha, inverse = (code.pointer(x) for x in (document, alpha, inverse))
        owned, prior = code.spread(b.sitofp(own, _F32)), code.spread(beta)

        def load(row: Any, j: int) -> Any:
            return code.load(row, LANES * j, align=64)

        def counts_of(token: Any) -> Any:
            """Address of the counts of the word at a place of the text."""
            word = b.sext(code.number(words, token), _I64)
            return b.gep(word_topic, [b.mul(word, _I64(LANES * size))])

        def one_over(total: Any) -> Any:
            """1 / (total + V beta) in all lanes, total a whole number."""
            return code.spread(b.fdiv(_F32(1.0), b.fadd(b.sitofp(total, _F32), beta_sum)))

        def hits_of(topic: Any) -> list[Any]:
            """For each vector which lanes are the topic: one lane of one vector."""
            topic = code.spread(topic)
            numbers = [ir.Constant(topic.type, list(range(LANES * j, LANES * (j + 1))))
                       for j in range(size)]
            return [b.icmp_signed("==", topic, x) for x in numbers]

        def less(x: Any, hit: Any, amount: Any) -> Any:
            return b.fsub(x, b.select(hit, amount, code.constant(0.0)))

        def more(x: Any, hit: Any) -> Any:
            return b.fadd(x, b.select(hit, one, code.constant(0.0)))

        def token(t: Any, carried: list[Any]) -> list[Any]:
            """Take token t out, draw its topic, put it back."""
            changed, counts, inverses = carried[0], carried[1:1 + size], carried[1 + size:]
            later = b.add(t, _I64(AHEAD))  # the last word of the text stands for those after it
            later = b.select(b.icmp_signed("<", later, left), later, b.sub(left, _I64(1)))
            ahead = counts_of(later)
            for j in range(size):
                code.fetch(ahead, LANES * j, write=live)
            row, place = counts_of(t), b.gep(topics, [t])
            old = b.load(place)
            old_place, hits = b.gep(totals, [b.zext(old, _I64)]), hits_of(old)
            total = b.load(old_place)
            without = one_over(b.sub(total, own))
            rest = [less(x, hit, one) for x, hit in zip(counts, hits, strict=True)]
            others = [less(load(row, j), hits[j], owned) for j in range(size)]
            scale = [b.select(hit, without, x) for hit, x in zip(hits, inverses, strict=True)]
            weights = []
            for j in range(size):
                here, there = b.fadd(rest[j], load(alpha, j)), b.fadd(others[j], prior)
                weights.append(b.fmul(b.fmul(here, there), scale[j]))
            u = code.number(uniforms, t)
            new = _drawn_topic(code, weights, u, b.trunc(n_topics, _I32))
            b.store(new, place)
            hits = hits_of(new)
            if live:
                b.store(b.sub(total, _I64(1)), old_place)
                new_place = b.gep(totals, [b.zext(new, _I64)])
                total = b.add(b.load(new_place), _I64(1))
                b.store(total, new_place)
                within = one_over(total)
                inverses = [b.select(hit, within, x) for hit, x in zip(hits, scale, strict=True)]
                if size <= WHOLE:  # whole vectors, so that the next token reads what was stored
                    for j in range(size):
                        code.store(more(others[j], hits[j]), row, LANES * j, align=64)
                else:
                    for topic, step in ((old, -1.0), (new, 1.0)):
                        cell = b.gep(row, [b.zext(topic, _I64)])
                        b.store(b.fadd(b.load(cell), _F32(step)), cell)
            moved = b.zext(b.icmp_signed("!=", new, old), _I64)
            counts = [more(x, hit) for x, hit in zip(rest, hits, strict=True)]
            return [b.add(changed, moved), *counts, *inverses]

        start = [load(row, j) for row in (document, inverse) for j in range(size)]
        changed, *end = code.loop(n, [_I64(0), *start], token, step=1)
        for j in range(size):
            code.store(end[j], document, LANES * j, align=64)
            if live:
                code.store(end[size + j], inverse, LANES * j, align=64)
        return changed

    return walk


_walk_live, _walk_still = _walk(True), _walk(False)


@compiled
def fill(out: np.ndarray, n: int, place: int, stream: int, seed: int, sweep: int) -> None:
    """Uniforms of tokens ``place`` (a multiple of `GROUP`) to ``place + n`` of a document, as in
    `uniforms.uniforms`; whole groups are written."""
    stream_low, stream_high = np.uint64(stream) & _LOW, np.uint64(stream) >> _32
    for group in range((n + GROUP - 1) // GROUP):
        first = np.uint64((place // GROUP + group) * 16)
        for i in range(16):
            c0, c1, c2, c3 = first + np.uint64(i), np.uint64(sweep), stream_low, stream_high
            k0, k1 = np.uint64(seed) & _LOW, np.uint64(seed) >> _32
            for _ in range(ROUNDS):
                p, q = _A * c0, _B * c2
                c0, c1 = (q >> _32) ^ c1 ^ k0, q & _LOW
                c2, c3 = (p >> _32) ^ c3 ^ k1, p & _LOW
                k0, k1 = (k0 + _KEY_A) & _LOW, (k1 + _KEY_B) & _LOW
            at = group * GROUP + i
            out[at] = np.float32(c0 >> _8) * _STEP
            out[at + 16] = np.float32(c1 >> _8) * _STEP
            out[at + 32] = np.float32(c2 >> _8) * _STEP
            out[at + 48] = np.float32(c3 >> _8) * _STEP


@compiled
def _aligned(n: int) -> np.ndarray:
    """n zeros that begin at a multiple of 64 bytes."""
    room = np.zeros(n + 16, dtype=np.float32)
    start = (-(room.ctypes.data // 4)) % 16
    return room[start:start + n]


@compiled
def _plain(live: bool, words: np.ndarray, topics: np.ndarray, uniforms: np.ndarray,
           word_topic: np.ndarray, document: np.ndarray, alpha: np.ndarray, inverse: np.ndarray,
           totals: np.ndarray, beta: float, beta_sum: float, own: int, n_topics: int) -> int:
    """What the vector code does, for any number of topics."""
    columns, changed = len(document), 0
    sums, up_to = np.empty(columns, dtype=np.float32), np.empty(16, dtype=np.float32)
    for t in range(len(words)):
        row, old = word_topic[words[t]], topics[t]
        document[old] -= _ONE
        up_to[:] = np.float32(0.0)
        for k in range(columns):
            scale, others = inverse[k], row[k]
            if k == old:
                scale = _ONE / (np.float32(totals[k] - own) + beta_sum)
                others = row[k] - np.float32(own)
            up_to[k & 15] += (document[k] + alpha[k]) * (others + beta) * scale
            sums[k] = up_to[k & 15]
        for i in range(1, 16):
            up_to[i] += up_to[i - 1]
        target, lane = uniforms[t] * up_to[15], 0
        while lane < 15 and up_to[lane] <= target:
            lane += 1
        before, new = up_to[lane - 1] if lane else np.float32(0.0), lane
        while new + 16 < n_topics and before + sums[new] <= target:
            new += 16
        document[new] += _ONE
        topics[t] = new
        changed += int(new != old)
        if live:
            row[old] -= _ONE
            row[new] += _ONE
            totals[old] -= 1
            totals[new] += 1
            inverse[old] = _ONE / (np.float32(totals[old]) + beta_sum)
            inverse[new] = _ONE / (np.float32(totals[new]) + beta_sum)
    return changed


@compiled
def draw(blocks: tuple, live: bool, words: np.ndarray, offsets: np.ndarray, topics: np.ndarray,
         streams: np.ndarray, word_topic: np.ndarray, totals: np.ndarray, alpha: np.ndarray,
         inverse: np.ndarray, first: int, last: int, beta: float, beta_sum: float, own: int,
         n_topics: int, seed: int, sweep: int) -> int:
    """Draw the tokens of documents ``first`` to ``last`` again, in place; returns how many topics
    changed.

    ``blocks``: a tuple of one 0 for each sixteen topics, () for the plain loop; ``live``: whether
    counts follow every draw; the rest as in `_walk`.
    """
    document, numbers = _aligned(len(alpha)), np.empty(AT_ONCE, dtype=np.float32)
    changed = 0
    for d in range(first, last):
        begin, end = offsets[d], offsets[d + 1]
        document[:] = np.float32(0.0)
        for t in range(begin, end):
            document[topics[t]] += _ONE
        for start in range(begin, end, AT_ONCE):
            stop = min(end, start + AT_ONCE)
            fill(numbers, stop - start, start - begin, streams[d], seed, sweep)
            if len(blocks) == 0:
                changed += _plain(live, words[start:stop], topics[start:stop], numbers, word_topic,
                                  document, alpha, inverse, totals, beta, beta_sum, own, n_topics)
                continue
            here = (words.ctypes.data + 4 * start, topics.ctypes.data + 4 * start, stop - start,
                    len(words) - start, numbers.ctypes.data, word_topic.ctypes.data,
                    document.ctypes.data, alpha.ctypes.data, inverse.ctypes.data,
                    totals.ctypes.data)
            if live:
                changed += _walk_live(blocks, *here, beta, beta_sum, own, n_topics)
            else:
                changed += _walk_still(blocks, *here, beta, beta_sum, own, n_topics)
    return changed


@compiled
def count(words: np.ndarray, before: np.ndarray, after: np.ndarray, word_topic: np.ndarray,
          totals: np.ndarray) -> None:
    """Bring the counts up to date with topics that changed from ``before`` to ``after``."""
    for t in range(len(words)):
        if before[t] != after[t]:
            word_topic[words[t], before[t]] -= _ONE
            word_topic[words[t], after[t]] += _ONE
            totals[before[t]] -= 1
            totals[after[t]] += 1
