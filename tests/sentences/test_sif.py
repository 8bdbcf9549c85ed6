"""SIF against its authors' program written out, its identities, and texts in which there is nothing
to remove.
"""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.core import DamagedFile, DataWarning, Encoder, generator
from lessons_lib.datasets import WordCounts
from lessons_lib.sentences import SIF, MeanEncoder
from lessons_lib.text import Corpus, Vocabulary
from lessons_lib.vectors import WordVectors


def cosines(x):
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("components", ["corpus", "batch"])
@pytest.mark.parametrize("n_components", [0, 1, 3])
def test_vectors_are_those_of_the_authors_program(language, authors, components, n_components):
    encoder = SIF(language.vectors, 1e-2, n_components, components=components).fit(language.texts)
    assert isinstance(encoder, Encoder) and encoder.dim == 24
    found = encoder.encode(language.texts)
    assert found.dtype == np.float32 and found.shape == (600, 24)
    expected = authors.sif(language.vectors, language.texts, authors.shares(language.texts), a=1e-2,
                           n_components=n_components)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_corpus_keeps_its_direction_and_a_batch_has_its_own(language, authors):
    kept, own = SIF(language.vectors).fit(language.texts), SIF(
        language.vectors, components="batch").fit(language.texts)
    few = language.texts[:40]
    np.testing.assert_array_equal(kept.encode(few), kept.encode(language.texts)[:40])
    np.testing.assert_allclose(own.encode(few),
                               authors.sif(language.vectors, few, authors.shares(language.texts)),
                               atol=1e-5)
    assert np.abs(own.encode(few) -
                  kept.encode(few)).max() > 0.01 and not hasattr(own, "components_")


def test_weights_of_frequent_words_are_those_of_the_methods_table(lessons_data):
    from lessons_lib.datasets import load

    vectors = WordVectors(["the", "of", "dog", "embedding", "not-a-word"], np.eye(5))
    found = SIF(vectors, counts=load("enwiki-frequencies"), components="batch").fit().weights_
    np.testing.assert_allclose(found, [0.02038, 0.03843, 0.96066, 0.99875, 1.0], atol=1e-5)


def test_counts_may_come_in_any_form_and_at_any_scale(language):
    corpus = Corpus.from_texts(language.texts)
    words, numbers = corpus.vocabulary.tokens, corpus.vocabulary.counts
    expected = SIF(language.vectors).fit(corpus)
    np.testing.assert_array_equal(
        SIF(language.vectors).fit(language.texts).weights_, expected.weights_)
    for counts in (corpus, corpus.vocabulary, dict(zip(words, (numbers / 7).tolist(), strict=True)),
                   WordCounts(words, numbers, name="mine"), Vocabulary(words, numbers)):
        np.testing.assert_allclose(
            SIF(language.vectors, counts=counts).fit(language.texts[:50]).weights_,
            expected.weights_, rtol=1e-12)


def test_a_large_a_without_removal_is_the_mean_and_a_small_one_divides_by_p(language):
    mean = MeanEncoder(language.vectors).encode(language.texts)
    np.testing.assert_allclose(
        SIF(language.vectors, 1e9, 0).fit(language.texts).encode(language.texts), mean, atol=1e-6)
    small = SIF(language.vectors, 1e-12, 0).fit(language.texts)
    p = small.probabilities_
    np.testing.assert_allclose(small.weights_[p > 0] * p[p > 0], 1e-12, rtol=1e-6)


def test_weights_fall_as_words_get_more_frequent_and_unseen_ones_weigh_one(language):
    vectors = WordVectors([*language.words, "unseen"],
                          np.vstack([language.vectors.matrix, np.ones(24)]))
    encoder = SIF(vectors).fit(language.texts)
    order = np.argsort(encoder.probabilities_)
    assert (np.diff(encoder.weights_[order])
            <= 0).all() and encoder.weights_[-1] == 1 and encoder.probabilities_[-1] == 0


@pytest.mark.parametrize("components", ["corpus", "batch"])
def test_nothing_is_left_along_the_direction_and_its_sign_does_not_matter(
        language, authors, components):
    found = SIF(language.vectors, components=components).fit(language.texts).encode(language.texts)
    p = authors.shares(language.texts)
    x = authors.weighted_means(language.vectors, language.texts, lambda word: 1e-3 /
                               (1e-3 + p[word]))
    u = np.linalg.svd(x)[2][0]
    assert np.abs(found @ u).max() < 1e-5


