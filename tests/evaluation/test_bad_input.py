"""What cannot be measured is refused by name, with what would do (rows E, P and V of reliability).
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from lessons_lib.core import NotFittedError, UnknownWord
from lessons_lib.counts import BagOfWords
from lessons_lib.datasets import Triplets
from lessons_lib.evaluation import (Leaderboard, alignment, analogy_accuracy, average_ranks,
                                    bootstrap_interval, evaluate, linear_probe, pair_cosines,
                                    paired_difference, pearson, spearman, spearman_interval,
                                    uniformity, unit_rows, word_report, word_similarity)
from lessons_lib.evaluation.bootstrap import percentile_interval
from lessons_lib.evaluation.pair_sets import pair_sets
from lessons_lib.evaluation.triplets import triplet_accuracy
from lessons_lib.evaluation.word_table import WordTable

from .conftest import TableEncoder, WordCounter, make_pairs, make_result

NAN, X = float("nan"), np.arange(10.0) % 7
TOY = {"sentence1": ["a", "b"], "sentence2": ["c", "d"], "score": [1.0, 2.0]}
AXES = {"a": [1, 0], "b": [0, 1], "c": [1, 1], "d": [1, 0]}
VECTORS, WORDS = {"cat": [1.0, 0.0]}, (["the", "Cat", "dog"], [[1.0, 0], [0, 1], [1, 1]])
PAIRS = {"word1": ["cat", "emu"], "word2": ["cat", "ant"], "score": [1.0, 2.0]}
QUESTIONS = {"questions": np.array([["a", "b", "c", "d"]] * 2), "section": ["x"] * 2}
PROBE = {"train": np.eye(3)[:2], "train_labels": [0, 1], "test": np.ones((1, 3)),
         "test_labels": [1]}


def pairs(**changed):
    return lambda _: pair_sets(SimpleNamespace(**{"name": "toy"} | TOY | changed), split=None)


def labelled(_):
    pair_sets(SimpleNamespace(sentence1=list("ab"), sentence2=list("cd"), dataset=None, name="zh",
                              label=["1", "neutral"]), split=None)


def sets(wrong):
    return lambda _: pair_sets(wrong, split=None)


def encoded(table, **changed):
    """Evaluates an encoder of that table, with some of it changed."""
    def call(_):
        encoder = TableEncoder(table)
        vars(encoder).update(changed)
        evaluate(encoder, make_pairs(**TOY))

    return call


def scored(encoder, **settings):
    return lambda _: evaluate(encoder, make_pairs(**TOY), **settings)


def asked(vectors, questions=None, **options):
    given = SimpleNamespace(**QUESTIONS | (questions or {}))
    return lambda _: analogy_accuracy(vectors, given, **options)


def alike(vectors, **changed):
    return lambda _: word_similarity(vectors, SimpleNamespace(**{"name": "toy"} | PAIRS | changed))


def table(vectors):
    return lambda _: WordTable(vectors)


def probe(**changed):
    return lambda _: linear_probe(**PROBE | changed)


def statistic(wrong):
    return lambda _: bootstrap_interval(wrong, 4, n_resamples=20)


def cosines(left, right):
    return lambda _: pair_cosines(np.eye(2), left, right)


def added(encoder="e", lesson="l", results=None, **settings):
    given = {"s": make_result()} if results is None else results
    return lambda board: board.add(encoder, lesson, given, **settings)


def report(**options):
    return lambda _: word_report(WORDS, **{"sets": []} | options)


def lone(_):
    toy = make_pairs(["a", "a", "a"], ["b", "c", "a"], [1, 2, 3], subset=["lone", "x", "x"])
    evaluate(TableEncoder(AXES), toy, protocol="mean")


def to_sparse_tensor(texts, **_):
    return pytest.importorskip("torch").eye(len(texts)).to_sparse()


REFUSED = [
    # correlations: E16 and V24 for both, V06
    *(row for measure in (pearson, spearman) for row in (
        (lambda _, m=measure: m([1, 2, 3], [1, 2]), ValueError, "predictions has 3",
         "gold has 2", "index 2"),
        (lambda _, m=measure: m([1], [2]), ValueError, "predictions and gold hold 1 pairs",
         ">= 2"),
        (lambda _, m=measure: m([1, 2, 3], [1, NAN, 2]), ValueError, "gold[1]", "NaN"),
        (lambda _, m=measure: m([0.5] * 3, [1, 2, 3]), ValueError, "predictions is constant",
         "all 3 values", "0.5"),
        (lambda _, m=measure: m([1, 2, 3], [0] * 3), ValueError, "gold is constant"),
        (lambda _, m=measure: m([1, 2], ["0.5", "0.7"]), TypeError, "gold[0]='0.5'", "text"))),
    (lambda _: average_ranks(np.zeros((2, 2))), ValueError, "values", "(2, 2)"),
    # intervals
    (lambda _: spearman_interval(X, X, n_resamples=0), ValueError, "n_resamples=0", "int >= 1"),
    (lambda _: spearman_interval(X, X, confidence=1.5), ValueError, "confidence=1.5", "<= 1"),
    (lambda _: bootstrap_interval(len, 5, seed=None), TypeError, "seed=None"),
    (lambda _: paired_difference(X, X[:9], X), ValueError, "b has 9 values", "gold has 10"),
    (lambda _: percentile_interval(np.full(3, NAN)), ValueError, "none of the 3 resamples"),
    (statistic(5), TypeError, "statistic=5 is int", "expected a function"),
    (statistic(lambda index: index), TypeError, "statistic gave", "one number"),
    (statistic(lambda index: None), TypeError, "statistic gave None"),
    (statistic(lambda index: NAN), ValueError, "statistic gave nan"),
    (statistic(lambda index: np.inf if index[0] else 1.0), ValueError, "statistic gave inf"),
    # geometry
    (lambda _: uniformity([[1.0, 0.0], [NAN, 0.0]]), ValueError, "x[1]", "NaN", "1 of 2"),
    (lambda _: uniformity(sparse.csr_array([[1.0, 0.0], [np.inf, 0.0]])), ValueError, "NaN"),
    (lambda _: alignment(np.ones((2, 4)), np.ones((2, 5))), ValueError, "(2, 4)", "(2, 5)"),
    (lambda _: uniformity(np.ones(3)), ValueError, "x has shape (3,)", "x[None]"),
    (lambda _: unit_rows([["a", "b"]]), TypeError, "dtype <U1"),
    (lambda _: uniformity(np.ones((1, 3))), ValueError, "x has 1 rows", ">= 2"),
    (lambda _: uniformity(sparse.csr_array(np.ones((1, 3)))), ValueError,
     "x has 1 rows; expected >= 2"),
    (lambda _: alignment(np.zeros((0, 3)), np.zeros((0, 3))), ValueError, "x has 0 rows", ">= 1"),
    *((lambda _, alpha=alpha: alignment(np.eye(2), np.eye(2), alpha=alpha), ValueError, "alpha=")
      for alpha in (0, -1.0, NAN, 1e308)),
    *((lambda _, t=t: uniformity(np.eye(2), t=t), ValueError, "t=", "> 0") for t in (0, -1.0, NAN)),
    (cosines([0, 1], [1]), ValueError, "left has 2 and right 1"),
    (cosines([-1], [0]), ValueError, "left[0]=-1 is no row", "ints in [0, 1]"),
    (cosines([0, 5, -1], [0, 0, 0]), ValueError, "left[1]=5 is no row"),
    (cosines([0], [2]), ValueError, "right[0]=2"),
    (cosines([[0]], [[1]]), ValueError, "left has shape"),
    (cosines([0.5], [1]), TypeError, "expected row numbers"),
    # sets of pairs: E05, E16
    (labelled, TypeError, "zh.label[1]='neutral'", "select"),
    (sets(5), TypeError, "datasets=5 is int"), (sets([]), ValueError, "0 sets"),
    (sets([5]), TypeError, "int without sentence1, sentence2"),
    (sets([make_pairs(**TOY)] * 2), ValueError, "'toy' 2 times", "pass a dict"),
    (pairs(sentence2=["c"]), ValueError, "toy.sentence2 has 1", "toy.sentence1 has 2"),
    (pairs(score=[1.0]), ValueError, "toy.score has 1", "toy.sentence1 has 2"),
    (pairs(score=[1.0, NAN]), ValueError, "toy.score[1]", "NaN"),
    (pairs(score=[2.0, 2.0]), ValueError, "toy.score is constant: all 2 values"),
    (pairs(score=["1", "2"]), TypeError, "toy.score[0]='1'", "text"),
    (pairs(subset=["x"]), ValueError, "toy.subset has 1 values for 2 pairs"),
    (pairs(sentence1=["a", None]), TypeError, "toy.sentence1[1]=None"),
    (pairs(sentence1=["a"], sentence2=["b"], score=[1]), ValueError, "hold 1 pairs"),
    (pairs(score=None), TypeError, "without score"),
    # encoders: E16, P24, P25, P27, V01, V05
    (scored(5), TypeError, "without encode, dim, name"),
    (scored(WordCounter), TypeError, "the class WordCounter, not an object"),
    (scored("bert"), TypeError, "encoder='bert' is without"),
    (scored(BagOfWords()), NotFittedError, "fit"),
    (scored(TableEncoder(AXES), protocol="weighted"), ValueError, "protocol='weighted'"),
    (scored(TableEncoder(AXES), batch_size=0), ValueError, "batch_size=0"),
    (scored(TableEncoder(AXES), bootstrap=-1), ValueError, "bootstrap=-1"),
    (scored(TableEncoder(AXES), bootstrap=1.5), TypeError, "bootstrap=1.5"),
    (scored(TableEncoder(AXES), seed=None), TypeError, "seed=None"),
    *((encoded(dict.fromkeys("abcd", row)), ValueError, "table gives all 2 pairs of toy",
       f"cosine {cosine}", "Was it fitted") for row, cosine in (([0, 0], 0), ([1, 1], 1))),
    (encoded(AXES | {"b": [NAN, 1]}), ValueError, "encoder.encode(texts)[1]", "NaN"),
    (encoded(AXES, dim=3), ValueError, "(4, 2)", "expected 3 columns"),
    (encoded(AXES, encode=lambda texts, **_: np.ones((1, 2))), ValueError,
     "gave 1 rows for 4 texts of toy"),
    (encoded(AXES, encode=to_sparse_tensor), TypeError, "table.encode gave a Tensor",
     "no dense array"),
    (lone, ValueError, "subset 'lone' (1 pairs)", "protocol='all'"),
    # words: E16, P27, V01, V05, V06, V07, V20
    (table(5), TypeError, "vectors=5 is int", "expected a dict"), (table(["a"]), TypeError, "list"),
    (table((["a"], np.eye(2))), ValueError, "1 words and 2 rows"),
    (table({"a": [1, 2], "b": [1, 2, 3]}), ValueError, "expected one width"),
    (table({}), ValueError, "vectors has 0 rows", ">= 1"),
    (table((["a", "b"], [[1.0, NAN], [0, 1]])), ValueError, "vectors[0]", "NaN"),
    (table((["a"], np.ones(1))), ValueError, "vectors has shape (1,)"),
    (lambda _: WordTable(WORDS).rows([["the", "dog"], ["horse", "cow"]]), UnknownWord,
     "none of the 2 questions", "'horse'", "3 words such as"),
    (alike({"other": [1.0, 2.0]}), UnknownWord, "none of the 2 questions"),
    (alike(VECTORS), ValueError, "1 pairs"),
    (alike(VECTORS, word1=[], word2=[], score=[]), ValueError, "toy holds 0 pairs"),
    (lambda _: word_similarity(VECTORS, SimpleNamespace(name="stsb")), TypeError,
     "without word1, word2, score"),
    (asked(VECTORS), UnknownWord, "none of the 2 questions"),
    (asked(VECTORS, method="3cosadx"), ValueError, "method='3cosadx'", "Did you mean '3cosadd'"),
    (lambda _: analogy_accuracy(VECTORS, 5), TypeError, "expected analogies"),
    (asked(VECTORS, {"questions": np.array([["a"] * 3] * 2)}), ValueError,
     "shape (2, 3) for 2 sections"),
    (asked(VECTORS, {"questions": np.zeros((0, 4)), "section": []}), ValueError, "0 questions"),
    (report(sets="wordsim353"), TypeError, "Pass [name]"),
    (report(methods="3cosadd"), TypeError, "methods='3cosadd'"),
    (report(methods=["3cosad"]), ValueError, "Did you mean '3cosadd'"),
    (report(sets=["wordsim"]), ValueError, "Did you mean 'wordsim353"),
    # probes and triplets
    (probe(test=np.ones((1, 4))), ValueError, "expected equal columns"),
    (probe(train_labels=[0]), ValueError, "train (2, 3) has 1 labels"),
    (probe(train_labels=[1, 1]), ValueError, "holds 1 kinds of labels"),
    (probe(alpha=0.0), ValueError, "alpha=0"),
    (probe(test=np.ones((0, 3)), test_labels=[]), ValueError, "test has 0 rows", ">= 1"),
    (probe(train=np.full((2, 3), NAN)), ValueError, "train"),
    (lambda _: triplet_accuracy(TableEncoder(AXES), Triplets([], [], [])), ValueError,
     "triplets holds 0 triplets", ">= 1"),
    # the leaderboard: P24, P27
    (added(""), ValueError, "encoder=''"), (added(lesson="  "), ValueError, "lesson='  '"),
    (added(results={}), ValueError, "0 sets"), (added(results=5), ValueError, "results=5"),
    (added(results={"x": 1}), TypeError, "results['x']=1 is int", "expected an STSResult"),
    (added(scale="huge"), ValueError, "scale='huge' is unknown"),
    (added(seed=-1), ValueError, "seed=-1"),
    *((added(name), ValueError, "encoder=", "expected one line of text")
      for name in ("two\nlines", "bell\x07", "lone \ud800", "line\u2028break")),
]


@pytest.mark.parametrize(("call", "error", "words"), [
    pytest.param(call, error, words, id=f"{k}-{words[0][:30]}")
    for k, (call, error, *words) in enumerate(REFUSED)])
def test_what_cannot_be_measured_is_refused_by_name(tmp_path, call, error, words):
    board = Leaderboard(tmp_path / "leaderboard.json")
    with pytest.raises(error) as caught:
        call(board)
    assert all(word in str(caught.value) for word in words), caught.value
    assert not board.path.exists()


def test_settings_and_all_sets_are_checked_before_anything_is_encoded(angle_pairs):
    encoder, good = angle_pairs
    bad = make_pairs(["a", "b"], ["c", "d"], [1, 1])
    for datasets, settings in ((good, {"protocol": "weighted"}), (good, {"seed": None}),
                               ({"good": good, "bad": bad}, {})):
        with pytest.raises((TypeError, ValueError), match=r"protocol=|seed=|bad.score is constant"):
            evaluate(encoder, datasets, **settings)
    assert encoder.asked == []


# ------------------------------------------------------------------------------ too much

@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: bootstrap_interval(len, 5, n_resamples=10**18), ValueError, "at most 1,000,000,000"),
    (lambda: bootstrap_interval(len, 5, n_resamples=10**9), MemoryError, "Lower n_resamples="),
    (lambda: bootstrap_interval(len, 10**9), MemoryError, "Lower n_items=1000000000"),
    (lambda: spearman_interval([1, 2, 3], [1, 2, 3], n_resamples=10**9), MemoryError, "8.0 GB")])
def test_what_goes_too_far_is_refused_at_once(little_memory, call, error, words):
    with pytest.raises(error, match=words):
        call()
