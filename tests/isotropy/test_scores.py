"""IsoScore against its printed steps and its known values; the partition function against hand
calculations.
"""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib import isotropy


def printed_steps(x):
    """The steps of Rudman et al. 2022, one after the other."""
    d = x.shape[1]
    variances = np.linalg.eigvalsh(np.cov(x.T))
    normalised = np.sqrt(d) * variances / np.linalg.norm(variances)
    defect = np.linalg.norm(normalised - 1) / np.sqrt(2 * (d - np.sqrt(d)))
    return ((d - defect**2 * (d - np.sqrt(d))) ** 2 - d) / (d * (d - 1))


def test_isoscore_equals_its_printed_steps(cloud):
    for seed in range(5):
        x = cloud(50, 6, seed=seed) * np.random.default_rng(seed).uniform(0.1, 3, size=6) + 4
        assert isotropy.isoscore(x) == pytest.approx(printed_steps(x), abs=1e-12)


def test_isoscore_is_1_for_an_isotropic_cloud_and_0_for_a_line(rotation, cloud):
    for d in (2, 3, 10):
        axes = rotation(d)
        assert isotropy.isoscore(np.vstack([axes, -axes])) == pytest.approx(1, abs=1e-10)
        assert isotropy.isoscore(np.outer(np.arange(5.0), axes[0]) + 3) == pytest.approx(
            0, abs=1e-10)
    assert isotropy.isoscore(cloud(20_000, 5)) > 0.995


def test_isoscore_says_how_many_of_the_dimensions_are_used(rotation):
    for k in (1, 3, 7):
        axes = rotation(8)[:k]
        assert isotropy.isoscore(np.vstack([axes, -axes])) == pytest.approx((k - 1) / 7, abs=1e-10)


def test_isoscore_does_not_see_shift_rotation_or_unit(cloud, rotation):
    x = cloud() * np.arange(1, 9)
    assert isotropy.isoscore(7 * x @ rotation() + 50) == pytest.approx(
        isotropy.isoscore(x), abs=1e-10)


def test_isoscore_wants_two_different_rows_and_two_columns():
    with pytest.raises(ValueError, match="4 equal rows; expected >= 2 different"):
        isotropy.isoscore(np.full((4, 3), 0.1))
    with pytest.raises(ValueError, match="expected >= 2 columns"):
        isotropy.isoscore(np.ones((4, 1)))


def test_partition_isotropy_equals_its_formula(cloud):
    x = cloud(30, 5, mean=0.3) * [1, 1.1, 1.2, 1.3, 1.4]
    axes = np.linalg.eigh(x.T @ x)[1].T
    z = np.exp(np.vstack([axes, -axes]) @ x.T).sum(axis=1)
    assert isotropy.partition_isotropy(x) == pytest.approx(z.min() / z.max(), rel=1e-10)


def test_partition_isotropy_of_one_number_and_of_a_symmetric_pair():
    assert isotropy.partition_isotropy([[2.0]]) == pytest.approx(np.exp(-4), rel=1e-12)
    assert isotropy.partition_isotropy([[3.0], [-3.0]]) == pytest.approx(1, abs=1e-12)
    # e^-.5, 1 and 1 (no row there), e^.5
    with_room = isotropy.partition_isotropy([[0.5, 0.0, 0.0]])
    assert with_room == pytest.approx(np.exp(-1), rel=1e-12)
    assert isotropy.partition_isotropy([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]]) == pytest.approx(
        1 / np.cosh(0.5), rel=1e-12)
    assert isotropy.partition_isotropy([[1.0, 0.0], [-1.0, 0.0]]) == pytest.approx(
        2 / (np.e + 1 / np.e), rel=1e-12)


def test_partition_isotropy_is_near_1_for_a_gaussian_and_falls_with_a_common_mean(cloud):
    values = [isotropy.partition_isotropy(cloud(20_000, 5, mean=m)) for m in (0.0, 0.3, 1.0)]
    assert values[0] > 0.9 and values[0] > values[1] > values[2] and values[2] < 0.05


def test_V04_long_vectors_underflow_to_0_and_never_to_nan(cloud):
    assert isotropy.partition_isotropy(1e200 * cloud(mean=1.0)) == 0.0
    assert isotropy.partition_isotropy(1e-320 * cloud(mean=1.0)) == pytest.approx(1, abs=1e-12)


def test_V23_blocks_give_the_figures_of_the_whole(cloud, request):
    x = cloud(200, 5, mean=0.2)
    whole = isotropy.isoscore(x), isotropy.partition_isotropy(x)
    request.getfixturevalue("small_blocks")
    assert (isotropy.isoscore(x), isotropy.partition_isotropy(x)) == pytest.approx(whole, rel=1e-11)
