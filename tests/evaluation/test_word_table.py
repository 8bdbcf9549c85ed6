"""Word vectors in every shape a caller may hold them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lessons_lib.evaluation.word_table import WordTable

WORDS, MATRIX = ["the", "Cat", "dog"], np.array([[1.0, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize("vectors", [dict(zip(WORDS, MATRIX, strict=True)), (WORDS, MATRIX),
                                     SimpleNamespace(tokens=WORDS, matrix=MATRIX),
                                     SimpleNamespace(words=np.array(WORDS), matrix=MATRIX),
                                     SimpleNamespace(index_to_key=WORDS, vectors=MATRIX)])
def test_every_layout_gives_the_same_table(vectors):
    table = WordTable(vectors)
    assert table.words == WORDS and (table.matrix == MATRIX).all()
    assert [table.row(w) for w in ("dog", "DOG", "Cat", "cat", "mouse")] == [2, 2, 1, None, None]


def test_F09_a_repeated_word_keeps_its_first_row():
    assert WordTable((["a", "b", "a"], np.eye(3))).row("a") == 0
