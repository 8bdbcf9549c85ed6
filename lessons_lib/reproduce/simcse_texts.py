"""What the entries on SimCSE learn from: kinds of sentences, and kinds of pairs.

Pairs are anchors and positives: what follows from a sentence, contradicts it, or stands after it.
Used by `simcse` and `outlook`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..core import check_choice
from ..counts.named import sample_sentences
from ..datasets import load
from ..text import split_sentences

__all__ = ["PAIRS", "SENTENCES", "pairs_of", "texts_of"]

FEWEST, MOST = 5, 40  # words of a sentence of Wikipedia
CUT = 12  # words that are left where all sentences shall have the same number


def _of_stsb() -> list[str]:
    pairs = load("stsb", split="train")
    return list(dict.fromkeys([*pairs.sentence1, *pairs.sentence2]))


def _of_wikipedia() -> list[str]:
    texts = dict.fromkeys(sample_sentences())
    return [text for text in texts if FEWEST <= len(text.split()) <= MOST]


def _cut(texts: Iterable[str]) -> list[str]:
    """The first twelve words of every text that has so many."""
    words = [text.split() for text in texts]
    return list(dict.fromkeys(" ".join(text[:CUT]) for text in words if len(text) >= CUT))


def _of_dumps() -> list[str]:
    """A million sentences of Wikipedia, as in the paper."""
    texts: list[str] = []
    for article in load("wiki"):
        texts += split_sentences(article, min_words=FEWEST)
        if len(texts) >= 1_000_000:
            break
    return texts[:1_000_000]


SENTENCES: dict[str, Callable[[], list[str]]] = {
    "STS-B, train": _of_stsb, "Wikipedia": _of_wikipedia,
    "NLI": lambda: list(dict.fromkeys(text for column in (
        "premise", "entailment", "contradiction") for text in getattr(load("nli"), column))),
    f"Wikipedia, {CUT} words": lambda: _cut(_of_wikipedia()),
    f"STS-B, train, {CUT} words": lambda: _cut(_of_stsb()), "Wikipedia, a million": _of_dumps}


def texts_of(kind: str) -> list[str]:
    """Sentences to learn from, each once. Raises ValueError for another name, DataMissing."""
    return SENTENCES[check_choice("sentences", kind, SENTENCES)]()


def _of_classes(*classes: str) -> tuple[list[str], list[str]]:
    pairs = load("nli-pairs", dataset="snli_devtest")
    of_classes = [i for i, label in enumerate(pairs.label) if label in classes]
    return [pairs.sentence1[i] for i in of_classes], [pairs.sentence2[i] for i in of_classes]


def _followers(reach: int) -> tuple[list[str], list[str]]:
    """Sentences of Wikipedia, and those that stand at most so many places after them."""
    anchors, positives = [], []
    for article in load("wikipedia-sample"):
        texts = [text for text in split_sentences(article, min_words=FEWEST)
                 if len(text.split()) <= MOST]
        for place in range(1, reach + 1):
            anchors += texts[:-place]
            positives += texts[place:]
    return anchors, positives


CLASSES = ("entailment", "neutral", "contradiction")
PAIRS: dict[str, Callable[[], tuple[list[str], list[str]]]] = {
    **{name: lambda name=name: _of_classes(name) for name in CLASSES},
    "all classes": lambda: _of_classes(*CLASSES),
    "next sentence": lambda: _followers(1), "next 3 sentences": lambda: _followers(3)}


def pairs_of(kind: str) -> tuple[list[str], list[str]]:
    """Anchors and positives. Raises ValueError for another name, DataMissing."""
    return PAIRS[check_choice("pairs", kind, PAIRS)]()
