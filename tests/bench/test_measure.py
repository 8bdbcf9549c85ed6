"""The benchmark's own honesty: no speed without equal results, medians, tables that keep what they
do not replace."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import typer

from lessons_lib import bench, cli
from lessons_lib.bench import ceilings
from lessons_lib.bench.gates import agree, neighbour_error, relative_error
from lessons_lib.bench.measure import (Case, Row, Verdict, fixed_threads, measure, measure_memory,
                                       race)


def case(ours, theirs, **changes):
    fields = dict(group="toy", name="sum", peer="slow sum", ours=ours, theirs=theirs,
                  equal=lambda a, b: a == b, items=3, unit="numbers", goal=2.0, gate="equal sums")
    return Case(**(fields | changes))


def noting(runs):
    """A race that notes which side runs."""
    return case(lambda: runs.append("ours"), lambda: runs.append("peer"))


@pytest.fixture
def clock(monkeypatch):
    """Replaces the clock by one that shows given seconds."""
    def shows(seconds):
        times = iter(seconds)
        monkeypatch.setattr("lessons_lib.bench.measure.time.perf_counter", lambda: next(times))
    return shows


@pytest.fixture
def group(monkeypatch):
    """Lets a group yield given rows."""
    def is_given(rows):
        module = SimpleNamespace(races=lambda **options: rows())
        monkeypatch.setattr("lessons_lib.bench.suite._module", lambda name: module)
    return is_given


def lessons_bench(*, keep=False, only=""):
    """The command, for that group."""
    cli.bench(["contrastive"], repeats=1, keep=keep, only=only)


def test_a_race_with_different_results_gets_no_figure_but_its_scores_and_the_others_go_on(
        group, capsys):
    told, verdict = [], Verdict(False, "WordSim 1.0", "WordSim 60.0")
    unequal = case(lambda: 1, lambda: 1, equal=lambda a, b: verdict)
    rows = list(race([unequal, case(lambda: 1, lambda: 2), case(lambda: 1, lambda: 1)], repeats=1,
                     tell=told.append))
    assert [r.value is None for r in rows] == [True, True, False]
    assert [r.met is False for r in rows[:2]] == [True, True]
    assert {r.note for r in rows[:2]} == {"no figure: the results differ"}
    assert (rows[0].quality, rows[0].peer_quality) == ("WordSim 1.0", "WordSim 60.0")
    assert any("the gate was: equal sums\nours WordSim 1.0; theirs WordSim 60.0" in text
               for text in told)
    group(lambda: iter(rows))
    with pytest.raises(typer.Exit):
        lessons_bench()
    assert "the results differ" in capsys.readouterr().out


@pytest.mark.parametrize(("runs", "repeats"), [(None, 2), (2, 1)])
def test_random_results_are_judged_over_the_seeds_of_the_timed_runs(runs, repeats):
    prepared, judged = [], []

    def side(name):
        return lambda seed: prepared.append((name, seed)) or (lambda: (name, seed))

    row = measure(case(side("ours"), side("peer"), seeded=True, runs=runs,
                       equal=lambda a, b: judged.append((a, b)) or True), repeats=repeats)
    assert prepared == [("ours", 0), ("ours", 0), ("peer", 0), ("ours", 1), ("peer", 1)]
    assert judged == [([("ours", 0), ("ours", 1)], [("peer", 0), ("peer", 1)])] and row.value


def test_both_sides_run_in_turn_and_memory_is_measured_in_a_run_of_its_own():
    runs = []
    measure(noting(runs), repeats=3)
    assert runs == ["ours", "peer"] * 4         # one warm-up and three runs each
    runs.clear()
    row = measure(dataclasses.replace(noting(runs), memory=True), repeats=1)
    assert runs == ["ours", "peer"] * 3         # warm-up, memory, time
    assert row.extra_mb >= 0 and row.peer_extra_mb >= 0


def test_short_work_runs_more_often_until_enough_seconds_are_measured(clock):
    runs = []
    for at_least, times in ((11, 6), (1e9, 100)):       # each run takes a second of this clock
        clock(range(1000))
        runs.clear()
        measure(noting(runs), repeats=2, at_least=at_least)
        assert len(runs) == 2 * (1 + times)


def test_the_ratio_is_the_median_of_the_peer_s_seconds_over_ours_and_the_floor_is_set_beside(clock):
    clock([0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6])
    row = measure(case(lambda: 0, lambda: 0, work=bench.Work(10, 1)), repeats=3,
                  ceilings=bench.Ceilings(1.0, {"float32": 5.0}))
    assert row.value == 2.5 and row.met and row.value_unit == "times faster"
    assert (row.ours_low, row.ours_seconds, row.ours_high) == (1, 2, 3)
    assert (row.peer_low, row.peer_seconds, row.peer_high) == (4, 5, 6)
    assert row.floor_seconds == 2.0 and row.of_floor == 1.0


def test_both_sides_have_the_threads_of_the_case_and_others_are_put_back():
    before, seen = torch.get_num_threads(), []
    measure(case(lambda: seen.append(torch.get_num_threads()), lambda: None, threads=1), repeats=1)
    assert seen == [1, 1] and torch.get_num_threads() == before
    with fixed_threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


HOLD = "lessons_lib.bench.memory:_hold"


@pytest.mark.parametrize("options", [
    {"function": HOLD},
    {"function": f"{HOLD}_after_inputs", "prepared": True, "unit": "bytes",
     "peer": "the same", "peer_function": f"{HOLD}_after_inputs"},
], ids=["work", "work after inputs"])
def test_memory_is_that_of_the_work_and_not_of_python_or_inputs(options):
    row = measure_memory("toy", "bytes", n=60_000_000, goal_mb=90, **options)
    assert row.met and 55 < row.value < 90 and row.extra_mb == row.value and row.note == ""
    assert row.item_unit == options.get("unit", "documents")
    assert row.peer_extra_mb is None if "peer" not in options else 55 < row.peer_extra_mb < 90


def test_a_goal_of_memory_may_grow_with_the_result_and_a_peer_may_need_too_much():
    row = measure_memory("toy", "bytes", HOLD, 20_000_000, goal_factor=0.1, goal_extra_mb=5,
                         peer="large", peer_function="no:function", peer_needs=1e18)
    assert row.goal == "<= 7 MB (0.1 x 20 MB + 5 MB)" and row.met is False
    assert row.peer == "" and row.peer_extra_mb is None


def test_a_process_that_fails_names_its_case_and_an_unknown_group_its_nearest():
    with pytest.raises(RuntimeError, match=r"toy/bytes failed in its process:[\s\S]*no_such_name"):
        measure_memory("toy", "bytes", "lessons_lib.bench.memory:no_such_name", 10, goal_mb=1)
    with pytest.raises(ValueError, match="Did you mean 'counts'"):
        list(bench.run(["count"]))


def test_the_error_is_relative_to_the_largest_value_and_infinite_for_other_shapes_and_nan():
    values = torch.tensor([10.0, 1.1])
    assert relative_error([values, torch.tensor(2.0)], [np.array([10.0, 1.0]), 1.0]) == 1.0
    assert math.isclose(relative_error(values, np.array([10.0, 1.0])), 0.01, rel_tol=1e-5)
    one, nan = torch.ones(2), torch.tensor([1.0, math.nan])
    for result, expected in ((one, torch.ones(3)), ((one, one), (one,)), (nan, one), (one, nan)):
        assert relative_error(result, expected) == math.inf
        assert not agree(1e9)(result, expected)


def test_neighbours_may_swap_where_they_are_nearly_equal_but_not_more_often():
    values, rows = torch.ones(1000, 1), torch.arange(1000)[:, None]
    swapped = rows.clone()
    swapped[0] = 1
    assert neighbour_error((values, swapped), (values.numpy(), rows.numpy())) == 0.0
    swapped[:2] = 7
    assert neighbour_error((values, swapped), (values, rows)) == math.inf


def one_second(work):
    work()
    return 2.0, 1.0, 3.0                        # median, fastest, slowest


def test_a_copy_counts_both_ways_and_a_product_two_operations_in_the_fastest_run():
    limits = ceilings.cpu_ceilings(one_second, n_bytes=4000, side=10)
    assert limits.copy == 8000 and limits.products == {"float32": 2000}
    before = torch.backends.cuda.matmul.allow_tf32
    products = ceilings.gpu_ceilings(one_second, device="cpu", n_bytes=4000, side=10).products
    assert products == {"bfloat16": 2000, "tf32": 2000, "float32": 2000, "tf32x3": 2000 / 3}
    assert torch.backends.cuda.matmul.allow_tf32 == before


def row(group: str, value: float, name: str = "x") -> Row:
    return Row(group, name, "y", value, "times faster", ">= 1", True)


def test_a_new_run_of_a_group_replaces_its_rows_and_keeps_the_others(tmp_path):
    old = "group,name,value,device,date\nold,x,1.0,a machine,2026-01-01\n"
    (tmp_path / "cpu.csv").write_text(old, "utf-8")     # before columns were added
    bench.write([row("a", 1.0), row("b", 2.0)], folder=tmp_path)
    bench.write([row("b", 5.0)], folder=tmp_path)
    rows = bench.read(folder=tmp_path)
    assert [(r["group"], float(r["value"]), r["note"]) for r in rows] == [
        ("old", 1.0, ""), ("a", 1.0, ""), ("b", 5.0, "")]
    assert all(r["device"] and r["date"] for r in rows) and bench.read("gpu", folder=tmp_path) == []
    assert list(rows[0]) == list(bench.read()[0])       # the columns of the committed table


def test_groups_of_the_gpu_have_a_table_of_their_own(tmp_path):
    rows = [row("kernels", 1.0), row("kernels-gpu", 2.0), row("blocks-gpu", 3.0)]
    paths = bench.write_by_kind(rows, folder=tmp_path)
    assert [path.name for path in paths] == ["cpu.csv", "gpu.csv"]
    assert [r["group"] for r in bench.read("gpu", folder=tmp_path)] == ["kernels-gpu", "blocks-gpu"]
    machine = json.loads((tmp_path / "gpu.json").read_text("utf-8"))
    assert {"driver", "versions", "date", "device"} <= set(machine)


def test_the_kernels_take_the_gpu_along_and_block_sizes_are_tried_only_when_named(monkeypatch):
    ran = []

    def module(group):
        def rows(**options):
            ran.append((group, "repeats" in options))
            return iter(())
        return SimpleNamespace(rows=rows, races=rows)

    monkeypatch.setattr("lessons_lib.bench.suite._module", module)
    list(bench.run())
    assert ran == [(name, not name.endswith("-gpu")) for name in bench.groups()[:-1]]
    assert bench.groups() == ("counts", "topics", "words", "sentences", "contextual", "isotropy",
                              "contrastive", "search", "kernels", "kernels-gpu", "blocks-gpu")
    ran.clear()
    list(bench.run(["kernels-gpu", "blocks-gpu"]))
    assert ran == [("kernels-gpu", False), ("blocks-gpu", False)]


def test_a_group_runs_its_races_and_its_memory_whose_names_hold_a_part(monkeypatch):
    module = SimpleNamespace(
        cases=lambda: iter([case(lambda: 1, lambda: 1), case(None, None, name="other")]),
        MEMORY=({"group": "toy", "name": "sum: memory"}, {"group": "toy", "name": "more"}))
    monkeypatch.setattr("lessons_lib.bench.suite._module", lambda name: module)
    monkeypatch.setattr("lessons_lib.bench.suite.measure_memory", lambda **options: options)
    told = []
    first, second = bench.run(["words"], repeats=1, tell=told.append, only="sum")
    assert first.name == "sum" and second["name"] == "sum: memory"
    assert told[0] == "toy: sum, beside slow sum" and len(told) == 2


def test_every_group_has_races_and_its_memory_goals_are_those_of_the_course():
    from lessons_lib.bench import suite
    goals = {}
    for name in suite._MODULES:
        module = suite._module(name)
        assert hasattr(module, "races") or hasattr(module, "cases")
        goals |= {memory["name"]: (memory["n"], memory.get("goal_mb"), memory.get("goal_extra_mb"))
                  for memory in getattr(module, "MEMORY", ())}
    assert list(goals.values()) == [
        (10**6, None, 200), (10**6, None, 150), (10**6, None, 150), (512, 80, None),
        (4096, 100, None), (16384, 100, None), (16384, 300, None)]


def test_the_command_line_shows_only_columns_that_are_filled(capsys, group):
    made = Row("kernels", "pool", "", 0.5, "ms", "<= 1 ms", True, 0.0005, of_floor=0.25,
               extra_mb=3.0)
    skipped = Row("kernels", "pool", "KeOps", None, "", ">= 5", None,
                  note="skipped: pykeops is not installed")
    group(lambda: iter([made, skipped]))
    lessons_bench()
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("25%", "0.5 ms", "yes", "skipped: pykeops is not"))
    assert "NO" not in shown
    group(lambda: iter([skipped]))
    lessons_bench()
    assert "of floor" not in capsys.readouterr().out


def test_each_row_is_kept_when_it_is_measured_and_stale_ones_go_when_the_group_is_through(
        monkeypatch, tmp_path, group):
    bench.write([row("kernels", 1.0, "a"), row("kernels", 1.0, "gone")], folder=tmp_path)

    def cut_off():
        yield row("kernels", 2.0, "a")
        raise KeyboardInterrupt

    def through():
        yield row("kernels", 2.0, "a")
        yield row("kernels", 3.0, "b")

    writer = partial(bench.write_by_kind, folder=tmp_path)
    monkeypatch.setattr("lessons_lib.bench.write_by_kind", writer, raising=False)
    monkeypatch.setattr("lessons_lib.cli.PROJECT", tmp_path)
    for rows, only, expected in (
            (cut_off, "", {"gone": 1.0, "a": 2.0}),
            (lambda: iter([row("kernels", 3.0, "b")]), "b", {"gone": 1.0, "a": 2.0, "b": 3.0}),
            (through, "", {"a": 2.0, "b": 3.0})):
        group(rows)
        with contextlib.suppress(KeyboardInterrupt):
            lessons_bench(keep=True, only=only)
        kept = bench.read(folder=tmp_path)
        assert {r["name"]: float(r["value"]) for r in kept} == expected
