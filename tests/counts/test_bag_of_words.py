"""BagOfWords equals scikit-learn's CountVectorizer, for any text and setting, and any number of
threads.
"""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from lessons_lib.core import DataWarning
from lessons_lib.counts import BagOfWords

ARRAYS = ("data", "indices", "indptr")
WORDS = ["the", "The", "THE", "cat", "Cat", "a", "I", "naïve", "NAÏVE", "cafe\u0301", "café",
         "ΟΔΟΣ", "Σ", "İstanbul", "straße", "STRASSE", "我爱", "你好", "שלום", "x_1", "don't",
         "e-mail", "👩\u200d👧", "\u212a", "\u023a", "²", "①", "new york", "\0", "of", "and",
         "internationalisation"]
GAPS = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2003 ", "\x1c", "", ".", ", "]
words_and_gaps = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)),
                          max_size=12).map(lambda parts: "".join(map("".join, parts)))
texts = st.lists(st.one_of(words_and_gaps, st.text(st.characters(exclude_categories=["Cs"]),
                                                   max_size=15)), min_size=1, max_size=7)
ranges = st.tuples(st.integers(1, 3), st.integers(0,
                                                  2)).map(lambda ends: (ends[0], ends[0] + ends[1]))
bag_settings = st.fixed_dictionaries({"ngram_range": ranges}, optional={
    "lowercase": st.booleans(), "binary": st.booleans(), "min_df": st.sampled_from([1, 2, 0.3]),
    "max_df": st.sampled_from([1.0, 0.8, 3]), "max_features": st.integers(1, 9),
    "analyzer": st.sampled_from(["word", "char", "char_wb"]), "stop_words": st.sampled_from(
        [None, "english", ["cat", "café"]]), "token_pattern": st.sampled_from(
            [r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\w+", r"[a-zà-ü]+", r"(\w)\w*", r"\S*"])
})


def same(ours, theirs) -> bool:
    theirs.sort_indices()
    return ours.shape == theirs.shape and all(
        np.array_equal(getattr(ours, name), getattr(theirs, name))
        and getattr(ours, name).dtype == getattr(theirs, name).dtype for name in ARRAYS)


def both(documents, others, **chosen):
    """Fit both methods; True when matrices and vocabularies agree for the fitted and for other
    documents, or when both refuse.
    """
    ours, theirs = BagOfWords(**chosen), CountVectorizer(**chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = theirs.fit_transform(documents)
        except ValueError:
            with pytest.raises(ValueError, match=r"hold 0 tokens|leave no column|lies above"):
                ours.fit_transform(documents)
            return True
        assert same(ours.fit_transform(documents), expected)
        assert list(ours.vocabulary_.items()) == sorted(theirs.vocabulary_.items())
        return same(ours.transform(others), theirs.transform(others))


@given(texts, texts, bag_settings)
def test_matrix_and_vocabulary_are_scikit_learns(documents, others, chosen):
    assert both(documents, others, **chosen)


@given(texts, st.sets(st.sampled_from(["the", "cat", "the cat", "naïve", "x", "a  b", "", "我爱",
                                       " c", "th"]), min_size=1), bag_settings)
def test_a_given_vocabulary_is_counted_as_scikit_learn_counts_it(documents, vocabulary, chosen):
    ours, theirs = BagOfWords(vocabulary=vocabulary, **chosen), CountVectorizer(
        vocabulary=vocabulary, **chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(ours.transform(documents), theirs.transform(documents))
        assert same(ours.fit_transform(documents), theirs.fit_transform(documents))
    assert ours.vocabulary_ == theirs.vocabulary_ and ours.dim == len(vocabulary)


def wikipedia_paragraphs(n: int) -> list[str]:
    import bz2
    import importlib.util
    from pathlib import Path

    name = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
    path = Path(importlib.util.find_spec("gensim").origin).parent / "test" / "test_data" / name
    with bz2.open(path, "rt", encoding="utf-8") as file:
        lines = [line.strip() for line, _ in zip(file, range(60_000), strict=False)]
    return [line for line in lines if len(line) > 200 and not line.isascii()][:n]


@pytest.mark.parametrize("chosen", [
    {}, {"ngram_range": (1, 2), "min_df": 2}, {"stop_words": "english", "max_features": 500},
    {"analyzer": "char_wb", "ngram_range": (2, 4), "max_df": 0.5},
    {"analyzer": "char", "ngram_range": (1, 2)},
    {"token_pattern": r"(?u)\b\w+\b", "lowercase": False, "ngram_range": (2, 3)}])
def test_real_text_with_many_scripts_gives_scikit_learns_matrix(chosen):
    paragraphs = wikipedia_paragraphs(200)
    assert len(paragraphs) == 200 and max(map(max, paragraphs)) > "\u3000"
    assert both(paragraphs, paragraphs[::3], **chosen)


@pytest.mark.data
@pytest.mark.parametrize("chosen", [{}, {"ngram_range": (1, 2), "stop_words": "english"}])
def test_wikipedia_sentences_give_scikit_learns_matrix(lessons_data, chosen):
    import bz2

    with bz2.open(lessons_data / "wiki" / "wiki_sentences_250k.txt.bz2", "rt",
                  encoding="utf-8") as file:
        sentences = [next(file) for _ in range(8_000)]
    assert both(sentences, sentences[:3000], **chosen)


@pytest.mark.parametrize("chosen",
                         [{}, {"ngram_range": (1, 3)}, {"analyzer": "char", "ngram_range": (2, 3)},
                          {"token_pattern": "[a-z]+"}, {"stop_words": ["the"], "max_features": 20}])
def test_neither_threads_nor_block_borders_change_the_matrix(chosen, monkeypatch):
    documents = ([f"The cat number {i} of {i % 7} sat on ΟΔΟΣ {i % 5}, Zoë's mat"
                  for i in range(500)])
    whole = BagOfWords(threads=1, **chosen)
    expected = whole.fit_transform(documents)
    monkeypatch.setattr("lessons_lib.text.scanner._CUT", 1)
    monkeypatch.setattr("lessons_lib.counts.analysis.BLOCK_CHARACTERS", 300)
    monkeypatch.setattr("lessons_lib.counts.rows._CELLS_AT_ONCE", 17)
    for threads in (1, 2, 3):
        bag = BagOfWords(threads=threads, **chosen)
        assert same(bag.fit_transform(documents), expected) and bag.vocabulary_ == whole.vocabulary_
        assert same(bag.transform(documents), expected)


def test_the_worked_example_of_two_sentences():
    documents = ["I love machine learning.", "I love machine learning. Machine learning is great."]
    bag = BagOfWords(token_pattern=r"(?u)\b\w+\b", lowercase=True,
                     vocabulary=["i", "love", "machine", "learning", "is", "great"])
    one, two = bag.fit_transform(documents).toarray()
    assert one.tolist() == [1, 1, 1, 1, 0, 0] and two.tolist() == [1, 1, 2, 2, 1, 1]
    assert one @ two / np.sqrt((one @ one) * (two @ two)) == pytest.approx(
        6 / np.sqrt(48), abs=1e-12)
    # the default pattern needs two word characters
    assert "i" not in BagOfWords().fit(documents).vocabulary_


@given(texts, st.integers(1, 4))
def test_ngram_counts_add_up_to_length_minus_n_plus_one(documents, n):
    import re

    assume(any(len(re.findall(r"\w+", text)) >= n for text in documents))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        totals = BagOfWords((n, n), token_pattern=r"\w+").fit_transform(documents).sum(axis=1)
    assert np.asarray(totals).ravel().tolist() == [
        max(0, len(re.findall(r"\w+", text.lower())) - n + 1) for text in documents]


def test_ties_of_max_features_fall_as_in_scikit_learn():
    rng = np.random.default_rng(7)
    documents = [" ".join(f"w{i}" for i in rng.integers(0, 3000, size=60)) for _ in range(300)]
    for limit in (10, 500, 2500):
        assert both(documents, documents[:5], max_features=limit)


def test_T15_spellings_stay_apart_by_default_as_in_scikit_learn_and_become_one_with_nfc():
    documents = ["cafe\u0301 noir", "café noir"]
    # "cafe" (a mark is no word character), "café", "noir"
    assert len(BagOfWords().fit(documents).vocabulary_) == 3
    assert BagOfWords(normalise="NFC").fit(documents).vocabulary_ == {"café": 0, "noir": 1}
    # a capital sigma is lower-cased by its place in the word; "i̇dil": a dot cuts it
    bag = BagOfWords().fit(["ΟΔΟΣ ΣΑΣ", "plain", "İdil"])
    assert set(bag.vocabulary_) == {"οδος", "σας", "plain", "dil"}


def test_refitting_forgets_the_former_vocabulary_and_a_failed_fit_keeps_it():
    bag = BagOfWords().fit(["one two"])
    with pytest.raises(ValueError):
        bag.fit([])
    assert bag.vocabulary_ == {"one": 0, "two": 1}
    assert bag.fit(["three four"]).transform(["four four"]).toarray().tolist() == [[2, 0]]


@pytest.mark.parametrize("chosen",
                         [{}, {"ngram_range": (1, 2), "stop_words": {"sat"}},
                          {"vocabulary": ["mat", "cat"]}, {"analyzer": "char", "min_df": 2}])
def test_T15_saving_and_loading_keeps_settings_tokens_and_vectors(tmp_path, chosen):
    documents = ["the cat sat", "Größe 我爱 שלום mat", "e\u0301 cat\0cat"]
    bag = BagOfWords(**chosen).fit(documents)
    bag.save(tmp_path / "bag")
    loaded = BagOfWords.load(tmp_path / "bag")
    assert loaded.vocabulary_ == bag.vocabulary_
    assert loaded.ngram_range == bag.ngram_range and loaded.analyzer == bag.analyzer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(loaded.transform(documents), bag.transform(documents))


def test_vectors_are_dense_float32_and_refused_before_they_are_made_where_they_cannot_fit(
        monkeypatch):
    bag = BagOfWords(vocabulary=["cat", "dog", "the"])                 # which needs no fit: P28
    vectors = bag.encode(["the the dog", "cat"], batch_size=1)
    assert vectors.dtype == np.float32 and vectors.tolist() == [[0, 1, 2], [1, 0, 0]]
    assert bag.encode([]).shape == (0, 3)
    monkeypatch.setenv("LESSONS_FREE_MEMORY", "7")
    with pytest.raises(MemoryError, match="1 dense vectors of 3 numbers need about 12 bytes, 7 "):
        bag.encode(["the cat"])


def test_T17_T18_a_million_tokens_are_counted_and_a_token_of_a_million_characters_warns():
    assert BagOfWords().fit_transform(["aa bb " * 500_000]).toarray().tolist() == [[500_000] * 2]
    with pytest.warns(DataWarning, match=r"1 token\(s\) .*=100000 .* first in documents\[1\]"):
        assert len(BagOfWords().fit(["short", "x" * 1_000_000]).vocabulary_) == 2
