"""Word vectors: word2vec and fastText beside gensim (and fastText's own program), GloVe beside its
authors' programs in C; on the same text, with the same settings, epochs and threads.

Ours are timed whole, from the words in memory to the finished vectors. Each run has another seed,
and a speed counts only where the vectors of all seeds score as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import DataMissing
from .gates import NO_WORSE, WORD_GATE, WORD_SETS, word_scores
from .measure import Case, Verdict, peer_module
from .peers import gensim, stanford
from .texts import corpus_of, text_file

if TYPE_CHECKING:
    from ..text import Corpus

FIRST, LAST = 0.025, 0.0001                     # learning rates of word2vec at both ends
LOSS = 1.02                                     # GloVe: our loss over theirs, in the last epoch
ALL_SETS = WORD_SETS | {"RareWords": "rareword"}
GATES = {
    "Word2Vec": WORD_GATE,
    "FastText": "WordSim-353, SimLex-999 and RareWords (where it is there), words never seen too, "
                f"{NO_WORSE}, or 1 (Spearman x 100)",
}


@dataclass(frozen=True)
class Race:
    """A method of `words` and of gensim, its setting, and how many times faster it should be.
    ``deterministic=False``: our threads race, as gensim's do. ``program``: beside the authors'."""

    method: str
    goal: float
    dim: int = 100
    cbow: bool = False
    tree: bool = False
    threads: int = 1
    deterministic: bool = True
    program: bool = False

    @property
    def name(self) -> str:
        """For the table."""
        title = {"Word2Vec": "word2vec", "FastText": "fastText"}[self.method]
        objective = "hierarchical softmax" if self.tree else "5 negatives"
        beside = ", beside the authors' program" if self.program else ""
        return (f"{title}, {'CBOW' if self.cbow else 'skip-gram'}, {objective}{beside}, "
                f"d={self.dim}, {_on(self.threads)}{'' if self.deterministic else ' that race'}")


RACES = (
    Race("Word2Vec", 10.0), Race("Word2Vec", 9.0, threads=2, deterministic=False),
    Race("Word2Vec", 5.0, dim=300), Race("Word2Vec", 3.5, cbow=True),
    Race("Word2Vec", 1.4, dim=300, cbow=True), Race("Word2Vec", 3.0, tree=True),
    Race("FastText", 3.0), Race("FastText", 3.0, cbow=True), Race("FastText", 3.0, tree=True),
    Race("FastText", 3.0, program=True))


def _on(threads: int) -> str:
    return "one thread" if threads == 1 else f"{threads} threads"


def _ours(corpus: Corpus, race: Race, epochs: int, seed: int) -> Any:
    """A function that trains; it gives vectors, or a fastText, which makes vectors of new words."""
    from .. import words
    model = getattr(words, race.method)(
        race.dim, architecture="cbow" if race.cbow else "skip_gram", min_count=1, epochs=epochs,
        objective="hierarchical_softmax" if race.tree else "negative_sampling", seed=seed,
        threads=race.threads, deterministic=race.deterministic)

    def run() -> Any:
        fitted = model.fit(corpus)
        return fitted.vectors_ if race.method == "Word2Vec" else fitted
    return run


def _gensim(path: Path, race: Race, epochs: int, seed: int) -> Callable[[], Any]:
    """gensim's training. Its threads count their own words only, so with two of them the rate falls
    half way in a pass; it is told of an end that lies as far below, and both sides go down the same
    line."""
    settings: dict[str, Any] = {"Word2Vec": {"sample": 1e-3, "alpha": FIRST,
                                             "min_alpha": FIRST - race.threads * (FIRST - LAST)},
                                "FastText": {"sample": 1e-4, "ns_exponent": 0.5, "alpha": 0.05,
                                             "min_alpha": 5e-6, "min_n": 3, "max_n": 6,
                                             "bucket": 2_000_000}}[race.method]
    model = gensim.counted(race.method, path, seed=seed, vector_size=race.dim,
                           sg=int(not race.cbow), hs=int(race.tree),
                           negative=0 if race.tree else 5, workers=race.threads, **settings)
    return lambda: gensim.trained(model, path, epochs).wv


def _program(path: Path, race: Race, epochs: int, seed: int) -> Callable[[], Any]:
    """The authors' fastText, timed whole, from the file to the model; it takes no seed."""
    return partial(
        peer_module("fasttext").train_unsupervised, str(path), dim=race.dim, epoch=epochs,
        model="cbow" if race.cbow else "skipgram", loss="hs" if race.tree else "ns", lr=0.05, ws=5,
        minCount=1, neg=5, bucket=2_000_000, minn=3, maxn=6, t=1e-4, thread=1, verbose=0)


