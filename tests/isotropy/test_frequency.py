"""Lengths and neighbours by frequency: known tables, double loops, and the bins of BERT-flow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from lessons_lib import isotropy


@pytest.fixture
def table(cloud):
    return cloud(70, 5, mean=0.2) * np.linspace(0.5, 2, 70)[:, None]


COUNTS = np.round(10_000 / np.arange(1, 71)).astype(int)


def brute(words, rows, k, *, dot):
    """Mean over rows of the k smallest distances, or the k largest dot products, with the other
    rows.
    """
    found = []
    for i in rows:
        others = np.delete(words, i, axis=0)
        values = others @ words[i] if dot else np.linalg.norm(others - words[i], axis=1)
        found.append((np.sort(values)[::-1] if dot else np.sort(values))[:k].mean())
    return np.mean(found)


@pytest.mark.parametrize("edges", [(0, 10, 40, 100), (40, 70)])
def test_neighbours_by_bin_equal_the_double_loop(table, edges):
    bins = isotropy.knn_by_frequency(table, COUNTS, edges=edges, ks=(1, 3, 7))
    assert bins.edges.tolist() == [[a, min(b, 70)] for a, b in pairwise(edges)]
    assert bins.ks == (1, 3, 7)
    for b, (low, high) in enumerate(bins.edges):
        lengths = np.linalg.norm(table[low:high], axis=1)
        assert bins.norms[b] == pytest.approx(lengths.mean(), abs=1e-12)
        for j, k in enumerate(bins.ks):
            for found, dot in ((bins.distances, False), (bins.dots, True)):
                expected = brute(table, range(low, high), k, dot=dot)
                assert found[b, j] == pytest.approx(expected, abs=1e-10)


def test_the_order_of_the_rows_does_not_matter_but_their_counts_do(table):
    order = np.random.default_rng(1).permutation(70)
    a = isotropy.knn_by_frequency(table, COUNTS, edges=(0, 20, 70))
    b = isotropy.knn_by_frequency(table[order], COUNTS[order], edges=(0, 20, 70))
    assert b.distances == pytest.approx(a.distances, abs=1e-12) and b.dots == pytest.approx(
        a.dots, abs=1e-12)


def test_equal_words_are_neighbours_of_each_other_but_none_of_itself():
    words = np.repeat(np.eye(3), 4, axis=0) * 2
    bins = isotropy.knn_by_frequency(words, np.full(12, 5), edges=(0, 12), ks=(3, 4))
    assert bins.distances[0].tolist() == pytest.approx([0, np.sqrt(8) / 4], abs=1e-12)
    assert bins.dots[0].tolist() == pytest.approx([4, 3], abs=1e-12)


def test_excluded_rows_are_neither_asked_nor_answer(table):
    more = np.vstack([table[0] + 1e-9, table, 100 * np.ones((2, 5))])
    counts = np.concatenate([[10**6], COUNTS, [3, 0]])
    bins = isotropy.knn_by_frequency(more, counts, edges=(0, 70), exclude=[0], least=4)
    assert bins.distances == pytest.approx(
        isotropy.knn_by_frequency(table, COUNTS, edges=(0, 70)).distances, abs=1e-12)
    assert isotropy.norm_by_frequency(more, counts, exclude=[0], least=4).rows.tolist() == list(
        range(1, 71))


def test_the_bins_of_bert_flow_are_cut_where_the_words_end():
    words = np.random.default_rng(0).normal(size=(620, 3))
    bins = isotropy.knn_by_frequency(words, np.arange(620, 0, -1))
    assert bins.edges.tolist() == [[0, 100], [100, 500], [500, 620]] and bins.ks == (3, 5, 7)
    assert bins.names == ["rank 1–100", "rank 101–500", "rank 501–620"]
    assert isotropy.BERT_FLOW_EDGES == (0, 100, 500, 5000, 10_000)


def test_twice_the_table_has_twice_the_distances_and_four_times_the_dot_products(table, rotation):
    a, b = (isotropy.knn_by_frequency(t, COUNTS, edges=(0, 70))
            for t in (table, 2 * table @ rotation(5)))
    assert b.norms == pytest.approx(2 * a.norms, rel=1e-10)
    assert b.distances == pytest.approx(2 * a.distances, rel=1e-10) and b.dots == pytest.approx(
        4 * a.dots, rel=1e-10)


def test_lengths_that_fall_with_log_count_are_perfectly_correlated(cloud):
    x = cloud(70, 5)
    x *= ((12 - np.log(COUNTS)) / np.linalg.norm(x, axis=1))[:, None]
    found = isotropy.norm_by_frequency(x[::-1], COUNTS[::-1])
    assert found.pearson == pytest.approx(-1, abs=1e-12)
    assert found.spearman == pytest.approx(-1, abs=0.01)
    assert found.counts.tolist() == COUNTS.tolist()
    assert found.norms == pytest.approx(12 - np.log(COUNTS), abs=1e-9)
    equal = isotropy.norm_by_frequency(np.ones((9, 4)), np.arange(1, 10))
    assert equal.pearson == equal.spearman == 0


def test_lengths_do_not_depend_on_the_basis_and_correlations_not_on_the_unit(table, rotation):
    a, b = (isotropy.norm_by_frequency(t, COUNTS) for t in (table, 1e3 * table @ rotation(5)))
    assert b.norms == pytest.approx(1e3 * a.norms, rel=1e-12) and b.spearman == a.spearman
    assert b.pearson == pytest.approx(a.pearson, abs=1e-12)


@pytest.mark.parametrize("scale", [1e200, 1e150, 1e-200, 1e-320])
def test_V04_lengths_and_distances_of_huge_and_tiny_vectors_are_right(table, scale):
    whole = np.round(table * 100)
    found, plain = (isotropy.norm_by_frequency(t, COUNTS) for t in (whole * scale, whole))
    assert found.norms / scale == pytest.approx(plain.norms, rel=0.01 if scale < 1e-300 else 1e-12)
    assert found.pearson == pytest.approx(plain.pearson, abs=1e-3)
    if 1e-300 < scale < 1e200:
        found, plain = (isotropy.knn_by_frequency(t, COUNTS, edges=(0, 70))
                        for t in (scale * table, table))
        assert found.distances / scale == pytest.approx(plain.distances, rel=1e-9)
        assert found.norms / scale == pytest.approx(plain.norms, rel=1e-12)


def test_binned_means_keep_every_point_and_the_overall_mean():
    x, y = np.array([1, 2, 4, 8, 1000.0]), np.array([1, 2, 3, 4, 50.0])
    middle, mean, sizes = isotropy.binned_means(x, y, bins=3)
    assert sizes.tolist() == [4, 1] and mean.tolist() == [2.5, 50] and middle == pytest.approx(
        [np.exp(np.log([1, 2, 4, 8]).mean()), 1000])
    assert [part.tolist() for part in isotropy.binned_means([5, 5], [1, 3])] == [[pytest.approx(5)],
                                                                                 [2], [2]]
    counts, norms, sizes = isotropy.norm_by_frequency(
        np.random.default_rng(0).normal(size=(70, 5)), COUNTS).by_count(bins=6)
    assert sizes.sum() == 70 and (np.diff(counts) > 0).all() and len(norms) == len(sizes)


def test_T13_rows_to_leave_out_may_come_from_a_generator_or_a_set(table):
    expected = isotropy.norm_by_frequency(table, COUNTS, exclude=[1, 5]).rows
    for exclude in (iter([1, 5]), {1, 5}, np.array([1, 5])):
        assert np.array_equal(
            isotropy.norm_by_frequency(table, COUNTS, exclude=exclude).rows, expected)
