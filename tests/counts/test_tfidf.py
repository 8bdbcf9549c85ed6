"""TfIdf equals scikit-learn's TfidfVectorizer; BM25: the formula, its limits, and search."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from lessons_lib.core import DataWarning
from lessons_lib.counts import BM25, BagOfWords, TfIdf

DOCUMENTS = ["the cat sat on the mat", "the dog sat", "birds sing",
             "the cat and the dog and the cat"]
EXAMPLE = ["I love machine learning.", "I love machine learning. Machine learning is great."]
VOCABULARY = ["i", "love", "machine", "learning", "is", "great"]
words = st.sampled_from(["the", "The", "cat", "naïve", "我爱", "ΟΔΟΣ", "dog", "x y", "zz"])
texts = st.lists(st.lists(words, max_size=8).map(" ".join), min_size=1, max_size=6)
choices = st.fixed_dictionaries(
    {}, optional={"norm": st.sampled_from(["l1", "l2", None]), "use_idf": st.booleans(),
                  "smooth_idf": st.booleans(), "sublinear_tf": st.booleans(),
                  "ngram_range": st.sampled_from([(1, 1), (1, 2)]), "binary": st.booleans(),
                  "max_df": st.sampled_from([1.0, 0.7])})


@given(texts, texts, choices)
def test_weights_are_scikit_learns(documents, others, chosen):
    ours, theirs = TfIdf(**chosen), TfidfVectorizer(**chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = theirs.fit_transform(documents)
        except ValueError:
            with pytest.raises(ValueError):
                ours.fit(documents)
            return
        got = ours.fit_transform(documents)
        expected.sort_indices()
        assert got.dtype == np.float64
        assert np.array_equal(got.indices, expected.indices)
        assert np.array_equal(got.indptr, expected.indptr)
        np.testing.assert_allclose(got.data, expected.data, rtol=1e-14)
        np.testing.assert_allclose(ours.transform(others).toarray(),
                                   theirs.transform(others).toarray(), rtol=1e-14)
    if chosen.get("norm", "l2") == "l2":
        lengths = np.sqrt(got.multiply(got).sum(axis=1)).A1
        np.testing.assert_allclose(lengths, np.diff(got.indptr) > 0, atol=1e-12)
    if chosen.get("use_idf", True):
        np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-15)
    else:
        assert not hasattr(ours, "idf_")


def test_the_worked_example_of_two_sentences():
    one, two = TfIdf(token_pattern=r"(?u)\b\w+\b",
                     vocabulary=VOCABULARY).fit_transform(EXAMPLE).toarray()
    assert one == pytest.approx([0.5, 0.5, 0.5, 0.5, 0, 0], abs=1e-12)
    assert two == pytest.approx([0.2677, 0.2677, 0.5355, 0.5355, 0.3763, 0.3763], abs=5e-5)
    assert one @ two == pytest.approx(0.803200, abs=5e-7)
    # the textbook's idf would give the first sentence the zero vector
    counts = BagOfWords(token_pattern=r"(?u)\b\w+\b",
                        vocabulary=VOCABULARY).fit_transform(EXAMPLE).toarray()
    textbook = counts * np.log(2 / (counts > 0).sum(axis=0))
    assert not textbook[0].any() and textbook[1].any()


def test_the_number_of_threads_changes_no_bit():
    documents = [f"word{i % 17} word{i % 5} other{i}" for i in range(400)]
    assert np.array_equal(TfIdf(threads=1).fit_transform(documents).data,
                          TfIdf(threads=2).fit_transform(documents).data)


# ------------------------------------------------------------------------------ BM25


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
