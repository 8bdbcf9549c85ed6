"""A corpus: every token of every document as a number, in one long array, read from the texts in a single pass.

The numbers (int32) and the places where documents begin (int64) lie in memory or, with ``folder=``, in files that are mapped into memory, so
that a corpus may be larger than the machine's memory. Raw texts are never kept. Taught in lesson ``01_one_hot``; all counting starts here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..core import DamagedFile, check_int, checked_batches, checked_token_lists, load_files, save_files
from ..core.checks import shown
from .growing_array import GrowingArray, GrowingCounts
from .lines import line_batches
from .scanner import Buffers, Oddities, ScannedBlock, TokenScan, checked_threads, long_tokens, scanned_blocks
from .string_table import Strings, StringTable
from .tokenise import Tokenizer
from .vocabulary import Vocabulary, checked_limits, chosen_tokens

__all__ = ["Corpus", "scan_of"]

_AT_ONCE = 1 << 20
_IDS, _LENGTHS = np.dtype("<i4"), np.dtype("<i8")
_Writer = Callable[[IO[bytes]], object]
_Scan = Callable[[list, Buffers], ScannedBlock]


class Corpus:
    """Token ids of documents; ``corpus[i]`` and iteration give one int32 array per document.

    Parameters: vocabulary; token_ids, int32, one axis; offsets, int64, n_documents + 1: document i is ``token_ids[offsets[i]:offsets[i + 1]]``.
    Made by `from_texts`, `from_tokens`, `from_file` or `load`. Tokens outside the vocabulary are dropped (``oov`` = "drop"); documents never
    are. Raises ValueError for offsets that do not fit.
    """

    oov = "drop"

    def __init__(self, vocabulary: Vocabulary, token_ids: np.ndarray, offsets: np.ndarray):
        self.vocabulary = vocabulary
        self.token_ids, self.offsets = _whole_numbers("token_ids", token_ids, np.int32), _whole_numbers("offsets", offsets, np.int64)
        if len(self.offsets) < 1 or self.offsets[0] != 0 or self.offsets[-1] != len(self.token_ids):
            raise ValueError(f"offsets must run from 0 to the {len(self.token_ids)} token ids; got {shown(offsets)}")
        for first in range(0, len(self), _AT_ONCE):
            part = self.offsets[first : first + _AT_ONCE + 1]
            if (part[1:] < part[:-1]).any():
                at = first + int(np.argmax(part[1:] < part[:-1]))
                raise ValueError(f"offsets must not fall; got {self.offsets[at]} and then {self.offsets[at + 1]} at offsets[{at}]")

    # ---------------------------------------------------------------------------------------- made from

    @staticmethod
    def from_texts(texts: Iterable[str], *, tokenizer: Tokenizer | None = None, min_count: int = 1, max_size: int | None = None,
                   folder: str | os.PathLike | None = None, threads: int | None = None) -> Corpus:
        """Cut texts into tokens and number them.

        Parameters: texts, any iterable of str, read once; tokenizer, default `Tokenizer()`, or a function from str to a list of str; min_count,
        drop tokens that occur less often; max_size, keep the most frequent ones; folder, where to lay the corpus on disk; threads, default
        all cores, the result is the same. Raises TypeError, ValueError (settings, items, no documents, no tokens), OSError (folder).
        """
        return _build(checked_batches(texts, name="texts"), scan_of(tokenizer), min_count=min_count, max_size=max_size, folder=folder,
                      threads=threads)

    @staticmethod
    def from_tokens(documents: Iterable[Iterable[str]], *, min_count: int = 1, max_size: int | None = None,
                    folder: str | os.PathLike | None = None) -> Corpus:
        """Number documents that are lists of tokens already; any non-empty str is a token. Parameters and errors as `from_texts`."""
        batches = ([tokens] for tokens in checked_token_lists(_ordered(documents)))
        return _build(batches, TokenScan(list), min_count=min_count, max_size=max_size, folder=folder, threads=1)

    @staticmethod
    def from_file(path: str | os.PathLike, *, encoding: str = "utf-8", tokenizer: Tokenizer | None = None, min_count: int = 1,
                  max_size: int | None = None, folder: str | os.PathLike | None = None, threads: int | None = None) -> Corpus:
        """Number the lines of a text file; each line is a document, an empty one too.

        Parameters: path; encoding; the others as in `from_texts`. Raises as `from_texts`; FileNotFoundError; ValueError with path, line and
        byte offset where the file is not in this encoding.
        """
        return _build(_checked_lines(path, encoding), scan_of(tokenizer), min_count=min_count, max_size=max_size, folder=folder,
                      threads=threads)

    # ---------------------------------------------------------------------------------------- documents

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        i = check_int("document", i, low=-len(self), high=len(self) - 1) if len(self) else _no_document(i)
        i %= len(self)
        return self.token_ids[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        for first in range(0, len(self), _AT_ONCE):
            ends = self.offsets[first : first + _AT_ONCE + 1].tolist()
            for a, b in pairwise(ends):
                yield self.token_ids[a:b]

    def tokens(self, i: int) -> list[str]:
        """The tokens of document i, those in the vocabulary. Raises TypeError or ValueError for an index that is not there."""
        return [self.vocabulary.tokens[id] for id in self[i].tolist()]

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all documents."""
        return len(self.token_ids)

    def __repr__(self) -> str:
        return f"Corpus of {len(self):,} documents, {self.n_tokens:,} tokens, {len(self.vocabulary):,} of them distinct"

    # ---------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the corpus into a folder; an older one there stays whole until the new one is. Raises OSError."""
        _write(path, self.vocabulary, lambda file: _write_array(file, self.token_ids, _IDS), lambda file: _write_array(file, self.offsets, _LENGTHS))

    @classmethod
    def load(cls, path: str | os.PathLike) -> Corpus:
        """Open a saved corpus; its arrays are mapped from the files, read-only. Raises FileNotFoundError, DamagedFile, ValueError (newer format).

        Every byte is checked against its sha256 (about 1 s per GB).
        """
        _, files = load_files(path, cls.__name__)
        try:
            strings = Strings.checked(np.fromfile(files["tokens.utf8"], dtype=np.uint8),
                                      np.fromfile(files["token_offsets.i64"], dtype=_LENGTHS).astype(np.int64), name="token_offsets.i64")
            vocabulary = Vocabulary(strings.to_list(), np.fromfile(files["counts.i64"], dtype=_LENGTHS))
            corpus = cls(vocabulary, _mapped(files["token_ids.i32"], _IDS), _mapped(files["offsets.i64"], _LENGTHS))
            _check_ids(corpus.token_ids, len(vocabulary))
        except (KeyError, ValueError, TypeError) as error:
            raise DamagedFile(f"{path} holds no corpus that can be read: {error}. Save it again") from error
        return corpus


