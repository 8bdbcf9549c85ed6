"""Singular values read in blocks are those of the whole; shares and counts of directions where they
are known by hand.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA, TruncatedSVD

from lessons_lib import isotropy


def test_singular_values_are_those_of_the_matrix(cloud):
    for shape in ((60, 8), (8, 60), (8, 8), (1, 5)):
        x = cloud(*shape, mean=0.7)
        assert isotropy.singular_values(x) == pytest.approx(np.linalg.svd(x, compute_uv=False),
                                                            rel=1e-12)
        centred = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
        assert isotropy.singular_values(x, centred=True) == pytest.approx(centred, abs=1e-12)


def test_V23_a_table_read_in_many_blocks_has_the_same_values(cloud, request):
    x = cloud(300, 6, mean=2.0)
    whole = isotropy.singular_values(x), isotropy.singular_values(x, centred=True)
    request.getfixturevalue("small_blocks")
    assert isotropy.singular_values(x) == pytest.approx(whole[0], rel=1e-12)
    assert isotropy.singular_values(x, centred=True) == pytest.approx(whole[1], rel=1e-12)


def test_small_singular_values_keep_their_digits():
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 3)))[0]
    values = isotropy.singular_values(turn * [1.0, 1e-6, 1e-12])
    # through XᵀX the last one would be 1e-8 or 0
    assert values == pytest.approx([1.0, 1e-6, 1e-12], rel=1e-3)


def test_a_far_away_mean_does_not_spoil_centred_values(cloud):
    x = cloud(200, 5)
    assert isotropy.singular_values(x + 1e6, centred=True) == pytest.approx(
        isotropy.singular_values(x, centred=True), rel=1e-8)


def test_squares_of_singular_values_sum_to_all_squares_of_the_table(cloud):
    x = cloud(mean=0.3)
    assert (isotropy.singular_values(x) ** 2).sum() == pytest.approx((x**2).sum(), rel=1e-12)


def test_43_the_top_share_of_orthonormal_vectors_is_1_over_n_and_of_collinear_ones_1(rotation):
    for n in (1, 3, 8):
        assert isotropy.top_share(rotation(8)[:n]) == pytest.approx(1 / n, abs=1e-12)
    assert isotropy.top_share(np.outer([1.0, -2.0, 5.0], [3.0, 4.0])) == pytest.approx(1, abs=1e-12)


def test_the_ratio_of_truncated_svd_is_another_number_and_that_of_pca_the_centred_one(cloud):
    x = cloud(300, 10, mean=2.0)
    squares = np.linalg.svd(x, compute_uv=False) ** 2
    assert isotropy.top_share(x) == pytest.approx(squares[0] / squares.sum(),
                                                  abs=1e-12) and isotropy.top_share(x) > 0.7
    assert TruncatedSVD(2, random_state=0).fit(x).explained_variance_ratio_[0] < 0.2
    assert isotropy.top_share(x, centred=True) == pytest.approx(
        PCA(1).fit(x).explained_variance_ratio_[0], abs=1e-10)


@pytest.mark.slow
def test_the_top_share_falls_with_the_number_of_vectors(cloud):
    shares = [np.mean([isotropy.top_share(cloud(n, 20, mean=0.2, seed=s)) for s in range(20)])
              for n in (10, 100, 1000)]
    # same cloud: a baseline needs as many vectors
    assert shares[0] > shares[1] + 0.05 > shares[2] + 0.05


def test_the_spectrum_starts_at_1_and_is_flat_for_an_orthonormal_basis(cloud, rotation):
    spectrum = isotropy.singular_spectrum(cloud(mean=1.0))
    assert spectrum[0] == 1 and (np.diff(spectrum) <= 0).all()
    assert isotropy.singular_spectrum(rotation(6)) == pytest.approx(np.ones(6), abs=1e-12)


def test_effective_rank_and_participation_count_directions(rotation):
    line = np.outer(np.arange(1.0, 6.0), [1.0, 2.0, 2.0])
    assert isotropy.effective_rank(line) == pytest.approx(1, abs=1e-10)
    assert isotropy.participation_ratio(line) == pytest.approx(1, abs=1e-10)
    for d in (2, 5):
        axes = np.vstack([rotation(d), -rotation(d)])
        assert isotropy.effective_rank(axes) == pytest.approx(d, abs=1e-10)
        assert isotropy.participation_ratio(axes) == pytest.approx(d, abs=1e-10)


def test_both_counts_equal_their_formulas(cloud):
    x = cloud(mean=0.4)
    s, values = np.linalg.svd(x, compute_uv=False), np.linalg.eigvalsh(np.cov(x.T))
    p = s / s.sum()
    assert isotropy.effective_rank(x) == pytest.approx(np.exp(-(p * np.log(p)).sum()), rel=1e-12)
    assert isotropy.participation_ratio(x) == pytest.approx(values.sum()**2 / (values**2).sum(),
                                                            rel=1e-12)


def test_undefined_figures_are_0():
    zeros, equal = np.zeros((4, 3)), np.full((5, 3), 0.1)
    assert isotropy.top_share(zeros) == isotropy.effective_rank(
        zeros) == isotropy.participation_ratio(zeros) == 0
    assert isotropy.singular_spectrum(zeros).tolist() == [0, 0, 0]
    assert isotropy.participation_ratio(equal) == isotropy.top_share(equal, centred=True) == 0
    assert isotropy.top_share(equal) == pytest.approx(1, abs=1e-12)
