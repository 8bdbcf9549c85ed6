"""Gibbs sampling for LDA: the identities behind the draw, topics of the synthetic language, chains
that go on bitwise, priors that are learned.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import gammaln

from lessons_lib.core import BackendUnavailable
from lessons_lib.datasets import synthetic_language
from lessons_lib.kernels import use_backend
from lessons_lib.text import Corpus
from lessons_lib.topics import GibbsLDA, concentrations, match_topics

TEXTS = ["sun moon star sun", "fish sea ship sea", "moon star sky", "ship harbour sea fish",
         "star sky sun moon moon", "sea wave ship", "sky sun", "wave fish harbour"] * 3
LEARNED = ("components_", "doc_topic_", "alpha_", "assignments_", "history_", "topic_share_")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_texts(TEXTS)


def small(**changed) -> GibbsLDA:
    return GibbsLDA(**{"n_topics": 3, "n_sweeps": 40, "burn_in": 10, "thin": 5, **changed})


def assert_same(a: GibbsLDA, b: GibbsLDA) -> None:
    for name in LEARNED:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert (a.beta_, a.n_sweeps_, a.n_samples_) == (b.beta_, b.n_sweeps_, b.n_samples_)


# ------------------------------------------------------------------------------ what it finds


@pytest.fixture(scope="module")
def language():
    return synthetic_language(0, n_topics=6, n_documents=1000, n_words=400)


@pytest.fixture(scope="module")
def language_counts(language):
    ones = np.ones(len(language.token_ids), dtype=int)
    return sparse.csr_matrix((ones, language.token_ids.copy(), language.offsets.copy()),
                             shape=(len(language), len(language.words)))


@pytest.mark.parametrize("threads", [1, 2])
def test_topics_of_the_synthetic_language_are_recovered(language, language_counts, threads):
    # one seed in three ends with two topics in one
    model = GibbsLDA(6, n_sweeps=120, seed=1, threads=threads).fit(language_counts)
    match = match_topics(model.components_, language.topic_word)
    assert match.distance.max() <= 0.1
    shares = np.abs(model.doc_topic_[:, match.order] - language.doc_topic).sum(axis=1) / 2
    assert shares.mean() < 0.15
    assert model.alpha_ == pytest.approx(np.full(6, 0.1), abs=0.06)
    assert model.history_[-1, 1] > model.history_[0, 1]


def test_one_topic_is_the_smoothed_unigram(corpus):
    model = small(n_topics=1, learn_beta=False, beta=0.5).fit(corpus)
    counts = corpus.vocabulary.counts + 0.5
    assert_allclose(model.components_, [counts / counts.sum()])
    assert_allclose(model.doc_topic_, 1.0)


def test_estimates_are_distributions_and_the_mean_of_the_samples(corpus):
    model = small(n_sweeps=20, burn_in=15, thin=5, learn_alpha=False, learn_beta=False).fit(corpus)
    assert model.n_samples_ == 1 and model.n_sweeps_ == 20
    offsets, words, topics = np.asarray(corpus.offsets), np.asarray(
        corpus.token_ids), model.assignments_
    by_word = np.full((3, len(corpus.vocabulary)), 0.01)
    np.add.at(by_word, (topics, words), 1)
    by_document = np.full((len(corpus), 3), 0.1)
    np.add.at(by_document, (np.repeat(np.arange(len(corpus)), np.diff(offsets)), topics), 1)
    assert_allclose(model.components_, by_word / by_word.sum(axis=1, keepdims=True))
    assert_allclose(model.doc_topic_, by_document / by_document.sum(axis=1, keepdims=True))
    # without a sample they are those of the last sweep
    last = small(n_sweeps=20, burn_in=50, learn_alpha=False, learn_beta=False).fit(corpus)
    assert last.n_samples_ == 0 and np.array_equal(last.components_, model.components_)
    longer = small(n_sweeps=20, burn_in=0, thin=1).fit(corpus)
    assert longer.n_samples_ == 20
    assert_allclose(longer.components_.sum(axis=1), 1.0)
    assert_allclose(longer.doc_topic_.sum(axis=1), 1.0)
    given = small(alpha=[0.1, 0.2, 0.3], beta=0.02, learn_alpha=False, learn_beta=False).fit(corpus)
    assert_allclose(given.alpha_, [0.1, 0.2, 0.3], rtol=1e-15)
    assert given.beta_ == pytest.approx(0.02, rel=1e-15)
    assert small(alpha=0.2, beta=0.02).fit(corpus).beta_ != pytest.approx(0.02, rel=1e-3)


# ------------------------------------------------------------------------------ the same again


def test_the_textbook_draws_the_same_chain(corpus):
    for threads in (1, 2):
        fast = small(threads=threads, n_sweeps=15).fit(corpus)
        with use_backend("reference"):
            assert_same(small(threads=threads, n_sweeps=15).fit(corpus), fast)


# ------------------------------------------------------------------------------ new documents


def test_fold_in_approaches_the_exact_posterior_mean():
    model = GibbsLDA(2)
    model.components_, model.alpha_, model.tokens_ = np.array(
        [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), np.array([0.5, 1.0]), None
    words = np.array([0, 0, 1, 2])
    weight, mean = 0.0, np.zeros(2)
    for z in itertools.product((0, 1), repeat=4):
        counts = np.bincount(z, minlength=2)
        p = (np.prod(model.components_[list(z), words]) *
             np.exp(gammaln(counts + model.alpha_).sum()))
        weight, mean = weight + p, mean + p * (counts + model.alpha_) / (4 + 1.5)
    found = np.mean([model._infer(model._known_counts(np.array([[2, 1, 1]])), seed)[0]
                     for seed in range(200)], axis=0)
    assert_allclose(found, mean / weight, atol=0.015)


# ------------------------------------------------------------------------------ priors


def as_tokens(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and topics of documents with these (D, K) counts."""
    return np.concatenate([[0], np.cumsum(counts.sum(axis=1))]), np.repeat(
        np.tile(np.arange(counts.shape[1]), len(counts)), counts.ravel())


