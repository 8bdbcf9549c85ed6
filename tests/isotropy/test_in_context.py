"""Groups of rows, and contextualisation: closed forms against double loops, known groups, and that
chance has nothing left after the baseline.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib import isotropy
from lessons_lib.isotropy import (against_chance, group_rows, intra_sentence_similarity,
                                  maximum_explainable_variance, self_similarity)

MEASURES = (self_similarity, intra_sentence_similarity, maximum_explainable_variance)


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


@pytest.fixture
def tokens(cloud):
    """300 token vectors with a common mean; 12 words of uneven frequency, 30 sentences."""
    words = np.random.default_rng(5).choice(12, size=300, p=np.arange(1, 13) / 78)
    return cloud(300, 6, mean=0.5), words, np.arange(300) // 10


def test_43_self_similarity_in_closed_form_equals_all_pairs(tokens):
    x, words, _ = tokens
    groups = group_rows(words)
    found = self_similarity(x, groups)
    for value, word in zip(found, groups.labels, strict=True):
        rows = x[words == word]
        pairs = [cosine(a, b) for i, a in enumerate(rows) for j, b in enumerate(rows) if i != j]
        assert value == pytest.approx(np.mean(pairs) if pairs else 0, abs=1e-12)


def test_43_measures_of_vectors_that_are_known_by_hand(rotation):
    x = np.array([[1.0, 2], [1, 2], [3, 6], [1, 0], [-5, 0], [1, 1], [0, 0], [1, 0], [2, 0]])
    groups = group_rows([0, 0, 0, 1, 1, 2, 3, 3, 3])
    # equal, opposite, alone, and with a zero vector, which has cosine 0 and counts
    assert self_similarity(x, groups) == pytest.approx([1, -1, 0, 1 / 3], abs=1e-12)
    assert intra_sentence_similarity(x, groups)[3] == pytest.approx(2 / 3, abs=1e-12)
    assert intra_sentence_similarity(x[[7, 7]] * [[1], [-1]], group_rows([0, 0]))[0] == 0
    q = rotation(8)
    for n in (1, 4, 8):                      # orthogonal ones still agree with their mean
        assert intra_sentence_similarity(q[:n], group_rows([0] * n))[0] == pytest.approx(
            1 / np.sqrt(n), abs=1e-12)
    x = np.vstack([q[:1], q[:3], q[:8], np.outer([1, -2, 3], q[4]), np.zeros((2, 8))])
    groups = group_rows(np.repeat(range(5), [1, 3, 8, 3, 2]))
    assert maximum_explainable_variance(x, groups) == pytest.approx([1, 1 / 3, 1 / 8, 1, 0],
                                                                    abs=1e-12)
    equal, groups = np.full((20, 3), 0.1), group_rows([0] + [1] * 2 + [2] * 17)
    assert maximum_explainable_variance(equal, groups) == pytest.approx(1, abs=1e-12)
    assert maximum_explainable_variance(equal, groups, centred=True).tolist() == [0, 0, 0]


@pytest.mark.parametrize("centred", [False, True])
def test_explainable_variance_equals_singular_values_of_every_group(tokens, centred):
    x, words, _ = tokens
    groups = group_rows(words, least=2)
    # groups on both sides of the number of columns
    assert groups.sizes.min() < 6 < groups.sizes.max()
    for value, word in zip(maximum_explainable_variance(x, groups, centred=centred), groups.labels,
                           strict=True):
        rows = x[words == word] - centred * x[words == word].mean(axis=0)
        squares = np.linalg.svd(rows, compute_uv=False) ** 2
        assert value == pytest.approx(squares[0] / squares.sum(), abs=1e-12)


def test_intra_sentence_similarity_is_the_mean_cosine_with_the_mean(tokens):
    x, _, sentences = tokens
    for value, s in zip(intra_sentence_similarity(x, group_rows(sentences)), range(30),
                        strict=True):
        rows = x[sentences == s]
        assert value == pytest.approx(np.mean([cosine(rows.mean(axis=0), row) for row in rows]),
                                      abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_rotation_and_unit_change_no_measure(tokens, rotation, measure):
    x, words, _ = tokens
    groups = group_rows(words)
    assert measure(5 * x @ rotation(6), groups) == pytest.approx(measure(x, groups), abs=1e-12)


# ------------------------------------------------------------------------------ against chance


@pytest.mark.parametrize("measure", MEASURES)
def test_46_random_occurrences_have_nothing_left_after_the_baseline(cloud, measure):
    x = cloud(6000, 20, mean=0.5, seed=3)
    words = np.repeat(np.arange(1000), 6)  # "words" of six occurrences that have nothing in common
    found = against_chance(measure, x, group_rows(words), seed=1)
    raw, chance, adjusted = found.means
    assert raw > 0.15 and abs(adjusted) < 0.004
    assert abs(adjusted) < 4 * found.adjusted.std() / np.sqrt(1000)
    assert found.adjusted.mean() == pytest.approx(raw - chance, abs=1e-12)


def test_46_a_baseline_of_more_vectors_is_wrong_for_explainable_variance_right_for_self_similarity(
        cloud):
    x = cloud(6000, 20, mean=0.5, seed=4)
    groups, whole = group_rows(np.repeat(np.arange(1000), 6)), group_rows(np.zeros(6000, int))
    assert maximum_explainable_variance(x, groups).mean() - maximum_explainable_variance(
        x, whole)[0] > 0.1
    assert self_similarity(x, groups).mean() == pytest.approx(
        self_similarity(x, whole)[0], abs=0.01)


def test_words_that_keep_their_vector_stand_out_from_chance(cloud):
    x = np.repeat(cloud(100, 20, mean=0.5), 6, axis=0) + 0.1 * cloud(600, 20, seed=8)
    found = against_chance(self_similarity, x, group_rows(np.repeat(np.arange(100), 6)))
    raw, chance, adjusted = found.means
    assert raw > 0.97 and 0.1 < chance < 0.4 and adjusted > 0.6
    assert repr(found) == f"Adjusted(raw={raw:.3f}, chance={chance:.3f}, adjusted={adjusted:.3f})"


def test_contextuality_holds_every_measure_of_a_layer(tokens):
    x, words, sentences = tokens
    # the first token of every sentence is special
    words = np.where(np.arange(300) % 10 == 0, -1, words)
    found = isotropy.contextuality(x, words, sentences, least=5, seed=7)
    groups = group_rows(words, contexts=sentences, least=5)
    assert found.mean_cosine == pytest.approx(isotropy.mean_cosine(x[words >= 0]), abs=1e-12)
    assert np.array_equal(found.self_similarity.raw, self_similarity(x, groups))
    assert np.array_equal(found.self_similarity.chance, self_similarity(x, groups.random(seed=7)))
    assert np.array_equal(found.explained.raw, maximum_explainable_variance(x, groups))
    named = isotropy.contextuality(x, [f"w{w:02d}" if w >= 0 else "" for w in words], sentences)
    assert np.array_equal(named.explained.raw, found.explained.raw)
    assert len(found.intra_similarity.raw) == 30
    assert found.intra_similarity.raw[0] == pytest.approx(
        intra_sentence_similarity(x[1:10], group_rows([0] * 9))[0], abs=1e-12)


def test_methods_11_3_explained_variance_falls_with_the_sample(cloud):
    """Of vectors of one distribution ten look more static than a hundred: the baseline needs as
    many.
    """
    x = cloud(2000, 20, mean=0.3, seed=2)
    few = maximum_explainable_variance(x, group_rows(np.arange(2000) // 10)).mean()
    many = maximum_explainable_variance(x, group_rows(np.arange(2000) // 100)).mean()
    assert few > many + 0.05


def test_methods_11_3_the_mean_of_a_sentence_contains_every_token(cloud):
    """IntraSim = ‖Σ x‖-weighted: for unit rows it is exactly the length of their mean, so that its
    square is 1/n + (1 - 1/n) SelfSim.
    """
    x = cloud(12, 7, mean=0.4)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    groups = group_rows([0] * 12)
    inside, among = intra_sentence_similarity(x, groups)[0], self_similarity(x, groups)[0]
    assert inside == pytest.approx(np.linalg.norm(x.mean(axis=0)), abs=1e-12)
    assert inside**2 == pytest.approx(1 / 12 + (1 - 1 / 12) * among, abs=1e-12)


# ------------------------------------------------------------------------------ groups


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


def test_words_are_text_too_and_random_groups_have_their_sizes_and_no_row_twice():
    groups = group_rows(["a"] * 4 + ["b"] * 3 + ["c"] + [""] * 9, least=2)
    assert as_dict(groups) == {"a": [0, 1, 2, 3], "b": [4, 5, 6]}
    assert groups.pool.tolist() == list(range(8)) and groups.n_rows == 17
    # as a column of pandas is
    assert group_rows(np.array(["b", "a", "b"], object)).labels.tolist() == ["a", "b"]
    chance = groups.random(seed=2)
    assert chance.sizes.tolist() == [4, 3] and len(set(chance.rows)) == 7
    assert set(chance.rows) <= set(range(8))
    # also from groups that were too small
    assert any(7 in groups.random(seed=s).rows for s in range(10))
    assert np.array_equal(chance.rows, groups.random(seed=2).rows)
    assert not np.array_equal(chance.rows, groups.random(seed=3).rows)
