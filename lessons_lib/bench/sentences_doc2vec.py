"""Doc2vec beside gensim: the same words, settings, epochs and threads, and whether the vectors serve a classifier as well.

gensim trains from a file that its compiled code reads (``corpus_file``), its fastest way, and only ``train`` is timed; ours is timed whole, from the
words in memory to the finished vectors. New documents are inferred as either library does it: ours from raw texts, all at once, gensim's from ready
lists of words, one by one, which is the only way it has. The gate scores three seeds of each.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import DataMissing
from .gensim_peer import quiet
from .measure import Case, PeerMissing, Verdict, fixed_threads
from .word_texts import text_file

if TYPE_CHECKING:
    from ..text import Corpus

__all__ = ["Race", "Sizes", "cases"]

SEEDS = 3
LEAST = 1.0                                     # percent right: what is allowed even where the seeds hardly differ
GATE = ("a linear classifier on the vectors of 20 Newsgroups, percent right on documents it was not trained on, mean over the seeds: below the "
        f"peer's by no more than one standard deviation of the seeds, or {LEAST:g}")


@dataclass(frozen=True)
class Race:
    """One model and how many times faster it should be, in training, or in inference."""

    model: str
    goal: float
    words: bool = False
    threads: int = 1
    infer: bool = False

    @property
    def name(self) -> str:
        """For the table."""
        model = "PV-DM, mean" if self.model == "dm" else "PV-DBOW" + (" with skip-gram" if self.words else "")
        threads = "one thread" if self.threads == 1 else f"{self.threads} threads"
        return f"doc2vec, {'inference' if self.infer else 'training'}, {model}, 5 negatives, {threads}"


@dataclass(frozen=True)
class Sizes:
    """How much is read; tests use less."""

    documents: int = 6_000
    dim: int = 100
    epochs: int = 10
    min_count: int = 5
    races: tuple[Race, ...] = (Race("dbow", 4.0), Race("dm", 4.5), Race("dbow", 4.0, threads=2), Race("dm", 4.5, threads=2),
                               Race("dbow", 4.0, infer=True), Race("dm", 4.0, infer=True))


@dataclass(frozen=True)
class _News:
    """Documents and their groups; the first ``n_train`` train the classifier, the others test it."""

    texts: list[str]
    labels: np.ndarray
    n_train: int
    corpus: Corpus


def _news(sizes: Sizes) -> _News:
    """20 Newsgroups; where LESSONS_DATA is not set the bundled articles, whose first halves train a classifier that tells the second ones apart."""
    from ..datasets import load
    from ..text import Corpus

    try:
        parts = [load("20newsgroups", split=split) for split in ("train", "test")]
        share = min(1.0, sizes.documents / sum(map(len, parts)))
        kept = [np.linspace(0, len(part) - 1, round(share * len(part))).astype(int).tolist() for part in parts]        # of all groups
        texts = [part.texts[i] for part, rows in zip(parts, kept, strict=True) for i in rows]
        labels, n_train = np.array([part.labels[i] for part, rows in zip(parts, kept, strict=True) for i in rows]), len(kept[0])
    except DataMissing:
        articles = [article.split() for article in itertools.islice(load("wikipedia-sample"), sizes.documents // 2)]
        texts = [" ".join(words[half * len(words) // 2 : (half + 1) * len(words) // 2]) for half in (0, 1) for words in articles]
        labels, n_train = np.tile(np.arange(len(articles)), 2), len(articles)
    return _News(texts, labels, n_train, Corpus.from_texts(texts, min_count=sizes.min_count))


def _right(news: _News, vectors: np.ndarray) -> float:
    """Percent of test documents that a linear classifier puts into their group."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(vectors[: news.n_train])
    x, n = scaler.transform(vectors), news.n_train
    return 100 * LogisticRegression(C=0.1, max_iter=200).fit(x[:n], news.labels[:n]).score(x[n:], news.labels[n:])


