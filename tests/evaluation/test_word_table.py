"""Word vectors in every shape a caller may hold them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.core import UnknownWord
from lessons_lib.evaluation.word_table import WordTable

WORDS, MATRIX = ["the", "Cat", "dog"], np.array([[1.0, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize("vectors", [
    dict(zip(WORDS, MATRIX, strict=True)), (WORDS, MATRIX),
    SimpleNamespace(tokens=WORDS, matrix=MATRIX),
    SimpleNamespace(words=np.array(WORDS), matrix=MATRIX),
    SimpleNamespace(index_to_key=WORDS, vectors=MATRIX)
])
def test_every_layout_gives_the_same_table(vectors):
    table = WordTable(vectors)
    assert table.words == WORDS and (table.matrix == MATRIX).all()
    assert [table.row(w) for w in ("dog", "DOG", "Cat", "cat", "mouse")] == [2, 2, 1, None, None]


def test_F09_a_repeated_word_keeps_its_first_row():
    assert WordTable((["a", "b", "a"], np.eye(3))).row("a") == 0


@pytest.mark.parametrize("vectors, error, message", [
    (5, TypeError, "vectors=5 is int; expected a dict"),
    (["a"], TypeError, "is list"),
    ((["a"], np.eye(2)), ValueError, "1 words and 2 rows"),
    ({"a": [1, 2], "b": [1, 2, 3]}, ValueError, "expected one width"),
    ({}, ValueError, "vectors has 0 rows; expected >= 1"),
    ((["a", "b"], [[1.0, np.nan], [0, 1]]), ValueError, r"vectors\[0\] holds NaN"),
    ((["a"], np.ones(1)), ValueError, r"vectors has shape \(1,\)"),
])
def test_V01_V05_V06_V07_bad_vectors_are_named(vectors, error, message):
    with pytest.raises(error, match=message):
        WordTable(vectors)


def test_V20_no_complete_question_names_what_is_missing_and_a_near_word():
    with pytest.raises(UnknownWord, match=r"none of the 2 questions.*'horse'.*3 words such as"):
        WordTable((WORDS, MATRIX)).rows([["the", "dog"], ["horse", "cow"]])
