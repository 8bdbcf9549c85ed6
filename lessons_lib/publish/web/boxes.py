"""Boxes of the site that answer a reader's own text, where the method of a lesson's ``try_it`` fits
into a page: shared words, neighbours of a word, SIF, BM25.

``boxes.js`` computes what the library computes, from a table that the page loads once the reader
turns to the box. A table of words has those of the boxes and of the course's pairs of sentences,
and the most frequent ones of Wikipedia, each vector in integers of eight bits; that of BM25 has
passages.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...counts.named import sample_sentences
from ...datasets import load
from ...evaluation import question_set, titled
from ...search import InvertedIndex
from ...sentences import SIF
from ...text import tokenize
from ...vectors import WordVectors

__all__ = ["BOXES", "box_html", "box_script", "passages", "sif", "table"]

# By lesson: the method of boxes.js, and the names of the boxes with a text to begin with.
BOXES = {"one_hot": ("overlap", {"first": "Lions drove the hyenas out.",
                                 "second": "The hyenas drove out lions."}),
         "word2vec": ("neighbours", {"a word": "moon", "an analogy: a b c": "man king woman"}),
         "sif_and_usif": ("sif", {"first": "A dog is in the garden.",
                                  "second": "Puppies play outside on grass."}),
         "search": ("bm25", {"question": "Why have so many vessels sunk near the shore of "
                                         "Florida and its neighbours?"})}
N_WORDS = 5_000
N_SENTENCES = 2_000                              # of Wikipedia, for what all of them share
EACH = 3                                         # one of so many passages, beside the answers


def table(model: str) -> WordVectors:
    """The words of a box and the vectors that the page computes with: those of a model of the
    course's vectors, rounded.
    """
    vectors, pairs = load("course-vectors", model=model), load("course-sts")
    shown = (text for _, texts in BOXES.values() for text in texts.values())
    own = {word for text in (*shown, *pairs.sentence1, *pairs.sentence2) for word in tokenize(text)}
    first = sorted(range(len(vectors.tokens)), key=lambda row: vectors.tokens[row] not in own)
    rows = sorted(first[:N_WORDS])               # a sort keeps the order of equals: by frequency
    matrix = vectors.matrix[rows]
    scale = np.abs(matrix).max(axis=1, keepdims=True) / 127
    return WordVectors([vectors.tokens[row] for row in rows], np.rint(matrix / scale) * scale)


def sif(vectors: WordVectors) -> SIF:
    """SIF with the words of a box."""
    return SIF(vectors, counts=load("course-frequencies")).fit(sample_sentences()[:N_SENTENCES])


def passages() -> list[str]:
    """The passages of a box: those that answer a question of the course, and each third other."""
    questions = question_set("course-questions", "dev")
    answers = {row for relevant in questions.relevant for row in relevant}
    return [text for row, text in enumerate(titled(questions))
            if row in answers or row % EACH == 0]


def _numbers(vectors: WordVectors) -> dict[str, Any]:
    scale = np.abs(vectors.matrix).max(axis=1) / 127
    whole = np.rint(vectors.matrix / scale[:, None]).astype(np.int8)
    return {"words": vectors.tokens, "scale": [float(f"{value:.7g}") for value in scale],
            "numbers": base64.b64encode(whole.tobytes()).decode()}


def _data(method: str) -> dict[str, Any]:
    if method == "neighbours":
        return _numbers(table("skip-gram"))
    if method == "sif":
        model = sif(table("glove"))
        return _numbers(table("glove")) | {
            "weights": [float(f"{weight:.7g}") for weight in model.weights_],
            "shared": [float(f"{value:.7g}") for value in model.components_[0]],
            "sentences": N_SENTENCES}
    return {"texts": passages(), "k1": InvertedIndex.k1.default, "b": InvertedIndex.b.default}


def box_script(method: str) -> str:
    """What a page loads for a method: a script that hands its table to ``boxes.js``."""
    data = json.dumps(_data(method), ensure_ascii=False, separators=(",", ":"))
    return f"boxTables[{json.dumps(method)}] = {data};\n"


def box_html(method: str, boxes: Mapping[str, str]) -> str:
    """A form for a method, with its boxes and a place for the answer."""
    fields = "".join(f'<label>{html.escape(name)} <input type="text" maxlength="2000" '
                     f'autocomplete="off" value="{html.escape(text)}"></label>'
                     for name, text in boxes.items())
    return (f'<form class="try-it" data-method="{method}"><p><strong>Your own text</strong>, '
            f"answered in this page:</p>{fields}"
            '<div class="answer" role="status"></div></form>'
            '<script src="../_static/boxes.js"></script>')
