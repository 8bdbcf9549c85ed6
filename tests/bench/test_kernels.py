"""The cases of the kernels on the processor, at tiny sizes: every gate holds, every operation has a
case, the memory functions do their work, and counts of work are those made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import lessons_lib.kernels
from lessons_lib.bench import Ceilings, PeerMissing, Work, kernels, naive, work
from lessons_lib.bench.measure import measure, race

UPDATE = (400, 50, 20)
TINY = {"uniformity": (40, 8, 50), "info_nce": (24, (12,)), "cosent": (300, 40),
        "mean_covariance": (200, 24), "knn": (20, 100, 8), "mean_cosine": (30, 24),
        "pool": (4, 6, 24), "segment_moments": (60, 24, 7), "alignment": (20, 24), "ranks": (4, 30),
        "maxsim": (5, 9, 24),
        "lda_sweep": (900, 30, 20), "window_update": UPDATE, "subword_update": UPDATE,
        "document_update": UPDATE, "glove_step": (30, 5, 20)}
SLOW_MACHINE = Ceilings(1e6, {"float32": 1e6})


def tiny(only="", peer=""):
    return [case for case in kernels.cases(sizes=TINY, only=only) if case.peer.startswith(peer)]


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch):
    """Compiling takes longer than all else here; without a compiler the peer has to say so."""
    monkeypatch.setattr(naive.shutil, "which", lambda name: None)


@pytest.mark.slow
def test_every_gate_holds_and_every_row_knows_its_floor():
    rows = list(race(tiny(), repeats=1, tell=lambda text: None, ceilings=SLOW_MACHINE))
    measured = [row for row in rows if row.value is not None]
    assert len(rows) == len(measured) + 1
    assert all(row.floor_seconds > 0 and row.of_floor > 0 for row in measured)
    elsewhere = {row.name.split()[0] for row in measured if row.extra_mb is None}
    assert elsewhere == {"uniformity"}          # measured in processes of their own


def test_a_peer_that_cannot_run_is_a_row_with_its_reason(monkeypatch):
    case, = tiny("info_nce", "torch.compile")
    row = measure(case, repeats=1)
    assert row.value is None and row.met is None
    assert row.note == "skipped: torch.compile needs a C++ compiler, and none was found"

    def fail(*args):
        raise torch._dynamo.exc.BackendCompilerFailed(lambda: None, RuntimeError("no header"), None)

    monkeypatch.setattr(naive.shutil, "which", lambda name: name)
    monkeypatch.setattr(naive.torch, "compile", lambda function, **options: fail)
    with pytest.raises(PeerMissing, match="torch.compile failed"):
        naive.compiled(naive.info_nce)(torch.ones(2, 2), torch.ones(2, 2))


def test_every_operation_has_a_case_under_its_name():
    room = Path(lessons_lib.kernels.__file__).parent
    operations = {path.parent.name if path.stem == "__init__" else path.stem
                  for path in (*room.glob("*.py"), *room.glob("*/__init__.py"))
                  if "\nOPERATION = " in path.read_text("utf-8")}
    assert operations == set(kernels.MAKERS) == set(TINY)
    for operation in TINY:
        assert {case.name.split()[0].rstrip(",") for case in tiny(operation)} == {operation}
    names = {case.name for case in tiny("uniformity 40")}
    assert names == {"uniformity 40 x 8, forward + backward"}


def test_an_absolute_goal_is_in_seconds_and_judged_by_the_result_alone():
    case = next(case for case in tiny("cosent") if case.theirs is None)
    row = measure(case, repeats=1)
    assert row.goal == "<= 2 s" and row.value_unit == "s" and row.met and row.peer_seconds is None
    value, gradient = case.ours()
    assert not case.equal((value * 1.001, gradient), None)
    assert not case.equal((value, gradient + gradient.abs().mean()), None)


def test_the_gate_of_the_covariance_looks_at_the_mean_too():
    case, = tiny("mean_covariance", "np.cov")
    mean, covariance = case.ours()
    assert case.equal((mean, covariance), case.theirs())
    assert not case.equal((mean * 1.0001, covariance), case.theirs())
    assert not case.equal((mean, covariance * 1.0001), case.theirs())


@pytest.mark.parametrize("memory", kernels.MEMORY, ids=lambda memory: memory["name"])
def test_memory_functions_make_inputs_first_and_then_do_the_work(memory):
    inputs, width = (2, 768) if "info_nce" in memory["name"] else (1, 256)
    gradients = inputs if "backward" in memory["name"] else 0
    for function in (memory["function"], memory["peer_function"]):
        module, name = function.split(":")
        assert module == kernels.__name__
        assert getattr(kernels, name)(16)() == 4 + gradients * 16 * width * 4   # all in float32


def test_the_group_starts_with_its_ceilings_which_have_no_goal(monkeypatch):
    limits = Ceilings(2e9, {"float32": 3e9}, "2 threads")
    monkeypatch.setattr(kernels, "cpu_ceilings", lambda timer: limits)
    monkeypatch.setattr(kernels, "cases", lambda only: iter(()))
    rows = list(kernels.races(repeats=1, tell=lambda text: None))
    assert [(row.name, row.value, row.value_unit, row.met, row.config) for row in rows] == [
        ("ceiling: copy", 2.0, "GB/s", None, "2 threads"),
        ("ceiling: matrix product, float32", 3.0, "GFLOP/s", None, "2 threads")]


# One H200, as planned with: copy and dense bfloat16 measured, tf32 and float32 at 80 % of the
# datasheet.
H200 = Ceilings(4.3e12, {"bfloat16": 790e12, "tf32": 395e12, "float32": 54e12,
                         "tf32x3": 395e12 / 3})
N, D = 32_768, 768


@pytest.mark.parametrize(("needs", "flops", "n_bytes", "precision", "milliseconds"), [
    (work.info_nce(N, N, D, itemsize=2), 4.9e12, 0.2e9, "bfloat16", 6.3),   # three of 2 N N d
    (work.info_nce(N, N, D, itemsize=2, backward=False), 1.65e12, 0.1e9, "bfloat16", 2.1),
    (work.uniformity(N, D, itemsize=2), 8.2e11, 50e6, "bfloat16", 1.05),    # half a product
    (work.uniformity(N, D, itemsize=2, backward=True), 4.1e12, 0.1e9, "bfloat16", 5.2),
    (work.knn(30_522, 30_522, D, 10, itemsize=4), 1.43e12, 97e6, "tf32x3", 10.9),
    (work.mean_covariance(1_000_000, D, itemsize=4), 5.9e11, 3.1e9, "tf32x3", 4.5),
    (work.segment_moments(16_777_216, D, 131_072, itemsize=2), 6.4e10, 26.6e9, "float32", 6.2),
    (work.maxsim(32, 84_500, 128, 1000, itemsize=4), 0.692e9, 43.3e6, "tf32x3", 0.0101),
    (work.pool(256, 128, D, itemsize=2, layers=2), 0.076e9, 0.101e9, "float32", 0.0235),
    (work.mean_cosine(30_522, D, itemsize=4), 4.7e7, 94e6, "float32", 0.022),
    (work.ranks(10_000, 1379, itemsize=4), 1.44e8, 110e6, "float32", 0.0257),
])
def test_counts_and_floors_are_those_made_by_hand(needs, flops, n_bytes, precision, milliseconds):
    assert needs.flops == pytest.approx(flops, rel=0.02)
    assert needs.bytes == pytest.approx(n_bytes, rel=0.02)
    assert 1e3 * H200.floor(needs, precision) == pytest.approx(milliseconds, rel=0.02)


@pytest.mark.parametrize(("needs", "flops", "n_bytes"), [
    (work.uniformity(100, 10, itemsize=4), 10**5, 4000),
    (work.uniformity(100, 10, itemsize=4, backward=True, one_pass=True), 3 * 10**5, 8000),
    (work.uniformity(100, 10, itemsize=4, backward=True), 5 * 10**5, 8000),
    (work.alignment(10, 4, itemsize=4), 3 * 40, 2 * 160),       # two matrices are read,
    (work.alignment(10, 4, itemsize=4, backward=True), 5 * 40, 4 * 160),    # two gradients written
    (work.cosent(1024, itemsize=4), 1024 * 10, 3 * 4 * 1024),
    (work.lda_sweep(100, 10, 4), 5 * 400, 4 * (100 + 100 + 100 + 40 + 40)),
    (work.glove_step(10, 4), 480, 10 * 80),
    (work.window_update(10, 3, 6, 100), 6 * 10 * 18 * 100, 8 * 10 * 9 * 100),
    (work.document_update(10, 7, 6, 100), 10 * (14 + 36) * 100, 8 * 10 * 12 * 100),
    (work.subword_update(10, 20, 6, 100), 10 * (40 + 36) * 100, 8 * 10 * 26 * 100),
    (work.flow_epoch(10, 8, levels=2, depth=1, width=4), 3 * 10 * (2 * 4 * 12 + 2 * 4 * 8), 320)])
def test_small_counts_are_exact_and_the_larger_of_both_times_is_the_floor(needs, flops, n_bytes):
    assert needs == Work(flops, n_bytes) and needs.intensity == flops / n_bytes
    slow_copy = Ceilings(1.0, {"float32": 100.0})
    assert slow_copy.floor(needs) == max(flops / 100, n_bytes)
