"""What all counting methods do alike, whatever they write into the cells."""

import numpy as np
import pytest
from scipy import sparse

from lessons_lib.core import DataWarning, Encoder
from lessons_lib.counts import BM25, LSA, BagOfWords, OneHot, TfIdf

DOCUMENTS = ["the cat sat", "the dog sat down", "a bird"]
every_method = pytest.mark.parametrize("method", [OneHot, BagOfWords, TfIdf, BM25])


@every_method
def test_every_method_is_an_encoder_with_one_float32_row_per_text(method):
    encoder = method().fit(DOCUMENTS)
    assert isinstance(encoder, Encoder) and isinstance(encoder.name, str)
    vectors = encoder.encode(DOCUMENTS)
    assert vectors.shape == (3, encoder.dim) and vectors.dtype == np.float32
    assert np.allclose(vectors, encoder.transform(DOCUMENTS).toarray())


@every_method
def test_fit_then_transform_is_fit_transform(method):
    assert np.allclose(method().fit_transform(DOCUMENTS).toarray(),
                       method().fit(DOCUMENTS).transform(DOCUMENTS).toarray(), rtol=1e-15)


@every_method
def test_fitting_twice_is_fitting_once(method):
    once, twice = method().fit(DOCUMENTS), method().fit(["other words"]).fit(DOCUMENTS)
    assert np.array_equal(once.encode(DOCUMENTS),
                          twice.encode(DOCUMENTS)) and once.vocabulary_ == twice.vocabulary_


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


@every_method
def test_V21_no_texts_give_no_rows(method):
    fitted = method().fit(DOCUMENTS)
    assert fitted.transform([]).shape == (0, fitted.dim) == fitted.encode([]).shape
    assert fitted.encode([]).dtype == np.float32


@pytest.mark.parametrize("method, change", [(BM25, {"k1": -5}), (BM25, {"b": "x"}),
                                            (TfIdf, {"norm": "max"}),
                                            (TfIdf, {"sublinear_tf": True}),
                                            (BagOfWords, {"binary": True}),
                                            (BagOfWords, {"analyzer": "char"}),
                                            (LSA, {"scale": "none"})])
def test_a_setting_changed_after_fit_waits_for_the_next_fit_also_in_a_file(
        method, change, tmp_path):
    texts = ["the the cat", "dog sat"]
    model = (LSA(dim=2) if method is LSA else method()).fit(DOCUMENTS)
    before = model.encode(texts)
    model.set_params(**change)
    assert np.array_equal(model.encode(texts), before)
    model.save(tmp_path / "m")
    assert np.array_equal(method.load(tmp_path / "m").encode(texts), before)


@pytest.mark.parametrize("analyzer, low, high", [("char", 1, 10**9), ("char_wb", 1, 10**19),
                                                 ("word", 1, 10**9), ("word", 1, 10**19)])
def test_P16_n_grams_end_at_the_longest_text(analyzer, low, high):
    endless = BagOfWords((low, high), analyzer=analyzer).fit_transform(DOCUMENTS * 20)
    assert sparse.find(endless -
                       BagOfWords((low, 50), analyzer=analyzer).fit_transform(DOCUMENTS *
                                                                              20))[2].size == 0
