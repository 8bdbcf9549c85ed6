"""Every token of every document as a number: what the methods of the course count and learn from.

The ids (int32) and the offsets of the documents (int64) lie in memory or, with ``folder=``, in
files that are mapped into memory, so that a corpus may be larger than the machine's memory. This
file knows tokens only; `corpus` adds the cutting of texts. Taught in lesson ``01_one_hot``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import closing
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from ..core import (DamagedFile, check_int, checked_path, checked_token_lists, load_files,
                    save_files, shown)
from ..core.files import writing
from ..core.documents import MAX_TOKEN_CHARS
from .growing_array import GrowingArray, Oddities
from .strings import Strings
from .vocabulary import Vocabulary, checked_limits, chosen_tokens

__all__ = ["CollectedIds", "TokenCorpus"]

_AT_ONCE, _DOCUMENTS_AT_ONCE = 1 << 20, 256
_IDS, _LENGTHS = np.dtype("<i4"), np.dtype("<i8")


class TokenCorpus:
    """Token ids of documents by a vocabulary. Its public class is `Corpus`, which says what the
    arguments are; what has no texts to cut needs only this one."""

    oov = "drop"

    def __init__(self, vocabulary: Vocabulary, token_ids: np.ndarray, offsets: np.ndarray):
        self.vocabulary = vocabulary
        self.token_ids = _whole_numbers("token_ids", token_ids, np.int32)
        self.offsets = _whole_numbers("offsets", offsets, np.int64)
        n = len(self.token_ids)
        if len(self.offsets) < 1 or self.offsets[0] != 0 or self.offsets[-1] != n:
            raise ValueError(f"offsets must run from 0 to the {n} token ids; got {shown(offsets)}")
        for first in range(0, len(self), _AT_ONCE):
            falls = np.flatnonzero(np.diff(self.offsets[first : first + _AT_ONCE + 1]) < 0)
            if len(falls):
                at = first + int(falls[0])
                raise ValueError(f"offsets must not fall; got {self.offsets[at]} and then "
                                 f"{self.offsets[at + 1]} at offsets[{at}]")

    @classmethod
    def from_tokens(cls, documents: Iterable[Iterable[str]], *, min_count: int = 1,
                    max_size: int | None = None,
                    folder: str | os.PathLike | None = None) -> Self:
        """Number documents that are lists of tokens already; any non-empty str is a token.

        Parameters
        ----------
        documents : iterable of lists of str, read once
        min_count : int >= 1, default 1
            Drop tokens that occur less often.
        max_size : int >= 1 or None, default None
            Keep this many tokens, the most frequent ones.
        folder : path or None, default None
            Where to lay the corpus on disk.

        Returns
        -------
        Corpus

        Raises
        ------
        TypeError, ValueError
            For a setting, a document or a token that is none, no documents and no tokens.
        OSError
            Where the folder cannot be written.
        """
        min_count, max_size = checked_limits(min_count, max_size)
        lists = checked_token_lists(_ordered(documents))
        number: dict[str, int] = {}
        with closing(CollectedIds(folder)) as collected:
            while part := list(islice(lists, _DOCUMENTS_AT_ONCE)):
                known = len(number)
                ids = [number.setdefault(token, len(number)) for tokens in part for token in tokens]
                new = islice(reversed(number), len(number) - known)
                long = {token for token in new if len(token) > MAX_TOKEN_CHARS}
                first = 0
                if long:
                    first = next(i for i, tokens in enumerate(part) if long & {*tokens})
                ends = np.cumsum([len(tokens) for tokens in part])
                collected.append(np.array(ids, dtype=np.int32), ends, (len(long), first))
            return collected.corpus(cls, Strings.of(list(number)), min_count, max_size,
                                    stacklevel=5)

    # ------------------------------------------------------------------------------- documents

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        if not len(self):
            raise ValueError(f"document={shown(i)} is out of range; this corpus has 0 documents")
        i = check_int("document", i, low=-len(self), high=len(self) - 1) % len(self)
        return self.token_ids[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        for first in range(0, len(self), _AT_ONCE):
            for a, b in pairwise(self.offsets[first : first + _AT_ONCE + 1].tolist()):
                yield self.token_ids[a:b]

    def tokens(self, i: int) -> list[str]:
        """The tokens of document i, those in the vocabulary.

        Parameters
        ----------
        i : int, from -n_documents to n_documents - 1

        Returns
        -------
        list of str

        Raises
        ------
        TypeError, ValueError
            For an index that is not there.
        """
        return [self.vocabulary.tokens[id] for id in self[i].tolist()]

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all documents."""
        return len(self.token_ids)

    def __repr__(self) -> str:
        return (f"Corpus of {len(self):,} documents, {self.n_tokens:,} tokens, "
                f"{len(self.vocabulary):,} of them distinct")

    # ----------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike) -> None:
        """Write the corpus into a folder; an older one there stays whole until the new one is.

        Parameters
        ----------
        path : folder

        Raises
        ------
        OSError
        """
        _save(path, self.vocabulary, _blocks(self.token_ids), self.offsets)

    @classmethod
    def load(cls, path: str | os.PathLike, *, verify: bool = True) -> Self:
        """Open a saved corpus; its arrays are mapped from the files, read-only.

        Parameters
        ----------
        path : folder
        verify : bool, default True
            Compare every byte with the checksums of when it was saved with (about 0.5 s per GB).

        Raises
        ------
        FileNotFoundError, DamagedFile
        ValueError
            For a newer format.
        """
        _, files = load_files(path, "Corpus", verify=verify)
        try:
            strings = Strings.checked(np.fromfile(files["tokens.utf8"], dtype=np.uint8),
                                      np.fromfile(files["token_offsets.i64"], dtype=_LENGTHS),
                                      name="token_offsets.i64")
            counts = np.fromfile(files["counts.i64"], dtype=_LENGTHS)
            vocabulary = Vocabulary(strings.to_list(), counts)
            corpus = cls(vocabulary, _mapped(files["token_ids.i32"], _IDS),
                         _mapped(files["offsets.i64"], _LENGTHS))
            for part in _blocks(corpus.token_ids):
                low, high = int(part.min()), int(part.max())
                if low < 0 or high >= len(vocabulary):
                    raise ValueError(f"token_ids.i32 holds ids from {low} to {high}; expected ids "
                                     f"in [0, {len(vocabulary) - 1}]")
        except (KeyError, ValueError, TypeError) as error:
            raise DamagedFile(f"{path} holds no corpus that can be read: {error}. "
                              "Save it again") from error
        return corpus


