"""A table that gives strings numbers in order of first appearance, kept as bytes, so that millions of them cost little.

The bytes of all strings lie in one array, one after the other; a hash table finds a string's number. Strings are sorted as bytes, which is
the order of Python's str, because UTF-8 keeps the order of code points. Used by `Corpus` and by every method of ``counts``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..core.compiled import compiled
from .fast_scan import add_to_table, grown_slots, hash_strings

__all__ = ["StringTable", "Strings", "extended"]

_DECODE_AT_ONCE = 1 << 16
_LINE_END = 10
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
def _gather(text: np.ndarray, starts: np.ndarray, offsets: np.ndarray, gap: int, out: np.ndarray) -> None:
    """Copy slices of a text one after the other; ``gap`` bytes after each stay as they are."""
    for k in range(starts.size):
        for i in range(offsets[k + 1] - offsets[k] - gap):
            out[offsets[k] + i] = text[starts[k] + i]


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

    @classmethod
    def checked(cls, arena: np.ndarray, offsets: np.ndarray, *, name: str) -> Strings:
        """Strings from a file. Parameters: name, of the offsets. Raises ValueError for offsets that do not cut the arena from end to end."""
        whole = arena.ndim == offsets.ndim == 1 and (arena.dtype, offsets.dtype) == (np.uint8, np.int64) and len(offsets) > 0
        if not (whole and offsets[0] == 0 and offsets[-1] == len(arena) and (offsets[1:] >= offsets[:-1]).all()):
            raise ValueError(f"{name} does not cut {arena.size} bytes of tokens from end to end")
        return cls(arena, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def cut(cls, text: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> Strings:
        """Copies of the slices of a text."""
        offsets = np.zeros(len(starts) + 1, dtype=np.int64)
        np.cumsum(ends - starts, out=offsets[1:])
        arena = np.empty(offsets[-1], dtype=np.uint8)
        _gather(text, starts, offsets, 0, arena)
        return cls(arena, offsets)

    def hashes(self) -> np.ndarray:
        """The scanner's hash of each string, uint64."""
        out = np.empty(len(self), dtype=np.uint64)
        hash_strings(self.arena, self.offsets, out)
        return out

    def to_list(self, entries: np.ndarray | None = None) -> list[str]:
        """The strings of these numbers (default: all) as str, decoded many at a time."""
        entries = np.arange(len(self)) if entries is None else entries
        out: list[str] = []
        for first in range(0, len(entries), _DECODE_AT_ONCE):
            part = entries[first : first + _DECODE_AT_ONCE]
            offsets = np.zeros(len(part) + 1, dtype=np.int64)
            np.cumsum(self.offsets[part + 1] - self.offsets[part] + 1, out=offsets[1:])
            lines = np.full(offsets[-1], _LINE_END, dtype=np.uint8)
            _gather(self.arena, self.offsets[part], offsets, 1, lines)
            text = lines.tobytes().decode()
            if text.count("\n") == len(part):
                out += text[:-1].split("\n")
            else:                                # a string holds a line end itself
                begun = np.concatenate([[0], np.cumsum(lines & 0xC0 != 0x80)])          # characters begun before each byte
                out += [text[a : b - 1] for a, b in pairwise(begun[offsets].tolist())]
        return out

    def sorted_order(self, entries: np.ndarray | None = None) -> np.ndarray:
        """These numbers (default: all), which are distinct, in the alphabetical order of their strings (by code point). Returns int64."""
        order = np.arange(len(self)) if entries is None else entries.astype(np.int64)
        group = np.zeros(len(order), dtype=np.int64)
        open_ = np.arange(len(order))                                                   # positions whose string is not placed yet
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
            names = self.to_list(order[tied])
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

    def add(self, strings: Strings, hashes: np.ndarray) -> np.ndarray:
        """Numbers of these strings; new ones get the next numbers. ``hashes``: as `Strings.hashes`. Returns int64."""
        self._make_room(len(strings), len(strings.arena))
        entry_of = np.empty(len(strings), dtype=np.int64)
        self._n = self._number(strings, hashes, True, entry_of)
        return entry_of

    def find(self, strings: Strings, hashes: np.ndarray) -> np.ndarray:
        """Numbers of these strings, -1 for unknown ones. Changes nothing, so that threads may share the table."""
        entry_of = np.empty(len(strings), dtype=np.int64)
        self._number(strings, hashes, False, entry_of)
        return entry_of

    def _number(self, strings: Strings, hashes: np.ndarray, add: bool, entry_of: np.ndarray) -> int:
        return add_to_table(strings.arena, strings.offsets, hashes, self._slots, self._arena, self._offsets, self._hashes, self._n, add, entry_of)
