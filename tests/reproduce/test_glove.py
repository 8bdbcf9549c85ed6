"""The entries about GloVe and fastText: every pair is graded, unseen words too, and the claims can hold and can fail."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.datasets import WordPairs
from lessons_lib.reproduce import glove
from lessons_lib.reproduce.glove import ENTRIES, graded

PAIRS = WordPairs(["Cat", "cat", "dog"], ["dog", "unseen", "unseen"], np.array([9.0, 5.0, 5.0]), name="three", scale=(0, 10))


def test_a_word_without_a_vector_counts_as_zero_and_no_pair_is_left_out(monkeypatch):
    monkeypatch.setattr(glove, "load", lambda name: PAIRS)
    assert graded({"cat": np.ones(2), "dog": np.ones(2)}, "three", 2) == pytest.approx(100)
    assert graded({"cat": np.ones(2), "dog": -np.ones(2)}, "three", 2) == pytest.approx(-100)


def test_a_function_gives_vectors_for_any_word(monkeypatch):
    monkeypatch.setattr(glove, "load", lambda name: PAIRS)
    assert graded(lambda words: np.array([[1.0, 5.0 * (word == "unseen")] for word in words]), "three", 2) == pytest.approx(100)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_all_claims_hold_of_what_is_printed_and_not_of_equal_scores(entry):
    equal = {name: dict.fromkeys(points, 50.0) for name, points in entry.printed.items()}
    assert all(claim.holds(entry.printed) for claim in entry.claims)
    assert [claim.text for claim in entry.claims if claim.holds(equal)] in ([], ["parts do not help semantic analogies"])


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_the_picture_has_a_cell_for_every_number(entry):
    ax = entry.draw(entry, entry.printed).axes[0]
    assert len([text for text in ax.texts if text.get_text()]) == 2 * sum(map(len, entry.printed.values()))
