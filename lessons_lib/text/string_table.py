"""A hash table that gives strings numbers in order of first appearance, and its compiled loops.

Its keys are slices of bytes, so that the scanner finds a word's number where the word lies, and no
Python string is made of it: a dict takes thirteen times as long. Used by `Corpus` and ``counts``.
"""

from __future__ import annotations

import numpy as np

from ..core.compiled import compiled
from .growing_array import extended
from .strings import Strings

__all__ = ["Index", "StringTable", "Strings", "extended", "find", "hash_byte", "hash_end",
           "hashes_of"]

# A hash takes a string's bytes eight at a time, as one number; `hash_end` maps numbers one to one.
# So two strings of up to eight bytes are equal if length and hash are, and only longer ones need a
# look at their bytes. All are uint64, because Numba turns int64 with uint64 into float64.
PRIME, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF, ONE, EMPTY = np.uint64(32), np.uint64(1), np.uint64(0)
TAG, LOW = np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFFFFFF)
WORD_BYTES = 8


@compiled
def hash_byte(h: np.uint64, word: np.uint64, n: int, byte: int) -> tuple:
    """Take the n-th byte into the current word; a full word goes into the hash."""
    word |= np.uint64(byte) << np.uint64(8 * (n & 7))
    if n & 7 == 7:
        return (h ^ word) * PRIME, EMPTY
    return h, word


@compiled
def hash_end(h: np.uint64, word: np.uint64) -> np.uint64:
    """The hash, with the last word in it and all bits mixed."""
    h ^= word
    h = (h ^ (h >> HALF)) * MIX
    return h ^ (h >> HALF)


@compiled
def find(text: np.ndarray, start: int, end: int, h: np.uint64, slots: np.ndarray,
         known: np.ndarray, starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray) -> int:
    """Entry of a slice of ``text`` among the slices of ``known``, or ``-1 - slot`` with the free
    slot where it belongs.

    A slot holds the upper half of the hash and the entry's number plus one; 0 is free. Slots are a
    power of two and searched one after the other.
    """
    mask, tag, length = np.uint64(slots.size - 1), h & TAG, end - start
    place = h & mask
    while slots[place] != EMPTY:
        slot = slots[place]
        if slot & TAG == tag:
            entry = np.int64(slot & LOW) - 1
            if hashes[entry] == h and ends[entry] - starts[entry] == length:
                k = 0 if length > WORD_BYTES else length
                while k < length and text[start + k] == known[starts[entry] + k]:
                    k += 1
                if k == length:
                    return entry
        place = (place + ONE) & mask
    return -1 - np.int64(place)


@compiled
def _grown_slots(hashes: np.ndarray, n: int, size: int) -> np.ndarray:
    """A fresh slot array of ``size`` (a power of two) with the first n entries in it."""
    slots, mask = np.zeros(size, np.uint64), np.uint64(size - 1)
    for entry in range(n):
        place = hashes[entry] & mask
        while slots[place] != EMPTY:
            place = (place + ONE) & mask
        slots[place] = hashes[entry] & TAG | np.uint64(entry + 1)
    return slots


@compiled
def _hash_strings(arena: np.ndarray, offsets: np.ndarray, hashes: np.ndarray) -> None:
    for e in range(hashes.size):
        h, word = EMPTY, EMPTY
        for i in range(offsets[e], offsets[e + 1]):
            h, word = hash_byte(h, word, i - offsets[e], np.int64(arena[i]))
        hashes[e] = hash_end(h, word)


@compiled
def _number(text: np.ndarray, text_offsets: np.ndarray, hashes: np.ndarray, slots: np.ndarray,
            arena: np.ndarray, offsets: np.ndarray, known_hashes: np.ndarray, n: int, add: bool,
            entry_of: np.ndarray) -> int:
    """Number strings by the table; unknown ones are added, or get -1. Returns the entries in the
    table. The arrays are long enough and the slots at most half full."""
    for e in range(hashes.size):
        start, end = text_offsets[e], text_offsets[e + 1]
        entry = find(text, start, end, hashes[e], slots, arena, offsets, offsets[1:], known_hashes)
        if entry < 0 and add:
            slots[-1 - entry] = hashes[e] & TAG | np.uint64(n + 1)
            known_hashes[n] = hashes[e]
            for i in range(end - start):
                arena[offsets[n] + i] = text[start + i]
            offsets[n + 1] = offsets[n] + end - start
            entry, n = n, n + 1
        entry_of[e] = max(entry, -1)
    return n


def hashes_of(strings: Strings) -> np.ndarray:
    """The hash of each string, uint64: the same as the scans compute on their way."""
    hashes = np.empty(len(strings), dtype=np.uint64)
    _hash_strings(strings.arena, strings.offsets, hashes)
    return hashes


class StringTable:
    """Numbers for strings, in order of first appearance."""

    def __init__(self) -> None:
        self._slots = np.zeros(1 << 12, dtype=np.uint64)
        self._arena = np.empty(1 << 14, dtype=np.uint8)
        self._offsets = np.zeros(1 << 11, dtype=np.int64)
        self._hashes, self._n = np.empty(1 << 11, dtype=np.uint64), 0

    def __len__(self) -> int:
        return self._n

    @property
    def strings(self) -> Strings:
        """All strings so far, by number."""
        return Strings(self._arena[: self._offsets[self._n]], self._offsets[: self._n + 1])

    def add(self, strings: Strings, hashes: np.ndarray | None = None) -> np.ndarray:
        """Numbers of these strings, int64; new ones get the next numbers. ``hashes``: those of
        `hashes_of`, where they are known."""
        most = self._n + len(strings)
        self._arena = extended(self._arena, self._offsets[self._n] + len(strings.arena))
        self._offsets = extended(self._offsets, most + 1)
        self._hashes = extended(self._hashes, most)
        if 2 * most > len(self._slots):
            self._slots = _grown_slots(self._hashes, self._n, 1 << int(4 * most).bit_length())
        entry_of, self._n = self._numbered(strings, hashes, add=True)
        return entry_of

    def find(self, strings: Strings, hashes: np.ndarray | None = None) -> np.ndarray:
        """Numbers of these strings, int64, -1 for unknown ones. Changes nothing, so that threads
        may share the table."""
        return self._numbered(strings, hashes, add=False)[0]

    def _numbered(self, strings: Strings, hashes: np.ndarray | None, *,
                  add: bool) -> tuple[np.ndarray, int]:
        hashes = hashes_of(strings) if hashes is None else hashes
        entry_of = np.empty(len(strings), dtype=np.int64)
        n = _number(strings.arena, strings.offsets, hashes, self._slots, self._arena,
                    self._offsets, self._hashes, self._n, add, entry_of)
        return entry_of, n


class Index:
    """Finds the rows of many words at once; ``tokens`` are in the order of the rows."""

    def __init__(self, tokens: list[str]):
        self.tokens, self._table = tokens, StringTable()
        self._table.add(Strings.of(tokens))

    def rows(self, strings: Strings, hashes: np.ndarray) -> np.ndarray:
        """The row of each string, -1 for one that has none; int64."""
        return self._table.find(strings, hashes)

    def rows_of(self, tokens: list[str]) -> np.ndarray:
        """The row of each token; int64."""
        return self._table.find(Strings.of(tokens))