def _whole_numbers(name: str, values: Any, dtype: type) -> np.ndarray:
    """Numbers along one axis in this dtype; an array that has it already is not copied."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise TypeError(f"{name} has dtype {array.dtype} and shape {array.shape}; expected whole "
                        "numbers along one axis")
    return array if array.dtype == dtype else array.astype(dtype)


def _mapped(path: Path, dtype: np.dtype) -> np.ndarray:
    empty = not path.stat().st_size              # which cannot be mapped
    return np.empty(0, dtype=dtype) if empty else np.memmap(path, dtype=dtype, mode="r")


def _blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    return (array[first : first + _AT_ONCE] for first in range(0, len(array), _AT_ONCE))


def _save(path: str | os.PathLike, vocabulary: Vocabulary, ids: Iterable[np.ndarray],
          offsets: np.ndarray) -> None:
    strings = Strings.of(vocabulary.tokens)

    def writer(parts: Iterable[np.ndarray], dtype: np.dtype) -> Callable[[IO[bytes]], None]:
        def write(file: IO[bytes]) -> None:
            for part in parts:
                file.write(np.ascontiguousarray(part, dtype=dtype).data)

        return write

    # the ids first: writing them may put the offsets right
    writers = {"token_ids.i32": writer(ids, _IDS),
               "offsets.i64": writer(_blocks(offsets), _LENGTHS),
               "tokens.utf8": writer([strings.arena], np.dtype(np.uint8)),
               "token_offsets.i64": writer(_blocks(strings.offsets), _LENGTHS),
               "counts.i64": writer(_blocks(vocabulary.counts), _LENGTHS)}
    save_files(path, "Corpus", writers, {"oov": TokenCorpus.oov})


# ---------------------------------------------------------------------------------------- building


def _ordered(documents: Any) -> Any:
    """The same documents; a set or a dict among them is refused when its turn comes. A container
    that is none is left to `checked_token_lists`."""
    if (isinstance(documents, (str, bytes, Mapping, Set)) or not isinstance(documents, Iterable)
            or getattr(documents, "ndim", 1) != 1):
        return documents

    def checked() -> Iterator:
        for i, tokens in enumerate(documents):
            if isinstance(tokens, (Set, Mapping)):
                raise TypeError(f"documents[{i}]={shown(tokens)} is {type(tokens).__name__}, which "
                                "has no order; expected a list of tokens")
            yield tokens

    return checked()


class CollectedIds:
    """Token ids on their way to a corpus, numbered by first appearance, and where the documents end
    in them: in memory, or with a folder in two nameless files there."""

    def __init__(self, folder: str | os.PathLike | None):
        self._folder, self._files, self._n, self._oddities = folder, None, 0, Oddities()
        self._ids, self._offsets = GrowingArray(np.int32), GrowingArray(np.int64)
        if folder is not None:
            folder = checked_path(folder, "folder")
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
            nameless = partial(tempfile.TemporaryFile, dir=folder, prefix=".tmp-")
            self._files = [nameless(), nameless()]
        self._add(np.empty(0, np.int32), np.zeros(1, np.int64))

    def append(self, ids: np.ndarray, ends: np.ndarray, long: tuple[int, int]) -> None:
        """Add the documents of a block: their ids (int32), where each ends in these, and what
        `Oddities` asks about long tokens."""
        self._oddities.look(ends, long)
        self._add(ids, ends + self._n)
        self._n += len(ids)

    def _add(self, ids: np.ndarray, ends: np.ndarray) -> None:
        if self._files is None:
            self._ids.append(ids)
            self._offsets.append(ends)
        else:
            for file, numbers in zip(self._files, (ids, ends), strict=True):
                file.write(numbers.data)

    def _parts(self) -> Iterator[np.ndarray]:
        if self._files is None:
            return _blocks(self._ids.finish())
        file = self._files[0]
        file.seek(0)
        read = iter(lambda: file.read(4 * _AT_ONCE), b"")
        return (np.frombuffer(part, np.int32) for part in read)

    def _bounds(self) -> np.ndarray:
        """Where the documents begin and end; changes of it last."""
        if self._files is None:
            return self._offsets.finish()
        self._files[1].flush()
        return np.memmap(self._files[1], np.int64, "r+")

    def corpus(self, kind: type, strings: Strings, min_count: int, max_size: int | None, *,
               stacklevel: int) -> Any:
        """The corpus with the tokens that are frequent enough; ``strings`` are all of them by their
        number so far. Warns of oddities; raises ValueError when no token is left."""
        offsets = self._bounds()
        if not len(strings):
            raise ValueError(f"documents: {len(offsets) - 1} documents hold 0 tokens; expected >= "
                             "1 token")
        self._oddities.warn("token", "they stay, empty", stacklevel=stacklevel)
        counts = sum(np.bincount(part, minlength=len(strings)) for part in self._parts())
        chosen = chosen_tokens(strings, counts, min_count=min_count, max_size=max_size)
        new_id = np.full(len(counts), -1, dtype=np.int32)
        new_id[chosen] = np.arange(len(chosen))
        vocabulary = Vocabulary(strings.to_list(chosen), counts[chosen])
        renumbered = _renumbered(self._parts(), new_id, offsets)
        if self._files is not None:
            _save(self._folder, vocabulary, renumbered, offsets)
            return kind.load(self._folder)
        array, n = self._ids.finish(), 0
        for ids in renumbered:
            array[n : n + len(ids)] = ids        # never beyond the part that was read
            n += len(ids)
        return kind(vocabulary, self._ids.finish(n), offsets)

    def close(self) -> None:
        """Remove the nameless files."""
        for file in self._files or ():
            file.close()


def _renumbered(parts: Iterable[np.ndarray], new_id: np.ndarray,
                offsets: np.ndarray) -> Iterator[np.ndarray]:
    """Yield ids in their new numbering without those that get -1, and correct the documents'
    offsets in place."""
    first, kept, done = 0, 0, 0                  # ids read, ids kept, offsets that are corrected
    for part in parts:
        ids = new_id[part]
        before = np.concatenate([[0], np.cumsum(ids >= 0)])
        left = offsets[done:]
        inside = left[: np.searchsorted(left, first + len(part), side="right")]
        inside[:] = kept + before[inside - first]
        first, kept, done = first + len(part), kept + int(before[-1]), done + len(inside)
        yield ids[ids >= 0]
