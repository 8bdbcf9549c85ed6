"""Every text is in one batch, batches are not too large, and a mask leaves places out."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons_lib.contextual.numbering import Numbered, batches, numbered_rows, padded, placed

ROWS = [[2, 9, 3], [2, 3], [], [2, 7, 7, 8, 3]]


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 9), st.integers(1, 100))
def test_every_text_is_in_one_batch_and_long_ones_come_first(lengths, texts, tokens):
    lengths = np.array(lengths, dtype=np.int64)
    found = list(batches(lengths, texts=texts, tokens=tokens))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    for batch in found:
        assert 1 <= len(batch) <= texts
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= tokens
    assert all(np.diff(lengths[np.concatenate([*found, []]).astype(int)]) <= 0)


def test_texts_are_cut_out_joined_again_and_padded_on_the_right():
    whole = Numbered.of(ROWS)
    again = Numbered.joined([whole.part(0, 1), whole.part(1, 4)])
    assert len(again) == 4 and np.array_equal(again.ids, whole.ids)
    assert np.array_equal(again.offsets, whole.offsets)
    assert again.places.tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 3, 4] and len(Numbered.joined([])) == 0
    ids, places = placed(whole, np.array([3, 1]), torch.device("cpu"))
    assert ids.tolist() == [2, 7, 7, 8, 3, 2, 3] and places.tolist() == [0, 1, 2, 3, 4, 0, 1]
    ids, mask = padded(whole, np.array([0, 1]), torch.device("cpu"), pad=5)
    assert ids.tolist() == [[2, 9, 3], [2, 3, 5]]
    assert mask.tolist() == [[True] * 3, [True, True, False]]


def test_E12_a_mask_leaves_places_out_and_the_others_stay_where_they_stood():
    found = numbered_rows(np.array([[2, 9, 3, 0], [2, 5, 5, 3], [1, 1, 1, 1]]),
                          [[1, 1, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0]], vocabulary=10, longest=4)
    assert found.ids.tolist() == [2, 9, 3, 2, 3] and found.places.tolist() == [0, 1, 2, 0, 3]
    assert found.lengths.tolist() == [3, 2, 0]
