"""Groups of rows: every row in its group, none lost, and chance draws of the same sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.isotropy import group_rows


def as_dict(groups):
    return {label: groups.rows[a:b].tolist() for label, a, b
            in zip(groups.labels.tolist(), groups.offsets[:-1], groups.offsets[1:], strict=True)}


@given(st.lists(st.integers(-1, 4), min_size=1,
                max_size=30).filter(lambda labels: max(labels) >= 0), st.integers(1, 2))
def test_groups_are_those_of_a_dictionary(labels, least):
    expected = {k: [i for i, label in enumerate(labels) if label == k]
                for k in sorted(set(labels) - {-1})}
    expected = {k: rows for k, rows in expected.items() if len(rows) >= least}
    if not expected:
        with pytest.raises(ValueError, match="labels hold"):
            group_rows(labels, least=least)
        return
    groups = group_rows(labels, least=least)
    assert as_dict(groups) == expected and len(groups) == len(
        expected) and groups.sizes.tolist() == [len(rows) for rows in expected.values()]


def test_words_as_text_with_special_tokens_left_out():
    groups = group_rows(["", "b", "a", "b", ""])
    assert as_dict(groups) == {"a": [2], "b": [1, 3]
                               } and groups.pool.tolist() == [1, 2, 3] and groups.n_rows == 5


def test_least_counts_different_contexts_where_these_are_given():
    words, sentences = [0, 0, 0, 1, 1, 1], [7, 7, 7, 7, 8, 9]
    assert as_dict(group_rows(words, contexts=sentences, least=3)) == {1: [3, 4, 5]}
    assert as_dict(group_rows(words, least=3)) == {0: [0, 1, 2], 1: [3, 4, 5]}
    with pytest.raises(ValueError, match="the largest with 3 different contexts; expected >= 1 "
                                         "with least=4"):
        group_rows(words, contexts=sentences, least=4)


def test_most_draws_some_rows_of_large_groups_only():
    groups = group_rows([0] * 20 + [1] * 3, most=5, seed=1)
    assert groups.sizes.tolist() == [5, 3] and groups.rows[5:].tolist() == [20, 21, 22]
    assert len(set(groups.rows[:5])) == 5 and (groups.rows[:5] < 20).all() and len(
        groups.pool) == 23
    assert np.array_equal(groups.rows, group_rows([0] * 20 + [1] * 3, most=5, seed=1).rows)
    draws = np.concatenate([group_rows([0] * 20, most=5, seed=s).rows for s in range(400)])
    assert np.bincount(draws, minlength=20).min() > 60  # each row is drawn 100 times on average


def test_random_groups_have_the_sizes_and_no_row_twice():
    groups = group_rows(["a"] * 4 + ["b"] * 3 + ["c"] + [""] * 9, least=2)
    chance = groups.random(seed=2)
    assert chance.sizes.tolist() == [4, 3] and len(set(chance.rows)) == 7 and set(
        chance.rows) <= set(range(8))
    # also from groups that were too small
    assert any(7 in groups.random(seed=s).rows for s in range(10))
    assert np.array_equal(chance.rows, groups.random(seed=2).rows) and not np.array_equal(
        chance.rows, groups.random(seed=3).rows)


@pytest.mark.parametrize(("labels", "options", "error", "said"),
                         [([], {}, ValueError, r"labels has shape \(0,\)"),
                          ([[1]], {}, ValueError, "one label per row"),
                          ([0.5], {}, TypeError, "expected ints or str"),
                          ([0, 1], {"contexts": [1]}, ValueError, "expected 2 ints"),
                          ([0, 1], {"contexts": [0.5, 1]}, ValueError, "expected 2 ints"),
                          ([-1, -2], {}, ValueError, "hold 0 groups"),
                          ([0], {"least": 0}, ValueError, "least=0"),
                          ([0], {"most": 0}, ValueError, "most=0")])
def test_V_labels_and_settings_that_do_not_fit_are_named(labels, options, error, said):
    with pytest.raises(error, match=said):
        group_rows(labels, **options)


def test_T13_T21_labels_are_a_list_or_an_array():
    for labels in ("abc", iter([1, 2]), {1, 2}, 5, None):
        with pytest.raises(TypeError, match="labels=.* expected a list or an array"):
            group_rows(labels)
    # as a column of pandas is
    assert group_rows(np.array(["b", "a", "b"], object)).labels.tolist() == ["a", "b"]
