"""The texts that the cases race on: Wikipedia and STS-B where LESSONS_DATA is set, else what comes
with the course. Both sides read the same words."""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import DataMissing

if TYPE_CHECKING:
    from ..text import Corpus


def articles(most: float = math.inf, measured: Callable[[str], int] = len,
             **options: Any) -> Iterator[str]:
    """Articles of Wikipedia that measure more than ``most`` in all; else the bundled sample, whole.
    ``options`` of the data set choose its shards."""
    from ..datasets import load
    size = 0
    try:
        for article in load("wiki", **options):
            yield article
            size += measured(article)
            if size > most:
                return
    except DataMissing:
        yield from load("wikipedia-sample")


def corpus_of(tokens: int, *, min_count: int = 5) -> Corpus:
    """About so many tokens of whole articles, without words that occur less often."""
    from ..text import Corpus
    some_are_rare = 1.15 * tokens
    return Corpus.from_texts(articles(some_are_rare, lambda text: text.count(" ") + 1),
                             min_count=min_count)


@contextlib.contextmanager
def text_file(corpus: Corpus) -> Iterator[Path]:
    """A file of the words of a corpus, one document in a line, for as long as it is needed."""
    tokens = corpus.vocabulary.tokens
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(" ".join([tokens[i] for i in document.tolist()]) + "\n"
                            for document in corpus)
        yield path


def pair_sentences(**options: Any) -> list[str]:
    """Different sentences of a part of STS-B, or of the course's own pairs."""
    from ..datasets import load
    try:
        pairs = load("stsb", **options)
    except DataMissing:
        pairs = load("course-sts")
    both = zip(pairs.sentence1, pairs.sentence2, strict=True)
    return list(dict.fromkeys(text for pair in both for text in pair))
