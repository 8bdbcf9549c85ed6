"""From texts to numbers, a block of about a million characters at a time, with as many threads as
there are cores: the one scanner of the library.

A block is the UTF-8 of many lower-cased documents, each ended by the byte 0xFF, which UTF-8 never
uses. A compiled loop finds the slices that are tokens or character n-grams, and a hash table gives
every distinct slice a number. Blocks come back in the order of the texts, so the result is the same
for every number of threads, and memory holds a few blocks. Taught in lessons ``01_one_hot`` and
``02_bag_of_words``.
"""

from __future__ import annotations

import functools
import re
import sys
import threading
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core import available_cores, check_threads
from ..core.documents import MAX_TOKEN_CHARS
from ..core.compiled import compiled
from .growing_array import Oddities
from .string_table import EMPTY, TAG, Strings, find, hash_byte, hash_end, hashes_of

__all__ = ["FAST_PATTERNS", "Buffers", "CharacterScan", "Oddities", "ScannedBlock", "TokenScan",
           "WordScan", "checked_threads", "long_tokens", "scanned_blocks"]

BLOCK_CHARACTERS = 1 << 20             # larger blocks leave the cache, smaller repeat more words
DOCUMENT_END, SEGMENT_END = 0xFF, 0xFE           # a segment is a padded word in a document
WORD, SPACE = 1, 2                               # flags of a character
ZERO = np.int64(0)                               # a plain 0 is a type of its own to Numba
_LONG_NGRAM = 32                                 # beyond, memory is counted per document
_CUT = 64                                        # documents between two looks at a block's size
# What these patterns match are the longest runs of >= 1 or >= 2 word characters, as `scan_words`.
FAST_PATTERNS = {pattern: chars for chars, body in ((1, r"\w+"), (2, r"\w\w+"))
                 for flag in ("", "(?u)") for pattern in (flag + body, rf"{flag}\b{body}\b")}


# ---------------------------------------------------------------------------------- compiled loops


@functools.cache
def character_flags() -> np.ndarray:
    """For every code point whether it is a word character (WORD) or white space (SPACE), as ``re``
    says in the Python that runs; uint8."""
    codes = np.arange(sys.maxunicode + 1, dtype="<u4")
    codes[0xD800:0xE000] = 0                     # surrogates are not text
    characters = codes.tobytes().decode("utf-32-le")
    flags = np.zeros(len(characters), dtype=np.uint8)
    for pattern, flag in ((r"\w+", WORD), (r"\s+", SPACE)):
        for match in re.finditer(pattern, characters):
            flags[match.start() : match.end()] |= flag
    flags.flags.writeable = False
    return flags


@compiled
def width(lead: int) -> int:
    """Bytes of the character that begins with this byte; the two end marks count 1."""
    if lead < 0xC0 or lead >= SEGMENT_END:
        return 1
    return 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)


@compiled
def decode(text: np.ndarray, i: int) -> int:
    """Code point of the character that begins at byte i, which is not ASCII."""
    lead, second = np.int64(text[i]), np.int64(text[i + 1] & 0x3F)
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | second
    third = np.int64(text[i + 2] & 0x3F)
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | second << 6 | third
    return (lead & 0x07) << 18 | second << 12 | third << 6 | np.int64(text[i + 3] & 0x3F)


# Each scan gets a free hash table (slots) and space for its entries. It writes the block's own
# numbers in reading order (ids), where each document ends in them, and the slices that the numbers
# stand for. It returns how many ids and entries; -1 entries when the table is full.


