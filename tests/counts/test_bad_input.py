"""Rows T and P of the reliability tables, on every counting method that reads texts."""

import numpy as np
import pytest

from lessons_lib.core import DataWarning, Encoder, NotFittedError
from lessons_lib.counts import BM25, BagOfWords, OneHot, TfIdf

METHODS = [OneHot, BagOfWords, TfIdf, BM25]
DOCUMENTS = ["the cat sat", "the dog sat down", "a bird"]
every_method = pytest.mark.parametrize("method", METHODS)
readers = pytest.mark.parametrize("read", ["fit", "fit_transform"])


@every_method
def test_every_method_is_an_encoder_with_one_float32_row_per_text(method):
    encoder = method().fit(DOCUMENTS)
    assert isinstance(encoder, Encoder) and isinstance(encoder.name, str)
    vectors = encoder.encode(DOCUMENTS)
    assert vectors.shape == (3, encoder.dim) and vectors.dtype == np.float32
    assert np.allclose(vectors, encoder.transform(DOCUMENTS).toarray())


@every_method
def test_fit_then_transform_is_fit_transform(method):
    assert np.allclose(method().fit_transform(DOCUMENTS).toarray(), method().fit(DOCUMENTS).transform(DOCUMENTS).toarray(), rtol=1e-15)


@every_method
def test_fitting_twice_is_fitting_once(method):
    once, twice = method().fit(DOCUMENTS), method().fit(["other words"]).fit(DOCUMENTS)
    assert np.array_equal(once.encode(DOCUMENTS), twice.encode(DOCUMENTS)) and once.vocabulary_ == twice.vocabulary_


@every_method
def test_saving_and_loading_gives_the_same_vectors_bit_by_bit(method, tmp_path):
    fitted = method(min_df=1, stop_words=["sat"]).fit(DOCUMENTS)
    fitted.save(tmp_path / "m")
    loaded = method.load(tmp_path / "m")
    assert np.array_equal(loaded.encode(DOCUMENTS), fitted.encode(DOCUMENTS))
    assert loaded.get_params() == fitted.get_params()


@every_method
@readers
def test_T01_one_text_is_refused(method, read):
    with pytest.raises(TypeError, match=r"documents='a string' is one str; expected a sequence of str\. Pass a list: \[text\]"):
        getattr(method(), read)("a string")


@every_method
@readers
def test_T02_no_documents_are_refused(method, read):
    for nothing in ([], iter([])):
        with pytest.raises(ValueError, match=r"documents holds 0 documents; expected >= 1"):
            getattr(method(), read)(nothing)


@every_method
@readers
def test_T03_documents_without_a_token_are_refused(method, read):
    with pytest.raises(ValueError, match="3 documents hold 0 tokens"):
        getattr(method(), read)(["", " ", "\n"])


@every_method
def test_T04_an_empty_document_keeps_its_row_of_zeros_with_a_warning(method):
    with pytest.warns(DataWarning, match=r"^2 of 4 documents have no token \(first: documents\[1\]\); their rows are zeros$") as caught:
        matrix = method().fit_transform(["the cat", "", "the dog", "?"])
    assert len(caught) == 1
    assert np.diff(matrix.indptr).tolist() == [2, 0, 2, 0]


@every_method
@pytest.mark.parametrize("item, message", [
    (None, r"documents\[1\]=None is NoneType"), (float("nan"), r"documents\[1\] is nan \(a missing value\?\)"), (5, r"documents\[1\]=5 is int"),
    (1.5, r"documents\[1\]=1.5 is float"), (True, r"documents\[1\]=True is bool"), (b"x", r'documents\[1\] is bytes.*\.decode\("utf-8"\)'),
    (["a", "b"], r"documents\[1\].*Corpus\.from_tokens")])
def test_T05_T06_T07_T08_T09_anything_but_text_is_refused_with_its_index(method, item, message):
    with pytest.raises(TypeError, match=message):
        method().fit(["fine", item])
    with pytest.raises(TypeError, match=message):
        method().fit(DOCUMENTS).transform(["the cat", item])


@every_method
def test_T13_T21_generators_and_series_are_read_in_order(method):
    pandas = pytest.importorskip("pandas")
    expected = method().fit_transform(DOCUMENTS).toarray()
    assert np.array_equal(method().fit_transform(text for text in DOCUMENTS).toarray(), expected)
    assert np.array_equal(method().fit_transform(pandas.Series(DOCUMENTS, index=[9, 9, 2])).toarray(), expected)


@every_method
def test_T14_a_lone_surrogate_is_refused_with_its_place(method):
    with pytest.raises(ValueError, match=r'documents\[1\] has a lone surrogate U\+D83D at character 4.*errors="replace"'):
        method().fit(["fine", "abc \ud83d"])


