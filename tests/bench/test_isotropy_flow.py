"""The case of the flow runs on a few vectors, and its gate sees a flow that learned nothing."""

from __future__ import annotations

import numpy as np

from lessons_lib.bench import isotropy, isotropy_flow
from lessons_lib.bench.measure import measure
from lessons_lib.bench.work import Work, flow_epoch
from lessons_lib.isotropy import Flow

SIZES = isotropy_flow.Sizes(vectors=3000, widths=(8,), threads=(1,))


def test_an_epoch_is_timed_and_judged():
    row, = (measure(case, repeats=1) for case in isotropy_flow.cases(sizes=SIZES))
    assert row.name == "Flow.fit 3000 x 8, 1 epoch, 1 thread" and row.value_unit == "s" and row.items == 3000 and row.peer == ""


def test_the_gate_sees_a_flow_that_learned_nothing():
    flow = Flow(epochs=0).fit(isotropy_flow._vectors(500, 8))
    assert not isotropy_flow._learned(flow, None)
    flow.history_ = np.array([[0, 2.0, 2.0], [1, 1.9, 1.9]])
    assert isotropy_flow._learned(flow, None)
    flow.history_[1, 2] = np.nan
    assert not isotropy_flow._learned(flow, None)


def test_the_floor_counts_the_products_of_the_nets():
    assert flow_epoch(10, 8, levels=2, depth=1, width=4) == Work(3 * 10 * (2 * 4 * 12 + 2 * 4 * 8), 10 * 8 * 4)


def test_it_is_a_part_of_the_group():
    assert "isotropy_flow" in isotropy.PARTS
