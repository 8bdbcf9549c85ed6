"""The entries about word2vec: accuracies by part are right, every series has its printed twin, and the claims can fail."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.reproduce import entries, run
from lessons_lib.reproduce.word2vec import ENTRIES, SCALES, accuracies
from lessons_lib.vectors import WordVectors


def test_the_accuracies_are_those_of_the_parts_and_of_all_questions():
    family, plural = ["boy", "girl", "brother", "sister"], ["bird", "birds", "dog", "dogs"]
    vectors = np.eye(8)[:, :4]
    vectors[:4] = [[1, 0, 0, 0], [1, 1, 0, 0], [-1, 0, 1, 0], [-1, 1, 1, 0]]           # an exact parallelogram
    vectors[4:] = [[0, 0, 1, 5], [0, 5, 1, 0], [0, 0, -1, 5], [5, 0, 0, 0]]            # none
    semantic, syntactic, total = accuracies(WordVectors(family + plural, vectors), among=8)
    assert 0 <= syntactic < total < semantic <= 100


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_what_is_printed_is_what_is_measured_and_drawn(entry, monkeypatch):
    monkeypatch.setattr("lessons_lib.reproduce.word2vec._trained", lambda settings, seed, **options: ((1.0, 2.0, 1.5), 0.1))
    measured = entry.measure(SCALES["smoke"], 0)
    assert {name: set(points) for name, points in measured.items()} == {name: set(points) for name, points in entry.printed.items()}
    assert not any(claim.holds(measured) for claim in entry.claims) and all(claim.holds(entry.printed) for claim in entry.claims)
    assert entry.draw(entry, measured).axes


@pytest.mark.slow
@pytest.mark.data
def test_the_claims_about_architectures_hold_at_the_smallest_scale(lessons_data, tmp_path):
    outcome = run(entries()["mikolov2013_architectures"], scale="smoke", folder=tmp_path)
    assert outcome.verdicts["three passes solve more than one"]
