"""Figures of a word table: against sums over all pairs, and on tables whose shape is known."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.contextual import table_statistics
from lessons_lib.contextual.statistics import sampled_pieces, table_frame


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(60, 8)) + 0.5


def test_mean_cosine_is_that_of_all_pairs(table):
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    pairs = (unit @ unit.T)[np.triu_indices(60, 1)]
    assert table_statistics(table, np.arange(5, 65))["mean_cosine"] == pytest.approx(
        pairs.mean(), abs=1e-12)


def test_shares_are_squared_singular_values(table):
    spectrum = np.linalg.svd(table, compute_uv=False) ** 2
    assert table_statistics(table, np.arange(5, 65))["shares"] == pytest.approx(
        spectrum[:5] / spectrum.sum(), abs=1e-12)


def test_a_table_whose_lengths_are_log_frequencies_is_perfectly_correlated():
    counts = np.arange(5, 65)
    rows = np.random.default_rng(0).normal(size=(60, 8))
    rows *= (10 - np.log(counts) / np.linalg.norm(rows, axis=1)**0)[:, None] / np.linalg.norm(
        rows, axis=1)[:, None]
    assert table_statistics(rows, counts)["norm_frequency"] == pytest.approx(-1.0, abs=1e-9)


def test_rare_pieces_are_left_out(table):
    counts = np.arange(5, 65)
    more, known = np.vstack([table, 1000 * np.ones((3, 8))]), np.concatenate([counts, [0, 1, 4]])
    assert table_statistics(more, known) == table_statistics(table, counts)


def test_a_frame_holds_two_coordinates_and_the_length(table):
    counts = np.arange(5, 65)
    pieces = sampled_pieces(counts, 20)
    frame = table_frame(table, counts, pieces)
    assert frame.shape == (20, 3) and frame[:, 0].sum() > 0
    assert frame[:, 2] == pytest.approx(np.linalg.norm(table[pieces], axis=1), rel=1e-6)
    axes = np.linalg.svd(table)[2][:2].T
    assert np.abs(frame[:, :2]) == pytest.approx(np.abs(table[pieces] @ axes), abs=1e-5)


def test_the_sample_is_spread_over_ranks_and_repeats():
    counts = np.random.default_rng(1).integers(0, 10_000, 3000)
    pieces = sampled_pieces(counts, 100)
    assert len(set(pieces.tolist())) == 100 and (np.diff(counts[pieces]) <= 0).all()
    assert counts[pieces].min() >= 5
    assert np.array_equal(pieces, sampled_pieces(counts, 100))


def test_wrong_counts_are_refused(table):
    with pytest.raises(ValueError, match="counts has 3 entries"):
        table_statistics(table, np.arange(3))
    with pytest.raises(ValueError, match="expected >= 2"):
        table_statistics(table, np.zeros(60, int))


def test_a_table_of_zeros_has_finite_figures_and_counts_may_be_a_list():
    found = table_statistics(np.zeros((10, 4)), [9] * 10)
    assert found["shares"] == [0.0] * 4
    assert found["mean_norm"] == found["mean_cosine"] == found["norm_frequency"] == 0.0