@compiled
def scan_words(text: np.ndarray, flags: np.ndarray, min_chars: int, slots: np.ndarray,
               ids: np.ndarray, document_ends: np.ndarray, starts: np.ndarray, ends: np.ndarray,
               hashes: np.ndarray) -> tuple[int, int]:
    """Find every longest run of at least ``min_chars`` word characters, as ``\\b\\w\\w+\\b`` (2) or
    ``\\b\\w+\\b`` (1) does."""
    n_entries, n_ids, document, i = 0, 0, 0, ZERO
    while i < text.size:
        start, chars, step = i, 0, 0
        h, word, lead = EMPTY, EMPTY, np.int64(0)
        while True:                              # one step per word character
            lead = np.int64(text[i])
            if lead < 0x80:
                if flags[lead] & WORD == 0:
                    step = 1
                    break
                h, word = hash_byte(h, word, i - start, lead)
                i += 1
            else:
                step = width(lead)
                if lead == DOCUMENT_END or flags[decode(text, i)] & WORD == 0:
                    break
                for j in range(i, i + step):
                    h, word = hash_byte(h, word, j - start, np.int64(text[j]))
                i += step
            chars += 1
        if chars >= min_chars:
            h = hash_end(h, word)
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
def clean_characters(text: np.ndarray, flags: np.ndarray, out: np.ndarray, pad_words: bool) -> int:
    """Prepare a block for character n-grams. Returns the bytes written to ``out``: at most twice
    the block and one for each document.

    Without ``pad_words`` two or more white-space characters become one space. With it, each word is
    written as space, word, space.
    """
    i, k, blanks, blank_at, in_word = ZERO, ZERO, 0, ZERO, False
    while i < text.size:
        lead = np.int64(text[i])
        step, is_space = width(lead), False
        if lead < 0x80:
            is_space = flags[lead] & SPACE != 0
        elif lead != DOCUMENT_END:
            is_space = flags[decode(text, i)] & SPACE != 0
        if in_word and (is_space or lead == DOCUMENT_END):
            out[k], out[k + 1] = 32, SEGMENT_END
            k, in_word = k + 2, False
        elif pad_words and not is_space and not in_word and lead != DOCUMENT_END:
            out[k] = 32
            k, in_word = k + 1, True
        if is_space and not pad_words:
            blanks += 1
            if blanks == 1:
                blank_at = k                     # a lone tab stays a tab; a run becomes one space
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
def scan_char_ngrams(text: np.ndarray, low: int, high: int, short_once: bool, slots: np.ndarray,
                     ids: np.ndarray, document_ends: np.ndarray, starts: np.ndarray,
                     ends: np.ndarray, hashes: np.ndarray) -> tuple[int, int]:
    """Find every run of ``low`` to ``high`` characters inside a segment; with ``short_once`` a
    shorter segment counts once as a whole."""
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
                raw, word = hash_byte(raw, word, j - i, np.int64(text[j]))
                j += 1
            chars += 1
            if chars >= low or (short_once and i == first and text[j] >= SEGMENT_END):
                h = hash_end(raw, word)
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


@compiled
def _copy_slices(text: np.ndarray, starts: np.ndarray, offsets: np.ndarray,
                 out: np.ndarray) -> None:
    for k in range(starts.size):
        for i in range(offsets[k + 1] - offsets[k]):
            out[offsets[k] + i] = text[starts[k] + i]


# --------------------------------------------------------------------------------------- one block


class ScannedBlock(NamedTuple):
    """The tokens of some documents: ``ids`` (the block's own numbers, in reading order),
    ``document_ends`` (into ids), and per number the token with its hash. ``ids`` may lie in a
    buffer that the next block of the same thread overwrites."""

    ids: np.ndarray
    document_ends: np.ndarray
    strings: Strings
    hashes: np.ndarray


