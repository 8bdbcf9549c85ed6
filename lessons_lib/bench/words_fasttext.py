"""fastText beside gensim's, and beside the authors' own program where it is installed: the same text, settings, epochs and one thread.

gensim gets its faster way, a file that its compiled code reads (``corpus_file``), and only ``train`` is timed, not the count of words; the program is
timed whole, from the file to the model, ours whole from the words in memory to the finished vectors. Each run has another seed, and the gate scores
the vectors that every side makes for all words of a set, unseen ones too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import DataMissing
from .gensim_peer import quiet
from .measure import Case, PeerMissing, Verdict, fixed_threads
from .word_scores import compared
from .word_texts import corpus_of, text_file

if TYPE_CHECKING:
    from ..text import Corpus

__all__ = ["Race", "Sizes", "cases"]

SETS = {"WordSim-353": "wordsim353", "SimLex-999": "simlex999", "RareWords": "rareword"}
GATE = ("WordSim-353, SimLex-999 and RareWords (where it is there), words never seen too, mean over the seeds: below the peer's by no more than one "
        "standard deviation of the seeds, or 1 (Spearman x 100)")


@dataclass(frozen=True)
class Race:
    """One setting, and how many times faster it should be; ``program``: than the authors' program."""

    goal: float
    cbow: bool = False
    tree: bool = False
    program: bool = False

    @property
    def name(self) -> str:
        """For the table."""
        peer = ", beside the authors' program" if self.program else ""
        return f"fastText, {'CBOW' if self.cbow else 'skip-gram'}, {'hierarchical softmax' if self.tree else '5 negatives'}{peer}"


@dataclass(frozen=True)
class Sizes:
    """How much is read and learned; tests use less."""

    tokens: int = 10_000_000
    epochs: int = 1
    dim: int = 100
    races: tuple[Race, ...] = (Race(3.0), Race(3.0, cbow=True), Race(3.0, tree=True), Race(3.0, program=True))


def _sets() -> dict[str, str]:
    """The sets that are at hand."""
    from ..datasets import load

    found = {}
    for title, name in SETS.items():
        try:
            load(name)
        except DataMissing:
            continue
        found[title] = name
    return found


def _words() -> list[str]:
    """All words of the sets, in lower case as the text is."""
    from ..datasets import load

    pairs = [load(name) for name in _sets().values()]
    return sorted({word.lower() for pair in pairs for word in (*pair.word1, *pair.word2)})


def _made(model: Any, words: Sequence[str]) -> dict[str, np.ndarray]:
    """The vectors that a model of one side makes for words; it may have none for a word whose parts it never saw."""
    vector, found = next(getattr(model, name) for name in ("vector", "get_word_vector", "get_vector") if hasattr(model, name)), {}
    for word in words:
        try:
            found[word] = np.asarray(vector(word))
        except KeyError:
            continue
    return found


# -------------------------------------------------------------------------------------------------- the three sides


def _ours(corpus: Corpus, race: Race, sizes: Sizes, seed: int) -> Any:
    from ..words import FastText

    model = FastText(sizes.dim, architecture="cbow" if race.cbow else "skip_gram", epochs=sizes.epochs, seed=seed, min_count=1,
                     objective="hierarchical_softmax" if race.tree else "negative_sampling")
    with fixed_threads(1):
        return model.fit(corpus)


def _gensim_model(path: Path, race: Race, sizes: Sizes, seed: int) -> Any:
    """gensim's model with its words counted, which no clock measures."""
    try:
        from gensim.models import FastText
    except ImportError as error:
        raise PeerMissing("gensim is not installed (pip install gensim)") from error
    model = FastText(vector_size=sizes.dim, sg=int(not race.cbow), hs=int(race.tree), negative=0 if race.tree else 5, window=5, min_count=1,
                     sample=1e-4, ns_exponent=0.5, alpha=0.05, min_alpha=5e-6, min_n=3, max_n=6, bucket=2_000_000, workers=1, seed=seed + 1)
    with quiet():
        model.build_vocab(corpus_file=str(path))
    return model


def _gensim_trained(model: Any, path: Path, epochs: int) -> Any:
    with quiet():
        model.train(corpus_file=str(path), total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=epochs)
    return model.wv


def _program(path: Path, race: Race, sizes: Sizes) -> Any:
    try:
        import fasttext
    except ImportError as error:
        raise PeerMissing("the authors' program is not installed (pip install fasttext)") from error
    return fasttext.train_unsupervised(str(path), model="cbow" if race.cbow else "skipgram", loss="hs" if race.tree else "ns", lr=0.05, dim=sizes.dim,
                                       ws=5, epoch=sizes.epochs, minCount=1, neg=5, bucket=2_000_000, minn=3, maxn=6, t=1e-4, thread=1, verbose=0)


def _case(race: Race, corpus: Corpus, path: Path, sizes: Sizes) -> Case:
    def ours(seed: int) -> Callable[[], Any]:
        return partial(_ours, corpus, race, sizes, seed)

    def theirs(seed: int) -> Callable[[], Any]:
        if race.program:                            # takes no seed
            return partial(_program, path, race, sizes)
        return partial(_gensim_trained, _gensim_model(path, race, sizes, seed), path, sizes.epochs)

    def equal(found: Sequence[dict[str, np.ndarray]], expected: Sequence[dict[str, np.ndarray]]) -> Verdict:
        return compared(found, expected, _sets())

    tokens = len(corpus.token_ids)
    name = f"{race.name}, d={sizes.dim}, one thread, {tokens / 1e6:.1f} M tokens"
    return Case("words", name, "fastText (C++)" if race.program else "gensim FastText", ours, theirs, equal, tokens * sizes.epochs,
                "words", race.goal, GATE, seeded=True, judged=lambda model: _made(model, _words()))


def cases(*, sizes: Sizes | None = None) -> Iterator[Case]:
    """The races, one after the other; the text is read when the first is asked for."""
    sizes = sizes or Sizes()
    corpus = corpus_of(sizes.tokens)
    with text_file(corpus) as path:
        for race in sizes.races:
            yield _case(race, corpus, path, sizes)
