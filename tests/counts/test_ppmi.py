"""PPMI: zero under independence, blind to scale, symmetric, and finite for every table of counts.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lessons_lib.counts.ppmi import ppmi

tables = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
                    elements=st.integers(0, 50))


def textbook(counts: np.ndarray, shift: float = 0.0, smoothing: float = 1.0) -> np.ndarray:
    """The definition, cell by cell."""
    total, result = counts.sum(), np.zeros(counts.shape)
    contexts = counts.sum(axis=0) ** smoothing
    for w, c in zip(*np.nonzero(counts), strict=True):
        p_word, p_context = counts[w].sum() / total, contexts[c] / contexts.sum()
        result[w, c] = max(0.0, np.log(counts[w, c] / total / (p_word * p_context)) - shift)
    return result


@given(tables, st.sampled_from([0.0, np.log(5)]), st.sampled_from([1.0, 0.75, 0.5]))
def test_ppmi_equals_the_definition(counts, shift, smoothing):
    assert_allclose(ppmi(counts, shift=shift, smoothing=smoothing).toarray(),
                    textbook(counts.astype(float), shift, smoothing), atol=1e-12)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6),
       st.lists(st.integers(0, 1000), min_size=1, max_size=6))
def test_ppmi_of_independent_counts_is_exactly_zero(words, contexts):
    assert ppmi(np.outer(words, contexts)).nnz == 0


@given(tables, st.sampled_from([2, 3, 0.001, 1e150, 1e-150]), st.integers(0, 1000))
def test_a_unit_changes_nothing_and_names_of_words_and_contexts_permute_the_result(
        counts, factor, seed):
    rng = np.random.default_rng(seed)
    rows, columns = (rng.permutation(n) for n in counts.shape)
    result = ppmi(counts).toarray()
    assert_allclose(ppmi(counts * factor).toarray(), result, atol=1e-12)
    assert_allclose(ppmi(counts[rows][:, columns]).toarray(), result[rows][:, columns], atol=1e-12)
    both = ppmi(counts @ counts.T)                   # symmetric counts give a symmetric matrix
    assert (both != both.T).nnz == 0


def test_a_shift_of_log_k_lowers_every_kept_entry_by_log_k():
    counts = np.random.default_rng(0).integers(0, 9, (8, 8))
    lowered = np.maximum(ppmi(counts).toarray() - np.log(2), 0)
    assert_allclose(ppmi(counts, shift=np.log(2)).toarray(), lowered, atol=1e-12)


def test_smoothing_takes_weight_from_rare_contexts():
    counts = np.array([[100, 0], [10, 5]])
    assert 0 < ppmi(counts, smoothing=0.75)[1, 1] < ppmi(counts)[1, 1]
    # words that only meet each other reach -log p
    assert_allclose(ppmi(np.diag([1, 3])).diagonal(), [np.log(4), np.log(4 / 3)], atol=1e-15)


def test_V02_rows_and_columns_without_counts_stay_zero():
    counts = np.array([[3, 0, 1], [0, 0, 0], [1, 0, 4]])
    result = ppmi(counts).toarray()
    assert np.isfinite(result).all() and result.any()
    assert not result[1].any() and not result[:, 1].any()
    assert ppmi(np.zeros((2, 3))).shape == (2, 3)
    assert ppmi(np.zeros((0, 3))).shape == (0, 3)


def test_dense_sparse_and_duplicated_entries_give_one_result_in_canonical_form():
    dense = np.array([[2.0, 1.0], [0.0, 3.0]])
    twice = sparse.coo_matrix(([1.0, 1.0, 1.0, 3.0, 0.0], ([0, 0, 0, 1, 1], [0, 0, 1, 1, 0])),
                              shape=(2, 2))
    expected = ppmi(dense)
    for given_as in (sparse.csr_matrix(dense), sparse.csc_array(dense), twice,
                     dense.astype(np.float32), dense.astype(">f8")[::-1][::-1]):
        result = ppmi(given_as)
        assert result.format == "csr" and result.has_canonical_format
        assert (result.data > 0).all() and result.dtype == np.float64
        assert_array_equal(result.toarray(), expected.toarray())
    assert twice.nnz == 5 and twice.toarray().tolist() == dense.tolist()   # V09: not written


def test_V04_ppmi_of_a_wide_range_is_its_logarithms():
    counts = np.array([[1e300, 1e-300], [1e-300, 1e-300]])
    expected = np.log(1e-300) - 2 * np.log(2e-300) + np.log(1e300)
    assert_allclose(ppmi(counts).toarray(), [[0, 0], [0, expected]], rtol=1e-12)
    for counts in (np.full((3, 3), 1e300) + np.diag([1e300] * 3), np.eye(3) * 1e-300):
        assert np.isfinite(ppmi(counts).data).all()