def _sets() -> dict[str, Any]:
    """The sets of word pairs that are at hand, by title."""
    from ..datasets import load
    sets = {}
    for title, name in ALL_SETS.items():
        try:
            sets[title] = load(name)
        except DataMissing:
            continue
    return sets


def _made(model: Any) -> dict[str, np.ndarray]:
    """The vectors that a fastText of any side makes for all words of the sets, in lower case. It
    may have none for a word whose subwords it never saw."""
    words = {word.lower() for pairs in _sets().values() for word in (*pairs.word1, *pairs.word2)}
    names = ("vector", "get_word_vector", "get_vector")
    vector, vectors = next(getattr(model, name) for name in names if hasattr(model, name)), {}
    for word in sorted(words):
        try:
            vectors[word] = np.asarray(vector(word))
        except KeyError:
            continue
    return vectors


def training_cases(races: Sequence[Race] = RACES, *, tokens: int = 10_000_000,
                   epochs: int = 1) -> Iterator[Case]:
    """The races of word2vec and fastText."""
    corpus = corpus_of(tokens)
    n = len(corpus.token_ids)
    with text_file(corpus) as path:
        for race in races:
            peer = "fastText (C++)" if race.program else f"gensim {race.method}"
            theirs = partial(_program if race.program else _gensim, path, race, epochs)
            case = Case("words", f"{race.name}, {n / 1e6:.1f} M tokens", peer,
                        partial(_ours, corpus, race, epochs), theirs, word_scores, n * epochs,
                        "words", race.goal, GATES[race.method], seeded=True, threads=race.threads)
            if race.method == "FastText":
                case = replace(case, judged=_made, equal=lambda ours, theirs: word_scores(
                    ours, theirs, {title: ALL_SETS[title] for title in _sets()}))
            yield case


def _as_good(ours: Sequence[Any], theirs: Sequence[tuple[float, Path]]) -> Verdict:
    """Whether the loss is as low and the vectors score as well."""
    from ..vectors.text_format import read_text
    scores = word_scores([model.vectors_ for model in ours],
                         [read_text(path, header=False) for _, path in theirs])
    losses = (fmean(float(model.history_[-1]) for model in ours), fmean(loss for loss, _ in theirs))
    told = [f"loss {loss:.5f}, {score}"
            for loss, score in zip(losses, (scores.ours, scores.theirs), strict=True)]
    return Verdict(scores.equal and losses[0] <= LOSS * losses[1], *told)


def counting_cases(*, tokens: int = 10_000_000, window: int = 15, threads: Sequence[int] = (1, 2),
                   goal: float = 12.0) -> Iterator[Case]:
    """The races of counting co-occurrences."""
    from ..counts import Cooccurrences
    corpus = corpus_of(tokens)
    n, what = len(corpus.token_ids), f"co-occurrence counts, window {window}"
    with text_file(corpus) as text:
        for t in threads:
            yield Case("words", f"{what}, {_on(t)}, {n / 1e6:.1f} M tokens",
                       "Stanford's cooccur, one thread",
                       partial(Cooccurrences.from_corpus, corpus, window, threads=t),
                       lambda: stanford.programs(text).counted(window),
                       partial(stanford.same_counts, corpus), n, "tokens", goal,
                       "the same pairs, the same counts")


def glove_cases(*, tokens: int = 1_000_000, window: int = 15, dim: int = 100, epochs: int = 5,
                x_max: float = 10.0, threads: Sequence[int] = (1, 2),
                goal: float = 8.0) -> Iterator[Case]:
    """The races of GloVe's training, on less text; ours with their program's rate for biases."""
    from ..counts import Cooccurrences
    from ..words import GloVe
    corpus, settings = corpus_of(tokens), {"dim": dim, "epochs": epochs, "x_max": x_max}
    counts, words = Cooccurrences.from_corpus(corpus, window), corpus.vocabulary.tokens
    what = f"GloVe, AdaGrad on {len(counts) / 1e6:.1f} M counts, d={dim}"
    with text_file(corpus) as text:
        for t in threads:
            def ours(seed: int, t: int = t) -> Callable[[], Any]:
                model = GloVe(**settings, bias_rate="code", threads=t, seed=seed)
                return partial(model.fit_counts, counts, words)

            yield Case("words", f"{what}, {_on(t)}", f"Stanford's glove, {_on(t)}", ours,
                       stanford.learning(text, window=window, threads=t, **settings), _as_good,
                       len(counts) * epochs, "counts", goal,
                       f"mean loss after {epochs} epochs at most {LOSS:g} times theirs; "
                       f"{WORD_GATE}", seeded=True)


def cases() -> Iterator[Case]:
    """The races, one after the other; a text is read when the first that needs it is asked for."""
    yield from training_cases([race for race in RACES if race.method == "Word2Vec"])
    yield from counting_cases()
    yield from glove_cases()
    yield from training_cases([race for race in RACES if race.method == "FastText"])
