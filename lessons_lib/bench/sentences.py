"""Cases of sentence vectors: SIF beside its authors' way, word by word in Python, and beside a sparse matrix of weights; Doc2vec in its own module.

All sides read the same raw text, cut it into the same words, and return the same vectors; the peers find words by a regular expression in the text in
lower case. The word vectors are random about a common direction, because their numbers do not change the work. One thread each.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import DataMissing, generator
from .measure import Case, Row, fixed_threads, race
from .memory import measure_memory

if TYPE_CHECKING:
    from ..text import Corpus
    from ..vectors import WordVectors

__all__ = ["Sizes", "cases", "million_sentences", "rows"]

A = 1e-3
TOLERANCE = 1e-5                                # largest difference of a number, where a sentence vector has length 1 or so
WORD = re.compile(r"\w+")
GOALS = {"authors": 10.0, "sparse": 4.0}


@dataclass(frozen=True)
class Sizes:
    """How much is read; tests use less."""

    sentences: int = 100_000
    dims: tuple[int, ...] = (100, 300)
    min_count: int = 3                          # rarer words have no vector


def _sentences(n: int) -> list[str]:
    """Sentences of Wikipedia that hold a word, or of the bundled sample where LESSONS_DATA is not set; in NFC, which the peers do not make."""
    from ..datasets import load
    from ..text import split_sentences

    try:
        found = load("wiki-sentences")
    except DataMissing:
        found = [s for article in load("wikipedia-sample") for s in split_sentences(article, min_words=4)]
    return list(itertools.islice((unicodedata.normalize("NFC", text) for text in found if WORD.search(text)), n))


def _vectors(corpus: Corpus, dim: int) -> WordVectors:
    """Random vectors of the corpus' words about a common direction; a sentence's has a length near 1."""
    from ..vectors import WordVectors

    rng = generator(0)
    matrix = (rng.normal(size=(len(corpus.vocabulary), dim)) + rng.normal(size=dim)) / np.sqrt(dim)
    return WordVectors(corpus.vocabulary.tokens, matrix.astype(np.float32))


# ------------------------------------------------------------------------------------------------ sides


def _rows(text: str, row_of: dict[str, int]) -> list[int]:
    """Numbers of the words that have a vector."""
    return [row_of[word] for word in WORD.findall(text.lower()) if word in row_of]


def _authors(texts: list[str], row_of: dict[str, int], weights: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """As the authors' program: lists of rows, padded arrays of rows and weights, one product per sentence."""
    rows = [_rows(text, row_of) for text in texts]
    longest = max(map(len, rows))
    padded, mask = np.zeros((len(rows), longest), dtype=np.int32), np.zeros((len(rows), longest), dtype=np.float32)
    for i, sentence in enumerate(rows):
        padded[i, : len(sentence)], mask[i, : len(sentence)] = sentence, 1.0
    factors = np.zeros(padded.shape, dtype=np.float32)
    for i in range(len(rows)):
        for j in range(longest):
            if mask[i, j] > 0:
                factors[i, j] = weights[padded[i, j]]
    found = np.zeros((len(rows), matrix.shape[1]))
    for i in range(len(rows)):
        if n := np.count_nonzero(factors[i]):
            found[i] = factors[i].dot(matrix[padded[i]]) / n
    return _without_first(found)


def _sparse(texts: list[str], row_of: dict[str, int], weights: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """A sparse matrix (sentences, words) of weights times the word vectors."""
    from scipy import sparse

    indices: list[int] = []
    ends = [0]
    for text in texts:
        indices += _rows(text, row_of)
        ends.append(len(indices))
    columns, offsets = np.array(indices, dtype=np.int32), np.array(ends)
    lengths = np.repeat(np.maximum(np.diff(offsets), 1), np.diff(offsets))
    mixing = sparse.csr_matrix((weights[columns] / lengths.astype(np.float32), columns, offsets), shape=(len(texts), len(matrix)))
    return _without_first(mixing @ matrix)


def _without_first(x: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    first = TruncatedSVD(n_components=1, n_iter=7, random_state=0).fit(x).components_
    return x - x.dot(first.T) * first


def _close(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return ours.shape == theirs.shape and bool(np.abs(ours - theirs).max() <= TOLERANCE)


def _on_one_thread(work: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        with fixed_threads(1):
            return work()

    return run


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """The races, one after the other; texts are read when the first case is asked for."""
    from ..sentences import SIF
    from ..text import Corpus

    sizes = sizes or Sizes()
    texts = _sentences(sizes.sentences)
    corpus = Corpus.from_texts(texts, min_count=sizes.min_count)
    for dim in sizes.dims:
        vectors = _vectors(corpus, dim)
        encoder = SIF(vectors, A, counts=corpus, components="batch", threads=1).fit()
        weights, row_of = encoder.weights_.astype(np.float32), {word: row for row, word in enumerate(vectors.tokens)}
        for peer, how, goal in (("authors' way, Python loops", _authors, GOALS["authors"]), ("scipy.sparse", _sparse, GOALS["sparse"])):
            ours, theirs = partial(encoder.encode, texts), partial(how, texts, row_of, weights, vectors.matrix)
            yield Case("sentences", f"SIF, d={dim}, 1 thread", peer, _on_one_thread(ours), _on_one_thread(theirs), _close, len(texts), "sentences",
                       goal, f"vectors of unit size equal to {TOLERANCE:g}")


# ------------------------------------------------------------------------------------------------ memory


def million_sentences(n: int) -> Callable[[], int]:
    """n sentences of 15 words; gives the work that encodes them, which returns the bytes of their vectors."""
    from ..sentences import SIF
    from ..vectors import WordVectors

    rng, words = generator(1), np.array([f"w{i}" for i in range(20_000)], dtype=object)
    texts: list[str] = []
    while len(texts) < n:
        ranks = np.minimum(rng.zipf(1.2, size=(1000, 15)), len(words)) - 1
        texts += map(" ".join, words[ranks].tolist())
    vectors = WordVectors(words.tolist(), rng.normal(size=(len(words), 100)))
    encoder = SIF(vectors).fit(texts[:1000])
    return lambda: encoder.encode(texts[:n]).nbytes


def memory_rows(*, n: int = 1_000_000) -> Iterator[Row]:
    """Peak memory of encoding a million sentences."""
    yield measure_memory("sentences", "SIF of a million sentences", f"{__name__}:million_sentences", n, goal_factor=1.0, goal_extra_mb=150,
                         prepared=True, unit="sentences")


def rows(*, repeats: int, tell: Callable[[str], None], only: str = "") -> Iterator[Row]:
    """The group: the races whose name holds ``only``, then the memory, which is left out when ``only`` picks cases."""
    from . import sentences_doc2vec

    yield from race((case for case in itertools.chain(cases(), sentences_doc2vec.cases()) if only in case.name), repeats=repeats, tell=tell)
    if not only:
        tell("sentences: memory")
        yield from memory_rows()
