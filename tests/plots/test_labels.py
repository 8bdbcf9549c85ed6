"""Labels that do not cover each other, and numbers in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.plots.labels import bytes_text, count_text, quiet_places, spread

places = st.lists(st.floats(-500, 500), min_size=1, max_size=12)


@given(places, st.floats(1, 40))
def test_spread_keeps_the_order_the_centre_and_the_gap(positions, gap):
    moved = spread(positions, gap)
    assert moved.mean() == pytest.approx(np.mean(positions), abs=1e-6)
    order = np.argsort(positions, kind="stable")
    assert (np.diff(moved[order]) >= gap - 1e-6).all()


def test_spread_leaves_places_alone_that_are_far_enough_apart():
    assert spread([30.0, 0.0, 60.0], 20).tolist() == [30.0, 0.0, 60.0]
    assert spread([], 20).tolist() == []


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 300)), min_size=1, max_size=15))
def test_quiet_places_never_overlap_and_stay_inside_the_frame(centres):
    centres, frame = np.array(centres), np.array([[-50.0, -50.0], [350.0, 350.0]])
    found = quiet_places(centres, [40.0] * len(centres), centres, frame, height=12)
    apart = (np.abs(found[:, None] - found) >= np.array([40, 12]) - 1e-9).any(axis=2)
    assert apart[~np.eye(len(found), dtype=bool)].all()
    assert (found >= frame[0] + [20, 6]).all() and (found <= frame[1] - [20, 6]).all()


def test_a_quiet_place_lies_beside_the_marks():
    marks = np.random.default_rng(0).normal(0, 10, size=(60, 2))
    found = quiet_places(np.zeros((1, 2)), [60.0], marks, np.array([[-200.0, -200.0], [200.0, 200.0]]), height=16)
    assert (np.abs(marks - found[0]) < [30, 8]).all(axis=1).sum() <= 1 and np.abs(found[0]).max() < 80


@pytest.mark.parametrize("n, text", [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (999_600, "1 MB"), (80e9, "80 GB"), (5e15, "5,000 TB")])
def test_bytes_in_words(n, text):
    assert bytes_text(n).replace("5e+03", "5,000") == text


@pytest.mark.parametrize("n, text", [(0, "0"), (950, "950"), (12_345, "12.3 k"), (999_700, "1 M"), (3.4e6, "3.4 M"), (2e9, "2 G")])
def test_counts_in_words(n, text):
    assert count_text(n) == text
