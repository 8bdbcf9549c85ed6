"""A table that gives strings numbers in order of first appearance, kept as bytes, so that millions of them cost little.

The bytes of all strings lie in one array, one after the other; a hash table finds a string's number. Strings are sorted as bytes, which is
the order of Python's str, because UTF-8 keeps the order of code points. Used by `Corpus` and by every method of ``counts``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..core.compiled import compiled
from .fast_scan import add_to_table, grown_slots, hash_slices

__all__ = ["StringTable", "Strings", "extended"]

_DECODE_AT_ONCE = 1 << 14
_SORT_ROUNDS = 4                                 # 8 bytes each; strings equal that far are sorted by Python


@compiled
def _words_at(arena: np.ndarray, offsets: np.ndarray, entries: np.ndarray, skip: int, out: np.ndarray) -> None:
    """Bytes skip … skip + 7 of each string as one big-endian number, zero where the string has ended."""
    for k in range(entries.size):
        start, end = offsets[entries[k]] + skip, offsets[entries[k] + 1]
        word = np.uint64(0)
        for i in range(8):
            byte = arena[start + i] if start + i < end else np.uint8(0)
            word = word << np.uint64(8) | np.uint64(byte)
        out[k] = word


@compiled
def _gather(arena: np.ndarray, offsets: np.ndarray, entries: np.ndarray, new_offsets: np.ndarray, out: np.ndarray) -> None:
    for k in range(entries.size):
        source = offsets[entries[k]]
        for i in range(new_offsets[k + 1] - new_offsets[k]):
            out[new_offsets[k] + i] = arena[source + i]


def extended(array: np.ndarray, size: int) -> np.ndarray:
    """The array itself when it holds ``size`` items, else a longer copy with room to grow."""
    if len(array) >= size:
        return array
    longer = np.empty(max(size, len(array) * 3 // 2), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


class Strings:
    """Strings as bytes: string i is ``arena[offsets[i]:offsets[i + 1]]`` in UTF-8."""

    def __init__(self, arena: np.ndarray, offsets: np.ndarray):
        self.arena, self.offsets = arena, offsets

    @classmethod
    def of(cls, strings: Sequence[str]) -> Strings:
        """Pack a list of str."""
        arena = np.frombuffer(bytearray("".join(strings).encode()), dtype=np.uint8)
        begins = np.append(np.flatnonzero(arena & 0xC0 != 0x80), len(arena))         # first byte of each character
        characters = np.zeros(len(strings) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, strings), dtype=np.int64, count=len(strings)), out=characters[1:])
        return cls(arena, begins[characters])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def hashes(self) -> np.ndarray:
        """The scanner's hash of each string, uint64."""
        out = np.empty(len(self), dtype=np.uint64)
        hash_slices(self.arena, self.offsets[:-1], self.offsets[1:], out)
        return out

    def take(self, entries: np.ndarray) -> Strings:
        """The strings of these numbers, in this order."""
        entries = np.ascontiguousarray(entries, dtype=np.int64)
        offsets = np.zeros(len(entries) + 1, dtype=np.int64)
        np.cumsum(self.offsets[entries + 1] - self.offsets[entries], out=offsets[1:])
        arena = np.empty(offsets[-1], dtype=np.uint8)
        _gather(self.arena, self.offsets, entries, offsets, arena)
        return Strings(arena, offsets)

    def to_list(self) -> list[str]:
        """All strings as str, decoded many at a time."""
        out: list[str] = []
        for first in range(0, len(self), _DECODE_AT_ONCE):
            ends = self.offsets[first : first + _DECODE_AT_ONCE + 1]
            part = self.arena[ends[0] : ends[-1]]
            characters = np.concatenate([[0], np.cumsum(part & 0xC0 != 0x80)])          # characters begun before each byte
            text, at = part.tobytes().decode(), characters[ends - ends[0]].tolist()
            out += [text[a:b] for a, b in pairwise(at)]
        return out

    def sorted_order(self) -> np.ndarray:
        """Numbers of the strings in alphabetical order (by code point), int64. The strings are distinct."""
        order, group = np.arange(len(self)), np.zeros(len(self), dtype=np.int64)
        open_ = order.copy()                                                            # positions whose string is not placed yet
        for rounds in range(_SORT_ROUNDS):
            words = np.empty(len(open_), dtype=np.uint64)
            _words_at(self.arena, self.offsets, order[open_], 8 * rounds, words)
            by = np.argsort(words) if rounds == 0 else np.lexsort((words, group[open_]))
            order[open_], words = order[open_][by], words[by]
            starts_new = np.ones(len(open_), dtype=bool)
            starts_new[1:] = (words[1:] != words[:-1]) | (group[open_][1:] != group[open_][:-1])
            group[open_] = open_[np.maximum.accumulate(np.where(starts_new, np.arange(len(open_)), 0))]
            alone = starts_new & np.append(starts_new[1:], True)
            open_ = open_[~alone]
            if not len(open_):
                return order
        for tied in np.split(open_, np.flatnonzero(np.diff(group[open_])) + 1):
            names = self.take(order[tied]).to_list()
            order[tied] = order[tied][sorted(range(len(names)), key=names.__getitem__)]
        return order


class StringTable:
    """Numbers for strings, in order of first appearance. `add` numbers new ones; `find` answers -1 for them."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 12, dtype=np.uint64)
        self._arena, self._offsets = np.empty(1 << 14, dtype=np.uint8), np.zeros(1 << 11, dtype=np.int64)
        self._hashes, self._n = np.empty(1 << 11, dtype=np.uint64), 0

    def __len__(self) -> int:
        return self._n

    @property
    def strings(self) -> Strings:
        """All strings so far, by number."""
        return Strings(self._arena[: self._offsets[self._n]], self._offsets[: self._n + 1])

    def _make_room(self, n_strings: int, n_bytes: int) -> None:
        self._arena = extended(self._arena, self._offsets[self._n] + n_bytes)
        self._offsets = extended(self._offsets, self._n + n_strings + 1)
        self._hashes = extended(self._hashes, self._n + n_strings)
        if 2 * (self._n + n_strings) > len(self._slots):
            size = 1 << int(4 * (self._n + n_strings)).bit_length()
            self._slots = grown_slots(self._hashes, self._n, size)

    def add(self, text: np.ndarray, starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray) -> np.ndarray:
        """Numbers of the slices of ``text``; new ones get the next numbers. Returns int64."""
        self._make_room(len(starts), int((ends - starts).sum()))
        return self._number(text, starts, ends, hashes, True)

    def find(self, text: np.ndarray, starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray) -> np.ndarray:
        """Numbers of the slices of ``text``, -1 for unknown ones. Changes nothing, so that threads may share the table."""
        return self._number(text, starts, ends, hashes, False)

    def _number(self, text: np.ndarray, starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray, add: bool) -> np.ndarray:
        entry_of = np.empty(len(starts), dtype=np.int64)
        n = add_to_table(text, starts, ends, hashes, self._slots, self._arena, self._offsets, self._hashes, self._n, add, entry_of)
        self._n = n if add else self._n
        return entry_of

    def add_strings(self, strings: Sequence[str]) -> np.ndarray:
        """Numbers of a list of str; new ones get the next numbers."""
        packed = Strings.of(strings)
        return self.add(packed.arena, packed.offsets[:-1], packed.offsets[1:], packed.hashes())
