"""Sentence vectors: SIF beside its authors' way and a sparse matrix, Doc2vec beside gensim.

For SIF all sides read the same raw text, make the same words of it and give the same vectors; word
vectors are random about a common direction, because their numbers do not change the work. New
documents are inferred by Doc2vec as either library does it: ours from raw texts, all at once,
gensim's from ready lists of words, one by one, which is the only way it has.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core import DataMissing, generator
from .gates import NO_WORSE, close, no_worse
from .measure import Case, Verdict
from .peers import gensim
from .texts import text_file

if TYPE_CHECKING:
    from ..text import Corpus

A = 1e-3
TOLERANCE = 1e-5                                # of a number; a sentence vector has norm 1 or so
WORD = re.compile(r"\w+")
SEEDS = 3                                       # of Doc2vec
GATE = ("a linear classifier on the vectors of 20 Newsgroups, percent right on documents it was "
        f"not trained on, {NO_WORSE}, or 1; {SEEDS} seeds")


def _sentences(n: int) -> list[str]:
    """Sentences of Wikipedia that hold a word, or of the sample; in NFC, as the peers do not."""
    from ..datasets import load
    from ..text import split_sentences
    try:
        texts = load("wiki-sentences")
    except DataMissing:
        texts = [sentence for article in load("wikipedia-sample")
                 for sentence in split_sentences(article, min_words=4)]
    normal = (unicodedata.normalize("NFC", text) for text in texts if WORD.search(text))
    return list(itertools.islice(normal, n))


def _rows(text: str, row_of: dict[str, int]) -> list[int]:
    """Numbers of the words that have a vector."""
    return [row_of[word] for word in WORD.findall(text.lower()) if word in row_of]


def _authors(texts: list[str], row_of: dict[str, int], weights: np.ndarray,
             matrix: np.ndarray) -> np.ndarray:
    """As the authors' program: padded arrays of rows and weights, one product per sentence."""
    rows = [_rows(text, row_of) for text in texts]
    shape = len(rows), max(map(len, rows))
    padded, mask = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.float32)
    for i, sentence in enumerate(rows):
        padded[i, : len(sentence)], mask[i, : len(sentence)] = sentence, 1.0
    factors = np.zeros(shape, dtype=np.float32)
    for i, j in itertools.product(*map(range, shape)):
        if mask[i, j] > 0:
            factors[i, j] = weights[padded[i, j]]
    result = np.zeros((len(rows), matrix.shape[1]))
    for i in range(len(rows)):
        if n := np.count_nonzero(factors[i]):
            result[i] = factors[i].dot(matrix[padded[i]]) / n
    return _without_first(result)


def _sparse(texts: list[str], row_of: dict[str, int], weights: np.ndarray,
            matrix: np.ndarray) -> np.ndarray:
    """A sparse matrix (sentences, words) of weights times the word vectors."""
    from scipy import sparse
    rows = [_rows(text, row_of) for text in texts]
    n_words = np.array([len(row) for row in rows])
    columns = np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int32)
    shares = weights[columns] / np.repeat(n_words, n_words).astype(np.float32)
    mixing = sparse.csr_matrix((shares, columns, np.concatenate([[0], np.cumsum(n_words)])),
                               shape=(len(texts), len(matrix)))
    return _without_first(mixing @ matrix)


