"""uSIF against its authors' program written out, the numbers of its a, and its identities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.core import DataWarning, Encoder
from lessons_lib.sentences import SIF, USIF, MeanEncoder, usif_a
from lessons_lib.text import tokenize
from lessons_lib.vectors import WordVectors

NORMALISATIONS = ("none", "words", "dimensions")


@pytest.mark.parametrize("components", ["corpus", "batch"])
@pytest.mark.parametrize("m", [1, 5])
def test_vectors_are_those_of_the_authors_program(language, authors, components, m):
    encoder = USIF(language.vectors, m, sentence_length=11,
                   components=components).fit(language.texts)
    assert isinstance(encoder, Encoder) and encoder.dim == 24
    found = encoder.encode(language.texts)
    assert found.dtype == np.float32
    expected = authors.usif(language.vectors, language.texts, authors.shares(language.texts),
                            sentence_length=11, m=m)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_the_authors_division_by_dimension_is_an_option(language, authors):
    def per_dimension(vectors, texts, weight):
        rows = []
        for text in texts:
            words = [vectors[word].astype(np.float64) for word in tokenize(text)]
            words = np.array(words) / np.linalg.norm(words, axis=0)
            rows.append(
                np.mean(
                    [weight(word) * row for word, row in zip(tokenize(text), words, strict=True)],
                    axis=0))
        return np.array(rows)

    found = USIF(language.vectors, sentence_length=11,
                 normalise="dimensions").fit(language.texts).encode(language.texts)
    expected = authors.usif(language.vectors, language.texts, authors.shares(language.texts),
                            sentence_length=11, weigh=per_dimension)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_one_word_divided_by_dimension_is_ones_and_a_dimension_of_zeros_stays_zero(toy):
    encoder = USIF(toy, 0, sentence_length=11, normalise="dimensions",
                   counts={"the": 900, "cat": 5, "dog": 1}, components="batch").fit()
    found = encoder.encode(["the", "dog"])
    np.testing.assert_allclose(
        found, [[encoder.weights_[0], 0, 0], [0, encoder.weights_[2], encoder.weights_[2]]],
        rtol=1e-6)


def test_words_of_length_one_give_what_unit_vectors_give(language):
    unit = WordVectors(
        language.words,
        language.vectors.matrix / np.linalg.norm(language.vectors.matrix, axis=1, keepdims=True))
    one, other = USIF(language.vectors,
                      normalise="words").fit(language.texts), USIF(unit).fit(language.texts)
    np.testing.assert_allclose(one.encode(language.texts), other.encode(language.texts), atol=1e-5)
    zero = WordVectors(["a", "b"], [[0.0, 0.0], [3.0, 4.0]])
    with pytest.warns(DataWarning, match="span 1 direction"):
        found = USIF(zero, normalise="words", sentence_length=2, counts={"a": 9, "b": 1},
                     components="batch").fit().encode(["a", "a b"])
    assert np.isfinite(found).all() and not found[0].any()


def test_a_of_the_toy_example_and_its_weights():
    assert usif_a(np.array([0.5, 0.3, 0.1, 0.05, 0.05]), 2) == pytest.approx(1.6, abs=1e-12)
    vectors = WordVectors(list("abcde"), np.eye(5))
    encoder = USIF(vectors, sentence_length=2, counts=dict(
        zip("abcde", (10, 6, 2, 1, 1), strict=True)), components="batch").fit()
    np.testing.assert_allclose(encoder.weights_, [1.23077, 1.45455, 1.77778, 1.88235, 1.88235],
                               atol=1e-5)


@pytest.mark.data
@pytest.mark.parametrize(("n", "n_frequent", "a"), [(11, 1643, 0.0012066490), (5, 3301, 0.00059524),
                                                    (20, 901, 0.0022091), (40, 444, 0.0044939)])
def test_a_of_the_authors_frequencies(lessons_data, n, n_frequent, a):
    from lessons_lib.datasets import load

    counts = load("enwiki-frequencies")
    found = usif_a(counts.counts / counts.counts.sum(), n)
    assert found == pytest.approx(a, rel=1e-5)
    assert round(188_033 / (1 + found * 188_033 / 2)) == n_frequent  # α V, from a = (1 - α)/(α V/2)


@pytest.mark.data
def test_weights_of_the_authors_frequencies(lessons_data):
    from lessons_lib.datasets import load

    vectors = WordVectors(["the", "of", "dog", "embedding"], np.eye(4))
    found = (USIF(vectors, sentence_length=11, counts=load("enwiki-frequencies"),
                  components="batch").fit().weights_)
    np.testing.assert_allclose(found, [0.02479, 0.04708, 1.8729, 1.9959], atol=1e-4)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30), st.floats(1, 60))
def test_weights_lie_between_zero_and_two_and_fall_with_frequency(counts, n):
    shares = np.array(counts) / sum(counts)
    a = usif_a(shares, n)
    assert a > 0
    weights = np.full(len(shares), 2.0) if math.isinf(a) else a / (a / 2 + shares)
    assert (weights > 0).all() and (weights <= 2).all() and (np.diff(weights[np.argsort(shares)])
                                                             <= 1e-12).all()


@pytest.mark.parametrize("n_words", [1, 2, 3, 7, 10, 1000])
def test_words_that_are_all_as_frequent_never_pass_the_threshold(n_words):
    assert math.isinf(usif_a(np.full(n_words, 1 / n_words), 1.0))


def test_where_no_word_is_frequent_all_weigh_the_same_and_a_warning_says_so(toy, tmp_path):
    with pytest.warns(DataWarning, match="all words weigh the same") as caught:
        encoder = USIF(toy, 0).fit(["the cat", "dog sat"])
    assert caught[0].filename == __file__ and math.isinf(encoder.a_)
    np.testing.assert_allclose(encoder.encode(["the cat sat"]),
                               2 * MeanEncoder(toy).encode(["the cat sat"]), rtol=1e-6)
    encoder.save(tmp_path / "model")
    assert math.isinf(USIF.load(tmp_path / "model").a_)


def test_each_direction_goes_by_its_share_and_the_shares_sum_to_one(language):
    encoder, plain = USIF(language.vectors).fit(language.texts), USIF(language.vectors,
                                                                      0).fit(language.texts)
    assert encoder.shares_.sum() == pytest.approx(1) and (np.diff(encoder.shares_) <= 0).all()
    np.testing.assert_allclose(encoder.shares_,
                               encoder.singular_values_**2 / (encoder.singular_values_**2).sum())
    before, after = (e.encode(language.texts) @ encoder.components_.T for e in (plain, encoder))
    np.testing.assert_allclose(after, before * (1 - encoder.shares_), atol=1e-5)


def test_one_direction_is_removed_as_sif_removes_it(language):
    encoder = USIF(language.vectors, 1, sentence_length=11).fit(language.texts)
    assert encoder.shares_.tolist() == [1.0]
    # a/(a/2 + p) = 2 (a/2)/(a/2 + p)
    half = SIF(language.vectors, encoder.a_ / 2).fit(language.texts)
    np.testing.assert_allclose(encoder.encode(language.texts), 2 * half.encode(language.texts),
                               atol=1e-5)


def test_the_length_of_sentences_is_that_of_the_texts_that_have_words(language):
    encoder = USIF(language.vectors).fit(language.texts)
    assert encoder.sentence_length_ == pytest.approx(
        np.mean([len(tokens) for tokens in language.tokens]))
    with pytest.warns(DataWarning, match="have no token"):
        assert USIF(language.vectors).fit([*language.texts, "", ""]).a_ == encoder.a_


def test_a_word_that_is_not_counted_is_as_rare_as_the_rarest(toy):
    encoder = USIF(toy, sentence_length=2, counts={"the": 97, "cat": 2, "mat": 1},
                   components="batch").fit()
    np.testing.assert_allclose(encoder.probabilities_, [0.97, 0.02, 0.01, 0.01])


def test_V15_one_sentence_loses_nothing(toy):
    encoder = USIF(toy, counts={"the": 97, "cat": 1, "sat": 1, "mat": 1})
    with pytest.warns(DataWarning, match=r"span 1 direction\(s\), so n_components=5") as caught:
        found = encoder.fit(["the cat sat"]).encode(["the cat sat"])
    assert len(caught) == 1
    np.testing.assert_allclose(
        found,
        USIF(toy, 0, sentence_length=3, counts=encoder.counts).fit(["the"]).encode(["the cat sat"]),
        rtol=1e-6)
