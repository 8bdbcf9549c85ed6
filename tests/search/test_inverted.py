"""The inverted index: equal to BM25 of the bag of words, whatever is asked, and whole after a round
trip."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import DataWarning
from lessons_lib.counts import BM25
from lessons_lib.search import InvertedIndex

TEXTS = ["the cat sat on the mat", "the dog sat", "a bird flew over the dog and the cat", "snow",
         "dog dog dog dog and snow"]
QUERIES = ["the dog", "snow", "cat cat bird", "the the the and over"]
words = st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "ij"]), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def index() -> InvertedIndex:
    return InvertedIndex().fit(TEXTS)


@given(texts=st.lists(words.map(" ".join), min_size=1, max_size=9), query=words.map(" ".join),
       k1=st.floats(0, 3), b=st.floats(0, 1))
@pytest.mark.filterwarnings("ignore::lessons_lib.core.DataWarning")
def test_the_scores_are_those_of_bm25(texts, query, k1, b):
    ours, plain = InvertedIndex(k1=k1, b=b).fit(texts), BM25(k1=k1, b=b).fit(texts)
    np.testing.assert_allclose(ours.scores([query]), plain.scores([query]), rtol=1e-9, atol=1e-12)


def test_a_score_is_that_of_the_formula_by_hand(index):
    lengths = [6, 3, 8, 1, 6]                     # "a" has one character and is no word
    idf = np.log(1 + (5 - 2 + 0.5) / (2 + 0.5))   # two of five texts hold snow
    expected = idf * 1 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 1 / np.mean(lengths)))
    assert index.scores(["snow"])[0, 3] == pytest.approx(expected, rel=1e-12)


def test_a_search_gives_the_best_texts_that_share_a_word_and_no_other(index):
    for query, hits in zip(QUERIES, index.search_each(QUERIES, k=3), strict=True):
        scores = index.scores([query])[0]
        order = [i for i in np.argsort(-scores, kind="stable").tolist() if scores[i] > 0]
        assert [text for text, _ in hits] == order[:3]
        assert hits == index.search(query, k=3)
        assert [score for _, score in hits] == scores[order[:3]].tolist()


def test_of_equal_texts_the_first_comes_first():
    index = InvertedIndex().fit(["snow here", "rain here", "snow here", "snow here"])
    assert [text for text, _ in index.search("snow", k=2)] == [0, 2]


def test_the_reasons_add_up_to_the_score_and_the_weightiest_comes_first(index):
    for text, score in index.search("the dog and the bird"):
        reasons = index.why("the dog and the bird", text)
        assert sum(reasons.values()) == pytest.approx(score, rel=1e-12)
        assert list(reasons.values()) == sorted(reasons.values(), reverse=True)
        assert set(reasons) <= set(TEXTS[text].split())


def test_a_question_without_a_known_word_finds_nothing_and_says_so(index):
    with pytest.warns(DataWarning, match="no known token"):
        assert index.search("zebra") == []


@pytest.mark.filterwarnings("ignore::lessons_lib.core.DataWarning")
def test_the_words_of_a_given_vocabulary_keep_their_columns():
    index = InvertedIndex(vocabulary={"snow": 1, "dog": 0}).fit(TEXTS)
    assert set(index.why("dog snow", 4)) == {"dog", "snow"}
    assert index.why("snow", 3).keys() == {"snow"}


def test_a_saved_index_answers_with_the_same_bits(index, tmp_path):
    index.save(tmp_path / "index")
    again = InvertedIndex.load(tmp_path / "index")
    assert len(again) == len(TEXTS)
    assert np.array_equal(again.scores(QUERIES), index.scores(QUERIES))
    assert again.why("the dog", 1) == index.why("the dog", 1)
