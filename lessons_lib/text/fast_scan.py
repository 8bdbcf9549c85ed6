"""Compiled loops that cut a block of texts into tokens or character n-grams and number them: the one scanner of the library.

A block is the UTF-8 of many documents, each ended by the byte 0xFF, which UTF-8 never uses. `fold` lower-cases it, a scan finds the slices
that are tokens, and a hash table gives every distinct slice of the block a number. The numbers are exact: a slice is equal to another
only if all bytes are. Taught in lessons ``01_one_hot`` and ``02_bag_of_words``.
"""

from __future__ import annotations

import numpy as np

from ..core.compiled import compiled
from .characters import CODE_POINT, SPACE, WORD

__all__ = ["DOCUMENT_END", "add_to_table", "clean_characters", "decode", "find", "fold", "grown_slots", "hash_slices",
           "same_bytes", "scan_char_ngrams", "scan_words", "width"]

DOCUMENT_END = 0xFF
SEGMENT_END = 0xFE                               # ends a padded word inside a document (char_wb)

# FNV-1a over the bytes, then one mixing step. As uint64, because Numba would turn int64 with uint64 into float64.
SEED, PRIME, MIX = np.uint64(14695981039346656037), np.uint64(1099511628211), np.uint64(0x9E3779B97F4A7C15)
HALF, TAG, LOW, ONE, EMPTY = np.uint64(32), np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFFFFFF), np.uint64(1), np.uint64(0)

# ------------------------------------------------------------------------------------------------ UTF-8


@compiled
def width(lead: int) -> int:
    """Bytes of the character that begins with this byte; the two end marks count 1."""
    if lead < 0xC0 or lead >= SEGMENT_END:
        return 1
    return 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)


@compiled
def decode(text: np.ndarray, i: int) -> int:
    """Code point of the character that begins at byte i, which is not ASCII."""
    lead = np.int64(text[i])
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | (text[i + 1] & 0x3F)
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | np.int64(text[i + 1] & 0x3F) << 6 | (text[i + 2] & 0x3F)
    return (lead & 0x07) << 18 | np.int64(text[i + 1] & 0x3F) << 12 | np.int64(text[i + 2] & 0x3F) << 6 | (text[i + 3] & 0x3F)


@compiled
def _encode(out: np.ndarray, k: int, c: int) -> int:
    if c < 0x80:
        out[k] = c
        return k + 1
    if c < 0x800:
        out[k] = 0xC0 | c >> 6
        out[k + 1] = 0x80 | c & 0x3F
        return k + 2
    if c < 0x10000:
        out[k] = 0xE0 | c >> 12
        out[k + 1] = 0x80 | c >> 6 & 0x3F
        out[k + 2] = 0x80 | c & 0x3F
        return k + 3
    out[k] = 0xF0 | c >> 18
    out[k + 1] = 0x80 | c >> 12 & 0x3F
    out[k + 2] = 0x80 | c >> 6 & 0x3F
    out[k + 3] = 0x80 | c & 0x3F
    return k + 4


@compiled
def fold(data: np.ndarray, out: np.ndarray, table: np.ndarray) -> int:
    """Copy a block with every character replaced by the table's one. Returns the bytes written."""
    i, k = 0, 0
    while i < data.size:
        lead = np.int64(data[i])
        if lead < 0x80:
            out[k] = table[lead] & 0x7F
            i, k = i + 1, k + 1
        elif lead == DOCUMENT_END:
            out[k] = DOCUMENT_END
            i, k = i + 1, k + 1
        else:
            i, k = i + width(lead), _encode(out, k, np.int64(table[decode(data, i)]) & CODE_POINT)
    return k


# ------------------------------------------------------------------------------------------------ hash table of slices


@compiled
def same_bytes(a: np.ndarray, i: int, b: np.ndarray, j: int, n: int) -> bool:
    """Whether n bytes from a[i] and from b[j] are equal."""
    k = 0
    while k < n and a[i + k] == b[j + k]:
        k += 1
    return k == n


@compiled
def _mixed(h: np.uint64) -> np.uint64:
    h = (h ^ (h >> HALF)) * MIX
    return h ^ (h >> HALF)


