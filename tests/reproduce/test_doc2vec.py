"""The entry about film reviews: its error is that of a linear classifier, and the order of the models holds at the smallest scale."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.reproduce import entries, run
from lessons_lib.reproduce.doc2vec import probe_error


def test_the_error_is_0_where_a_line_separates_and_50_where_nothing_does():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    x = rng.normal(size=(400, 3))
    assert probe_error(x + 20 * y[:, None], x + 20 * y[:, None], (y, y)) == 0
    assert 40 < probe_error(x, rng.normal(size=(400, 3)), (y, y)) < 60


def test_the_scale_of_a_column_does_not_matter():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=300)
    x = rng.normal(size=(300, 4)) + y[:, None]
    stretched = x * [1, 1000, 1, 0.01]
    assert probe_error(x[:200], x[200:], (y[:200], y[200:])) == pytest.approx(probe_error(stretched[:200], stretched[200:], (y[:200], y[200:])))


@pytest.mark.slow
@pytest.mark.data
def test_the_order_of_the_models_holds_at_the_smallest_scale(tmp_path, lessons_data):
    outcome = run(entries()["le2014_imdb"], scale="smoke", folder=tmp_path)
    assert outcome.verdicts["PV-DBOW has a lower error than PV-DM with the mean"], outcome.measured
    assert all(0 < y < 60 for points in outcome.measured.values() for y in points.values())
