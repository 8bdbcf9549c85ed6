"""Bad input of the room: what is called, which error comes, and what its message holds."""

from __future__ import annotations

import math
import os
import signal
import threading

import numpy as np
import pytest
from scipy import sparse

from lessons_lib.core import DamagedFile, DataWarning, NotFittedError, load_model, save_model
from lessons_lib.kernels.lda_sweep import state
from lessons_lib.text import Corpus, Vocabulary
from lessons_lib.topics import PLSA, GibbsLDA, Hellinger, OnlineLDA, as_counts, coherence_of
from lessons_lib.topics import log_likelihood, match_topics, split_documents
from lessons_lib.topics.model import LARGEST_PRIOR, SMALLEST_PRIOR, checked_prior

MODELS = [PLSA, GibbsLDA, OnlineLDA]
WITH_PRIORS = MODELS[1:]
TABLE = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])
COUNTS = np.random.default_rng(0).poisson(1.0, (12, 15)) + np.eye(12, 15, dtype=int)
CORPUS = Corpus.from_tokens([["a", "b"], ["b"]])
HALVES, GIANT = np.full((2, 2), 0.5), np.array([[2**31 - 1, 1], [1, 2]])


def changed(matrix, part: str, at: int, value: int):
    """A matrix with one number of one of its arrays changed."""
    array = getattr(matrix, part).copy()
    array[at] = value
    setattr(matrix, part, array)
    return matrix


def shorter(matrix):
    """A matrix whose parts differ in length."""
    matrix.data = matrix.data[:-1]
    return matrix


def with_cell(value: float) -> np.ndarray:
    table = TABLE.astype(float)
    table[1, 2] = value
    return table


def blocks() -> sparse.bsr_matrix:
    return sparse.bsr_matrix(np.kron(np.eye(2, dtype=int), np.ones((2, 2), int)), blocksize=(2, 2))


