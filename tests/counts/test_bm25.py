"""BM25: the formula, its limits, and search."""

import math

import numpy as np
import pytest

from lessons_lib.core import DataWarning
from lessons_lib.counts import BM25, BagOfWords

DOCUMENTS = ["the cat sat on the mat", "the dog sat", "birds sing",
             "the cat and the dog and the cat"]


def by_hand(documents, query_words, k1, b):
    """The formula, word by word, on lists."""
    tokens = [text.split() for text in documents]
    mean = sum(map(len, tokens)) / len(tokens)
    scores = []
    for words in tokens:
        score = 0.0
        for word in query_words:
            df, tf = sum(word in other for other in tokens), words.count(word)
            idf = math.log(1 + (len(tokens) - df + 0.5) / (df + 0.5))
            if tf:
                score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(words) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize("k1, b", [(1.5, 0.75), (1.2, 0.0), (2.0, 1.0), (0.0, 0.5)])
def test_scores_are_the_formula(k1, b):
    ranking = BM25(k1=k1, b=b).fit(DOCUMENTS)
    scores = ranking.scores(["cat", "the dog dog", "birds"])
    assert scores.shape == (3, 4) and scores.dtype == np.float64
    for row, words in zip(scores, [["cat"], ["the", "dog", "dog"], ["birds"]], strict=True):
        np.testing.assert_allclose(row, by_hand(DOCUMENTS, words, k1, b), rtol=1e-12)


def test_k1_zero_asks_only_whether_a_word_is_there():
    ranking = BM25(k1=0).fit(DOCUMENTS)
    presence = BagOfWords(binary=True).fit_transform(DOCUMENTS)
    np.testing.assert_allclose(ranking.weights_.toarray(), presence.toarray() * ranking.idf_)


def test_no_weight_is_negative_and_further_occurrences_add_less_and_less_below_a_limit():
    common = BM25().fit(["same word", "same other", "same third"])   # a word in every text
    assert (common.weights_.data > 0).all() and (common.idf_ > 0).all()
    ranking = BM25(b=0).fit(["cat " * n for n in (1, 2, 4, 400)] + ["dog"])
    weights = ranking.weights_[:, ranking.vocabulary_["cat"]].toarray().ravel()[:4]
    assert (np.diff(weights) > 0).all()
    assert weights[-1] < ranking.idf_[ranking.vocabulary_["cat"]] * 2.5


def test_search_gives_the_best_first_and_keeps_the_order_of_ties():
    ranking = BM25().fit(DOCUMENTS)
    assert [i for i, _ in ranking.search("birds that sing", k=2)] == [2, 0]
    assert [i for i, _ in BM25().fit(["aa", "bb", "bb", "cc"]).search("bb")] == [1, 2, 0, 3]
    assert len(ranking.search("cat", k=100)) == 4
    with pytest.warns(DataWarning, match="1 of 1 documents have no known token"):            # T19
        assert ranking.search("quantum", k=1) == [(0, 0.0)]


def test_the_texts_that_are_searched_are_kept_and_saved(tmp_path):
    ranking = BM25(k1=1.2)
    ranking.fit_transform(DOCUMENTS).data[:] = 0             # not the matrix that it keeps
    assert ranking.search("dog", k=1)[0][1] > 0
    ranking.save(tmp_path / "m")
    loaded = BM25.load(tmp_path / "m")
    assert loaded.search("cat dog") == ranking.search("cat dog") and loaded.k1 == 1.2
