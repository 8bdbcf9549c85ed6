"""Means of word vectors against sums written out, and every kind of text that has no words to
average.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import DamagedFile, DataWarning, Encoder, generator
from lessons_lib.counts import TfIdf
from lessons_lib.kernels import mean_covariance
from lessons_lib.sentences import MeanEncoder
from lessons_lib.text import Corpus, Tokenizer, tokenize
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


def test_texts_and_their_corpus_teach_the_same_idf(language):
    corpus = Corpus.from_texts(language.texts)
    encoder = MeanEncoder(language.vectors, "idf")
    np.testing.assert_array_equal(encoder.fit(corpus).idf_.copy(), encoder.fit(language.texts).idf_)


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9), min_size=1,
             max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_words_and_of_sentences_does_not_matter(sentences, random):
    vectors = WordVectors(list("abcdefgh"), generator(5).normal(size=(8, 5)))
    encoder, order = MeanEncoder(vectors), random.sample(range(len(sentences)), len(sentences))
    plain = encoder.encode([" ".join(words) for words in sentences])
    mixed = encoder.encode(
        [" ".join(random.sample(sentences[i], len(sentences[i]))) for i in order])
    np.testing.assert_allclose(mixed, plain[order], atol=1e-6)


def test_the_result_is_bit_for_bit_the_same_for_any_threads_batches_and_company(language):
    texts = language.texts * 80                                       # several blocks
    expected = MeanEncoder(language.vectors, threads=1).encode(texts)
    for threads, batch_size in ((2, 7), (3, 1000)):
        np.testing.assert_array_equal(
            MeanEncoder(language.vectors, threads=threads).encode(texts, batch_size=batch_size),
            expected)
    np.testing.assert_array_equal(MeanEncoder(language.vectors).encode(texts[5:6]), expected[5:6])


def test_T17_a_text_of_a_million_words_keeps_its_digits(language):
    texts = [" ".join(language.words * 5000)]
    np.testing.assert_allclose(
        MeanEncoder(language.vectors).encode(texts)[0],
        language.vectors.matrix.mean(axis=0, dtype=np.float64), atol=2e-6)


def test_T02_no_texts_give_no_rows_but_teach_nothing(toy):
    assert MeanEncoder(toy).encode([]).shape == (0, 3)
    with pytest.raises(ValueError, match="0 documents"):
        MeanEncoder(toy, "idf").fit([])


def test_T13_a_generator_gives_what_the_list_gives(language):
    np.testing.assert_array_equal(
        MeanEncoder(language.vectors).encode(text for text in language.texts),
        MeanEncoder(language.vectors).encode(language.texts))


def test_T04_T19_texts_without_a_known_word_are_zeros_with_one_warning(toy):
    with pytest.warns(
            DataWarning,
            match=r"3 of 4 documents have no word with a vector \(first: documents\[1\]\)"
    ) as caught:
        found = MeanEncoder(toy).encode(["the cat", "", "unknown words", "?!"])
    assert len(caught) == 1 and caught[0].filename == __file__
    np.testing.assert_array_equal(found, [[2, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])


def test_words_without_a_vector_change_nothing(toy):
    np.testing.assert_array_equal(
        MeanEncoder(toy).encode(["the unheard cat"]),
        MeanEncoder(toy).encode(["the cat"]))


def test_V01_a_vector_that_was_set_to_nan_is_named(toy):
    toy.matrix[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"the vector of 'cat', holds NaN or infinity"):
        MeanEncoder(toy).encode(["the dog", "the cat"])
    assert MeanEncoder(toy).encode(["the dog"]).shape == (1, 3)


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


@pytest.mark.parametrize("weights", ["uniform", "idf", "tfidf"])
def test_what_is_saved_and_loaded_encodes_the_same(tmp_path, language, weights):
    encoder = MeanEncoder(language.vectors, weights,
                          tokenizer=Tokenizer(lowercase=False)).fit(language.texts)
    encoder.name = "mine"
    encoder.save(tmp_path / "model")
    loaded = MeanEncoder.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.encode(language.texts), encoder.encode(language.texts))
    assert (loaded.name, loaded.weights, loaded.tokenizer.lowercase) == ("mine", weights, False)


def test_what_cannot_be_saved_or_was_damaged_says_so(tmp_path, toy):
    with pytest.raises(TypeError, match="cannot be saved"):
        MeanEncoder(toy, tokenizer=str.split).save(tmp_path / "model")
    MeanEncoder(toy).save(tmp_path / "model")
    file = next((tmp_path / "model").glob("*.safetensors"))
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(DamagedFile, match="cut or extended"):
        MeanEncoder.load(tmp_path / "model")


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


@pytest.mark.parametrize("wrong", [-1, 10**6])
def test_P14_a_corpus_with_numbers_outside_its_vocabulary_is_refused(language, wrong):
    """A `Corpus` takes the numbers it is given, and the loops of this room would take them for
    addresses.
    """
    good = Corpus.from_texts(language.texts[:20])
    ids = good.token_ids.copy()
    ids[-1] = wrong
    with pytest.raises(ValueError, match=rf"document 19 .*{wrong}.*{len(good.vocabulary) - 1}"):
        MeanEncoder(language.vectors, weights="idf").fit(Corpus(good.vocabulary, ids, good.offsets))


def test_vectors_that_became_fewer_than_when_it_was_fitted_are_refused(language):
    vectors = WordVectors(list(language.vectors.tokens), language.vectors.matrix.copy())
    encoder = MeanEncoder(vectors, weights="idf").fit(language.texts[:50])
    vectors.matrix = vectors.matrix[:2].copy()
    with pytest.raises(ValueError, match="rows"):
        encoder.encode(language.texts[:50])
