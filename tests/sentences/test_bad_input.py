"""Bad input of the whole room: each row is a call, the error, and words that it must hold."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import sentences
from lessons_lib.core import NotFittedError, UnknownWord
from lessons_lib.datasets import WordCounts
from lessons_lib.kernels import DocumentState, WindowState
from lessons_lib.sentences import (SIF, USIF, Doc2Vec, DocumentVectors, MeanEncoder,
                                   document_windows, named_encoder)
from lessons_lib.sentences.document_vectors import read_tags
from lessons_lib.vectors import WordVectors

V, T = ValueError, TypeError
TOY = WordVectors(["the", "cat", "dog", "sat"], np.eye(4, 3) + 0.5)
TEXTS = ["the cat", "dog"]
TWICE = WordCounts(["the", "the"], np.array([2, 1]), name="mine")

NO_TEXTS = ("one text", [["a", "b"]], 5)
STATE = [0, 1], [0, 2], np.zeros((2, 2)), np.zeros((2, 2)), [1, 1]
DOCUMENTS = DocumentState(*STATE[:2], np.zeros((4, 2)), *STATE[3:], tags=[0], tag_offsets=[0, 1])


def fitted(texts=TEXTS, tags=None, **settings):
    """A small `Doc2Vec`."""
    return Doc2Vec(**{"dim": 4, "min_count": 1, "epochs": 1} | settings).fit(texts, tags)


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
    # Doc2Vec: settings, texts, tags, inference, before fit
    *((lambda settings=settings: fitted(TEXTS, **settings), *row) for settings, *row in [
        ({"model": "pvdm"}, V, ["model='pvdm' is unknown"]),
        ({"combine": "max"}, V, ["combine='max'"]), ({"train_words": 1}, T, ["train_words=1"]),
        ({"dim": 0}, V, ["dim=0"]), ({"window": 0}, V, ["window=0"]),
        ({"epochs": 0}, V, ["epochs=0"]), ({"learning_rate": 0}, V, ["learning_rate=0"]),
        ({"negatives": 0}, V, ["negatives=0"]), ({"sample": -1}, V, ["sample=-1"]),
        ({"seed": None}, T, ["seed=None"]), ({"threads": 0}, V, ["threads=0"]),
        ({"min_count": 9999}, V, ["min_count=9999 leaves no word"]),
        ({"vector_size": 100}, T, ["did you mean 'dim'"])]),
    *((lambda wrong=wrong: fitted(wrong), T, ["texts"]) for wrong in NO_TEXTS),
    *((lambda wrong=wrong: fitted().infer(wrong), T, ["texts"]) for wrong in NO_TEXTS),
    *((lambda options=options: fitted().infer(["a"], **options), *row) for options, *row in [
        ({"epochs": 0}, V, ["epochs=0"]), ({"epochs": -1}, V, ["epochs=-1"]),
        ({"epochs": 1.5}, T, ["epochs=1.5"]), ({"learning_rate": 0}, V, ["learning_rate=0"]),
        ({"learning_rate": np.nan}, V, ["learning_rate=nan"]),
        ({"batch_size": 0}, V, ["batch_size=0"])]),
    (lambda: fitted(TEXTS, [[1], [2, 3]], combine="concat"), V,
     ["tags[1] holds 2 tags", "expected 1 with combine='concat'"]),
    (lambda: Doc2Vec().encode(["a"]), NotFittedError, ["Doc2Vec is not fitted yet"]),
    (lambda: Doc2Vec().resume(["a"]), NotFittedError, ["Doc2Vec is not fitted yet"]),
    (lambda: Doc2Vec().save("nowhere"), NotFittedError, ["Doc2Vec is not fitted yet"]),
    (lambda: fitted().vectors_["dig"], UnknownWord, ["no vector for 'dig'", "near words: 'dog'"]),
    (lambda: fitted().document_vectors_[240], UnknownWord, ["no document is tagged 240"]),
    # tags and labels
    *((lambda tags=tags: read_tags(tags, 2), *row) for tags, *row in [
        (["ab", "cd"], T, ["tags[0]='ab' is str; expected a list of tags for each document, such "
                           "as ['ab']"]),
        ([[1], 5], T, ["tags[1]=5 is int; expected a list of tags"]),
        ([[1], []], V, ["tags[1]=[] is empty; expected a list of tags"]),
        ([["a"], ["b", "b"]], V, ["tags[1]", "twice"]), ("ab", T, ["tags='ab' is str"]),
        ([[1], [None]], T, ["tags[1][0]=None is NoneType"]), (5, T, ["tags=5 is int"]),
        ([[1], [True]], T, ["tags[1][0]=True is bool"]), ([[1], [1.5]], T, ["tags[1][0]=1.5"]),
        ({1, 2}, T, ["tags=", "is set"]), ([[1]], V, ["tags holds 1 lists for 2 documents"]),
        ([["\ud83d"], [1]], V, ["tags[0][0]"])]),
    (lambda: DocumentVectors([1, 1], np.eye(2)), V, ["a label twice"]),
    (lambda: DocumentVectors([1], np.eye(2)), V, ["matrix has shape"]),
    (lambda: DocumentVectors(["news"], [[1.0]])["new"], UnknownWord,
     ["no document is tagged 'new' among 1 labels; near labels: news"]),
    (lambda: DocumentVectors(["news"], [[0.0]]).most_similar("news"), V,
     ["tagged 'news' has the zero vector"]),
    # windows of documents, names
    (lambda: next(document_windows(WindowState(*STATE))), T, ["expected a kernels.DocumentState"]),
    *((lambda options=options: next(document_windows(DOCUMENTS, **options)), *row)
      for options, *row in [
          ({"model": "cbow"}, V, ["model='cbow' is unknown"]),
          ({"combine": "max"}, V, ["combine='max' is unknown"]), ({"window": 0}, V, ["window=0"])]),
    (lambda: named_encoder("sif-courses"), V, ["Did you mean 'sif-course'"]),
    (lambda: sentences.Sif, AttributeError, ["has no 'Sif'; it has"]),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_what_cannot_be_is_refused_by_name(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == [], caught.value


# ------------------------------------------------------------------------------ too much

TOO_MUCH = [
    *((lambda wrong=wrong: fitted(**wrong), *row) for wrong, *row in [
        ({"dim": 10**9}, MemoryError, ["dim=1000000000", " GB, 1.0 MB are free"]),
        ({"dim": 10**4, "window": 1000, "combine": "concat"}, MemoryError, ["dim=10000"]),
        ({"epochs": 10**18}, V, ["epochs=1000000000000000000", "epochs=10**9"])]),
    (lambda: fitted().infer(["the cat"], epochs=10**18), V, ["epochs=10**9"]),
    (lambda: MeanEncoder(TOY).encode(["the"] * 100_000), MemoryError,
     ["100,000 sentence vectors of 3", "1.2 MB, 1.0 MB are free", "fewer texts"]),
    (lambda: MeanEncoder(TOY, threads=10**9).encode(["the"]), V, ["threads=1000000000"]),
]


@pytest.mark.parametrize(("call", "error", "said"), TOO_MUCH)
def test_what_goes_too_far_is_refused_or_said_at_once(little_memory, call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in said if word not in str(caught.value)] == [], caught.value


def test_a_batch_may_be_as_large_as_one_likes():
    assert MeanEncoder(TOY).encode(["the"], batch_size=2**63).shape == (1, 3)
