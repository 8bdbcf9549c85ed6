"""The entries about CoSENT: each objective learns, labels become numbers."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.contextual import character_encoder
from lessons_lib.reproduce.cosent import OBJECTIVES, chinese_pairs, spearman_of, train_by

FIRST = ["abcd", "aabb", "dcba", "abab", "ccdd", "dddd"]
SECOND = ["abcd", "aabb", "dcab", "abcd", "abcd", "aaaa"]
PAIRS = (FIRST, SECOND, np.array([2.0, 2, 1, 1, 0, 0]))


@pytest.fixture(scope="module")
def reader():
    return character_encoder(FIRST + SECOND, dim=16, layers=1, heads=2, feed_forward=16)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_each_objective_learns_its_pairs_and_leaves_the_encoder_as_it_was(objective, reader):
    before = reader.encode(["abcd"])
    own = {"steps": 40, "batch_size": 6, "learning_rate": 5e-3, "dropout": 0.0}
    model = train_by(objective, reader, PAIRS, seed=0, **own)
    assert np.array_equal(reader.encode(["abcd"]), before)
    assert not np.allclose(model.encode(["abcd"]), before)
    assert model.history_.loss[-1] < model.history_.loss[1]
    if objective != "Sentence-BERT":
        assert spearman_of(model, PAIRS) > spearman_of(reader, PAIRS)


@pytest.mark.data
def test_classes_of_inferences_become_an_order_and_grades_stay(lessons_data):
    first, second, labels = chinese_pairs("SNLI-zh", "dev", 50)
    assert len(first) == len(second) == 50 and set(labels) == {0.0, 1.0, 2.0}
    assert chinese_pairs("STS-B-CNSD", "test")[2].max() == 5
