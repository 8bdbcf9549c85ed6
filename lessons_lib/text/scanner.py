"""From texts to numbers, a block of about a million characters at a time, with as many threads as there are cores.

A scan turns a block of texts into its tokens' numbers; blocks come back in the order of the texts, so the result is the same for every number
of threads, and memory holds a few blocks, whatever the number of texts. `Corpus` and ``counts.BagOfWords`` both read texts through here.
"""

from __future__ import annotations

import threading
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core import available_cores, check_int, warn_data
from ..core.checks import MAX_TOKEN_CHARS
from . import fast_scan
from .characters import character_table
from .string_table import Strings

__all__ = ["FAST_PATTERNS", "Buffers", "CharacterScan", "Oddities", "ScannedBlock", "TokenScan", "WordScan", "checked_threads", "long_tokens",
           "scanned_blocks"]

BLOCK_CHARACTERS = 1 << 20             # larger blocks leave the processor's cache, smaller ones repeat more words
_LONG_NGRAM = 32                                 # characters; beyond, the room for n-grams is counted per document
_CUT = 64                                        # documents between two looks at a block's size
_END = bytearray([fast_scan.DOCUMENT_END])        # a bytearray, because loops compiled for writable arrays are compiled once
# What these patterns match are the longest runs of >= 1 or >= 2 word characters; `fast_scan.scan_words` finds the same runs.
FAST_PATTERNS = {pattern: chars for chars, body in ((1, r"\w+"), (2, r"\w\w+")) for flag in ("", "(?u)")
                 for pattern in (flag + body, rf"{flag}\b{body}\b")}


class ScannedBlock(NamedTuple):
    """The tokens of some documents: ``ids`` (the block's own numbers, in reading order), ``document_ends`` (into ids), and per number the
    token with its hash. ``ids`` may lie in a buffer that the next block of the same thread overwrites."""

    ids: np.ndarray
    document_ends: np.ndarray
    strings: Strings
    hashes: np.ndarray


