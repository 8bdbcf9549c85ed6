"""What counts as a set of graded pairs, and what is refused before anything is encoded."""

from __future__ import annotations

from types import SimpleNamespace

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


def test_a_named_set_is_loaded_with_the_split_that_was_asked_for(pairs_of, monkeypatch):
    from lessons_lib import datasets

    asked = []

    def load(name, **options):
        asked.append((name, options))
        return pairs_of(["a", "b"], ["c", "d"], [1, 2])

    monkeypatch.setattr(datasets, "load", load)
    for split in ("dev", None):
        pair_sets(["stsb"], split=split)
    assert asked == [("stsb", {"split": "dev"}), ("stsb", {})]


def test_subsets_keep_their_order_and_labelled_pairs_use_their_source(pairs_of):
    toy = pairs_of(list("abc"), list("def"), [1, 2, 3], subset=["news", "forum", "news"])
    (found,) = pair_sets(toy, split=None)
    assert {name: part.tolist() for name, part in found.subsets.items()} == {"news": [0, 2],
                                                                             "forum": [1]}
    labelled = SimpleNamespace(sentence1=list("ab"), sentence2=list("cd"), label=["0", "1"],
                               dataset=["LCQMC", "AFQMC"], name="zh")
    (found,) = pair_sets(labelled, split=None)
    assert_array_equal(found.gold, [0, 1])
    assert list(found.subsets) == ["LCQMC", "AFQMC"] and found.scale == (0, 1)
