"""Counter-based uniforms: a number for every token and every sweep, computed and not drawn one
after the other.

Philox turns a counter (group and lane of the token, sweep, stream of the document) under a key (the
seed) into four words of 32 bits; the upper 24 bits of a word are u in [0, 1). All implementations
of `lda_sweep` compute the same ones, in any order and on any number of threads. Sixteen counters
make the 64 numbers of a group: word j of counter i belongs to token 16 j + i, so vectors of sixteen
are stored whole. Taught in ``03_topic_models``.
"""

from __future__ import annotations

import numpy as np

__all__ = ["GROUP", "KEYS", "ROUNDS", "uniforms"]

GROUP = 64  # tokens of a document whose numbers are made together
ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEYS = (0x9E3779B9, 0xBB67AE85)  # added to the two halves of the key after each round


def _philox(counter: list[np.ndarray], key: int) -> list[np.ndarray]:
    """Four words of 32 bits for every counter of four. [salmon2011parallel]"""
    low = np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = (c.astype(np.uint64) for c in counter)
    k0, k1 = np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)
    a, b = map(np.uint64, MULTIPLIERS)
    for r in range(ROUNDS):
        p, q = a * c0, b * c2
        k = ((k0 + np.uint64(r * KEYS[0])) & low, (k1 + np.uint64(r * KEYS[1])) & low)
        c0, c1, c2, c3 = ((q >> np.uint64(32)) ^ c1 ^ k[0], q & low,
                          (p >> np.uint64(32)) ^ c3 ^ k[1], p & low)
    return [c0, c1, c2, c3]


def uniforms(n: int, *, seed: int, sweep: int, stream: int) -> np.ndarray:
    """The numbers of the n tokens of one document: (n,) float32 in [0, 1), multiples of 2^-24.

    Parameters: seed and stream in [0, 2^63), sweep in [0, 2^31).
    """
    place = np.arange(-(-n // GROUP) * GROUP, dtype=np.uint64)
    first = (place // GROUP) * 16 + place % 16
    rest = [np.full(len(place), x, dtype=np.uint64)
            for x in (sweep, stream & 0xFFFFFFFF, stream >> 32)]
    words = np.stack(_philox([first, *rest], seed))
    chosen = words[(place // 16 % 4).astype(np.int64), np.arange(len(place))]
    return ((chosen >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24))[:n]
