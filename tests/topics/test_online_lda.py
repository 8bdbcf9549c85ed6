"""Online LDA: what is known exactly about its steps, its bound, its streams and its files."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma, gammaln

from lessons_lib.core import DataWarning
from lessons_lib.datasets import synthetic_language
from lessons_lib.text import Corpus
from lessons_lib.topics import OnlineLDA, as_counts
from lessons_lib.topics.online_lda_state import TopicWords, clustered_counts

from .test_online_lda_kernel import corpus, textbook_e_step

TIGHT = {"max_inner": 300, "tol": 1e-7}
RANDOM = {"start": "random"}


def same_model(a: OnlineLDA, b: OnlineLDA) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name))
               for name in ("lambda_", "components_", "doc_topic_", "gamma_"))


# ------------------------------------------------------------------------------ what it learns


def test_clusters_are_a_better_start_than_chance():
    language = synthetic_language(0)
    counts = as_counts(Corpus.from_tokens(language.documents), vocabulary=language.words)
    clusters, chance = (OnlineLDA(8, start=start).fit(counts) for start in ("clusters", "random"))
    assert clusters.bound_[-1] > chance.bound_[-1]
    found = clustered_counts(counts, 8, 0)
    # a sample of all documents: each token is in one cluster
    np.testing.assert_allclose(found.sum(axis=1), counts.word_counts)
    assert np.array_equal(found, clustered_counts(counts, 8, 0))
    assert clustered_counts(counts.rows(slice(0, 5)), 8, 0) is None


def test_a_step_of_batch_learning_is_the_textbook_step():
    counts, k = corpus(1, 20), 4
    model = OnlineLDA(k, alpha=0.3, beta=0.2, learning="batch", n_epochs=1, seed=3, **TIGHT,
                      **RANDOM).fit(counts)
    start = np.repeat(0.3 + counts.sum(axis=1, keepdims=True) / k, k, axis=1)
    lam = TopicWords.at_random(np.full(37, 0.2), k, 3).dense()
    gamma, expected = textbook_e_step(counts, lam, np.full(k, 0.3), start, most=300, tol=1e-7)
    np.testing.assert_allclose(model.lambda_, 0.2 + expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(model.gamma_, gamma, atol=2e-3)


def test_steps_of_online_learning_follow_the_formula():
    """lambda <- (1 - rho_t) lambda + rho_t (beta + D/S counts), rho_t = (tau + t)^-kappa, while
    only the words of a batch are touched.
    """
    counts, k = corpus(2, 12), 3
    counts[:4, 20:] = 0  # words that the first batch has not
    model = OnlineLDA(k, alpha=0.5, beta=0.1, batch_size=4, decay=0.8, offset=2.0, seed=5,
                      **TIGHT).partial_fit(counts, total=50)
    lam = TopicWords.at_random(np.full(37, 0.1), k, 5).dense()
    for t, first in enumerate((0, 4, 8), start=1):
        batch = counts[first : first + 4]
        start = np.repeat(0.5 + batch.sum(axis=1, keepdims=True) / k, k, axis=1)
        _, expected = textbook_e_step(batch, lam, np.full(k, 0.5), start, most=300, tol=1e-7)
        rho = (2.0 + t) ** -0.8
        lam = (1 - rho) * lam + rho * (0.1 + 50 / 4 * expected)
    np.testing.assert_allclose(model.lambda_, lam, rtol=2e-3, atol=2e-3)
    assert model.n_steps_ == 3


@given(st.integers(0, 1000), st.integers(1, 5), st.sampled_from([0.05, 0.5, 1.5]))
def test_batch_learning_keeps_every_token(seed, k, beta):
    counts = corpus(seed)
    model = OnlineLDA(k, beta=beta, learning="batch", n_epochs=3, seed=seed).fit(counts)
    np.testing.assert_allclose(
        model.lambda_.sum(axis=0) - k * beta, counts.sum(axis=0), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.gamma_.sum(axis=1), counts.sum(axis=1) + 1.0, rtol=1e-5)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    if k == 1:                               # one topic is the smoothed unigram
        np.testing.assert_allclose(model.components_[0], (counts.sum(axis=0) + beta) /
                                   (counts.sum() + 37 * beta), rtol=1e-6)
        new = np.eye(1, 37, 36, dtype=int) * 2
        assert np.isfinite(model.transform(new)).all() and (model.components_ > 0).all()


def test_priors_may_differ_by_topic_and_by_word():
    counts = corpus(4, 60)
    alpha, beta = np.array([5.0, 0.1, 0.1]), np.linspace(0.1, 2.0, 37)
    model = OnlineLDA(3, alpha=alpha, beta=beta, learning="batch", n_epochs=5).fit(counts)
    assert np.array_equal(model.alpha_, alpha) and model.doc_topic_[:, 0].mean() > 0.5
    np.testing.assert_allclose(
        model.lambda_.sum(axis=0) - 3 * beta, counts.sum(axis=0), rtol=1e-5, atol=1e-4)


# ------------------------------------------------------------------------------ the bound


@given(st.integers(0, 1000), st.integers(1, 8), st.sampled_from([0.05, 0.3, 2.0]))
def test_identity_9_the_bound_never_falls_in_batch_mode(seed, k, prior):
    model = OnlineLDA(k, alpha=prior, beta=prior, learning="batch", n_epochs=40, seed=seed).fit(
        corpus(seed, rate=1.0))
    bounds = np.array(model.bound_)
    assert len(bounds) == 40 and (np.diff(bounds) >= -1e-8 * np.abs(bounds[1:])).all()


def test_the_bound_is_the_textbook_one():
    """E_q[log p(w, z, theta, phi)] + entropy, with responsibilities written out and SciPy's
    functions.
    """
    counts, k, alpha, beta = corpus(6), 3, 0.4, 0.2
    model = OnlineLDA(k, alpha=alpha, beta=beta, learning="batch", n_epochs=1, seed=2,
                      **RANDOM).fit(counts)
    # the bound is taken before the M step
    lam, gamma = TopicWords.at_random(np.full(37, beta), k,
                                      2).dense(), model.gamma_.astype(np.float64)
    log_theta = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    log_phi = digamma(lam) - digamma(lam.sum(axis=1, keepdims=True))
    bound = 0.0
    for d, w in zip(*np.nonzero(counts), strict=True):
        logs = log_theta[d] + log_phi[:, w]
        r = np.exp(logs - logs.max())
        r /= r.sum()
        bound += counts[d, w] * (r @ (logs - np.log(r)))

    def divergence(x: np.ndarray, prior: float, mean_log: np.ndarray) -> float:
        n = x.shape[1]
        return float((gammaln(n * prior) - n * gammaln(prior) - gammaln(x.sum(axis=1)) +
                      gammaln(x).sum(axis=1) + ((prior - x) * mean_log).sum(axis=1)).sum())

    assert model.bound_[0] == pytest.approx(
        bound + divergence(gamma, alpha, log_theta) + divergence(lam, beta, log_phi), rel=1e-9)


def test_the_bound_is_finite_where_products_of_weights_vanish():
    k, counts = 600, corpus(7, 15)
    with pytest.warns(DataWarning, match="n_topics=600"):
        model = OnlineLDA(k, learning="batch", n_epochs=4).fit(counts)
    assert np.isfinite(model.bound_).all() and (np.diff(model.bound_) >= 0).all()


def test_identity_9_the_bound_lies_below_the_exact_evidence():
    """Documents [0, 0], [0, 1], V = K = 2, flat priors: p(w) = 31/540."""
    bounds = [OnlineLDA(2, alpha=1.0, beta=1.0, learning="batch", n_epochs=60, seed=seed,
                        **TIGHT).fit([[2, 0], [1, 1]]).bound_[-1] for seed in range(3)]
    assert math.log(31 / 540) - 1.5 < max(bounds) < math.log(31 / 540)


# ------------------------------------------------------------------------------ streams


def test_partial_fit_over_the_stream_is_one_epoch_of_fit():
    counts = corpus(8, 50)
    settings_ = {"batch_size": 8, "seed": 4}
    whole = OnlineLDA(5, n_epochs=1, shuffle=False, **settings_, **RANDOM).fit(counts)
    stream = OnlineLDA(5, **settings_)
    for first in range(0, 50, 16):
        stream.partial_fit(counts[first : first + 16], total=50)
    assert np.array_equal(whole.lambda_, stream.lambda_) and np.array_equal(
        whole.components_, stream.components_)
    assert whole.n_steps_ == stream.n_steps_ == 7 and stream.n_documents_seen_ == 50
    assert np.array_equal(whole.word_counts_, stream.word_counts_)
    assert same_model(stream, OnlineLDA(5, **settings_).partial_fit(
        counts[:48], total=50).partial_fit(counts[48:], total=50))


def test_without_a_total_the_documents_seen_count():
    counts = corpus(9, 20)
    a = OnlineLDA(3, batch_size=10).partial_fit(counts[:10]).partial_fit(counts[10:])
    b = OnlineLDA(3, batch_size=10).partial_fit(counts[:10], total=10).partial_fit(
        counts[10:], total=20)
    assert same_model(a, b)
    assert OnlineLDA(2).partial_fit(counts).resume(counts, n_epochs=1).n_steps_ == 2


def test_P14_a_stream_of_texts_keeps_the_words_of_its_first_part():
    model = OnlineLDA(2, batch_size=2)
    first, second = (Corpus.from_texts(texts)
                      for texts in (["a b b c", "c d d"], ["d a zebra", "b b b"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(first).partial_fit(second)
    assert model.tokens_ == list(first.vocabulary.tokens) and "zebra" not in model.tokens_
    assert model.word_counts_.sum() == 7 + 5
    matrix = np.array([[1, 2]])
    assert OnlineLDA(1).partial_fit(matrix, vocabulary=["x", "y"]).partial_fit(
        matrix, vocabulary=["y", "x"]).word_counts_.tolist() == [3, 3]


def test_a_stream_without_end_keeps_the_digits_of_its_topics():
    """The scale that stands for forgetting is written out before float32 runs out of range."""
    words = TopicWords.at_random(np.full(50, 0.1), 4, 0)
    exact = words.dense() - 0.1
    for _ in range(40):
        words.shrink(0.5)
        assert 1e-6 <= words.scale <= 1.0
    np.testing.assert_allclose(words.scale * words.excess.T, exact * 0.5**40, rtol=1e-5)
    np.testing.assert_allclose(words.topic_totals(), words.dense().sum(axis=1), rtol=1e-9)


# ----------------------------------------------------------------------- repeating, threads, files


def test_a_stream_goes_on_from_a_file_with_the_same_bits(tmp_path):
    counts = corpus(13, 40)
    whole = OnlineLDA(4, batch_size=8).partial_fit(counts[:24], total=40)
    whole.save(tmp_path / "model")
    again = OnlineLDA.load(tmp_path / "model")
    assert same_model(whole, again) and again.n_documents_seen_ == 24
    assert np.array_equal(whole.transform(counts), again.transform(counts))
    assert same_model(whole.partial_fit(counts[24:], total=40),
                      again.partial_fit(counts[24:], total=40))


# ------------------------------------------------------------------------------ new documents


def test_a_stream_that_goes_on_with_a_matrix_keeps_its_words():
    words, counts = [f"w{i}" for i in range(37)], corpus(20)
    model = OnlineLDA(2).partial_fit(counts, vocabulary=words).partial_fit(counts)
    assert model.tokens_ == words
    assert model.partial_fit(counts[:, ::-1], vocabulary=words[::-1]).tokens_ == words
    np.testing.assert_array_equal(model.word_counts_, 3 * counts.sum(axis=0))
    # names that come late
    assert OnlineLDA(2).partial_fit(counts).partial_fit(counts, vocabulary=words).tokens_ == words


def test_T04_documents_without_tokens_are_told_once_for_each_call():
    words = [f"w{i}" for i in range(37)]
    model = OnlineLDA(2).partial_fit(corpus(21), vocabulary=words)
    before = model.lambda_
    with pytest.warns(DataWarning, match="3 of 3 documents"):      # which teach nothing
        model.partial_fit(np.zeros((3, 37), dtype=int))
    assert np.array_equal(model.lambda_, before) and model.n_documents_seen_ == 15
    assert np.isfinite(model.topic_share_).all()
    late = np.zeros((3, 38), dtype=int)
    late[0, 0], late[1, 37] = 2, 1  # the second document has only a word that the model lacks
    for data, vocabulary in ((late[:, :37], None), (late[:, :37], words), (late, [*words, "new"])):
        with pytest.warns(DataWarning) as told:
            model.partial_fit(data, vocabulary=vocabulary)
        assert [str(w.message)[:46] for w in told] == ["2 of 3 documents hold no known token, "
                                                       "first da"]
