"""Lengths and neighbours by frequency: known tables, double loops, and the bins of BERT-flow."""

from __future__ import annotations

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


def test_neighbours_by_bin_equal_the_double_loop(table):
    bins = isotropy.knn_by_frequency(table, COUNTS, edges=(0, 10, 40, 100), ks=(1, 3, 7))
    assert bins.edges.tolist() == [[0, 10], [10, 40], [40, 70]] and bins.ks == (1, 3, 7)
    for b, (low, high) in enumerate(bins.edges):
        assert bins.norms[b] == pytest.approx(
            np.linalg.norm(table[low:high], axis=1).mean(), abs=1e-12)
        for j, k in enumerate(bins.ks):
            assert bins.distances[b, j] == pytest.approx(
                brute(table, range(low, high), k, dot=False), abs=1e-10)
            assert bins.dots[b, j] == pytest.approx(brute(table, range(low, high), k, dot=True),
                                                    abs=1e-10)


def test_the_order_of_the_rows_does_not_matter_but_their_counts_do(table):
    order = np.random.default_rng(1).permutation(70)
    a = isotropy.knn_by_frequency(table, COUNTS, edges=(0, 20, 70))
    b = isotropy.knn_by_frequency(table[order], COUNTS[order], edges=(0, 20, 70))
    assert b.distances == pytest.approx(a.distances, abs=1e-12) and b.dots == pytest.approx(
        a.dots, abs=1e-12)


def test_a_bin_that_begins_later_leaves_its_neighbours_in_place(table):
    late = isotropy.knn_by_frequency(table, COUNTS, edges=(40, 70), ks=(3,))
    assert late.distances[0, 0] == pytest.approx(brute(table, range(40, 70), 3, dot=False),
                                                 abs=1e-10)
    assert late.dots[0, 0] == pytest.approx(brute(table, range(40, 70), 3, dot=True), abs=1e-10)


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


def test_distances_rise_and_dot_products_fall_with_k(table):
    bins = isotropy.knn_by_frequency(table, COUNTS, edges=(0, 30, 70))
    assert (np.diff(bins.distances, axis=1) > 0).all() and (np.diff(bins.dots, axis=1) < 0).all()


def test_lengths_that_fall_with_log_count_are_perfectly_correlated(cloud):
    x = cloud(70, 5)
    x *= ((12 - np.log(COUNTS)) / np.linalg.norm(x, axis=1))[:, None]
    found = isotropy.norm_by_frequency(x[::-1], COUNTS[::-1])
    assert found.pearson == pytest.approx(-1, abs=1e-12) and found.spearman == pytest.approx(
        -1, abs=0.01)
    assert found.counts.tolist() == COUNTS.tolist() and found.norms == pytest.approx(
        12 - np.log(COUNTS), abs=1e-9)


def test_lengths_do_not_depend_on_the_basis_and_correlations_not_on_the_unit(table, rotation):
    a, b = isotropy.norm_by_frequency(table, COUNTS), isotropy.norm_by_frequency(
        1e3 * table @ rotation(5), COUNTS)
    assert b.norms == pytest.approx(1e3 * a.norms, rel=1e-12) and b.pearson == pytest.approx(
        a.pearson, abs=1e-12) and b.spearman == a.spearman


def test_equal_lengths_say_nothing_about_frequency():
    found = isotropy.norm_by_frequency(np.ones((9, 4)), np.arange(1, 10))
    assert found.pearson == found.spearman == 0


def test_V04_lengths_of_huge_and_tiny_vectors_are_right(table):
    for scale in (1e200, 1e-320):
        found = isotropy.norm_by_frequency(np.round(table * 100) * scale, COUNTS)
        plain = isotropy.norm_by_frequency(np.round(table * 100), COUNTS)
        assert found.norms / scale == pytest.approx(plain.norms, rel=1e-12 if scale > 1 else 0.01)
        assert found.pearson == pytest.approx(plain.pearson, abs=1e-3)


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


def test_V23_blocks_give_the_bins_of_the_whole(table, request):
    whole = isotropy.knn_by_frequency(table, COUNTS, edges=(0, 30, 70))
    request.getfixturevalue("small_blocks")
    again = isotropy.knn_by_frequency(table, COUNTS, edges=(0, 30, 70))
    assert np.array_equal(again.distances, whole.distances) and np.array_equal(
        again.norms, whole.norms)


@pytest.mark.parametrize(("options", "said"),
                         [({"edges": (0, 10, 10)}, "expected >= 2 rising ranks"),
                          ({"edges": (5,)}, "expected >= 2 rising"),
                          ({"edges": (70, 80)}, "begin below 70"),
                          ({"edges": (-1, 5)}, r"edges\[0\]=-1"),
                          ({"ks": (70,)}, r"ks\[0\]=70 .* expected int in \[1, 69\]"),
                          ({"ks": ()}, "ks is empty"), ({"ks": (0,)}, r"ks\[0\]=0"),
                          ({"exclude": [70]}, r"row numbers in \[0, 69\]"),
                          ({"exclude": [0.5]}, "exclude="), ({"least": 0}, "least=0"),
                          ({"least": 10**6}, "0 rows with a count >= 1000000")])
def test_V_settings_that_do_not_fit_are_named(table, options, said):
    with pytest.raises(ValueError, match=said):
        isotropy.knn_by_frequency(table, COUNTS, **options)


def test_V05_counts_that_do_not_fit_are_named(table):
    with pytest.raises(ValueError, match="counts has 3 values, the least 1, for 70 rows"):
        isotropy.norm_by_frequency(table, [1, 2, 3])
    with pytest.raises(ValueError, match="the least -1"):
        isotropy.norm_by_frequency(table, np.arange(-1, 69))
    with pytest.raises(ValueError, match=r"counts\[2\] holds NaN"):
        isotropy.norm_by_frequency(table, [1, 2, np.nan])
    with pytest.raises(ValueError, match="x has 2 values, the least 0"):
        isotropy.binned_means([0, 1], [1, 2])


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_V04_distances_of_huge_and_tiny_vectors_are_right(table, scale):
    if scale > 1:
        with pytest.raises(ValueError, match=r"dot products are beyond float64"):
            isotropy.knn_by_frequency(scale * table, COUNTS, edges=(0, 70))
        scale = 1e150
    found, plain = (isotropy.knn_by_frequency(t, COUNTS, edges=(0, 70))
                    for t in (scale * table, table))
    assert found.distances / scale == pytest.approx(
        plain.distances, rel=1e-9) and found.norms / scale == pytest.approx(plain.norms, rel=1e-12)


@pytest.mark.parametrize("options", [{"ks": 3}, {"ks": "3"}, {"edges": 5}, {"exclude": None},
                                     {"exclude": 3}, {"exclude": "the"}])
def test_one_value_where_a_list_is_expected(table, options):
    with pytest.raises(TypeError, match=rf"{next(iter(options))}=.* expected a list of"):
        isotropy.knn_by_frequency(table, COUNTS, **{"edges": (0, 70)} | options)


def test_T13_rows_to_leave_out_may_come_from_a_generator_or_a_set(table):
    expected = isotropy.norm_by_frequency(table, COUNTS, exclude=[1, 5]).rows
    for exclude in (iter([1, 5]), {1, 5}, np.array([1, 5])):
        assert np.array_equal(
            isotropy.norm_by_frequency(table, COUNTS, exclude=exclude).rows, expected)
