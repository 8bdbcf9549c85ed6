"""LSA: the best approximation of its rank, the same signs every time, and an encoder when it was
fitted on texts.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from lessons_lib.core import Encoder
from lessons_lib.counts import BagOfWords, TfIdf
from lessons_lib.counts.lsa import LSA

TEXTS = ["the cat sat on the mat", "a cat and a dog", "the dog chased the cat",
         "stocks fell on monday", "the market fell", "stocks and the market rose"]


def sparse_table(rows: int, columns: int, seed: int = 0, density: float = 0.3) -> sparse.csr_matrix:
    return sparse.random(rows, columns, density=density, format="csr",
                         random_state=np.random.default_rng(seed))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6), st.data())
def test_identity_4_the_error_is_the_sum_of_the_squares_left_out(rows, columns, seed, data):
    table = np.random.default_rng(seed).normal(size=(rows, columns))
    dim = data.draw(st.integers(1, min(rows, columns)))
    lsa = LSA(dim, seed=seed)
    approximation = lsa.fit_transform(table) @ lsa.components_
    s = np.linalg.svd(table, compute_uv=False)
    assert_allclose(((table - approximation) ** 2).sum(), (s[dim:] ** 2).sum(), atol=1e-10)
    assert_allclose(lsa.singular_values_, s[:dim], atol=1e-10)
    assert_allclose(lsa.explained_, s[:dim] ** 2 / (s**2).sum(), atol=1e-12)
    as_sparse = LSA(dim, seed=seed).fit_transform(sparse.csr_matrix(table))
    assert_allclose(as_sparse, lsa.transform(table), atol=1e-9)


def test_identity_4_holds_nearly_where_the_decomposition_is_random():
    table = sparse_table(300, 200)
    lsa = LSA(20).fit(table)
    left_out = np.linalg.svd(table.toarray(), compute_uv=False)[20:]
    error = ((table.toarray() - lsa.transform(table) @ lsa.components_) ** 2).sum()
    assert (left_out**2).sum() <= error <= 1.01 * (left_out**2).sum()


def test_directions_are_orthonormal_whatever_the_seed_and_terms_are_rows_of_the_transposed_table():
    table = sparse_table(30, 12)
    v = LSA(6).fit(table).components_
    assert_allclose(v @ v.T, np.eye(6), atol=1e-12)
    assert (v[np.arange(6), np.abs(v).argmax(axis=1)] > 0).all()
    vectors = LSA(4, seed=1).fit_transform(table)
    assert_allclose(vectors, LSA(4, seed=2**40).fit_transform(table), atol=1e-9)
    terms = LSA(4).fit(table).term_vectors()
    assert_allclose(np.abs(terms), np.abs(LSA(4).fit_transform(table.T)), atol=1e-9)


def test_the_same_seed_gives_the_same_bits_and_leaves_the_global_generator_alone():
    table = sparse_table(200, 90)
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = LSA(8, seed=3).fit_transform(table)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert_array_equal(first, LSA(8, seed=3).fit_transform(table))


@pytest.mark.parametrize(("scale", "power"), [("singular", 1.0), ("root", 0.5), ("none", 0.0)])
def test_scale_sets_the_length_of_each_direction(scale, power):
    lsa = LSA(5, scale=scale)
    vectors = lsa.fit_transform(sparse_table(40, 20))
    assert_allclose(np.linalg.norm(vectors, axis=0), lsa.singular_values_**power, rtol=1e-9)
    assert_allclose(np.linalg.norm(lsa.term_vectors(), axis=0), lsa.singular_values_**power,
                    rtol=1e-9)


def test_directions_beyond_the_rank_are_zero_and_new_rows_stay_finite():
    table = np.outer(np.arange(1.0, 9.0), np.arange(1.0, 6.0))
    for scale in ("singular", "none"):
        lsa = LSA(3, scale=scale).fit(table)
        assert lsa.singular_values_[1:].tolist() == [0.0, 0.0]
        assert_array_equal(lsa.transform(np.random.default_rng(0).normal(size=(4, 5)))[:, 1:], 0)
    assert not LSA(2).fit_transform(np.zeros((3, 4))).any()


def test_texts_that_share_no_word_come_close_through_others():
    texts = ["car engine", "engine motor", "motor vehicle", "poem verse", "verse rhyme",
             "rhyme sonnet"]
    vectors = LSA(2, vectorizer=BagOfWords()).fit(texts).encode(["car", "vehicle", "sonnet"])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.99 > 0.01 > abs(unit[0] @ unit[2])


def test_texts_and_their_tfidf_matrix_give_the_same_vectors():
    tfidf = TfIdf(sublinear_tf=True)
    by_hand = LSA(3).fit_transform(tfidf.fit_transform(TEXTS))
    lsa = LSA(3)
    assert_allclose(lsa.fit_transform(TEXTS), by_hand, atol=1e-12)
    assert_allclose(lsa.transform(TEXTS), by_hand, atol=1e-12)


def test_it_is_an_encoder_whose_batches_do_not_change_a_row():
    lsa = LSA(3).fit(TEXTS)
    assert isinstance(lsa, Encoder) and lsa.dim == lsa.dim_ == 3 and "LSA" in lsa.name
    vectors = lsa.encode(TEXTS)
    assert vectors.shape == (6, 3) and vectors.dtype == np.float32
    assert_allclose(lsa.encode(TEXTS, batch_size=2), vectors, rtol=1e-6)
    assert_allclose(vectors, lsa.transform(TEXTS), rtol=1e-6, atol=1e-7)
    assert lsa.encode([]).shape == (0, 3)                                                    # V21
    assert lsa.transform(sparse.csr_matrix((0, lsa.components_.shape[1]))).shape == (0, 3)
    with pytest.raises(ValueError, match=r"dim=3 must be in \[1, 1\] for .* shape \(1, 4\)"):  # V12
        lsa.fit(np.ones((1, 4)))
    assert_array_equal(lsa.encode(TEXTS), vectors)               # the former fit stays
    counts = BagOfWords(lowercase=False).fit(TEXTS)              # as a step after another encoder
    composed = counts | LSA(2).fit(counts.transform(TEXTS))
    assert composed.dim == 2
    assert_allclose(composed.encode(TEXTS), LSA(2, vectorizer=BagOfWords()).fit_transform(TEXTS),
                    rtol=1e-5, atol=1e-6)


def test_V09_tables_in_any_layout_give_the_same_bits_and_are_not_written():
    table = np.random.default_rng(1).normal(size=(20, 10))
    expected = LSA(3).fit_transform(table)
    frozen = table.copy()
    frozen.setflags(write=False)
    for layout in (np.asfortranarray(table), frozen, np.repeat(table, 2, axis=0)[::2],
                   table[::-1].copy()[::-1], table.astype(">f8")):
        before = layout.copy()
        assert_array_equal(LSA(3).fit_transform(layout), expected)
        assert_array_equal(layout, before)


def test_V09_a_sparse_table_with_split_entries_is_read_right_and_left_as_it_was():
    split = sparse.csr_matrix((np.ones(5), [2, 2, 0, 1, 0], [0, 3, 5]), shape=(2, 3))
    expected = LSA(2).fit_transform(split.toarray())
    assert_allclose(LSA(2).fit_transform(split), expected, atol=1e-12)
    assert split.nnz == 5 and split.indices.tolist() == [2, 2, 0, 1, 0]


@pytest.mark.parametrize("vectorizer", [None, BagOfWords(ngram_range=(1, 2))])
def test_saved_and_loaded_models_encode_alike(tmp_path, vectorizer):
    lsa = LSA(3, vectorizer=vectorizer, scale="root", seed=4).fit(TEXTS)
    lsa.save(tmp_path / "model")
    lsa.save(tmp_path / "model")                                # over an older one
    again = LSA.load(tmp_path / "model")
    assert_array_equal(again.encode(TEXTS), lsa.encode(TEXTS))
    assert (again.dim, again.scale, again.seed) == (3, "root", 4)
    assert type(again.vectorizer) is type(lsa.vectorizer)
    assert_array_equal(again.fit(TEXTS).components_, lsa.components_)
    assert not hasattr(vectorizer, "vocabulary_")                # the given one is never fitted
    table = sparse_table(9, 5)                                   # a matrix needs no vectorizer
    LSA(2).fit(table).save(tmp_path / "model")
    again = LSA.load(tmp_path / "model")
    assert again.vectorizer_ is None
    assert_array_equal(again.transform(table), LSA(2).fit_transform(table))


def test_a_vectorizer_from_elsewhere_works_but_is_not_saved(tmp_path):
    lsa = LSA(3, vectorizer=CountVectorizer()).fit(TEXTS)
    assert lsa.encode(TEXTS).shape == (6, 3)
    with pytest.raises(TypeError,
                       match=r"CountVectorizer, which cannot be saved here; use TfIdf\(\)"):
        lsa.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_V04_the_shares_do_not_depend_on_the_scale(factor):
    matrix = np.random.default_rng(0).random((8, 6))
    assert_allclose(LSA(3).fit(matrix * factor).explained_, LSA(3).fit(matrix).explained_,
                    rtol=1e-9)