def joint(counts: np.ndarray, by_word: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """log p(w, z) written out as in methods 2.3."""
    def dirichlet(n, a):
        return gammaln(a.sum()) - gammaln(a.sum() + n.sum()) + (gammaln(a + n) - gammaln(a)).sum()

    return (sum(dirichlet(n, alpha) for n in counts) +
            sum(dirichlet(n, np.full(by_word.shape[0], beta)) for n in by_word.T))


def log_joint(counts: np.ndarray, by_word: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    offsets, topics = as_tokens(counts)
    return concentrations.log_joint(
        concentrations.sizes_by_topic(offsets, topics.astype(np.int32), len(alpha)),
        concentrations.sizes_of_words(by_word.astype(np.float32), len(alpha),
                                      len(topics)), lengths=np.diff(offsets),
        totals=by_word.sum(axis=0), n_words=len(by_word), alpha=alpha, beta=beta)


@given(st.integers(0, 10**6), st.sampled_from([1, 3, 1024]))
def test_the_joint_likelihood_from_sizes_is_the_one_from_counts(seed, cap):
    rng = np.random.default_rng(seed)
    counts, by_word, alpha = rng.poisson(2, (6, 4)), rng.poisson(3, (5, 4)), rng.uniform(0.1, 2, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concentrations, "CAP", cap)
        assert log_joint(counts, by_word, alpha, 0.3) == pytest.approx(
            joint(counts, by_word, alpha, 0.3), abs=1e-9)


def test_identity_8_the_evidence_of_a_tiny_corpus_is_the_sum_over_all_assignments():
    words, total = [[0, 0], [0, 1]], 0.0
    for z in itertools.product((0, 1), repeat=4):
        counts = np.array([np.bincount(z[:2], minlength=2), np.bincount(z[2:], minlength=2)])
        by_word = np.zeros((2, 2), dtype=int)
        np.add.at(by_word, (np.ravel(words), z), 1)
        total += np.exp(log_joint(counts, by_word, np.ones(2), 1.0))
    assert total == pytest.approx(31 / 540, abs=1e-12)


def drawn_counts(alpha: np.ndarray, n: int, lengths: tuple[int, int], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array(
        [rng.multinomial(rng.integers(*lengths), rng.dirichlet(alpha)) for _ in range(n)])


@pytest.mark.parametrize("lengths", [(20, 60), (1500, 3000)])
def test_the_prior_of_documents_is_found_and_its_likelihood_never_falls(lengths):
    truth = np.array([0.05, 0.3, 1.0])
    counts = drawn_counts(truth, 800, lengths, 0)
    offsets, topics = as_tokens(counts)
    sizes = concentrations.sizes_by_topic(offsets, topics.astype(np.int32), 3)
    assert len(sizes.large) == (counts > concentrations.CAP).sum()
    alpha, likelihood = np.full(3, 2.0), []
    for _ in range(20):
        alpha = concentrations.learned_alpha(sizes, np.diff(offsets), alpha)
        likelihood.append(joint(counts, np.zeros((2, 3)), alpha, 1.0))
    assert alpha == pytest.approx(truth, rel=0.25)
    assert np.diff(likelihood).min() > -1e-6


def test_the_prior_of_words_is_found():
    by_word = np.array([np.random.default_rng(k).multinomial(
        5000, np.random.default_rng(k).dirichlet(np.full(400, 0.05))) for k in range(8)]).T
    beta, sizes = 1.0, concentrations.sizes_of_words(by_word.astype(np.float32), 8, 40_000)
    for _ in range(20):
        beta = concentrations.learned_beta(sizes, by_word.sum(axis=0), 400, beta)
    assert beta == pytest.approx(0.05, rel=0.15)


# ------------------------------------------------------------------------------ errors


def test_a_device_that_is_not_here_is_named_before_data_are_read(corpus, monkeypatch, tmp_path):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(BackendUnavailable, match='device="cuda" cannot be used.*device="cpu"'):
        small(device="cuda").fit("no counts")
    model = small().fit(corpus)
    model.set_params(device="cuda").save(tmp_path / "model")
    loaded = GibbsLDA.load(tmp_path / "model")  # what a GPU learned can be used without one
    assert_array_equal(loaded.transform(corpus), model.transform(corpus))
    with pytest.raises(BackendUnavailable, match='device="cuda"'):
        loaded.resume(corpus)
    assert loaded.set_params(device="cpu").resume(corpus, n_sweeps=1).n_sweeps_ == 41


def test_counts_that_a_sweep_cannot_count_are_refused_before_tokens_are_laid_out():
    most = 2**31 - 1
    giant = np.full((3, 2000), most)  # 4.3e12 tokens: no machine could hold a topic for each
    giant[[0, 2]] = 1
    text = r"document 1 has 4,294,967,294,000 tokens; expected fewer than 16,777,216.*Split it"
    model = small(n_sweeps=2).fit(
        np.random.default_rng(0).poisson(0.01, (10, 2000)) + np.eye(10, 2000, dtype=int))
    for use in (small().fit, model.resume, model.transform):
        with pytest.raises(ValueError, match=text):
            use(giant)
    often = np.full((1000, 2), [1, 2**24 - 2])
    with pytest.raises(
            ValueError, match=
            r"word 1 \('b'\) occurs 16,777,214,000 times; expected fewer than 16,777,216.*Leave out"
    ):
        small(n_topics=2).fit(often, vocabulary=["a", "b"])