def _whole_numbers(name: str, values: Any, dtype: type) -> np.ndarray:
    """Numbers along one axis in this dtype; an array that has it already is not copied."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise TypeError(f"{name} has dtype {array.dtype} and shape {array.shape}; expected whole numbers along one axis")
    return array if array.dtype == dtype else array.astype(dtype)


def _no_document(i: object) -> int:
    raise ValueError(f"document={shown(i)} is out of range; this corpus has 0 documents")


def _check_ids(token_ids: np.ndarray, n_words: int) -> None:
    for first in range(0, len(token_ids), _AT_ONCE):
        part = token_ids[first : first + _AT_ONCE]
        if int(part.min()) < 0 or int(part.max()) >= n_words:
            raise ValueError(f"token_ids.i32 holds ids from {int(part.min())} to {int(part.max())}; expected ids in [0, {n_words - 1}]")


def _mapped(path: Path, dtype: np.dtype) -> np.ndarray:
    return np.memmap(path, dtype=dtype, mode="r") if path.stat().st_size else np.empty(0, dtype=dtype)


def _write_array(file: IO[bytes], array: np.ndarray, dtype: np.dtype) -> None:
    for first in range(0, len(array), _AT_ONCE):
        file.write(np.ascontiguousarray(array[first : first + _AT_ONCE], dtype=dtype).data)


def _write(path: str | os.PathLike, vocabulary: Vocabulary, write_ids: _Writer, write_offsets: _Writer) -> None:
    strings = Strings.of(vocabulary.tokens)
    writers = {"token_ids.i32": write_ids, "offsets.i64": write_offsets,
               "tokens.utf8": lambda file: file.write(strings.arena.data),
               "token_offsets.i64": lambda file: _write_array(file, strings.offsets, _LENGTHS),
               "counts.i64": lambda file: _write_array(file, vocabulary.counts, _LENGTHS)}
    save_files(path, Corpus.__name__, writers, {"oov": Corpus.oov})


# ------------------------------------------------------------------------------------------------ building


def scan_of(tokenizer: Any) -> _Scan:
    """What cuts a block of texts into numbered tokens: None is `Tokenizer()`, a function is asked for each text. Raises TypeError for others."""
    if tokenizer is None:
        return Tokenizer().scan()
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.scan()
    if not callable(tokenizer):
        raise TypeError(f"tokenizer={shown(tokenizer)} is {type(tokenizer).__name__}; expected a Tokenizer or a function from str to a list of str")

    def tokens_of(text: str) -> list[str]:
        tokens = tokenizer(text)
        if isinstance(tokens, (str, bytes, Mapping, Set)) or not isinstance(tokens, Iterable):
            raise TypeError(f"tokenizer({shown(text, 30)}) gave {shown(tokens)}, {type(tokens).__name__}; expected a list of str")
        return next(checked_token_lists([tokens], name=f"tokenizer({shown(text, 30)}), tokens"))

    return TokenScan(tokens_of)


def _ordered(documents: Any) -> Any:
    """The same documents; a set or a dict among them is refused when its turn comes. A wrong container is left to `checked_token_lists`."""
    if isinstance(documents, (str, bytes, Mapping, Set)) or not isinstance(documents, Iterable) or getattr(documents, "ndim", 1) != 1:
        return documents

    def checked() -> Iterator:
        for i, tokens in enumerate(documents):
            if isinstance(tokens, (Set, Mapping)):
                raise TypeError(f"documents[{i}]={shown(tokens)} is {type(tokens).__name__}, which has no order; expected a list of tokens")
            yield tokens

    return checked()


def _checked_lines(path: str | os.PathLike, encoding: str) -> Iterator[list[str]]:
    n = 0
    for lines in line_batches(path, encoding=encoding):
        n += len(lines)
        yield lines
    if n == 0:
        raise ValueError(f"{path} holds 0 documents; expected >= 1 line")


class _MemoryIds:
    """Token ids on their way to a corpus in memory."""

    def __init__(self) -> None:
        self._array = GrowingArray(np.int32)

    def append(self, ids: np.ndarray) -> None:
        self._array.append(ids)

    def corpus(self, vocabulary: Vocabulary, new_id: np.ndarray, ends: np.ndarray) -> Corpus:
        array, n = self._array.finish(), 0
        parts = (array[first : first + _AT_ONCE] for first in range(0, len(array), _AT_ONCE))
        for ids in _renumbered(parts, new_id, ends):
            array[n : n + len(ids)] = ids            # never beyond the part that was read
            n += len(ids)
        return Corpus(vocabulary, self._array.finish(n), np.concatenate([[0], ends]))

    def close(self) -> None:
        """Nothing to close."""


class _FileIds:
    """Token ids on their way to a corpus on disk, in a nameless file beside it."""

    def __init__(self, folder: str | os.PathLike):
        Path(folder).mkdir(parents=True, exist_ok=True)
        self._folder, self._file = folder, tempfile.TemporaryFile(dir=folder, prefix=".tmp-")  # noqa: SIM115 (closed with the object)

    def append(self, ids: np.ndarray) -> None:
        self._file.write(ids.astype(np.int32, copy=False).data)

    def corpus(self, vocabulary: Vocabulary, new_id: np.ndarray, ends: np.ndarray) -> Corpus:
        def write_ids(file: IO[bytes]) -> None:
            for ids in _renumbered(self._parts(), new_id, ends):
                file.write(ids.data)

        _write(self._folder, vocabulary, write_ids, lambda file: _write_array(file, np.concatenate([[0], ends]), _LENGTHS))
        return Corpus.load(self._folder)

    def _parts(self) -> Iterator[np.ndarray]:
        self._file.seek(0)
        while part := self._file.read(4 * _AT_ONCE):
            yield np.frombuffer(part, dtype=np.int32)

    def close(self) -> None:
        self._file.close()


def _renumbered(parts: Iterable[np.ndarray], new_id: np.ndarray, ends: np.ndarray) -> Iterator[np.ndarray]:
    """Yield ids in their new numbering without those that get -1, and correct the documents' ends in place."""
    first, kept, old_ends = 0, 0, ends.copy()
    for part in parts:
        ids = new_id[part]
        before = np.concatenate([[0], np.cumsum(ids >= 0)])
        inside = slice(*np.searchsorted(old_ends, [first, first + len(part)], side="right"))
        ends[inside] = kept + before[old_ends[inside] - first]
        first, kept = first + len(part), kept + int(before[-1])
        yield ids[ids >= 0]


