"""The loops of online LDA: each beside the textbook in float64, on shapes that no vector fits."""

from __future__ import annotations


import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import digamma, gammaln

from lessons_lib.topics import as_counts
from lessons_lib.topics.counts_input import runs, thread_map
from lessons_lib.topics.online_lda_kernel import (FLOOR, HEADROOM, LEAST, add_expected, exp_digamma,
                                                  infer_documents, log_gamma_digamma, order_by_word)
from lessons_lib.topics.online_lda_state import Batch, TopicWords


def corpus(seed: int, n_documents: int = 12, n_words: int = 37, *, rate: float = 0.4) -> np.ndarray:
    counts = np.random.default_rng(seed).poisson(rate, (n_documents, n_words))
    counts[:, 0] += 1                                             # no document is empty
    return counts


def topics(seed: int, n_topics: int, n_words: int = 37, *,
           spread: float = 0.5) -> tuple[TopicWords, np.ndarray]:
    """Topics and their lambda (K, V)."""
    beta = np.full(n_words, 0.05)
    excess = np.random.default_rng(seed).gamma(spread, 20.0, (n_words, n_topics)).astype(np.float32)
    words = TopicWords(excess, excess.sum(axis=0, dtype=np.float64), beta)
    return words, words.dense()


def e_step(counts: np.ndarray, words: TopicWords, alpha: np.ndarray, start: np.ndarray, *,
           most: int = 100, tol: float = 1e-3):
    """gamma, weight, ratio, table, batch and steps of the compiled E step."""
    batch, gamma = Batch.of(as_counts(counts)), start.astype(np.float32)
    with thread_map(1) as each:
        table = words.table(batch.used, each)
    weight, ratio = np.empty_like(gamma), np.empty(len(batch.slots), dtype=np.float32)
    steps = infer_documents(batch.cells, table, (alpha.astype(np.float32), most, tol),
                            (gamma, weight, ratio), 0, len(counts))
    return gamma, weight, ratio, table, batch, steps


def textbook_e_step(counts: np.ndarray, lam: np.ndarray, alpha: np.ndarray, start: np.ndarray, *,
                    most: int = 100, tol: float = 1e-3):
    """gamma (D, K) and the expected counts (K, V), in float64, with responsibilities written out.
    """
    mean_log_words = digamma(lam) - digamma(lam.sum(axis=1, keepdims=True))
    found, expected = start.copy(), np.zeros_like(lam)

    def responsibilities(gamma: np.ndarray, present: np.ndarray) -> np.ndarray:
        logs = (digamma(gamma) - digamma(gamma.sum()))[:, None] + mean_log_words[:, present]
        phi = np.exp(logs - logs.max(axis=0))
        return phi / phi.sum(axis=0)

    for gamma, row in zip(found, counts, strict=True):
        present = np.flatnonzero(row)
        for _ in range(most):
            new = alpha + responsibilities(gamma, present) @ row[present]
            change = np.abs(new - gamma).mean()
            gamma[:] = new
            if change < tol:
                break
        expected[:, present] += responsibilities(gamma, present) * row[present]
    return found, expected


# ------------------------------------------------------------------------------ exp(digamma)


def test_exp_digamma_has_the_stated_error_is_scaled_before_it_is_cut_and_always_positive():
    many = np.logspace(-1, 8, 20_001).astype(np.float32)
    # exp(-100) is no float32, 2^100 exp(-100) is
    for x, power, error in ((many, 0.0, 1e-6 * (1 + 1 / many)),
                            (np.array([0.01, 0.02, 3.0], dtype=np.float32), 56.0, 1e-4)):
        found = np.empty_like(x)
        exp_digamma(x, power, found)
        exact = np.exp(digamma(x.astype(np.float64)) + power * np.log(2))
        assert (np.abs(found / exact - 1) <= error).all()
    exp_digamma(np.array([LEAST, 1e-20, 1e-6], dtype=np.float32), HEADROOM, found)
    assert (np.isfinite(found) & (found > 0)).all() and (found <= 8 * 2.0**FLOOR).all()


