"""The groups of the GPU with a clock of our own, on the processor: checks, goals, missing and
failing peers, the time budget; and trying block sizes."""

from __future__ import annotations

import itertools
import math
import types

import numpy as np
import pytest
import torch

from lessons_lib import kernels
from lessons_lib.bench import Ceilings, PeerMissing, blocks, gpu, gpu_cases, naive, work
from lessons_lib.bench.gpu_cases import Contest, GpuSizes, Sides, contests, training_contests
from lessons_lib.kernels import configs
from lessons_lib.kernels.configs import Blocks, blocks_for, other_blocks
from lessons_lib.kernels.interpreter import interpreting

TINY = GpuSizes(pairs=24, width=32, knn=40, covariance=64, tokens=96, segments=8, pool=(3, 5),
                cosent=50, resamples=(9, 30), alignment=16, text=400, n_words=60, counts=300,
                topics=20, lda_tokens=500, checked=300)
FAST = Ceilings(1e9, dict.fromkeys(("bfloat16", "tf32", "float32", "tf32x3"), 1e9))


def instruments(seconds=0.002):
    def timer(work):
        work()
        return seconds, seconds / 2, seconds * 2

    def peak(work):
        work()
        return 12.34
    return gpu.Instruments(timer, timer, peak, "cpu")


def ones():
    return torch.ones(2)


def toy(error=lambda: 0.0, peers=None, goal_ms=5.0, **options):
    sides = Sides(ones, error, peers or {})
    return Contest("toy", lambda device: sides, goal_ms, work.Work(1e6, 1.0), "float32", 7,
                   "things", 1e-3, **options)


def held(contest, *, in_time=lambda: True, tools=None):
    return list(gpu.hold(contest, tools or instruments(), FAST, in_time=in_time))


def short_name(contest):
    return contest.name.split(",")[0]


@pytest.mark.slow
@pytest.mark.parametrize("contest", [*contests(TINY), *training_contests(TINY)], ids=short_name)
def test_every_contest_is_right_and_agrees_with_its_peers(contest, monkeypatch):
    monkeypatch.setattr(naive, "compiled", lambda function: function)
    ours, *peers = held(contest)
    assert ours.value == 2.0 and ours.floor_seconds > 0 and ours.extra_mb == 12.3, ours.note
    for row in peers:
        assert row.peer and (row.value == 1.0 or row.note.startswith("skipped: ")), row.note
    alone = ("ranks", "window_update", "glove_step", "lda_sweep")
    assert contest.name.startswith(alone) or any(row.value == 1.0 for row in peers)


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "attribute"), [
    ("window_update", "inputs"), ("glove_step", "words"), ("lda_sweep", "topics")])
def test_a_kernel_that_learns_something_else_gets_no_time(operation, attribute, monkeypatch):
    true = getattr(kernels, operation)

    def wrong(state, backend=None, **options):
        result = true(state, backend=backend, **options)
        if backend is not None:
            return result
        getattr(state, attribute)[3:9] = 1
        return (result[0] * 1.02, *result[1:]) if isinstance(result, tuple) else result

    monkeypatch.setattr(kernels, operation, wrong)
    contest = next(c for c in training_contests(TINY) if c.name.startswith(operation))
    row, = held(contest)
    assert row.value is None and "no time counts" in row.note


def test_sizes_and_goals_are_those_of_the_plan():
    assert {short_name(c).replace(" bf16", "").replace(" fp32", "")
            + (" forward" if c.name.endswith(", forward") else ""): c.goal_ms
            for c in contests()} == {
        "info_nce 32768 x 768": 12, "info_nce 32768 x 768 forward": 3.8,
        "uniformity 32768 x 768": 9, "uniformity 32768 x 768 forward": 2.2,
        "knn 30522 x 768": 20, "mean_covariance 1000000 x 768": 9,
        "segment_moments 16777216 x 768": 7.5, "pool 256 x 128 x 768": 0.035,
        "mean_cosine 30522 x 768": None, "alignment 262144 x 768": None,
        "cosent 1000000 pairs": 5, "ranks": 5}
    rates = [(c.name.split()[0], c.goal_ms and round(c.items / c.goal_ms * 1e3 / 1e6))
             for c in training_contests()]
    assert rates == [("window_update", 40), ("window_update", 100), ("window_update", 30),
                     ("window_update", None), ("glove_step", 250), ("lda_sweep", 1500)]


