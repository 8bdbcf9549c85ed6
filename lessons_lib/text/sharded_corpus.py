"""Tokens of texts in shards: numbered on the workers, each shard with numbers of its own, which a
merge translates.

A vocabulary is ordered by count and then by letters, so it does not tell who counted. Used by
`lessons count` and by co-occurrence; taught with lesson ``01_one_hot``.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from .corpus import Corpus, scan_of
from .growing_array import GrowingArray, Oddities
from .scanner import Buffers, ScannedBlock, long_tokens, scanned_blocks
from .shards import FileShard, Shards, TextShard
from .string_table import StringTable
from .strings import Strings
from .token_corpus import CollectedIds
from .vocabulary import Vocabulary, checked_limits, chosen_tokens

__all__ = ["ShardedCorpus", "corpus_in_shards", "known_ids", "one_numbering"]


def one_numbering(a: Strings, b: Strings) -> tuple[Strings, np.ndarray]:
    """All strings of two lists of distinct ones, those of ``a`` first, and the new numbers of
    ``b``: int64."""
    table = StringTable()
    table.add(a)
    number = table.add(b)
    return table.strings, number


class _Counted(NamedTuple):
    """Distinct tokens and how often each occurs, documents without one, and how many there are."""

    strings: Strings
    counts: np.ndarray
    oddities: Oddities


def _blocks(part: TextShard | FileShard, tokenizer: Any) -> Any:
    scan, buffers = scan_of(tokenizer), Buffers()
    return scanned_blocks([part.texts()], partial(scan, buffers=buffers), threads=1)


def _count(part: TextShard | FileShard, tokenizer: Any) -> _Counted:
    table, oddities, counts = StringTable(), Oddities(), np.zeros(0, np.int64)
    for block in _blocks(part, tokenizer):
        oddities.look(block.document_ends, long_tokens(block))
        number = table.add(block.strings, block.hashes)
        counts = np.concatenate([counts, np.zeros(len(table) - len(counts), np.int64)])
        counts += np.bincount(number[block.ids], minlength=len(table))
    return _Counted(table.strings, counts, oddities)


def _add(a: _Counted, b: _Counted) -> _Counted:
    strings, number = one_numbering(a.strings, b.strings)
    counts = np.zeros(len(strings), np.int64)
    counts[: len(a.counts)] = a.counts
    counts[number] += b.counts
    return _Counted(strings, counts, a.oddities.and_then(b.oddities))


def known_ids(part: TextShard | FileShard, tokens: Strings,
              tokenizer: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ids (int32) of the tokens of a shard that a vocabulary has, and the offsets (int64) of the
    documents."""
    table, ids, ends = StringTable(), GrowingArray(np.int32), GrowingArray(np.int64)
    table.add(tokens)
    for block in _blocks(part, tokenizer):
        known = table.find(block.strings, block.hashes)[block.ids]
        kept = np.concatenate([[0], np.cumsum(known >= 0)])
        ends.append(kept[block.document_ends] + len(ids))
        ids.append(known[known >= 0])
    return ids.finish(), np.concatenate([[0], ends.finish()])


@dataclass(frozen=True, eq=False)
class ShardedCorpus:
    """Texts in shards with their common vocabulary; the ids of a shard are made where it lies.

    `counts.cooccurrence` and `counts.Cooccurrences.from_corpus` take it in place of a `Corpus`.

    Parameters
    ----------
    shards : Shards
    vocabulary : Vocabulary
    tokenizer : Tokenizer or function, None for ``Tokenizer()``
    """

    shards: Shards
    vocabulary: Vocabulary
    tokenizer: Any = None

    @classmethod
    def of(cls, shards: Shards, *, tokenizer: Any = None, min_count: int = 1,
           max_size: int | None = None) -> Self:
        """Count the tokens of all shards.

        Parameters
        ----------
        shards : Shards
        tokenizer, min_count, max_size
            As in `Corpus.from_texts`.

        Returns
        -------
        ShardedCorpus
            Its vocabulary is that of the `Corpus` of the same texts.

        Raises
        ------
        TypeError, ValueError
            For a setting, and no tokens.
        """
        min_count, max_size = checked_limits(min_count, max_size)
        scan_of(tokenizer)
        counted = shards.merged(partial(_count, tokenizer=tokenizer), _add)
        if not len(counted.strings):
            raise ValueError(f"documents: {counted.oddities.n_documents} documents hold 0 tokens; "
                             "expected >= 1 token")
        counted.oddities.warn("token", "they stay, empty", stacklevel=4)
        chosen = chosen_tokens(counted.strings, counted.counts, min_count=min_count,
                               max_size=max_size)
        vocabulary = Vocabulary(counted.strings.to_list(chosen), counted.counts[chosen])
        return cls(shards, vocabulary, tokenizer)

    @property
    def n_tokens(self) -> int:
        """Tokens that the vocabulary has."""
        return int(self.vocabulary.counts.sum())


# --------------------------------------------------------------------------- all ids in one place


class _Numbered(NamedTuple):
    """Documents whose tokens were numbered, and their long ones."""

    block: ScannedBlock
    long: tuple[int, int]


def corpus_in_shards(shards: Shards, *, tokenizer: Any = None, min_count: int = 1,
                     max_size: int | None = None,
                     folder: str | os.PathLike | None = None) -> Corpus:
    """`Corpus.from_texts` on texts in shards, which the workers of a Dask client cut into tokens.

    Parameters
    ----------
    shards : Shards
    tokenizer, min_count, max_size, folder
        As in `Corpus.from_texts`.

    Returns
    -------
    Corpus
        The same, to the last byte.

    Raises
    ------
    TypeError, ValueError, OSError
        As `Corpus.from_texts`.
    """
    min_count, max_size = checked_limits(min_count, max_size)
    scan_of(tokenizer)
    with closing(CollectedIds(folder)) as collected:
        block, long = shards.merged(partial(_number, tokenizer=tokenizer), _follow)
        collected.append(block.ids, block.document_ends, long)
        return collected.corpus(Corpus, block.strings, min_count, max_size, stacklevel=5)


def _number(part: TextShard | FileShard, tokenizer: Any) -> _Numbered:
    table, oddities = StringTable(), Oddities()
    ids, ends = GrowingArray(np.int32), GrowingArray(np.int64)
    for block in _blocks(part, tokenizer):
        ends.append(block.document_ends + len(ids))
        ids.append(table.add(block.strings, block.hashes)[block.ids])
        oddities.look(block.document_ends, long_tokens(block))
    return _Numbered(ScannedBlock(ids.finish(), ends.finish(), table.strings, None), oddities.long)


def _follow(a: _Numbered, b: _Numbered) -> _Numbered:
    """The documents of ``b`` after those of ``a``."""
    strings, number = one_numbering(a.block.strings, b.block.strings)
    n, documents = len(a.block.ids), len(a.block.document_ends)
    first = a.long[1] if a.long[0] else documents + b.long[1]
    long = (a.long[0] + b.long[0], first) if a.long[0] + b.long[0] else (0, 0)
    ids = np.concatenate([a.block.ids, number[b.block.ids].astype(np.int32)])
    ends = np.concatenate([a.block.document_ends, b.block.document_ends + n])
    return _Numbered(ScannedBlock(ids, ends, strings, None), long)
