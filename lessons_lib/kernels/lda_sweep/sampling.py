"""The compiled loops under `lda_sweep`, in a module of their own so that Numba is loaded only when something is drawn.

`draw` walks over documents: it counts the topics of a document, computes uniforms for some hundred tokens, and hands both to the vector code of
`walk`; more than 1024 topics take a plain loop with the same arithmetic. Taught in ``03_topic_models``.
"""

from __future__ import annotations

import numpy as np

from ...core.compiled import compiled
from .uniforms import GROUP, KEYS, MULTIPLIERS, ROUNDS
from .walk import walk_live, walk_still

__all__ = ["count", "draw"]

AT_ONCE = 16 * GROUP                            # tokens whose uniforms are made together
_A, _B = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])
_KEY_A, _KEY_B = np.uint64(KEYS[0]), np.uint64(KEYS[1])
_LOW, _32, _8 = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(8)
_STEP, _ONE = np.float32(2.0**-24), np.float32(1.0)


@compiled
def _fill(out: np.ndarray, n: int, place: int, stream: int, seed: int, sweep: int) -> None:
    """Uniforms of tokens ``place`` (a multiple of `GROUP`) to ``place + n`` of a document, as in `uniforms.uniforms`; whole groups are written."""
    stream_low, stream_high = np.uint64(stream) & _LOW, np.uint64(stream) >> _32
    for group in range((n + GROUP - 1) // GROUP):
        first = np.uint64((place // GROUP + group) * 16)
        for i in range(16):
            c0, c1, c2, c3 = first + np.uint64(i), np.uint64(sweep), stream_low, stream_high
            k0, k1 = np.uint64(seed) & _LOW, np.uint64(seed) >> _32
            for _ in range(ROUNDS):
                p, q = _A * c0, _B * c2
                c0, c1, c2, c3 = (q >> _32) ^ c1 ^ k0, q & _LOW, (p >> _32) ^ c3 ^ k1, p & _LOW
                k0, k1 = (k0 + _KEY_A) & _LOW, (k1 + _KEY_B) & _LOW
            at = group * GROUP + i
            out[at], out[at + 16] = np.float32(c0 >> _8) * _STEP, np.float32(c1 >> _8) * _STEP
            out[at + 32], out[at + 48] = np.float32(c2 >> _8) * _STEP, np.float32(c3 >> _8) * _STEP


@compiled
def _aligned(n: int) -> np.ndarray:
    """n zeros that begin at a multiple of 64 bytes."""
    room = np.zeros(n + 16, dtype=np.float32)
    start = (-(room.ctypes.data // 4)) % 16
    return room[start : start + n]


@compiled
def _plain(live: bool, words: np.ndarray, topics: np.ndarray, uniforms: np.ndarray, word_topic: np.ndarray, document: np.ndarray,
           alpha: np.ndarray, inverse: np.ndarray, totals: np.ndarray, beta: float, beta_sum: float, own: int, n_topics: int) -> int:
    """What `walk` does, for any number of topics."""
    columns, changed = len(document), 0
    sums, up_to = np.empty(columns, dtype=np.float32), np.empty(16, dtype=np.float32)
    for t in range(len(words)):
        row, old = word_topic[words[t]], topics[t]
        document[old] -= _ONE
        up_to[:] = np.float32(0.0)
        for k in range(columns):
            itself = k == old
            scale = _ONE / (np.float32(totals[k] - own) + beta_sum) if itself else inverse[k]
            others = row[k] - np.float32(own) if itself else row[k]
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
            inverse[old], inverse[new] = _ONE / (np.float32(totals[old]) + beta_sum), _ONE / (np.float32(totals[new]) + beta_sum)
    return changed


@compiled
def draw(blocks: tuple, live: bool, words: np.ndarray, offsets: np.ndarray, topics: np.ndarray, streams: np.ndarray, word_topic: np.ndarray,
         totals: np.ndarray, alpha: np.ndarray, inverse: np.ndarray, first: int, last: int, beta: float, beta_sum: float, own: int,
         n_topics: int, seed: int, sweep: int) -> int:
    """Draw the tokens of documents ``first`` to ``last`` again, in place; returns how many topics changed.

    blocks: a tuple of one 0 for each sixteen topics, () for the plain loop; live: whether counts follow every draw; the rest as in `walk`.
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
            _fill(numbers, stop - start, start - begin, streams[d], seed, sweep)
            if len(blocks) == 0:
                changed += _plain(live, words[start:stop], topics[start:stop], numbers, word_topic, document, alpha, inverse, totals, beta,
                                  beta_sum, own, n_topics)
                continue
            here = (words.ctypes.data + 4 * start, topics.ctypes.data + 4 * start, stop - start, len(words) - start, numbers.ctypes.data)
            there = (word_topic.ctypes.data, document.ctypes.data, alpha.ctypes.data, inverse.ctypes.data, totals.ctypes.data)
            if live:
                changed += walk_live(blocks, *here, *there, beta, beta_sum, own, n_topics)
            else:
                changed += walk_still(blocks, *here, *there, beta, beta_sum, own, n_topics)
    return changed


@compiled
def count(words: np.ndarray, before: np.ndarray, after: np.ndarray, word_topic: np.ndarray, totals: np.ndarray) -> None:
    """Bring the counts up to date with topics that changed from ``before`` to ``after``."""
    for t in range(len(words)):
        if before[t] != after[t]:
            word_topic[words[t], before[t]] -= _ONE
            word_topic[words[t], after[t]] += _ONE
            totals[before[t]] -= 1
            totals[after[t]] += 1
