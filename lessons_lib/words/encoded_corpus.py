"""What a method of word vectors learns from: a corpus as numbers, without its rare words.

Taught in lesson ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import fingerprint
from ..text.token_corpus import TokenCorpus

__all__ = ["EncodedCorpus", "encode_corpus", "encode_more"]


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
    """Text as numbers.

    ``tokens`` by id, by falling count; their ``counts`` (V,) int64 in it; ``words`` (n,) int32;
    ``offsets`` (d + 1,) int64 of the documents.
    """

    tokens: list[str]
    counts: np.ndarray
    words: np.ndarray
    offsets: np.ndarray

    @property
    def fingerprint(self) -> str:
        """By which an interrupted run knows its text again."""
        return fingerprint(self.offsets, self.words)


def encode_corpus(corpus: Any, *, min_count: int) -> EncodedCorpus:
    """Encode a `text.Corpus`, or token lists, without words rarer than ``min_count``.

    Raises TypeError for other data (a str, texts), ValueError when no word is left or only one.
    """
    corpus, counts = _counted(corpus)
    order = np.argsort(-counts, kind="stable")
    kept = order[counts[order] >= max(1, min_count)]
    tokens = [corpus.vocabulary.tokens[i] for i in kept]
    if not tokens:
        raise ValueError(f"min_count={min_count} leaves no word: the largest count is "
                         f"{counts.max(initial=0)}, of {np.count_nonzero(counts)} distinct words. "
                         "Choose a smaller min_count, or more text")
    if len(tokens) == 1:
        raise ValueError(f"corpus has 1 word with min_count={min_count} ({tokens[0]!r}), >= 2 "
                         "needed: a word is learned from others")
    new_id = np.full(len(counts), -1, dtype=np.int32)
    new_id[kept] = np.arange(len(kept), dtype=np.int32)
    words, offsets = _renumbered(corpus, new_id)
    return EncodedCorpus(tokens, counts[kept].astype(np.int64), words, offsets)


def encode_more(corpus: Any, known: Sequence[str], *, min_count: int, grow: bool) -> EncodedCorpus:
    """Encode more text for a model: its words keep their ids, new ones follow by falling count.

    Parameters: known, the model's words; min_count, of new words in this text; grow, False leaves
    new words out. Raises TypeError.
    """
    corpus, counts = _counted(corpus)
    ids = {token: i for i, token in enumerate(known)}
    new_id = np.array([ids.get(token, -1) for token in corpus.vocabulary.tokens], dtype=np.int32)
    order = np.argsort(-counts, kind="stable") if grow else np.empty(0, dtype=np.int64)
    added = order[(new_id[order] < 0) & (counts[order] >= max(1, min_count))]
    new_id[added] = np.arange(len(known), len(known) + len(added), dtype=np.int32)
    words, offsets = _renumbered(corpus, new_id)
    tokens = [*known, *(corpus.vocabulary.tokens[i] for i in added)]
    counts = np.bincount(words, minlength=len(tokens)).astype(np.int64)
    return EncodedCorpus(tokens, counts, words, offsets)


def _counted(corpus: Any) -> tuple[TokenCorpus, np.ndarray]:
    corpus = corpus if isinstance(corpus, TokenCorpus) else TokenCorpus.from_tokens(corpus)
    return corpus, np.bincount(corpus.token_ids, minlength=len(corpus.vocabulary))


def _renumbered(corpus: TokenCorpus, new_id: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Words and offsets under new ids, -1 for words that are left out."""
    words = new_id[corpus.token_ids] if len(new_id) else np.empty(0, dtype=np.int32)
    kept = words >= 0
    if kept.all():
        return words, np.asarray(corpus.offsets)
    ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return words[kept], ends[corpus.offsets]