@compiled
def find(text: np.ndarray, start: int, end: int, h: np.uint64, slots: np.ndarray, known: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> int:
    """Entry of a slice among the known ones, or ``-1 - slot`` with the free slot where it belongs.

    A slot holds the upper half of the hash and the entry's number plus one; 0 is free. Linear probing; slots are a power of two.
    """
    mask, tag = np.uint64(slots.size - 1), h & TAG
    place = h & mask
    while slots[place] != EMPTY:
        slot = slots[place]
        if slot & TAG == tag:
            entry = np.int64(slot & LOW) - 1
            if ends[entry] - starts[entry] == end - start and same_bytes(text, start, known, starts[entry], end - start):
                return entry
        place = (place + ONE) & mask
    return -1 - np.int64(place)


@compiled
def grown_slots(hashes: np.ndarray, n: int, size: int) -> np.ndarray:
    """A fresh slot array of ``size`` (a power of two) with the first n entries in it."""
    slots, mask = np.zeros(size, np.uint64), np.uint64(size - 1)
    for entry in range(n):
        place = hashes[entry] & mask
        while slots[place] != EMPTY:
            place = (place + ONE) & mask
        slots[place] = hashes[entry] & TAG | np.uint64(entry + 1)
    return slots


@compiled
def hash_slices(text: np.ndarray, starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray) -> None:
    """Write the hash of each slice, the same one that the scans compute on their way."""
    for e in range(starts.size):
        h = SEED
        for i in range(starts[e], ends[e]):
            h = (h ^ np.uint64(text[i])) * PRIME
        hashes[e] = _mixed(h)


@compiled
def add_to_table(text: np.ndarray, starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray, slots: np.ndarray, arena: np.ndarray,
                 offsets: np.ndarray, known_hashes: np.ndarray, n: int, add: bool, entry_of: np.ndarray) -> int:
    """Number the slices of a block by a table that outlives it; unknown ones are added, or get -1. Returns the entries in the table.

    The caller has made room: slots at most half full, arena and offsets long enough.
    """
    for e in range(starts.size):
        entry = find(text, starts[e], ends[e], hashes[e], slots, arena, offsets, offsets[1:])
        if entry < 0 and add:
            slots[-1 - entry] = hashes[e] & TAG | np.uint64(n + 1)
            known_hashes[n] = hashes[e]
            for i in range(ends[e] - starts[e]):
                arena[offsets[n] + i] = text[starts[e] + i]
            offsets[n + 1] = offsets[n] + ends[e] - starts[e]
            entry, n = n, n + 1
        entry_of[e] = max(entry, -1)
    return n


# ------------------------------------------------------------------------------------------------ scans

# Each scan gets a free hash table (slots) and room for its entries, writes the block's own numbers in reading order (ids), where each
# document ends in them, and the slices that the numbers stand for. Returns how many ids and entries; -1 entries when the table is full.


@compiled
def scan_words(text: np.ndarray, table: np.ndarray, min_chars: int, slots: np.ndarray, ids: np.ndarray, document_ends: np.ndarray,
               starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray) -> tuple[int, int]:
    """Find every maximal run of at least ``min_chars`` word characters, as the pattern ``\\b\\w\\w+\\b`` (2) or ``\\b\\w+\\b`` (1) does."""
    n_entries, n_ids, document, h, start, chars, i = 0, 0, 0, SEED, 0, 0, 0
    while i < text.size:
        lead = np.int64(text[i])
        step, is_word = 1, False
        if lead < 0x80:
            is_word = table[lead] & WORD != 0
        elif lead != DOCUMENT_END:
            step, is_word = width(lead), table[decode(text, i)] & WORD != 0
        if is_word:
            if chars == 0:
                h, start = SEED, i
            for j in range(i, i + step):
                h = (h ^ np.uint64(text[j])) * PRIME
            chars += 1
        else:
            if chars >= min_chars:
                h = _mixed(h)
                entry = find(text, start, i, h, slots, text, starts, ends)
                if entry < 0:
                    slots[-1 - entry] = h & TAG | np.uint64(n_entries + 1)
                    starts[n_entries], ends[n_entries], hashes[n_entries] = start, i, h
                    entry, n_entries = n_entries, n_entries + 1
                    if 2 * n_entries > slots.size:
                        return 0, -1
                ids[n_ids] = entry
                n_ids += 1
            chars = 0
            if lead == DOCUMENT_END:
                document_ends[document] = n_ids
                document += 1
        i += step
    return n_ids, n_entries


@compiled
def clean_characters(text: np.ndarray, table: np.ndarray, out: np.ndarray, pad_words: bool) -> int:
    """Prepare a block for character n-grams. Returns the bytes written to ``out``, which has room for twice the block.

    Without ``pad_words`` two or more white-space characters become one space. With it, each word is written as space, word, space.
    """
    i, k, blanks, blank_at, in_word = 0, 0, 0, 0, False
    while i < text.size:
        lead = np.int64(text[i])
        step, is_space = width(lead), False
        if lead < 0x80:
            is_space = table[lead] & SPACE != 0
        elif lead != DOCUMENT_END:
            is_space = table[decode(text, i)] & SPACE != 0
        if in_word and (is_space or lead == DOCUMENT_END):
            out[k], out[k + 1] = 32, SEGMENT_END
            k, in_word = k + 2, False
        elif pad_words and not is_space and not in_word and lead != DOCUMENT_END:
            out[k] = 32
            k, in_word = k + 1, True
        if is_space and not pad_words:
            blanks += 1
            if blanks == 1:
                blank_at = k                     # a lone tab stays a tab; a run is rewritten as one space
            else:
                out[blank_at] = 32
                k = blank_at + 1
        if not is_space:
            blanks = 0
        if blanks <= 1 and not (is_space and pad_words):
            for j in range(i, i + step):
                out[k] = text[j]
                k += 1
        i += step
    return k


@compiled
def scan_char_ngrams(text: np.ndarray, low: int, high: int, short_once: bool, slots: np.ndarray, ids: np.ndarray, document_ends: np.ndarray,
                     starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray) -> tuple[int, int]:
    """Find every run of ``low`` to ``high`` characters inside a segment; with ``short_once`` a shorter segment counts once as a whole."""
    n_entries, n_ids, document, first, i = 0, 0, 0, 0, 0
    while i < text.size:
        if text[i] >= SEGMENT_END:
            if text[i] == DOCUMENT_END:
                document_ends[document] = n_ids
                document += 1
            i += 1
            first = i
            continue
        raw, chars, j = SEED, 0, i
        while chars < high and text[j] < SEGMENT_END:
            for _ in range(width(np.int64(text[j]))):
                raw = (raw ^ np.uint64(text[j])) * PRIME
                j += 1
            chars += 1
            if chars >= low or (short_once and i == first and text[j] >= SEGMENT_END):
                h = _mixed(raw)
                entry = find(text, i, j, h, slots, text, starts, ends)
                if entry < 0:
                    slots[-1 - entry] = h & TAG | np.uint64(n_entries + 1)
                    starts[n_entries], ends[n_entries], hashes[n_entries] = i, j, h
                    entry, n_entries = n_entries, n_entries + 1
                    if 2 * n_entries > slots.size:
                        return 0, -1
                ids[n_ids] = entry
                n_ids += 1
        i += width(np.int64(text[i]))
    return n_ids, n_entries
