"""Measures of rankings: by hand, beside scikit-learn, and refused where they are not defined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from lessons_lib.evaluation import ndcg_at, recall_at, reciprocal_rank, retrieval_scores


def test_the_measures_are_those_of_a_calculation_by_hand():
    ranking, relevant = ["c", "a", "x", "b"], {"a": 3, "b": 2, "d": 1}
    gained = 3 / math.log2(3) + 2 / math.log2(5)
    best = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert ndcg_at(ranking, relevant) == pytest.approx(gained / best, rel=1e-12)
    assert ndcg_at(ranking, relevant, k=2) == pytest.approx(
        (3 / math.log2(3)) / (3 + 2 / math.log2(3)), rel=1e-12)
    assert recall_at(ranking, relevant, k=3) == pytest.approx(1 / 3)
    assert recall_at(ranking, relevant) == pytest.approx(2 / 3)
    assert reciprocal_rank(ranking, relevant) == 0.5 and reciprocal_rank(["x"], relevant) == 0
    assert reciprocal_rank(ranking, ["b"], k=3) == 0
    assert ndcg_at(["a", "b", "d"], relevant) == pytest.approx(1)


@given(grades=st.lists(st.integers(0, 3), min_size=2, max_size=12).filter(any),
       seed=st.integers(0, 99), k=st.integers(1, 15))
def test_ndcg_is_scikit_learn_s(grades, seed, k):
    scores = np.random.default_rng(seed).permutation(len(grades)).astype(float)
    ranking = np.argsort(-scores)
    theirs = ndcg_score([grades], [scores], k=k)
    assert ndcg_at(ranking, dict(enumerate(grades)), k=k) == pytest.approx(theirs, rel=1e-12)


def test_questions_count_alike_and_an_interval_narrows_with_their_number():
    rng = np.random.default_rng(0)
    rankings = [rng.permutation(20) for _ in range(400)]
    relevant = [[int(i)] for i in rng.integers(20, size=400)]
    result = retrieval_scores(rankings, relevant)
    singles = [[f(r, a) for f in (ndcg_at, recall_at, reciprocal_rank)]
               for r, a in zip(rankings, relevant, strict=True)]
    assert np.allclose(result.by_question, singles)
    assert np.allclose([result.ndcg, result.recall, result.mrr], np.mean(singles, axis=0))
    assert result.recall == pytest.approx(0.5, abs=0.1)             # 10 of 20 places
    few = retrieval_scores(rankings[:40], relevant[:40])
    widths = [np.diff(r.ndcg_interval)[0] for r in (result, few)]
    assert widths[0] < 0.6 * widths[1]
    assert result.ndcg_interval[0] < result.ndcg < result.ndcg_interval[1]
    same = retrieval_scores(rankings, relevant)
    assert (same.mrr_interval, same.recall_interval) == (result.mrr_interval,
                                                         result.recall_interval)
    assert retrieval_scores(rankings, relevant, bootstrap=0).ndcg_interval is None
    assert "nDCG@10" in repr(result) and "400 questions" in repr(result)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: ndcg_at([1, 1], [1]), ValueError, ["ranking", "1 twice"]),
    (lambda: ndcg_at([1], []), ValueError, ["relevant", "no text", "Leave out"]),
    (lambda: ndcg_at([1], {1: 0}), ValueError, ["relevant", "above 0"]),
    (lambda: ndcg_at([1], {1: -1}), ValueError, ["relevant[1]=-1"]),
    (lambda: ndcg_at([1], {1: math.nan}), ValueError, ["relevant[1]=nan"]),
    (lambda: recall_at("ab", ["a"]), TypeError, ["ranking='ab'"]),
    (lambda: recall_at(["a"], "a"), TypeError, ["relevant='a'"]),
    (lambda: reciprocal_rank([1], [1], k=0), ValueError, ["k=0"]),
    (lambda: retrieval_scores([[1]], []), ValueError, ["1 questions", "0"]),
    (lambda: retrieval_scores([], []), ValueError, ["0 questions", ">= 1"]),
    (lambda: retrieval_scores([[1], [2]], [[1], []]), ValueError, ["relevant[1]", "Leave out"]),
    (lambda: retrieval_scores([[1]], [[1]], bootstrap=-1), ValueError, ["bootstrap=-1"]),
    (lambda: retrieval_scores([[1]], [[1]], confidence=2), ValueError, ["confidence=2"]),
])
def test_what_is_not_defined_is_refused_by_name(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == [], caught.value
