"""Counting: text to matrix beside scikit-learn, and the memory of a million documents.

The gate is the strictest there is: the same matrix and the same vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..core import DataMissing, generator
from .measure import Case

GOAL = 6.0
# Our class, the peer's, their options; what is read: a share of the paragraphs, or Wikipedia's.
RACES: dict[str, tuple[str, str, dict[str, Any], float | None]] = {
    "bag of words, Wikipedia sample": ("BagOfWords", "CountVectorizer", {}, 1.0),
    "TF-IDF, Wikipedia sample": ("TfIdf", "TfidfVectorizer", {}, 1.0),
    "word 1- and 2-grams": ("BagOfWords", "CountVectorizer", {"ngram_range": (1, 2)}, 0.5),
    "character 3- to 5-grams": (
        "BagOfWords", "CountVectorizer", {"analyzer": "char_wb", "ngram_range": (3, 5)}, 0.1),
    "bag of words, Wikipedia shard": ("BagOfWords", "CountVectorizer", {}, None),
}


def _paragraphs(n: int) -> list[str]:
    """n documents of five sentences each, drawn from the Wikipedia sample."""
    from ..datasets import load
    from ..text import split_sentences
    sentences = [sentence for article in load("wikipedia-sample")
                 for sentence in split_sentences(article, min_words=5)]
    rows = generator(0).integers(len(sentences), size=(n, 5))
    return [" ".join(sentences[i] for i in row) for row in rows]


def _wiki_shard(n: int) -> list[str]:
    """n runs of five consecutive lines of Wikipedia; raises DataMissing without LESSONS_DATA."""
    from ..datasets import load
    texts: list[str] = []
    for article in load("wiki", shards=[0]):
        lines = article.split("\n")
        texts += [" ".join(lines[i : i + 5]) for i in range(0, len(lines), 5)]
        if len(texts) >= n:
            break
    return texts[:n]


def same(exact: bool, ours: tuple[Any, dict], theirs: tuple[Any, dict]) -> bool:
    """Whether vocabularies and matrices are equal; the peer's columns are sorted first."""
    a, b = ours[0], theirs[0].copy()
    b.sort_indices()
    if not (ours[1] == theirs[1] and np.array_equal(a.indptr, b.indptr)
            and np.array_equal(a.indices, b.indices)):
        return False
    return (a.dtype == b.dtype and np.array_equal(a.data, b.data) if exact
            else np.allclose(a.data, b.data, rtol=1e-12, atol=0))


def _fitted(kind: type, options: dict[str, Any], texts: list[str]) -> tuple[Any, dict]:
    estimator = kind(**options)
    return estimator.fit_transform(texts), estimator.vocabulary_


def cases(*, n: int = 50_000) -> Iterator[Case]:
    """The races, one after the other; the shard is left out without LESSONS_DATA."""
    from sklearn.feature_extraction import text as peers
    from .. import counts
    paragraphs = _paragraphs(n)
    for name, (ours, theirs, options, share) in RACES.items():
        try:
            texts = _wiki_shard(n) if share is None else paragraphs[: int(share * n)]
        except DataMissing:
            continue
        exact = ours == "BagOfWords"
        gate = "same matrix, same vocabulary" if exact else (
            "same vocabulary and places, values to 1e-12")
        sides = [partial(_fitted, getattr(module, kind), options, texts)
                 for module, kind in ((counts, ours), (peers, theirs))]
        yield Case("counts", name, f"scikit-learn {theirs}", *sides, partial(same, exact),
                   len(texts), "documents", GOAL, gate)


def _stream(n: int) -> Iterator[str]:
    """n documents of 30 tokens with Zipf frequencies, made as they are asked for."""
    rng, words = generator(1), np.array([f"w{i}" for i in range(50_000)], dtype=object)
    for _ in range(0, n, 1000):
        ranks = np.minimum(rng.zipf(1.2, size=(1000, 30)), len(words)) - 1
        yield from map(" ".join, words[ranks].tolist())


def million_rows(n: int) -> int:
    """Count n streamed documents of 30 tokens; gives the bytes of the matrix."""
    from ..counts import BagOfWords
    matrix = BagOfWords().fit_transform(_stream(n))
    return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes


def million_tokens(n: int) -> int:
    """Put them into a corpus on disk; gives the bytes of its vocabulary: list, counts, index."""
    import sys
    import tempfile
    from ..text import Corpus
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus.from_texts(_stream(n), folder=f"{folder}/corpus")
        tokens = corpus.vocabulary.tokens
        strings = sum(map(sys.getsizeof, tokens))
        return strings + 16 * len(tokens) + sys.getsizeof(dict.fromkeys(tokens))


MEMORY = ({"group": "counts", "name": "texts to CSR from a generator", "n": 1_000_000,
           "function": f"{__name__}:million_rows", "goal_factor": 1.5, "goal_extra_mb": 200},
          {"group": "text", "name": "Corpus on disk from a generator", "n": 1_000_000,
           "function": f"{__name__}:million_tokens", "goal_factor": 1.0, "goal_extra_mb": 150})
