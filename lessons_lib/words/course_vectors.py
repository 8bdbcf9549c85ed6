"""The vectors that come with the course, and how anybody makes them again: one text, one recipe per
method, the most frequent words.

The settings were chosen on word similarity, analogies and the dev part of STS-B, never on a test
part; `data/README.md` says what was tried. Lessons from ``04_word2vec`` on load the result with
``datasets.load("course-vectors")``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core import check_choice, check_int, checked_path, write_text
from ..datasets import load, registered
from ..text import Corpus
from ..vectors import WordVectors
from .saved import METHODS

__all__ = [
    "RECIPES", "WORDS", "course_corpus", "course_files", "course_method", "most_frequent",
    "write_frequencies"
]

WORDS = 50_000
MIN_COUNT = 10

RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "skip-gram": ("Word2Vec", {
        "dim": 200, "window": 5, "min_count": MIN_COUNT, "sample": 1e-4, "epochs": 5
    }), "glove": ("GloVe", {
        "dim": 200, "window": 15, "min_count": MIN_COUNT, "x_max": 10.0, "epochs": 40,
        "bias_rate": "code"
    })
}


def course_corpus(*, shards: Sequence[int] | None = None,
                  folder: str | os.PathLike | None = None) -> Corpus:
    """The text of the course vectors: Wikipedia (``wiki``), cut by `Tokenizer`, without words that
    occur less than ten times.

    Parameters: shards, some of the five, None for all; folder, where to lay it on disk. Raises
    DataMissing, with the command that gets it.
    """
    return Corpus.from_texts(load("wiki", shards=shards), min_count=MIN_COUNT, folder=folder)


def course_method(model: str, *, seed: int = 0, threads: int = 1, progress: bool = False) -> Any:
    """The method of "skip-gram" or "glove", not yet fitted, with the settings of the course.

    Raises ValueError for another name.
    """
    kind, settings = RECIPES[check_choice("model", model, RECIPES)]
    method = getattr(importlib.import_module(f"{__package__}.{METHODS[kind]}"), kind)
    return method(**settings, seed=seed, threads=threads, progress=progress)


def course_files(model: str) -> list[str]:
    """Names, below a data folder, of the two files that hold a course model: vectors and card."""
    model = check_choice("model", model, RECIPES)
    return [file.path for file in registered("course-vectors").files_of(model)]


def most_frequent(vectors: WordVectors, n: int = WORDS, *, name: str | None = None) -> WordVectors:
    """The first ``n`` words, which are the most frequent ones. Returns a copy."""
    n = check_int("n", n)
    return WordVectors(vectors.tokens[:n], vectors.matrix[:n].copy(),
                       name=vectors.name if name is None else name)


def write_frequencies(corpus: Corpus, path: str | os.PathLike, n: int = WORDS) -> Path:
    """Write the ``n`` most frequent words and their counts as a table, which
    ``load("course-frequencies")`` reads."""
    n, words = check_int("n", n), corpus.vocabulary
    rows = zip(words.tokens[:n], words.counts[:n].tolist(), strict=True)
    write_text(path, "word\tcount\n" + "".join(f"{token}\t{count}\n" for token, count in rows))
    return checked_path(path)
