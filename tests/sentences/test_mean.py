"""Means of word vectors against sums written out, and every kind of text that has no words to
average.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from lessons_lib.core import DataWarning, Encoder
from lessons_lib.counts import TfIdf
from lessons_lib.kernels import mean_covariance
from lessons_lib.sentences import MeanEncoder
from lessons_lib.text import Tokenizer, tokenize
from lessons_lib.vectors import WordVectors


def written_out(vectors, texts, weight=lambda word: 1.0, *, once=False):
    """Σ g(w) v_w / Σ g(w), word by word in float64."""
    rows = []
    for text in texts:
        words = [word for word in tokenize(text) if word in vectors]
        words = sorted(set(words)) if once else words
        total = sum((weight(word) * vectors[word].astype(np.float64) for word in words),
                    np.zeros(vectors.dim))
        rows.append(total / max(sum(map(weight, words)), 1e-300))
    return np.array(rows)


def test_the_uniform_mean_is_the_mean_and_needs_no_fit(language):
    encoder = MeanEncoder(language.vectors)
    assert isinstance(encoder, Encoder) and encoder.dim == 24
    found = encoder.encode(language.texts)
    assert found.dtype == np.float32 and found.shape == (600, 24)
    np.testing.assert_allclose(found, written_out(language.vectors, language.texts), atol=1e-6)


@pytest.mark.parametrize(("weights", "once"), [("tfidf", False), ("idf", True)])
def test_the_weighted_means_are_what_their_formula_says(language, weights, once):
    encoder = MeanEncoder(language.vectors, weights).fit(language.texts)
    idf = dict(zip(language.words, encoder.idf_, strict=True))
    np.testing.assert_allclose(encoder.encode(language.texts),
                               written_out(language.vectors, language.texts, idf.get, once=once),
                               atol=1e-6)


def test_idf_is_that_of_tfidf_and_the_largest_for_a_word_no_text_has(language):
    texts = [text for text in language.texts if "w7" not in text.split()]
    encoder, tfidf = MeanEncoder(language.vectors, "idf").fit(texts), TfIdf().fit(texts)
    for word, column in tfidf.vocabulary_.items():
        assert encoder.idf_[language.vectors.id(word)] == pytest.approx(
            tfidf.idf_[column], abs=1e-12)
    assert encoder.idf_[7] == encoder.idf_.max() == pytest.approx(np.log(1 + len(texts)) + 1)


def test_tfidf_means_are_the_tfidf_matrix_times_the_vectors(language):
    weights = TfIdf(vocabulary=language.words, norm="l1").fit_transform(language.texts)
    found = MeanEncoder(language.vectors, "tfidf").fit(language.texts).encode(language.texts)
    np.testing.assert_allclose(found, weights @ language.vectors.matrix, atol=1e-6)


def test_T17_a_text_of_a_million_words_keeps_its_digits(language):
    texts = [" ".join(language.words * 5000)]
    np.testing.assert_allclose(
        MeanEncoder(language.vectors).encode(texts)[0],
        language.vectors.matrix.mean(axis=0, dtype=np.float64), atol=2e-6)


def test_V18_a_changed_vector_and_an_added_word_count_at_once(toy):
    encoder = MeanEncoder(toy)
    encoder.encode(["the cat"])
    toy.matrix[toy.id("cat")] = [0.0, 0.0, 8.0]
    np.testing.assert_array_equal(encoder.encode(["cat"]), [[0, 0, 8]])
    toy.add(["mat"], [[1.0, 1.0, 1.0]])
    np.testing.assert_array_equal(encoder.encode(["mat"]), [[1, 1, 1]])


def test_another_tokenizer_cuts_other_words():
    vectors = WordVectors(["Don't", "don"], [[1.0], [2.0]])
    whole = Tokenizer(r"\w+(?:['’]\w+)*", lowercase=False)
    assert MeanEncoder(vectors, tokenizer=whole).encode(["Don't"]).item() == 1
    assert MeanEncoder(vectors, tokenizer=str.split).encode(["Don't"]).item() == 1
    assert MeanEncoder(vectors).encode(["Don't"]).item() == 2


def test_a_post_processor_can_follow(language):
    class Centred:
        name, dim_ = "centred", 24

        def transform(self, vectors):
            return vectors - vectors.mean(axis=0)

    found = (MeanEncoder(language.vectors) | Centred()).encode(language.texts)
    assert np.abs(mean_covariance(found)[0].numpy()).max() < 1e-6


@pytest.mark.parametrize("claimed", [0, 3, 599, 5000])
def test_T13_a_length_that_is_wrong_changes_nothing(language, claimed):
    class Texts(list):
        def __len__(self):
            return claimed

    np.testing.assert_array_equal(
        MeanEncoder(language.vectors).encode(Texts(language.texts)),
        MeanEncoder(language.vectors).encode(language.texts))


@pytest.mark.parametrize("stream", [list, iter])
def test_the_vectors_of_all_words_are_never_in_memory(language, stream):
    encoder = MeanEncoder(WordVectors(language.words, np.tile(language.vectors.matrix, 8)),
                          threads=1)
    texts = language.texts * 100  # 60,000 texts, 570,000 words of 768 bytes
    encoder.encode(texts[:10])
    tracemalloc.start()
    try:
        result = encoder.encode(stream(texts))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.25 * result.nbytes + 40e6 < 100e6


def test_T18_a_token_of_a_million_characters_is_named_and_unknown(toy):
    with pytest.warns(DataWarning) as caught:
        found = MeanEncoder(toy).encode(["the cat", "x" * 1_000_000 + " cat"])
    assert len(caught) == 1 and "max_token_chars" in str(caught[0].message)
    np.testing.assert_array_equal(found, [[2, 1, 0], [0, 2, 0]])
