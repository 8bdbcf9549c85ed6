"""The entries about the flow: what is taken away is gone, what is printed is the paper's, and a run measures every row."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.reproduce import entries, run
from lessons_lib.reproduce.flow import nulled


def test_nothing_is_left_along_the_directions_that_are_taken_away_and_the_rest_stays():
    x = np.random.default_rng(0).normal(size=(30, 5)) + 2
    axes = np.linalg.svd(x)[2]
    found = nulled(x, x, 2)
    assert np.allclose(found @ axes[:2].T, 0) and np.allclose(found @ axes[2:].T, x @ axes[2:].T)
    assert np.allclose(nulled(x, x, 0), x)


def test_the_papers_flow_is_better_than_its_other_calibrations_and_less_about_spelling():
    printed = {name: entries()[name].printed for name in ("li2020_calibration", "li2020_lexical")}
    for name, rows in printed.items():
        full = {row: dict(values) for row, values in rows.items()}
        assert all(claim.holds(full) for claim in entries()[name].claims), name


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["li2020_calibration", "li2020_lexical"])
def test_every_row_is_measured_for_the_model_and_for_its_control(name, tmp_path, lessons_data):
    outcome = run(entries()[name], scale="smoke", folder=tmp_path)
    assert set(entries()[name].printed) <= set(outcome.measured)
    assert all(-100 <= y <= 100 for points in outcome.measured.values() for y in points.values())
    for row, values in outcome.measured.items():
        if f"{row}, untrained" in outcome.measured:
            assert set(values) == set(outcome.measured[f"{row}, untrained"])
