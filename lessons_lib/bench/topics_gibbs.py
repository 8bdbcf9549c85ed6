"""Gibbs sampling beside tomotopy: the same documents, priors and number of sweeps, one thread each.

The peer's documents are in its memory before the clock starts; ours are read within it, and after the first run the peer goes on with its own
chain. The gate holds both against the same held-out documents, with the same fold-in.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import DataMissing
from .measure import Case, PeerMissing

if TYPE_CHECKING:
    from ..topics import Counts, GibbsLDA

__all__ = ["GibbsSizes", "cases"]

ALPHA, BETA = 0.1, 0.01
ALLOWED = 1.02                                  # our held-out perplexity over the peer's
GOALS = {20: 1.3, 100: 1.8}                     # times faster, by topics


@dataclass(frozen=True)
class GibbsSizes:
    """How much is drawn; tests use less. ``topics``: the numbers of topics to race with; the last ``held_out`` documents are only scored."""

    documents: int = 1200
    held_out: int = 150
    sweeps: int = 80
    topics: tuple[int, ...] = (20, 100)
    min_count: int = 5
    most_frequent: int = 100                    # words left out, as one does for topics


def _texts(n: int) -> list[str]:
    """n articles of Wikipedia, or all of the bundled sample where LESSONS_DATA is not set."""
    from ..datasets import load

    try:
        found = []
        for article in load("wiki", shards=[0]):
            found.append(article)
            if len(found) == n:
                return found
    except DataMissing:
        return list(load("wikipedia-sample"))[:n]
    return found


def _documents(sizes: GibbsSizes) -> tuple[Counts, Counts]:
    """Training and held-out documents in reading order, without the most frequent words."""
    from ..text import Corpus
    from ..topics import Counts

    corpus = Corpus.from_texts(_texts(sizes.documents), min_count=sizes.min_count)
    words, offsets = np.asarray(corpus.token_ids), np.asarray(corpus.offsets)
    last = len(offsets) - 1 - sizes.held_out
    column = np.full(len(corpus.vocabulary), -1)
    chosen = np.unique(words[: offsets[last]])
    chosen = chosen[chosen >= sizes.most_frequent]                      # ids go by falling frequency
    column[chosen] = np.arange(len(chosen))     # words that only held-out documents have say nothing about topics
    kept = column[words] >= 0
    bounds = np.concatenate([[0], np.cumsum(kept)])[offsets]
    words, tokens = column[words[kept]], [corpus.vocabulary.tokens[w] for w in chosen]
    train = Counts.from_reading(bounds[: last + 1], words[: bounds[last]], tokens)
    return train, Counts.from_reading(bounds[last:] - bounds[last], words[bounds[last] :], tokens)


def _ours(n_topics: int, sizes: GibbsSizes) -> GibbsLDA:
    """Our side: estimates of the last sweep, as the peer gives them, and the priors that it learns."""
    from ..topics import GibbsLDA

    return GibbsLDA(n_topics, alpha=ALPHA, beta=BETA, n_sweeps=sizes.sweeps, burn_in=sizes.sweeps, learn_beta=False)


def _peer(train: Counts, n_topics: int, sizes: GibbsSizes) -> Callable[[], Any]:
    """A function that lets the peer draw all tokens ``sweeps`` times more; the model is made at its first call."""
    made: list[Any] = []

    def run() -> Any:
        if not made:
            made.append(_peer_model(train, n_topics))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)             # tomotopy warns of many threads when told to use one
            made[0].train(sizes.sweeps, workers=1)
        return made[0]

    return run


def _peer_model(train: Counts, n_topics: int) -> Any:
    try:
        import tomotopy
    except ImportError as error:
        raise PeerMissing("tomotopy is not installed (pip install tomotopy)") from error
    model = tomotopy.LDAModel(tw=tomotopy.TermWeight.ONE, k=n_topics, alpha=ALPHA, eta=BETA, seed=1)
    offsets, words = train.tokens_in_order()
    names = np.array(train.tokens, dtype=object)[words]
    for begin, end in itertools.pairwise(offsets.tolist()):
        if end > begin:
            model.add_doc(names[begin:end].tolist())
    return model


def _as_ours(model: Any, ours: GibbsLDA) -> GibbsLDA:
    """The peer's topics in an object of ours, so that both fold in the same way."""
    from ..topics import GibbsLDA

    column = {token: w for w, token in enumerate(ours.tokens_)}
    places = [column[token] for token in model.used_vocabs]
    found = GibbsLDA(ours.n_topics)
    found.components_ = np.full(ours.components_.shape, 1e-12)
    for k in range(ours.n_topics):
        found.components_[k, places] = model.get_topic_word_dist(k)
    found.alpha_, found.tokens_, found.word_counts_ = np.array(model.alpha, dtype=np.float64), ours.tokens_, ours.word_counts_
    return found


def cases(*, sizes: GibbsSizes | None = None) -> Iterator[Case]:
    """One race for each number of topics."""
    sizes = sizes or GibbsSizes()
    train, held_out = _documents(sizes)
    for k in sizes.topics:
        def equal(ours: GibbsLDA, theirs: Any) -> bool:
            return ours.perplexity(held_out) <= ALLOWED * _as_ours(theirs, ours).perplexity(held_out)

        yield Case("topics", f"Gibbs LDA, {k} topics, {train.n_tokens:,} tokens, one thread", "tomotopy LDAModel",
                   lambda k=k: _ours(k, sizes).fit(train), _peer(train, k, sizes), equal, train.n_tokens * sizes.sweeps, "tokens x sweeps",
                   GOALS.get(k, 1.0), f"held-out perplexity at most {ALLOWED:g} times the peer's after {sizes.sweeps} sweeps")
