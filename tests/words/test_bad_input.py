"""Bad input of the whole room: each row is a call, the error, and words that it must hold."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from lessons_lib import words
from lessons_lib.core import DamagedFile, DataWarning, NotFittedError, UnknownWord
from lessons_lib.counts import BagOfWords
from lessons_lib.kernels import WindowState
from lessons_lib.words import FastText, GloVe, Word2Vec
from lessons_lib.words.saved import load_vectors
from lessons_lib.text.subwords import check_parts, fnv1a, ngram_buckets, ngrams

from .conftest import language, made, pressed

V, T = ValueError, TypeError
METHODS = (Word2Vec, FastText, GloVe)
WINDOWS = (Word2Vec, FastText)
STATE = WindowState([0, 1], [0, 2], np.zeros((2, 2)), np.zeros((2, 2)), [1, 1])

SETTINGS = [                                     # methods, setting and value, error, words
    (METHODS, {"dim": 0}, V, ["dim=0", "int >= 1"]), (METHODS, {"dim": -1}, V, ["dim=-1"]),
    (METHODS, {"dim": 1.5}, T, ["dim=1.5"]), (METHODS, {"dim": "8"}, T, ["dim='8'"]),
    (METHODS, {"dim": True}, T, ["dim=True"]), (METHODS, {"dim": None}, T, ["dim=None"]),
    (METHODS, {"window": 0}, V, ["window=0"]), (METHODS, {"window": 1.5}, T, ["window=1.5"]),
    (METHODS, {"epochs": 0}, V, ["epochs=0"]), (METHODS, {"epochs": None}, T, ["epochs=None"]),
    (METHODS, {"learning_rate": 0}, V, ["learning_rate=0", "> 0"]),
    (METHODS, {"learning_rate": 1e-300}, V, ["learning_rate=1e-300", "from 1e-20 to 1e+20"]),
    (METHODS, {"learning_rate": 1e300}, V, ["learning_rate=1e+300", "float32"]),
    (METHODS, {"learning_rate": np.nan}, V, ["learning_rate=nan"]),
    (METHODS, {"learning_rate": np.inf}, V, ["learning_rate=inf"]),
    (METHODS, {"min_count": 0}, V, ["min_count=0"]), (METHODS, {"threads": 0}, V, ["threads=0"]),
    (METHODS, {"seed": -1}, V, ["seed=-1"]), (METHODS, {"seed": None}, T, ["seed=None"]),
    (METHODS, {"vector_size": 100}, T, ["did you mean 'dim'"]),
    (WINDOWS, {"negatives": -5}, V, ["negatives=-5", "objective='hierarchical_softmax'"]),
    (WINDOWS, {"negatives": 0}, V, ["negatives=0", "objective"]),
    (WINDOWS, {"sample": -1}, V, ["sample=-1"]), (WINDOWS, {"sample": np.nan}, V, ["sample=nan"]),
    (WINDOWS, {"architecture": "skipgram"}, V, ["Did you mean 'skip_gram'"]),
    (WINDOWS, {"deterministic": "yes"}, T, ["deterministic='yes'"]),
    ([Word2Vec], {"device": "gpu"}, V, ["device='gpu' is unknown"]),
    ([Word2Vec], {"device": 0}, V, ["device=0 is unknown"]),
    ([Word2Vec], {"device": "cuda"}, V, ["deterministic=True cannot hold with device='cuda'",
                                         "deterministic=False"]),
    ([FastText], {"min_n": 4, "max_n": 3}, V, ["min_n=4 is above max_n=3"]),
    ([FastText], {"buckets": 0}, V, ["buckets=0"]), ([FastText], {"buckets": -1}, V, ["buckets"]),
    ([GloVe], {"x_max": 0.0}, V, ["x_max=0.0", "> 0"]),
    ([GloVe], {"x_max": np.inf}, V, ["x_max=inf"]), ([GloVe], {"exponent": -1}, V, ["exponent=-1"]),
    ([GloVe], {"gradient_clip": 0}, V, ["gradient_clip=0"]),
    ([GloVe], {"memory": 0}, V, ["memory=0"]), ([GloVe], {"symmetric": "yes"}, T, ["symmetric"]),
    ([GloVe], {"bias_rate": "papers"}, V, ["Did you mean 'paper'"]),
]
TEXTS = [                                        # methods, corpus, settings, error, words
    (METHODS, [["a", "a", "b"]] * 10, {"min_count": 99}, V,
     ["min_count=99 leaves no word: the largest count is 20, of 2 distinct"]),
    (METHODS, [["a", "a", "a"]], {}, V, ["1 word", ">= 2 needed"]),
    *((METHODS, corpus, {}, T, []) for corpus in ("one text", ["a text", "another"], 5)),
    ([GloVe], [["a"], ["b"], ["a"]], {}, V,
     ["no two known words within window=4 of each other", "longer than one word"]),
]


def damaged(indices, value):
    """A square matrix whose first row or column lies outside."""
    matrix = sparse.csc_matrix(np.ones((3, 3))) if indices else sparse.coo_matrix(np.ones((3, 3)))
    (matrix.indices if indices else matrix.row)[0] = value
    return matrix


def two(*values):
    """Counts of words 0 and 1, and of 1 and 0."""
    return sparse.csr_matrix((values, ([0, 1], [1, 0])), shape=(2, 2))


TABLE = type("Table", (), {"values": np.ones((3, 3)), "columns": [0, 1, 2]})()
COUNTS = [
    (two(1.0, 0.0), V, ["count of row 1, column 0 is 0", "eliminate_zeros"]),
    (two(1.0, -2.0), V, ["count of row 1, column 0 is -2"]), (two(1.0, np.nan), V, ["is nan"]),
    (sparse.csr_matrix((2, 2)), V, ["no stored numbers"]),
    (sparse.csr_matrix(np.ones((2, 3))), V, ["shape (2, 3); expected (V, V)"]),
    (language(), T, ["is list; expected Cooccurrences or a sparse matrix", "fit(corpus)"]),
    (damaged(True, 9000), V, ["damaged csc matrix"]), (damaged(False, -9000), V, ["outside of"]),
    (TABLE, T, ["expected Cooccurrences"]),
    (sparse.csr_matrix(np.ones((3, 3), complex)), T, ["complex"]),
    (sparse.csr_matrix([[3.0]]), V, ["those of 1 word, >= 2 needed"]),
]
PARTS = {"min_n": 3, "max_n": 6, "buckets": 10}
CALLS = [
    *((lambda m=m, settings=settings: made(m, **settings).fit(language(20)), *row)
      for methods, settings, *row in SETTINGS for m in methods),
    *((lambda m=m, corpus=corpus, settings=settings: made(m, **settings).fit(corpus), *row)
      for methods, corpus, settings, *row in TEXTS for m in methods),
    *((lambda counts=counts: GloVe(dim=3).fit_counts(counts), *row) for counts, *row in COUNTS),
    (lambda: GloVe(dim=3).fit_counts(sparse.csr_matrix(np.ones((2, 2))), ["a"]), V,
     ["tokens holds 1 words for 2 rows"]),
    # before fit
    *((lambda use=use, m=m: use(m()), NotFittedError, [f"{m.__name__} is not fitted yet"])
      for m in METHODS for use in (lambda m: m.save("nowhere"), lambda m: m.resume(language()))),
    *((lambda use=use: use(FastText()), NotFittedError, ["FastText is not fitted yet"])
      for use in (lambda m: m.vector("a"), lambda m: m.nearest("a"))),
    # words and their parts
    *((lambda word=word: made(FastText).fit(language(20)).vectors_for([word]), T, [])
      for word in (5, None, b"bytes")),
    (lambda: made(FastText, max_n=0).fit(language(20)).vector("seas"), UnknownWord, ["seas"]),
    *((lambda wrong=wrong: check_parts(**PARTS | wrong), V, said) for wrong, said in [
        ({"min_n": 4, "max_n": 3}, ["min_n=4 is above max_n=3"]), ({"min_n": 0}, ["min_n=0"]),
        ({"buckets": 0}, ["buckets=0"]), ({"buckets": -1}, ["buckets=-1"]),
        ({"buckets": 2**32}, ["buckets=4294967296"]), ({"max_n": -1}, ["max_n=-1"])]),
    *((lambda name=name: check_parts(**PARTS | {name: 1.5}), T, [f"{name}=1.5 is float"])
      for name in PARTS),
    (lambda: ngrams(5), T, ["expected a str"]), (lambda: fnv1a(None), T, ["expected a str"]),
    (lambda: ngram_buckets(["a", None]), T, ["word=None is NoneType; expected a str"]),
    (lambda: ngram_buckets(["a\ud83d"]), V, ["words hold '\\ud83d', a lone surrogate"]),
    # windows, names
    (lambda: next(words.windows(3)), T, ["state=3 is int; expected a kernels.WindowState"]),
    (lambda: next(words.windows(STATE, window=0)), V, ["window=0"]),
    (lambda: words.Word2vec, AttributeError, ["has no 'Word2vec'; it has"]),
]


@pytest.mark.parametrize(("call", "error", "said"), CALLS)
def test_what_cannot_be_is_refused_by_name(call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in said if word not in str(caught.value)] == [], caught.value


@pytest.mark.parametrize(("place", "error", "said"), [
    ("bag", DamagedFile, "holds a 'BagOfWords'; expected one of Word2Vec, GloVe, FastText"),
    ("empty", DamagedFile, "model.json is missing"), ("list", DamagedFile, "holds a ''"),
    ("bug", FileNotFoundError, "nearest name")])
def test_F04_F15_what_holds_no_word_vectors(place, error, said, tmp_path):
    BagOfWords().fit(["one two"]).save(tmp_path / "bag")
    (tmp_path / "empty").mkdir()
    (tmp_path / "list").mkdir()
    (tmp_path / "list" / "model.json").write_text(json.dumps([]))
    with pytest.raises(error, match=said):
        load_vectors(tmp_path / place)


# ------------------------------------------------------------------------------ too much

TOO_MUCH = [
    *((lambda m=m, wrong=wrong: made(m, **wrong).fit(language(20)), *row)
      for m in METHODS for wrong, *row in [
          ({"dim": 10**9}, MemoryError, ["dim=1000000000", " GB, 1.0 MB are free", "min_count"]),
          ({"dim": 10**18}, V, ["dim=1000000000000000000", "at most 1,000,000,000"]),
          ({"epochs": 2**63}, V, ["epochs=9223372036854775808", "epochs=10**9", "Ctrl-C"]),
          ({"min_count": 2**63}, V, ["min_count=9223372036854775808"]),
          ({"threads": 10**9}, V, ["threads=1000000000", "[1, 1024]"])]),
    *((lambda m=m: made(m, threads=900).fit(language(20)), MemoryError,
       ["903 x ", "threads=900", "deterministic=False"]) for m in WINDOWS),
    (lambda: made(Word2Vec).fit(language(20)).set_params(dim=10**9).partial_fit(language(20)), V,
     ["dim=1000000000", "fit anew"]),
    (lambda: made(FastText, max_n=10**9).fit(language(20)), DataWarning, ["max_n=1000000000"]),
    (lambda: made(GloVe, window=10**9).fit(language(20)), DataWarning, ["window=1000000000"]),
    (lambda: GloVe(dim=10**9).fit_counts(two(1.0, 2.0)), MemoryError, ["dim=1000000000"]),
]


@pytest.mark.parametrize(("call", "error", "said"), TOO_MUCH)
def test_what_goes_too_far_is_refused_or_said_at_once(little_memory, call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in said if word not in str(caught.value)] == [], caught.value


@pytest.mark.parametrize("method", METHODS)
def test_a_run_without_end_begins_at_once_and_ends_with_a_model(method):
    seen = []

    def after(model):
        seen.append(model.vectors_.matrix.copy())
        return pressed() if len(seen) == 2 else None

    model = made(method, epochs=10**9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(language(20), on_epoch=after)
    assert len(model.history_) == 2 and np.array_equal(model.vectors_.matrix, seen[1])
