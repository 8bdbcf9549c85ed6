"""Singular values read in blocks are those of the whole; shares and counts of directions, IsoScore
and partition function where they are known by hand.
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
    x = cloud(200, 5)                        # a far away mean does not spoil centred values
    assert isotropy.singular_values(x + 1e6, centred=True) == pytest.approx(
        isotropy.singular_values(x, centred=True), rel=1e-8)


def test_small_singular_values_keep_their_digits():
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 3)))[0]
    values = isotropy.singular_values(turn * [1.0, 1e-6, 1e-12])
    # through XᵀX the last one would be 1e-8 or 0
    assert values == pytest.approx([1.0, 1e-6, 1e-12], rel=1e-3)


def test_the_ratio_of_truncated_svd_is_another_number_and_that_of_pca_the_centred_one(cloud):
    x = cloud(300, 10, mean=2.0)
    squares = np.linalg.svd(x, compute_uv=False) ** 2
    assert 0.7 < isotropy.top_share(x) == pytest.approx(squares[0] / squares.sum(), abs=1e-12)
    assert TruncatedSVD(2, random_state=0).fit(x).explained_variance_ratio_[0] < 0.2
    assert isotropy.top_share(x, centred=True) == pytest.approx(
        PCA(1).fit(x).explained_variance_ratio_[0], abs=1e-10)


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
    for figure in (isotropy.top_share, isotropy.effective_rank, isotropy.participation_ratio):
        assert figure(zeros) == 0
    assert isotropy.singular_spectrum(zeros).tolist() == [0, 0, 0]
    assert isotropy.participation_ratio(equal) == isotropy.top_share(equal, centred=True) == 0
    assert isotropy.top_share(equal) == pytest.approx(1, abs=1e-12)


# ------------------------------------------------------------------------------ scores


def test_isoscore_equals_its_printed_steps_and_sees_no_shift_rotation_or_unit(cloud, rotation):
    for seed in range(5):
        x = cloud(50, 8, seed=seed) * np.random.default_rng(seed).uniform(0.1, 3, size=8) + 4
        printed = printed_steps(x)
        assert isotropy.isoscore(x) == pytest.approx(printed, abs=1e-12)
        assert isotropy.isoscore(7 * x @ rotation() + 50) == pytest.approx(printed, abs=1e-10)


def test_isoscore_says_how_many_of_the_dimensions_are_used(rotation, cloud):
    for d, k in ((2, 2), (10, 10), (8, 1), (8, 3), (8, 7)):
        axes = rotation(d)[:k]
        assert isotropy.isoscore(np.vstack([axes, -axes])) == pytest.approx((k - 1) / (d - 1),
                                                                            abs=1e-10)
        line = np.outer(np.arange(5.0), axes[0]) + 3
        assert isotropy.isoscore(line) == pytest.approx(0, abs=1e-10)
    assert isotropy.isoscore(cloud(20_000, 5)) > 0.995


def printed_steps(x):
    """The steps of Rudman et al. 2022, one after the other."""
    d = x.shape[1]
    variances = np.linalg.eigvalsh(np.cov(x.T))
    normalised = np.sqrt(d) * variances / np.linalg.norm(variances)
    defect = np.linalg.norm(normalised - 1) / np.sqrt(2 * (d - np.sqrt(d)))
    return ((d - defect**2 * (d - np.sqrt(d))) ** 2 - d) / (d * (d - 1))


def test_partition_isotropy_equals_its_formula(cloud):
    x = cloud(30, 5, mean=0.3) * [1, 1.1, 1.2, 1.3, 1.4]
    axes = np.linalg.eigh(x.T @ x)[1].T
    z = np.exp(np.vstack([axes, -axes]) @ x.T).sum(axis=1)
    assert isotropy.partition_isotropy(x) == pytest.approx(z.min() / z.max(), rel=1e-10)


@pytest.mark.parametrize(("x", "expected"), [
    ([[2.0]], np.exp(-4)), ([[3.0], [-3.0]], 1), ([[0.5, 0.0, 0.0]], np.exp(-1)),
    ([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]], 1 / np.cosh(0.5)),
    ([[1.0, 0.0], [-1.0, 0.0]], 2 / (np.e + 1 / np.e))])
def test_partition_isotropy_of_few_vectors_by_hand(x, expected):
    assert isotropy.partition_isotropy(x) == pytest.approx(expected, rel=1e-12)


def test_partition_isotropy_falls_with_a_common_mean_and_underflows_to_0_never_to_nan(cloud):
    values = [isotropy.partition_isotropy(cloud(20_000, 5, mean=m)) for m in (0.0, 0.3, 1.0)]
    assert values[0] > 0.9 and values[0] > values[1] > values[2] and values[2] < 0.05
    assert isotropy.partition_isotropy(1e200 * cloud(mean=1.0)) == 0.0                       # V04
    assert isotropy.partition_isotropy(1e-320 * cloud(mean=1.0)) == pytest.approx(1, abs=1e-12)
