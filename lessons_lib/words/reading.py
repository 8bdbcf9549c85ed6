"""What a method of word vectors reads: a corpus with rare words taken out, its words numbered by falling count.

Taught in lesson ``04_word2vec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..text import Corpus

__all__ = ["Reading", "read", "read_with"]


@dataclass(frozen=True, eq=False)
class Reading:
    """Text as numbers: ``tokens`` by id, their ``counts`` (V,) int64 in it, ``words`` (n,) int32, ``offsets`` (d + 1,) int64 of the documents."""

    tokens: list[str]
    counts: np.ndarray
    words: np.ndarray
    offsets: np.ndarray


def _as_corpus(corpus: Any) -> Corpus:
    return corpus if isinstance(corpus, Corpus) else Corpus.from_tokens(corpus)


def _counts(corpus: Corpus) -> np.ndarray:
    return np.bincount(corpus.token_ids, minlength=len(corpus.vocabulary))


def _renumbered(corpus: Corpus, new_id: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Word numbers and offsets under new ids, -1 for words that are left out."""
    words = new_id[corpus.token_ids] if len(new_id) else np.empty(0, dtype=np.int32)
    kept = words >= 0
    if kept.all():
        return words, np.asarray(corpus.offsets)
    return words[kept], np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[corpus.offsets]


def read(corpus: Any, *, min_count: int) -> Reading:
    """Read a `text.Corpus`, or a sequence of token lists, without the words that occur less than ``min_count`` times.

    Raises TypeError for other data (a str, texts), ValueError when no word is left or only one.
    """
    corpus = _as_corpus(corpus)
    counts = _counts(corpus)
    order = np.argsort(-counts, kind="stable")
    chosen = order[counts[order] >= max(1, min_count)]
    if len(chosen) == 0:
        raise ValueError(f"min_count={min_count} leaves no word: the largest count is {counts.max(initial=0)}, of {np.count_nonzero(counts)} "
                         "distinct words. Choose a smaller min_count, or more text")
    if len(chosen) == 1:
        raise ValueError(f"corpus has 1 word with min_count={min_count} ({corpus.vocabulary.tokens[chosen[0]]!r}), >= 2 needed: a word is learned "
                         "from others")
    new_id = np.full(len(counts), -1, dtype=np.int32)
    new_id[chosen] = np.arange(len(chosen), dtype=np.int32)
    words, offsets = _renumbered(corpus, new_id)
    return Reading([corpus.vocabulary.tokens[i] for i in chosen], counts[chosen].astype(np.int64), words, offsets)


def read_with(corpus: Any, known: Sequence[str], *, min_count: int, grow: bool) -> Reading:
    """Read more text for a model that has words already: they keep their numbers, new ones follow by falling count.

    Parameters: known, the model's words; min_count, of new words in this text; grow, False leaves new words out. Raises TypeError.
    """
    corpus = _as_corpus(corpus)
    counts, ids = _counts(corpus), {token: i for i, token in enumerate(known)}
    new_id = np.array([ids.get(token, -1) for token in corpus.vocabulary.tokens], dtype=np.int32)
    order = np.argsort(-counts, kind="stable")
    added = order[(new_id[order] < 0) & (counts[order] >= max(1, min_count))] if grow else order[:0]
    new_id[added] = np.arange(len(known), len(known) + len(added), dtype=np.int32)
    words, offsets = _renumbered(corpus, new_id)
    tokens = [*known, *(corpus.vocabulary.tokens[i] for i in added)]
    return Reading(tokens, np.bincount(words, minlength=len(tokens)).astype(np.int64), words, offsets)
