"""Counter-based chance: the number of a draw decides it, not what was drawn before, so text can be
cut among threads in any way.

Draw j of token i of a piece of text is the SplitMix64 mix of a key (seed, epoch, piece) and the
counter i (1 + negatives) + j: 64 bits. Draw 0 decides whether the token stays (upper 31 bits), how
wide its window is (bits 8 to 31) and whether its loss is noted (bits 0 to 7); draw j > 0 picks a
negative from the alias table: a column (upper 32 bits), and itself or its other (lower 31 bits).
[steele2014fast] Taught in ``04_word2vec``.
"""

from __future__ import annotations

import numpy as np

__all__ = ["GOLDEN", "MIXING", "alias_table", "draws", "epoch_key", "mixed_numbers", "piece_key"]

GOLDEN = 0x9E3779B97F4A7C15
MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LOW = 0xFFFFFFFFFFFFFFFF


def _mixed(x: int) -> int:
    for shift, factor in MIXING:
        x = ((x ^ (x >> shift)) * factor) & _LOW
    return x ^ (x >> 31)


def epoch_key(seed: int, epoch: int) -> int:
    """What the keys of all pieces of text are made of in one epoch: an int of 64 bits."""
    return _mixed((_mixed(seed) + epoch * GOLDEN) & _LOW)


def piece_key(seed: int, epoch: int, piece: int) -> int:
    """The key of one piece of text in one epoch: an int of 64 bits."""
    return _mixed((epoch_key(seed, epoch) + piece * GOLDEN) & _LOW)


def mixed_numbers(x: np.ndarray) -> np.ndarray:
    """The SplitMix64 mix of each of some uint64 numbers."""
    for shift, factor in MIXING:
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def draws(n_tokens: int, negatives: int, key: int) -> np.ndarray:
    """All draws of a piece: (n_tokens, 1 + negatives) uint64."""
    counters = np.arange(n_tokens * (1 + negatives), dtype=np.uint64)
    numbers = mixed_numbers(counters * np.uint64(GOLDEN) + np.uint64(key))
    return numbers.reshape(n_tokens, 1 + negatives)


def alias_table(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walker's table for draws in constant time from (n,) weights >= 0 with a sum > 0: column i
    gives i with probability thresholds[i] / 2^31 (int64), else others[i] (int32).
    [walker1977efficient]"""
    share = np.asarray(p, dtype=np.float64) / np.sum(p) * len(p)
    keep, others, rest = [1.0] * len(p), list(range(len(p))), share.tolist()
    poor, rich = np.flatnonzero(share < 1.0).tolist(), np.flatnonzero(share >= 1.0).tolist()
    while poor and rich:
        low, high = poor.pop(), rich[-1]
        keep[low], others[low] = rest[low], high
        rest[high] -= 1.0 - rest[low]
        if rest[high] < 1.0:
            poor.append(rich.pop())
    return np.rint(np.array(keep) * 2.0**31).astype(np.int64), np.array(others, dtype=np.int32)
