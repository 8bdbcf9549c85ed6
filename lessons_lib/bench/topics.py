"""Topic models: Gibbs sampling beside tomotopy, online variational Bayes beside gensim and
scikit-learn; the same documents, priors and number of sweeps or batches.

The peers' documents lie in memory, in the form each likes best, before the clock starts; ours are
checked within it. A speed counts only where held-out documents are predicted as well, with the same
fold-in. Each peer of online Bayes runs in its faster way: worker processes (``LdaMulticore``,
``n_jobs=2``) were slower than one process with two threads of linear algebra at every size tried.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import available_cores, generator
from .measure import Case, peer_module
from .peers import gensim
from .texts import articles

if TYPE_CHECKING:
    from ..topics import Counts

ALPHA, BETA = 0.1, 0.01                         # priors of Gibbs sampling
THREADS, STARTS = 2, 3                          # of online Bayes
ALLOWED = 1.02                                  # our held-out perplexity over the peer's
MOST_FREQUENT = 100                             # words left out, as one does for topics
GIBBS, ONLINE = {20: 1.3, 100: 1.8}, {20: 5.0, 100: 2.0}       # times faster, by topics
BATCHES = {"batch": 256, "decay": 0.7, "offset": 10.0, "most_steps": 100, "tolerance": 1e-3}


def article_counts(documents: int, held_out: int, min_count: int,
                   most_frequent: int) -> tuple[Counts, Counts]:
    """Articles in reading order, without the most frequent words; the last are held out."""
    from ..text import Corpus
    from ..topics import Counts
    texts = list(itertools.islice(articles(shards=[0]), documents))
    corpus = Corpus.from_texts(texts, min_count=min_count)
    words, offsets = np.asarray(corpus.token_ids), np.asarray(corpus.offsets)
    last = len(offsets) - 1 - held_out
    column = np.full(len(corpus.vocabulary), -1)
    chosen = np.unique(words[: offsets[last]])  # others say nothing about topics
    chosen = chosen[chosen >= most_frequent]    # ids go by falling frequency
    column[chosen] = np.arange(len(chosen))
    kept = column[words] >= 0
    bounds = np.concatenate([[0], np.cumsum(kept)])[offsets]
    words, tokens = column[words[kept]], [corpus.vocabulary.tokens[w] for w in chosen]
    train = Counts.from_reading(bounds[: last + 1], words[: bounds[last]], tokens)
    return train, Counts.from_reading(bounds[last:] - bounds[last], words[bounds[last] :], tokens)


def _tomotopy(train: Counts, n_topics: int, sweeps: int) -> Callable[[], Any]:
    """A function that draws all tokens ``sweeps`` times more; the first call makes the model."""
    @cache
    def made() -> Any:
        tomotopy = peer_module("tomotopy")
        model = tomotopy.LDAModel(tw=tomotopy.TermWeight.ONE, k=n_topics, alpha=ALPHA, eta=BETA,
                                  seed=1)
        offsets, words = train.tokens_in_order()
        names = np.array(train.tokens, dtype=object)[words]
        for begin, end in itertools.pairwise(offsets.tolist()):
            if end > begin:
                model.add_doc(names[begin:end].tolist())
        return model

    def run() -> Any:
        with warnings.catch_warnings():         # it warns of many threads when told to use one
            warnings.simplefilter("ignore", RuntimeWarning)
            made().train(sweeps, workers=1)
        return made()
    return run


def _predicts_as_well(held_out: Counts, ours: Any, theirs: Any) -> bool:
    """Compare perplexities: the peer's topics go into an object of ours and fold in alike."""
    from ..topics import GibbsLDA
    column = {token: w for w, token in enumerate(ours.tokens_)}
    places = [column[token] for token in theirs.used_vocabs]
    model = GibbsLDA(ours.n_topics)
    model.components_ = np.full(ours.components_.shape, 1e-12)
    for k in range(ours.n_topics):
        model.components_[k, places] = theirs.get_topic_word_dist(k)
    model.alpha_ = np.array(theirs.alpha, dtype=np.float64)
    model.tokens_, model.word_counts_ = ours.tokens_, ours.word_counts_
    return ours.perplexity(held_out) <= ALLOWED * model.perplexity(held_out)


def gibbs_cases(topics: Sequence[int] = tuple(GIBBS), *, documents: int = 1200,
                held_out: int = 150, sweeps: int = 80, min_count: int = 5,
                most_frequent: int = MOST_FREQUENT) -> Iterator[Case]:
    """Ours gives estimates of the last sweep, as the peer does, and learns its priors too."""
    from ..topics import GibbsLDA
    train, scored = article_counts(documents, held_out, min_count, most_frequent)
    for k in topics:
        def ours(k: int = k) -> Any:
            return GibbsLDA(k, alpha=ALPHA, beta=BETA, n_sweeps=sweeps, burn_in=sweeps,
                            learn_beta=False).fit(train)

        yield Case("topics", f"Gibbs LDA, {k} topics, {train.n_tokens:,} tokens, one thread",
                   "tomotopy LDAModel", ours, _tomotopy(train, k, sweeps),
                   partial(_predicts_as_well, scored), train.n_tokens * sweeps, "tokens x sweeps",
                   GIBBS.get(k, 1.0),
                   f"held-out perplexity at most {ALLOWED:g} times the peer's after {sweeps} "
                   "sweeps")