SETTINGS = [
    *[(model, {"n_topics": k}, (TypeError, ValueError), "n_topics= [1, 32767]")
      for model in MODELS for k in (0, -1, 1.5, "8", True, None, 32_768, 2**16 + 2)],
    *[(model, {"seed": seed}, (TypeError, ValueError), "seed=")
      for model in MODELS for seed in (-1, 1.5, None)],
    *[(model, {"threads": 0}, ValueError, "threads=0") for model in MODELS],
    *[(model, {"n_topic": 3}, TypeError, "n_topic 'n_topics'") for model in MODELS],
    *[(model, {"alpha": value}, (TypeError, ValueError), "alpha expected") for model in WITH_PRIORS
      for value in (0, -1.0, math.nan, math.inf, "0.1", True, [0.1, 0.2, 0.3], [0.1, 0.0],
                    [0.1, math.nan], np.ones((2, 1)), ["a", "b"], 9e-13, 1.1e6, 10**400)],
    *[(model, {"beta": value}, (TypeError, ValueError), "beta expected") for model in WITH_PRIORS
      for value in (-1.0, [0.1] * 3, math.inf, "x", 1e-300, 1e9)],
    (GibbsLDA, {"beta": None}, TypeError, "beta=None"),
    *[(GibbsLDA, {name: value}, (TypeError, ValueError), f"{name}=") for name, value in [
        ("n_sweeps", 0), ("n_sweeps", 2.0), ("burn_in", -1), ("thin", 0), ("learn_alpha", "yes"),
        ("learn_beta", 1), ("progress", 1), ("device", "gpu")]],
    *[(PLSA, {name: value}, (TypeError, ValueError), f"{name}=") for name, value in [
        ("n_iter", 0), ("n_iter", -1), ("n_iter", 1.5), ("tempering", 0.0), ("tempering", 1.1),
        ("tempering", math.nan), ("smoothing", -1.0), ("smoothing", math.inf), ("smoothing", 1.1e6),
        ("tol", -1.0)]],
    *[(OnlineLDA, {name: value}, (TypeError, ValueError), f"{name}=") for name, value in [
        ("n_epochs", 0), ("batch_size", 0), ("max_inner", -1), ("decay", 0.5), ("decay", 1.01),
        ("decay", math.nan), ("offset", -1.0), ("tol", -1e-9), ("learning", "bach"),
        ("start", "best"), ("shuffle", 1)]],
]
DATA = [
    ("a text", TypeError, "texts Corpus.from_texts"),
    (["a text", "b"], TypeError, "texts Corpus.from_texts"),
    ([["a", "b"], ["c"]], TypeError, "tokens Corpus.from_tokens"),
    (None, TypeError, "data=None matrix Corpus"),
    ({1, 2}, TypeError, "set matrix"),
    ([[1, 2], [3]], ValueError, "rows length"),
    (np.array([1, 2]), ValueError, "(2,) data[None]"),
    (np.array([["1"]]), TypeError, "<U1 counts"),
    (np.array([[1j]]), TypeError, "complex128 counts"),
    (np.zeros((2, 2, 2)), ValueError, "2 axes"),
    (np.zeros((0, 3), dtype=int), ValueError, "data 0 documents"),
    (np.zeros((2, 3), dtype=int), ValueError, "2 documents 0 tokens"),
    *[(form(with_cell(value)), ValueError, f"data[1, 2]={value} document 1 word 2 {hint}")
      for form in (np.asarray, sparse.csr_matrix)
      for value, hint in [(-1.0, ""), (math.nan, ""), (math.inf, ""), (2.0**31, "2147483647"),
                          (0.5, "TF-IDF")]],
    *[(changed(sparse.csr_matrix(TABLE), "indices", 2, bad), ValueError,
       f"document 1 word id {bad} [0, 2]") for bad in (-1, 3, 1000)],
    *[(Corpus(Vocabulary(["x", "y", "z"], [1, 1, 1]), np.array([0, bad], dtype=np.int32),
              np.array([0, 1, 2])), ValueError, f"document 1 word id {bad}")
      for bad in (-1, 3, 1000)],
    (changed(sparse.csr_matrix(TABLE), "indptr", 1, 5), ValueError, "indptr 1 never"),
    (changed(sparse.csc_matrix(TABLE), "indices", 0, 9), ValueError, "damaged csc Build"),
    *[(changed(form(TABLE), part, 2, bad), ValueError, words)
      for form in (sparse.coo_matrix, sparse.coo_array) for bad in (77_777_777, -7_777_777, 3, -1)
      for part, words in [("row", f"data.row[2]={bad} [0, 2] 3 documents"),
                          ("col", f"word id {bad} [0, 2]")]],
    (shorter(sparse.coo_matrix(TABLE)), ValueError, "6 row, 6 column 5 counts"),
    *[(changed(blocks(), part, at, bad), ValueError, "damaged bsr Build")
      for part, at, bad in [("indptr", -1, 9_999_999), ("indptr", 1, 3), ("indptr", 1, -1),
                            ("indices", 0, 99_999_999), ("indices", 0, 2), ("indices", 0, -1)]],
]
CALLS = [
    *[(lambda names=names: as_counts(TABLE, vocabulary=names), error, words)
      for names, error, words in [
          (["x", "y"], ValueError, "vocabulary 2 tokens 3 columns"),
          (["x", "y", "x"], ValueError, "vocabulary 'x' twice"),
          ({"x": 0, "y": 2, "z": 3}, ValueError, "columns 0 to 2 once"),
          ("xyz", TypeError, "vocabulary='xyz' list"), (["x", 5, "z"], TypeError, "[1]=5")]],
    (lambda: as_counts(TABLE, n_words=4), ValueError, "3 words 4 fitted"),
    *[(lambda use=use, model=model: use(model), NotFittedError, "fit first") for model in
      (PLSA(2), GibbsLDA(2), OnlineLDA(2)) for use in (
          lambda m: m.transform(TABLE), lambda m: m.encode(["a"]), lambda m: m.perplexity(TABLE),
          lambda m: m.top_words(), lambda m: m.coherence(TABLE), lambda m: m.save("nowhere"),
          lambda m: m.dim, lambda m: m.resume(TABLE))],
    (lambda: OnlineLDA(2).lambda_, NotFittedError, "OnlineLDA fit"),
    (lambda: Hellinger().transform(np.array([[1.0, 0.0], [-0.1, 1.1]])), ValueError,
     "vectors[1] 1 rows"),
    *[(lambda settings=settings, topics=topics: coherence_of(topics, CORPUS, **settings), error,
       words) for topics, settings, error, words in [
          ([["a", "b"]], {"measure": "cv"}, ValueError, "measure='cv' 'c_v'"),
          ([["a", "b"]], {"window": 5}, ValueError, "window=5 meaning"),
          ([["a", "b"]], {"measure": "c_v", "window": 0}, ValueError, "window=0"),
          (["ab", "ba"], {}, TypeError, "topics lists"), ([], {}, TypeError, "topics lists"),
          ([["a"]], {}, ValueError, "topics[0] 1 distinct"),
          ([["a", "a"]], {}, ValueError, "topics[0] 1 distinct"),
          ([[0, 9]], {}, ValueError, "topics[0]=9"),
          ([["a", "zebra"]], {}, ValueError, "topics[0]= 1 of 2 words")]],
    (lambda: coherence_of([[0, 1]], np.ones((2, 2), int), measure="npmi"), ValueError,
     "measure='npmi' order Corpus"),
    (lambda: coherence_of([["a", "b"]], np.ones((2, 2), int)), ValueError, "names vocabulary"),
    (lambda: split_documents(GIANT), ValueError, "2,147,483,651 134,217,728"),
    (lambda: log_likelihood(COUNTS, np.ones((11, 2)), np.ones((2, 15))), ValueError,
     "doc_topic 11 rows 12 documents"),
    (lambda: log_likelihood(COUNTS, np.ones((12, 2)), np.ones((2, 14))), ValueError, "15 columns"),
    (lambda: log_likelihood(TABLE[:2, :2], HALVES * [[1], [-2]], HALVES), ValueError,
     "doc_topic[1] -1 >= 0"),
    (lambda: log_likelihood(TABLE[:2, :2], HALVES, HALVES * [[-1], [1]]), ValueError,
     "components[0] -0.5 >= 0"),
    (lambda: match_topics(np.eye(2), np.eye(3)), ValueError, "3 columns"),
]
FITTED = [
    *[(lambda m, name=name, value=value: m.top_words(**{name: value}), (TypeError, ValueError),
       f"{name}=") for name, value in [("n", 0), ("n", 1.5), ("relevance", 1.1),
                                       ("relevance", -0.1)]],
    (lambda m: m.top_words(), ValueError, "vocabulary=words"),
    (lambda m: m.encode(["cats"]), ValueError, "vocabulary=words"),
    (lambda m: m.transform(CORPUS), ValueError, "Corpus vocabulary=words"),
    (lambda m: m.transform(np.eye(3, dtype=int)), ValueError, "3 words 15 fitted"),
    (lambda m: m.coherence(np.eye(3, dtype=int)), ValueError, "3 words 15 fitted"),
    (lambda m: m.perplexity(np.eye(12, 15, dtype=int)), ValueError, "none of 12 documents 2"),
    *[(lambda m, seed=seed: m.perplexity(COUNTS, seed=seed), (TypeError, ValueError), "seed=")
      for seed in (-1, 1.5, None)],
    (lambda m: m.resume(COUNTS[:11]), ValueError, "11 documents had 12 resume needs"),
    (lambda m: m.resume(COUNTS[::-1]), ValueError, "another order resume needs"),
    (lambda m: m.resume(COUNTS, **{{PLSA: "n_iter", GibbsLDA: "n_sweeps",
                                    OnlineLDA: "n_epochs"}[type(m)]: 0}), ValueError, "=0"),
    *[(lambda m, bad=bad: getattr(m, "partial_fit", m.fit)(with_cell(bad)), ValueError,
       "data[1, 2]") for bad in (0.5, -1.0, math.nan, math.inf)],
    (lambda m: m.fit(with_cell(0.5)), ValueError, "TF-IDF"),
]
STREAMS = [
    (lambda m: m.partial_fit(TABLE, total=5), ValueError, "total=5 >= 6"),
    (lambda m: m.set_params(learning="batch").partial_fit(TABLE), ValueError, 'learning="online"'),
    (lambda m: m.set_params(n_topics=5).partial_fit(TABLE), ValueError,
     "n_topics=5 n_topics=2 partial_fit"),
    (lambda m: m.partial_fit(np.ones((1, 5), int), vocabulary=list("abcde")), ValueError,
     "5 words 3"),
    (lambda m: m.partial_fit(TABLE + 1).resume(TABLE + 1), ValueError, "resume needs"),
]


