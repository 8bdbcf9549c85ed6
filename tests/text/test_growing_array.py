"""Arrays that grow hold what was put into them."""

from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.text.growing_array import GrowingArray, GrowingCounts


@given(st.lists(st.lists(st.integers(-5, 5), max_size=50), max_size=20))
def test_appending_is_concatenating(parts):
    array = GrowingArray(np.int32)
    for part in parts:
        array.append(np.array(part, dtype=np.int64))
    assert array.finish().tolist() == list(chain.from_iterable(parts))
    assert array.finish().dtype == np.int32


def test_finishing_early_cuts():
    array = GrowingArray(np.int64)
    array.append(np.arange(10))
    assert array.finish(4).tolist() == [0, 1, 2, 3]
    assert len(array) == 4


@given(st.lists(st.dictionaries(st.integers(0, 9000), st.integers(0, 9), max_size=5), max_size=10))
def test_totals_are_sums(amounts):
    counts = GrowingCounts()
    expected = np.zeros(9001, dtype=np.int64)
    for part in amounts:
        numbers, added = np.array([*part], np.int64), np.array([*part.values()], np.int64)
        counts.add(numbers, added)
        expected[numbers] += added
    n = max((max(part, default=-1) for part in amounts), default=-1) + 1
    assert counts.total(n).tolist() == expected[:n].tolist()