def _build(batches: Iterable[list], scan: _Scan, *, min_count: int, max_size: int | None,
           folder: str | os.PathLike | None, threads: int | None) -> Corpus:
    min_count, max_size = checked_limits(min_count, max_size)
    n_threads = checked_threads(threads)
    with closing(_MemoryIds() if folder is None else _FileIds(folder)) as ids:
        strings, counts, ends = _read(batches, scan, ids, 1 if isinstance(scan, TokenScan) else n_threads)
        chosen = chosen_tokens(strings, counts, min_count=min_count, max_size=max_size)
        new_id = np.full(len(counts), -1, dtype=np.int32)
        new_id[chosen] = np.arange(len(chosen))
        return ids.corpus(Vocabulary(strings.to_list(chosen), counts[chosen]), new_id, ends)


def _read(batches: Iterable[list], scan: _Scan, ids: _MemoryIds | _FileIds, threads: int) -> tuple[Strings, np.ndarray, np.ndarray]:
    """One pass over the documents. Returns the distinct tokens, their counts, and where documents end."""
    n_ids = 0
    table, counts, ends, oddities, buffers = StringTable(), GrowingCounts(), GrowingArray(np.int64), Oddities(), Buffers()

    def work(documents: list) -> tuple[ScannedBlock, tuple[int, int]]:
        block = scan(documents, buffers)
        return block._replace(ids=block.ids.copy()), long_tokens(block)

    for block, long in scanned_blocks(batches, work, threads=threads):
        number = table.add(block.strings, block.hashes)
        counts.add(number, np.bincount(block.ids, minlength=len(number)))
        ends.append(block.document_ends + n_ids)
        ids.append(number[block.ids].astype(np.int32))
        n_ids += len(block.ids)
        oddities.look(block.document_ends, long)
    if not len(table):
        raise ValueError(f"documents: {oddities.n_documents} documents hold 0 tokens; expected >= 1 token")
    oddities.warn("token", "they stay, empty", stacklevel=6)
    return table.strings, counts.total(len(table)), ends.finish()
