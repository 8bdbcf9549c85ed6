"""Counts: one form for matrices and corpora, and nothing that is no count gets in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from lessons_lib.core import DataWarning
from lessons_lib.text import Corpus, Vocabulary
from lessons_lib.topics import PLSA, as_counts

TABLE = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array,
             np.asfortranarray, lambda t: t.astype(np.float32), lambda t: t.astype(np.uint8),
             lambda t: t.tolist(), lambda t: t.astype(">i8"), lambda t: t.astype(np.float16)])
def test_every_form_of_a_matrix_gives_the_same_counts(form):
    counts = as_counts(form(TABLE))
    assert_array_equal(counts.matrix.toarray(), TABLE)
    assert counts.matrix.dtype == np.int32 and counts.matrix.has_canonical_format
    assert counts.matrix.nnz == 6 and counts.tokens is None
    assert (counts.n_documents, counts.n_words, counts.n_tokens) == (3, 3, 9)
    assert_array_equal(counts.document_lengths, [3, 3, 3])
    assert_array_equal(counts.word_counts, [3, 4, 2])


def test_the_input_is_never_written():
    unsorted = sparse.csr_matrix((np.array([1, 2, 3, 0]), np.array([2, 0, 2, 1]), np.array([0, 4])),
                                 shape=(1, 3))
    before = unsorted.data.copy(), unsorted.indices.copy()
    unsorted.data.setflags(write=False)
    assert_array_equal(as_counts(unsorted).matrix.toarray(), [[2, 0, 4]])
    assert_array_equal(unsorted.data, before[0])
    assert_array_equal(unsorted.indices, before[1])


@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=8), min_size=1, max_size=6))
def test_tokens_in_order_give_the_counts_back(documents):
    corpus = Corpus.from_tokens(documents)
    counts = as_counts(corpus)
    offsets, word_ids = counts.tokens_in_order()
    assert_array_equal(word_ids, corpus.token_ids)
    from_matrix = as_counts(counts.matrix)
    for ids, ends in ((word_ids, offsets), from_matrix.tokens_in_order()[::-1]):
        rows = [np.bincount(ids[a:b], minlength=counts.n_words) for a, b in pairwise(ends)]
        assert_array_equal(counts.matrix.toarray(), rows)


def test_a_warning_of_empty_documents_points_at_the_caller_whichever_way_it_came():
    table = np.array([[1, 2], [0, 0]])
    model = PLSA(2, n_iter=2).fit(table[[0, 0]])
    ways = [
        lambda: as_counts(table), lambda: PLSA(2, n_iter=1).fit(table),
        lambda: PLSA(2, n_iter=1).fit_transform(table), lambda: model.transform(table),
        lambda: model.perplexity(table)
    ]
    for way in ways:
        with pytest.warns(DataWarning, match="1 of 2 documents hold no known token") as caught:
            way()
        assert [w.filename for w in caught] == [__file__]
        assert [w.lineno for w in caught] == [way.__code__.co_firstlineno]


def test_a_name_that_stands_twice_in_a_large_vocabulary_is_found():
    names = [f"w{i}" for i in range(300_000)]
    names[-1] = names[-2]
    with pytest.raises(ValueError, match="vocabulary holds 'w299998' twice"):
        as_counts(sparse.csr_matrix((1, len(names)), dtype=int), vocabulary=names, fitting=False)


def test_another_vocabulary_drops_unknown_words_and_keeps_the_order():
    corpus = Corpus.from_tokens([["b", "a", "c", "b"], ["c"], ["a"]])
    with pytest.warns(DataWarning, match=r"1 of 3 documents hold no known token, first data\[1\]"):
        counts = as_counts(corpus, vocabulary=["a", "z", "b"])
    assert_array_equal(counts.matrix.toarray(), [[1, 0, 2], [0, 0, 0], [1, 0, 0]])
    assert_array_equal(counts.tokens_in_order()[1], [2, 0, 2, 0])
    again = as_counts(counts.rows([0, 2]), vocabulary=["b", "a"])
    assert_array_equal(again.matrix.toarray(), [[2, 1], [0, 1]])


def test_a_vocabulary_names_the_columns_of_a_matrix():
    for names in (["x", "y", "z"], {"z": 2, "x": 0, "y": 1}, Vocabulary(["x", "y", "z"],
                                                                        [3, 2, 1])):
        assert as_counts(TABLE, vocabulary=names).tokens == ["x", "y", "z"]
    assert as_counts(as_counts(TABLE), vocabulary=["x", "y", "z"]).tokens == ["x", "y", "z"]


FORMS = {
    "csr": lambda data, ids: (data, ids, [0, len(ids)]),
    "coo": lambda data, ids: (data, (0 * ids, ids)),
    "csc": lambda data, ids: (data, 0 * ids, np.searchsorted(ids, np.arange(4))),
    "bsr": lambda data, ids: (data[:, None, None], ids, [0, len(ids)])}


def one_row(form: str, data: np.ndarray, ids: np.ndarray):
    """A sparse matrix of a single row in this form, with entries as they are given."""
    return getattr(sparse, f"{form}_matrix")(FORMS[form](data, ids), shape=(1, 3))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("values", "kind", "total"), [
    ((200, 100), np.uint8, 300), ((100, 100), np.int8, 200), ((True, True), bool, 2),
    ((2**24, 1), np.float32, 2**24 + 1), ((40_000, 30_000), np.uint16, 70_000)])
def test_counts_that_are_given_in_parts_add_up_whatever_type_they_have(form, values, kind, total):
    given = one_row(form, np.array([*values, 1], dtype=kind), np.array([0, 0, 2]))
    before = given.data.copy()
    assert_array_equal(as_counts(given).matrix.toarray(), [[total, 0, 1]])
    assert given.data.dtype == kind
    assert_array_equal(given.data, before)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("values", "kind"), [
    ((2**31 - 1, 2**31 - 1), np.int32), ((2**62,) * 4, np.int64), ((2**63, 2**63), np.uint64)])
def test_P13_parts_whose_sum_is_too_large_are_refused_and_do_not_turn_round(form, values, kind):
    with pytest.raises(ValueError, match=r"data\[0, 0\]=.* is no count"):
        as_counts(one_row(form, np.array([*values, 1], dtype=kind),
                          np.array([0] * len(values) + [2])))