def refused(call, error, words: str) -> None:
    """The call raises the error, and its message holds each of the words."""
    with pytest.raises(error) as caught:
        call()
    missing = [word for word in words.split() if word not in str(caught.value)]
    assert not missing, f"{caught.value} lacks {missing}"


@pytest.mark.parametrize(("model", "settings", "error", "words"), SETTINGS)
def test_P10_P12_P15_a_wrong_setting_is_refused_before_data_are_read(model, settings, error, words):
    refused(lambda: model(**{"n_topics": 2} | settings).fit(COUNTS), error, words)
    if model is OnlineLDA:
        refused(lambda: model(**{"n_topics": 2} | settings).partial_fit(COUNTS), error, words)


@pytest.mark.parametrize(("data", "error", "words"), DATA)
def test_T02_T09_P13_P14_what_is_no_count_is_refused_with_its_place(data, error, words):
    refused(lambda: as_counts(data), error, words)


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_wrong_calls_are_refused(call, error, words):
    refused(call, error, words)


@pytest.mark.parametrize("make", [lambda: PLSA(2, n_iter=3), lambda: GibbsLDA(2, n_sweeps=4),
                                  lambda: OnlineLDA(2, n_epochs=1)])
@pytest.mark.parametrize(("use", "error", "words"), FITTED)
def test_wrong_use_of_a_model_is_refused_and_leaves_it_as_it_was(make, use, error, words):
    model = make().fit(COUNTS)
    before = model.components_.copy()
    refused(lambda: use(model), error, words)
    assert np.array_equal(model.components_, before)


