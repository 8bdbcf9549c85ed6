"""Bad input of the methods that add up word vectors: each row is a call, the error, and words that
it must hold.
"""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import NotFittedError
from lessons_lib.datasets import WordCounts
from lessons_lib.sentences import SIF, USIF, MeanEncoder
from lessons_lib.vectors import WordVectors

V, T = ValueError, TypeError
TOY = WordVectors(["the", "cat", "dog", "sat"], np.eye(4, 3) + 0.5)
TEXTS = ["the cat", "dog"]
TWICE = WordCounts(["the", "the"], np.array([2, 1]), name="mine")


def broken(row: int, column: int, value: float) -> WordVectors:
    """Vectors into which somebody wrote afterwards."""
    vectors = WordVectors(list(TOY.tokens), TOY.matrix.copy())
    vectors.matrix[row, column] = value
    return vectors


CALLS = [
    # T01 to T14: texts
    (lambda: MeanEncoder(TOY).encode("the cat"), T, ["one str"]),
    (lambda: MeanEncoder(TOY).encode(["the", None]), T, ["texts[1]"]),
    (lambda: MeanEncoder(TOY).encode([["the", "cat"]]), T, ["Corpus.from_tokens"]),
    (lambda: MeanEncoder(TOY).encode(["\ud83d"]), V, ["U+D83D"]),
    *((lambda method=method: method.fit([]), V, ["0 documents"])
      for method in (MeanEncoder(TOY, "idf"), SIF(TOY), USIF(TOY))),
    *((lambda method=method: method.fit(["unheard", "words"]), V,
       ["texts", "none of their 2 words has a vector", "expected >= 1 known word"])
      for method in (MeanEncoder(TOY, "idf"), SIF(TOY), USIF(TOY))),
    (lambda: SIF(TOY, components="batch").fit(), V, ["texts=None", "word frequencies unknown"]),
    (lambda: SIF(TOY, counts={"the": 1}).fit(), V, ['components="corpus" unknown']),
    (lambda: USIF(TOY, counts={"the": 1}, components="batch").fit(), V, ["texts=None leaves"]),
    # before fit
    (lambda: MeanEncoder(TOY, "idf").encode(["the cat"]), NotFittedError, ["call fit"]),
    (lambda: SIF(TOY).encode(["the"]), NotFittedError, ["call fit"]),
    (lambda: SIF(TOY).dim, NotFittedError, ["call fit"]),
    # V01: a vector that is not finite
    (lambda: MeanEncoder(broken(1, 2, np.nan)).encode(["the dog", "the cat"]), V,
     ["the vector of 'cat', holds NaN or infinity"]),
    (lambda: SIF(broken(2, 0, np.inf)).fit(["the dog", "cat"]), V,
     ["the vector of 'dog', holds NaN or infinity"]),
    # P: settings, checked before texts are read
    *((lambda settings=settings: MeanEncoder(**{"vectors": TOY} | settings).encode(TEXTS), *row)
      for settings, *row in [
          ({"weights": "tf-idf"}, V, ["Did you mean 'tfidf'"]),
          ({"threads": 0}, V, ["threads=0"]),
          ({"tokenizer": 3}, T, ["expected a Tokenizer"]),
          ({"vectors": [1]}, T, ["vectors=[1]", "WordVectors"])]),
    *((lambda settings=settings: SIF(**{"vectors": TOY} | settings).fit(TEXTS), *row)
      for settings, *row in [
          ({"a": 0.0}, V, ["a=0.0 is out of range", "expected a finite number > 0"]),
          ({"a": -1}, V, ["a=-1"]), ({"a": "1"}, T, ["a='1'"]), ({"a": np.nan}, V, ["a=nan"]),
          ({"counts": {"the": 2, "cat": 0}}, V, ["counts['cat']=0 is out of range"]),
          ({"counts": {"the": np.nan}}, V, ["counts['the']=nan"]),
          ({"counts": {}}, V, ["0 words"]), ({"counts": {3: 1}}, T, ["the word 3"]),
          ({"counts": {"the": "9"}}, T, ["expected numbers"]),
          ({"counts": 5}, T, ["counts=5 is int"]), ({"counts": TWICE}, V, ["'the' twice"]),
          ({"n_components": -1}, V, ["n_components=-1"]),
          ({"n_components": 1.5}, T, ["n_components=1.5"]),
          ({"components": "texts"}, V, ["'corpus', 'batch'"]),
          ({"vectors": np.eye(3)}, T, ["WordVectors"]), ({"threads": -1}, V, ["threads"])]),
    *((lambda settings=settings: USIF(TOY, **settings).fit(TEXTS), *row)
      for settings, *row in [
          ({"sentence_length": 0.5}, V, ["sentence_length=0.5"]),
          ({"sentence_length": True}, T, ["sentence_length=True"]),
          ({"normalise": "word"}, V, ["Did you mean 'words'"]),
          ({"n_components": -1}, V, ["n_components=-1"]),
          ({"counts": {"the": -2}}, V, ["counts['the']=-2"])]),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_what_cannot_be_is_refused_by_name(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), caught.value