def _compared(news: _News, ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> Verdict:
    scores = [[_right(news, vectors) for vectors in side] for side in (ours, theirs)]
    means, spreads = [statistics.fmean(s) for s in scores], [statistics.stdev(s) if len(s) > 1 else 0.0 for s in scores]
    texts = [f"{mean:.1f} ± {spread:.1f} % right" for mean, spread in zip(means, spreads, strict=True)]
    return Verdict(means[0] >= means[1] - max(LEAST, *spreads), *texts)


# ------------------------------------------------------------------------------------------------ sides


def _ours(news: _News, race: Race, sizes: Sizes, seed: int = 0) -> Any:
    from ..sentences import Doc2Vec

    model = Doc2Vec(race.model, sizes.dim, train_words=race.words, epochs=sizes.epochs, min_count=sizes.min_count, seed=seed, threads=race.threads)
    with fixed_threads(race.threads):
        return model.fit(news.corpus)


def _peer_model(path: Path, race: Race, sizes: Sizes, seed: int = 0) -> Any:
    """gensim's model with its words counted, which no clock measures."""
    try:
        from gensim.models.doc2vec import Doc2Vec
    except ImportError as error:
        raise PeerMissing("gensim is not installed (pip install gensim)") from error
    model = Doc2Vec(vector_size=sizes.dim, dm=int(race.model == "dm"), dbow_words=int(race.words), negative=5, window=5, min_count=1, sample=1e-3,
                    workers=race.threads, seed=seed + 1, epochs=sizes.epochs)
    with quiet():
        model.build_vocab(corpus_file=str(path))
    return model


def _trained(model: Any, path: Path) -> Any:
    with quiet():
        model.init_weights()
        model.train(corpus_file=str(path), total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=model.epochs)
    return model


def _once(make: Callable[[], Any]) -> Callable[[], Any]:
    """A function that makes its result at the first call, which is a warm-up, and gives it again at later ones."""
    made: list[Any] = []

    def get() -> Any:
        if not made:
            made.append(make())
        return made[0]

    return get


def _training(race: Race, news: _News, path: Path, sizes: Sizes) -> Case:
    counted = _once(partial(_peer_model, path, race, sizes))

    def ours(seed: int = 0) -> np.ndarray:
        return _ours(news, race, sizes, seed).document_vectors_.matrix

    def equal(found: np.ndarray, expected: np.ndarray) -> Verdict:
        others = [_trained(_peer_model(path, race, sizes, seed), path).dv.vectors for seed in range(1, SEEDS)]
        return _compared(news, [found, *map(ours, range(1, SEEDS))], [expected, *others])

    tokens = news.corpus.n_tokens
    return Case("sentences", f"{race.name}, {tokens / 1e6:.1f} M tokens", "gensim Doc2Vec", ours, lambda: _trained(counted(), path).dv.vectors.copy(),
                equal, tokens * sizes.epochs, "words", race.goal, f"{GATE}; {SEEDS} seeds")


def _inference(race: Race, news: _News, path: Path, sizes: Sizes) -> Case:
    """The test documents are inferred by models that have seen them as well: what is compared is how well inference finds a vector."""
    new, model = news.texts[news.n_train :], _once(partial(_ours, news, race, sizes))
    lists = [news.corpus.tokens(i) for i in range(news.n_train, len(news.texts))]
    peer = _once(lambda: _trained(_peer_model(path, race, sizes), path))

    def ours() -> np.ndarray:
        with fixed_threads(race.threads):
            return model().infer(new)

    def theirs(trained: Any = None) -> np.ndarray:
        trained = trained or peer()
        return np.stack([trained.infer_vector(words) for words in lists])

    def equal(found: np.ndarray, expected: np.ndarray) -> Verdict:
        n, sides = news.n_train, ([], [])
        for seed in range(SEEDS):
            a = model() if seed == 0 else _ours(news, race, sizes, seed)
            b = peer() if seed == 0 else _trained(_peer_model(path, race, sizes, seed), path)
            sides[0].append(np.concatenate([a.document_vectors_.matrix[:n], found if seed == 0 else a.infer(new)]))
            sides[1].append(np.concatenate([b.dv.vectors[:n], expected if seed == 0 else theirs(b)]))
        return _compared(news, *sides)

    return Case("sentences", f"{race.name}, {len(new):,} documents", "gensim infer_vector", ours, theirs, equal, len(new), "documents", race.goal,
                f"{GATE}; {SEEDS} seeds")


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """The races, one after the other; the texts are read when the first is asked for."""
    sizes = sizes or Sizes()
    news = _news(sizes)
    with text_file(news.corpus) as path:
        for race in sizes.races:
            yield (_inference if race.infer else _training)(race, news, path, sizes)
