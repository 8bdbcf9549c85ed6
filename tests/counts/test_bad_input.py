"""Bad input of the room: a row says what is called, which error comes, and what its message holds.

``Each`` stands for every counting method that reads texts, one after the other.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from lessons_lib.core import (DamagedFile, DataWarning, NotFittedError, UnknownWord, load_model,
                              save_model)
from lessons_lib.counts import BM25, LSA, BagOfWords, Cooccurrences, OneHot, TfIdf
from lessons_lib.counts import cooccurrence, ngrams, ppmi
from lessons_lib.text import Corpus, Vocabulary

METHODS = [OneHot, BagOfWords, TfIdf, BM25]
WITH_NGRAMS = METHODS[1:]
DOCUMENTS = ["the cat sat", "the dog sat down", "a bird"]
PAIR = Corpus.from_tokens([["a", "b"]])
TABLE = np.random.default_rng(0).random((9, 5))


def ids(*documents: list[int], dtype: type = np.int32) -> Corpus:
    """A corpus of three words with any ids in it."""
    corpus = Corpus(Vocabulary(["a", "b", "c"], [1, 1, 1]), np.zeros(0, np.int32), np.array([0]))
    corpus.token_ids = np.array([i for row in documents for i in row], dtype=dtype)
    corpus.offsets = np.cumsum([0, *map(len, documents)])
    return corpus


def with_cell(value: float) -> np.ndarray:
    table = np.ones((4, 5))
    table[2, 1] = value
    return table


# settings that every method refuses at the beginning of its fit
SETTINGS = [
    ({"token_pattern": "("}, ValueError, "token_pattern='(' position 0"),
    ({"token_pattern": None}, TypeError, "token_pattern=None"),
    ({"stop_words": "klingon"}, ValueError, "stop_words='klingon' 'english'"),
    ({"stop_words": iter(["a"])}, TypeError, "stop_words list"),
    ({"stop_words": ["\ud83d"]}, ValueError, "stop_words[0] surrogate"),
    ({"max_features": 0}, ValueError, "max_features=0"),
    ({"max_features": 1.5}, TypeError, "max_features=1.5"),
    ({"min_df": 0}, ValueError, "min_df=0"),
    ({"min_df": 1.5}, ValueError, "min_df=1.5"),
    ({"min_df": True}, TypeError, "min_df=True"),
    ({"max_df": -0.1}, ValueError, "max_df=-0.1"),
    ({"max_df": math.nan}, ValueError, "max_df=nan"),
    ({"min_df": 3, "max_df": 2}, ValueError, "min_df=3 max_df=2 lower"),
    ({"min_df": 3}, ValueError, "min_df=3 max_df=1.0 lower"),
    ({"threads": 0}, ValueError, "threads=0"),
    ({"lowercase": "yes"}, TypeError, "lowercase='yes' True"),
    ({"normalise": "NFX"}, ValueError, "normalise='NFX'"),
    ({"min_freq": 2}, TypeError, "'min_freq' mean"),
    ({"vocabulary": iter(["a"])}, TypeError, "vocabulary list"),
    ({"vocabulary": {"a": 0, "b": "x"}}, TypeError, "vocabulary['b']='x'"),
    ({"vocabulary": [None]}, TypeError, "vocabulary None"),
    ({"vocabulary": [["a"]]}, TypeError, "vocabulary ['a']"),
    ({"vocabulary": ["\ud83d"]}, ValueError, "vocabulary surrogate"),
    ({"vocabulary": []}, ValueError, "vocabulary empty"),
    ({"vocabulary": ["a", "a"]}, ValueError, "vocabulary 'a' twice"),
    ({"vocabulary": {"a": 1}}, ValueError, "vocabulary each once"),
    ({"vocabulary": {"a": 0, "b": 0}}, ValueError, "vocabulary each once"),
    ({"vocabulary": "cat"}, TypeError, "vocabulary='cat' list"),
    ({"vocabulary": 5}, TypeError, "vocabulary=5 int"),
]
NGRAMS = [
    ({"ngram_range": (3, 1)}, ValueError, "ngram_range=(3, 1)"),
    ({"ngram_range": (0, 1)}, ValueError, "ngram_range=(0, 1)"),
    ({"ngram_range": 2}, TypeError, "ngram_range=2"),
    ({"ngram_range": (1, 1.5)}, TypeError, "ngram_range[1]=1.5"),
    ({"analyzer": "words"}, ValueError, "analyzer='words' 'word'"),
]
OWN = [
    (BagOfWords, {"binary": "yes"}, TypeError, "binary='yes'"),
    (TfIdf, {"binary": "yes"}, TypeError, "binary='yes'"),
    (TfIdf, {"norm": "l3"}, ValueError, "norm='l3'"),
    (TfIdf, {"use_idf": 1}, TypeError, "use_idf=1"),
    (TfIdf, {"vocabulary": ["cat", "dog", "bird", "zebra"], "smooth_idf": False}, ValueError,
     "'zebra' smooth_idf=True"),
    (BM25, {"k1": -1}, ValueError, "k1=-1"),
    (BM25, {"k1": math.nan}, ValueError, "k1=nan"),
    (BM25, {"b": 1.5}, ValueError, "b=1.5"),
    (LSA, {"dim": 6}, ValueError, "dim=6"),
    *[(LSA, {"dim": dim}, TypeError, "dim= int") for dim in (1.5, "8", True, None)],
    *[(LSA, {"dim": dim}, ValueError, "dim= int") for dim in (0, -1)],
    *[(LSA, {"dim": 2, "seed": seed}, (TypeError, ValueError), "seed= int")
      for seed in (-1, 1.5, None)],
    (LSA, {"n_iter": -1}, ValueError, "n_iter=-1"),
    (LSA, {"oversamples": -1}, ValueError, "oversamples=-1"),
    (LSA, {"scale": "singulr"}, ValueError, "scale='singulr' 'singular'"),
    (LSA, {"vectorizer": "tfidf"}, TypeError, "vectorizer='tfidf' TfIdf()"),
    (LSA, {"size": 10}, TypeError, "'size' 'dim'"),
    (LSA, {"n_components": 10}, TypeError, "'n_components' 'dim'"),
]
# texts that every method refuses, in its fit
TEXTS = [
    ("a string", TypeError, "documents='a string' [text]"),
    ([], ValueError, "documents 0"),
    (["", " ", "\n"], ValueError, "documents 0 tokens"),
    ({"a"}, TypeError, "documents order"),
    ({"a": 1}, TypeError, "documents dict"),
    (np.array([["a"]]), TypeError, "documents 2-D"),
    (5, TypeError, "documents sequence"),
]
# items that every method refuses in its fit and in transform
ITEMS = [
    (None, TypeError, "documents[1]=None"),
    (math.nan, TypeError, "documents[1] nan missing"),
    (5, TypeError, "documents[1]=5 int"),
    (1.5, TypeError, "documents[1]=1.5 float"),
    (True, TypeError, "documents[1]=True bool"),
    (b"x", TypeError, 'documents[1] bytes .decode("utf-8")'),
    (["a", "b"], TypeError, "documents[1] Corpus.from_tokens"),
    ("abc \ud83d", ValueError, 'documents[1] U+D83D 4 errors="replace"'),
]
CALLS = [
    (lambda: OneHot().fit(["the cat", "the dog"]).vectors(["cats"]), UnknownWord, "'cats' 'cat'"),
    (lambda: OneHot().fit(["the cat"]).vectors("cat"), TypeError, "tokens='cat' [token]"),
    (lambda: OneHot().fit(["the cat"]).vectors([5]), TypeError, "tokens[0]=5"),
    (lambda: BM25().fit(DOCUMENTS).scores("cat"), TypeError, "documents='cat' str"),
    (lambda: BM25().fit(DOCUMENTS).search(["cat"]), TypeError, "query=['cat'] scores"),
    (lambda: BM25().fit(DOCUMENTS).search("cat", k=0), ValueError, "k=0"),
    (lambda: BM25().search("cat"), NotFittedError, "BM25 fit"),
    (lambda: LSA(2).fit(TABLE).encode(DOCUMENTS), ValueError, "texts TfIdf().fit(texts)"),
    (lambda: LSA(2).fit(TABLE).transform(DOCUMENTS), ValueError, "texts TfIdf().fit(texts)"),
    (lambda: LSA(2).fit(TABLE).transform(np.ones((3, 4))), ValueError, "(3, 4) 5 columns"),
    (lambda: LSA(2).fit(TABLE).transform(sparse.csr_matrix((3, 4))), ValueError, "(3, 4) 5"),
    (lambda: LSA(2).fit(TABLE).transform(np.ones(5)), ValueError, "2 axes"),
    (lambda: LSA(2).fit(TABLE).transform(sparse.csr_matrix(TABLE * 1j)), TypeError, "complex128"),
    *[(lambda bad=bad: LSA(2).fit(with_cell(bad)), ValueError, "data[2]")
      for bad in (math.nan, math.inf)],
    *[(lambda bad=bad: LSA(2).fit(sparse.csr_matrix(with_cell(bad))), ValueError, "data[2, 1]")
      for bad in (math.nan, math.inf)],
    *[(lambda use=use: use(LSA(2)), NotFittedError, "LSA fit") for use in (
        lambda m: m.transform(TABLE), lambda m: m.encode(DOCUMENTS), LSA.term_vectors)],
    *[(lambda n=n, tokens=tokens: ngrams.ngrams(tokens, n), error, words)
      for tokens, n, error, words in [
          ("text", 2, TypeError, "tokens='text' list(text)"), (["a"], 0, ValueError, "n=0"),
          (["a", 5], 1, TypeError, "tokens[1]=5"), (["a"], 1.5, TypeError, "n=1.5"),
          *[(x, 1, TypeError, "tokens= list") for x in ({"a"}, {"a": 1}, None, 5)]]],
    *[(lambda form=form, bad=bad: ppmi(form(with_cell(bad))), ValueError, "counts[2, 1] 1 entries")
      for form in (np.asarray, sparse.csr_matrix) for bad in (-1.0, math.nan, math.inf)],
    *[(lambda bad=bad: ppmi(bad), TypeError, "counts matrix")
      for bad in (np.ones(3), np.array([["a"]]), [[1, 2]], None, np.ones((2, 2)) * 1j)],
    *[(lambda name=name, value=value: ppmi(np.ones((2, 2)), **{name: value}), ValueError, name)
      for name, value in [("shift", -0.1), ("shift", math.nan), ("smoothing", 0.0),
                          ("smoothing", 1.5), ("smoothing", math.inf)]],
    *[(lambda count=count, name=name, value=value: count(PAIR, **{name: value}), error, f"{name}=")
      for count in (cooccurrence, Cooccurrences.from_corpus) for name, value, error in [
          ("window", 0, ValueError), ("window", -1, ValueError), ("window", 1.5, TypeError),
          ("window", True, TypeError), ("window", None, TypeError), ("threads", 0, ValueError),
          ("threads", -1, ValueError), ("symmetric", "no", TypeError), ("symmetric", 1, TypeError),
          ("weighting", "harmonical", ValueError)]],
    (lambda: Cooccurrences.from_corpus(PAIR, memory=0), ValueError, "memory=0"),
    (lambda: Cooccurrences.from_corpus(PAIR, memory=1e9), TypeError, "memory="),
    *[(lambda bad=bad: cooccurrence(ids([0, 1], [], [2, bad], [1])), ValueError,
       f"document 2 id {bad} [0, 2] texts") for bad in (-1, 3, 2_000_000)],
    (lambda: cooccurrence(ids([0, 0], dtype=float)), TypeError, "corpus.token_ids float64"),
    *[(lambda bad=bad: cooccurrence(bad), TypeError, "corpus= Corpus.from_texts")
      for bad in ("a string", ["some", "texts"], [["a", "b"]], None)],
]


def refused(call, error, words: str) -> None:
    """The call raises the error, and its message holds each of the words."""
    with pytest.raises(error) as caught:
        call()
    missing = [word for word in words.split() if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"


@pytest.mark.parametrize(("method", "settings", "error", "words"),
                         [*[(method, *row) for method in METHODS for row in SETTINGS],
                          *[(method, *row) for method in WITH_NGRAMS for row in NGRAMS], *OWN])
def test_P01_to_P27_a_wrong_setting_is_refused_in_fit(method, settings, error, words):
    settings = {name: iter(["a"]) if hasattr(value, "__next__") else value
                for name, value in settings.items()}           # an iterator is read once
    refused(lambda: method(**settings).fit(TABLE if method is LSA and "vectorizer" not in settings
                                           else DOCUMENTS), error, words)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("texts", "error", "words"), TEXTS)
def test_T01_T02_T03_T20_what_holds_no_texts_is_refused(method, texts, error, words):
    refused(lambda: method().fit(texts), error, words)
    again = iter(texts) if isinstance(texts, list) else texts
    refused(lambda: method().fit_transform(again), error, words)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("item", "error", "words"), ITEMS)
def test_T05_to_T14_what_is_no_text_is_refused_with_its_place(method, item, error, words):
    refused(lambda: method().fit(["fine", item]), error, words)
    refused(lambda: method().fit(DOCUMENTS).transform(["the cat", item]), error, words)


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_wrong_calls_are_refused(call, error, words):
    refused(call, error, words)


@pytest.mark.parametrize("method", METHODS)
def test_P25_P28_wrong_batches_and_use_before_fit_are_refused(method, tmp_path):
    for size in (0, -1):
        refused(lambda size=size: method().fit(DOCUMENTS).encode(DOCUMENTS, batch_size=size),
                ValueError, "batch_size=")
    for use in (lambda m: m.transform(["a"]), lambda m: m.encode(["a"]), lambda m: m.dim,
                lambda m: m.save(tmp_path / "m")):
        refused(lambda use=use: use(method()), NotFittedError, f"{method.__name__} fit")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(("pattern", "text"), [(r"(a+)+b", "a" * 10_000),
                                               (r"(?:a|aa)+$", "a" * 60 + "!")])
def test_T22_a_catastrophic_pattern_is_stopped(pattern, text):
    refused(lambda: BagOfWords(token_pattern=pattern).fit(["word ab " * 2000, text]), ValueError,
            "token_pattern= stopped")
    fitted = BagOfWords(token_pattern=r"(?:a+)+b").fit(["ab"])
    refused(lambda: fitted.transform(["A" * 60 + "!"]), ValueError, "stopped")


@pytest.mark.parametrize("low", [30, 10**9])
def test_P16_n_grams_longer_than_every_text_are_no_tokens_and_the_error_says_so(low):
    for analyzer, words in (("char", "0 tokens analyzer='char', ngram_range"),
                            ("word", "0 tokens token_pattern ngram_range")):
        refused(lambda analyzer=analyzer: BagOfWords((low, 10**9), analyzer=analyzer)
                .fit(DOCUMENTS), ValueError, words)


# ------------------------------------------------------------------------------ files


@pytest.mark.parametrize(("method", "name", "array"), [
    *[(method, "token_offsets", np.array(offsets, dtype=np.int64)) for method in METHODS
      for offsets in ([0, 5, 10**12], [3, 1, 0], [0], [])],
    (TfIdf, "idf", np.ones(2)), (TfIdf, "idf", np.full(6, np.nan)), (BM25, "idf", np.ones(7)),
    (BM25, "weight_columns", np.full(8, 10**6, np.int32)), (BM25, "weights", np.ones(3)),
    (BM25, "weight_ends", np.array([0, 9, 3, 8], np.int32)),
    (BM25, "weight_ends", np.array([], np.int32)), (LSA, "components", np.ones(3)),
    (LSA, "singular_values", np.ones(9)), (LSA, "explained", None)])
def test_F04_forged_arrays_are_a_damaged_file_that_names_them(method, name, array, tmp_path):
    model = (LSA(dim=2) if method is LSA else method()).fit(DOCUMENTS)
    model.save(tmp_path / "m")
    settings, arrays, extra = load_model(tmp_path / "m", method.__name__)
    arrays.pop(name)
    if array is not None:
        arrays[name] = array
    save_model(tmp_path / "m", method.__name__, settings=settings, arrays=arrays, extra=extra)
    refused(lambda: method.load(tmp_path / "m"), DamagedFile, name.removesuffix("s"))


@pytest.mark.parametrize("method", [*METHODS, LSA])
@pytest.mark.parametrize("part", ["*.safetensors", "model.json"])
def test_F02_a_changed_byte_in_any_part_is_noticed(method, part, tmp_path):
    (LSA(2) if method is LSA else method()).fit(DOCUMENTS).save(tmp_path / "m")
    (file,) = (tmp_path / "m").glob(part)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedFile):
        method.load(tmp_path / "m")


def test_F04_another_kind_of_model_is_named(tmp_path):
    BagOfWords().fit(DOCUMENTS).save(tmp_path / "bag")
    refused(lambda: LSA.load(tmp_path / "bag"), DamagedFile, "BagOfWords LSA")


# ------------------------------------------------------------------------------ too much

TOO_MUCH = [
    (lambda: BagOfWords((1, 2**63)).fit(DOCUMENTS), ValueError, "ngram_range[1]= 1,000,000,000"),
    (lambda: BagOfWords(threads=10**9).fit(DOCUMENTS), ValueError, "threads=1000000000"),
    (lambda: LSA(dim=2, oversamples=10**9).fit(DOCUMENTS), DataWarning,
     "oversamples=1000000000 directions taken"),
    (lambda: LSA(dim=2, n_iter=10**9).fit(DOCUMENTS), ValueError, "n_iter=1000000000 oversamples="),
    (lambda: LSA(dim=100).fit(np.eye(2000)), MemoryError, "dim=100 oversamples=20 free"),
    (lambda: LSA(dim=2).fit(DOCUMENTS).encode(DOCUMENTS * 50_000), MemoryError, "fewer texts"),
]


@pytest.mark.parametrize(("call", "error", "words"), TOO_MUCH)
def test_what_goes_too_far_is_refused_or_said_at_once(little_memory, call, error, words):
    refused(call, error, words)


@pytest.mark.filterwarnings("ignore::lessons_lib.core.DataWarning")
def test_oversamples_beyond_the_data_are_the_exact_decomposition():
    exact, endless = (LSA(dim=2, oversamples=n).fit_transform(DOCUMENTS) for n in (500, 10**9))
    assert np.allclose(exact, endless, atol=1e-12)
