"""Online variational Bayes beside gensim and scikit-learn: one pass over the same documents with the same priors, start, batches and stopping rule.

The peers' documents lie in memory, in the form each likes best, before the clock starts; ours are checked within it. Each peer runs in its faster
way: worker processes (``LdaMulticore``, ``n_jobs=2``) were slower than one process with two threads of linear algebra at every size tried.
The gate scores the topics of both sides on the same held-out halves of documents, with the same fold-in. One start differs from the next by a percent
or two, so three are compared, where all sides begin with the same random topics.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import DataMissing, available_cores, generator
from .gensim_peer import quiet
from .measure import Case, PeerMissing, fixed_threads

if TYPE_CHECKING:
    from ..topics import Counts

__all__ = ["OnlineSizes", "cases"]

THREADS, STARTS = 2, 3
ALLOWED = 1.02                                  # our held-out perplexity over the peer's, each the mean of all starts
GOALS = {20: 5.0, 100: 2.0}                     # times faster, by topics
BATCH, DECAY, OFFSET, MOST_STEPS, TOLERANCE = 256, 0.7, 10.0, 100, 1e-3


@dataclass(frozen=True)
class OnlineSizes:
    """How much is read; tests use less. ``topics``: the numbers of topics to race with; the last ``held_out`` documents are only scored."""

    documents: int = 9000
    held_out: int = 1000
    length: int = 256                           # tokens in a document, of the words that are kept
    topics: tuple[int, ...] = (20, 100)
    words: int = 20_000
    most_frequent: int = 100                    # words left out, as one does for topics


def _articles(tokens: int) -> list[str]:
    """Articles of Wikipedia with at least so many characters, or all of the bundled sample where LESSONS_DATA is not set."""
    from ..datasets import load

    found, size = [], 0
    try:
        for article in load("wiki", shards=[0]):
            found.append(article)
            size += len(article)
            if size > 12 * tokens:              # characters per token that is kept, function words and rare ones included
                break
    except DataMissing:
        return list(load("wikipedia-sample"))
    return found


def _documents(sizes: OnlineSizes) -> tuple[Counts, Counts]:
    """Training and held-out documents: articles cut into pieces of equal length, without the most frequent and the rarest words."""
    from ..text import Corpus

    corpus = Corpus.from_texts(_articles(sizes.documents * sizes.length), max_size=sizes.words + sizes.most_frequent)
    words, offsets = np.asarray(corpus.token_ids), np.asarray(corpus.offsets)
    kept = words >= sizes.most_frequent         # ids go by falling frequency
    bounds = np.concatenate([[0], np.cumsum(kept)])[offsets]
    cuts = np.concatenate([np.arange(a, b - sizes.length + 1, sizes.length) for a, b in itertools.pairwise(bounds)])
    cuts = generator(0).permutation(cuts)[: sizes.documents]
    pieces = (words[kept] - sizes.most_frequent)[cuts[:, None] + np.arange(sizes.length)]
    tokens = corpus.vocabulary.tokens[sizes.most_frequent :]
    n = len(pieces) - min(sizes.held_out, len(pieces) // 4)
    return _counts(pieces[:n], tokens), _counts(pieces[n:], tokens)


def _counts(pieces: np.ndarray, tokens: list[str]) -> Counts:
    from ..topics import Counts

    return Counts.from_reading(np.arange(len(pieces) + 1) * pieces.shape[1], pieces.ravel(), tokens)


# ------------------------------------------------------------------------------------------------ sides


def _random_topics(train: Counts, n_topics: int, seed: int) -> np.ndarray:
    """Where all sides begin: Dirichlet parameters (K, V), as ours draws them."""
    from ..topics.online_lda_state import TopicWords

    return TopicWords.at_random(np.full(train.n_words, 1.0 / n_topics), n_topics, seed).dense()


def _ours(train: Counts, n_topics: int, seed: int = 0) -> np.ndarray:
    """One pass of ours. Returns Dirichlet parameters of the topics, (K, V)."""
    from ..topics import OnlineLDA

    model = OnlineLDA(n_topics, batch_size=BATCH, decay=DECAY, offset=OFFSET, max_inner=MOST_STEPS, tol=TOLERANCE, seed=seed,
                      threads=min(THREADS, available_cores()))
    return model.partial_fit(train.matrix, total=train.n_documents).lambda_


def _gensim(train: Counts, n_topics: int, seed: int) -> Callable[[], np.ndarray]:
    try:
        from gensim.models import LdaModel
    except ImportError as error:
        raise PeerMissing("gensim is not installed") from error
    rows = [list(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in train.matrix]
    names, start = dict(enumerate(train.tokens)), _random_topics(train, n_topics, seed)

    def run() -> np.ndarray:
        with fixed_threads(THREADS), quiet():
            model = LdaModel(num_topics=n_topics, id2word=names, chunksize=BATCH, passes=1, decay=DECAY, offset=OFFSET + 1, iterations=MOST_STEPS,
                             gamma_threshold=TOLERANCE, eval_every=0, random_state=seed)              # gensim counts steps from 0, the others from 1
            model.state.sstats[:] = start - model.eta
            model.sync_state()
            model.update(rows)
            return model.state.get_lambda()

    return run


def _sklearn(train: Counts, n_topics: int, seed: int) -> Callable[[], np.ndarray]:
    from scipy.special import digamma
    from sklearn.decomposition import LatentDirichletAllocation

    start = _random_topics(train, n_topics, seed)
    expected = np.exp(digamma(start) - digamma(start.sum(axis=1, keepdims=True)))

    def run() -> np.ndarray:
        model = LatentDirichletAllocation(n_topics, learning_method="online", batch_size=BATCH, total_samples=train.n_documents, learning_decay=DECAY,
                                          learning_offset=OFFSET, max_doc_update_iter=MOST_STEPS, mean_change_tol=TOLERANCE, random_state=seed)
        with fixed_threads(THREADS):
            model.partial_fit(train.matrix[:1])               # makes the attributes that are set anew here
            model.components_, model.exp_dirichlet_component_, model.n_batch_iter_ = start.copy(), expected.copy(), 1
            return model.partial_fit(train.matrix).components_

    return run


def _perplexity(topics: np.ndarray, held_out: Counts) -> float:
    """Held-out perplexity of topics given as Dirichlet parameters (K, V): document completion with our fold-in."""
    from ..topics import OnlineLDA, completion_perplexity
    from ..topics.online_lda_state import TopicWords

    judge = OnlineLDA(len(topics), max_inner=MOST_STEPS, tol=TOLERANCE)
    judge.alpha_ = np.full(len(topics), 1.0 / len(topics))
    judge.components_ = topics / topics.sum(axis=1, keepdims=True)
    excess = np.ascontiguousarray(topics.T, dtype=np.float32)
    judge._words = TopicWords(excess, excess.sum(axis=0, dtype=np.float64), np.zeros(topics.shape[1]))
    return completion_perplexity(judge, held_out)


def _peer(make: Callable[..., Callable[[], Any]], train: Counts, n_topics: int) -> Callable[[], Any]:
    """The peer's side; its documents are brought into its form at the first call, which no clock measures."""
    made: list[Callable[[], Any]] = []

    def run() -> Any:
        if not made:
            made.append(make(train, n_topics, 0))
        return made[0]()

    return run


