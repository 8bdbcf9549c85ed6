"""word2vec beside gensim: the same text, settings, epochs and threads.

gensim gets its faster way, a file that its compiled code reads (``corpus_file``), and only ``train`` is timed, not the count of words; ours is timed
whole, from the words in memory to the finished vectors. Each run has another seed, and the gate scores them all. Two threads race on both sides:
ours that do not (``deterministic``) learn less from one pass. gensim's threads count their own words only, so with two of them the rate falls half
way in a pass; it is told of an end that lies as far below, and both sides go down the same line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .gensim_peer import quiet
from .measure import Case, PeerMissing, fixed_threads
from .word_scores import GATE, compared
from .word_texts import corpus_of, text_file

if TYPE_CHECKING:
    from ..text import Corpus

__all__ = ["Race", "Sizes", "cases"]

FIRST, LAST = 0.025, 0.0001                     # learning rates at both ends


@dataclass(frozen=True)
class Race:
    """One setting, what else ours is told, and how many times faster it should be."""

    dim: int
    goal: float
    cbow: bool = False
    tree: bool = False
    threads: int = 1
    deterministic: bool = True

    @property
    def name(self) -> str:
        """For the table."""
        method = ("CBOW" if self.cbow else "skip-gram") + (", hierarchical softmax" if self.tree else ", 5 negatives")
        threads = "one thread" if self.threads == 1 else f"{self.threads} threads" + ("" if self.deterministic else " that race")
        return f"word2vec, {method}, d={self.dim}, {threads}"


@dataclass(frozen=True)
class Sizes:
    """How much is read; tests use less."""

    tokens: int = 10_000_000
    epochs: int = 1
    races: tuple[Race, ...] = (Race(100, 10.0), Race(100, 9.0, threads=2, deterministic=False), Race(300, 5.0),
                               Race(100, 3.5, cbow=True), Race(300, 1.4, cbow=True), Race(100, 3.0, tree=True))


def _ours(corpus: Corpus, race: Race, epochs: int, seed: int) -> Any:
    from ..words import Word2Vec

    model = Word2Vec(race.dim, architecture="cbow" if race.cbow else "skip_gram", epochs=epochs, seed=seed, threads=race.threads,
                     objective="hierarchical_softmax" if race.tree else "negative_sampling", deterministic=race.deterministic)
    with fixed_threads(race.threads):
        return model.fit(corpus).vectors_


def _peer_model(path: Path, race: Race, seed: int) -> Any:
    """gensim's model with its words counted, which no clock measures."""
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise PeerMissing("gensim is not installed (pip install gensim)") from error
    model = Word2Vec(vector_size=race.dim, sg=int(not race.cbow), hs=int(race.tree), negative=0 if race.tree else 5, window=5, min_count=1,
                     sample=1e-3, workers=race.threads, seed=seed + 1, alpha=FIRST, min_alpha=FIRST - race.threads * (FIRST - LAST))
    with quiet():
        model.build_vocab(corpus_file=str(path))
    return model


def _trained(model: Any, path: Path, epochs: int) -> Any:
    with quiet():
        model.train(corpus_file=str(path), total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=epochs)
    return model.wv


def _case(race: Race, corpus: Corpus, path: Path, epochs: int) -> Case:
    def ours(seed: int) -> Callable[[], Any]:
        return partial(_ours, corpus, race, epochs, seed)

    def theirs(seed: int) -> Callable[[], Any]:
        return partial(_trained, _peer_model(path, race, seed), path, epochs)

    tokens = len(corpus.token_ids)
    return Case("words", f"{race.name}, {tokens / 1e6:.1f} M tokens", "gensim Word2Vec", ours, theirs, compared, tokens * epochs, "words",
                race.goal, GATE, seeded=True)


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """The races, one after the other; the text is read when the first is asked for."""
    sizes = sizes or Sizes()
    corpus = corpus_of(sizes.tokens)
    with text_file(corpus) as path:
        for race in sizes.races:
            yield _case(race, corpus, path, sizes.epochs)
