"""The text that methods of word vectors race on, as word numbers for us and as a file of lines for others.

Wikipedia where LESSONS_DATA is set, else the bundled sample. Both sides read the same words: rare ones are taken out beforehand.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import DataMissing

if TYPE_CHECKING:
    from ..text import Corpus

__all__ = ["corpus_of", "text_file"]


def _articles(tokens: int) -> Iterator[str]:
    """Articles with at least so many tokens in all, or all that are at hand."""
    from ..datasets import load

    size = 0
    try:
        for article in load("wiki"):
            yield article
            size += article.count(" ") + 1
            if size > 1.15 * tokens:            # some are rare and left out
                return
    except DataMissing:
        yield from load("wikipedia-sample")


def corpus_of(tokens: int, *, min_count: int = 5) -> Corpus:
    """About so many tokens of whole articles, without words that occur less than ``min_count`` times."""
    from ..text import Corpus

    return Corpus.from_texts(_articles(tokens), min_count=min_count)


@contextlib.contextmanager
def text_file(corpus: Corpus) -> Iterator[Path]:
    """A file of the same words, one document in a line, for as long as it is needed."""
    tokens = corpus.vocabulary.tokens
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(" ".join([tokens[i] for i in document.tolist()]) + "\n" for document in corpus)
        yield path
