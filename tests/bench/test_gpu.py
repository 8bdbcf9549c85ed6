"""The GPU group with a clock of our own, on the processor: checks, goals, missing and failing peers, the time budget."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from lessons_lib.bench import Ceilings, PeerMissing, ceilings, gpu, gpu_cases, naive, work
from lessons_lib.bench.gpu_cases import Contest, GpuSizes, Peer, Sides, contests
from lessons_lib.bench.suite import run

TINY = GpuSizes(pairs=24, width=32, knn=40, covariance=64, tokens=96, segments=8, pool=(3, 5), cosent=50, resamples=(9, 30), alignment=16)
FAST = Ceilings(1e9, dict.fromkeys(("bfloat16", "tf32", "float32", "tf32x3"), 1e9))


def instruments(seconds=0.002):
    def timer(work):
        work()
        return seconds, seconds / 2, seconds * 2

    def peak(work):
        work()
        return 12.34

    return gpu.Instruments(timer, timer, peak, "cpu")


def toy(ours=lambda: torch.ones(2), error=lambda: 0.0, peers=(), goal_ms=5.0, **options):
    return Contest("toy", lambda device: Sides(ours, error, tuple(peers)), goal_ms, work.Work(1e6, 1.0), "float32", 7, "things", 1e-3, **options)


def held(contest, *, in_time=lambda: True, seconds=0.002):
    return list(gpu.hold(contest, instruments(seconds), FAST, in_time=in_time))


@pytest.fixture
def no_compiler(monkeypatch):
    monkeypatch.setattr(naive, "compiled", lambda function: function)


@pytest.mark.slow
@pytest.mark.parametrize("contest", contests(TINY), ids=lambda contest: contest.name.split(",")[0])
def test_every_contest_is_right_and_agrees_with_its_peers(contest, no_compiler):
    ours, *peers = held(contest)
    assert ours.value == 2.0 and ours.floor_seconds > 0 and ours.extra_mb == 12.3, ours.note
    assert all(row.peer for row in peers)
    for row in peers:
        assert row.value == 1.0 or row.note.startswith("skipped: "), f"{row.peer}: {row.note}"
    assert any(row.value == 1.0 for row in peers) or "ranks" in contest.name


def test_sizes_and_goals_are_those_of_the_plan():
    goals = {contest.name.split(" ")[0] + (" forward" if contest.name.endswith(", forward") else ""): contest.goal_ms for contest in contests()}
    assert goals == {"info_nce": 12, "info_nce forward": 3.8, "uniformity": 9, "uniformity forward": 2.2, "knn": 20, "mean_covariance": 9,
                     "segment_moments": 7.5, "pool": 0.035, "mean_cosine": None, "alignment": None, "cosent": 5, "ranks,": 5}


def test_a_row_states_time_goal_floor_and_what_ran():
    row, = held(toy())
    assert (row.value, row.goal, row.met) == (2.0, "<= 5 ms", True)
    assert (row.ours_low, row.ours_seconds, row.ours_high) == (0.001, 0.002, 0.004)
    assert (row.floor_seconds, row.of_floor, row.extra_mb) == (0.001, 0.5, 12.3)
    assert not held(toy(goal_ms=1.0))[0].met


def test_a_wrong_kernel_gets_no_time_and_its_peers_are_not_run():
    row, = held(toy(error=lambda: 0.01, peers=[Peer("other", lambda: torch.ones(2))]))
    assert row.value is None and row.met is False and row.note == "error 0.01 against float64: no time counts"
    row, = held(toy(error=lambda: math.nan))
    assert row.value is None and row.met is False


def test_a_kernel_that_fails_costs_its_row_and_not_the_run():
    def fail():
        raise RuntimeError("out of resource: shared memory\nand more")

    row, = held(toy(error=fail))
    assert row.met is False and row.note == "failed: RuntimeError: out of resource: shared memory"


@pytest.mark.slow
def test_a_peer_out_of_memory_missing_or_different_is_a_result():
    def full():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 4 TB")

    def missing():
        raise PeerMissing("other is not installed")

    peers = [Peer("full", full), Peer("missing", missing), Peer("different", lambda: torch.zeros(2)), Peer("same", lambda: torch.ones(2), 2.0)]
    rows = held(toy(peers=peers))
    assert [row.note for row in rows[1:]] == ["out of memory", "skipped: other is not installed", "its result differs from ours by 1: no ratio",
                                              "differs from ours by 0"]
    assert [row.value for row in rows[1:]] == [None, None, None, 1.0]
    assert rows[-1].met is False and rows[-1].goal == ">= 2" and rows[-1].peer_extra_mb == 12.3


def test_short_work_is_timed_as_a_recorded_graph():
    tools = gpu.Instruments(lambda work: (4e-4, 4e-4, 4e-4), lambda work: (3e-5, 2e-5, 4e-5), lambda work: 0.0, "cpu")
    row, = gpu.hold(toy(goal_ms=0.035, short=True), tools, FAST, in_time=lambda: True)
    assert row.value == 0.03 and row.met and "0.4 ms when launched from Python" in row.note


def test_when_time_is_spent_what_is_left_is_named_and_not_started(monkeypatch):
    monkeypatch.setattr(ceilings, "gpu_ceilings", lambda timer, device: FAST)
    clock, told = itertools.count(0, 10), []
    rows = list(gpu.rows(tell=told.append, budget=25, tools=instruments(), wanted=[toy(), toy(), toy(), toy()], clock=lambda: next(clock)))
    contests_rows = [row for row in rows if row.name == "toy"]
    assert [row.value for row in contests_rows] == [2.0, 2.0, None, None]
    assert contests_rows[-1].note == "left out: the time budget was spent"
    assert told[-1] == "kernels-gpu: left out for time: toy"


def test_peers_stop_when_time_is_spent_too():
    rows = held(toy(peers=[Peer("a", lambda: torch.ones(2)), Peer("b", lambda: torch.ones(2))]), in_time=iter([True, False]).__next__)
    assert [row.note for row in rows[1:]] == ["differs from ours by 0", "left out: the time budget was spent"]


def test_without_cuda_one_line_says_so_and_no_row_is_made(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    told = []
    assert list(run(["kernels-gpu"], tell=told.append)) == []
    assert told == ["kernels-gpu: no CUDA device here, so no GPU was measured and no GPU row is written"]


def test_optional_peers_say_that_they_are_not_installed(monkeypatch):
    x = torch.ones(2, 2)
    monkeypatch.setattr(gpu_cases.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    for peer, arguments in ((gpu_cases._keops, (x,)), (gpu_cases._faiss, (x,)), (gpu_cases._inf_cl, (x, x)), (gpu_cases._cached_loss, (x, x))):
        with pytest.raises(PeerMissing, match="is not installed"):
            peer(*arguments)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_the_cuda_instruments_measure_time_and_memory():
    tools = gpu.cuda_instruments()
    x = torch.ones(1 << 24, device="cuda")
    median, low, high = tools.timer(lambda: x + 1)
    assert 0 < low <= median <= high < 1
    assert tools.peak_mb(lambda: x + 1) == pytest.approx(67.1, rel=0.05)
    assert tools.graph_timer(lambda: x.add_(1))[0] < 1
