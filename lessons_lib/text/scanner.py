"""From texts to numbers, a block of about a million characters at a time, with as many threads as there are cores.

A scan turns a block of texts into its tokens' numbers; blocks come back in the order of the texts, so the result is the same for every number
of threads, and memory holds a few blocks, whatever the number of texts. `Corpus` and ``counts.BagOfWords`` both read texts through here.
"""

from __future__ import annotations

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
from .characters import character_table, lower_exceptions
from .string_table import Strings

__all__ = ["FAST_PATTERNS", "CharacterScan", "LongTokens", "ScannedBlock", "TokenScan", "WordScan", "checked_threads", "scanned_blocks"]

BLOCK_CHARACTERS = 1 << 20
_CUT = 64                                        # documents between two looks at a block's size
# What these patterns match are the longest runs of >= 1 or >= 2 word characters; `fast_scan.scan_words` finds the same runs.
FAST_PATTERNS = {pattern: chars for chars, body in ((1, r"\w+"), (2, r"\w\w+")) for flag in ("", "(?u)")
                 for pattern in (flag + body, rf"{flag}\b{body}\b")}


class ScannedBlock(NamedTuple):
    """The tokens of some documents: ``ids`` (the block's own numbers, in reading order), ``document_ends`` (into ids), and per number the
    slice ``text[starts:ends]`` in UTF-8 with its hash."""

    ids: np.ndarray
    document_ends: np.ndarray
    text: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    hashes: np.ndarray


def checked_threads(threads: int | None) -> int:
    """Number of threads: the setting, or the cores this process may use. Raises as `check_int`."""
    return available_cores() if threads is None else check_int("threads", threads, low=1)


# ------------------------------------------------------------------------------------------------ one block


def _bytes_of(texts: list[str], joined: str) -> np.ndarray:
    """UTF-8 of the texts, each ended by 0xFF. ``joined`` is the texts, each ended by NUL."""
    if joined.count("\0") == len(texts):         # no text holds a NUL; encoding all at once is ten times faster than one by one
        data = np.frombuffer(bytearray(joined.encode()), dtype=np.uint8)
        data[data == 0] = fast_scan.DOCUMENT_END
        return data
    return np.frombuffer(bytearray(b"".join([text.encode() + b"\xff" for text in texts])), dtype=np.uint8)


def _folded(texts: list[str], *, lowercase: bool, form: str | None) -> np.ndarray:
    """A block's bytes after normalising and lower-casing."""
    if form is not None:
        texts = [text if text.isascii() else unicodedata.normalize(form, text) for text in texts]
    joined = "\0".join([*texts, ""])
    if not lowercase:
        return _bytes_of(texts, joined)
    exceptions = lower_exceptions()
    if any(c in joined for c in exceptions):     # characters that the table cannot map one by one: Python lower-cases their texts
        texts = [text if text.isascii() or not any(c in text for c in exceptions) else text.lower() for text in texts]
        joined = "\0".join([*texts, ""])
    data = _bytes_of(texts, joined)
    out = np.empty(data.size * 3 // 2 + 1, dtype=np.uint8)         # a lower-case form may need three bytes instead of two
    return out[: fast_scan.fold(data, out, character_table(True))]


def _scanned(scan: Callable[..., tuple[int, int]], text: np.ndarray, settings: tuple, n_documents: int, room: int) -> ScannedBlock:
    """Run a compiled scan with a hash table that is large enough: first for text as it mostly is, then four times larger."""
    ids, document_ends = np.empty(room, np.int32), np.empty(n_documents, np.int64)
    starts, ends, hashes = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint64)
    size = 1 << max(8, (text.size // 8).bit_length())
    while True:
        n_ids, n = scan(text, *settings, np.zeros(size, np.uint64), ids, document_ends, starts, ends, hashes)
        if n >= 0:
            return ScannedBlock(ids[:n_ids], document_ends, text, starts[:n], ends[:n], hashes[:n])
        size *= 4


@dataclass(frozen=True)
class WordScan:
    """Words of at least ``min_chars`` word characters. ``form`` is a Unicode normal form or None."""

    min_chars: int
    lowercase: bool
    form: str | None = None

    def __call__(self, texts: list[str]) -> ScannedBlock:
        """Number the words of a block of texts."""
        text = _folded(texts, lowercase=self.lowercase, form=self.form)
        settings = (character_table(self.lowercase), self.min_chars)
        return _scanned(fast_scan.scan_words, text, settings, len(texts), text.size // (self.min_chars + 1) + 1)


@dataclass(frozen=True)
class CharacterScan:
    """Runs of ``low`` to ``high`` characters; with ``in_words`` inside words padded by one space, else across the whole text."""

    low: int
    high: int
    in_words: bool
    lowercase: bool
    form: str | None = None

    def __call__(self, texts: list[str]) -> ScannedBlock:
        """Number the character n-grams of a block of texts."""
        text = _folded(texts, lowercase=self.lowercase, form=self.form)
        clean = np.empty(2 * text.size + 1, dtype=np.uint8)
        clean = clean[: fast_scan.clean_characters(text, character_table(self.lowercase), clean, self.in_words)]
        room = clean.size * (self.high - self.low + 1)
        return _scanned(fast_scan.scan_char_ngrams, clean, (self.low, self.high, self.in_words), len(texts), room)


@dataclass(frozen=True)
class TokenScan:
    """Tokens that a Python function finds in one document (a text, or whatever the function takes)."""

    tokens_of: Callable[[object], list[str]]

    def __call__(self, documents: list) -> ScannedBlock:
        """Number the tokens of a block of documents."""
        number: dict[str, int] = {}
        ids: list[int] = []
        document_ends = []
        for document in documents:
            ids += [number.setdefault(token, len(number)) for token in self.tokens_of(document)]
            document_ends.append(len(ids))
        strings = Strings.of(list(number))
        return ScannedBlock(np.array(ids, np.int32), np.array(document_ends, np.int64), strings.arena, strings.offsets[:-1],
                            strings.offsets[1:], strings.hashes())


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
    (or tokens) per block. At most ``threads + 1`` blocks are in memory. An exception of the iterator or of ``work`` comes out as it is.
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
                if len(pending) > threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for task in pending:
                task.cancel()


class LongTokens:
    """Counts tokens that are longer than any word, over the blocks of one call, and warns once."""

    def __init__(self, limit: int = MAX_TOKEN_CHARS):
        self.limit, self.count, self.first = limit, 0, -1

    def look(self, block: ScannedBlock, first_document: int) -> None:
        """Note the long tokens of a block whose first document has this index."""
        for entry in np.flatnonzero(block.ends - block.starts > self.limit):
            part = block.text[block.starts[entry] : block.ends[entry]]
            if np.count_nonzero(part & 0xC0 != 0x80) > self.limit:
                at = int(np.argmax(block.ids == entry))
                document = first_document + int(np.searchsorted(block.document_ends, at, side="right"))
                self.first = document if self.count == 0 else min(self.first, document)
                self.count += 1

    def warn(self) -> None:
        """Emit one DataWarning when there was any."""
        if self.count:
            warn_data(f"{self.count} token(s) have more than max_token_chars={self.limit} characters, first in documents[{self.first}]; they are "
                      "kept whole. Is this text, and does it have spaces?")
