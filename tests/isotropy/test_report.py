"""All figures of one table: each the one of its own function, and what they say about clouds that
are known.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from lessons_lib import isotropy


def test_every_figure_is_that_of_its_own_function(cloud):
    x = cloud(80, 6, mean=0.4)
    found, rogue = isotropy.anisotropy(x), isotropy.rogue_dimensions(x)
    expected = {
        "n": 80, "dim": 6, "mean_cosine": rogue.mean_cosine, "standardised": rogue.standardised,
        "top_share": isotropy.top_share(x), "angle": isotropy.cone_angle(x),
        "effective_rank": isotropy.effective_rank(x), "isoscore": isotropy.isoscore(x),
        "partition": isotropy.partition_isotropy(x), "rogue_share": rogue.shares.sum(),
        "mean_norm": np.linalg.norm(x, axis=1).mean(), "norm_frequency": None
    }
    assert asdict(found) == {name: pytest.approx(value, abs=1e-12) if value is not None else None
                             for name, value in expected.items()}


def test_counts_choose_the_rows_of_every_figure(cloud):
    x, counts = cloud(80, 6, mean=0.4), np.arange(1, 81)
    more = np.vstack([100 * cloud(3, 6, seed=5), x, -50 * np.ones((2, 6))])
    found = isotropy.anisotropy(more, counts=np.concatenate([[999] * 3, counts, [0, 0]]),
                                exclude=[0, 1, 2])
    alone = isotropy.anisotropy(x[::-1], counts=counts[::-1])
    assert asdict(found) == {name: pytest.approx(value, abs=1e-10)
                             for name, value in asdict(alone).items()} and found.n == 80
    assert found.norm_frequency == pytest.approx(
        np.corrcoef(np.linalg.norm(x, axis=1), np.log(counts))[0, 1], abs=1e-12)


def test_an_isotropic_cloud_and_a_cone_differ_in_every_figure(cloud):
    even, narrow = (isotropy.anisotropy(cloud(3000, 10, mean=m)) for m in (0.0, 3.0))
    assert abs(even.mean_cosine) < 0.01 < 0.85 < narrow.mean_cosine
    assert even.top_share < 0.12 and narrow.top_share > 0.85
    assert even.angle > 80 and narrow.angle < 30
    assert even.effective_rank > 9.9 and narrow.effective_rank < 8
    assert even.partition > 0.8 and narrow.partition < 0.01
    # which looks at the spread around the mean alone
    assert even.isoscore > 0.98 and narrow.isoscore > 0.98
    assert abs(narrow.standardised) < 0.01
