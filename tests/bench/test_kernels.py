"""The cases of the kernels on the processor, at tiny sizes: every gate holds, every operation has a case, and the memory functions do their work."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import lessons_lib.kernels
from lessons_lib.bench import Ceilings, PeerMissing, kernel_memory, kernels, naive
from lessons_lib.bench.measure import measure, race

TINY = kernels.Sizes(uniformity=(40, 8), uniformity_value=(50, 8), info_nce=(12,), width=24, pairs=300, pairs_naive=40, covariance=200,
                     knn=(20, 100, 8), cosines=30, pool=(4, 6), tokens=60, segments=7, alignment=20, resamples=(4, 30), lda=(900, 30, 20),
                     windows=(400, 50, 20), glove=(30, 5, 20))
SLOW_MACHINE = Ceilings(1e6, {"float32": 1e6})


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch):
    """Compiling takes longer than all else here together; without a compiler the peer has to say so."""
    monkeypatch.setattr(naive.shutil, "which", lambda name: None)


@pytest.mark.slow
def test_every_gate_holds_and_every_row_knows_its_floor():
    rows = list(race(kernels.cases(sizes=TINY), repeats=1, tell=lambda text: None, ceilings=SLOW_MACHINE))
    measured = [row for row in rows if row.value is not None]
    assert len(rows) == len(measured) + 1
    assert all(row.floor_seconds > 0 and row.of_floor > 0 for row in measured)
    assert {row.name.split()[0] for row in measured if row.extra_mb is None} == {"uniformity"}        # measured in processes of their own


def test_a_peer_that_cannot_run_is_a_row_with_its_reason():
    compiled, = (case for case in kernels.cases(sizes=TINY, only="info_nce") if case.peer.startswith("torch.compile"))
    row = measure(compiled, repeats=1)
    assert row.value is None and row.met is None and row.note == "skipped: torch.compile needs a C++ compiler, and none was found"


def test_every_operation_has_a_case():
    room = Path(lessons_lib.kernels.__file__).parent
    operations = {path.parent.name if path.stem == "__init__" else path.stem
                  for path in (*room.glob("*.py"), *room.glob("*/__init__.py")) if "\nOPERATION = " in path.read_text("utf-8")}
    assert operations == {case.name.split()[0].rstrip(",") for case in kernels.cases(sizes=TINY)}


def test_only_picks_cases_by_a_part_of_their_names():
    assert {case.name for case in kernels.cases(sizes=TINY, only="uniformity 40")} == {"uniformity 40 x 8, forward + backward"}


def test_an_absolute_goal_is_in_seconds_and_judged_by_the_result_alone():
    case = next(case for case in kernels.cases(sizes=TINY, only="cosent") if case.theirs is None)
    row = measure(case, repeats=1)
    assert row.goal == "<= 2 s" and row.value_unit == "s" and row.met and row.peer_seconds is None
    value, gradient = case.ours()
    assert not case.equal((value * 1.001, gradient), None)
    assert not case.equal((value, gradient + gradient.abs().mean()), None)


@pytest.mark.parametrize("name", kernel_memory.__all__)
def test_memory_functions_make_inputs_first_and_then_do_the_work(name):
    if name == "memory_rows":
        pytest.skip("starts processes; tested with small work in test_measure.py")
    work = getattr(kernel_memory, name)(16)
    width = kernel_memory.INFO_NCE_WIDTH if "info_nce" in name else kernel_memory.UNIFORMITY_WIDTH
    gradients = 0 if name.endswith("value") else 2 if "info_nce" in name else 1
    assert work() == 4 + gradients * 16 * width * 4          # a float32 value, and the gradients of the inputs


def test_the_memory_goals_are_those_of_the_course(monkeypatch):
    asked = []

    def note(group, name, function, n, **options):
        asked.append((n, options["goal_mb"], options["prepared"]))

    monkeypatch.setattr(kernel_memory, "measure_memory", note)
    list(kernel_memory.memory_rows("kernels"))
    assert asked == [(4096, 100, True), (16384, 100, True), (16384, 300, True)]


def test_the_group_starts_with_its_ceilings_and_ends_with_memory(monkeypatch):
    told = []
    monkeypatch.setattr(kernels.ceilings, "cpu_ceilings", lambda timer: SLOW_MACHINE)
    monkeypatch.setattr(kernels, "memory_rows", lambda group: iter(["memory"]))
    monkeypatch.setattr(kernels, "cases", lambda **options: iter(()))
    rows = list(kernels.rows(repeats=1, tell=told.append))
    assert [row.name for row in rows[:2]] == ["ceiling: copy", "ceiling: matrix product, float32"] and rows[2:] == ["memory"]
    assert list(kernels.rows(repeats=1, tell=told.append, only="pool"))[2:] == []


def test_threads_are_fixed_for_the_group_and_put_back():
    before = torch.get_num_threads()
    with kernels.fixed_threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_segments_by_loop_and_by_scattered_additions_are_the_same_peer():
    x, offsets = torch.randn(9, 3, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 4, 5, 9])
    for a, b in zip(naive.segment_loop(x, offsets), naive.segment_index_add(x, offsets), strict=True):
        torch.testing.assert_close(a, b)


def test_a_failing_compiler_is_a_missing_peer(monkeypatch):
    def fail(*args):
        raise torch._dynamo.exc.BackendCompilerFailed(lambda: None, RuntimeError("no header"), None)

    monkeypatch.setattr(naive, "_has_compiler", lambda: True)
    monkeypatch.setattr(naive.torch, "compile", lambda function, **options: fail)
    with pytest.raises(PeerMissing, match="torch.compile failed"):
        naive.compiled(naive.info_nce)(torch.ones(2, 2), torch.ones(2, 2))


def test_the_gate_of_the_covariance_looks_at_the_mean_too():
    case = next(case for case in kernels.cases(sizes=TINY, only="mean_covariance") if case.peer == "np.cov")
    mean, covariance = case.ours()
    assert case.equal((mean, covariance), case.theirs())
    assert not case.equal((mean * 1.0001, covariance), case.theirs())
    assert not case.equal((mean, covariance * 1.0001), case.theirs())