@pytest.mark.parametrize(("second", "cosine"), [([0.5, 1.0], -1.0), ([-2.0, 1.0], 1.0)])
def test_two_texts_of_one_batch_end_on_one_line(second, cosine):
    vectors = WordVectors(["a", "b"], [[2.0, 1.0], second])
    found = SIF(vectors, counts={"a": 1, "b": 1}, components="batch").fit().encode(["a", "b"])
    assert cosines(found.astype(np.float64))[0, 1] == pytest.approx(cosine, abs=1e-5)


def test_longer_word_vectors_leave_cosines_unchanged(language):
    longer = WordVectors(language.words, language.vectors.matrix * 64)
    one, other = (SIF(vectors).fit(language.texts).encode(language.texts)
                  for vectors in (language.vectors, longer))
    np.testing.assert_allclose(cosines(other.astype(np.float64)), cosines(one.astype(np.float64)),
                               atol=1e-4)


@pytest.mark.parametrize("components", ["corpus", "batch"])
@pytest.mark.parametrize("texts", [["the cat sat"], ["the cat"] * 3])
def test_V15_one_sentence_loses_nothing(toy, components, texts):
    encoder = SIF(toy, counts={"the": 9, "cat": 1}, components=components)
    with pytest.warns(
            DataWarning,
            match=r"span 1 direction\(s\), so n_components=1 would leave nothing") as caught:
        found = encoder.fit(texts).encode(texts)
    assert len(caught) == 1 and caught[0].filename == __file__
    np.testing.assert_allclose(
        found,
        SIF(toy, n_components=0, counts={"the": 9, "cat": 1}).fit(texts).encode(texts), atol=1e-7)


@pytest.mark.parametrize("components", ["corpus", "batch"])
def test_V15_words_whose_vectors_are_zeros_give_zeros(components):
    encoder = SIF(WordVectors(["a", "b"], np.zeros((2, 3))), components=components)
    with pytest.warns(DataWarning, match="span 0 direction"):
        found = encoder.fit(["a", "a b"]).encode(["a", "b"])
    np.testing.assert_array_equal(found, np.zeros((2, 3)))


def test_V15_more_components_than_the_texts_span_leave_the_last(toy):
    with pytest.warns(DataWarning, match=r"span 2 direction\(s\), so n_components=5"):
        encoder = SIF(toy, n_components=5).fit(["the", "cat", "the cat"])
    assert encoder.components_.shape == (1, 3)
    assert (np.abs(encoder.encode(["the", "cat"])).max(axis=1) > 1e-4).all()


def test_settings_changed_later_count_at_the_next_fit(language):
    encoder = SIF(language.vectors).fit(language.texts)
    before = encoder.encode(language.texts)
    encoder.set_params(components="batch", n_components=4, a=1.0)
    np.testing.assert_array_equal(encoder.encode(language.texts), before)
    encoder.fit(language.texts)
    assert not hasattr(encoder, "components_") and np.abs(encoder.encode(language.texts) -
                                                          before).max() > 0.01


def test_V18_words_added_after_fit_wait_for_the_next_and_files_agree(tmp_path, toy):
    encoder = SIF(toy, counts={"the": 9, "cat": 1}, n_components=0).fit(["the cat"])
    before = encoder.encode(["the cat"])
    toy.add(["mat"], [[1.0, 1.0, 1.0]])
    np.testing.assert_array_equal(encoder.encode(["the cat mat"]), before)
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(SIF.load(tmp_path / "model").encode(["the cat mat"]), before)
    assert encoder.fit(["the mat"]).encode(["mat"]).any()


def test_a_file_without_its_weights_is_refused(tmp_path, language):
    encoder = SIF(language.vectors).fit(language.texts)
    encoder.weights_ = np.full(200, np.nan)
    encoder.save(tmp_path / "model")
    with pytest.raises(DamagedFile, match="array 'weights'"):
        SIF.load(tmp_path / "model")


def test_removal_brings_random_texts_closer_to_uncorrelated():
    rng = generator(8)
    vectors = WordVectors([f"w{i}" for i in range(50)], rng.normal(size=(50, 16)) + 1)
    texts = [" ".join(f"w{i}" for i in rng.integers(50, size=6)) for _ in range(200)]
    mean, without = (encoder.encode(texts)
                     for encoder in (MeanEncoder(vectors), SIF(vectors).fit(texts)))
    off = ~np.eye(200, dtype=bool)
    assert cosines(mean)[off].mean() > 0.5 > 0.1 > abs(cosines(without)[off].mean())