def _race(peer: str, make: Callable[..., Callable[[], Any]], n_topics: int, train: Counts, held_out: Counts) -> Case:
    def equal(found: np.ndarray, expected: np.ndarray) -> bool:
        ours = [found, *(_ours(train, n_topics, seed) for seed in range(1, STARTS))]
        theirs = [expected, *(make(train, n_topics, seed)() for seed in range(1, STARTS))]
        return sum(_perplexity(topics, held_out) for topics in ours) <= ALLOWED * sum(_perplexity(topics, held_out) for topics in theirs)

    return Case("topics", f"online LDA, K={n_topics}, one pass", peer, partial(_ours, train, n_topics), _peer(make, train, n_topics), equal,
                train.n_documents, "documents", GOALS.get(n_topics, 1.0),
                f"held-out perplexity by document completion, mean of {STARTS} starts, at most 2 % above the peer's")


def cases(*, sizes: OnlineSizes | None = None) -> Iterator[Case]:
    """The races, one after the other; documents are made when the first case is asked for."""
    sizes = sizes or OnlineSizes()
    train, held_out = _documents(sizes)
    for n_topics in sizes.topics:
        for peer, make in (("gensim LdaModel", _gensim), ("scikit-learn LatentDirichletAllocation", _sklearn)):
            yield _race(peer, make, n_topics, train, held_out)