def test_co_occurrences_are_as_many_as_asked_for_and_each_once():
    state = gpu_cases._cooccurrences(700, 40, 3, "cpu")
    cells = state.rows.long() * 40 + state.columns
    assert len(cells) == 700 == len(torch.unique(cells))
    assert gpu_cases._degrees(1600, 40).tolist() == [40] * 40
    assert gpu_cases._degrees(7, 40).sum() == 7
    assert np.all(np.diff(gpu_cases._degrees(700, 40)) <= 1)


@pytest.mark.parametrize(("peer", "n"), [
    ("_keops", 1), ("_faiss", 1), ("_inf_cl", 2), ("_cached_loss", 2)])
def test_optional_peers_say_that_they_are_not_installed(peer, n, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("lessons_lib.bench.measure.importlib.import_module", missing)
    with pytest.raises(PeerMissing, match="is not installed"):
        getattr(gpu_cases, peer)(*[torch.ones(2, 2)] * n)


def test_a_faiss_without_its_gpu_part_is_skipped_though_its_function_is_there(monkeypatch):
    monkeypatch.setattr(gpu_cases, "peer_module",
                        lambda *names: types.SimpleNamespace(knn_gpu=lambda *a, **k: None))
    with pytest.raises(PeerMissing, match="without its GPU part"):
        gpu_cases._faiss(torch.ones(2, 2))


def test_a_row_states_time_goal_floor_and_what_ran_and_short_work_is_timed_as_a_recorded_graph():
    row, = held(toy())
    assert (row.value, row.goal, row.met) == (2.0, "<= 5 ms", True)
    assert (row.ours_low, row.ours_seconds, row.ours_high) == (0.001, 0.002, 0.004)
    assert (row.floor_seconds, row.of_floor, row.extra_mb) == (0.001, 0.5, 12.3)
    assert not held(toy(goal_ms=1.0))[0].met
    tools = gpu.Instruments(lambda work: (4e-4, 4e-4, 4e-4), lambda work: (3e-5, 2e-5, 4e-5),
                            lambda work: 0.0, "cpu")
    row, = held(toy(goal_ms=0.035, short=True), tools=tools)
    assert row.value == 0.03 and row.met and "0.4 ms when launched from Python" in row.note


@pytest.mark.parametrize(("error", "note"), [
    (0.01, "error 0.01 against float64: no time counts"),
    (math.nan, "error nan against float64: no time counts"),
    (RuntimeError("out of resource: shared memory\nand more"),
     "failed: RuntimeError: out of resource: shared memory")])
def test_a_wrong_or_failing_kernel_costs_its_row_and_its_peers_are_not_run(error, note):
    def check():
        if isinstance(error, Exception):
            raise error
        return error

    row, = held(toy(error=check, peers={"other": (ones, 1.0)}))
    assert row.value is None and row.met is False and row.note == note


def test_a_peer_out_of_memory_missing_or_different_is_a_result():
    def full():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 4 TB")

    def missing():
        raise PeerMissing("other is not installed")

    rows = held(toy(peers={"full": (full, 1.0), "missing": (missing, 1.0), "same": (ones, 2.0),
                           "different": (lambda: torch.zeros(2), 1.0)}))
    assert [row.note for row in rows[1:]] == [
        "out of memory", "skipped: other is not installed", "differs from ours by 0",
        "its result differs from ours by 1: no ratio"]
    assert [row.value for row in rows[1:]] == [None, None, 1.0, None]
    assert (rows[3].met, rows[3].goal, rows[3].peer_extra_mb) == (False, ">= 2", 12.3)


@pytest.mark.parametrize(("group", "line"), [
    (gpu, "kernels-gpu: no CUDA device here, so no GPU was measured and no GPU row is written"),
    (blocks, "blocks-gpu: no CUDA device here, so no block sizes were tried")])
def test_without_cuda_one_line_says_so_and_no_row_is_made(group, line, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    told = []
    assert list(group.rows(tell=told.append)) == [] and told == [line]


def test_when_time_is_spent_what_is_left_is_named_and_not_started(monkeypatch):
    monkeypatch.setattr(gpu, "gpu_ceilings", lambda timer, device: FAST)
    clock, told = itertools.count(0, 10), []
    rows = gpu.rows(tell=told.append, budget=25, tools=instruments(), wanted=[toy()] * 4,
                    clock=lambda: next(clock))
    rows = [row for row in rows if row.name == "toy"]
    assert [row.value for row in rows] == [2.0, 2.0, None, None]
    assert rows[-1].note == "left out: the time budget was spent"
    assert told[-1] == "kernels-gpu: left out for time: toy"
    peers = {"a": (ones, 1.0), "b": (ones, 1.0)}
    rows = held(toy(peers=peers), in_time=iter([True, False]).__next__)
    assert [row.note for row in rows[1:]] == ["differs from ours by 0",
                                              "left out: the time budget was spent"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_the_cuda_instruments_measure_time_and_memory():
    tools = gpu.cuda_instruments()
    x = torch.ones(1 << 24, device="cuda")
    median, low, high = tools.timer(lambda: x + 1)
    assert 0 < low <= median <= high < 1
    assert tools.peak_mb(lambda: x + 1) == pytest.approx(67.1, rel=0.05)
    assert tools.graph_timer(lambda: x.add_(1))[0] < 1


ENTRY = Blocks("toy", 80, "float32", {"BLOCK_N": 64, "BLOCK_D": 16, "EVEN": True}, 4, 2)


def test_neighbours_differ_in_one_thing_and_never_go_below_the_smallest_tile():
    entries = blocks.neighbours(ENTRY)
    assert [b.sizes for b in entries[:3]] == [
        ENTRY.sizes | change for change in ({"BLOCK_N": 128}, {"BLOCK_N": 32}, {"BLOCK_D": 32})]
    assert [(b.num_warps, b.num_stages) for b in entries[3:]] == [(8, 2), (4, 1), (4, 3)]
    assert all((b.sizes != ENTRY.sizes) + (b.num_warps != 4) + (b.num_stages != 2) == 1
               for b in entries)


@pytest.fixture
def toy_table(monkeypatch):
    """A table with one kernel; gives sides whose work looks its blocks up, and those it saw. The
    work is faster with larger BLOCK_N, wrong with BLOCK_D = 32, and cannot run with 8 warps."""
    monkeypatch.setattr(configs, "interpreting", lambda: True)
    monkeypatch.setattr(configs, "entry", lambda kernel, arch, dtype: ENTRY)
    seen = []

    def look_up():
        entry = blocks_for("toy", torch.ones(1))
        if entry.num_warps == 8:
            raise RuntimeError("out of resource")
        seen.append(entry)
        return torch.ones(1) * (2 if entry.sizes["BLOCK_D"] == 32 else 1)
    return Sides(look_up, lambda: 0.0), seen


def test_the_fastest_blocks_with_the_same_result_are_named_beside_those_of_the_table(toy_table):
    sides, seen = toy_table

    def timer(work):
        work()
        wrong = seen[-1].sizes["BLOCK_D"] == 32
        return (0.0001 if wrong else 0.064 / seen[-1].sizes["BLOCK_N"], 0, 0)

    tools = gpu.Instruments(timer, timer, lambda work: 0.0, "cpu")
    row, = blocks.try_blocks("case", sides, tools, tolerance=1e-3)
    assert row.name == "toy: case" and row.value == 0.5 and row.peer_seconds == 0.001
    assert row.config.startswith("BLOCK_N=128 BLOCK_D=16")
    assert row.note.startswith("table: BLOCK_N=64") and row.note.endswith("5 of 7 ran")
    row, = blocks.try_blocks("case", sides, tools, tolerance=1e-3, in_time=lambda: False)
    assert row.config.startswith("BLOCK_N=64") and row.note.endswith("1 of 7 ran")


@pytest.mark.skipif(not interpreting(), reason="Triton was loaded as a compiler: needs a GPU")
def test_other_blocks_reach_the_launch_and_end_with_their_block():
    pytest.importorskip("triton")
    x = torch.randn(20, 16, generator=torch.Generator().manual_seed(0))

    def work():
        return kernels.uniformity(x, backend="triton")

    used, = blocks.used_blocks(work)
    assert used.kernel == "uniformity_tiles"

    def larger(entry: Blocks) -> Blocks:
        return Blocks(entry.kernel, entry.arch, entry.dtype, entry.sizes | {"BLOCK_N": 32}, 1, 1)

    with kernels.trace() as trace, other_blocks(larger):
        result = work()
    assert trace.runs[0].launches[0][1:] == ((1,), {
        "BLOCK_N": 32, "BLOCK_D": used.sizes["BLOCK_D"], "num_warps": 1, "num_stages": 1})
    torch.testing.assert_close(result, work())
