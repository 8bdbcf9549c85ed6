"""What counts as a set of graded pairs, and what is refused before anything is encoded."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lessons_lib.evaluation.pair_sets import pair_sets


def test_distinct_sentences_are_kept_once_and_rows_point_to_them(pairs_of):
    (found,) = pair_sets(pairs_of(["a", "b", "a"], ["b", "a", "c"], [1, 2, 3]), split=None)
    assert found.sentences == ["a", "b", "c"]
    assert [found.sentences[k] for k in found.left] == ["a", "b", "a"]
    assert [found.sentences[k] for k in found.right] == ["b", "a", "c"]


def test_close_pairs_lie_strictly_above_four_fifths_of_any_scale(pairs_of):
    texts = list("abcd"), list("efgh")
    (five,) = pair_sets(pairs_of(*texts, [4.0, 4.001, 5, 0]), split=None)
    assert_array_equal(five.close, [1, 2])
    (sick,) = pair_sets(pairs_of(*texts, [4.2, 4.3, 5, 1], scale=(1, 5)), split=None)
    assert_array_equal(sick.close, [1, 2])


def test_a_name_may_come_from_the_object_or_from_a_dict(pairs_of):
    toy = pairs_of(["a", "b"], ["c", "d"], [1, 2])
    assert [s.name for s in pair_sets([toy], split=None)] == ["toy"]
    assert [s.name for s in pair_sets({"mine": toy, "again": toy}, split=None)] == ["mine", "again"]


def test_subsets_keep_their_order_and_labelled_pairs_use_their_source(pairs_of):
    toy = pairs_of(list("abc"), list("def"), [1, 2, 3], subset=["news", "forum", "news"])
    (found,) = pair_sets(toy, split=None)
    assert {name: part.tolist() for name, part in found.subsets.items()} == {
        "news": [0, 2], "forum": [1]
    }
    labelled = SimpleNamespace(sentence1=list("ab"), sentence2=list("cd"), label=["0", "1"],
                               dataset=["LCQMC", "AFQMC"], name="zh")
    (found,) = pair_sets(labelled, split=None)
    assert_array_equal(found.gold, [0, 1])
    assert list(found.subsets) == ["LCQMC", "AFQMC"] and found.scale == (0, 1)


def test_labels_that_are_no_grades_name_the_first(pairs_of):
    labelled = SimpleNamespace(sentence1=list("ab"), sentence2=list("cd"), label=["1", "neutral"],
                               dataset=None, name="zh")
    with pytest.raises(TypeError, match=r"zh.label\[1\]='neutral' is no grade.*select"):
        pair_sets(labelled, split=None)


@pytest.mark.parametrize("wrong, message", [(5, r"datasets=5 is int"), ([], "0 sets"),
                                            ([5], "int without sentence1, sentence2")])
def test_what_is_no_set_of_pairs_is_named(wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pair_sets(wrong, split=None)


def test_the_same_name_twice_is_refused(pairs_of):
    toy = pairs_of(["a", "b"], ["c", "d"], [1, 2])
    with pytest.raises(ValueError, match="'toy' 2 times; pass a dict"):
        pair_sets([toy, toy], split=None)


@pytest.mark.parametrize("change, message", [
    ({"sentence2": ["c"]}, r"toy.sentence2 has 1 values and toy.sentence1 has 2"),
    ({"score": [1.0]}, r"toy.score has 1 values and toy.sentence1 has 2"),
    ({"score": [1.0, np.nan]}, r"toy.score\[1\] holds NaN"),
    ({"score": [2.0, 2.0]}, r"toy.score is constant: all 2 values"),
    ({"score": ["1", "2"]}, r"toy.score\[0\]='1' is text"),
    ({"subset": ["x"]}, r"toy.subset has 1 values for 2 pairs"),
    ({"sentence1": ["a", None]}, r"toy.sentence1\[1\]=None is NoneType"),
    ({"sentence1": ["a"], "sentence2": ["b"], "score": [1]}, r"hold 1 pairs"),
    ({"score": None}, "without score"),
])
def test_E16_E05_bad_columns_name_set_and_column(pairs_of, change, message):
    toy = pairs_of(["a", "b"], ["c", "d"], [1.0, 2.0])
    with pytest.raises((TypeError, ValueError), match=message):
        pair_sets(SimpleNamespace(**(vars(toy) | change)), split=None)
