"""Records: columns that fit together, never change, and can be cut to some rows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lessons_lib.datasets import Analogies, Documents, SentencePairs, Triplets, WordCounts, WordPairs

PAIRS = SentencePairs(["a", "b", "c"], ["d", "e", "f"], [0, 2.5, 5], subset=["x", "x", "y"], columns={"kind": ["1", "2", "3"]})


@pytest.mark.parametrize("make", [
    lambda: SentencePairs(["a"], ["b", "c"], [1.0]), lambda: SentencePairs(["a"], ["b"], [1.0, 2.0]),
    lambda: SentencePairs(["a"], ["b"], [1.0], subset=[]), lambda: SentencePairs(["a"], ["b"], [1.0], columns={"k": []}),
    lambda: Triplets(["a"], ["b"], []), lambda: Documents(["a"], labels=[0, 1]), lambda: Documents(["a"], titles=[]),
    lambda: WordPairs(["a"], ["b"], []), lambda: Analogies([["a", "b", "c", "d"]], [])])
def test_E03_columns_of_different_length_are_refused(make):
    with pytest.raises(ValueError, match=r"needs columns of one length, got .*: \d"):
        make()


@pytest.mark.parametrize("make", [lambda score: SentencePairs(["a"], ["b"], score), lambda score: WordPairs(["a"], ["b"], score)])
def test_V24_scores_read_as_text_are_refused(make):
    with pytest.raises(TypeError, match=r"score holds str, first '0.5'; expected numbers. Convert them"):
        make(["0.5"])


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_V01_a_score_that_is_no_finite_number_is_refused(score):
    with pytest.raises(ValueError, match=r"score\[1\] holds NaN or infinity"):
        SentencePairs(["a", "b"], ["b", "c"], [1.0, score])


def test_E06_a_score_outside_the_scale_names_its_row():
    with pytest.raises(ValueError, match=r"score\[1\]=5.5 is outside the scale of mine; expected 0 to 5"):
        SentencePairs(["a", "b"], ["b", "c"], [1.0, 5.5], name="mine")


@pytest.mark.parametrize("rows", [[2, 0], np.array([2, 0]), slice(2, None, -2), np.array([True, False, True])])
def test_select_keeps_the_chosen_rows_of_every_column(rows):
    part = PAIRS.select(rows)
    expected = np.arange(3)[rows]
    assert part.sentence1 == [PAIRS.sentence1[i] for i in expected] and part.subset == [PAIRS.subset[i] for i in expected]
    assert part.columns == {"kind": [PAIRS.columns["kind"][i] for i in expected]}
    assert part.score.tolist() == PAIRS.score[expected].tolist() and len(part) == 2


def test_select_of_nothing_is_empty_and_outside_is_an_error():
    assert len(PAIRS.select([])) == 0 and PAIRS.select([]).score.dtype == np.float64
    with pytest.raises(IndexError):
        PAIRS.select([3])


def test_records_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PAIRS.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        PAIRS.score[0] = 1
    mine = np.array([1.0])
    WordPairs(["a"], ["b"], mine)
    mine[0] = 2.0                                                 # the caller's own array stays the caller's


def test_documents_are_a_sequence_of_str():
    documents = Documents(["x", "y", "z"], labels=[0, 1, 0], label_names=("no", "yes"))
    assert list(documents) == ["x", "y", "z"] and documents[1] == "y" and documents[1:] == ["y", "z"] and len(documents) == 3
    assert documents.select([1]).labels.tolist() == [1] and documents.select([1]).label_names == ("no", "yes")


def test_word_probabilities_sum_to_one():
    counts = WordCounts(["a", "b"], [3, 1])
    assert counts.total == 4 and counts.probability.tolist() == [0.75, 0.25]

