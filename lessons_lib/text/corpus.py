"""A corpus made of texts: they are read once, cut into tokens, and never kept.

`TokenCorpus` holds the numbers; here is what makes them from texts and text files, by the scanner
that ``counts`` and ``sentences`` use too. Taught in lesson ``01_one_hot``.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ..core import checked_batches, checked_token_lists, existing_path, shown
from .scanner import (Buffers, ScannedBlock, TokenScan, checked_threads, long_tokens,
                      scanned_blocks)
from .string_table import StringTable
from .token_corpus import CollectedIds, TokenCorpus
from .tokenise import Tokenizer
from .vocabulary import checked_limits

__all__ = ["Corpus", "line_batches", "scan_of"]

_CHARACTERS_AT_ONCE = 1 << 20
_Scan = Callable[[list, Buffers], ScannedBlock]


class Corpus(TokenCorpus):
    """Token ids of documents; ``corpus[i]`` and iteration give one int32 array per document.

    Made by `from_texts`, `from_tokens`, `from_file` or `load`. Tokens outside the vocabulary are
    dropped (``oov`` is "drop"); documents never are.

    Parameters
    ----------
    vocabulary : Vocabulary
    token_ids : int32 array, one axis
    offsets : int64 array of n_documents + 1
        Document i is ``token_ids[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    TypeError, ValueError
        For arrays that hold no whole numbers, and offsets that do not fit.
    """

    @staticmethod
    def from_texts(texts: Iterable[str], *, tokenizer: Tokenizer | None = None, min_count: int = 1,
                   max_size: int | None = None, folder: str | os.PathLike | None = None,
                   threads: int | None = None) -> Corpus:
        """Cut texts into tokens and number them.

        Parameters
        ----------
        texts : iterable of str, read once
        tokenizer : Tokenizer, or function from str to a list of str; default ``Tokenizer()``
        min_count : int >= 1, default 1
            Drop tokens that occur less often.
        max_size : int >= 1 or None, default None
            Keep this many tokens, the most frequent ones.
        folder : path or None, default None
            Where to lay the corpus on disk.
        threads : int >= 1 or None, default None
            None takes all cores; the result is the same.

        Returns
        -------
        Corpus

        Raises
        ------
        TypeError, ValueError
            For a setting, a text that is none, no documents and no tokens.
        OSError
            Where the folder cannot be written.
        """
        batches = checked_batches(texts, name="texts")
        return _build(batches, scan_of(tokenizer), min_count, max_size, folder, threads)

    @staticmethod
    def from_file(path: str | os.PathLike, *, encoding: str = "utf-8",
                  tokenizer: Tokenizer | None = None, min_count: int = 1,
                  max_size: int | None = None, folder: str | os.PathLike | None = None,
                  threads: int | None = None) -> Corpus:
        """Number the lines of a text file; each line is a document, an empty one too.

        Parameters
        ----------
        path : text file
        encoding : str, default "utf-8"
        tokenizer, min_count, max_size, folder, threads
            As in `from_texts`.

        Returns
        -------
        Corpus

        Raises
        ------
        FileNotFoundError
        ValueError
            With path, line and byte offset where the file is not in this encoding.
        TypeError, OSError
            As `from_texts`.
        """

        def lines() -> Iterator[list[str]]:
            n = 0
            for batch in line_batches(path, encoding=encoding):
                n += len(batch)
                yield batch
            if n == 0:
                raise ValueError(f"{path} holds 0 documents; expected >= 1 line")

        return _build(lines(), scan_of(tokenizer), min_count, max_size, folder, threads)


def scan_of(tokenizer: Any) -> _Scan:
    """What cuts a block of texts into numbered tokens: None is `Tokenizer()`, a function is asked
    for each text. Raises TypeError for others."""
    if tokenizer is None or isinstance(tokenizer, Tokenizer):
        return (tokenizer or Tokenizer()).scan()
    if not callable(tokenizer):
        raise TypeError(f"tokenizer={shown(tokenizer)} is {type(tokenizer).__name__}; expected a "
                        "Tokenizer or a function from str to a list of str")

    def tokens_of(text: str) -> list[str]:
        tokens, call = tokenizer(text), f"tokenizer({shown(text, 30)})"
        unordered = isinstance(tokens, (str, bytes, Mapping, Set))
        if unordered or not isinstance(tokens, Iterable):
            raise TypeError(f"{call} gave {shown(tokens)}, {type(tokens).__name__}; expected a "
                            "list of str")
        return next(checked_token_lists([tokens], name=f"{call}, tokens"))

    return TokenScan(tokens_of)


def _build(batches: Iterable[list], scan: _Scan, min_count: int, max_size: int | None,
           folder: str | os.PathLike | None, threads: int | None) -> Corpus:
    """One pass over the texts, and the corpus of the tokens that are frequent enough."""
    min_count, max_size = checked_limits(min_count, max_size)
    threads = checked_threads(threads)
    table, buffers = StringTable(), Buffers()

    def work(texts: list) -> tuple[ScannedBlock, tuple[int, int]]:
        block = scan(texts, buffers)
        return block._replace(ids=block.ids.copy()), long_tokens(block)

    with closing(CollectedIds(folder)) as collected:
        threads = 1 if isinstance(scan, TokenScan) else threads
        for block, long in scanned_blocks(batches, work, threads=threads):
            number = table.add(block.strings, block.hashes)
            collected.append(number[block.ids].astype(np.int32), block.document_ends, long)
        return collected.corpus(Corpus, table.strings, min_count, max_size, stacklevel=6)


# ----------------------------------------------------------------------------------- files of text


def line_batches(path: str | os.PathLike, *, encoding: str = "utf-8") -> Iterator[list[str]]:
    """Yield the lines of a file in lists, without line ends (Windows or Unix) and without a byte
    order mark; only "\\n" ends a line, in every encoding.

    Raises, before the first list, FileNotFoundError (with the nearest name), ValueError (a folder,
    pipe or device; an unknown encoding), and ValueError for a byte that is not in the encoding:
    path, line, and for UTF-8 the byte offset.
    """
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)                      # rot13 is found, too, and is no encoding of text
    except (LookupError, TypeError, ValueError):
        raise ValueError(f"encoding={encoding!r} is unknown; expected a name such as 'utf-8' or "
                         "'latin-1'") from None
    file = existing_path(path)
    if not file.is_file():
        kind = "folder" if file.is_dir() else "pipe" if file.is_fifo() else "device or socket"
        raise ValueError(f"{file} is a {kind}; expected a text file with one document per line")
    return _lines(file, "utf-8-sig" if name == "utf-8" else encoding, name.startswith("utf-8"))


def _lines(path: Path, encoding: str, is_utf8: bool) -> Iterator[list[str]]:
    n_lines = 0
    with open(path, encoding=encoding, newline="\n") as file:
        while True:
            try:
                lines = file.readlines(_CHARACTERS_AT_ONCE)
            except UnicodeError as error:
                if is_utf8:
                    raise _not_utf8(path) from None
                raise ValueError(f"{path} is not {encoding} (after line {n_lines}: {error}); name "
                                 "the file's encoding: encoding=") from None
            if not lines:
                return
            yield [line.removesuffix("\n").removesuffix("\r") for line in lines]
            n_lines += len(lines)


def _not_utf8(path: Path) -> ValueError:
    """The error for the first line that is not UTF-8."""
    offset = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                bad = line[error.start : error.end].hex(" ")
                return ValueError(f"{path}, line {number}, byte {offset + error.start}: {bad} is "
                                  f"not UTF-8 ({error.reason}); name the file's encoding, such as "
                                  "encoding='latin-1'")
            offset += len(line)
    return ValueError(f"{path} changed while it was read, and was not UTF-8 for a moment")
