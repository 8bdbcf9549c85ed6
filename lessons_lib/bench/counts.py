"""Cases of the counting methods: text to matrix against scikit-learn, and the memory of a million documents.

The texts are sentences of the Wikipedia sample joined to documents of the length of a paragraph; where LESSONS_DATA is set, 20 Newsgroups
and Wikipedia shards as well. The gate is the strictest there is: the same matrix and the same vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import DataMissing, generator
from .measure import Case, Row, race
from .memory import measure_memory

__all__ = ["cases", "memory_rows", "million_rows", "million_tokens", "rows"]

N_DOCUMENTS = 50_000


def _paragraphs(n: int) -> list[str]:
    """n documents of five sentences each, drawn from the Wikipedia sample."""
    from ..datasets import load
    from ..text import split_sentences

    sentences = [s for article in load("wikipedia-sample") for s in split_sentences(article, min_words=5)]
    rows = generator(0).integers(len(sentences), size=(n, 5))
    return [" ".join(sentences[i] for i in row) for row in rows]


def _wiki_shard(n: int) -> list[str]:
    """n runs of five consecutive sentences of Wikipedia; raises DataMissing without LESSONS_DATA."""
    from ..datasets import load

    texts: list[str] = []
    for article in load("wiki", shards=[0]):
        lines = article.split("\n")
        texts += [" ".join(lines[i : i + 5]) for i in range(0, len(lines), 5)]
        if len(texts) >= n:
            break
    return texts[:n]


def _same(ours: tuple[Any, dict], theirs: tuple[Any, dict]) -> bool:
    return _same_places(ours, theirs) and ours[0].dtype == theirs[0].dtype and np.array_equal(ours[0].data, _sorted(theirs[0]).data)


def _close(ours: tuple[Any, dict], theirs: tuple[Any, dict]) -> bool:
    return _same_places(ours, theirs) and np.allclose(ours[0].data, _sorted(theirs[0]).data, rtol=1e-12)


def _same_places(ours: tuple[Any, dict], theirs: tuple[Any, dict]) -> bool:
    a, b = ours[0], _sorted(theirs[0])
    return ours[1] == theirs[1] and np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)


def _sorted(matrix: Any) -> Any:
    """The same matrix with ascending columns in each row; scikit-learn leaves them in the order in which words were first met."""
    matrix = matrix.copy()
    matrix.sort_indices()
    return matrix


def _fitted(make: Callable[[], Any], texts: list[str]) -> tuple[Any, dict]:
    estimator = make()
    return estimator.fit_transform(texts), estimator.vocabulary_


def _race(name: str, texts: list[str], ours: Callable[[], Any], theirs: Callable[[], Any], *, equal: Callable = _same, goal: float = 6.0) -> Case:
    gate = "same matrix, same vocabulary" if equal is _same else "same vocabulary and places, values to 1e-12"
    return Case("counts", name, f"scikit-learn {theirs().__class__.__name__}", lambda: _fitted(ours, texts), lambda: _fitted(theirs, texts), equal,
                len(texts), "documents", goal, gate)


def cases(*, n: int = N_DOCUMENTS) -> Iterator[Case]:
    """The races, one after the other; texts are made when a case is asked for."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    from ..counts import BagOfWords, TfIdf

    texts = _paragraphs(n)
    yield _race("bag of words, Wikipedia sample", texts, BagOfWords, CountVectorizer)
    yield _race("TF-IDF, Wikipedia sample", texts, TfIdf, TfidfVectorizer, equal=_close)
    yield _race("word 1- and 2-grams", texts[: n // 2], lambda: BagOfWords(ngram_range=(1, 2)), lambda: CountVectorizer(ngram_range=(1, 2)))
    options = {"analyzer": "char_wb", "ngram_range": (3, 5)}
    yield _race("character 3- to 5-grams", texts[: n // 10], lambda: BagOfWords(**options), lambda: CountVectorizer(**options))
    try:
        shard = _wiki_shard(n)
    except DataMissing:
        return
    yield _race("bag of words, Wikipedia shard", shard, BagOfWords, CountVectorizer)


# ------------------------------------------------------------------------------------------------ memory


def _stream(n: int) -> Iterator[str]:
    """n documents of 30 tokens with Zipf frequencies, made as they are asked for."""
    rng, words = generator(1), np.array([f"w{i}" for i in range(50_000)], dtype=object)
    for _ in range(0, n, 1000):
        ranks = np.minimum(rng.zipf(1.2, size=(1000, 30)), len(words)) - 1
        yield from map(" ".join, words[ranks].tolist())


def million_rows(n: int) -> int:
    """Count n streamed documents of 30 tokens; returns the bytes of the matrix."""
    from ..counts import BagOfWords

    matrix = BagOfWords().fit_transform(_stream(n))
    return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes


def million_tokens(n: int) -> int:
    """Put n streamed documents of 30 tokens into a corpus on disk; returns the bytes of its vocabulary: strings, list, counts and index."""
    import sys
    import tempfile

    from ..text import Corpus

    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus.from_texts(_stream(n), folder=f"{folder}/corpus")
        tokens = corpus.vocabulary.tokens
        return sum(map(sys.getsizeof, tokens)) + 16 * len(tokens) + sys.getsizeof(dict.fromkeys(tokens))


def memory_rows(*, n: int = 1_000_000) -> Iterator[Row]:
    """Peak memory of a million documents: as a matrix, and as a corpus on disk."""
    yield measure_memory("counts", "texts to CSR from a generator", f"{__name__}:million_rows", n, goal_factor=1.5, goal_extra_mb=200)
    yield measure_memory("text", "Corpus on disk from a generator", f"{__name__}:million_tokens", n, goal_factor=1.0, goal_extra_mb=150)


def rows(*, repeats: int, tell: Callable[[str], None], only: str = "") -> Iterator[Row]:
    """The group: the races whose name holds ``only``, then the memory, which is left out when ``only`` picks cases."""
    yield from race((case for case in cases() if only in case.name), repeats=repeats, tell=tell)
    if not only:
        tell("counts: memory")
        yield from memory_rows()