def _without_first(x: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD
    first = TruncatedSVD(n_components=1, n_iter=7, random_state=0).fit(x).components_
    return x - x.dot(first.T) * first


PEERS = {"authors' way, Python loops": (_authors, 10.0), "scipy.sparse": (_sparse, 4.0)}


def sif_cases(*, sentences: int = 100_000, dims: Sequence[int] = (100, 300),
              min_count: int = 3) -> Iterator[Case]:
    """Each peer at each dimension; words rarer than ``min_count`` have no vector."""
    from ..sentences import SIF
    from ..text import Corpus
    from ..vectors import WordVectors
    texts = _sentences(sentences)
    corpus = Corpus.from_texts(texts, min_count=min_count)
    tokens = corpus.vocabulary.tokens
    row_of = {word: row for row, word in enumerate(tokens)}
    for dim in dims:
        rng = generator(0)
        matrix = (rng.normal(size=(len(tokens), dim)) + rng.normal(size=dim)) / np.sqrt(dim)
        vectors = WordVectors(tokens, matrix.astype(np.float32))
        encoder = SIF(vectors, A, counts=corpus, components="batch", threads=1).fit()
        weights = encoder.weights_.astype(np.float32)
        for peer, (way, goal) in PEERS.items():
            yield Case("sentences", f"SIF, d={dim}, 1 thread", peer, partial(encoder.encode, texts),
                       partial(way, texts, row_of, weights, vectors.matrix), close(TOLERANCE),
                       len(texts), "sentences", goal,
                       f"vectors of unit size equal to {TOLERANCE:g}", threads=1)


def million_sentences(n: int) -> Callable[[], int]:
    """The work that encodes n sentences of 15 words and gives the bytes of their vectors."""
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


MEMORY = ({"group": "sentences", "name": "SIF of a million sentences", "n": 1_000_000,
           "function": f"{__name__}:million_sentences", "goal_factor": 1.0, "goal_extra_mb": 150,
           "prepared": True, "unit": "sentences"},)


@dataclass(frozen=True)
class Race:
    """One model and how many times faster it should be, in training, or in inference."""

    model: str
    goal: float
    threads: int = 1
    infer: bool = False

    @property
    def name(self) -> str:
        """For the table."""
        threads = "one thread" if self.threads == 1 else f"{self.threads} threads"
        return (f"doc2vec, {'inference' if self.infer else 'training'}, "
                f"{'PV-DM, mean' if self.model == 'dm' else 'PV-DBOW'}, 5 negatives, {threads}")


RACES = (Race("dbow", 4.0), Race("dm", 4.5), Race("dbow", 4.0, threads=2),
         Race("dm", 4.5, threads=2), Race("dbow", 4.0, infer=True), Race("dm", 4.0, infer=True))


@dataclass(frozen=True)
class News:
    """Documents and their groups; the first ``n_train`` train the classifier, others test it."""

    texts: list[str]
    labels: np.ndarray
    n_train: int
    corpus: Corpus

    @staticmethod
    def read(documents: int, min_count: int) -> News:
        """20 Newsgroups; without LESSONS_DATA the bundled articles. The first halves of articles
        train a classifier that tells the second halves apart."""
        from ..datasets import load
        from ..text import Corpus
        try:
            parts = [load("20newsgroups", split=split) for split in ("train", "test")]
            share = min(1.0, documents / sum(map(len, parts)))
            kept = [(part, i) for part in parts     # of all groups
                    for i in np.linspace(0, len(part) - 1, round(share * len(part))).astype(int)]
            texts = [part.texts[i] for part, i in kept]
            labels = np.array([part.labels[i] for part, i in kept])
            n_train = sum(part is parts[0] for part, _ in kept)
        except DataMissing:
            articles = itertools.islice(load("wikipedia-sample"), documents // 2)
            words = [article.split() for article in articles]
            texts = [" ".join(w[half * len(w) // 2 : (half + 1) * len(w) // 2])
                     for half in (0, 1) for w in words]
            labels, n_train = np.tile(np.arange(len(words)), 2), len(words)
        return News(texts, labels, n_train, Corpus.from_texts(texts, min_count=min_count))

    def percent_right(self, vectors: np.ndarray) -> float:
        """Test documents that a linear classifier puts into their group."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler
        n = self.n_train
        x = StandardScaler().fit(vectors[:n]).transform(vectors)
        classifier = LogisticRegression(C=0.1, max_iter=200).fit(x[:n], self.labels[:n])
        return 100 * classifier.score(x[n:], self.labels[n:])

    def as_good(self, ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> Verdict:
        """Whether the vectors of both sides, one for each seed, serve the classifier as well."""
        scores = [[self.percent_right(vectors) for vectors in side] for side in (ours, theirs)]
        return no_worse({"": scores}, "{}{:.1f} ± {:.1f} % right")


def doc2vec_cases(races: Sequence[Race] = RACES, *, documents: int = 6_000, dim: int = 100,
                  epochs: int = 10, min_count: int = 5) -> Iterator[Case]:
    """Training from the words in memory to the vectors, and inference of the test documents. The
    models have seen these as well: what is compared is how well inference finds a vector. Each
    timed run has a model of its own seed."""
    from ..sentences import Doc2Vec
    news = News.read(documents, min_count)
    n, new, tokens = news.n_train, news.texts[news.n_train :], news.corpus.n_tokens
    lists = [news.corpus.tokens(i) for i in range(n, len(news.texts))]

    def ours(race: Race, seed: int) -> Callable[[], np.ndarray]:
        model = Doc2Vec(race.model, dim, epochs=epochs, min_count=min_count, seed=seed,
                        threads=race.threads)
        if not race.infer:
            return lambda: model.fit(news.corpus).document_vectors_.matrix
        seen = model.fit(news.corpus).document_vectors_.matrix[:n]
        return lambda: (seen, model.infer(new))

    def theirs(path: Path, race: Race, seed: int) -> Callable[[], np.ndarray]:
        model = gensim.counted("Doc2Vec", path, seed=seed, vector_size=dim, sample=1e-3, negative=5,
                               dm=int(race.model == "dm"), workers=race.threads, epochs=epochs)
        if not race.infer:
            return lambda: gensim.trained(model, path, epochs).dv.vectors
        seen = gensim.trained(model, path, epochs).dv.vectors[:n]
        return lambda: (seen, np.stack([model.infer_vector(words) for words in lists]))

    with text_file(news.corpus) as path:
        for race in races:
            size = f"{len(new):,} documents" if race.infer else f"{tokens / 1e6:.1f} M tokens"
            yield Case("sentences", f"{race.name}, {size}",
                       "gensim infer_vector" if race.infer else "gensim Doc2Vec",
                       partial(ours, race), partial(theirs, path, race), news.as_good,
                       len(new) if race.infer else tokens * epochs,
                       "documents" if race.infer else "words", race.goal, GATE, seeded=True,
                       judged=np.concatenate if race.infer else np.asarray, runs=SEEDS,
                       threads=race.threads)


def cases() -> Iterator[Case]:
    """The races, one after the other; texts are read when a case is asked for."""
    yield from sif_cases()
    yield from doc2vec_cases()
