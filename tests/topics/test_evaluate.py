"""Held-out scores and the pairing of topics."""

from __future__ import annotations

import numpy as np
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
    again, other = (split_documents(table, seed=s)[0].matrix for s in (split_seed, split_seed + 1))
    assert (seen.matrix != again).nnz == 0 and (seen.matrix != other).nnz > 0


def test_every_split_of_a_document_is_equally_likely():
    draws = np.array([split_documents(np.array([[2, 1, 1]]), seed=s)[0].matrix.toarray()[0]
                      for s in range(3000)])
    # of the six pairs of four tokens: both of word 0 once, word 1 beside word 2 once, word 0 beside
    # either one twice
    shares = [(draws == pair).all(axis=1).mean()
              for pair in ([2, 0, 0], [0, 1, 1], [1, 1, 0], [1, 0, 1])]
    assert_allclose(shares, [1 / 6, 1 / 6, 1 / 3, 1 / 3], atol=0.03)


def test_identity_11_uniform_words_have_perplexity_V_and_the_true_unigram_that_of_its_entropy():
    p = np.random.default_rng(0).dirichlet(np.ones(30))
    sample = np.random.default_rng(1).multinomial(400, p, size=200)
    entropy = -(p * np.log(p)).sum()
    uniform = fitted(np.full((3, 30), 1 / 30))
    assert_allclose(uniform.perplexity(corpus_of(1)), 30.0, rtol=1e-12)
    assert_allclose(fitted(p[None]).perplexity(sample), np.exp(entropy), rtol=0.01)


def test_perplexity_scores_no_token_with_topics_it_helped_to_find():
    """A document of two different words, where each topic knows one: the seen one predicts the
    scored one to be impossible.
    """
    model = fitted(np.eye(2))
    assert model.perplexity(np.array([[1, 1]])) == np.inf
    assert_allclose(model.perplexity(np.array([[2, 0], [0, 1]])), 1.0)


def test_log_likelihood_is_the_sum_over_tokens(monkeypatch):
    rng = np.random.default_rng(3)
    table, theta, phi = corpus_of(2), rng.dirichlet(np.ones(4), size=20), rng.dirichlet(
        np.ones(30), size=4)
    expected = (table * np.log(theta @ phi)).sum()
    assert_allclose(log_likelihood(table, theta, phi), expected)
    monkeypatch.setattr("lessons_lib.topics.evaluate._AT_ONCE", 7 * 4)
    assert_allclose(log_likelihood(as_counts(table), theta, phi), expected)
    assert log_likelihood(table[:0], theta[:0], phi) == 0.0
    phi[0, 1:3] = 0.0                        # a zero is no negative probability
    assert np.isfinite(log_likelihood(table, theta, phi))


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_topics_in_another_order_are_paired_with_themselves(k, seed):
    rng = np.random.default_rng(seed)
    true, order = rng.dirichlet(np.ones(12), size=k), rng.permutation(k)
    match = match_topics(true[order], true)
    assert_allclose(match.distance, 0.0, atol=1e-12)
    assert_array_equal(order[match.order], np.arange(k))


def test_true_topics_that_were_not_found_have_distance_one():
    match = match_topics(np.eye(3)[:1], np.eye(3)[1:] * 0.5 + 0.5 * np.eye(3)[:1])
    assert sorted(match.order.tolist()) == [-1, 0] and sorted(match.distance.tolist()) == [0.5, 1.0]
    # total variation is the mass that has to move
    match = match_topics(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]),
                         np.array([[0.0, 0.0, 1.0], [0.25, 0.5, 0.25]]))
    assert_array_equal(match.order, [1, 0])
    assert_allclose(match.distance, [0.0, 0.25])
