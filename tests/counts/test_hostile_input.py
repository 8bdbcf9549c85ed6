"""What a second look at bad input found: patterns that hang, forged model files, settings changed after a fit, ranges without end."""

import numpy as np
import pytest
from scipy import sparse

from lessons_lib.core import DamagedFile, load_model, save_model
from lessons_lib.counts import BM25, LSA, BagOfWords, OneHot, TfIdf, cooccurrence, ppmi
from lessons_lib.counts.ngrams import ngrams
from lessons_lib.text import Corpus, Vocabulary

DOCUMENTS = ["the cat sat", "the dog sat down", "a bird"]
every_method = pytest.mark.parametrize("method", [OneHot, BagOfWords, TfIdf, BM25])


def test_T22_a_short_text_that_makes_a_pattern_explode_is_stopped_in_fit_and_transform():
    with pytest.raises(ValueError, match=r"token_pattern=.* was stopped"):
        BagOfWords(token_pattern=r"(?:a|aa)+$").fit(["word ab " * 2000, "a" * 60 + "!"])
    fitted = BagOfWords(token_pattern=r"(?:a|aa)+\b").fit(["aaa"])
    assert fitted.transform(["x aaa", "AAA"]).toarray().tolist() == [[1], [1]]
    with pytest.raises(ValueError, match=r"was stopped"):
        BagOfWords(token_pattern=r"(?:a+)+b").fit(["ab"]).transform(["A" * 60 + "!"])


def _forged(path, kind, change):
    settings, arrays, extra = load_model(path, kind)
    change(arrays)
    save_model(path, kind, settings=settings, arrays=arrays, extra=extra)


@every_method
@pytest.mark.parametrize("offsets", [[0, 5, 10**12], [3, 1, 0], [0], []])
def test_forged_token_offsets_are_a_damaged_file(method, offsets, tmp_path):
    method().fit(DOCUMENTS).save(tmp_path / "m")
    _forged(tmp_path / "m", method.__name__, lambda arrays: arrays.update(token_offsets=np.array(offsets, dtype=np.int64)))
    with pytest.raises(DamagedFile, match="token_offsets"):
        method.load(tmp_path / "m")


@pytest.mark.parametrize("method, name, array", [
    (TfIdf, "idf", np.ones(2)), (TfIdf, "idf", np.full(6, np.nan)), (BM25, "idf", np.ones(7)), (BM25, "weight_columns", np.full(8, 10**6, np.int32)),
    (BM25, "weight_ends", np.array([0, 9, 3, 8], np.int32)), (BM25, "weights", np.ones(3)), (LSA, "components", np.ones(3)),
    (LSA, "singular_values", np.ones(9)), (LSA, "explained", None)])
def test_forged_arrays_are_a_damaged_file_that_names_them(method, name, array, tmp_path):
    model = (LSA(dim=2) if method is LSA else method()).fit(DOCUMENTS)
    model.save(tmp_path / "m")
    _forged(tmp_path / "m", method.__name__, lambda arrays: arrays.pop(name) if array is None else arrays.update({name: array}))
    with pytest.raises(DamagedFile, match=name if name != "weights" else "weight"):
        method.load(tmp_path / "m")


def test_a_given_word_in_no_document_without_smoothing_is_refused_by_name():
    with pytest.raises(ValueError, match=r"vocabulary holds 'zebra'.*smooth_idf=True"):
        TfIdf(vocabulary=["cat", "zebra"], smooth_idf=False).fit(["the cat"])


@every_method
@pytest.mark.parametrize("settings, error, message", [
    ({"vocabulary": iter(["a"])}, TypeError, "pass a list"), ({"stop_words": iter(["a"])}, TypeError, "pass a list"),
    ({"vocabulary": {"a": 0, "b": "x"}}, TypeError, r"vocabulary\['b'\]='x'"), ({"vocabulary": [None]}, TypeError, "vocabulary holds None"),
    ({"vocabulary": [["a"]]}, TypeError, r"vocabulary holds \['a'\]"), ({"vocabulary": ["\ud83d"]}, ValueError, "lone surrogate"),
    ({"stop_words": ["\ud83d"]}, ValueError, r"stop_words\[0\].*lone surrogate")])