@pytest.mark.parametrize(("use", "error", "words"), STREAMS)
def test_wrong_use_of_a_stream_is_refused(use, error, words):
    refused(lambda: use(OnlineLDA(2).partial_fit(TABLE)), error, words)


@pytest.mark.parametrize("model", MODELS)
def test_P11_more_topics_than_documents_are_allowed_with_a_warning(model):
    with pytest.warns(DataWarning, match="n_topics=14 is more than the 12 documents"):
        fitted = model(14).fit(COUNTS)
    assert np.allclose(fitted.components_.sum(axis=1), 1.0)
    assert np.allclose(fitted.doc_topic_.sum(axis=1), 1.0)


@pytest.mark.parametrize(("value", "expected"),
                         [(2, [2, 2, 2]), (np.float32(0.5), [0.5] * 3), (np.array(0.5), [0.5] * 3),
                          ([1, 2, 3], [1, 2, 3])])
def test_one_number_of_a_prior_stands_for_all(value, expected):
    assert checked_prior("alpha", value, 3).tolist() == expected
    assert checked_prior("alpha", None, 2, default=0.5).tolist() == [0.5, 0.5]


def test_a_sweep_takes_the_priors_that_a_model_takes():
    assert (state.SMALLEST_PRIOR, state.LARGEST_PRIOR) == (SMALLEST_PRIOR, LARGEST_PRIOR)


@pytest.mark.parametrize("learning", ["online", "batch"])
@pytest.mark.parametrize("alpha", [SMALLEST_PRIOR, LARGEST_PRIOR])
@pytest.mark.parametrize("beta", [SMALLEST_PRIOR, LARGEST_PRIOR])
def test_P12_the_extreme_priors_that_are_allowed_give_distributions(learning, alpha, beta):
    model = OnlineLDA(3, alpha=alpha, beta=beta, learning=learning, n_epochs=2).fit(COUNTS)
    for found in (model.components_, model.doc_topic_, model.transform(COUNTS)):
        assert (found >= 0).all() and np.allclose(found.sum(axis=1), 1.0)
    assert np.isfinite(model.bound_).all()


def test_P15_the_largest_smoothing_gives_equal_words():
    model = PLSA(2, smoothing=LARGEST_PRIOR, n_iter=3).fit(np.eye(3, dtype=int))
    assert np.allclose(model.components_, 1 / 3, atol=1e-5)


# ------------------------------------------------------------------------------ files


def put(name: str, value):
    return lambda settings, arrays, extra: arrays.update({name: value})