def cut_counts(documents: int, held_out: int, length: int, words: int,
               most_frequent: int) -> tuple[Counts, Counts]:
    """Articles cut to equal length, without the most frequent and the rarest words."""
    from ..text import Corpus
    from ..topics import Counts
    characters = 12 * documents * length        # 12 per kept token; others are left out
    corpus = Corpus.from_texts(articles(characters, shards=[0]), max_size=words + most_frequent)
    ids, offsets = np.asarray(corpus.token_ids), np.asarray(corpus.offsets)
    kept = ids >= most_frequent                 # ids go by falling frequency
    bounds = np.concatenate([[0], np.cumsum(kept)])[offsets]
    cuts = np.concatenate([np.arange(a, b - length + 1, length)
                           for a, b in itertools.pairwise(bounds)])
    cuts = generator(0).permutation(cuts)[:documents]
    cut = (ids[kept] - most_frequent)[cuts[:, None] + np.arange(length)]
    tokens, n = corpus.vocabulary.tokens[most_frequent:], len(cut) - min(held_out, len(cut) // 4)
    return tuple(Counts.from_reading(np.arange(len(part) + 1) * length, part.ravel(), tokens)
                 for part in (cut[:n], cut[n:]))


def _random_topics(train: Counts, n_topics: int, seed: int) -> np.ndarray:
    """Where all sides begin: Dirichlet parameters (K, V), as ours draws them."""
    from ..topics.online_lda_state import TopicWords
    return TopicWords.at_random(np.full(train.n_words, 1.0 / n_topics), n_topics, seed).dense()


def _ours(train: Counts, n_topics: int, seed: int) -> Callable[[], np.ndarray]:
    """One pass of ours. All sides give Dirichlet parameters of the topics, (K, V)."""
    from ..topics import OnlineLDA
    def run() -> np.ndarray:
        model = OnlineLDA(n_topics, batch_size=BATCHES["batch"], decay=BATCHES["decay"],
                          offset=BATCHES["offset"], max_inner=BATCHES["most_steps"],
                          tol=BATCHES["tolerance"], seed=seed,
                          threads=min(THREADS, available_cores()))
        return model.partial_fit(train.matrix, total=train.n_documents).lambda_
    return run


def _gensim(train: Counts, n_topics: int, seed: int) -> Callable[[], np.ndarray]:
    return gensim.online_lda(train, _random_topics(train, n_topics, seed), seed, **BATCHES)


def _sklearn(train: Counts, n_topics: int, seed: int) -> Callable[[], np.ndarray]:
    from scipy.special import digamma
    from sklearn.decomposition import LatentDirichletAllocation
    start = _random_topics(train, n_topics, seed)
    expected = np.exp(digamma(start) - digamma(start.sum(axis=1, keepdims=True)))

    def run() -> np.ndarray:
        model = LatentDirichletAllocation(
            n_topics, learning_method="online", batch_size=BATCHES["batch"],
            total_samples=train.n_documents, learning_decay=BATCHES["decay"],
            learning_offset=BATCHES["offset"], max_doc_update_iter=BATCHES["most_steps"],
            mean_change_tol=BATCHES["tolerance"], random_state=seed)
        model.partial_fit(train.matrix[:1])     # makes the attributes that are set anew here
        model.components_, model.exp_dirichlet_component_ = start.copy(), expected.copy()
        model.n_batch_iter_ = 1
        return model.partial_fit(train.matrix).components_
    return run


def _completes_as_well(held_out: Counts, ours: Sequence[np.ndarray],
                       theirs: Sequence[np.ndarray]) -> bool:
    """Compare perplexities by document completion with our fold-in, summed over the starts."""
    from ..topics import OnlineLDA, completion_perplexity
    from ..topics.online_lda_state import TopicWords
    def perplexity(topics: np.ndarray) -> float:
        judge = OnlineLDA(len(topics), max_inner=BATCHES["most_steps"], tol=BATCHES["tolerance"])
        judge.alpha_ = np.full(len(topics), 1.0 / len(topics))
        judge.components_ = topics / topics.sum(axis=1, keepdims=True)
        excess = np.ascontiguousarray(topics.T, dtype=np.float32)
        judge._words = TopicWords(excess, excess.sum(axis=0, dtype=np.float64),
                                  np.zeros(topics.shape[1]))
        return completion_perplexity(judge, held_out)
    return sum(map(perplexity, ours)) <= ALLOWED * sum(map(perplexity, theirs))


def online_cases(topics: Sequence[int] = tuple(ONLINE), *, documents: int = 9000,
                 held_out: int = 1000, length: int = 256, words: int = 20_000,
                 most_frequent: int = MOST_FREQUENT) -> Iterator[Case]:
    """One start differs from the next by a percent or two, so `STARTS` are compared."""
    train, scored = cut_counts(documents, held_out, length, words, most_frequent)
    peers = {"gensim LdaModel": _gensim, "scikit-learn LatentDirichletAllocation": _sklearn}
    for k, (peer, theirs) in itertools.product(topics, peers.items()):
        yield Case("topics", f"online LDA, K={k}, one pass", peer, partial(_ours, train, k),
                   partial(theirs, train, k), partial(_completes_as_well, scored),
                   train.n_documents, "documents", ONLINE.get(k, 1.0),
                   f"held-out perplexity by document completion, mean of {STARTS} starts, "
                   "at most 2 % above the peer's", seeded=True, runs=STARTS, threads=THREADS)


def cases() -> Iterator[Case]:
    """The races, one after the other; corpora are made when a case is asked for."""
    yield from gibbs_cases()
    yield from online_cases()
