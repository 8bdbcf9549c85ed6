"""Compiled loops that cut a block of texts into tokens or character n-grams and number them: the one scanner of the library.

A block is the UTF-8 of many documents, each ended by the byte 0xFF, which UTF-8 never uses. `fold` lower-cases it, a scan finds the slices
that are tokens, and a hash table gives every distinct slice of the block a number. The numbers are exact: a slice is equal to another
only if all bytes are. Taught in lessons ``01_one_hot`` and ``02_bag_of_words``.
"""

from __future__ import annotations

import numpy as np

from ..core.compiled import compiled
from .characters import CODE_POINT, NEEDS_PYTHON, SPACE, WORD

__all__ = ["DOCUMENT_END", "add_to_table", "clean_characters", "decode", "find", "fold", "grown_slots", "hash_strings",
           "scan_char_ngrams", "scan_words", "width"]

DOCUMENT_END = 0xFF
SEGMENT_END = 0xFE                               # ends a padded word inside a document (char_wb)

# Eight bytes make one number; `_mixed` maps such numbers one to one. So two slices of up to eight bytes are equal if length and hash are,
# and only longer ones need a look at their bytes. All uint64, because Numba would turn int64 with uint64 into float64.
PRIME, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF, TAG, LOW, ONE, EMPTY = np.uint64(32), np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFFFFFF), np.uint64(1), np.uint64(0)
WORD_BYTES = 8
ZERO = np.int64(0)                              # a plain 0 is a type of its own to Numba: what it is passed to would be compiled twice

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
def fold(data: np.ndarray, out: np.ndarray, table: np.ndarray, for_python: np.ndarray) -> tuple[int, int]:
    """Copy a block with every character replaced by the table's one.

    The numbers of documents with a character that only Python can lower-case are written to ``for_python``. Returns the bytes written and
    how many such documents there are.
    """
    i, k, document, n = ZERO, ZERO, 0, 0
    while i < data.size:
        lead = np.int64(data[i])
        if lead < 0x80:
            out[k] = table[lead] & 0x7F
            i, k = i + 1, k + 1
        elif lead == DOCUMENT_END:
            out[k] = DOCUMENT_END
            i, k, document = i + 1, k + 1, document + 1
        else:
            entry = np.int64(table[decode(data, i)])
            if entry & NEEDS_PYTHON and (n == 0 or for_python[n - 1] != document):
                for_python[n] = document
                n += 1
            i, k = i + width(lead), _encode(out, k, entry & CODE_POINT)
    return k, n


# ------------------------------------------------------------------------------------------------ hash table of slices


@compiled
def _mixed(h: np.uint64) -> np.uint64:
    h = (h ^ (h >> HALF)) * MIX
    return h ^ (h >> HALF)


@compiled
def _with_byte(h: np.uint64, word: np.uint64, n: int, byte: int) -> tuple:
    """Take the n-th byte into the current word; a full word goes into the hash."""
    word |= np.uint64(byte) << np.uint64(8 * (n & 7))
    if n & 7 == 7:
        return (h ^ word) * PRIME, EMPTY
    return h, word


