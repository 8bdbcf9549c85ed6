"""The machine for a class: the rule follows from the committed measurement."""

from __future__ import annotations

import pytest

from lessons_lib.classroom.hub import Measured, measure, measured, room_for, rule_of, write_measured
from lessons_lib.core import DamagedFile

MADE_UP = Measured(100, {"simcse": 1400, "word2vec": 600}, {"word2vec": 900, "simcse": 1500}, 1400,
                   "laptop", "2026-01-01", "a machine")


def test_the_committed_measurement_is_of_both_lessons_at_the_scale_of_a_class():
    found = measured()
    assert set(found.after_mb) == {"word2vec", "simcse"} and found.scale == "laptop"
    assert found.server_mb < found.after_mb["word2vec"] < found.together_mb <= max(
        found.peak_mb.values()) < 5000


@pytest.mark.parametrize("students, memory, one, cores", [(1, 3, 3, 1), (2, 4, 3, 1),
                                                          (30, 43, 28, 15)])
def test_there_is_room_for_all_lessons_of_all_students_or_for_one_each(
        students, memory, one, cores):
    room = room_for(students, MADE_UP)
    assert (room.memory_gb, room.one_gb, room.cores, room.limit_gb) == (memory, one, cores, 2.0)
    assert room.memory_gb * 1000 >= students * MADE_UP.together_mb
    assert room.limit_gb * 1000 >= 1.25 * 1500


def test_the_rule_is_told_with_what_was_measured_and_what_was_not():
    limit, memory, cores = rule_of(30, MADE_UP)
    assert "1.25 x 1,500 MB" in limit and "= 2 GB" in limit
    assert "30 x 1,400 MB" in memory and "30 x 900 MB" in memory
    assert "30 x 0.5" in cores and "not measured" in cores
    assert [lesson for lesson, _, _ in MADE_UP.in_order()] == ["word2vec", "simcse"]
    assert MADE_UP.largest_mb == 100 + 800


def test_a_measurement_comes_back_as_it_was_kept(tmp_path):
    assert measured(write_measured(MADE_UP, tmp_path / "hub.json")) == MADE_UP
    (tmp_path / "other.json").write_text('{"server": 3}')
    with pytest.raises(DamagedFile, match="python -m lessons_lib hub measure --keep"):
        measured(tmp_path / "other.json")


@pytest.mark.slow
def test_a_lesson_that_ran_and_stays_open_takes_memory():
    told = []
    found = measure(["one_hot"], scale="smoke", on_step=told.append)
    assert told == ["01_one_hot at smoke scale"] and found.scale == "smoke"
    assert 50 < found.server_mb < found.after_mb["one_hot"] - 50
    assert found.after_mb["one_hot"] <= 1.05 * found.peak_mb["one_hot"]