def test_wrong_words_in_settings_are_refused(method, settings, error, message):
    with pytest.raises(error, match=message):
        method(**settings).fit(DOCUMENTS)


@pytest.mark.parametrize("method", [BagOfWords, TfIdf])
def test_binary_is_true_or_false(method):
    with pytest.raises(TypeError, match="binary='yes' is str"):
        method(binary="yes").fit(DOCUMENTS)


@pytest.mark.parametrize("method, change", [(BM25, {"k1": -5}), (BM25, {"b": "x"}), (TfIdf, {"norm": "max"}), (TfIdf, {"sublinear_tf": True}),
                                            (BagOfWords, {"binary": True}), (BagOfWords, {"analyzer": "char"}), (LSA, {"scale": "none"})])
def test_a_setting_changed_after_fit_waits_for_the_next_fit_also_in_a_file(method, change, tmp_path):
    texts = ["the the cat", "dog sat"]
    model = (LSA(dim=2) if method is LSA else method()).fit(DOCUMENTS)
    before = model.encode(texts)
    model.set_params(**change)
    assert np.array_equal(model.encode(texts), before)
    model.save(tmp_path / "m")
    assert np.array_equal(method.load(tmp_path / "m").encode(texts), before)


def test_the_matrix_that_bm25_returns_is_not_the_one_it_keeps():
    model = BM25()
    model.fit_transform(DOCUMENTS).data[:] = 0
    assert model.search("dog", k=1)[0][1] > 0


@pytest.mark.parametrize("analyzer, low, high", [("char", 1, 10**9), ("char_wb", 1, 10**19), ("word", 1, 10**9), ("word", 1, 10**19)])
def test_P16_n_grams_end_at_the_longest_text(analyzer, low, high):
    endless = BagOfWords((low, high), analyzer=analyzer).fit_transform(DOCUMENTS * 20)
    assert sparse.find(endless - BagOfWords((low, 50), analyzer=analyzer).fit_transform(DOCUMENTS * 20))[2].size == 0


@pytest.mark.parametrize("low", [30, 10**19])
def test_P16_n_grams_longer_than_every_text_are_no_tokens_and_the_error_says_so(low):
    with pytest.raises(ValueError, match=r"0 tokens for analyzer='char', ngram_range"):
        BagOfWords((low, 10**19), analyzer="char").fit(DOCUMENTS)
    with pytest.raises(ValueError, match=r"0 tokens for token_pattern.*ngram_range"):
        BagOfWords((low, 10**19)).fit(DOCUMENTS)


@pytest.mark.parametrize("tokens", [{"a"}, {"a": 1}, None, 5])
def test_T20_n_grams_need_an_order(tokens):
    with pytest.raises(TypeError, match="tokens=.*expected a list of tokens"):
        ngrams(tokens, 1)


def test_cooccurrence_of_ids_that_are_no_whole_numbers_is_refused():
    corpus = Corpus(Vocabulary(["a"], [2]), np.array([0, 0]), np.array([0, 2]))
    corpus.token_ids = np.array([0.0, 0.5])
    with pytest.raises(TypeError, match="corpus.token_ids has dtype float64"):
        cooccurrence(corpus)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_V04_the_shares_of_lsa_do_not_depend_on_the_scale(factor):
    matrix = np.random.default_rng(0).random((8, 6))
    assert np.allclose(LSA(dim=3).fit(matrix * factor).explained_, LSA(dim=3).fit(matrix).explained_, rtol=1e-9)


def test_V04_ppmi_of_a_wide_range_is_its_logarithms():
    counts = np.array([[1e300, 1e-300], [1e-300, 1e-300]])
    expected = np.log(1e-300) - 2 * np.log(2e-300) + np.log(1e300)
    assert np.allclose(ppmi(counts).toarray(), [[0, 0], [0, expected]], rtol=1e-12)