@compiled
def find(text: np.ndarray, start: int, end: int, h: np.uint64, slots: np.ndarray, known: np.ndarray, starts: np.ndarray, ends: np.ndarray,
         hashes: np.ndarray) -> int:
    """Entry of a slice among the known ones, or ``-1 - slot`` with the free slot where it belongs.

    A slot holds the upper half of the hash and the entry's number plus one; 0 is free. Linear probing; slots are a power of two.
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
def hash_strings(arena: np.ndarray, offsets: np.ndarray, hashes: np.ndarray) -> None:
    """Write the hash of each string, the same one that the scans compute on their way."""
    for e in range(hashes.size):
        h, word = EMPTY, EMPTY
        for i in range(offsets[e], offsets[e + 1]):
            h, word = _with_byte(h, word, i - offsets[e], np.int64(arena[i]))
        hashes[e] = _mixed(h ^ word)


@compiled
def add_to_table(text: np.ndarray, text_offsets: np.ndarray, hashes: np.ndarray, slots: np.ndarray, arena: np.ndarray, offsets: np.ndarray,
                 known_hashes: np.ndarray, n: int, add: bool, entry_of: np.ndarray) -> int:
    """Number the strings of a block by a table that outlives it; unknown ones are added, or get -1. Returns the entries in the table.

    The caller has made room: slots at most half full, arena and offsets long enough.
    """
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


# ------------------------------------------------------------------------------------------------ scans

# Each scan gets a free hash table (slots) and room for its entries, writes the block's own numbers in reading order (ids), where each
# document ends in them, and the slices that the numbers stand for. Returns how many ids and entries; -1 entries when the table is full.


@compiled
def scan_words(text: np.ndarray, table: np.ndarray, min_chars: int, slots: np.ndarray, ids: np.ndarray, document_ends: np.ndarray,
               starts: np.ndarray, ends: np.ndarray, hashes: np.ndarray) -> tuple[int, int]:
    """Find every maximal run of at least ``min_chars`` word characters, as the pattern ``\\b\\w\\w+\\b`` (2) or ``\\b\\w+\\b`` (1) does."""
    n_entries, n_ids, document, i = 0, 0, 0, ZERO
    while i < text.size:
        start, chars, step = i, 0, 0
        h, word, lead = EMPTY, EMPTY, np.int64(0)
        while True:                              # one step per word character; document ends and white space end the run
            lead = np.int64(text[i])
            if lead < 0x80:
                if table[lead] & WORD == 0:
                    step = 1
                    break
                h, word = _with_byte(h, word, i - start, lead)
                i += 1
            else:
                step = width(lead)
                if lead == DOCUMENT_END or table[decode(text, i)] & WORD == 0:
                    break
                for j in range(i, i + step):
                    h, word = _with_byte(h, word, j - start, np.int64(text[j]))
                i += step
            chars += 1
        if chars >= min_chars:
            h = _mixed(h ^ word)
            entry = find(text, start, i, h, slots, text, starts, ends, hashes)
            if entry < 0:
                slots[-1 - entry] = h & TAG | np.uint64(n_entries + 1)
                starts[n_entries], ends[n_entries], hashes[n_entries] = start, i, h
                entry, n_entries = n_entries, n_entries + 1
                if 2 * n_entries > slots.size:
                    return 0, -1
            ids[n_ids] = entry
            n_ids += 1
        if lead == DOCUMENT_END:
            document_ends[document] = n_ids
            document += 1
        i += step
    return n_ids, n_entries


@compiled
def clean_characters(text: np.ndarray, table: np.ndarray, out: np.ndarray, pad_words: bool) -> int:
    """Prepare a block for character n-grams. Returns the bytes written to ``out``: at most twice the block and one for
    each document.

    Without ``pad_words`` two or more white-space characters become one space. With it, each word is written as space, word, space.
    """
    i, k, blanks, blank_at, in_word = ZERO, ZERO, 0, ZERO, False
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
    n_entries, n_ids, document, first, i = 0, 0, 0, ZERO, ZERO
    while i < text.size:
        if text[i] >= SEGMENT_END:
            if text[i] == DOCUMENT_END:
                document_ends[document] = n_ids
                document += 1
            i += 1
            first = i
            continue
        raw, word, chars, j = EMPTY, EMPTY, 0, i
        while chars < high and text[j] < SEGMENT_END:
            for _ in range(width(np.int64(text[j]))):
                raw, word = _with_byte(raw, word, j - i, np.int64(text[j]))
                j += 1
            chars += 1
            if chars >= low or (short_once and i == first and text[j] >= SEGMENT_END):
                h = _mixed(raw ^ word)
                entry = find(text, i, j, h, slots, text, starts, ends, hashes)
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
