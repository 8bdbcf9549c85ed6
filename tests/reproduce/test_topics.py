"""The entries about topic models: the mixture of unigrams is right, and the paper's claims hold at the smallest scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from lessons_lib.reproduce import entries, run
from lessons_lib.reproduce.topics import unigram_mixture


def test_a_mixture_of_unigrams_finds_documents_that_share_no_word():
    counts = sparse.csr_array(np.repeat([[5, 3, 0, 0], [0, 0, 2, 6]], 10, axis=0))
    log_share, log_words = unigram_mixture(counts, 2, n_iter=50, seed=0)
    assert np.allclose(np.exp(log_share), 0.5, atol=1e-3)
    assert np.allclose(np.sort(np.exp(log_words).max(axis=1)), [0.625, 0.75], atol=1e-3)


def test_its_likelihood_rises_from_step_to_step():
    counts = sparse.csr_array(np.random.default_rng(0).poisson(1.0, size=(40, 15)))
    fits = (unigram_mixture(counts, 3, n_iter=n, seed=1) for n in (1, 2, 5, 20, 60))
    scores = [logsumexp(counts @ words.T + share, axis=1).sum() for share, words in fits]
    assert (np.diff(scores) > -0.1).all() and scores[-1] > scores[0]            # the hundredth of a word is a prior: the step may cost a little


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blei2003_table1", "blei2003_figure9"])
def test_the_claims_of_the_paper_hold_at_the_smallest_scale(name, tmp_path):
    outcome = run(entries()[name], scale="smoke", folder=tmp_path)
    assert outcome.ok, outcome.verdicts
    assert all(0 < y < 1e5 for points in outcome.measured.values() for y in points.values())
