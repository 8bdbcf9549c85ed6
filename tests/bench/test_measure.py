"""The benchmark's own honesty: no speed without equal results, medians, and tables that keep what they do not replace."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from functools import partial
from types import SimpleNamespace

import pytest
import typer

from lessons_lib import bench, cli
from lessons_lib.bench.measure import Case, Row, measure, race


def case(ours, theirs, **changes):
    fields = dict(group="toy", name="sum", peer="slow sum", ours=ours, theirs=theirs, equal=lambda a, b: a == b, items=3, unit="numbers", goal=2.0,
                  gate="equal sums")
    return Case(**(fields | changes))


def test_a_race_with_different_results_is_refused():
    with pytest.raises(ValueError, match="toy/sum: the results differ from those of slow sum; the gate was: equal sums"):
        measure(case(lambda: 1, lambda: 2))


def test_random_results_are_judged_over_the_seeds_of_the_timed_runs():
    prepared, judged = [], []

    def side(name):
        return lambda seed: prepared.append((name, seed)) or (lambda: (name, seed))

    row = measure(case(side("ours"), side("peer"), seeded=True, equal=lambda a, b: judged.append((a, b)) or True), repeats=2)
    assert prepared == [("ours", 0), ("ours", 0), ("peer", 0), ("ours", 1), ("peer", 1)]
    assert judged == [([("ours", 0), ("ours", 1)], [("peer", 0), ("peer", 1)])] and row.value is not None


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


def test_inputs_made_before_the_work_do_not_count():
    """20 MB of inputs and 60 MB of work: only the work is seen; the peer beside it is measured in the same way."""
    found = bench.measure_memory("toy", "bytes", "lessons_lib.bench.memory:_hold_after_inputs", 60_000_000, goal_mb=90, prepared=True, unit="bytes",
                                 peer="without preparing", peer_function="lessons_lib.bench.memory:_hold_after_inputs")
    assert 55 < found.value < 90 and found.extra_mb == found.value and 55 < found.peer_extra_mb < 90 and found.item_unit == "bytes"


def test_memory_is_measured_in_a_run_of_its_own():
    runs = []
    row = measure(case(lambda: runs.append("ours"), lambda: runs.append("peer"), memory=True), repeats=1)
    assert runs == ["ours", "peer"] * 3                     # warm-up, memory, time
    assert row.extra_mb >= 0 and row.peer_extra_mb >= 0


def test_the_floor_is_set_against_our_median(monkeypatch):
    clock = iter([0.0, 4.0, 0.0, 1.0])
    monkeypatch.setattr("lessons_lib.bench.measure.time.perf_counter", lambda: next(clock))
    row = measure(case(lambda: 0, lambda: 0, work=bench.Work(10, 1)), repeats=1, ceilings=bench.Ceilings(1.0, {"float32": 5.0}))
    assert row.floor_seconds == 2.0 and row.of_floor == 0.5


def test_short_work_runs_more_often_until_enough_seconds_are_measured(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr("lessons_lib.bench.measure.time.perf_counter", lambda: next(clock))
    runs = []
    measure(case(lambda: runs.append("ours"), lambda: None), repeats=2, at_least=11)
    assert len(runs) == 1 + 6                               # each run takes a second by this clock; both sides count
    runs.clear()
    measure(case(lambda: runs.append("ours"), lambda: None), repeats=2, at_least=1e9)
    assert len(runs) == 1 + 100


def test_the_spread_of_both_sides_is_kept(monkeypatch):
    clock = iter([0.0, 1.0, 0.0, 4.0, 0.0, 2.0, 0.0, 5.0, 0.0, 3.0, 0.0, 6.0])
    monkeypatch.setattr("lessons_lib.bench.measure.time.perf_counter", lambda: next(clock))
    row = measure(case(lambda: 0, lambda: 0), repeats=3)
    assert (row.ours_low, row.ours_seconds, row.ours_high, row.peer_low, row.peer_seconds, row.peer_high) == (1, 2, 3, 4, 5, 6)


def test_groups_of_the_gpu_have_a_table_of_their_own(tmp_path):
    paths = bench.write_by_kind([row("kernels", 1.0), row("kernels-gpu", 2.0), row("blocks-gpu", 3.0)], folder=tmp_path)
    assert [path.name for path in paths] == ["cpu.csv", "gpu.csv"]
    assert [r["group"] for r in bench.read("gpu", folder=tmp_path)] == ["kernels-gpu", "blocks-gpu"]
    assert {"driver", "versions", "date", "device"} <= set(json.loads((tmp_path / "gpu.json").read_text("utf-8")))


def test_a_table_written_before_columns_were_added_keeps_its_rows(tmp_path):
    (tmp_path / "cpu.csv").write_text("group,name,value,device,date\nold,x,1.0,a machine,2026-01-01\n", "utf-8")
    bench.write([row("new", 2.0)], folder=tmp_path)
    found = bench.read(folder=tmp_path)
    assert [(r["group"], r["value"], r["note"]) for r in found] == [("old", "1.0", ""), ("new", "2.0", "")]


def test_the_kernels_take_the_gpu_along_and_block_sizes_are_tried_only_when_named(monkeypatch):
    ran = []

    def module(group):
        def rows(**options):
            ran.append((group, "repeats" in options))
            return iter(())

        return SimpleNamespace(rows=rows)

    monkeypatch.setattr("lessons_lib.bench.suite._module", module)
    list(bench.run())
    assert ran == [("counts", True), ("topics", True), ("words", True), ("sentences", True), ("contextual", True), ("isotropy", True),
                   ("contrastive", True), ("kernels", True), ("kernels-gpu", False)]
    ran.clear()
    list(bench.run(["kernels-gpu", "blocks-gpu"]))
    assert ran == [("kernels-gpu", False), ("blocks-gpu", False)]


def test_the_command_line_shows_only_columns_that_are_filled(capsys, monkeypatch):
    monkeypatch.setattr("lessons_lib.bench.suite._wanted", lambda names: ["kernels"])
    made = Row("kernels", "pool", "", 0.5, "ms", "<= 1 ms", True, 0.0005, of_floor=0.25, extra_mb=3.0)
    skipped = Row("kernels", "pool", "KeOps", None, "", ">= 5", None, note="skipped: pykeops is not installed")
    monkeypatch.setattr("lessons_lib.bench.suite._module", lambda name: SimpleNamespace(rows=lambda **options: iter([made, skipped])))
    cli.bench(["kernels"], repeats=1, keep=False, only="")
    shown = capsys.readouterr().out
    assert "25%" in shown and "0.5 ms" in shown and "yes" in shown and "skipped: pykeops is not" in shown and "NO" not in shown
    monkeypatch.setattr("lessons_lib.bench.suite._module", lambda name: SimpleNamespace(rows=lambda **options: iter([skipped])))
    cli.bench(["kernels"], repeats=1, keep=False, only="")
    assert "of floor" not in capsys.readouterr().out


def test_a_case_with_different_results_gets_no_figure_and_the_others_go_on(monkeypatch, capsys):
    told = []
    found = list(race([case(lambda: 1, lambda: 2), case(lambda: 1, lambda: 1, name="same")], repeats=1, tell=told.append))
    assert [r.value is None for r in found] == [True, False] and found[0].met is False and found[0].note == "no figure: the results differ"
    assert any("the gate was: equal sums" in text for text in told)
    monkeypatch.setattr("lessons_lib.bench.suite._module", lambda name: SimpleNamespace(rows=lambda **options: iter(found)))
    with pytest.raises(typer.Exit):
        cli.bench(["kernels"], repeats=1, keep=False, only="")
    assert "the results differ" in capsys.readouterr().out


def test_each_row_is_kept_when_it_is_measured_and_stale_ones_go_when_the_group_is_through(monkeypatch, tmp_path):
    old = [dataclasses.replace(row("kernels", 1.0), name=name) for name in ("a", "gone")]
    fresh = [dataclasses.replace(row("kernels", value), name=name) for name, value in (("a", 2.0), ("b", 3.0))]
    bench.write(old, folder=tmp_path)

    def cut_off(**options):
        yield fresh[0]
        raise KeyboardInterrupt

    monkeypatch.setattr("lessons_lib.bench.write_by_kind", partial(bench.write_by_kind, folder=tmp_path))
    monkeypatch.setattr("lessons_lib.cli.PROJECT", tmp_path)
    for rows, only, expected in ((cut_off, "", {"gone": 1.0, "a": 2.0}), (lambda **options: iter(fresh[1:]), "b", {"gone": 1.0, "a": 2.0, "b": 3.0}),
                                 (lambda **options: iter(fresh), "", {"a": 2.0, "b": 3.0})):
        monkeypatch.setattr("lessons_lib.bench.suite._module", lambda name, rows=rows: SimpleNamespace(rows=rows))
        with contextlib.suppress(KeyboardInterrupt):
            cli.bench(["kernels"], repeats=1, keep=True, only=only)
        assert {r["name"]: float(r["value"]) for r in bench.read(folder=tmp_path)} == expected
