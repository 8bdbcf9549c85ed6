"""pLSA: its likelihood never falls, it is the MAP estimate of LDA under flat priors, and it is NMF
under the Kullback-Leibler divergence.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import dirichlet

from lessons_lib.datasets import synthetic_language
from lessons_lib.text import Corpus
from lessons_lib.topics import PLSA, as_counts, log_likelihood


def table_of(seed: int, shape: tuple[int, int] = (12, 15), mean: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).poisson(mean, shape) + np.eye(*shape, dtype=int)


def textbook_step(n: np.ndarray, theta: np.ndarray, phi: np.ndarray,
                  beta: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """One EM step written as in the paper, with the whole posterior in memory."""
    q = (theta[:, None, :] * phi.T[None]) ** beta                     # (D, V, K)
    q /= q.sum(axis=2, keepdims=True)
    of_topics, of_documents = np.einsum("dw,dwk->kw", n, q), np.einsum("dw,dwk->dk", n, q)
    return of_documents / of_documents.sum(axis=1, keepdims=True), of_topics / of_topics.sum(
        axis=1, keepdims=True)


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_each_iteration_is_the_textbook_em_step(beta):
    n = table_of(0)
    before, after = (PLSA(3, n_iter=i, tempering=beta, tol=0.0).fit(n) for i in (2, 3))
    theta, phi = textbook_step(n, before.doc_topic_, before.components_, beta)
    assert_allclose(after.doc_topic_, theta, atol=1e-12)
    assert_allclose(after.components_, phi, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.0, 0.5]))
def test_identity_5_the_objective_never_falls_and_rows_sum_to_one(seed, k, smoothing):
    n = table_of(seed)
    model = PLSA(k, n_iter=30, smoothing=smoothing, seed=seed).fit(n)
    assert np.diff(model.history_).min() >= -1e-9 * abs(model.history_[0])
    assert len(model.history_) == model.n_iter_ + 1
    assert_allclose(model.components_.sum(axis=1), 1.0)
    assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    expected = (log_likelihood(n, model.doc_topic_, model.components_) +
                (smoothing * np.log(model.components_).sum() if smoothing else 0.0))
    assert_allclose(model.history_[-1], expected)
    if k == 1 and not smoothing:             # the unigram of the corpus
        assert_allclose(model.components_[0], n.sum(axis=0) / n.sum())


def test_plsa_is_the_map_estimate_of_lda_with_flat_document_priors():
    """The objective is LDA's log posterior density up to a constant (alpha = 1, eta = 1 +
    smoothing), and no nearby point has a higher one.
    """
    n, rng = table_of(2), np.random.default_rng(0)
    model = PLSA(3, n_iter=4000, smoothing=0.5, tol=0.0).fit(n)

    def log_posterior(theta: np.ndarray, phi: np.ndarray) -> float:
        priors = (sum(dirichlet.logpdf(row, np.ones(3)) for row in theta) +
                  sum(dirichlet.logpdf(row, np.full(15, 1.5)) for row in phi))
        return float((n * np.log(theta @ phi)).sum() + priors)

    start = PLSA(3, n_iter=1, smoothing=0.5, tol=0.0).fit(n)
    best = log_posterior(model.doc_topic_, model.components_)
    assert_allclose(best - log_posterior(start.doc_topic_, start.components_),
                    model.history_[-1] - start.history_[-1], rtol=1e-9)
    for _ in range(200):
        theta = 0.99 * model.doc_topic_ + 0.01 * rng.dirichlet(np.ones(3), size=12)
        phi = 0.99 * model.components_ + 0.01 * rng.dirichlet(np.ones(15), size=3)
        assert log_posterior(theta, phi) < best


def test_a_fixed_point_of_plsa_is_one_of_nmf_under_kullback_leibler():
    from sklearn.decomposition import non_negative_factorization

    n = table_of(3).astype(float)
    model = PLSA(3, n_iter=5000, tol=0.0).fit(n.astype(int))
    w, h = n.sum(axis=1, keepdims=True) * model.doc_topic_, model.components_
    off = PLSA(3, n_iter=1, tol=0.0).fit(n.astype(int))
    w_off, h_off = n.sum(axis=1, keepdims=True) * off.doc_topic_, off.components_
    kl = {"n_components": 3, "init": "custom", "solver": "mu", "beta_loss": "kullback-leibler",
          "max_iter": 5, "tol": 0.0}
    w2, h2, _ = non_negative_factorization(n, W=w.copy(), H=h.copy(), **kl)
    assert_allclose(w2 @ h2, w @ h, rtol=1e-3, atol=1e-4)
    # elsewhere NMF does move
    w2, h2, _ = non_negative_factorization(n, W=w_off.copy(), H=h_off.copy(), **kl)
    assert np.abs(w2 @ h2 - w_off @ h_off).max() > 0.1


def test_folding_in_maximises_the_likelihood_of_each_document_alone():
    n, rng = table_of(5), np.random.default_rng(1)
    model = PLSA(3, n_iter=50).fit(n)
    new = table_of(6)
    theta = model.transform(new)
    before = model.components_.copy()
    best = (new * np.log(theta @ model.components_)).sum(axis=1)
    for _ in range(100):
        other = 0.98 * theta + 0.02 * rng.dirichlet(np.ones(3), size=12)
        assert ((new * np.log(other @ model.components_)).sum(axis=1) <= best + 1e-4).all()
    assert_array_equal(model.components_, before)


def test_tol_ends_the_fit_and_zero_never_does():
    n = table_of(4, (40, 30))
    assert PLSA(2, n_iter=2000, tol=1e-4).fit(n).n_iter_ < 2000
    assert PLSA(2, n_iter=300, tol=0.0).fit(n).n_iter_ == 300


def test_a_tempered_fit_blurs_and_overfits_less():
    language = synthetic_language(0, n_documents=200)
    corpus = Corpus.from_tokens(language.documents)
    counts = as_counts(corpus, vocabulary=language.words)
    train, held_out = counts.rows(slice(0, 100)), counts.rows(slice(100, 200))
    sharp, tempered = (PLSA(30, n_iter=200, tempering=beta, smoothing=1e-3, tol=0.0).fit(train)
                       for beta in (1.0, 0.7))
    assert sharp.history_[-1] > tempered.history_[-1]
    assert tempered.perplexity(held_out) < sharp.perplexity(held_out)


def test_words_never_seen_in_training_make_perplexity_infinite_without_smoothing():
    n = table_of(7)
    n[:, 3] = 0
    new = table_of(8) + 4 * (np.arange(15) == 3)
    assert PLSA(2).fit(n).perplexity(new) == np.inf
    assert PLSA(2, smoothing=0.1).fit(n).perplexity(new) < np.inf
    alone = np.zeros((1, 15), dtype=int)
    alone[0, 3] = 2
    assert_allclose(PLSA(2).fit(n).transform(alone), 0.5)
