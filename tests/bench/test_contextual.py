"""The race of a BERT without padding runs on a few sentences, and its gate sees a difference."""

from __future__ import annotations

import numpy as np
import pytest

from lessons_lib.bench import contextual, groups
from lessons_lib.bench.measure import measure


@pytest.mark.slow
def test_both_sides_give_the_same_vectors():
    sizes = contextual.Sizes(sentences=70, pieces=600, models=(("tiny", 2, 16, 2),))
    found = [measure(case, repeats=1) for case in contextual.cases(sizes=sizes)]
    assert [row.item_unit for row in found] == ["sentences"] and found[0].items == 70 and found[0].value > 0


def test_the_gate_sees_a_number_that_differs():
    x = np.ones((4, 3), np.float32)
    y = x.copy()
    y[2, 1] += 3e-5
    assert contextual._close(x, x) and not contextual._close(x, y) and not contextual._close(x, x[:3])


def test_the_group_has_a_name():
    assert "contextual" in groups()
