"""What all counting methods do alike, whatever they write into cells; one-hot vectors, n-grams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lessons_lib.core import DataWarning, Encoder
from lessons_lib.counts import BM25, LSA, BagOfWords, OneHot, TfIdf
from lessons_lib.counts.ngrams import ngrams

DOCUMENTS = ["the cat sat", "the dog sat down", "a bird"]
words = st.lists(st.sampled_from(["the", "cat", "dog", "naïve", "我爱"]), min_size=1, max_size=8)
every_method = pytest.mark.parametrize("method", [OneHot, BagOfWords, TfIdf, BM25])


@every_method
def test_every_method_is_an_encoder_with_one_float32_row_per_text(method):
    encoder = method().fit(DOCUMENTS)
    assert isinstance(encoder, Encoder) and isinstance(encoder.name, str)
    vectors = encoder.encode(DOCUMENTS)
    assert vectors.shape == (3, encoder.dim) and vectors.dtype == np.float32
    assert np.allclose(vectors, encoder.transform(DOCUMENTS).toarray())
    assert np.allclose(encoder.transform(DOCUMENTS).toarray(),
                       method().fit_transform(DOCUMENTS).toarray(), rtol=1e-15)
    twice = method().fit(["other words"]).fit(DOCUMENTS)
    assert np.array_equal(twice.encode(DOCUMENTS), vectors)
    assert twice.vocabulary_ == encoder.vocabulary_
    assert encoder.transform([]).shape == (0, encoder.dim) == encoder.encode([]).shape       # V21
    assert encoder.encode([]).dtype == np.float32


@every_method
def test_saving_and_loading_gives_the_same_vectors_bit_by_bit(method, tmp_path):
    fitted = method(min_df=1, stop_words=["sat"]).fit(DOCUMENTS)
    fitted.save(tmp_path / "m")
    loaded = method.load(tmp_path / "m")
    assert np.array_equal(loaded.encode(DOCUMENTS), fitted.encode(DOCUMENTS))
    assert loaded.get_params() == fitted.get_params()


@every_method
def test_T04_an_empty_document_keeps_its_row_of_zeros_with_a_warning(method):
    with pytest.warns(
            DataWarning,
            match=r"^2 of 4 documents have no token \(first: documents\[1\]\); their rows are"
    ) as caught:
        matrix = method().fit_transform(["the cat", "", "the dog", "?"])
    assert len(caught) == 1
    assert np.diff(matrix.indptr).tolist() == [2, 0, 2, 0]


@every_method
def test_T13_T21_generators_and_series_are_read_in_order(method):
    pandas = pytest.importorskip("pandas")
    expected = method().fit_transform(DOCUMENTS).toarray()
    assert np.array_equal(method().fit_transform(text for text in DOCUMENTS).toarray(), expected)
    assert np.array_equal(
        method().fit_transform(pandas.Series(DOCUMENTS, index=[9, 9, 2])).toarray(), expected)


@every_method
def test_T19_documents_of_unknown_words_give_zero_rows_with_a_warning(method):
    fitted = method().fit(DOCUMENTS)
    with pytest.warns(
            DataWarning, match=
            r"^2 of 3 documents have no known token \(first: documents\[0\]\); their rows"
    ) as caught:
        vectors = fitted.encode(["unknown words", "the cat", ""])
    assert len(caught) == 1
    assert (vectors[0] == 0).all() and (vectors[2] == 0).all() and vectors[1].any()


@pytest.mark.parametrize(("method", "change"), [
    (BM25, {"k1": -5}), (BM25, {"b": "x"}), (TfIdf, {"norm": "max"}),
    (TfIdf, {"sublinear_tf": True}), (BagOfWords, {"binary": True}),
    (BagOfWords, {"analyzer": "char"}), (LSA, {"scale": "none"})])
def test_a_setting_changed_after_fit_waits_for_the_next_fit_also_in_a_file(
        method, change, tmp_path):
    texts = ["the the cat", "dog sat"]
    model = (LSA(dim=2) if method is LSA else method()).fit(DOCUMENTS)
    before = model.encode(texts)
    model.set_params(**change)
    assert np.array_equal(model.encode(texts), before)
    model.save(tmp_path / "m")
    assert np.array_equal(method.load(tmp_path / "m").encode(texts), before)


@pytest.mark.parametrize("analyzer", ["char", "char_wb", "word"])
def test_P16_n_grams_end_at_the_longest_text(analyzer):
    with pytest.warns(DataWarning, match=r"ngram_range=\(1, 1000000000\) goes beyond the data"):
        endless = BagOfWords((1, 10**9), analyzer=analyzer).fit_transform(DOCUMENTS * 20)
    bounded = BagOfWords((1, 50), analyzer=analyzer).fit_transform(DOCUMENTS * 20)
    assert sparse.find(endless - bounded)[2].size == 0


# ------------------------------------------------------------------------------ one word, n words


def test_any_two_words_are_the_square_root_of_two_apart():
    one_hot = OneHot().fit(["the cat sat on naïve 我爱 mats"])
    vectors = one_hot.vectors(list(one_hot.vocabulary_)).toarray()
    assert np.array_equal(vectors, np.eye(one_hot.dim))
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
    assert np.allclose(distances, np.sqrt(2) * (1 - np.eye(one_hot.dim)))
    assert one_hot.vectors([]).shape == (0, one_hot.dim)


@given(st.lists(words, min_size=1, max_size=4), st.integers(0, 2**31))
def test_the_one_hots_of_a_text_add_up_to_its_bag_of_words(documents, seed):
    joined = [" ".join(tokens) for tokens in documents]
    one_hot, bag = OneHot().fit(joined), BagOfWords().fit(joined)
    embedding = np.random.default_rng(seed).normal(size=(bag.dim, 3))
    for tokens, counts in zip(documents, bag.transform(joined).toarray(), strict=True):
        assert np.array_equal(one_hot.vectors(tokens).toarray().sum(axis=0), counts)
        rows = [embedding[bag.vocabulary_[token]] for token in tokens]
        assert np.allclose(counts @ embedding, np.sum(rows, axis=0))


def test_a_text_has_a_one_for_each_word_it_contains():
    one_hot = OneHot()
    matrix = one_hot.fit_transform(["the cat the cat", "dog"])
    assert matrix.toarray().tolist() == [[1, 0, 1], [0, 1, 0]] and matrix.dtype == np.int64
    assert np.array_equal(one_hot.encode(["the the"]), [[0, 0, 1]])


@given(st.lists(st.text()), st.integers(1, 6))
def test_there_are_length_minus_n_plus_one_runs_of_neighbours(tokens, n):
    grams = ngrams(tokens, n)
    assert len(grams) == max(0, len(tokens) - n + 1)
    assert all(list(gram) == tokens[i : i + n] for i, gram in enumerate(grams))