class Buffers(threading.local):
    """Arrays that a thread uses again for each block of a call: fresh memory costs more than the
    loops that fill it."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def get(self, name: str, size: int, dtype: type) -> np.ndarray:
        """An array of this size with any content."""
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays[name] = np.empty(size * 5 // 4, dtype=dtype)
        return self._arrays[name][:size]


def _bytes_of(texts: list[str], *, lowercase: bool, form: str | None) -> np.ndarray:
    """A block after normalising and lower-casing: UTF-8, each text ended by 0xFF."""
    if form is not None:
        texts = [t if t.isascii() else unicodedata.normalize(form, t) for t in texts]
    if lowercase:
        texts = [text.lower() for text in texts]
    # a bytearray, because loops compiled for writable arrays are compiled once
    end = bytearray([DOCUMENT_END])
    return np.frombuffer(end.join([*map(str.encode, texts), b""]), dtype=np.uint8)


def _scanned(scan: Callable[..., tuple[int, int]], text: np.ndarray, settings: tuple, *,
             n_documents: int, most: int, buffers: Buffers) -> ScannedBlock:
    """Run a scan that finds at most ``most`` tokens, with a hash table that is large enough: first
    for text as it mostly is, then four times larger."""
    ids, document_ends = buffers.get("ids", most, np.int32), np.empty(n_documents, np.int64)
    starts, ends = buffers.get("starts", most, np.int64), buffers.get("ends", most, np.int64)
    hashes = buffers.get("hashes", most, np.uint64)
    size, n = 1 << max(8, (text.size // 8).bit_length()), -1
    while n < 0:
        slots = buffers.get("slots", size, np.uint64)
        slots[:] = 0
        n_ids, n = scan(text, *settings, slots, ids, document_ends, starts, ends, hashes)
        size *= 4
    offsets = np.concatenate([[0], np.cumsum(ends[:n] - starts[:n])])
    arena = np.empty(offsets[-1], dtype=np.uint8)
    _copy_slices(text, starts[:n], offsets, arena)
    return ScannedBlock(ids[:n_ids], document_ends, Strings(arena, offsets), hashes[:n].copy())


@dataclass(frozen=True)
class WordScan:
    """Words of at least ``min_chars`` word characters. ``form``: a Unicode normal form or None."""

    min_chars: int
    lowercase: bool
    form: str | None = None

    def __call__(self, texts: list[str], buffers: Buffers) -> ScannedBlock:
        """Number the words of a block of texts."""
        text = _bytes_of(texts, lowercase=self.lowercase, form=self.form)
        return _scanned(scan_words, text, (character_flags(), self.min_chars), buffers=buffers,
                        n_documents=len(texts), most=text.size // (self.min_chars + 1) + 1)


@dataclass(frozen=True)
class CharacterScan:
    """Runs of ``low`` to ``high`` characters; with ``in_words`` inside words padded by one space,
    else across the whole text."""

    low: int
    high: int
    in_words: bool
    lowercase: bool
    form: str | None = None

    def __call__(self, texts: list[str], buffers: Buffers) -> ScannedBlock:
        """Number the character n-grams of a block of texts."""
        text = _bytes_of(texts, lowercase=self.lowercase, form=self.form)
        # one letter that is a text comes with its end and becomes five: space, letter, space, ends
        clean = buffers.get("clean", 2 * text.size + len(texts), np.uint8)
        clean = clean[: clean_characters(text, character_flags(), clean, self.in_words)]
        low, high, most = self.low, self.high, clean.size * (self.high - self.low + 1)
        if high > _LONG_NGRAM:                   # a run longer than the longest document is in none
            lengths = np.diff(np.flatnonzero(clean == DOCUMENT_END), prepend=-1)
            high = min(high, int(lengths.max(initial=1)))
            low = min(low, high + 1)
            most = int((lengths * np.minimum(lengths, max(high - low + 1, 1))).sum())
        return _scanned(scan_char_ngrams, clean, (low, high, self.in_words), buffers=buffers,
                        n_documents=len(texts), most=most)


@dataclass(frozen=True)
class TokenScan:
    """Tokens that a Python function finds in one text."""

    tokens_of: Callable[[str], list[str]]

    def __call__(self, texts: list[str], buffers: Buffers) -> ScannedBlock:
        """Number the tokens of a block of texts; needs no buffers."""
        number: dict[str, int] = {}
        ids: list[int] = []
        document_ends = []
        for text in texts:
            ids += [number.setdefault(token, len(number)) for token in self.tokens_of(text)]
            document_ends.append(len(ids))
        strings = Strings.of(list(number))
        return ScannedBlock(np.array(ids, np.int32), np.array(document_ends, np.int64), strings,
                            hashes_of(strings))


def long_tokens(block: ScannedBlock, limit: int = MAX_TOKEN_CHARS) -> tuple[int, int]:
    """How many tokens of a block are longer than ``limit`` characters, and the first document (of
    the block) that has one; (0, 0) without."""
    offsets, first, count = block.strings.offsets, len(block.document_ends), 0
    for entry in np.flatnonzero(np.diff(offsets) > limit):
        part = block.strings.arena[offsets[entry] : offsets[entry + 1]]
        if np.count_nonzero(part & 0xC0 != 0x80) > limit:
            at = int(np.argmax(block.ids == entry))
            first = min(first, int(np.searchsorted(block.document_ends, at, side="right")))
            count += 1
    return (count, first) if count else (0, 0)


# ------------------------------------------------------------------------------------- many blocks


def checked_threads(threads: int | None) -> int:
    """Number of threads: the setting, or all cores this process may use. Raises as the check."""
    return available_cores() if threads is None else check_threads(threads)


def _blocks(batches: Iterable[list], limit: int) -> Iterator[list]:
    block, size = [], 0
    for batch in batches:
        for first in range(0, len(batch), _CUT):
            part = batch[first : first + _CUT]
            block += part
            size += sum(map(len, part)) + len(part)
            if size >= limit:
                yield block
                block, size = [], 0
    if block:
        yield block


def scanned_blocks(batches: Iterable[list], work: Callable[[list], object], *, threads: int,
                   size: int = BLOCK_CHARACTERS) -> Iterator:
    """Apply ``work`` (a scan, or what begins with one) to blocks of texts and yield the results in
    order.

    ``batches`` are lists of texts, ``size`` the characters of a block. At most ``2 * threads + 2``
    blocks are in memory. An exception of the iterator or of ``work`` comes out as it is.
    """
    blocks = _blocks(batches, size)
    first = next(blocks, None)
    if first is None:
        return
    second = next(blocks, None) if threads > 1 else None
    if second is None:                           # one block or one thread: no pool
        yield work(first)
        del first
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="lessons-scan") as pool:
        pending = deque([pool.submit(work, first), pool.submit(work, second)])
        del first, second
        try:
            for block in blocks:
                pending.append(pool.submit(work, block))
                if len(pending) > 2 * threads:   # enough ahead that no thread waits for the caller
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for task in pending:
                task.cancel()