def test_log_gamma_and_digamma_agree_with_scipy():
    x = np.concatenate([np.logspace(-3, 7, 3000), [1.0, 2.0, 10.0]])
    found = np.array([log_gamma_digamma(float(value)) for value in x])
    np.testing.assert_allclose(found[:, 0], gammaln(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[:, 1], digamma(x), rtol=1e-12, atol=1e-12)
    for x in (0.0, -0.5, -1e30, np.nan, -np.inf):
        assert np.isnan(log_gamma_digamma(x)).all()


# ------------------------------------------------------------------------------ documents


@given(st.integers(0, 10_000), st.integers(1, 37), st.floats(0.05, 2.0))
def test_a_step_in_float32_agrees_with_float64(seed, k, prior):
    """One step from anywhere is as exact as float32 can be; many steps may carry a difference along
    where two fixed points are near.
    """
    counts, alpha = corpus(seed), np.full(k, prior)
    words, lam = topics(seed + 1, k)
    start = (alpha + np.random.default_rng(seed).dirichlet(np.ones(k), len(counts)) *
             counts.sum(axis=1, keepdims=True)).astype(np.float32)
    for most, tolerance in ((1, 3e-6), (30, 1e-3)):
        gamma, *_ = e_step(counts, words, alpha, start, most=most, tol=0.0)
        expected, _ = textbook_e_step(counts, lam, alpha, start.astype(np.float64), most=most,
                                      tol=0.0)
        assert (np.abs(gamma - expected).max(axis=1) <= tolerance * counts.sum(axis=1)).all()


def test_vanishing_weights_keep_their_order_in_float32():
    """With priors of 1/100 weights of e^-100 decide between topics; float32 alone would make all of
    them 0.
    """
    k, counts = 100, corpus(5, 40, 60, rate=0.6)
    rng = np.random.default_rng(6)
    excess = np.where(rng.random((60, k)) < 0.05, rng.gamma(1.0, 50.0, (60, k)),
                      0.0).astype(np.float32)
    words = TopicWords(excess, excess.sum(axis=0, dtype=np.float64), np.full(60, 0.01))
    alpha = np.full(k, 0.01)
    start = alpha + counts.sum(axis=1, keepdims=True) / k
    gamma, *_ = e_step(counts, words, alpha, start, most=20, tol=0.0)
    expected, _ = textbook_e_step(counts, words.dense(), alpha, start, most=20, tol=0.0)
    assert np.quantile(np.abs(gamma - expected).max(axis=1) / counts.sum(axis=1), 0.9) <= 1e-4


def test_one_batch_is_that_of_scikit_learn():
    from sklearn.decomposition import LatentDirichletAllocation

    counts, k = corpus(3, 30), 7
    words, lam = topics(4, k)
    peer = LatentDirichletAllocation(k, max_iter=1, mean_change_tol=1e-6, max_doc_update_iter=200,
                                     random_state=0).fit(counts)
    peer.components_, peer.exp_dirichlet_component_ = lam, np.exp(
        digamma(lam) - digamma(lam.sum(axis=1, keepdims=True)))
    expected = peer.transform(counts, normalize=False)  # starts from gamma = 1
    gamma, *_ = e_step(counts, words, np.full(k, 1 / k), np.ones((30, k)), most=200, tol=1e-6)
    np.testing.assert_allclose(gamma, expected, atol=1e-4)


def test_documents_stop_on_their_own_and_at_the_limit():
    counts, (words, _) = corpus(8), topics(9, 6)
    alpha = np.full(6, 0.1)
    start = alpha + counts.sum(axis=1, keepdims=True) / 6
    assert e_step(counts, words, alpha, start, most=3, tol=0.0)[-1] == 3 * len(counts)
    each = [e_step(counts[d:d + 1], words, alpha, start[d:d + 1])[-1] for d in range(len(counts))]
    assert e_step(counts, words, alpha, start)[-1] == sum(each) and len(set(each)) > 1


# ------------------------------------------------------------------------------ words


def test_rows_of_the_table_are_the_expected_words_up_to_a_factor():
    words, lam = topics(15, 10)
    with thread_map(1) as each:
        table = words.table(np.arange(37), each).astype(np.float64)
    exact = np.exp(digamma(lam) - digamma(lam.sum(axis=1, keepdims=True))).T
    share = table / table.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(share, exact / exact.sum(axis=1, keepdims=True), rtol=2e-4,
                               atol=1e-12)
    assert (np.log2(table.max(axis=1)) <= HEADROOM + 2).all()


@given(st.integers(0, 10_000))
def test_ordering_by_word_is_the_transposed_matrix(seed):
    counts = corpus(seed, 9, 17)
    batch = Batch.of(as_counts(counts))
    starts, entries, documents = batch.by_word
    transposed = sparse.csr_matrix(counts[:, batch.used]).tocsc()
    assert np.array_equal(starts, transposed.indptr) and np.array_equal(
        documents, transposed.indices)
    assert np.array_equal(batch.counts[entries], transposed.data)
    assert np.array_equal(order_by_word(batch.offsets, batch.slots, len(batch.used))[1], entries)


def test_expected_counts_are_those_of_the_textbook():
    counts, k = corpus(20), 6
    words, lam = topics(21, k)
    alpha = np.full(k, 0.2)
    start = alpha + counts.sum(axis=1, keepdims=True) / k
    _, weight, ratio, table, batch, _ = e_step(counts, words, alpha, start, most=40, tol=0.0)
    excess = np.zeros_like(words.excess)
    parts = [add_expected(batch.by_word, (weight, ratio), table, (batch.used, excess, 2.0), *block)
             for block in runs(batch.by_word[0], 50)]
    _, expected = textbook_e_step(counts, lam, alpha, start, most=40, tol=0.0)
    np.testing.assert_allclose(excess.T, 2 * expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(np.sum(parts, axis=0), excess.sum(axis=0, dtype=np.float64),
                               rtol=1e-12)
    np.testing.assert_allclose(excess.sum(axis=1, dtype=np.float64), 2 * counts.sum(axis=0),
                               rtol=1e-5)
