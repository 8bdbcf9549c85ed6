"""TfIdf equals scikit-learn's TfidfVectorizer."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from lessons_lib.counts import BagOfWords, TfIdf

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