class Buffers(threading.local):
    """Arrays that a thread uses again for each block of a call: fresh memory costs more than the loops that fill it."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def get(self, name: str, size: int, dtype: type) -> np.ndarray:
        """An array of this size with any content."""
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays[name] = np.empty(size * 5 // 4, dtype=dtype)
        return self._arrays[name][:size]


def checked_threads(threads: int | None) -> int:
    """Number of threads: the setting, or the cores this process may use. Raises as `check_int`."""
    return available_cores() if threads is None else check_int("threads", threads, low=1)


# ------------------------------------------------------------------------------------------------ one block


def _folded(texts: list[str], buffers: Buffers, *, lowercase: bool, form: str | None) -> np.ndarray:
    """A block's bytes after normalising and lower-casing: UTF-8, each text ended by 0xFF."""
    if form is not None:
        texts = [text if text.isascii() else unicodedata.normalize(form, text) for text in texts]
    encoded = [*map(str.encode, texts), b""]
    if not lowercase:
        return np.frombuffer(_END.join(encoded), dtype=np.uint8)
    for_python = buffers.get("for_python", len(texts), np.int64)
    while True:
        data = np.frombuffer(_END.join(encoded), dtype=np.uint8)
        out = buffers.get("folded", data.size * 3 // 2 + 1, np.uint8)         # a lower-case form may need three bytes instead of two
        n, n_for_python = fast_scan.fold(data, out, character_table(True), for_python)
        if n_for_python == 0:
            return out[:n]
        for document in for_python[:n_for_python].tolist():
            encoded[document] = texts[document].lower().encode()


def _scanned(scan: Callable[..., tuple[int, int]], text: np.ndarray, settings: tuple, *, n_documents: int, room: int,
             buffers: Buffers) -> ScannedBlock:
    """Run a compiled scan with a hash table that is large enough: first for text as it mostly is, then four times larger."""
    ids, document_ends = buffers.get("ids", room, np.int32), np.empty(n_documents, np.int64)
    starts, ends, hashes = buffers.get("starts", room, np.int64), buffers.get("ends", room, np.int64), buffers.get("hashes", room, np.uint64)
    size, n = 1 << max(8, (text.size // 8).bit_length()), -1
    while n < 0:
        slots = buffers.get("slots", size, np.uint64)
        slots[:] = 0
        n_ids, n = scan(text, *settings, slots, ids, document_ends, starts, ends, hashes)
        size *= 4
    return ScannedBlock(ids[:n_ids], document_ends, Strings.cut(text, starts[:n], ends[:n]), hashes[:n].copy())


@dataclass(frozen=True)
class WordScan:
    """Words of at least ``min_chars`` word characters. ``form`` is a Unicode normal form or None."""

    min_chars: int
    lowercase: bool
    form: str | None = None

    def __call__(self, texts: list[str], buffers: Buffers) -> ScannedBlock:
        """Number the words of a block of texts."""
        text = _folded(texts, buffers, lowercase=self.lowercase, form=self.form)
        settings = (character_table(self.lowercase), self.min_chars)
        room = text.size // (self.min_chars + 1) + 1
        return _scanned(fast_scan.scan_words, text, settings, n_documents=len(texts), room=room, buffers=buffers)


@dataclass(frozen=True)
class CharacterScan:
    """Runs of ``low`` to ``high`` characters; with ``in_words`` inside words padded by one space, else across the whole text."""

    low: int
    high: int
    in_words: bool
    lowercase: bool
    form: str | None = None

    def __call__(self, texts: list[str], buffers: Buffers) -> ScannedBlock:
        """Number the character n-grams of a block of texts."""
        text = _folded(texts, buffers, lowercase=self.lowercase, form=self.form)
        # a word of one byte that ends its text comes with its end and becomes five: space, word, space, two ends
        clean = buffers.get("clean", 2 * text.size + len(texts), np.uint8)
        clean = clean[: fast_scan.clean_characters(text, character_table(self.lowercase), clean, self.in_words)]
        low, high, room = self.low, self.high, clean.size * (self.high - self.low + 1)
        if high > _LONG_NGRAM:                   # a run longer than the longest document is in none
            lengths = np.diff(np.flatnonzero(clean == fast_scan.DOCUMENT_END), prepend=-1)
            high = min(high, int(lengths.max(initial=1)))
            low = min(low, high + 1)
            room = int((lengths * np.minimum(lengths, max(high - low + 1, 1))).sum())
        settings = (low, high, self.in_words)
        return _scanned(fast_scan.scan_char_ngrams, clean, settings, n_documents=len(texts), room=room, buffers=buffers)


@dataclass(frozen=True)
class TokenScan:
    """Tokens that a Python function finds in one document (a text, or whatever the function takes)."""

    tokens_of: Callable[[object], list[str]]

    def __call__(self, documents: list, buffers: Buffers) -> ScannedBlock:
        """Number the tokens of a block of documents; needs no buffers."""
        number: dict[str, int] = {}
        ids: list[int] = []
        document_ends = []
        for document in documents:
            ids += [number.setdefault(token, len(number)) for token in self.tokens_of(document)]
            document_ends.append(len(ids))
        strings = Strings.of(list(number))
        return ScannedBlock(np.array(ids, np.int32), np.array(document_ends, np.int64), strings, strings.hashes())


# ------------------------------------------------------------------------------------------------ many blocks


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


def scanned_blocks(batches: Iterable[list], work: Callable[[list], object], *, threads: int, size: int = BLOCK_CHARACTERS) -> Iterator:
    """Apply ``work`` to blocks of documents and yield the results in order.

    Parameters: batches, lists of documents that have a length each; work, a scan or something that begins with one; threads; size, characters
    (or tokens) per block. At most ``2 * threads + 2`` blocks are in memory. An exception of the iterator or of ``work`` comes out as it is.
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
                if len(pending) > 2 * threads:           # enough ahead that no thread waits for the caller
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for task in pending:
                task.cancel()


# ------------------------------------------------------------------------------------------------ tokens that are no words


def long_tokens(block: ScannedBlock, limit: int = MAX_TOKEN_CHARS) -> tuple[int, int]:
    """How many tokens of a block are longer than ``limit`` characters, and the first document (of the block) that has one; (0, 0) without."""
    offsets, first = block.strings.offsets, len(block.document_ends)
    lengths = np.diff(offsets)
    if lengths.max(initial=0) <= limit:
        return 0, 0
    count = 0
    for entry in np.flatnonzero(lengths > limit):
        part = block.strings.arena[offsets[entry] : offsets[entry + 1]]
        if np.count_nonzero(part & 0xC0 != 0x80) > limit:
            at = int(np.argmax(block.ids == entry))
            first, count = min(first, int(np.searchsorted(block.document_ends, at, side="right"))), count + 1
    return (count, first) if count else (0, 0)


class Oddities:
    """What is allowed but rarely meant, summed over the blocks of one call: documents without a token, tokens too long to be words."""

    def __init__(self) -> None:
        self.n_documents, self.n_empty, self.first_empty = 0, 0, -1
        self._n_long, self._first_long = 0, -1

    def look(self, ends: np.ndarray, long: tuple[int, int]) -> None:
        """Note one block: where its documents end in its tokens (or cells), and the answer of `long_tokens`."""
        empty = np.flatnonzero(np.diff(ends, prepend=0) == 0)
        if len(empty) and not self.n_empty:
            self.first_empty = self.n_documents + int(empty[0])
        if long[0] and not self._n_long:
            self._first_long = self.n_documents + long[1]
        self.n_empty, self._n_long, self.n_documents = self.n_empty + len(empty), self._n_long + long[0], self.n_documents + len(ends)

    def warn(self, what: str, outcome: str, *, stacklevel: int = 4) -> None:
        """Emit at most one DataWarning per kind. ``what`` is missing in a document ("token"), which leads to ``outcome``."""
        if self.n_empty:
            warn_data(f"{self.n_empty} of {self.n_documents} documents have no {what} (first: documents[{self.first_empty}]); {outcome}",
                      stacklevel=stacklevel)
        if self._n_long:
            warn_data(f"{self._n_long} token(s) have more than max_token_chars={MAX_TOKEN_CHARS} characters, first in "
                      f"documents[{self._first_long}]; they are kept whole. Is this text, and does it have spaces?", stacklevel=stacklevel)
