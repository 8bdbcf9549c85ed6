"""The contests of the kernels that train, small and on the processor: they learn, their checks can fail, their goals are those of the plan."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lessons_lib import kernels
from lessons_lib.bench import Ceilings, gpu, gpu_models, work
from lessons_lib.bench.gpu_models import ModelSizes, contests
from lessons_lib.bench.work import Work

TINY = ModelSizes(tokens=400, n_words=60, counts=300, topics=20, lda_tokens=500, checked=300)
FAST = Ceilings(1e9, dict.fromkeys(("bfloat16", "tf32", "float32", "tf32x3"), 1e9))


def instruments():
    def timer(work):
        work()
        return 0.002, 0.001, 0.003

    return gpu.Instruments(timer, timer, lambda work: 1.0, "cpu")


@pytest.mark.slow
@pytest.mark.parametrize("contest", contests(TINY), ids=lambda contest: contest.name.split(",")[0])
def test_every_contest_learns_and_agrees_with_the_processor(contest):
    row, = gpu.hold(contest, instruments(), FAST, in_time=lambda: True)
    assert row.value == 2.0 and row.floor_seconds > 0, row.note


@pytest.mark.parametrize(("operation", "attribute"), [("window_update", "inputs"), ("glove_step", "words"), ("lda_sweep", "topics")])
def test_a_kernel_that_learns_something_else_gets_no_time(operation, attribute, monkeypatch):
    true = getattr(kernels, operation)

    def wrong(state, backend=None, **options):
        found = true(state, backend=backend, **options)
        if backend is not None:
            return found
        getattr(state, attribute)[3:9] = 1
        return (found[0] * 1.02, *found[1:]) if isinstance(found, tuple) else found

    monkeypatch.setattr(kernels, operation, wrong)
    contest = next(c for c in contests(TINY) if c.name.startswith(operation))
    row, = gpu.hold(contest, instruments(), FAST, in_time=lambda: True)
    assert row.value is None and "no time counts" in row.note


def test_goals_are_those_of_the_plan():
    rates = {c.name.split(" ")[0] + c.name[-5:]: c.items / c.goal_ms * 1e3 for c in contests() if c.goal_ms and "hierarchical" not in c.name}
    assert rates == pytest.approx({"window_updated=300": 40e6, "window_updated=128": 100e6, "glove_stepd=300": 0.25e9, "lda_sweepopics": 1.5e9})
    assert next(c.items / c.goal_ms * 1e3 for c in contests() if "hierarchical" in c.name) == pytest.approx(30e6)


def test_co_occurrences_are_as_many_as_asked_for_and_each_once():
    state = gpu_models._cooccurrences(700, 40, 3, "cpu")
    cells = state.rows.long() * 40 + state.columns
    assert len(cells) == 700 == len(torch.unique(cells))
    assert gpu_models._degrees(1600, 40).tolist() == [40] * 40 and gpu_models._degrees(7, 40).sum() == 7
    assert np.all(np.diff(gpu_models._degrees(700, 40)) <= 1)


def test_a_count_needs_a_product_two_steps_and_a_row_in_and_out():
    assert work.glove_step(10, 4) == Work(480, 10 * 80)