@pytest.mark.parametrize(("model", "change"), [
    *[(model, change) for model in MODELS for change in (
        lambda s, a, e: a.pop("components"), lambda s, a, e: a.pop("word_counts"),
        lambda s, a, e: a.update(components=a["components"][:1]), put("alpha", np.ones(5)),
        lambda s, a, e: a.update(components=np.full_like(a["components"], np.nan)),
        lambda s, a, e: s.update(n_topics=3), lambda s, a, e: s.update(unknown=1),
        lambda s, a, e: s.update(seed=-1), lambda s, a, e: e.pop("tokenizer"),
        lambda s, a, e: a.update(token_offsets=a["token_offsets"][:-1]),
        lambda s, a, e: a.update(doc_topic=a["doc_topic"][:, :1]),
        lambda s, a, e: e.update(tokenizer={"pattern": 5}),
        lambda s, a, e: e["own"].pop("fingerprint"))],
    (PLSA, lambda s, a, e: a.pop("own.history")), (PLSA, put("own.history", np.ones(1))),
    (GibbsLDA, lambda s, a, e: a["own.assignments"].fill(7)),
    (GibbsLDA, put("own.assignments", np.zeros(3, dtype=np.int32))),
    (GibbsLDA, put("own.alpha", np.array([1.0, -1.0]))),
    (GibbsLDA, put("own.history", np.full((2, 2), np.nan))),
    (OnlineLDA, lambda s, a, e: a.update({"own.excess": a["own.excess"].astype(np.float64)})),
    (OnlineLDA, lambda s, a, e: a.update({"own.gamma": a["own.gamma"][:-1]})),
    (OnlineLDA, put("own.scale", np.zeros(1))), (OnlineLDA, lambda s, a, e: e["own"].pop("afresh")),
])
def test_F04_files_that_do_not_fit_are_damaged(model, change, tmp_path):
    short = {PLSA: "n_iter", GibbsLDA: "n_sweeps", OnlineLDA: "n_epochs"}[model]
    fitted = model(2, **{short: 3}).fit(COUNTS, vocabulary=list("abcdefghijklmno"))
    fitted.save(tmp_path / "m")
    parts = load_model(tmp_path / "m", model.__name__)
    change(*parts)
    settings, arrays, extra = parts
    save_model(tmp_path / "m", model.__name__, settings=settings, arrays=arrays, extra=extra)
    refused(lambda: model.load(tmp_path / "m"), DamagedFile, "Save the model again")


def test_F04_a_model_of_another_kind_is_named(tmp_path):
    save_model(tmp_path / "m", "LSA", settings={}, arrays={"x": np.ones(1)})
    refused(lambda: PLSA.load(tmp_path / "m"), DamagedFile, "LSA PLSA")


# ------------------------------------------------------------------------------ too much

TOO_MUCH = [
    *((lambda m=m, wrong=wrong: m(**wrong).fit(COUNTS), *row)
      for m, count in ((PLSA, "n_iter"), (GibbsLDA, "n_sweeps"), (OnlineLDA, "n_epochs"))
      for wrong, *row in [
          ({count: 10**18}, ValueError, [f"{count}=1000000000000000000", f"{count}=10**9"]),
          ({"threads": 10**9}, ValueError, ["threads=1000000000", "[1, 1024]"])]),
    (lambda: OnlineLDA(max_inner=2**63).fit(COUNTS), ValueError, ["max_inner=9223372036854775808"]),
]


@pytest.mark.parametrize(("call", "error", "said"), TOO_MUCH)
def test_what_goes_too_far_is_refused_or_said_at_once(little_memory, call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in said if word not in str(caught.value)] == [], caught.value


@pytest.mark.filterwarnings("ignore::lessons_lib.core.DataWarning")        # K above documents
@pytest.mark.parametrize("model", MODELS)
def test_topics_that_cannot_fit_are_refused(little_memory, model):
    with pytest.raises(MemoryError, match=r"B, 1\.0 MB are free\. Lower n_topics=30000"):
        model(30_000).fit(COUNTS)
    fitted = model(2, seed=1).fit(COUNTS)
    with pytest.raises(MemoryError, match="Transform fewer at once"):
        fitted.transform(np.ones((70_000, 15), dtype=np.int8))


@pytest.mark.parametrize(("model", "settings"), [
    (PLSA, {"n_iter": 10**9, "tol": 0.0}), (GibbsLDA, {"n_sweeps": 10**9}),
    (OnlineLDA, {"n_epochs": 10**9}), (OnlineLDA, {"n_epochs": 10**9, "learning": "batch"})])
def test_ctrl_c_ends_a_run_without_end_with_a_model_that_goes_on(model, settings, tmp_path):
    count = next(iter(settings))
    model(2, **settings | {count: 1}).fit(COUNTS)              # compiles
    endless = model(2, **settings)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(COUNTS)
    timer.join()
    assert np.allclose(endless.components_.sum(axis=1), 1.0) and endless.topic_share_.shape == (2,)
    endless.save(tmp_path / "model")
    model.load(tmp_path / "model").resume(COUNTS, **{count: 2})