@every_method
def test_T19_documents_of_unknown_words_give_zero_rows_with_a_warning(method):
    fitted = method().fit(DOCUMENTS)
    with pytest.warns(DataWarning, match=r"^2 of 3 documents have no known token \(first: documents\[0\]\); their rows are zeros$") as caught:
        vectors = fitted.encode(["unknown words", "the cat", ""])
    assert len(caught) == 1
    assert (vectors[0] == 0).all() and (vectors[2] == 0).all() and vectors[1].any()


@every_method
@pytest.mark.parametrize("documents, message", [({"a"}, "has no order"), ({"a": 1}, "is a dict"), (np.array([["a"]]), "2-D ndarray"),
                                                (5, "expected a sequence")])
def test_T20_containers_without_order_are_refused(method, documents, message):
    with pytest.raises(TypeError, match=message):
        method().fit(documents)


@every_method
@pytest.mark.parametrize("settings, error, message", [
    ({"token_pattern": "("}, ValueError, r"token_pattern='\(' is no regular expression: .* at position 0"),
    ({"token_pattern": None}, TypeError, "token_pattern=None is NoneType"),
    ({"stop_words": "klingon"}, ValueError, "stop_words='klingon' is unknown.*'english'"),
    ({"max_features": 0}, ValueError, "max_features=0"), ({"max_features": 1.5}, TypeError, "max_features=1.5"),
    ({"min_df": 0}, ValueError, "min_df=0 is out of range"), ({"min_df": 1.5}, ValueError, "min_df=1.5"),
    ({"min_df": True}, TypeError, "min_df=True"),
    ({"max_df": -0.1}, ValueError, "max_df=-0.1"), ({"max_df": float("nan")}, ValueError, "max_df=nan"), ({"threads": 0}, ValueError, "threads=0"),
    ({"lowercase": "yes"}, TypeError, "lowercase='yes' is str"), ({"normalise": "NFX"}, ValueError, "normalise='NFX' is unknown")])
def test_T22_P17_P25_wrong_settings_are_refused(method, settings, error, message):
    with pytest.raises(error, match=message):
        method(**settings).fit(DOCUMENTS)


@pytest.mark.parametrize("method", [BagOfWords, TfIdf, BM25])
@pytest.mark.parametrize("ngram_range, error, message", [((3, 1), ValueError, r"ngram_range=\(3, 1\)"), ((0, 1), ValueError, r"ngram_range=\(0, 1\)"),
                                                         (2, TypeError, "ngram_range=2"), ((1, 1.5), TypeError, r"ngram_range\[1\]=1.5")])
def test_P16_an_ngram_range_names_both_ends(method, ngram_range, error, message):
    with pytest.raises(error, match=message):
        method(ngram_range=ngram_range).fit(DOCUMENTS)


@pytest.mark.parametrize("method", [BagOfWords, TfIdf, BM25])
def test_an_unknown_analyzer_is_refused_with_the_nearest(method):
    with pytest.raises(ValueError, match="analyzer='words' is unknown. Did you mean 'word'"):
        method(analyzer="words").fit(DOCUMENTS)


@every_method
def test_P18_bounds_that_cross_or_leave_nothing_name_both(method):
    with pytest.raises(ValueError, match=r"min_df=3 lies above max_df=2 for 3 documents"):
        method(min_df=3, max_df=2).fit(DOCUMENTS)
    with pytest.raises(ValueError, match=r"min_df=3 and max_df=1.0 leave no column of 6 for 3 documents"):
        method(min_df=3).fit(DOCUMENTS)


@every_method
@pytest.mark.parametrize("batch_size", [0, -1])
def test_P25_a_batch_has_at_least_one_text(method, batch_size):
    with pytest.raises(ValueError, match="batch_size"):
        method().fit(DOCUMENTS).encode(DOCUMENTS, batch_size=batch_size)


@every_method
def test_P26_an_unknown_keyword_is_answered_with_the_nearest(method):
    with pytest.raises(TypeError, match=r"has no argument 'min_freq'; did you mean 'min_df'|did you mean 'max_features'"):
        method(min_freq=2)


@every_method
def test_P28_use_before_fit_says_so(method, tmp_path):
    unfitted = method()
    for use in (lambda: unfitted.transform(["a"]), lambda: unfitted.encode(["a"]), lambda: unfitted.dim, lambda: unfitted.save(tmp_path / "m")):
        with pytest.raises(NotFittedError, match=f"this {method.__name__} is not fitted yet; call fit first"):
            use()
    assert not (tmp_path / "m").exists()


@every_method
def test_V21_no_texts_give_no_rows(method):
    fitted = method().fit(DOCUMENTS)
    assert fitted.transform([]).shape == (0, fitted.dim) == fitted.encode([]).shape
    assert fitted.encode([]).dtype == np.float32
