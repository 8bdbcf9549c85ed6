"""Held-out scores and the pairing of topics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lessons_lib.topics import PLSA, as_counts, log_likelihood, match_topics, split_documents


def fitted(components: np.ndarray, doc_topic: np.ndarray | None = None) -> PLSA:
    """A model with the given topics, as if it had been fitted."""
    model = PLSA(len(components))
    model.components_, model.alpha_, model.tokens_ = np.asarray(components, dtype=float), np.ones(
        len(components)), None
    model.word_counts_ = np.ones(components.shape[1], dtype=np.int64)
    return model


def corpus_of(seed: int, shape: tuple[int, int] = (20, 30), mean: float = 0.7) -> np.ndarray:
    return np.random.default_rng(seed).poisson(mean, shape) + np.eye(*shape, dtype=int)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_halves_of_a_split_add_up_and_the_first_is_never_shorter(seed, split_seed):
    table = corpus_of(seed)
    seen, scored = split_documents(table, seed=split_seed)
    assert_array_equal((seen.matrix + scored.matrix).toarray(), table)
    assert_array_equal(seen.document_lengths, (table.sum(axis=1) + 1) // 2)


def test_every_split_of_a_document_is_equally_likely():
    draws = np.array([split_documents(np.array([[2, 1, 1]]), seed=s)[0].matrix.toarray()[0]
                      for s in range(3000)])
    # of the six pairs of four tokens: both of word 0 once, word 1 beside word 2 once, word 0 beside
    # either one twice
    shares = [(draws == pair).all(axis=1).mean()
              for pair in ([2, 0, 0], [0, 1, 1], [1, 1, 0], [1, 0, 1])]
    assert_allclose(shares, [1 / 6, 1 / 6, 1 / 3, 1 / 3], atol=0.03)


def test_a_split_is_repeated_by_its_seed():
    table = corpus_of(0)
    first, again, other = (split_documents(table, seed=s)[0].matrix for s in (1, 1, 2))
    assert (first != again).nnz == 0 and (first != other).nnz > 0


def test_identity_11_uniform_words_have_perplexity_V():
    model = fitted(np.full((3, 30), 1 / 30))
    assert_allclose(model.perplexity(corpus_of(1)), 30.0, rtol=1e-12)


def test_identity_11_the_true_unigram_has_the_perplexity_of_its_entropy():
    p = np.random.default_rng(0).dirichlet(np.ones(30))
    sample = np.random.default_rng(1).multinomial(400, p, size=200)
    entropy = -(p * np.log(p)).sum()
    assert_allclose(fitted(p[None]).perplexity(sample), np.exp(entropy), rtol=0.01)


def test_perplexity_scores_no_token_with_topics_it_helped_to_find():
    """A document of two different words, where each topic knows one: the seen one predicts the
    scored one to be impossible.
    """
    model = fitted(np.eye(2))
    assert model.perplexity(np.array([[1, 1]])) == np.inf
    assert_allclose(model.perplexity(np.array([[2, 0]])), 1.0)


def test_perplexity_needs_two_tokens_in_some_document():
    model = fitted(np.full((2, 3), 1 / 3))
    with pytest.raises(ValueError, match="none of 2 documents has 2 known tokens"):
        model.perplexity(np.array([[1, 0, 0], [0, 1, 0]]))
    assert_allclose(model.perplexity(np.array([[1, 0, 0], [0, 2, 0]])), 3.0)


def test_log_likelihood_is_the_sum_over_tokens(monkeypatch):
    rng = np.random.default_rng(3)
    table, theta, phi = corpus_of(2), rng.dirichlet(np.ones(4), size=20), rng.dirichlet(
        np.ones(30), size=4)
    expected = (table * np.log(theta @ phi)).sum()
    assert_allclose(log_likelihood(table, theta, phi), expected)
    monkeypatch.setattr("lessons_lib.topics.evaluate._AT_ONCE", 7 * 4)
    assert_allclose(log_likelihood(as_counts(table), theta, phi), expected)
    with pytest.raises(ValueError, match="doc_topic has 19 rows, data has 20 documents"):
        log_likelihood(table, theta[1:], phi)
    with pytest.raises(ValueError, match="expected 30 columns"):
        log_likelihood(table, theta, phi[:, 1:])


def test_a_negative_probability_is_refused_and_a_zero_is_not():
    table, theta, phi = np.array([[1, 2], [0, 1]]), np.full((2, 2), 0.5), np.array([[0.5, 0.5],
                                                                                    [0.0, 1.0]])
    assert np.isfinite(log_likelihood(table, theta, phi))
    with pytest.raises(ValueError, match=r"doc_topic\[1\] holds -1; expected probabilities >= 0"):
        log_likelihood(table, theta * [[1], [-2]], phi)
    with pytest.raises(ValueError,
                       match=r"components\[0\] holds -0.5; expected probabilities >= 0"):
        log_likelihood(table, theta, phi * [[-1], [1]])
    assert log_likelihood(table[:0], theta[:0], phi) == 0.0


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_topics_in_another_order_are_paired_with_themselves(k, seed):
    rng = np.random.default_rng(seed)
    true, order = rng.dirichlet(np.ones(12), size=k), rng.permutation(k)
    match = match_topics(true[order], true)
    assert_allclose(match.distance, 0.0, atol=1e-12)
    assert_array_equal(order[match.order], np.arange(k))


def test_total_variation_is_the_mass_that_has_to_move():
    match = match_topics(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]),
                         np.array([[0.0, 0.0, 1.0], [0.25, 0.5, 0.25]]))
    assert_array_equal(match.order, [1, 0])
    assert_allclose(match.distance, [0.0, 0.25])


def test_true_topics_that_were_not_found_have_distance_one():
    match = match_topics(np.eye(3)[:1], np.eye(3)[1:] * 0.5 + 0.5 * np.eye(3)[:1])
    assert sorted(match.order.tolist()) == [-1, 0] and sorted(match.distance.tolist()) == [0.5, 1.0]
    with pytest.raises(ValueError, match="expected 3 columns"):
        match_topics(np.eye(2), np.eye(3))
