"""Many strings as one array of UTF-8 bytes: a million tokens cost little more than their letters.

Bytes sort as Python's str does, because UTF-8 keeps the order of code points. Saved models and
corpora keep their tokens so. Taught with lesson ``01_one_hot``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

__all__ = ["Strings"]

_PREFIX = 8                                      # bytes compared at once when sorting


class Strings:
    """Strings as bytes: string i is ``arena[offsets[i]:offsets[i + 1]]`` in UTF-8."""

    def __init__(self, arena: np.ndarray, offsets: np.ndarray):
        self.arena, self.offsets = arena, offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, strings: Sequence[str]) -> Strings:
        """Pack a list of str."""
        arena = np.frombuffer(bytearray("".join(strings).encode()), dtype=np.uint8)
        begins = np.append(np.flatnonzero(arena & 0xC0 != 0x80), len(arena))   # of each character
        lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
        return cls(arena, begins[np.concatenate([[0], np.cumsum(lengths)])])

    @classmethod
    def checked(cls, arena: np.ndarray, offsets: np.ndarray, *, name: str) -> Strings:
        """Strings from a file. Raises ValueError, with the ``name`` of the offsets, where they do
        not cut the arena from end to end."""
        fits = (arena.ndim == offsets.ndim == 1 and len(offsets) > 0
                and (arena.dtype, offsets.dtype) == (np.uint8, np.int64))
        if not (fits and offsets[0] == 0 and offsets[-1] == len(arena)
                and (offsets[1:] >= offsets[:-1]).all()):
            raise ValueError(f"{name} does not cut {arena.size} bytes of tokens from end to end")
        return cls(arena, offsets)

    def to_list(self, entries: np.ndarray | None = None) -> list[str]:
        """The strings of these numbers (default: all) as str."""
        arena = self.arena.tobytes()
        if entries is None:
            return [arena[a:b].decode() for a, b in pairwise(self.offsets.tolist())]
        bounds = zip(self.offsets[entries].tolist(), self.offsets[entries + 1].tolist(),
                     strict=True)
        return [arena[a:b].decode() for a, b in bounds]

    def sorted_order(self, entries: np.ndarray | None = None) -> np.ndarray:
        """These numbers (default: all; distinct strings), int64, by the alphabetical order of their
        strings: first by eight bytes as one number, then those that begin alike by Python."""
        order = np.arange(len(self)) if entries is None else entries.astype(np.int64)
        starts, ends = self.offsets[order], self.offsets[order + 1]
        padded = np.append(self.arena, np.zeros(_PREFIX, np.uint8))
        prefixes = np.lib.stride_tricks.sliding_window_view(padded, _PREFIX)[starts]
        prefixes[np.arange(_PREFIX) >= (ends - starts)[:, None]] = 0
        keys = prefixes.view(">u8").ravel().astype(np.uint64)
        by_key = np.argsort(keys)
        order, keys = order[by_key], keys[by_key]
        alike = np.zeros(len(order) + 1, dtype=bool)
        alike[1:-1] = keys[1:] == keys[:-1]
        tied = np.flatnonzero(alike[:-1] | alike[1:])
        names = self.to_list(order[tied])
        order[tied] = order[tied][sorted(range(len(names)), key=names.__getitem__)]
        return order
