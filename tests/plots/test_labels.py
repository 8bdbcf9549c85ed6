"""Labels that do not cover each other, and numbers in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.plots.labels import bytes_text, count_text, quiet_places, rate_text, spread

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
    result = quiet_places(centres, [40.0] * len(centres), centres, frame, height=12)
    apart = (np.abs(result[:, None] - result) >= np.array([40, 12]) - 1e-9).any(axis=2)
    assert apart[~np.eye(len(result), dtype=bool)].all()
    assert (result >= frame[0] + [20, 6]).all() and (result <= frame[1] - [20, 6]).all()


def test_a_quiet_place_lies_beside_the_marks():
    marks = np.random.default_rng(0).normal(0, 10, size=(60, 2))
    frame = np.array([[-200.0, -200.0], [200.0, 200.0]])
    (place,) = quiet_places(np.zeros((1, 2)), [60.0], marks, frame, height=16)
    covered = (np.abs(marks - place) < [30, 8]).all(axis=1).sum()
    assert covered <= 1 and np.abs(place).max() < 80


@pytest.mark.parametrize(("form", "n", "text"), [
    (bytes_text, 0, "0 B"), (bytes_text, 999, "999 B"), (bytes_text, 1000, "1 kB"),
    (bytes_text, 999_600, "1 MB"), (bytes_text, 80e9, "80 GB"), (bytes_text, 5e15, "5e+03 TB"),
    (count_text, 0, "0"), (count_text, 950, "950"), (count_text, 12_345, "12.3 k"),
    (count_text, 999_700, "1 M"), (count_text, 3.4e6, "3.4 M"), (count_text, 2e9, "2 G"),
    (rate_text, 989.5e12, "990 TFLOP/s"), (rate_text, 1e12, "1 TFLOP/s"),
    (rate_text, 57.7e9, "58 GFLOP/s"), (rate_text, 3e8, "300 MFLOP/s")])
def test_numbers_are_written_as_people_say_them(form, n, text):
    assert form(n) == text
