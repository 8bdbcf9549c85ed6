"""What the methods of this room are fitted on: texts, which are numbered here, or a corpus that was
numbered before.

Used by every method of ``sentences``; taught in lesson ``06_sif_and_usif``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..text import Corpus

__all__ = ["as_corpus", "numbered_documents"]

_TOKENS_AT_ONCE, _DOCUMENTS_AT_ONCE = 1 << 16, 1 << 14


def as_corpus(texts: Iterable[str] | Corpus, *, tokenizer: Any, threads: int | None) -> Corpus:
    """Texts as a corpus with every word in it; a `Corpus` is returned as it is.

    Raises TypeError or ValueError (texts that are none, no texts, no tokens), ValueError for a
    corpus without a word.
    """
    if not isinstance(texts, Corpus):
        return Corpus.from_texts(texts, tokenizer=tokenizer, threads=threads)
    if not texts.n_tokens:
        raise ValueError(f"texts={texts!r} holds 0 words; expected >= 1")
    return texts


def numbered_documents(corpus: Corpus) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield a corpus' documents in order, many at a time: their token numbers, and where each
    document ends in them.

    Raises ValueError for a number outside the vocabulary: numbers become addresses, and a corpus
    takes them as given.
    """
    offsets, first, n_words = corpus.offsets, 0, len(corpus.vocabulary)
    while first < len(corpus):
        last = int(np.searchsorted(offsets, offsets[first] + _TOKENS_AT_ONCE, side="right")) - 1
        last = max(first + 1, min(last, first + _DOCUMENTS_AT_ONCE))
        ids = np.array(corpus.token_ids[offsets[first] : offsets[last]])
        if len(ids) and not 0 <= ids.min() <= ids.max() < n_words:
            at = int(np.argmax((ids < 0) | (ids >= n_words)))
            document = int(np.searchsorted(offsets, offsets[first] + at, side="right")) - 1
            raise ValueError(f"corpus document {document} holds token id {ids[at]}; expected ids "
                             f"in [0, {n_words - 1}], the "
                             f"{n_words} words of its vocabulary. Build the corpus again from its "
                             "texts")
        yield ids, offsets[first + 1 : last + 1] - offsets[first]
        first = last
