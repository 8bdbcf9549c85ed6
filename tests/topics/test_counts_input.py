"""Counts: one form for matrices and corpora, and nothing that is no count gets in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from lessons_lib.core import DataWarning
from lessons_lib.counts import BagOfWords
from lessons_lib.text import Corpus, Vocabulary
from lessons_lib.topics import as_counts

TABLE = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array, np.asfortranarray,
                                  lambda t: t.astype(np.float32), lambda t: t.astype(np.uint8), lambda t: t.tolist(),
                                  lambda t: t.astype(">i8"), lambda t: t.astype(np.float16)])
def test_every_form_of_a_matrix_gives_the_same_counts(form):
    counts = as_counts(form(TABLE))
    assert_array_equal(counts.matrix.toarray(), TABLE)
    assert counts.matrix.dtype == np.int32 and counts.matrix.has_canonical_format and counts.matrix.nnz == 6 and counts.tokens is None
    assert (counts.n_documents, counts.n_words, counts.n_tokens) == (3, 3, 9)
    assert_array_equal(counts.document_lengths, [3, 3, 3])
    assert_array_equal(counts.word_counts, [3, 4, 2])


def test_the_input_is_never_written():
    unsorted = sparse.csr_matrix((np.array([1, 2, 3, 0]), np.array([2, 0, 2, 1]), np.array([0, 4])), shape=(1, 3))
    before = unsorted.data.copy(), unsorted.indices.copy()
    unsorted.data.setflags(write=False)
    assert_array_equal(as_counts(unsorted).matrix.toarray(), [[2, 0, 4]])
    assert_array_equal(unsorted.data, before[0])
    assert_array_equal(unsorted.indices, before[1])


@settings(max_examples=40, deadline=None)
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


def test_a_corpus_and_its_bag_of_words_agree():
    texts = ["the cat sat", "the dog sat on the cat"]
    bag = BagOfWords()
    counts = as_counts(bag.fit_transform(texts), vocabulary=bag.vocabulary_)
    of_corpus = as_counts(Corpus.from_texts(texts), vocabulary=bag.vocabulary_)
    assert_array_equal(counts.matrix.toarray(), of_corpus.matrix.toarray())
    assert counts.tokens == of_corpus.tokens == sorted(bag.vocabulary_)


def test_another_vocabulary_drops_unknown_words_and_keeps_the_order():
    corpus = Corpus.from_tokens([["b", "a", "c", "b"], ["c"], ["a"]])
    with pytest.warns(DataWarning, match=r"1 of 3 documents hold no known token, first data\[1\]"):
        counts = as_counts(corpus, vocabulary=["a", "z", "b"])
    assert_array_equal(counts.matrix.toarray(), [[1, 0, 2], [0, 0, 0], [1, 0, 0]])
    assert_array_equal(counts.tokens_in_order()[1], [2, 0, 2, 0])
    again = as_counts(counts.rows([0, 2]), vocabulary=["b", "a"])
    assert_array_equal(again.matrix.toarray(), [[2, 1], [0, 1]])


def test_a_vocabulary_names_the_columns_of_a_matrix():
    for names in (["x", "y", "z"], {"z": 2, "x": 0, "y": 1}, Vocabulary(["x", "y", "z"], [3, 2, 1])):
        assert as_counts(TABLE, vocabulary=names).tokens == ["x", "y", "z"]
    assert as_counts(as_counts(TABLE), vocabulary=["x", "y", "z"]).tokens == ["x", "y", "z"]


@pytest.mark.parametrize(("names", "error", "message"), [
    (["x", "y"], ValueError, r"vocabulary has 2 tokens, data has 3 columns"), (["x", "y", "x"], ValueError, r"holds 'x' twice"),
    ({"x": 0, "y": 2, "z": 3}, ValueError, r"columns 0 to 2, each once"), ("xyz", TypeError, r"vocabulary='xyz' is str"),
    (["x", 5, "z"], TypeError, r"vocabulary\[1\]=5 is int")])
def test_a_vocabulary_that_does_not_fit_is_named(names, error, message):
    with pytest.raises(error, match=message):
        as_counts(TABLE, vocabulary=names)


@pytest.mark.parametrize(("value", "message"), [
    (-1, r"data\[1, 2\]=-1.0 .*is no count"), (np.nan, r"data\[1, 2\]=nan"), (np.inf, r"data\[1, 2\]=inf"), (2.0**31, r"in \[0, 2147483647\]"),
    (0.5, r"data\[1, 2\]=0.5 \(document 1, word 2; 1 such entries\).*TF-IDF")])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_P13_what_is_no_count_is_named_by_document_and_word(value, message, form):
    table = np.array([[2.0, 0, 1], [0, 3, value], [1, 1, 1]])
    with pytest.raises(ValueError, match=message):
        as_counts(form(table))


@pytest.mark.parametrize("bad", [-1, 3, 1000])
def test_P14_a_word_id_outside_the_columns_is_named(bad):
    matrix = sparse.csr_matrix(TABLE)
    matrix.indices[2] = bad
    with pytest.raises(ValueError, match=rf"document 1 holds the word id {bad}; expected ids in \[0, 2\] \(V=3\)"):
        as_counts(matrix)
    corpus = Corpus(Vocabulary(["x", "y", "z"], [1, 1, 1]), np.array([0, bad], dtype=np.int32), np.array([0, 1, 2]))
    with pytest.raises(ValueError, match=rf"document 1 holds the word id {bad}"):
        as_counts(corpus)


def test_P14_offsets_that_fall_and_bad_columns_of_csc_are_refused():
    falling = sparse.csr_matrix(TABLE)
    falling.indptr[1] = 5
    with pytest.raises(ValueError, match="indptr falls at 1"):
        as_counts(falling)
    column_first = sparse.csc_matrix(TABLE)
    column_first.indices[0] = 9
    with pytest.raises(ValueError):
        as_counts(column_first)


@pytest.mark.parametrize(("data", "error", "message"), [
    ("a text", TypeError, "holds texts.*Corpus.from_texts"), (["a text", "b"], TypeError, "holds texts"),
    ([["a", "b"], ["c"]], TypeError, "holds tokens.*Corpus.from_tokens"), (None, TypeError, "data=None is NoneType"), ({1, 2}, TypeError, "is set"),
    ([[1, 2], [3]], ValueError, "rows differ in length"), (np.array([1, 2]), ValueError, r"shape \(2,\).*data\[None\]"),
    (np.array([["1"]]), TypeError, "dtype <U1"), (np.array([[1j]]), TypeError, "dtype complex128"), (np.zeros((2, 2, 2)), ValueError, "2 axes")])
def test_T09_what_is_no_matrix_is_refused_with_a_remedy(data, error, message):
    with pytest.raises(error, match=message):
        as_counts(data)


def test_T02_T03_a_fit_needs_documents_and_tokens():
    with pytest.raises(ValueError, match="data holds 0 documents"):
        as_counts(np.zeros((0, 3), dtype=int))
    with pytest.raises(ValueError, match="2 documents hold 0 tokens"):
        as_counts(np.zeros((2, 3), dtype=int))
    assert as_counts(np.zeros((0, 3), dtype=int), fitting=False).n_documents == 0


def test_another_number_of_columns_is_refused():
    with pytest.raises(ValueError, match="data has 3 words .* the 4 that the model was fitted on"):
        as_counts(TABLE, n_words=4)
