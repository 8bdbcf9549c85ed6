"""The races of sentence vectors run on a few texts, and their gate sees a difference."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.bench import sentences
from lessons_lib.bench.measure import measure


@pytest.mark.slow
def test_both_sides_give_the_same_vectors():
    found = [measure(case, repeats=1) for case in sentences.cases(sizes=sentences.Sizes(sentences=400, dims=(20,), min_count=2))]
    assert [row.peer for row in found] == ["authors' way, Python loops", "scipy.sparse"] and all(row.value > 0 for row in found)


def test_the_gate_sees_a_number_that_differs():
    x = np.ones((4, 3))
    y = x.copy()
    y[2, 1] += 3e-5
    assert sentences._close(x, x) and not sentences._close(x, y) and not sentences._close(x, x[:3])


def test_a_million_sentences_are_as_many_as_asked_for():
    assert sentences.million_sentences(1500)() == 1500 * 100 * 4
