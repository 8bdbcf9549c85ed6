"""The benchmark's own honesty: no speed without equal results, medians, and tables that keep what they do not replace."""

from __future__ import annotations

import pytest

from lessons_lib import bench
from lessons_lib.bench.measure import Case, Row, measure


def case(ours, theirs, **changes):
    fields = dict(group="toy", name="sum", peer="slow sum", ours=ours, theirs=theirs, equal=lambda a, b: a == b, items=3, unit="numbers", goal=2.0,
                  gate="equal sums")
    return Case(**(fields | changes))


def test_a_race_with_different_results_is_refused():
    with pytest.raises(ValueError, match="toy/sum: the results differ from those of slow sum; the gate was: equal sums"):
        measure(case(lambda: 1, lambda: 2))


def test_both_sides_run_in_turn_and_equally_often():
    order = []
    measure(case(lambda: order.append("ours"), lambda: order.append("peer")), repeats=3)
    assert order == ["ours", "peer"] * 4                    # one warm-up and three runs each


def test_the_ratio_is_the_peer_s_seconds_over_ours(monkeypatch):
    clock = iter([0.0, 1.0, 0.0, 3.0] * 3)
    monkeypatch.setattr("lessons_lib.bench.measure.time.perf_counter", lambda: next(clock))
    row = measure(case(lambda: 0, lambda: 0), repeats=3)
    assert row.value == 3.0 and row.met and row.ours_seconds == 1.0 and row.peer_seconds == 3.0


def row(group: str, value: float) -> Row:
    return Row(group, "x", "y", value, "times faster", ">= 1", True)


def test_a_new_run_of_a_group_replaces_its_rows_and_keeps_the_others(tmp_path):
    bench.write([row("a", 1.0), row("b", 2.0)], folder=tmp_path)
    bench.write([row("b", 5.0)], folder=tmp_path)
    assert [(r["group"], float(r["value"])) for r in bench.read(folder=tmp_path)] == [("a", 1.0), ("b", 5.0)]
    assert all(r["device"] and r["date"] for r in bench.read(folder=tmp_path))
    assert bench.read("gpu", folder=tmp_path) == []


def test_P27_an_unknown_group_names_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'counts'"):
        list(bench.run(["count"]))


def test_memory_is_that_of_the_work_and_not_of_python():
    """A function of the standard library that returns n bytes: the peak lies near n."""
    found = bench.measure_memory("toy", "bytes", "lessons_lib.bench.memory:_hold", 60_000_000, goal_mb=90)
    assert found.met and 55 < found.value < 90
    assert not bench.measure_memory("toy", "bytes", "lessons_lib.bench.memory:_hold", 60_000_000, goal_mb=10).met
